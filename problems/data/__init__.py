"""Data sets and networks that statements speak of."""
