"""The adversary: scores of batches, climbs, exact instances, shrinking, counterexamples that last."""
