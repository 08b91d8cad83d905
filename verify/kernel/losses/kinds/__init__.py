"""Further losses of clients: one module for each kind, named by it; its `LOSSES` says how data are read."""
