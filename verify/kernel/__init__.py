"""The kernel: replays a certificate in exact arithmetic and accepts it or names the first thing that fails.

Standard library and python-flint only. `check` judges a certificate, `attains` an
instance that refutes nothing; `admissible` and `evaluate` serve a search;
`programme` gives the worst case of a claim as linear forms, and `prove` judges a proof of a bound on it.
"""

from .core.budget import TooLarge
from .core.check import Accepted, check, claimed
from .core.rational import Malformed, Rejected, load
from .gram.form import Form, OutOfReach, UnknownAssumption, Vec
from .gram.lower_end import INSTANCE, attains
from .gram.point_proof import Proved, prove
from .gram.programme import Programme, programme
from .gram.variables import Entry
from .service.trials import admissible, admit, evaluate, world
from .worlds.registry import inputs

__all__ = [
    "INSTANCE", "Accepted", "Entry", "Form", "Malformed", "OutOfReach", "Programme", "Proved", "Rejected", "TooLarge",
    "UnknownAssumption", "Vec", "admissible", "admit", "attains", "check", "claimed", "evaluate", "inputs", "load",
    "programme", "prove", "world",
]  # fmt: skip
