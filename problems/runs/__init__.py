"""A method on arrays: every path, one path, moments, affine rounds, and what rules are worth along them."""
