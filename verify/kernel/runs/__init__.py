"""The replay of a method on explicit losses: distributions, measures, and what is assumed of a run."""
