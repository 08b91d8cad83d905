"""What Ben Mansour, Carenini and Duplessis observed, observed again."""
