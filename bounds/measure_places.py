"""Do the indices of a measure fit what it reads?

A run is looked at between rounds, at (t), or before a local step, at (t, k); a client's vector or loss has a value at a
client i, inside a mean, or where an extreme looks at all clients.
"""

# sympy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sympy.core.function import AppliedUndef

from .fault import Fault
from .method import Method, Number, Vector, Weights

ROUNDS = [(*t, *end) for t in (("t",), ("t", "k")) for end in ((), ("i",), ("i", "j"), ("n",))]
PLACES = {"rounds": [(), ("i",), ("T",), *ROUNDS], "steps": [(), ("t",), ("t", "i")]}
OF_CLIENTS = ("f_i", "f_i_star", "weight")  # numbers of one client
MEANS = ("mean", "sampled", "weighted")
CLIENTS_OWN = ("grad", "batch_grad", "hess", "noisy_hess", "noisy", "again", "oracle", "w_i_star", "neighbours")


def measure_faults(method: Method) -> Iterator[Fault]:
    """Indices that no run is looked at, and what a client has in a measure that names none."""
    clients = {v.name for v in method.client}
    for quantity, number in method.measures.items():
        at = quantity.args if isinstance(quantity, AppliedUndef) else ()
        letters = tuple(method.names.get(index, str(index)) for index in at)
        if letters not in PLACES[method.clock]:
            places = ", ".join(f"({', '.join(place)})" for place in PLACES[method.clock])
            do = "order them so; `names` says which letter is which"
            yield Fault(f"the measure {quantity} of {method.id}", f"indices among {places}", do)
        elif "i" not in letters and number.law not in ("least", "most"):
            for what in sorted(set(_unowned(number, clients))):
                got = f"{what} in the measure {quantity} of {method.id}, which is a client's"
                yield Fault(got, "an index i, or a mean over the clients", "write mean(…), or add the index i")


def _unowned(part: Any, clients: set[str]) -> Iterator[str]:
    """What belongs to one client and stands in no mean."""
    match part:
        case Number():
            for _, atom in part.terms:
                yield from _unowned(atom, clients)
        case Vector(op="name"):
            yield from [part.name] if part.name in clients else []
        case Vector() | Weights():
            if part.op in CLIENTS_OWN:
                yield part.op
            elif part.op not in MEANS:
                for arg in part.args:
                    yield from _unowned(arg, clients)
        case (str() as op, *rest):
            if op in OF_CLIENTS:
                yield op
            elif op not in MEANS:
                for arg in rest:
                    yield from _unowned(arg, clients)
        case _:
            return
