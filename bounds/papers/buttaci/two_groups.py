"""What the names of appendices B.4 and C.4 mean: means of the two groups of parabolas, along their line."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from sympy import Eq, Expr, Function, Ge, Integer, Le, Lt, Symbol

from ...language.assumptions import GROUPS, SUM, UNBIASED
from ...language.derivation import Induction, Known, Step
from ...language.method import Method
from ...language.rule_expressions import axis, inner, norm2
from ...proofs.atoms import Idle
from ...proofs.frame import Frame
from ...proofs.premise_identity import shown
from ...proofs.settings.two_groups import IDLE, Groups, group
from .frames import LETTERS, SIZES
from .methods import FEDPROX, PERTURBED, u_i, w, w_i
from .symbols import C, E, alpha, gamma, gap, k, mu, p, t
from .symbols_perturbed import beta

rest = Symbol("rest", nonnegative=True)  # the weight of an idle client, 0 or 1/C
begins = Symbol("begins", nonnegative=True)  # w_{0,0}, along the line
position = Function("position", real=True)  # E of the run, along the line
steep, flat, idle = (Function(name, real=True) for name in ("w_H", "w_h", "w_0"))  # of a group's mean
u_steep, u_flat = (Function(name, real=True) for name in ("u_H", "u_h"))
second = Function("second", nonnegative=True)  # E|w|^2
unit = Symbol("unit", nonnegative=True)  # |e|^2


@cache
def _frame(method: Method, G: Any, sent: bool) -> Frame:
    names = {
        position(t): inner(w, axis),
        second(t): norm2(w),
        unit: norm2(axis),
        steep(k): inner(group("steep", w_i), axis),
        flat(k): inner(group("flat", w_i), axis),
        idle(k): inner(group(IDLE, w_i), axis),
    }
    if method is PERTURBED:
        names |= {
            u_steep(k): inner(group("steep", u_i), axis),
            u_flat(k): inner(group("flat", u_i), axis),
        }
    return Frame(
        method,
        names,
        LETTERS,
        SIZES,
        p,
        {SUM: ("equal_weights", ()), GROUPS: None, UNBIASED: ("exact_variance", ())},
        groups=Groups(mu, G, rest, begins),
        sent={u_i: w} if sent else {},
    )


@dataclass(frozen=True, slots=True)
class Construction:
    """The run of one method on the two groups."""

    method: Method
    G: Any
    sent: bool = False  # u^i = w_{t,0}

    @property
    def frame(self) -> Frame:
        return _frame(self.method, self.G, self.sent)

    def says(self, claim: Any, because: str, *by: Any, **how: Any) -> Known:
        return shown(claim, f"{because}, in the construction", self.frame, *by, **how)

    @property
    def shares(self) -> Step:
        """At most one client is idle."""
        few = self.says(Le(C * rest, 1), "at most one client is idle", (1, Idle()))
        return Step(Lt(rest, 1), given=(few,), note="at most one client is idle, of two or more")

    @property
    def start(self) -> tuple[Known, ...]:
        """w_{0,0} >= 0 without loss: the line is turned so."""
        at = (Integer(0), k)
        return (
            self.says(Eq(position(0), begins), "w_{0,0} >= 0 without loss: the line is turned so", at=at),
            self.says(Eq(gap(0), (1 - rest) * 3 * mu / 8 * begins**2), "f at the start", at=at),
        )

    @property
    def gap(self) -> Step:
        """E|w|^2 >= |E w|^2: noise only adds a variance."""
        value = self.says(Eq(gap(t), (1 - rest) * 3 * mu / 8 * second(t)), "the forces of the groups cancel in f")
        square = self.says(Le(position(t) ** 2, second(t) * unit), "E|w|^2 is at least |E w|^2", schwarz=(axis, w))
        one = self.says(Eq(unit, 1), "a unit vector")
        claim = Ge(gap(t), (1 - rest) * 3 * mu / 8 * position(t) ** 2)
        return Step(claim, given=(value, square, one, self.shares), note="noise only adds a variance")

    def begin(self, of: Any) -> Known:
        return self.says(Eq(of(0), position(t)), "a round begins at w_{t,0}")

    def stays(self, local: Any) -> Induction:
        """An idle client."""
        return Induction(
            Eq(idle(k), position(t)),
            over=k,
            base=(self.begin(idle),),
            step=(local(idle, Integer(0), Integer(0)),),
            note="an idle client stays",
        )

    @property
    def average(self) -> Known:
        ends = (1 - rest) / 2 * (steep(E) + flat(E)) + rest * idle(E)
        return self.says(Eq(position(t + 1), ends), "the server's mean is that of the groups", at=(t, E))


def proximal(G: Any) -> tuple[Construction, Any]:
    """FedProx, and its local rule (4.3) for a group whose gradient is curve w + force."""
    construction = Construction(FEDPROX, G)

    def local(of: Any, curve: Expr, force: Expr) -> Known:
        step = of(k) - gamma(t) * (curve * of(k) + force + alpha * (of(k) - position(t)))
        return construction.says(Eq(of(k + 1), step), "rule (4.3); noise has mean zero")

    return construction, local


def perturbed(G: Any, sent: bool) -> tuple[Construction, Any]:
    """The perturbed method, and its local rule for a group."""
    construction = Construction(PERTURBED, G, sent)

    def local(of: Any, curve: Expr, force: Expr) -> Known:
        near = {steep: u_steep(k), flat: u_flat(k)}.get(of, Integer(0))
        step = of(k) - gamma(t) * (curve * (beta * of(k) + (1 - beta) * near) + force)
        return construction.says(Eq(of(k + 1), step), "the local rule (4.7); noise has mean zero")

    return construction, local
