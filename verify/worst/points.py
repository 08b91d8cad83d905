"""From values that a person gives to the point that the kernel reads: sizes, weights, constants, steps, indices."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from flint import fmpq

from fedaudit.errors import UserError

from ..kernel import Malformed, Rejected
from ..kernel.claim import Claim
from ..kernel.claim import read as read_claim
from ..kernel.draws import SAMPLINGS
from ..kernel.expression import Evaluator, parse
from ..kernel.method import NOISE, Method
from ..kernel.programme import VARIANCES
from ..kernel.rational import Node
from ..kernel.read_method import read as read_method
from ..kernel.world import tabled
from ..settings.asked import declared
from ..settings.base import Reading, rules

__all__ = ["ONE", "SMALL", "Choices", "Point", "missing", "proposed", "told"]

Choices = Mapping[str, tuple[int, ...]]
SMALL: Choices = {"C": (2, 1), "E": (2, 1), "T": (1,)}  # sizes that are tried where none is given
ONE: Choices = {"C": (1,), "E": (1,), "T": (1,)}
ORDINARY = (  # L, mu; C, E, T: what `hunt` looks at, away from corners where a claim says nothing
    (2, 1, 2, 1, 1),
    (10, 1, 1, 1, 2),
    (2, 1, 2, 2, 1),
)
KNOB = Fraction(1, 2)  # of what a statement draws
MOST = 1000  # of a size


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Where a worst case is asked for, as the kernel reads it; `told` is the same for people."""

    data: Mapping[str, Any]
    at: Mapping[str, int]
    told: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A claim about runs, and what each of its names is."""

    claim: Claim
    method: Method
    sizes: Mapping[str, str]  # size of a run -> its letter in the claim

    @classmethod
    def of(cls, reading: Reading) -> _Asked:
        claim = read_claim(Node(reading.claim, "claim"))
        method = read_method(Node(claim.method, "claim.method"))
        letters = {size: letter for letter, size in method.names.items()}
        return cls(claim, method, {size: letters.get(size, size) for size in SMALL})

    @property
    def constants(self) -> list[str]:
        """What an assumption names, but sizes."""
        named = dict.fromkeys(arg for _, args in (*self.claim.let, *self.claim.implicit) for arg in args)
        return [name for name in named if name not in self.sizes.values()]

    @property
    def sampling(self) -> str:
        """How clients are drawn, where the statement says so."""
        named = [name for name, _ in (*self.claim.let, *self.claim.implicit) if name in SAMPLINGS]
        return named[0] if named and self.method.rules_use("sampled") else ""

    @property
    def drawn(self) -> str:
        """The letter of how many clients are drawn."""
        return {size: letter for letter, size in self.method.names.items()}.get("m", "m")

    @property
    def noise(self) -> list[str]:
        """Sizes of noise, which is left out."""
        named = [args[0] for name, args in (*self.claim.let, *self.claim.implicit) if name in VARIANCES]
        return [name for name in named if self.claim.domains[name] == "nonnegative"]

    @property
    def parameters(self) -> list[str]:
        """What else the claim or the method reads as one number, but what a run itself says."""
        read = {name for name, arity in {*self.claim.needs(), *self.method.needs()} if arity < 0}
        own = {*self.sizes.values(), *self.claim.for_all, *self.constants, *self.method.measures, "D", "Gamma", "p"}
        own |= {self.drawn}
        return sorted(name for name in read - own if name in self.claim.domains)

    @property
    def steps(self) -> dict[str, int]:
        """Step sizes that the claim leaves open, with their number of indices."""
        open_ = {name: arity for name, arity in self.method.needs() if arity > 0 and name not in self.claim.choose}
        return {name: arity for name, arity in open_.items() if name not in self.method.before}

    @property
    def names(self) -> list[str]:
        known = [*self.sizes.values(), "p", *self.constants, *self.parameters, *self.steps, *self.claim.for_all]
        known += [self.drawn] if self.sampling else []
        return list(dict.fromkeys(known))


def told(reading: Reading, values: Mapping[str, Fraction], small: Choices = SMALL) -> Iterator[list[Point]]:
    """The points of every relation at these values, at sizes that are given or at small ones, one list each.

    Indices that are not given stand at the end of their range. Raises `UserError`.
    """
    asked = _Asked.of(reading)
    for name in values:
        head = name.partition("(")[0]
        if head not in asked.names:
            raise UserError(f"{name}, which {asked.claim.id} does not know", f"one of {', '.join(asked.names)}",
                            _near(head, asked.names))  # fmt: skip
    if wanted := [name for name in asked.steps if name not in values]:
        raise UserError(f"no value for {', '.join(wanted)}", "step sizes", f"write for example {wanted[0]}=1/10")
    for sizes in _sizes(asked, values, small):
        yield [_point(asked, sizes, values, number) for number in range(len(asked.claim.then))]


def missing(reading: Reading, point: Point) -> list[str]:
    """Constants and parameters that a point leaves open."""
    asked = _Asked.of(reading)
    given = {*point.data["constants"], *point.data.get("parameters", {})}
    measured = declared(reading.claim)
    return [name for name in (*asked.constants, *asked.parameters) if name not in {*given, *measured}]


def proposed(reading: Reading) -> Iterator[Point]:
    """A few ordinary points: small sizes, condition numbers 2 and 10, everything else 1 or as the statement draws it.

    What bounds the run alone (G) is left open; of several indices, the end of their range.
    """
    asked, lowered = _Asked.of(reading), reading.lowered
    open_ = {*declared(reading.claim), *asked.noise}
    for L, mu, *counts in ORDINARY:
        sizes = dict(zip(SMALL, counts, strict=True))
        named = {"L": Fraction(L), "mu": Fraction(mu)}
        drawn = set(lowered.sweep)
        values = {n: named.get(n, Fraction(1)) for n in (*asked.constants, *asked.parameters) if n not in open_ | drawn}
        known = values | {asked.sizes[size]: Fraction(n) for size, n in sizes.items()}
        known |= dict.fromkeys(lowered.knobs, KNOB)
        steps: dict[str, list[Any]] = {}
        for name, rule in rules(lowered):
            try:
                _draw(asked, name, rule, known, sizes, steps)
            except (Malformed, Rejected):
                break
        values |= {name: known[name] for name in (*asked.constants, *asked.parameters) if name in known}
        if set(asked.steps) <= {*steps, *values}:
            for number in range(len(asked.claim.then)):
                with suppress(UserError):  # a claim may have no index at these sizes
                    yield _point(asked, sizes, values, number, steps)


def _draw(
    asked: _Asked,
    name: str,
    rule: Mapping[str, Any],
    known: dict[str, Fraction],
    sizes: Mapping[str, int],
    steps: dict[str, list[Any]],
) -> None:
    """A parameter or a step size that a statement draws, at this point."""
    if rule["index"] and name in asked.claim.choose:
        return
    tree, indices = parse(Node(rule["value"], "sweep")), list(rule["index"])
    values = {n: fmpq(x.numerator, x.denominator) for n, x in known.items()}
    evaluator = Evaluator(tabled(values, {}), dict.fromkeys(values, "real"))

    def at(*place: int) -> str:
        return str(evaluator.rational(tree, dict(zip(indices, place, strict=True)), "sweep"))

    first = asked.method.counts_from
    rounds = range(first, first + sizes["T"])
    if not indices:
        known[name] = Fraction(at())
    elif len(indices) == 1:
        steps[name] = [at(t) for t in rounds]
    else:
        steps[name] = [[at(t, k) for k in range(sizes["E"])] for t in rounds]


def _near(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else "leave it out"


def _sizes(asked: _Asked, values: Mapping[str, Fraction], small: Choices) -> Iterator[dict[str, int]]:
    """Sizes that are given, with small ones for the others."""
    choices: list[tuple[int, ...]] = []
    for size, letter in asked.sizes.items():
        x = values.get(letter)
        if x is not None and (x.denominator != 1 or not 1 <= x <= MOST):
            raise UserError(f"{letter}={x}", f"a whole number from 1 to {MOST}", f"write it like {letter}=2")
        choices.append(small[size] if x is None else (int(x),))
    for chosen in product(*choices):
        yield dict(zip(asked.sizes, chosen, strict=True))


def _point(
    asked: _Asked,
    sizes: Mapping[str, int],
    values: Mapping[str, Fraction],
    number: int,
    steps: Mapping[str, list[Any]] | None = None,
) -> Point:
    C, claim = sizes["C"], asked.claim
    p = [values.get(f"p({i + 1})", values.get("p", Fraction(1, C))) for i in range(C)]
    values = {**dict.fromkeys(asked.noise, Fraction(0)), **values}
    constants = {name: str(values[name]) for name in asked.constants if name in values}
    parameters = {name: str(values[name]) for name in asked.parameters if name in values}
    data: dict[str, Any] = {**sizes, "p": [str(x) for x in p], "constants": constants}
    if asked.method.reads(*NOISE):
        data["noise"] = {"kind": "none"}
    if asked.method.rules_use("neighbours"):  # all others, each alike
        data["graph"] = [[str(Fraction(int(i != j), max(C - 1, 1))) for j in range(C)] for i in range(C)]
    if asked.sampling:
        m = values.get(asked.drawn, Fraction(C))
        data["participation"] = {"kind": asked.sampling, "m": int(m)}
    if parameters:
        data["parameters"] = parameters
    if asked.steps:
        drawn = steps or {}
        data["steps"] = {
            n: drawn[n] if n in drawn else _alike(values[n], arity, sizes) for n, arity in asked.steps.items()
        }
    known = {asked.sizes[size]: Fraction(n) for size, n in sizes.items()} | dict(values)
    at: dict[str, int] = {"relation": number}
    for index, ends in claim.for_all.items():
        low, high = (_whole(end, known, claim) for end in ends)
        x = values.get(index, Fraction(high))
        if x.denominator != 1 or not low <= x <= high:
            raise UserError(f"{index}={x}", f"a whole number from {low} to {high}", f"write it like {index}={high}")
        at[index] = int(x)
    shown = {asked.sizes[size]: str(n) for size, n in sizes.items() if asked.sizes[size] in claim.domains or n > 1}
    shown |= {name: str(x) for name, x in values.items() if name not in shown}
    return Point(data, at, shown | {name: str(n) for name, n in at.items() if name != "relation"})


def _alike(x: Fraction, indices: int, sizes: Mapping[str, int]) -> list[Any]:
    """One step size for every round, or for every step of every round."""
    one: Any = str(x) if indices == 1 else [str(x)] * sizes["E"]
    return [one] * sizes["T"]


def _whole(end: Any, known: Mapping[str, Fraction], claim: Claim) -> int:
    values = {name: fmpq(x.numerator, x.denominator) for name, x in known.items()}
    return Evaluator(tabled(values, {}), claim.domains).integer(end, {})
