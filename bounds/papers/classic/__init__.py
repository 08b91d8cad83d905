"""Theorems of first-order optimisation whose exact worst cases are known: what the tool is calibrated with.

They are no paper that is audited. `symbols` is one notation for all of them, `methods` the algorithm boxes (one client
that takes one step per round, unless the theorem is about clients), `descent`, `momentum`, `proximal` and `clients` the
theorems, each in its general form with the place where it was proved.
"""
