"""Runs of a method: what a statement asks of them, the sizes that are tried, the limits of a search."""
