"""What belongs to one paper, and draws what it observed: a folder each, named as below bounds/papers/."""
