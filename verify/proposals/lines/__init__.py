"""The certificate of a line: products of what it rests on that contradict its negation."""
