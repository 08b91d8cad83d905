"""A method's rules as vectors at a generic round, step and client: what premises speak of."""
