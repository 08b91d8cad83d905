"""Losses of certificates as LaTeX: quadratics, bends, pieces, splines and means of data points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from fedaudit.problems.families import formulas

from .letters import number, polynomial, vector

__all__ = ["Data", "LossText", "inside", "loss", "spline", "table"]

Data: TypeAlias = Mapping[str, Any]  # a part of a certificate, whose fields the kernel has checked
COORDINATES = 3  # of a polynomial that is written out
SLOPE = r"\nabla"
POINTS = 3  # of a table that are written out


@dataclass(frozen=True, slots=True)
class LossText:
    """f(w) = latex, or f'(w) where `mark` is a prime; `more` is said behind it."""

    latex: str
    mark: str = ""
    more: str = ""
    words: str = ""  # where it is no formula: what it is, before what is known of it


def loss(data: Data, d: int, w: str = "w") -> LossText:
    """A client's loss by its kind; kinds that have no formula here are those of a family, which says its own."""
    kind = data["kind"]
    return KINDS[kind](data, d, w) if kind in KINDS else LossText(formulas()[kind](data, _axes(d, w)))


def inside(data: Data, low: Fraction, high: Fraction, w: str) -> str | None:
    """A loss along a line between two ends, up to a constant, if it is one polynomial there."""
    cubics: list[Coefficients] = []  # of w, w^2, w^3, for each data point
    if data["kind"] == "curves" and data["turn"] == ["0"]:
        weighed = ((Fraction(1), data["base"][0]), (Fraction(data["b"][0]), data["eta"][0]))
        cubics = [_cubic(part, low, high, weight) for weight, part in weighed]
        cubics.append((Fraction(data["a"][0]), Fraction(0), Fraction(0)))
    elif data["kind"] == "sample" and not data.get("basis"):
        cubics = [_parabola(p, low, high, Fraction(q)) for q, p in zip(data["q"], data["points"], strict=True)]
    if not cubics or any(one == () for one in cubics):
        return None
    total = [sum(column, Fraction(0)) for column in zip(*cubics, strict=True)]
    return polynomial([(total[2], f"{w}^3"), (total[1], f"{w}^2"), (total[0], w)])


Coefficients = tuple[Fraction, Fraction, Fraction] | tuple[()]


def _cubic(part: Data, low: Fraction, high: Fraction, weight: Fraction) -> Coefficients:
    knots = [(Fraction(x), Fraction(s)) for x, s in zip(part["x"], part["s"], strict=True)]
    if any(low < x < high for x, _ in knots):
        return ()
    past = [(x, s) for x, s in knots if x <= low]
    first = Fraction(part["g"]) + sum((s * x * x / 2 for x, s in past), Fraction(0))
    second = Fraction(part["a"]) / 2 - sum((s * x / 2 for x, s in past), Fraction(0))
    third = sum((s / 6 for _, s in past), Fraction(0))
    return weight * first, weight * second, weight * third


def _parabola(point: Data, low: Fraction, high: Fraction, weight: Fraction) -> Coefficients:
    knots = [tuple(map(Fraction, knot)) for knot in zip(point["x"], point["jump"], point["bend"], strict=True)]
    if any(low < x < high for x, _, _ in knots):
        return ()
    past = [knot for knot in knots if knot[0] <= low]
    first = Fraction(point["s"]) + sum((jump - bend * x for x, jump, bend in past), Fraction(0))
    second = Fraction(point["a"]) / 2 + sum((bend / 2 for _, _, bend in past), Fraction(0))
    return weight * first, weight * second, Fraction(0)


def _axes(d: int, w: str) -> list[str]:
    return [w] if d == 1 else [f"{w}_{{{j + 1}}}" for j in range(d)]


def _quadratic(data: Data, d: int, w: str) -> LossText:
    """The loss w'Aw/2 - b'w as a formula of the coordinates of w."""
    A, b = [[Fraction(x) for x in row] for row in data["A"]], [Fraction(x) for x in data["b"]]
    if d > COORDINATES:
        even = all(A[r][s] == (A[0][0] if r == s else 0) for r in range(d) for s in range(d))
        if even and not any(b):
            return LossText(polynomial([(A[0][0] / 2, rf"\|{w}\|^2")]))
        rows = ", ".join(f"({', '.join(map(str, row))})" for row in A)
        straight = f"({', '.join(map(str, b))})"
        return LossText(
            rf"\frac{{1}}{{2}} {w}^\top A {w} - b^\top {w}", more=f" where A has the rows {rows} and b = {straight}"
        )
    axes = _axes(d, w)
    terms = [(A[r][r] / 2, f"{axes[r]}^2") for r in range(d)]
    terms += [(A[r][s], f"{axes[r]} {axes[s]}") for r in range(d) for s in range(r + 1, d)]
    return LossText(polynomial([*terms, *((-b[r], axes[r]) for r in range(d))]))


def _bent(data: Data, d: int, w: str) -> LossText:
    """phi'(w) = m (w - c) + (a - m) clip(w - c, -lo, hi) in each coordinate, and phi(c) = 0."""
    a, m, lo, hi, c = ([Fraction(x) for x in data[name]] for name in ("a", "m", "lo", "hi", "c"))
    axes = _axes(d, w)
    bent = [j for j in range(d) if a[j] != m[j] and lo[j] + hi[j] > 0]
    if not bent:
        return LossText(polynomial([(m[j] / 2, f"{_from(axes[j], c[j])}^2") for j in range(d)]))
    slopes: list[str] = []
    for j in range(d):
        terms = [(m[j], _from(axes[j], c[j]))]
        if j in bent:
            inner = polynomial([(Fraction(1), axes[j]), (-c[j], "")])
            terms.append((a[j] - m[j], rf"\mathrm{{clip}}({inner}, {-lo[j]}, {hi[j]})"))
        slopes.append(polynomial(terms))
    return LossText(slopes[0] if d == 1 else f"({', '.join(slopes)})", mark="'")


def _sample(data: Data, d: int, w: str) -> LossText:
    """The mean of the losses of data points."""
    points: Sequence[Any] = data["points"]
    q = [Fraction(x) for x in data["q"]]
    axes = _axes(d, w) if not data.get("basis") else [rf"\langle u_{{{j + 1}}}, {w}\rangle" for j in range(d)]
    said = [" + ".join(_pieces(line, v) for line, v in zip([p] if d == 1 else p, axes, strict=True)) for p in points]
    turned = f" along the basis {', '.join(_row(u) for u in data['basis'])}" if data.get("basis") else ""
    if len(set(said)) == 1:
        return LossText(said[0], more=(f" at each of its {len(said)} data points" if len(said) > 1 else "") + turned)
    mean = polynomial([(x, rf"\left({one}\right)") for x, one in zip(q, said, strict=True)])
    return LossText(mean, more=f" (the mean of {len(said)} data points)" + turned)


def _row(u: Sequence[str]) -> str:
    return f"({', '.join(u)})"


def _curves(data: Data, d: int, w: str) -> LossText:
    """sum_j base_j(y_j) + a_j y_j + b_j eta_j(y_j), y = w reflected across `turn`."""
    turn = [Fraction(x) for x in data["turn"]]
    axes = _axes(d, w) if not any(turn) else _axes(d, "y")
    splines = [
        spline(
            [data["base"][j], data["eta"][j]], [Fraction(1), Fraction(data["b"][j])], Fraction(data["a"][j]), axes[j]
        )
        for j in range(d)
    ]
    more = f" where y is {w} reflected across {_row(data['turn'])}" if any(turn) else ""
    return LossText(" + ".join(splines).replace("+ -", "- "), more=more)


def spline(parts: Sequence[Data], weights: Sequence[Fraction], slope: Fraction, w: str) -> str:
    """A weighted sum of g w + a w^2/2 + sum over knots of s (w - x)_+^3/6, plus slope times w."""
    straight = slope + sum((y * Fraction(part["g"]) for part, y in zip(parts, weights, strict=True)), Fraction(0))
    square = sum((y * Fraction(part["a"]) for part, y in zip(parts, weights, strict=True)), Fraction(0))
    knots: dict[Fraction, Fraction] = {}
    for part, y in zip(parts, weights, strict=True):
        for x, s in zip(part["x"], part["s"], strict=True):
            knots[Fraction(x)] = knots.get(Fraction(x), Fraction(0)) + y * Fraction(s)
    terms = [(square / 2, f"{w}^2"), (straight, w)]
    return polynomial([*terms, *((s / 6, f"{_from(w, x)}_+^3") for x, s in sorted(knots.items()))])


def _pieces(data: Data, w: str) -> str:
    """c + s w + a w^2/2 + sum over knots of jump (w - x)_+ + bend (w - x)_+^2/2."""
    jumps: dict[Fraction, Fraction] = {}
    bends: dict[Fraction, Fraction] = {}
    for x, jump, bend in zip(data["x"], data["jump"], data["bend"], strict=True):
        at = Fraction(x)
        jumps[at] = jumps.get(at, Fraction(0)) + Fraction(jump)
        bends[at] = bends.get(at, Fraction(0)) + Fraction(bend)
    terms = [(Fraction(data["c"]), ""), (Fraction(data["s"]), w), (Fraction(data["a"]) / 2, f"{w}^2")]
    for at in sorted(jumps):
        terms += [(jumps[at], f"{_from(w, at)}_+"), (bends[at] / 2, f"{_from(w, at)}_+^2")]
    return polynomial(terms)


def _from(w: str, x: Fraction) -> str:
    """w - x, in brackets."""
    return f"({polynomial([(Fraction(1), w), (-x, '')])})"


def table(points: Sequence[Data], name: str = "f") -> str:
    """Points with their values and slopes, as far as they are written out."""
    said = [f"{name}({at}) = {number(f)}, {SLOPE} {name}({at}) = {g}" for at, f, g in map(_point, points[:POINTS])]
    return r",\; ".join(said) + (r",\; \ldots" if len(points) > POINTS else "")


def _point(point: Data) -> tuple[str, str, str]:
    return vector(point["x"]), str(point["f"]), vector(point["g"])


def _table(data: Data, d: int, w: str) -> LossText:
    """A function of a class of which a few points are known; of many dimensions, only how many."""
    points: Sequence[Any] = data["points"]
    low, high = data["mu"], data["L"]
    of = f"curvatures from {low} to {high}" if high is not None else f"curvatures of {low} at least"
    count = "1 point" if len(points) == 1 else f"{len(points)} points"
    if d > COORDINATES:
        return LossText("", words=f" any function with {of} and the values and slopes of the certificate at {count}")
    return LossText(table(points), words=f" any function with {of} and, at the {count} that the run reads, ")


KINDS = {"quadratic": _quadratic, "bent": _bent, "sample": _sample, "curves": _curves, "table": _table}
