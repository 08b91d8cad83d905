"""Is a formula true for all values that its conditions allow? Identities, z3, sampling, elementary facts."""
