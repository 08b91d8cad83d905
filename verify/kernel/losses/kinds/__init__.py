"""Further losses of clients: one module for each kind, named by it; its `read` reads one from its data."""
