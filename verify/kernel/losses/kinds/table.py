"""A client's loss known at finitely many points: triples point, gradient, value of one function of a class.

The class is F_{mu,L}: h = f - mu |x|^2 / 2 is convex and, unless L is None, (L - mu)-smooth. A function of it with
these gradients and values exists if and only if, for all ordered pairs of points, with s = g - mu x,

    h_i >= h_j + <s_j, x_i - x_j> + |s_i - s_j|^2 / (2 (L - mu))

(Taylor, Hendrickx, Glineur 2017, theorem 4, which subtracts the quadratic just so; Rotaru, Glineur, Patrinos 2022 for
mu < 0). For L = mu the function is a quadratic; for L = None the last term is not there and g are subgradients. The
table says nothing about other points, so nothing else is answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flint import fmpq, fmpz

from ...core.budget import HASH, label, paid, spend
from ...core.loss import DENSE, ONE, ZERO, Matrix, Vector, combine, dot, minus, norm2
from ...core.rational import Node, Rejected, affordable, shown

Point = tuple[Vector, Vector, fmpq]  # x, g, f


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    mu: fmpq
    L: fmpq | None  # None: not smooth, so that g are subgradients
    points: Mapping[tuple[fmpz, ...], Point]  # by the label of x
    straight: bool = False  # every outcome of a run is followed

    def at(self, w: Vector) -> Point:
        spend(HASH * len(w))
        point = self.points.get(label(w))
        if point is None:
            raise Rejected(f"instance.clients: got the point {shown(w)} that is not in a table, expected one that is")
        return point

    def value(self, w: Vector) -> fmpq:
        return self.at(w)[2]

    def gradient(self, w: Vector) -> Vector:
        return self.at(w)[1]

    def bend(self, w: Vector, v: Vector) -> Vector:
        raise Rejected("instance.clients: got a table, expected losses with a Hessian")

    def hessian(self, most: bool) -> Matrix:
        """No Hessian of a function of the class is larger, or smaller: L or mu times the identity."""
        if most and self.L is None:
            raise Rejected("instance.clients: got a table without L, expected a largest curvature")
        bound = self.L if most and self.L is not None else self.mu
        d = len(next(iter(self.points.values()))[0])
        return tuple(tuple(bound if r == s else ZERO for s in range(d)) for r in range(d))

    def above(self, mu: fmpq) -> bool:
        """Whether every curvature is at least mu."""
        return self.mu >= mu

    def below(self, L: fmpq) -> bool:
        """Whether every curvature is at most L."""
        return self.L is not None and self.L <= L

    def above_tangent(self, w: Vector) -> bool:
        """Whether f - <grad f(w), .> is least at w, of a function f of the class with this table; the same one for all.

        A convex f always. For mu < 0 < L, g and f_j less <grad f(w), .> are a table too: the convex hull of the least
        of h_j + <s_j, . - x_j> + (L - mu) |. - x_j|^2 / 2, plus mu |.|^2 / 2, has the table and the least value
        min_j f_j - |g_j|^2 / (2 L), because the hull's mixtures only gain by mu < 0 (Rotaru, Glineur, Patrinos 2022;
        Drori, Shamir 2020, theorem 7). It is the largest function of the class with the table.
        """
        _, slope, value = self.at(w)
        if self.mu >= 0:
            return True
        if self.L is None or self.L <= 0:
            return False
        return all(
            value <= paid(f - dot(slope, minus(x, w)) - norm2(minus(g, slope)) / (2 * self.L))
            for x, g, f in self.points.values()
        )

    def prox(self, v: Vector, eta: fmpq) -> Vector:
        """argmin_u f(u) + |u - v|^2 / (2 eta), of every function with this table: where u + eta grad f(u) = v."""
        return proximal((self,), (ONE,), v, eta)

    def bounded_below(self) -> bool:
        """Whether a function of the class with this table is, with no gradient longer than those of the table.

        A convex one: if 0 is a mixture of the g, its tangents bound it. Otherwise there is a d with <g_j, d> < 0 for
        all j, and the table may be given one more point, far along d, with the gradient 0 and a value that is low
        enough: all inequalities hold. For mu < 0 < L: the function that `above_tangent` speaks of.
        """
        return self.mu >= 0 or (self.L is not None and self.L > 0)

    def slopes_at_most(self, G: fmpq) -> bool:
        """Whether a convex function with this table has no gradient longer than G anywhere.

        It is the conjugate of the largest function on the convex hull of all g whose gradients there are the x, and
        1/L-strongly convex; so its gradients are mixtures of the g (Taylor, Hendrickx, Glineur 2017, theorem 4's own).
        """
        return self.mu == 0 and G >= 0 and all(norm2(g) <= G * G for _, g, _ in self.points.values())


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """sum_i p_i f_i of tables, at points that are in all of them."""

    tables: tuple[Table, ...]
    p: Vector

    def prox(self, v: Vector, eta: fmpq) -> Vector:
        return proximal(self.tables, self.p, v, eta)


def proximal(tables: Sequence[Table], p: Vector, v: Vector, eta: fmpq) -> Vector:
    """Where u + eta sum_i p_i grad f_i(u) = v, a minimum because f + |.|^2/(2 eta) is strongly convex."""
    if min(p) < 0 or eta <= 0 or 1 + eta * dot(p, [table.mu for table in tables]) <= 0:
        raise Rejected("instance.clients: got a local problem that may not be convex, expected one that is strongly so")
    for place, (x, _, _) in tables[0].points.items():
        slopes = [table.points[place][1] for table in tables if place in table.points]
        spend(HASH * len(x))
        if len(slopes) == len(tables) and combine((ONE, *(eta * weight for weight in p)), (x, *slopes)) == v:
            return x
    raise Rejected(f"instance.clients: got the point {shown(v)}, expected its proximal point in the tables")


def interpolates(points: list[Point], mu: fmpq, L: fmpq | None) -> tuple[int, int] | None:
    """The first ordered pair of points that no function of the class has; None where one has them all."""
    bent = [(x, combine((ONE, -mu), (g, x)), paid(f - mu * norm2(x) / 2)) for x, g, f in points]
    for i, (x, s, h) in enumerate(bent):
        for j, (y, r, k) in enumerate(bent):
            room, apart = h - k - dot(r, minus(x, y)), minus(s, r)
            if L is not None and mu < L:
                room -= norm2(apart) / (2 * (L - mu))
            if paid(room) < 0 or (mu == L and any(apart)):
                return i, j
    return None


def read(node: Node, d: int) -> Table:
    fields = node.fields("kind mu L points")
    mu, L = fields["mu"].rational(), None if fields["L"].raw is None else fields["L"].rational()
    if L is not None and mu > L:
        raise fields["L"].malformed("null or a number that is at least mu")
    return Table(mu, L, entered(fields["points"], d, mu, L, node.where))


def entered(node: Node, d: int, mu: fmpq, L: fmpq | None, where: str) -> dict[tuple[fmpz, ...], Point]:
    """Points of a function of the class, each once."""
    entries = node.items()
    affordable(3 * len(entries) ** 2 * d, DENSE, where)
    points: list[Point] = []
    for entry in entries:
        point = entry.fields("x g f")
        points.append((point["x"].vector(d), point["g"].vector(d), point["f"].rational()))
    table = {label(point[0]): point for point in points}
    if not points or len(table) < len(points):
        raise node.malformed("one point or more, each once")
    if (pair := interpolates(points, mu, L)) is not None:
        raise Rejected(f"{where}: got points {pair[0]} and {pair[1]}, expected values of one function of the class")
    return table


@dataclass(frozen=True, slots=True, eq=False)
class Penalty:
    """A regulariser known at finitely many points: the largest of its tangents, a convex function, has the table."""

    points: Mapping[tuple[fmpz, ...], Point]
    affine: bool = False  # its proximal points are known one by one

    def at(self, x: Vector) -> Point:
        spend(HASH * len(x))
        point = self.points.get(label(x))
        if point is None:
            raise Rejected(
                f"instance.regulariser: got the point {shown(x)} that is not in its table, expected one that is"
            )
        return point

    def value(self, x: Vector) -> fmpq:
        return self.at(x)[2]

    def prox(self, w: Vector, s: fmpq) -> Vector:
        """argmin_u s g(u) + |w - u|^2 / 2, which is where u + s r = w for a subgradient r at u."""
        if s == 0:
            return w
        solution = next((x for x, r, _ in self.points.values() if combine((ONE, s), (x, r)) == w), None)
        if solution is None:
            raise Rejected(f"instance.regulariser: got the point {shown(w)}, expected its proximal point in the table")
        return solution

    def conjugate(self, s: Vector) -> fmpq | None:
        raise Rejected("instance.regulariser: got a table, expected a regulariser with a known conjugate")

    def subgradient(self, x: Vector, s: Vector) -> bool:
        """Whether s is the subgradient of the table at x."""
        return self.at(x)[1] == s

    def bounded(self, B: fmpq, d: int) -> bool:
        """Whether no subgradient of the largest of all tangents is longer than B: each is a mixture of theirs."""
        return B >= 0 and all(norm2(r) <= B * B for _, r, _ in self.points.values())


def read_penalty(node: Node, d: int) -> Penalty:
    fields = node.fields("kind points")
    return Penalty(entered(fields["points"], d, ZERO, None, node.where))
