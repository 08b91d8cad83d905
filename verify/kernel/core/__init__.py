"""What every certificate needs: data from strangers, budgets, expressions, claims, methods as data."""
