"""Smaller constants for which a proof goes through."""
