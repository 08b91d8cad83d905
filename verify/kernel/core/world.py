"""A world of numbers: what an instance says, as tables and one function, and how it answers a claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from flint import fmpq

from .claim import Claim
from .expression import Domains, Relation, Value, decide, inhabits
from .layers import load
from .rational import Malformed, Node, Rejected, shown

Ranges = dict[str, tuple[tuple[int, int], ...]]  # quantity -> the least and the largest value of each of its indices
Given = TypeVar("Given")
Facts = Mapping[str, bool | Callable[[], bool]]
Bounds = Mapping[str, Callable[[fmpq], bool]]
Pairs = Mapping[str, Callable[[fmpq, fmpq], bool]]


def named(values: Mapping[str, Given], name: str) -> Given:
    """What the instance gives under a name that the claim reads."""
    if name not in values:
        raise Malformed(f"claim: got the symbol {name!r}, expected one of {', '.join(sorted(values))}")
    return values[name]


class Answers(Protocol):
    """How an instance answers a claim, as numbers (below) or as orders of growth (worlds/order.py)."""

    @property
    def values(self) -> Mapping[str, fmpq]: ...
    @property
    def ranges(self) -> Ranges: ...
    def value(self, name: str) -> fmpq: ...
    def at(self, name: str, indices: tuple[int, ...]) -> Value: ...
    def assume(self, name: str, args: tuple[str, ...] = ()) -> None: ...
    def inhabit(self, name: str, kind: str) -> None: ...
    def meets(self, condition: Relation, scope: Mapping[str, int], domains: Domains) -> bool: ...
    def settle(self, relation: Relation, scope: Mapping[str, int], domains: Domains) -> tuple[Value, Value, bool]: ...


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Scalars by name, quantities with their ranges, and assumptions without a constant, with one, and with two."""

    values: dict[str, fmpq]
    ranges: Ranges
    quantity: Callable[[str, tuple[int, ...]], Value]  # asked at indices in their ranges alone
    facts: Facts = field(default_factory=dict[str, bool])
    bounds: Bounds = field(default_factory=dict[str, Callable[[fmpq], bool]])
    pairs: Pairs = field(default_factory=dict[str, Callable[[fmpq, fmpq], bool]])
    listed: tuple[str, ...] = ()  # quantities with one index that the instance gives, and does not compute

    def value(self, name: str) -> fmpq:
        return named(self.values, name)

    def at(self, name: str, indices: tuple[int, ...]) -> Value:
        """The quantity `name` at `indices`, each of which must be in its range; a ball has the working precision."""
        expected = self.ranges.get(name, ())
        if not expected or len(expected) != len(indices):
            raise Malformed(f"claim: got {name!r} with {len(indices)} indices, expected one of {sorted(self.ranges)}")
        if not all(low <= index <= high for index, (low, high) in zip(indices, expected, strict=True)):
            raise Rejected(f"claim: got {name}{indices}, expected each index in its range {expected}")
        return self.quantity(name, indices)

    def assume(self, name: str, args: tuple[str, ...] = ()) -> None:
        """Raise `Rejected` unless the assumption holds for certain."""
        constants = [self.value(arg) for arg in args]
        tests = (self.facts, self.bounds, self.pairs)[min(len(args), 2)]  # with as many constants
        if name not in tests or len(args) > 2:
            raise Malformed(f"claim: got {name!r} of {args}, expected one of {', '.join(tests)}")
        test: bool | Callable[..., bool] = tests[name]
        if not (test(*constants) if callable(test) else test):
            values = ", ".join(f"{arg} = {shown(x)}" for arg, x in zip(args, constants, strict=True)) or "a failure"
            raise Rejected(f"assumption {name}: got {values}, expected an instance that meets it")

    def inhabit(self, name: str, kind: str) -> None:
        """Raise `Rejected` unless what the instance gives under this name is in the domain `kind`."""
        if name in self.values:
            inhabits(name, self.values[name], kind)
        if name in self.listed and name in self.ranges:
            ((low, high),) = self.ranges[name]
            for n in range(low, high + 1):
                x = self.at(name, (n,))
                if isinstance(x, fmpq):
                    inhabits(f"{name}({n})", x, kind)

    def meets(self, condition: Relation, scope: Mapping[str, int], domains: Domains) -> bool:
        """Whether a condition holds, for certain."""
        return decide(condition, scope, self, domains)[2]

    def settle(self, relation: Relation, scope: Mapping[str, int], domains: Domains) -> tuple[Value, Value, bool]:
        """Both sides of a claimed relation and whether it holds, for certain."""
        return decide(relation, scope, self, domains)


@dataclass(frozen=True, slots=True)
class Reader:
    """How a world is read from an instance: a module of worlds has them by the names of their settings, in `WORLDS`."""

    read: Callable[[Node, Claim], Answers]
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])  # symbols it reads whatever the claim says
    steps: bool = False  # whether a claim may choose its step sizes


def tabled(
    values: dict[str, fmpq],
    lists: Mapping[str, Sequence[fmpq]],
    facts: Facts | None = None,
    bounds: Bounds | None = None,
    listed: Sequence[str] = (),
    first: int = 1,
) -> World:
    """A world whose quantities are lists, with indices from `first` on."""
    ranges: Ranges = {name: ((first, first + len(entries) - 1),) for name, entries in lists.items()}
    return World(
        values, ranges, lambda name, at: lists[name][at[0] - first], facts or {}, bounds or {}, {}, tuple(listed)
    )


def reader(setting: str) -> Reader:
    """How instances of a setting are read."""
    if setting == "run":
        return load("..core.run").WORLDS[setting]
    worlds = load("..worlds.registry")
    if setting not in worlds.MODULES:
        raise Malformed(f"claim.setting: got {setting!r}, expected one of {', '.join(worlds.SETTINGS)}")
    return load(worlds.MODULES[setting]).WORLDS[setting]
