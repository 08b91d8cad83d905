"""Losses, regularisers and draws of data in exact arithmetic, one family in a file."""
