"""Proofs that nobody wrote: points, potentials and multipliers, from the statement alone."""
