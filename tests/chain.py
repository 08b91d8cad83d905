"""The chain that is true under the readings of its statements: FedProx on strongly convex losses."""

LABELS = ("lem4.1", "lem4.2", "lemB.1", "lemB.1-kappa", "lemB.2", "lemB.3", "thm4.1-I", "thm4.1-II")
CHAIN = tuple(f"buttaci/{label}" for label in (*LABELS, "lemB.7", "lemB.8", "thm4.2"))
