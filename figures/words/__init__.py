"""Words, formulas and numbers on pages."""
