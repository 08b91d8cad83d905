"""Slips in a statement or a method, said by `lint` and before every move: what stands there, what to write."""
