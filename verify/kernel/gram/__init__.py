"""Worst cases over all losses of a class: runs as vectors nobody has chosen yet, and proofs by multipliers."""
