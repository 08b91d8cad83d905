"""What all array code needs: an array library, checks of its input, genes."""
