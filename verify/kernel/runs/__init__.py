"""Runs beyond the core: long ones by their moments, few points for many outcomes, irrational steps, data points."""
