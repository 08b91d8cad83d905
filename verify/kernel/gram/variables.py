"""What a run reads of losses that nobody has chosen yet: at every distinct point one gradient and one value.

The minimiser w* of f = sum_i p_i f_i is the origin. There sum_i p_i grad f_i = 0, which gives one gradient from the
others. Every inequality here holds for all losses of the class F_{mu,L}; those between two points of a client are also
enough for a loss of the class to exist (table.py cites the theorem).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flint import fmpq

from ..core.loss import ONE, ZERO, Vector
from ..core.rational import affordable
from .form import (
    NOTHING,
    ORIGIN,
    Form,
    Key,
    OutOfReach,
    Vec,
    inner,
    leaf,
    minus,
    mixed,
    number,
    square,
    total,
    unknown,
)

POINTS = 200  # of all clients
OF_PENALTY, OF_ALL = -1, -2  # whose proximal point it is, where it is no client's


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A point of one client, its gradient there, and the name of its value."""

    x: Vec
    g: Vec
    f: str


Table = dict[Key, Entry]


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    p: Vector
    mu: fmpq
    L: fmpq | None  # None: not smooth, so that gradients are subgradients
    tables: tuple[Table, ...]
    composite: bool = False  # whether w* minimises F = f + g, with a convex g of finite values
    least: dict[int, Vec] = field(default_factory=dict[int, Vec])  # client -> where its loss is least
    penalty: Table = field(default_factory=Table)  # points of g, subgradients and values
    proxes: dict[tuple[int, Key, fmpq], Vec] = field(default_factory=dict[tuple[int, Key, fmpq], Vec])
    accuracy: fmpq = ZERO  # of what an oracle answers: how far from the least value of its problem it may be
    answers: dict[tuple[int, Key, fmpq], tuple[Vec, Form]] = field(
        default_factory=dict[tuple[int, Key, fmpq], tuple[Vec, Form]]
    )  # the error of an answer, and what is left of its accuracy

    def entry(self, i: int, x: Vec) -> Entry:
        """What client i's loss has at x: one gradient and one value, whoever asks."""
        if x.weight != 1:
            raise OutOfReach("out of reach: a loss is read at what is no point")
        table, key = self.tables[i], x.key
        if not key:
            self.minimised()
        if key not in table:
            self.enter(i, x, leaf(f"g{i + 1}_{len(table)}"))
        return table[key]

    def enter(self, i: int, x: Vec, g: Vec) -> None:
        affordable(1 + sum(map(len, self.tables)), POINTS, "point")
        self.tables[i][x.key] = Entry(x, g, f"f{i + 1}_{len(self.tables[i])}")

    def gradient(self, i: int, x: Vec) -> Vec:
        entry = self.entry(i, x)
        if self.L is None and (not entry.x.terms or entry.x is self.least.get(i)):
            raise OutOfReach("out of reach: a subgradient at a minimiser, which may be any one")
        return entry.g

    def value(self, i: int, x: Vec) -> Form:
        return unknown(self.entry(i, x).f)

    def mean_value(self, x: Vec) -> Form:
        """f(x)."""
        return total(self.p, [self.value(i, x) for i in range(len(self.p))])

    def total_value(self, x: Vec) -> Form:
        """F(x)."""
        return total((ONE, ONE), (self.mean_value(x), self.penalty_value(x))) if self.composite else self.mean_value(x)

    def penalty_value(self, x: Vec) -> Form:
        """g(x)."""
        if x.weight != 1 or not self.composite:
            raise OutOfReach("out of reach: a regulariser is read at what is no point, or where there is none")
        if not x.key:
            self.minimised()
        if x.key not in self.penalty:
            self.penalise(x, leaf(f"r_{len(self.penalty)}"))
        return unknown(self.penalty[x.key].f)

    def penalise(self, x: Vec, r: Vec) -> Vec:
        affordable(1 + len(self.penalty), POINTS, "point")
        self.penalty[x.key] = Entry(x, r, f"h_{len(self.penalty)}")
        return x

    def prox(self, w: Vec, s: fmpq) -> Vec:
        """u = argmin s g(u) + |w - u|^2 / 2: there w - u = s r, r a subgradient of g at u."""
        if w.weight != 1 or s < 0:
            raise OutOfReach("out of reach: a proximal point of what is no point, or a step below 0")
        if s == 0:
            return w
        if (OF_PENALTY, w.key, s) not in self.proxes:
            r = leaf(f"r_{len(self.penalty)}")
            self.proxes[OF_PENALTY, w.key, s] = self.penalise(mixed((ONE, -s), (w, r)), r)
        return self.proxes[OF_PENALTY, w.key, s]

    def own_prox(self, i: int, w: Vec, s: fmpq) -> Vec:
        """u = argmin f_i(u) + |w - u|^2 / (2 s), of client i, or of f: there w - u is s times the gradient at u."""
        if w.weight != 1 or s <= 0:
            raise OutOfReach("out of reach: a proximal point of what is no point, or a step that is not positive")
        if (i, w.key, s) not in self.proxes:
            who = range(len(self.p)) if i == OF_ALL else [i]
            slopes = [leaf(f"g{j + 1}_{len(self.tables[j])}") for j in who]
            u = mixed((ONE, *(-s * (self.p[j] if i == OF_ALL else ONE) for j in who)), (w, *slopes))
            for j, g in zip(who, slopes, strict=True):
                self.enter(j, u, g)
            self.proxes[i, w.key, s] = u
        return self.proxes[i, w.key, s]

    def error(self, i: int, w: Vec, s: fmpq) -> Vec:
        """By how much the answer u + e of client i's oracle misses u = argmin f_i(u) + |w - u|^2 / (2 s)."""
        if not self.accuracy:
            return NOTHING
        u = self.own_prox(i, w, s)
        if (i, w.key, s) not in self.answers:
            e = leaf(f"e{i + 1}_{len(self.answers)}")
            answer, away = mixed((ONE, ONE), (u, e)), minus(u, w)
            parts = (self.value(i, answer), self.value(i, u), square(e), inner(e, away))
            room = total((ONE, -ONE, ONE, -1 / (2 * s), -1 / s), (number(self.accuracy), *parts))
            self.answers[i, w.key, s] = e, room
        return self.answers[i, w.key, s][0]

    def minimised(self) -> Vec:
        """w*, with what every client has there."""
        if ORIGIN.key in self.tables[0]:
            return ORIGIN
        if self.composite:  # 0 is a subgradient of F
            for i, table in enumerate(self.tables):
                self.enter(i, ORIGIN, leaf(f"g{i + 1}_{len(table)}"))
            slopes = [table[ORIGIN.key].g for table in self.tables]
            self.penalise(ORIGIN, mixed([-weight for weight in self.p], slopes))
        else:
            last = max((i for i, weight in enumerate(self.p) if weight), default=None)
            if last is None:
                raise OutOfReach("out of reach: a minimiser of nothing, all weights are 0")
            if self.L is None and min(self.p) < 0:
                raise OutOfReach("out of reach: subgradients with weights below 0, which need not add up to 0 at w*")
            others = [i for i in range(len(self.p)) if i != last]
            slopes = {i: leaf(f"g{i + 1}_{len(self.tables[i])}") for i in others}
            slopes[last] = mixed([-self.p[i] / self.p[last] for i in others], [slopes[i] for i in others])
            for i, g in sorted(slopes.items()):
                self.enter(i, ORIGIN, g)
        return ORIGIN

    def own_minimiser(self, i: int) -> Vec:
        """A point where client i's loss is least."""
        if i not in self.least:
            if self.mu < 0:
                raise OutOfReach("out of reach: minimisers of clients that are not convex")
            self.least[i] = leaf(f"w{i + 1}", ONE)
            self.enter(i, self.least[i], NOTHING)
        return self.least[i]

    def gap_of_minima(self) -> Form:
        """Gamma = f* - sum_i p_i min f_i."""
        if self.composite:
            raise OutOfReach("out of reach: Gamma of a problem with a regulariser")
        each = [self.value(i, self.own_minimiser(i)) for i in range(len(self.p))]
        return total((ONE, -ONE), (self.mean_value(self.minimised()), total(self.p, each)))

    def interpolation(self) -> dict[str, Form]:
        """For every client i and pair of its points a, b: f_i(a) is above what b and the class say, named fi_a_b."""
        rooms: dict[str, Form] = {}
        for i, table in enumerate(self.tables):
            rooms |= {f"f{i + 1}_{a}_{b}": form for (a, b), form in self.all_above([*table.values()]).items()}
        regular = list(self.penalty.values())
        for a, b in ((a, b) for a in range(len(regular)) for b in range(len(regular)) if a != b):
            tangent = inner(regular[b].g, minus(regular[a].x, regular[b].x))
            rooms[f"g_{a}_{b}"] = total((ONE, -ONE, -ONE), (unknown(regular[a].f), unknown(regular[b].f), tangent))
        return rooms | self.nowhere_lower()

    def all_above(self, entries: Sequence[Entry]) -> dict[tuple[int, int], Form]:
        """`above` of every ordered pair; what does not depend on the order is computed once."""
        bends = {(a, b): self.bend(entries[a], entries[b]) for a in range(len(entries)) for b in range(a)}
        pairs = [(a, b) for a in range(len(entries)) for b in range(len(entries)) if a != b]
        return {(a, b): above(entries[a], entries[b], bends[max(a, b), min(a, b)]) for a, b in pairs}

    def above(self, a: Entry, b: Entry) -> Form:
        """f(a) - f(b) - <g_b, dx> - mu |dx|^2 / 2 - |dg - mu dx|^2 / (2 (L - mu))."""
        return above(a, b, self.bend(a, b))

    def bend(self, a: Entry, b: Entry) -> Form:
        """mu |dx|^2 / 2 + |dg - mu dx|^2 / (2 (L - mu)): by how much f is above its tangent at least."""
        dx = minus(a.x, b.x)
        parts, weights = [square(dx)], [self.mu / 2]
        if self.L is not None:
            parts.append(square(mixed((ONE, -ONE, -self.mu), (a.g, b.g, dx))))
            weights.append(1 / (2 * (self.L - self.mu)))
        return total(weights, parts)

    def nowhere_lower(self) -> dict[str, Form]:
        """Nowhere is F below F* = F(w*), where that does not follow from convexity.

        f(u) <= f(x) + <grad f(x), u - x> + L_f |u - x|^2 / 2, L_f = L sum_i p_i; at u = x - grad f(x)/L_f if there is
        no g, otherwise at the points of g.
        """
        L_f = ZERO if self.L is None or min(self.p) < 0 else self.L * sum(self.p, ZERO)
        if self.mu >= 0 or L_f <= 0 or ORIGIN.key not in self.tables[0]:
            return {}
        rooms: dict[str, Form] = {}
        for key in self.tables[0]:
            if not key or not all(key in table for table in self.tables):
                continue
            entries = [table[key] for table in self.tables]
            x, slope = entries[0].x, mixed(self.p, [entry.g for entry in entries])
            above = total((ONE, -ONE), (self.mean_value(x), self.total_value(ORIGIN)))
            if not self.composite:
                rooms[f"least_{len(rooms)}"] = total((ONE, -1 / (2 * L_f)), (above, square(slope)))
            for u in self.penalty.values():
                du = minus(u.x, x)
                rise = total((ONE, ONE, L_f / 2), (unknown(u.f), inner(slope, du), square(du)))
                rooms[f"least_{len(rooms)}"] = total((ONE, ONE), (above, rise))
        return rooms

    def slopes(self) -> dict[str, Form]:
        """|g|^2 of every gradient that is read."""
        return {f"{entry.f}_slope": square(entry.g) for table in self.tables for entry in table.values()}

    def penalty_slopes(self) -> dict[str, Form]:
        """|r|^2 of every subgradient of g."""
        return {f"{entry.f}_slope": square(entry.g) for entry in self.penalty.values()}


def above(a: Entry, b: Entry, bend: Form) -> Form:
    """f(a) - f(b) - <g_b, a - b> - bend."""
    return total((ONE, -ONE, -ONE, -ONE), (unknown(a.f), unknown(b.f), inner(b.g, minus(a.x, b.x)), bend))
