"""Finding what was written, and what follows from it without a run: values of bounds, printed constants."""
