"""What is computed for pictures of Yuan and Li alone."""
