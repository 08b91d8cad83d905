"""From values that a person gives to the point that the kernel reads: sizes, weights, constants, steps, indices."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

from flint import fmpq

from fedaudit.errors import UserError

from ..kernel.core.claim import Claim
from ..kernel.core.claim import read as read_claim
from ..kernel.core.expression import Evaluator, Tree
from ..kernel.core.method import NOISE, Method
from ..kernel.core.randomness import SAMPLINGS
from ..kernel.core.rational import Node
from ..kernel.core.read_method import read as read_method
from ..kernel.core.world import tabled
from ..kernel.gram.programme import VARIANCES
from ..settings.base import Json, Reading
from ..settings.runs.requirements import declared

__all__ = ["ONE", "SMALL", "Choices", "Point", "RunClaim", "Steps", "missing", "point_at", "points_of", "whole"]

Choices = Mapping[str, tuple[int, ...]]
Steps = list[str | list[str]]  # a step size by rounds, or by rounds and steps
SMALL: Choices = {"C": (2, 1), "E": (2, 1), "T": (1,)}  # sizes that are tried where none is given
ONE: Choices = {"C": (1,), "E": (1,), "T": (1,)}
MOST = 1000  # of a size


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Where a worst case is asked for, as the kernel reads it.

    `told` is the same for people: every size, constant, index and choice that decides the answer. `chosen` are the
    names in it that nobody gave.
    """

    data: Json
    at: Mapping[str, int]
    told: Mapping[str, str]
    name: str = ""  # of an ordinary point
    chosen: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunClaim:
    """A claim about runs, and what each of its names is."""

    claim: Claim
    method: Method
    sizes: Mapping[str, str]  # size of a run -> its letter in the claim
    measured: tuple[str, ...]  # constants that bound what a run measures; the worst case is over those not given

    @classmethod
    def of(cls, reading: Reading) -> RunClaim:
        claim = read_claim(Node(reading.claim, "claim"))
        method = read_method(Node(claim.method, "claim.method"))
        letters = {size: letter for letter, size in method.names.items()}
        sizes = {size: letters.get(size, size) for size in SMALL}
        return cls(claim, method, sizes, declared(reading.claim))

    @cached_property
    def constants(self) -> list[str]:
        """What an assumption names, but sizes."""
        named = dict.fromkeys(arg for _, args in (*self.claim.let, *self.claim.implicit) for arg in args)
        return [name for name in named if name not in self.sizes.values()]

    @property
    def sampling(self) -> str:
        """How the clients of a method that samples them are drawn; the first way where the statement leaves it open."""
        assumed = {name for name, _ in (*self.claim.let, *self.claim.implicit)}
        named = [name for name in SAMPLINGS if name in assumed]
        if not self.method.reads("sampled") or (not named and "full_participation" in assumed):
            return ""
        return named[0] if named else SAMPLINGS[0]

    @property
    def sampling_is_open(self) -> bool:
        """Whether clients are drawn and the statement does not say how."""
        return bool(self.sampling) and all(name not in SAMPLINGS for name, _ in (*self.claim.let, *self.claim.implicit))

    @property
    def drawn(self) -> str:
        """The letter of how many clients are drawn."""
        return {size: letter for letter, size in self.method.names.items()}.get("m", "m")

    @property
    def noise(self) -> list[str]:
        """Sizes of noise and of the errors of answers, which are left out."""
        named = [args[0] for name, args in (*self.claim.let, *self.claim.implicit) if name in (*VARIANCES, "inexact")]
        return [name for name in named if self.claim.domains[name] == "nonnegative"]

    @property
    def noisy(self) -> bool:
        """Whether a run may have noise or minibatches."""
        return self.method.reads(*NOISE, "oracle", "batch_grad")

    @property
    def signs(self) -> bool:
        """Whether noise is a vector that is added to gradients, and nothing else is drawn."""
        other = ("noisy_hess", "oracle", "batch_grad")
        return self.method.rules_use("noisy", "again") and not self.method.reads(*other)

    @cached_property
    def parameters(self) -> list[str]:
        """What else the claim or the method reads as one number, but what a run itself says."""
        read = {name for name, arity in {*self.claim.needs, *self.method.needs} if arity < 0}
        own = {*self.sizes.values(), *self.claim.for_all, *self.constants, *self.method.measures, "D", "Gamma", "p"}
        own |= {self.drawn}
        return sorted(name for name in read - own if name in self.claim.domains)

    @cached_property
    def steps(self) -> dict[str, int]:
        """Step sizes that the claim leaves open, with their number of indices."""
        open_ = {name: arity for name, arity in self.method.needs if arity > 0 and name not in self.claim.choose}
        return {name: arity for name, arity in open_.items() if name not in self.method.before}

    @property
    def names(self) -> list[str]:
        names = [*self.sizes.values(), "p", *self.constants, *self.parameters, *self.steps, *self.claim.for_all]
        names += [self.drawn] if self.sampling else []
        return list(dict.fromkeys(names))


def points_of(reading: Reading, values: Mapping[str, Fraction], small: Choices = SMALL) -> Iterator[list[Point]]:
    """The points of every relation at these values, at sizes that are given or at small ones, one list each.

    Indices that are not given stand at the end of their range. Raises `UserError`.
    """
    run_claim = RunClaim.of(reading)
    for name in values:
        head, indexed, _ = name.partition("(")
        if head not in run_claim.names:
            raise UserError(f"{name}, which {run_claim.claim.id} does not know", f"one of {', '.join(run_claim.names)}",
                            _near(head, run_claim.names))  # fmt: skip
        if indexed and head != "p":
            raise UserError(f"{name}, a value at an index", f"one value for {head}, indices for p alone",
                            f"write {head}={values[name]}")  # fmt: skip
    if wanted := [name for name in run_claim.steps if name not in values]:
        raise UserError(f"no value for {', '.join(wanted)}", "step sizes", f"write for example {wanted[0]}=1/10")
    for sizes in _sizes(run_claim, values, small):
        yield [point_at(run_claim, sizes, values, number) for number in range(len(run_claim.claim.then))]


def missing(reading: Reading, point: Point) -> list[str]:
    """Constants and parameters that a point leaves open."""
    run_claim = RunClaim.of(reading)
    named = {*point.data["constants"], *point.data.get("parameters", {})}
    return [name for name in (*run_claim.constants, *run_claim.parameters) if name not in {*named, *run_claim.measured}]


def _near(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else "leave it out"


def _sizes(run_claim: RunClaim, values: Mapping[str, Fraction], small: Choices) -> Iterator[dict[str, int]]:
    """Sizes that are given, with small ones for the others."""
    choices: list[tuple[int, ...]] = []
    for size, letter in run_claim.sizes.items():
        x = values.get(letter)
        if x is not None and (x.denominator != 1 or not 1 <= x <= MOST):
            raise UserError(f"{letter}={x}", f"a whole number from 1 to {MOST}", f"write it like {letter}=2")
        choices.append(small[size] if x is None else (int(x),))
    for chosen in product(*choices):
        yield dict(zip(run_claim.sizes, chosen, strict=True))


def point_at(
    run_claim: RunClaim,
    sizes: Mapping[str, int],
    values: Mapping[str, Fraction],
    number: int,
    steps: Mapping[str, Steps] | None = None,
) -> Point:
    C, claim = sizes["C"], run_claim.claim
    clients = [f"p({i + 1})" for i in range(C)]
    if beyond := [name for name in values if name.startswith("p(") and name not in clients]:
        do = f"leave it out, or give another {run_claim.sizes['C']}"
        raise UserError(beyond[0], f"the weight of a client from 1 to {run_claim.sizes['C']} = {C}", do)
    p = [values.get(name, values.get("p", Fraction(1, C))) for name in clients]
    stated = frozenset(values)
    values = {**dict.fromkeys(run_claim.noise, Fraction(0)), **values}
    constants = {name: str(values[name]) for name in run_claim.constants if name in values}
    parameters = {name: str(values[name]) for name in run_claim.parameters if name in values}
    data: Json = {**sizes, "p": [str(x) for x in p], "constants": constants}
    if run_claim.noisy:
        loud = run_claim.signs and any(values[name] > 0 for name in run_claim.noise)
        data["noise"] = {"kind": "signs", "shared": False} if loud else {"kind": "none"}
    if run_claim.method.weighs("chosen"):  # the same in every round, and others than p where that may be
        own = any(name == "fedavg_weights" for name, _ in (*claim.let, *claim.implicit))
        row = [str(x if own else Fraction(2 if i == 0 else 1, C + 1)) for i, x in enumerate(p)]
        rounds = (sizes["T"] - 1) // sizes["E"] + 1 if run_claim.method.steps else sizes["T"]
        data["weights"] = {"kind": "rows", "rows": [row] * rounds}
    if run_claim.method.rules_use("neighbours"):  # all others, each alike
        data["graph"] = [[str(Fraction(int(i != j), max(C - 1, 1))) for j in range(C)] for i in range(C)]
    if run_claim.sampling:
        m = values.get(run_claim.drawn, Fraction(C))
        if m.denominator != 1 or not 1 <= m <= C:
            do = f"write it like {run_claim.drawn}=1, or give a larger {run_claim.sizes['C']}"
            raise UserError(f"{run_claim.drawn}={m}", f"a whole number from 1 to {run_claim.sizes['C']} = {C}", do)
        data["participation"] = {"kind": run_claim.sampling, "m": int(m)}
    if parameters:
        data["parameters"] = parameters
    if run_claim.steps:
        drawn = steps or {}
        data["steps"] = {
            n: drawn[n] if n in drawn else _alike(values[n], arity, sizes) for n, arity in run_claim.steps.items()
        }
    numbers = {run_claim.sizes[size]: Fraction(n) for size, n in sizes.items()} | dict(values)
    at: dict[str, int] = {"relation": number}
    for index, ends in claim.for_all.items():
        low, high = (whole(end, numbers, claim) for end in ends)
        x = values.get(index, Fraction(high))
        if x.denominator != 1 or not low <= x <= high:
            raise UserError(f"{index}={x}", f"a whole number from {low} to {high}", f"write it like {index}={high}")
        at[index] = int(x)
    shown = {run_claim.sizes[size]: str(n) for size, n in sizes.items()}
    shown |= {name: str(x) for name, x in values.items() if name not in shown}
    shown |= {name: str(n) for name, n in at.items() if name != "relation"}
    shown |= _choices(run_claim, data, stated)
    return Point(data, at, shown, chosen=tuple(name for name in shown if name not in stated))


def _choices(run_claim: RunClaim, data: Json, stated: frozenset[str]) -> dict[str, str]:
    """What else a point fixes, in words: steps, weights, graph, who takes part, noise, and constants left open."""
    shown = {
        name: "any" for name in run_claim.constants if name in run_claim.measured and name not in data["constants"]
    }
    shown |= {name: _listed(data["steps"][name]) for name in run_claim.steps if name not in stated}
    weights = {f"p({i + 1})": x for i, x in enumerate(data["p"])}
    if not stated & {"p", *weights}:
        shown["p"] = data["p"][0]
    elif "p" not in stated:
        shown |= {name: x for name, x in weights.items() if name not in stated}
    if "weights" in data:
        shown["weights"] = _listed(data["weights"]["rows"][0])
    if "graph" in data:
        shown["graph"] = "all others alike"
    if run_claim.sampling:
        shown[run_claim.drawn] = str(data["participation"]["m"])
    if run_claim.sampling_is_open:
        shown["sampling"] = run_claim.sampling
    if run_claim.method.reads(*NOISE):
        shown["noise"] = data["noise"]["kind"]
    if run_claim.method.reads("batch_grad"):
        shown["batches"] = "all data"
    return shown


def _listed(entries: Sequence[str | list[str]]) -> str:
    """One number for all where they are equal, else all of them in order."""
    flat = [x for entry in entries for x in ([entry] if isinstance(entry, str) else entry)]
    return flat[0] if len(set(flat)) == 1 else " ".join(flat)


def _alike(x: Fraction, indices: int, sizes: Mapping[str, int]) -> Steps:
    """One step size for every round, or for every step of every round."""
    return [str(x) if indices == 1 else [str(x)] * sizes["E"] for _ in range(sizes["T"])]


def whole(end: Tree, numbers: Mapping[str, Fraction], claim: Claim) -> int:
    """An end of an index's range at these numbers; the kernel refuses one that is not whole."""
    values = {name: fmpq(x.numerator, x.denominator) for name, x in numbers.items()}
    return Evaluator(tabled(values, {}), claim.domains).integer(end, {})
