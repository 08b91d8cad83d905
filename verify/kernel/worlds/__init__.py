"""What a claim may be about, one world in a file, and the verdict on a counterexample."""
