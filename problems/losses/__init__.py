"""Losses as arrays: values, gradients, minimisers and constants, one family in a file."""
