"""Vectors and scalars of a proof as linear combinations, with coefficients that are fractions of polynomials.

A vector has a name and a tag: nothing for a vector that all clients share, `ANY` for that of the client over which a
mean runs, `MEAN` for its mean over the clients, `SAMPLED` for that over a uniform subset of them, otherwise the letter
of one fixed client. A scalar is a combination of inner products and values, each for itself or under
M = sum_i p_i (.) or M2 = sum_i p_i^2 (.), or under the mean over the neighbours of one client, sum_j q_ij (.) with
p_i q_ij = p_ij = p_ji, and always under the expectation. Every rule of the normal form names the assumption that it
takes.
"""

# python-flint's operators are annotated for its own types alone.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from ..language.assumptions import DRAWN, FLAT, INDEPENDENT, NEAR, SUM, UNBIASED

Over = Literal["one", "mean", "squares", "near"]
Charge = tuple[str, tuple[Any, ...]]  # an assumption's name, and the constants with which it must be made
ALL, MEAN, ANY, OWN, SAMPLED = "", "mean", "*", "own", "sampled"
AXIS = "the axis"  # a unit vector
SAME = "same"  # all clients have one function
FENCHEL = "fenchel"  # g(p) + g*(s) = <s, p> where s is a subgradient of the convex g at p
FRESH = "fresh"  # the losses of local problems are drawn anew, with mean f_i


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A fraction of two polynomials in lowest terms; the leading coefficient below the line is 1."""

    top: fmpq_mpoly
    below: fmpq_mpoly

    def __add__(self, other: Coefficient) -> Coefficient:
        return fraction(self.top * other.below + other.top * self.below, self.below * other.below)

    def __mul__(self, other: Coefficient) -> Coefficient:
        return fraction(self.top * other.top, self.below * other.below)

    def __neg__(self) -> Coefficient:
        return Coefficient(-self.top, self.below)

    def __sub__(self, other: Coefficient) -> Coefficient:
        return self + -other

    def __truediv__(self, other: Coefficient) -> Coefficient:
        return fraction(self.top * other.below, self.below * other.top)

    def __str__(self) -> str:
        return str(self.top) if self.below.is_one() else f"({self.top})/({self.below})"

    @property
    def is_zero(self) -> bool:
        return self.top.is_zero()

    def data(self) -> list[list[list[Any]]]:
        """Its two polynomials, each a list of exponents and numbers."""
        return [[[[int(n) for n in e], str(c)] for e, c in sorted(p.to_dict().items())] for p in (self.top, self.below)]


def fraction(top: fmpq_mpoly, below: fmpq_mpoly) -> Coefficient:
    if below.is_one():
        return Coefficient(top, below)
    common = below if top.is_zero() else top.gcd(below)
    top, below = top / common, below / common
    lead = below.leading_coefficient()
    return Coefficient(top / lead, below / lead)


@dataclass(frozen=True, slots=True)
class Ring:
    """The fractions in these parameters."""

    parameters: tuple[str, ...]

    @property
    def context(self) -> fmpq_mpoly_ctx:
        return _context(self.parameters)

    def number(self, value: fmpq | int) -> Coefficient:
        context = self.context
        return Coefficient(context.constant(value), context.constant(1))

    def parameter(self, name: str) -> Coefficient:
        context = self.context
        return Coefficient(context.gens()[self.parameters.index(name)], context.constant(1))


@lru_cache(maxsize=256)
def _context(parameters: tuple[str, ...]) -> fmpq_mpoly_ctx:
    return fmpq_mpoly_ctx.get(parameters, "degrevlex")


@dataclass(frozen=True, slots=True, order=True)
class Name:
    """What a vector is called, when it becomes known (0: before the local step), and whether it is a step's noise.

    `point`: of a gradient, of noise and of a proximal point, where it is taken, with the client's own vectors marked.
    `near`: of a mean over the client's neighbours, the vector that is averaged. `centre`: the shared vector that is its
    mean over the clients, where the method's rules say so. `loss`: of a proximal point, whether it is one of the loss
    that the client draws in this round ("own") or of f ("full"), and not of the regulariser.
    """

    label: str
    stage: int = 0
    noise: bool = False
    # What follows is not compared: the label says it already, or the method's rules do.
    point: Vec | None = field(default=None, compare=False, repr=False)
    step: Coefficient | None = field(default=None, compare=False, repr=False)  # of a proximal point
    near: Name | None = field(default=None, compare=False, repr=False)
    centre: Name | None = field(default=None, compare=False, repr=False)
    loss: str = field(default="", compare=False, repr=False)

    @property
    def of_sample(self) -> bool:
        """Whether it depends on which clients are sampled."""
        return self.point is not None and any(tag == SAMPLED or n.of_sample for n, tag in self.point.terms)


Tagged = tuple[Name, str]
# ("inner", tagged, tagged), ("mean" or "squares", name, name), ("near", client, name, name), ("value", label, tag), ...
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Vec:
    """A linear combination of named vectors; `charges` are the rules that made it."""

    terms: Mapping[Tagged, Coefficient]
    charges: frozenset[str] = frozenset()

    def __add__(self, other: Vec) -> Vec:
        return Vec(added((self.terms, other.terms)), self.charges | other.charges)

    def scaled(self, factor: Coefficient) -> Vec:
        return Vec(added(({k: factor * c for k, c in self.terms.items()},)), self.charges)

    def __sub__(self, other: Vec) -> Vec:
        return self + Vec({k: -c for k, c in other.terms.items()}, other.charges)

    @property
    def tags(self) -> set[str]:
        return {tag for _, tag in self.terms}

    @property
    def stage(self) -> int:
        return max((name.stage for name, _ in self.terms), default=0)

    def owned(self, client: str) -> Vec:
        """This point, with the vectors of the client itself told apart from those of others."""
        own = {(name, OWN if tag == client != ALL else tag): c for (name, tag), c in self.terms.items()}
        return Vec(own, self.charges)

    @property
    def label(self) -> str:
        parts = sorted((name.label, tag, str(c)) for (name, tag), c in self.terms.items())
        return " + ".join(f"{c} {name}[{tag}]" for name, tag, c in parts)


def added(parts: Iterable[Mapping[Any, Coefficient]]) -> dict[Any, Coefficient]:
    total: dict[Any, Coefficient] = {}
    for part in parts:
        for key, c in part.items():
            total[key] = total[key] + c if key in total else c
    return {key: c for key, c in total.items() if not c.is_zero}


def mean_of(x: Vec, flat: frozenset[str] = frozenset()) -> Vec:
    """The mean of a vector over the clients; `flat` are the gradients whose mean is zero."""
    charges, terms = set(x.charges), []
    for (name, tag), c in x.terms.items():
        if tag != ANY:
            # What all clients share is its own mean only where the weights sum to one.
            charges.add(SUM)
        moved = _mean(name, flat, charges) if tag == ANY else (name, tag)
        terms += [{moved: c}] if moved is not None else []
    return Vec(added(terms), frozenset(charges))


def _mean(name: Name, flat: frozenset[str], charges: set[str]) -> Tagged | None:
    """The mean over the clients of a client's vector; None if it is zero."""
    while name.near is not None:
        charges.add(NEAR)
        name = name.near
    if name.label in flat:
        charges.add(FLAT)
        return None
    if name.centre is not None:
        charges.add(NEAR)
        return name.centre, ALL
    return name, MEAN


def near(name: Name) -> Name:
    """The name of a vector's mean over the neighbours of a client."""
    return Name(f"near({name.label})", name.stage, near=name)


def near_of(x: Vec, client: str) -> Vec:
    """The mean over the neighbours of `client`, whose own vectors stand for those of every client."""
    charges = x.charges | ({NEAR} if x.tags - {client} else set())
    terms = ({(near(name) if tag == client else name, tag): c} for (name, tag), c in x.terms.items())
    return Vec(added(terms), frozenset(charges))


def sampled_mean(x: Vec) -> Vec:
    """The mean of a vector over a uniform subset of the clients, on which the vector itself must not depend."""
    if any(name.noise or (name.stage and not name.loss) or name.of_sample for name, _ in x.terms):
        raise ValueError("a mean over sampled clients of what is drawn later")
    moved = ({(name, SAMPLED if tag == ANY else tag): c} for (name, tag), c in x.terms.items())
    return Vec(added(moved), x.charges | {DRAWN})


@dataclass(frozen=True, slots=True)
class Term:
    """An inner product, a value (`label`, of the client `tag`), a client's weight or 1, not yet expanded.

    "drawn": the value of the loss that the client draws in this round.
    """

    op: Literal["inner", "value", "drawn", "regulariser", "weight", "one"]
    over: Over = "one"
    vectors: tuple[Vec, ...] = ()
    label: str = ""
    tag: str = ALL
    charges: frozenset[str] = frozenset()
    client: str = ""  # whose neighbours, under the mean over them


Scalar = tuple[tuple[Coefficient, Term], ...]


def under_mean(scalar: Scalar, over: Over = "mean") -> Scalar:
    """The mean of every term; one that is a mean already is the same for all clients."""
    if over == "squares" and any(t.over != "one" for _, t in scalar):
        raise ValueError("sum_i p_i^2 of a mean")
    return tuple(
        (c, replace(t, over=over) if t.over == "one" else replace(t, charges=t.charges | {SUM})) for c, t in scalar
    )


def under_near(scalar: Scalar, client: str) -> Scalar:
    """The mean of every term over the neighbours of a client."""
    if any(t.over != "one" or t.op not in ("inner", "one") for _, t in scalar):
        raise ValueError("the mean over neighbours of something else than inner products")
    return tuple((c, replace(t, over="near", client=client)) for c, t in scalar)


@dataclass(frozen=True, slots=True)
class Expanded:
    """The normal form of a scalar, and the rules that made it."""

    terms: Mapping[Key, Coefficient]
    charges: frozenset[str]


def expanded(
    scalar: Scalar,
    sum_of_squares: Coefficient | None,
    flat: frozenset[str] = frozenset(),
    share: Coefficient | None = None,
) -> Expanded:
    """Every term expanded, under its mean and the expectation; `sum_of_squares` is sum_i p_i^2.

    `share` is a with E|sampled mean|^2 = a M|x|^2 + (1 - a) |mean x|^2: (n - m)/(m (n - 1)) for m of n clients.
    """
    charges: set[str] = set()
    parts: list[dict[Key, Coefficient]] = []
    for factor, term in scalar:
        charges |= term.charges
        for vector in term.vectors:
            charges |= vector.charges
        if term.op == "inner":
            left, right = term.vectors
            for a, c in left.terms.items():
                for b, d in right.terms.items():
                    if SAMPLED in (a[1], b[1]) and (a[0].of_sample or b[0].of_sample):
                        if term.over != "one":
                            raise ValueError("a mean of what depends on the sampled clients")
                        parts.append({("inner", *sorted((a, b))): factor * c * d})
                        continue
                    if a[1] == b[1] == SAMPLED and share is not None and term.over != "squares":
                        # a M<x, y> here; what is left of d is (1 - a), of the product of the two means.
                        parts.append({("mean", *sorted((a[0], b[0]))): factor * c * d * share})
                        d = d - d * share
                    ends = [(name, MEAN if tag == SAMPLED else tag) for name, tag in (a, b)]
                    key = _product(ends[0], ends[1], term, flat, charges)
                    if key is not None:
                        parts.append({key: factor * c * d})
            continue
        shared = term.op == "one" or term.tag != ANY
        if term.over == "squares":
            if term.op != "one" or sum_of_squares is None:
                raise ValueError("sum_i p_i^2 of a value")
            factor = factor * sum_of_squares
        elif term.over == "mean" and shared:
            charges.add(SUM)
        elif term.over == "near":
            charges.add(NEAR)
        tag, op = MEAN if term.over == "mean" and term.tag == ANY else term.tag, term.op
        if op == "drawn" and term.vectors[0].stage == 0:
            charges.add(FRESH)  # at a point that was known before, its mean is f_i
            op = "value"
        parts.append({("one",) if op == "one" else (op, term.label, tag): factor})
    return Expanded(added(parts), frozenset(charges))


def _product(a: Tagged, b: Tagged, term: Term, flat: frozenset[str], charges: set[str]) -> Key | None:
    """The key of one inner product; None if it vanishes."""
    (one, _), (two, _), over = a, b, term.over
    if one == two and one.label == AXIS and over != "squares":
        charges.update((SUM,) if over != "one" else ())
        return ("one",)
    if (one.noise and one.stage > two.stage) or (two.noise and two.stage > one.stage):
        charges.add(UNBIASED)  # noise has mean zero, given all that was known before it
        return None
    each = (a[1] == ANY) + (b[1] == ANY)
    if over == "one":
        # Of |sum_i p_i noise_i|^2 the products of different clients vanish, and the squares are left.
        if a == b and one.noise and a[1] == MEAN:
            charges.update((INDEPENDENT, UNBIASED))
            return ("squares", one, two)
        return ("inner", *sorted((a, b)))
    if over == "squares":
        if each < 2:
            raise ValueError("sum_i p_i^2 of a vector that all clients share")
        return ("squares", *sorted((one, two)))
    if each == 2:
        return (over, *((term.client,) if over == "near" else ()), *sorted((one, two)))
    if each == 0:
        charges.add(NEAR if over == "near" else SUM)
    moved: list[Tagged] = []
    for name, tag in (a, b):
        at = (name, tag) if tag != ANY else (near(name), term.client) if over == "near" else _mean(name, flat, charges)
        if at is None:
            return None
        moved.append(at)
    return _product(moved[0], moved[1], replace(term, over="one"), flat, charges)
