"""The upper end of a worst case as a theorem: for all losses of the class, in every dimension, lhs <= factor * rhs.

The certificate gives multipliers; points, gradients and values that a run reads come from the kernel's programme. Coq
works out what the class says of every two points, so that nothing of it is taken from us. What else is assumed of the
run (bounded gradients, say) stands in the theorem as a hypothesis, form by form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import lcm
from typing import cast

from flint import fmpq

from ..kernel.core.claim import Claim
from ..kernel.core.claim import read as read_claim
from ..kernel.core.rational import Node
from ..kernel.gram.form import Form, Vec
from ..kernel.gram.point_proof import rest
from ..kernel.gram.programme import Programme, programme
from ..kernel.gram.variables import Entry
from .short_squares import squares
from .terms import comment, listed, rational

__all__ = ["theorem"]

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The numbers of leaves and values in a theorem, by their names in the programme."""

    leaves: Mapping[str, int]
    values: Mapping[str, int]

    def row(self, x: Vec) -> str:
        return listed(f"({self.leaves[name]}%positive, {rational(c)})" for name, c in sorted(x.terms.items()))

    def entry(self, entry: Entry) -> str:
        f = f"{self.values[entry.f]}%positive"
        return f"{{| point := {self.row(entry.x)}; slope := {self.row(entry.g)}; value := {f} |}}"

    def form(self, form: Form) -> str:
        terms = [f"(Gram {self.leaves[a]} {self.leaves[b]}, {rational(c)})" for (a, b), c in sorted(form.gram.items())]
        terms += [f"(Val {self.values[name]}, {rational(c)})" for name, c in sorted(form.linear.items())]
        terms += [f"(One, {rational(form.constant)})"] if form.constant else []
        return listed(terms)


def theorem(certificate: Json, name: str) -> str:
    """A module of that name with the theorem `holds`, from a certificate that the kernel accepted."""
    claim = read_claim(Node(certificate["claim"], "claim"))
    worst = programme(certificate["claim"], certificate["point"], certificate["at"])
    factor = fmpq(*map(int, str(certificate["factor"]).split("/")))
    texts = cast("Mapping[str, str]", certificate["multipliers"])
    multipliers = {key: fmpq(*map(int, x.split("/"))) for key, x in texts.items() if fmpq(*map(int, x.split("/")))}
    numbers = numbered(worst, multipliers)
    rooms = {key: place for key in multipliers if (place := _room(key, len(worst.tables))) is not None}
    others = [key for key in multipliers if key not in rooms]
    functions = [*worst.tables, worst.penalty]
    used = sorted({place[0] for place in rooms.values()})
    left = rest(worst, factor, multipliers)
    lines = [
        f"Module {name}.",
        comment(f"At {json.dumps(certificate['point'])}, {json.dumps(certificate['at'])}."),
        comment("Leaves: " + ", ".join(f"{n} {leaf}" for leaf, n in numbers.leaves.items())),
        comment("Values: " + ", ".join(f"{n} {value}" for value, n in numbers.values.items())),
    ]
    lines += [f"Definition entries_{who} : list entry := {_lines(map(numbers.entry, functions[who]))}." for who in used]
    lines += [f"Definition given_{n} : form := {numbers.form(worst.constraints[key])}. {comment(key)}"
              for n, key in enumerate(others)]  # fmt: skip
    lines += [
        f"Definition lhs : form := {numbers.form(worst.lhs)}.",
        f"Definition rhs : form := {numbers.form(worst.rhs)}.",
        f"Definition factor : Q := {rational(factor)}.",
        f"Definition functions : list function := {_lines(_function(who, worst) for who in used)}.",
        f"Definition given : list form := {listed(f'given_{n}' for n in range(len(others)))}.",
        f"Definition proof : certificate := {_proof(multipliers, rooms, used, others, left, numbers)}.",
        _stated(used, worst, claim, others),
        f"End {name}.",
    ]
    return "\n".join(lines)


def numbered(worst: Programme, multipliers: Iterable[str]) -> Numbers:
    """Leaves and values in the order of their names, which are numbered from 1."""
    entries = [entry for table in (*worst.tables, worst.penalty) for entry in table]
    forms = [worst.lhs, worst.rhs, *(worst.constraints[key] for key in multipliers)]
    leaves = {leaf for form in forms for pair in form.gram for leaf in pair}
    leaves |= {leaf for entry in entries for leaf in (*entry.x.terms, *entry.g.terms)}
    values = {name for form in forms for name in form.linear} | {entry.f for entry in entries}
    leaf_numbers, value_numbers = ({x: n for n, x in enumerate(sorted(names), 1)} for names in (leaves, values))
    return Numbers(leaf_numbers, value_numbers)


def _room(key: str, clients: int) -> tuple[int, int, int] | None:
    """Whose function and which two of its entries a constraint of interpolation is about."""
    if place := re.fullmatch(r"f(\d+)_(\d+)_(\d+)", key):
        return int(place[1]) - 1, int(place[2]), int(place[3])
    place = re.fullmatch(r"g_(\d+)_(\d+)", key)
    return (clients, int(place[1]), int(place[2])) if place else None


def _lines(parts: Iterable[str]) -> str:
    return "[\n  " + ";\n  ".join(parts) + "]"


def _class(who: int, worst: Programme) -> tuple[fmpq, fmpq | None]:
    """The curvatures of a function; the regulariser is convex."""
    return (worst.mu[who], worst.L[who]) if who < len(worst.tables) else (fmpq(0), None)


def _function(who: int, worst: Programme) -> str:
    mu, L = _class(who, worst)
    steep = "None" if L is None else f"Some {rational(L)}"
    return f"{{| curve := {rational(mu)}; steep := {steep}; entries := entries_{who} |}}"


def _proof(
    multipliers: Mapping[str, fmpq],
    rooms: Mapping[str, tuple[int, int, int]],
    used: list[int],
    others: list[str],
    left: Form,
    numbers: Numbers,
) -> str:
    scale = fmpq(lcm(*(int(x.q) for x in multipliers.values())))  # then most numbers are whole
    names = sorted({leaf for pair in left.gram for leaf in pair})
    place = {leaf: n for n, leaf in enumerate(names)}
    matrix = [[fmpq(0)] * len(names) for _ in names]
    for (a, b), x in left.gram.items():
        matrix[place[a]][place[b]] += scale * x / 2
        matrix[place[b]][place[a]] += scale * x / 2
    rows = [(weight, Vec({n: x for n, x in zip(names, row, strict=True) if x})) for weight, row in squares(matrix)]
    parts = {
        "scale_by": rational(scale),
        "spare": rational(scale * left.constant),
        "rooms": _lines(
            f"({rational(scale * multipliers[key])}, ({used.index(who)}, {a}, {b})%nat)"
            for key, (who, a, b) in rooms.items()
        ),
        "others": listed(f"({rational(scale * multipliers[key])}, {n}%nat)" for n, key in enumerate(others)),
        "squares": _lines(f"({rational(weight)}, {numbers.row(row)})" for weight, row in rows),
    }
    return "{|\n  " + ";\n  ".join(f"{field} := {text}" for field, text in parts.items()) + " |}"


def _stated(used: list[int], worst: Programme, claim: Claim, others: list[str]) -> str:
    """The theorem: losses of the class, what is read of them, what else is assumed, and the bound."""
    hypotheses: list[str] = []
    steps: list[str] = []
    names = {name for name, _ in claim.assumptions if name not in claim.means}
    for who in used:
        mu, L = _class(who, worst)
        low = f"(Q2R {rational(mu)})"
        if L is None:
            hypotheses.append(f"reads_subgradients leaf val {low} f{who} entries_{who}")
            steps.append("apply Forall_cons; [eapply interpolated_convex; eassumption |].")
            continue
        high = f"(Q2R {rational(L)})"
        if "smooth" in names:
            hypotheses.append(f"smooth {high} f{who} g{who}")
        else:
            hypotheses += [f"gradient f{who} g{who}", f"below {high} f{who} g{who}"]
        # A smooth function is never more curved downwards than -L, so that this need not be said again.
        if mu != -L or "smooth" not in names:
            hypotheses.append(_curved(mu, f"f{who}"))
        hypotheses.append(f"reads leaf val f{who} g{who} entries_{who}")
        steps.append("apply Forall_cons; [in_class |].")
    if others:
        hypotheses.append("Forall (fun f => 0 <= eval leaf val f) given")
    functions = "".join(f" (f{who} : S -> R)" for who in used)
    functions += "".join(f" (g{who} : S -> S)" for who in used if _class(who, worst)[1] is not None)
    arrows = " ->\n  ".join([*hypotheses, "eval leaf val lhs <= Q2R factor * eval leaf val rhs"])
    end = "assumption" if others else "constructor"
    return (
        f"Theorem holds (S : space) (leaf : positive -> S) (val : positive -> R){functions} :\n  {arrows}.\n"
        f"Proof.\n  intros. apply upper_end with (fs := functions) (given := given) (c := proof);\n"
        f"    [vm_compute; reflexivity | | {end}].\n  {' '.join([*steps, 'constructor.'])}\nQed."
    )


def _curved(mu: fmpq, f: str) -> str:
    if mu == 0:
        return f"convex {f}"
    return f"strongly_convex (Q2R {rational(mu)}) {f}" if mu > 0 else f"weakly_convex (Q2R {rational(-mu)}) {f}"
