"""The kernel: replays a certificate in exact arithmetic and accepts it or names the first thing that fails.

Standard library and python-flint only. `check` judges a certificate; `admissible` and `evaluate` serve a search.
"""

from .check import Accepted, admissible, admit, check, claimed, evaluate, inputs, world
from .rational import Malformed, Rejected, load

__all__ = [
    "Accepted", "Malformed", "Rejected", "admissible", "admit", "check", "claimed", "evaluate", "inputs", "load",
    "world",
]  # fmt: skip
