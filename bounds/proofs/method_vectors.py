"""From formulas to vectors: what the named scalars of a proof are at a round and a local step of a method.

The update rule is never typed: a quantity one local step later is its definition at what the method's own rules make
of the vectors. A quantity of the method is what its `measures` say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from flint import fmpq
from sympy import Add, Expr, Indexed, Integer, Mul, Pow, Rational, Sum
from sympy.core.function import AppliedUndef

from fedaudit.errors import UserError

from ..language.assumptions import EXACT, FLAT, GROUPS, SENT, STILL
from ..language.rule_expressions import grad, mean
from ..language.rule_parts import Number, Vector, vectors_of
from .frame import Frame, others
from .settings.two_groups import Member
from .vectors import (
    ALL,
    ANY,
    AXIS,
    FENCHEL,
    MEAN,
    OWN,
    SAME,
    SAMPLED,
    Coefficient,
    Expanded,
    Name,
    Ring,
    Scalar,
    Term,
    Vec,
    expanded,
    mean_of,
    near_of,
    sampled_mean,
    under_mean,
    under_near,
)

When = Literal["start", "first", "base", "begun", "local", "stepped", "ended", "updated", "round"]


GRADIENT_AT_STAR = mean(grad(Vector("w_star")))


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads formulas of one proof step: around round `at[0]` and its local step `at[1]`."""

    frame: Frame
    ring: Ring
    letters: Mapping[Any, str]  # leaf -> its name in the ring
    at: tuple[Any, Any]
    step: Any = None  # what the letter of the local step stands for, in a rule or a definition that is being read
    vectors_read: dict[Any, Vec] = field(default_factory=dict[Any, Vec], compare=False, repr=False)

    # --- coefficients ------------------------------------------------------------------------------------------------

    def coefficient(self, expr: Any) -> Coefficient:
        if self.step is not None:
            return replace(self, step=None).coefficient(expr.subs(self.frame.letters[1], self.step))
        if isinstance(expr, Rational):
            return self.ring.number(fmpq(int(expr.p), int(expr.q)))
        chosen = self.frame.formula(expr) if self.frame.chosen else None
        if chosen is not None:
            return self.coefficient(chosen)
        if isinstance(expr, Sum) and self.frame.is_sum_of_squares(expr):
            expr = 1 / self.frame.sizes[1] if self.frame.even else self.frame.sum_of_squares
        if expr in self.letters:
            return self.ring.parameter(self.letters[expr])
        if isinstance(expr, Pow) and isinstance(expr.exp, Integer):
            base, times = self.coefficient(expr.base), abs(int(expr.exp))
            power = self.ring.number(1)
            for _ in range(times):
                power = power * base
            return power if expr.exp >= 0 else self.ring.number(1) / power
        if isinstance(expr, Add | Mul):
            first, *more = (self.coefficient(arg) for arg in expr.args)
            for part in more:
                first = first + part if isinstance(expr, Add) else first * part
            return first
        raise UserError(f"got {expr}, expected a rational formula of the method's constants; do: leave it by hand")

    def _now(self, factor: Expr) -> Expr:
        """A factor of a rule or a definition, which must not be that of another round; `step` sees to the step."""
        t, at = self.frame.letters[0], self.at[0]
        if t != at and t in getattr(factor, "free_symbols", ()):
            if self.frame.single:
                return factor.subs(t, at)
            raise UserError(f"got {factor} at {t} = {at}, expected a premise about {t}; do: leave out `at`")
        return factor

    # --- vectors -----------------------------------------------------------------------------------------------------

    def vector(self, x: Vector, when: When = "base", plain: str | None = None, other: str | None = None) -> Vec:
        """`x` with the vectors of the client `plain` (of `other` in another client's) as they are then."""

        def read(inside: Any) -> Vec:
            return self.vector(inside, when, plain, other)

        match x:
            case Vector(op="name"):
                # `replace` hands this table on to the copy, so that the round and the step belong to the key.
                key = (x, when, plain, self.at, self.step)
                if key not in self.vectors_read:
                    self.vectors_read[key] = self._named(x, when, plain)
                return self.vectors_read[key]
            case Vector(op="zero"):
                return Vec({})
            case Vector(op="start") if self.frame.groups is not None:
                return self._axis.scaled(self.coefficient(self.frame.groups.begins))
            case Vector(op="start"):
                first = [y.name for y, rule in self.frame.method.server.items() if rule == x and self.at[0] == 0]
                return Vec({(Name(first[0] if first and when != "start" else "start"), ALL): self.ring.number(1)})
            case Vector(op="w_star") if self.frame.groups is not None:
                return Vec({}, frozenset({GROUPS}))
            case Vector(op="group", args=(name, inside)) if name in self._members:
                return self.vector(inside, when, name)
            case Vector(op="mean", args=(inside,)) if self.frame.groups is not None:
                return self._mean_of_groups(inside, when)
            case Vector(op="grad", args=(inside,)) if plain in self._members:
                member, at = self._members[plain], read(inside)
                pull = self._axis.scaled(self.coefficient(member.force))
                return Vec((at.scaled(self.coefficient(member.curve)) + pull).terms, at.charges | {GROUPS})
            case Vector(op="w_star" | "point" | "axis"):
                label = {"w_star": "w*", "axis": AXIS}.get(x.op) or f"point {x.args[0]}"
                return Vec({(Name(label), ALL): self.ring.number(1)})
            case Vector(op="+"):
                first, *more = (read(arg) for arg in x.args)
                for part in more:
                    first = first + part
                return first
            case Vector(op="*", args=(factor, inside)):
                return read(inside).scaled(self.coefficient(self._now(factor)))
            case Vector(op="mean", args=(inside,)) if self.frame.alone:
                return self.vector(inside, when, str(self.frame.letters[2]))
            case Vector(op="mean", args=(inside,)):
                return mean_of(self.vector(inside, when, ANY), self.flat)
            case Vector(op="sampled", args=(inside,)) if self.frame.sample is not None and self.frame.even:
                return sampled_mean(self.vector(inside, when, ANY))
            case Vector(op="other", args=(inside,)) if other is not None:
                return self.vector(inside, when, other)
            case Vector(op="neighbours", args=(inside,)) if plain is not None:
                return near_of(self.vector(inside, when, plain), plain)
            case Vector(op="grad", args=(inside,)) if plain is not None:
                at = read(inside).owned(plain)
                if self.frame.client == plain and f"grad({at.label})" in self.flat:
                    return Vec({}, at.charges | {FLAT})
                if self._of_all(at):
                    name = Name(f"grad({at.label})", at.stage, point=at)
                    return Vec({(name, ALL): self.ring.number(1)}, at.charges | {SAME})
                return Vec({(Name(f"grad({at.label})", at.stage, point=at), plain): self.ring.number(1)}, at.charges)
            case Vector(op="prox", args=(step, inside)):
                return self._prox(read(inside).owned(plain or ALL), self.coefficient(step), plain)
            case Vector(op="oracle", args=(step, inside)) if plain is not None:
                return self._solved(read(inside), self.coefficient(step), plain)
            case Vector(op="full_prox", args=(step, inside)):
                return self._solved(read(inside), self.coefficient(step))
            case Vector(op="noisy", args=(inside,)) if plain is not None and when in ("base", "begun", "local"):
                at = read(inside)
                return at + self.noise(at, when, plain)
            case _:
                raise UserError(f"got {x.op!r} of a vector, expected another; do: leave this premise by hand")

    def _prox(self, at: Vec, size: Coefficient, plain: str | None) -> Vec:
        """The proximal point, of the client if the point is; w* where a proximal gradient step starts there."""
        star = self.vector(Vector("w_star"))
        if GRADIENT_AT_STAR not in self.vectors_read:
            self.vectors_read[GRADIENT_AT_STAR] = self.vector(GRADIENT_AT_STAR)
        still = star - self.vectors_read[GRADIENT_AT_STAR].scaled(size)
        if at.terms in (still.terms, still.owned(plain or ALL).terms):
            return replace(star, charges=at.charges | {FLAT, STILL})
        if at.tags - {ALL, MEAN, OWN} or (OWN in at.tags and plain is None):
            raise UserError("got a proximal point of another client, expected a shared one; do: leave it by hand")
        name = Name(f"prox({size}, {at.label})", at.stage, point=at, step=size)
        return Vec({(name, plain if OWN in at.tags and plain else ALL): self.ring.number(1)}, at.charges)

    def _of_all(self, at: Vec) -> bool:
        """Whether what is taken there is the same for all clients: the function is, and so is the point."""
        return self.frame.same and not at.tags - {ALL, MEAN}

    @property
    def _members(self) -> Mapping[Any, Member]:
        return {} if self.frame.groups is None else self.frame.groups.members

    @property
    def _axis(self) -> Vec:
        return Vec({(Name(AXIS), ALL): self.ring.number(1)})

    def _mean_of_groups(self, inside: Any, when: When) -> Vec:
        total = Vec({}, frozenset({GROUPS}))
        for name, member in self._members.items():
            total = total + self.vector(inside, when, name).scaled(self.coefficient(member.share))
        return total

    def _parabola(self, at: Vec) -> Scalar:
        """f at a point that all clients share; the forces of the groups cancel, so that f is least at 0."""
        curve = force = self.ring.number(0)
        for member in self._members.values():
            share = self.coefficient(member.share)
            curve = curve + share * self.coefficient(member.curve)
            force = force + share * self.coefficient(member.force)
        if not force.is_zero or ANY in at.tags:
            raise UserError("got groups whose forces do not cancel, or a client's own point; do: leave it by hand")
        half = self.ring.number(fmpq(1, 2))
        return ((half * curve, Term("inner", vectors=(at, at), charges=frozenset({GROUPS}))),)

    def _solved(self, at: Vec, size: Coefficient, plain: str = "") -> Vec:
        """The proximal point of f, or of the loss that the client draws in this round, after the point is known."""
        if at.tags - {ALL, MEAN, *(() if plain else (SAMPLED,))} or (plain and at.stage):
            raise UserError("got a proximal point of a client's own point, expected a shared one; do: leave it by hand")
        loss, stage, charges = ("own", 1, {EXACT}) if plain else ("full", at.stage, set[str]())
        name = Name(f"{loss} prox({size}, {at.label})", stage, point=at, step=size, loss=loss)
        return Vec({(name, plain): self.ring.number(1)}, at.charges | charges)

    def _rule(self, rule: Any, when: When, plain: str | None) -> Vec:
        """A rule of the method, read at this local step."""
        if isinstance(rule, int):
            return Vec({})
        return replace(self, step=self.at[1]).vector(rule, when, plain)

    def noise(self, at: Vec, when: When, plain: str) -> Vec:
        """The noise of a gradient at a point. Every step has a new one, and that of the next step is known later."""
        step = 1 if when == "local" else 0
        at = at.owned(plain)
        label = f"noise({'begun' if when == 'begun' else step}, {at.label})"
        if plain in self._members:  # the mean over a group of what has mean zero
            return Vec({(Name(f"{label} of {plain}", step + 1, True, at), ALL): self.ring.number(1)})
        return Vec({(Name(label, step + 1, True, at), plain): self.ring.number(1)})

    def _named(self, x: Vector, when: When, plain: str | None) -> Vec:
        method = self.frame.method
        if x in method.server:
            if when == "updated" and x in method.update:
                return self._rule(method.update[x], "ended", plain)
            if when == "start" or (when == "first" and self.frame.groups is not None):
                return self._rule(method.server[x], "start", plain)
            if x in self.frame.kept:
                return replace(self, step=None).vector(self.frame.kept[x](self.at[1]), "base", plain)
            if when == "first" and self.frame.single and method.server[x] == Vector("start"):
                return self.vector(Vector("start"), when, plain)
            return Vec({(Name(x.name), ALL): self.ring.number(1)})
        if (x not in method.client and x not in self.frame.ghosts) or plain is None:
            raise UserError(f"got {x.name!r}, expected a vector of {method.id} with its client")
        if x in self.frame.sent and when in ("base", "local"):
            sent = self.vector(self.frame.sent[x], "base", plain)
            return Vec(sent.terms, sent.charges | {SENT})
        begin, local = self.frame.begin, self.frame.local
        within = x in begin or x in local  # changes within a round
        if when == "first" and x in method.client:
            return self.vector(method.client[x], when, plain)
        if when == "start" and not within:
            return self._rule(method.client[x], "start", plain)
        if when == "begun" and x in begin:
            return self._rule(begin[x], "round", plain)
        if when == "local" and x in local:
            return self._rule(local[x], "base", plain)
        if when == "updated" and x in method.end and method.uses("sampled"):  # who was not drawn keeps what it had
            raise UserError(f"got {x.name!r} of every client after a round, expected one of those that were drawn")
        last: When = "stepped" if self.frame.single and self.at[1] == 0 else "base"
        if (when == "ended" or (when == "updated" and not within)) and x in method.end:
            return self._rule(method.end[x], last, plain)
        if last == "stepped" and when in ("ended", "stepped") and within:
            return self._rule(local[x], "begun", plain) if x in local else self.vector(x, "begun", plain)
        still = x in self.frame.kept and x not in local and when == "round"  # the same at every step of the round
        if within and not still and when in ("start", "first", "round", "begun", "updated"):
            raise UserError(f"got {x.name!r} of the whole round, expected a local step; do: leave this premise by hand")
        if x in self.frame.kept:
            return replace(self, step=None).vector(self.frame.kept[x](self.at[1]), "base", plain)
        if plain in self._members:
            return Vec({(Name(f"{x.name} of {plain}"), ALL): self.ring.number(1)}, frozenset({GROUPS}))
        settled = self.frame.settled(x)
        centre = None if settled is None else Name(settled.name)
        return Vec({(Name(x.name, centre=centre), plain): self.ring.number(1)})

    @property
    def flat(self) -> frozenset[str]:
        """The gradients whose mean over the clients is zero: those at w*, which minimises f (without a regulariser)."""
        if self.frame.method.composite:
            return frozenset()
        return frozenset({f"grad({self.vector(Vector('w_star')).label})"})

    # --- numbers and formulas ----------------------------------------------------------------------------------------

    def number(self, x: Number, when: When = "base", plain: str | None = None, other: str | None = None) -> Scalar:
        parts = (self._atom(atom, when, plain, other) for _, atom in x.terms)
        scaled = zip(x.terms, parts, strict=True)
        return tuple((self.coefficient(self._now(c)) * d, term) for (c, _), part in scaled for d, term in part)

    def _atom(self, atom: Any, when: When, plain: str | None, other: str | None) -> Scalar:
        one = self.ring.number(1)
        match atom:
            case ("one",):
                return ((one, Term("one")),)
            case ("norm2", x):
                at = self.vector(x, when, plain, other)
                return ((one, Term("inner", vectors=(at, at))),)
            case ("inner", x, y):
                ends = self.vector(x, when, plain, other), self.vector(y, when, plain, other)
                return ((one, Term("inner", vectors=ends)),)
            case ("f", x) if self.frame.groups is not None:
                return self._parabola(self.vector(x, when, plain, other))
            case ("f_star",) if self.frame.groups is not None:
                return ()
            case ("f", x) if self.frame.client is not None:
                return self._atom(("f_i", x), when, self.frame.client, other)
            case ("f_star",) if self.frame.client is not None and not self.frame.method.composite:
                return self._atom(("f_i", Vector("w_star")), when, self.frame.client, other)
            case ("f_star",) if self.frame.alone:  # w* minimises f + g
                return self._atom(("F", Vector("w_star")), when, self.frame.client, other)
            case ("mean", inside) if self.frame.alone:
                return self._atom(inside, when, self.frame.client, None)
            case ("f", x):
                return (self._value(self.vector(x, when, plain, other)),)
            case ("g", x):
                at = self.vector(x, when, plain, other).owned(plain or ALL)
                if at.tags - {ALL, MEAN, OWN}:
                    raise UserError("got g at a point of another client, expected a shared one; do: leave it by hand")
                tag = plain if OWN in at.tags and plain else ALL
                return ((one, Term("regulariser", "one", (at,), f"g({at.label})", tag)),)
            case ("conjugate", s):
                return self._conjugate(self.vector(s, when, plain, other))
            case ("F", x):
                return (*self._atom(("f", x), when, plain, other), *self._atom(("g", x), when, plain, other))
            case ("f_star",) if not self.frame.method.composite:
                return (self._value(self.vector(Vector("w_star"))),)
            case ("f_star",):
                return ((one, Term("value", "one", (), "least F")),)
            case ("f_i", x) if plain is not None:
                at = self.vector(x, when, plain, other).owned(plain)
                if self._of_all(at):
                    return (self._value(at),)
                return ((one, Term("value", "one", (at,), f"f({at.label})", plain)),)
            case ("drawn", x) if plain is not None:
                at = self.vector(x, when, plain, other).owned(plain)
                return ((one, Term("drawn", "one", (at,), f"f({at.label})", plain)),)
            case ("f_i_star",) if plain is not None:
                return ((one, Term("value", "one", (), "least f", plain)),)
            case ("mean", inside):
                return under_mean(self._atom(inside, when, ANY, None))
            case _:
                raise UserError(f"got {atom[0]!r} in a scalar, expected another; do: leave this premise by hand")

    def _conjugate(self, s: Vec) -> Scalar:
        """g*(s) = <s, p> - g(p) for s = (x - p)/step, where p is the proximal point of x: a subgradient of g there."""
        one = self.ring.number(1)
        for p, tag in s.terms:
            if p.point is None or p.step is None or p.loss or tag != ALL:
                continue
            at = Vec({(p, tag): one})
            if not (s - (p.point - at).scaled(one / p.step)).terms:
                value = Term("regulariser", "one", (at,), f"g({at.label})", ALL)
                return ((one, Term("inner", vectors=(s, at), charges=frozenset({FENCHEL}))), (-one, value))
        raise UserError("got the conjugate of something else, expected what a proximal step divided by its size is")

    def _value(self, at: Vec) -> tuple[Coefficient, Term]:
        """f = sum_i p_i f_i at a point that all clients share."""
        if ANY in at.tags:
            raise UserError("got f at a client's own point under a mean, expected a shared point; do: use f_i")
        if self._of_all(at):
            return self.ring.number(1), Term("value", "one", (at,), f"f({at.label})", ALL, frozenset({SAME}))
        return self.ring.number(1), Term("value", "mean", (at,), f"f({at.label})", ANY)

    def formula(self, expr: Any, bound: Any = None) -> Scalar:
        """A formula that is linear in quantities; `bound` is the client over which a mean runs."""
        written = self.frame.formula(expr)
        if written is not None:
            return self.formula(written, bound)
        meant = self.frame.meaning(expr)
        if meant is not None:
            return self._quantity(expr, *meant, bound)
        if isinstance(expr, Add):
            return tuple(part for arg in expr.args for part in self.formula(arg, bound))
        if self.frame.is_weight(expr):
            return ((self.ring.number(1), Term("weight", label=str(expr.args[-1]))),)
        if self.frame.is_share(expr):
            return ((self.ring.number(1), Term("weight", label="_".join(map(str, ("share", *expr.args))))),)
        if isinstance(expr, Sum) and not self.frame.is_sum_of_squares(expr):
            (index, low, high), *more = expr.limits
            client = self._neighbour(expr.function, index)
            if client is not None and not more and bound is None and (low, high) == (1, self.frame.sizes[1]):
                return under_near(self.formula(expr.function / self.frame.shares(client, index), index), str(client))
            even = self.frame.even and not self._weighted(expr.function)
            body = expr.function * self.frame.sizes[1] if even else expr.function / self.frame.weight(index)
            if more or bound is not None or (low, high) != (1, self.frame.sizes[1]) or self._weighted(body):
                raise UserError(f"got {expr}, expected a mean over the clients with their weights")
            return under_mean(self.formula(body, index))
        if isinstance(expr, Mul):
            quantities_in = [arg for arg in expr.args if not self._constant(arg)]
            if len(quantities_in) == 1:
                factor = self.coefficient(Mul(*(arg for arg in expr.args if arg is not quantities_in[0])))
                return tuple((factor * c, term) for c, term in self.formula(quantities_in[0], bound))
        return ((self.coefficient(expr), Term("one")),)

    def _neighbour(self, term: Any, index: Any) -> Any:
        """The client whose neighbours a sum over `index` runs over."""
        shares = self.frame.shares and {s for s in term.atoms(AppliedUndef) if self.frame.is_share(s)}
        pairs: set[Any] = {s.args for s in shares or ()}
        _, _, i, j = self.frame.letters
        return next((c for c, n in pairs if n == index != c and c in (i, j) and len(pairs) == 1), None)

    def _weighted(self, expr: Any) -> bool:
        return bool(expr.atoms(Indexed)) or any(self.frame.is_weight(q) for q in expr.atoms(AppliedUndef))

    def _constant(self, expr: Any) -> bool:
        """Whether it speaks of no quantity."""
        if isinstance(expr, Sum):
            return self.frame.is_sum_of_squares(expr)
        if isinstance(expr, Indexed) or self.frame.is_weight(expr) or self.frame.is_share(expr):
            return False
        if self.frame.formula(expr) is not None or self.frame.meaning(expr) is not None:
            return False
        return all(self._constant(arg) for arg in expr.args) if isinstance(expr, Add | Mul | Pow) else True

    def _quantity(self, quantity: Any, key: Any, number: Number, bound: Any) -> Scalar:
        at = dict(zip(getattr(key, "args", ()), getattr(quantity, "args", ()), strict=True))
        at = at if isinstance(key, AppliedUndef) else {}
        t, k, i, j = self.frame.letters
        if t not in at and self.at[0] != t and _changes(number):
            raise UserError(f"got {quantity} at round {self.at[0]}, expected one that says its round")
        for c in (i, j):
            if at.get(c, c) not in (i, j, bound):
                raise UserError(f"got the client {at[c]} in {quantity}, expected {i} or {j}")
        plain, other = (None if c not in at else ANY if at[c] == bound else str(at[c]) for c in (i, j))
        plain = self.frame.client or plain
        when = self._when(quantity, at.get(t), at.get(k))
        return replace(self, step=at.get(k)).number(number, when, plain, other)

    def _when(self, quantity: Any, round_: Any, step: Any) -> When:
        t, k = self.at
        if round_ == t == 0 and step is None:
            return "first"
        if round_ in (None, t) and step is None:
            return "round"
        if round_ in (None, t) and step == k:
            return "base"
        if round_ in (None, t) and step == k + 1:
            return "local"
        if round_ in (None, t) and step == 0:
            return "begun"
        if round_ == t + 1 and step is None and (k == self.frame.sizes[0] or (self.frame.single and k == 0)):
            return "updated"
        raise UserError(f"got {quantity}, expected round {t} and step {k}, or the next one; do: say `at`")

    def expand(self, scalar: Scalar) -> Expanded:
        squares = None
        if self.frame.even:
            squares = self.coefficient(1 / self.frame.sizes[1])
        elif self.frame.sum_of_squares in self.letters:
            squares = self.coefficient(self.frame.sum_of_squares)
        return expanded(scalar, squares, self.flat, self.share)

    @property
    def share(self) -> Coefficient | None:
        """By how much the mean over the sampled clients varies: (n - m)/(m (n - 1))."""
        n, drawn = self.frame.sizes[1], self.frame.sample
        return None if drawn is None else self.coefficient((n - drawn) / (drawn * others(n)))


def _changes(number: Number) -> bool:
    """Whether it speaks of the method's vectors, which another round has others of."""
    return any(x.op == "name" for x in vectors_of(number))
