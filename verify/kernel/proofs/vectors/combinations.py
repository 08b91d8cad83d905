"""Vectors and numbers of a run as linear combinations, and the normal form of numbers under means and expectations.

A vector has a name and a tag: nothing for one that all clients share, ANY for that of the client over which a mean
runs, MEAN for its mean over the clients, SAMPLED for that over the clients that are drawn, otherwise one client. A
number is a combination of inner products and values, each for itself, under M = sum_i p_i (.), under sum_i p_i^2 (.),
or under the mean over the neighbours of a client, sum_j q_ij (.) with p_i q_ij = p_j q_ji; always under E. Every rule
that is used says so in `charges`: whoever claims the result owes the assumption that gives it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from flint import fmpq

from ...core.rational import Rejected
from ..polynomials import ONE, Form, text

ALL, MEAN, ANY, OWN, SAMPLED = "", "mean", "*", "own", "sampled"
SUM, SIGN, UNBIASED, INDEPENDENT, FLAT = "sum of weights", "sign of weights", "unbiased", "independent", "flat"
DRAWN, SAME, EXACT, FRESH, NEAR, GROUPS = "drawn", "same", "exact", "fresh", "neighbours", "groups"


def number(x: fmpq | int) -> Form:
    return Form({(): fmpq(x)} if x != 0 else {}, ONE)


@dataclass(frozen=True, slots=True, order=True)
class Name:
    """What a vector is called, which says all of it; and when it becomes known (0: before the local step).

    `point`: where a gradient, noise or proximal point is taken, the client's own vectors marked. `near`: what is
    averaged over neighbours. `centre`: the shared vector that is its mean over the clients. `loss`: of a proximal
    point, "own" for one of the loss that the client draws in the round, "full" for one of f, nothing for one of g.
    """

    label: str
    stage: int = field(default=0, compare=False)
    noise: bool = field(default=False, compare=False)
    point: Vec | None = field(default=None, compare=False)
    step: Form | None = field(default=None, compare=False)
    near: Name | None = field(default=None, compare=False)
    centre: Name | None = field(default=None, compare=False)
    loss: str = field(default="", compare=False)
    unit: bool = field(default=False, compare=False)  # whether its length is 1

    @property
    def of_sample(self) -> bool:
        """Whether it depends on which clients are drawn."""
        inside = () if self.point is None else self.point.terms
        return any(tag == SAMPLED or n.of_sample for n, tag in inside) or (
            self.near is not None and self.near.of_sample
        )


Kind = TypeVar("Kind", bound=Hashable)
Tagged = tuple[Name, str]
Key = tuple[Hashable, ...]  # ("inner", tagged, tagged), ("mean", name, name), ("value", label, tag), ("one",), ...


@dataclass(frozen=True, slots=True)
class Vec:
    """A linear combination of named vectors."""

    terms: Mapping[Tagged, Form]

    def __add__(self, other: Vec) -> Vec:
        return Vec(added((self.terms, other.terms)))

    def __sub__(self, other: Vec) -> Vec:
        return self + other.scaled(number(-1))

    def scaled(self, factor: Form) -> Vec:
        return Vec({key: factor * c for key, c in self.terms.items()} if factor.top else {})

    @property
    def tags(self) -> set[str]:
        return {tag for _, tag in self.terms}

    @property
    def stage(self) -> int:
        return max((name.stage for name, _ in self.terms), default=0)

    def owned(self, client: str) -> Vec:
        """This combination with the client's own vectors told apart from those of others."""
        if client != ANY and ANY in self.tags:
            raise Rejected("got what a client has at a point of another one, under a mean over that one")
        return self.tagged({client: OWN} if client != ALL else {})

    def tagged(self, others: Mapping[str, str]) -> Vec:
        """This combination with other tags; what then is one vector is added up."""
        return Vec(added({(name, others.get(tag, tag)): c} for (name, tag), c in self.terms.items()))

    @property
    def label(self) -> str:
        parts = sorted((name.label, tag, text(c)) for (name, tag), c in self.terms.items())
        return " + ".join(f"({c}) {name}[{tag}]" for name, tag, c in parts)


def single(name: Name, tag: str = ALL) -> Vec:
    return Vec({(name, tag): number(1)})


def added(parts: Iterable[Mapping[Kind, Form]]) -> dict[Kind, Form]:
    total: dict[Kind, Form] = {}
    for part in parts:
        for key, c in part.items():
            total[key] = total[key] + c if key in total else c
    return {key: c for key, c in total.items() if c.top}


@dataclass(frozen=True, slots=True)
class Term:
    """An inner product, a value (`label`, of the client `tag`), a weight or 1, not yet expanded.

    "drawn" is the value of the loss that the client draws in the round.
    """

    op: str
    over: str = "one"
    vectors: tuple[Vec, ...] = ()
    label: str = ""
    tag: str = ALL
    client: str = ""  # whose neighbours, under the mean over them


Scalar = tuple[tuple[Form, Term], ...]


def times(factor: Form, scalar: Scalar) -> Scalar:
    return tuple((factor * c, term) for c, term in scalar)


def inner(x: Vec, y: Vec) -> Scalar:
    return ((number(1), Term("inner", vectors=(x, y))),)


def constant(c: Form) -> Scalar:
    return ((c, Term("one")),)


def near(name: Name) -> Name:
    return Name(f"near({name.label})", name.stage, near=name)


@dataclass(frozen=True, slots=True, eq=False)
class Normal:
    """The rules of the normal form, and which of them were used.

    `flat`: the gradient whose mean over the clients is 0. `squares`: sum_i p_i^2. `share`: the a with
    E|drawn mean|^2 = a M|x|^2 + (1 - a) |mean x|^2, which is (n - m)/(m (n - 1)) for m of n clients.
    """

    flat: frozenset[str]
    squares: Form | None
    share: Form | None
    charges: set[str] = field(default_factory=set[str])

    def mean_of(self, x: Vec) -> Vec:
        terms: list[Mapping[Tagged, Form]] = []
        for (name, tag), c in x.terms.items():
            # A vector that does not change with the client is its own mean only if the weights sum to one.
            if tag != ANY:
                self.charges.add(SUM)
            moved = self._mean(name) if tag == ANY else (name, tag)
            terms += [{moved: c}] if moved is not None else []
        return Vec(added(terms))

    def _mean(self, name: Name) -> Tagged | None:
        """The mean over the clients of a client's vector; None where it is 0."""
        while name.near is not None:
            self.charges.add(NEAR)
            name = name.near
        if name.label in self.flat:
            self.charges.add(FLAT)
            return None
        if name.centre is not None:
            self.charges.add(NEAR)
            return name.centre, ALL
        return name, MEAN

    def near_of(self, x: Vec, client: str) -> Vec:
        """The mean over the neighbours of `client`, whose own vectors stand for those of every client."""
        self.charges.add(NEAR)
        return Vec(added({(near(n) if tag == client else n, tag): c} for (n, tag), c in x.terms.items()))

    def drawn_mean(self, x: Vec) -> Vec:
        """Its mean over the drawn clients, a uniform subset that is independent of what is averaged."""
        if any(name.noise or (name.stage and not name.loss) or name.of_sample for name, _ in x.terms):
            # Later noise and what was solved in the round may depend on who was drawn; then its mean over the drawn
            # clients is not the mean over all in expectation.
            raise Rejected("got a mean over drawn clients of what may depend on the draw or comes later")
        self.charges.add(DRAWN)
        return x.tagged({ANY: SAMPLED})  # x may hold means over the drawn clients already: |S(x - S x)|^2 is 0

    def under_mean(self, scalar: Scalar, over: str = "mean") -> Scalar:
        """The mean of every term; one that is a mean already is the same for all clients."""
        if any(t.over != "one" for _, t in scalar):
            self.charges.add(SUM)
            if over == "squares":
                raise Rejected("got sum_i p_i^2 of a mean")
        return tuple((c, replace(t, over=over) if t.over == "one" else t) for c, t in scalar)

    def under_near(self, scalar: Scalar, client: str) -> Scalar:
        if any(t.over != "one" or t.op not in ("inner", "one") for _, t in scalar):
            raise Rejected("got the mean over neighbours of something else than inner products")
        return tuple((c, replace(t, over="near", client=client)) for c, t in scalar)

    def expanded(self, scalar: Scalar) -> dict[Key, Form]:
        """Every term expanded, under its mean and the expectation."""
        parts: list[Mapping[Key, Form]] = []
        for factor, term in scalar:
            if term.op == "inner":
                parts += self._inner(factor, term)
                continue
            if term.over == "squares":
                if term.op != "one" or self.squares is None:
                    raise Rejected("got sum_i p_i^2 of a value")
                factor = factor * self.squares
            elif term.over == "mean" and (term.op == "one" or term.tag != ANY):
                self.charges.add(SUM)
            elif term.over == "near":
                self.charges.add(NEAR)
            op, tag = term.op, MEAN if term.over == "mean" and term.tag == ANY else term.tag
            if op == "drawn" and term.vectors[0].stage == 0:  # at a point that was known before, its mean is f_i
                self.charges.add(FRESH)
                op = "value"
            parts.append({("one",) if op == "one" else (op, term.label, tag): factor})
        return added(parts)

    def _inner(self, factor: Form, term: Term) -> Iterable[Mapping[Key, Form]]:
        left, right = term.vectors
        for a, c in left.terms.items():
            for b, d in right.terms.items():
                together = factor * c * d
                if SAMPLED in (a[1], b[1]) and (a[0].of_sample or b[0].of_sample):
                    if term.over != "one":
                        raise Rejected("got a mean of what depends on the drawn clients")
                    yield {("inner", *sorted((a, b))): together}
                    continue
                # E|mean over the drawn of x|^2 has a part of M|x|^2 and the rest of |Mx|^2; two vectors x, y go the
                # same way, by polarisation.
                if a[1] == b[1] == SAMPLED:
                    if self.share is None or term.over == "squares":
                        raise Rejected("got a square of what the drawn clients have, expected one for itself")
                    yield {("mean", *sorted((a[0], b[0]))): together * self.share}
                    together = together + -(together * self.share)
                x, y = ((name, MEAN if tag == SAMPLED else tag) for name, tag in (a, b))
                key = self._product(x, y, term)
                if key is not None:
                    yield {key: together}

    def _product(self, a: Tagged, b: Tagged, term: Term) -> Key | None:
        """The key of one inner product; None where it vanishes."""
        (one, _), (two, _), over = a, b, term.over
        if one == two and one.unit and over != "squares":
            self.charges.update((SUM,) if over != "one" else ())
            return ("one",)
        if (one.noise and one.stage > two.stage) or (two.noise and two.stage > one.stage):
            self.charges.add(UNBIASED)  # noise has mean zero, given all that was known before it
            return None
        each = (a[1] == ANY) + (b[1] == ANY)
        if over == "one":
            # |sum_i p_i z_i|^2 is sum_i p_i^2 |z_i|^2 for noises that are independent and have mean 0.
            if a == b and one.noise and a[1] == MEAN:
                self.charges.update((INDEPENDENT, UNBIASED))
                return ("squares", one, two)
            return ("inner", *sorted((a, b)))
        if over == "squares":
            if each < 2:
                raise Rejected("got sum_i p_i^2 of a vector that all clients share")
            return ("squares", *sorted((one, two)))
        if each == 2:
            return (over, *((term.client,) if over == "near" else ()), *sorted((one, two)))
        if each == 0:
            self.charges.add(NEAR if over == "near" else SUM)
        moved: list[Tagged] = []
        for name, tag in (a, b):
            at = (name, tag) if tag != ANY else (near(name), term.client) if over == "near" else self._mean(name)
            if at is None:
                return None
            moved.append(at)
        if over == "near":
            self.charges.add(NEAR)
        return self._product(moved[0], moved[1], replace(term, over="one"))
