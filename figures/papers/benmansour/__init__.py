"""Pictures for Ben Mansour, Carenini and Duplessis alone."""
