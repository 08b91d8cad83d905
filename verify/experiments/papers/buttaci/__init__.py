"""What A. Buttaci's thesis observed, observed again."""
