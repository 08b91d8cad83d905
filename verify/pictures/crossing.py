"""A counterexample in a picture: both sides along its rounds, or along the number of it that breaks the claim.

The certificate's instance is changed in one number at a time and replayed by the kernel: what is drawn is exact, and
where a condition or an assumption fails there is no point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np
from flint import fmpq

from fedaudit.bounds.formulas.evaluator import Undefined
from fedaudit.bounds.formulas.exact_numbers import Missing, Number, Scope, computed, formula, value_of
from fedaudit.bounds.formulas.statement_text import relations_latex, sides_latex
from fedaudit.bounds.formulas.trees import Formula, Tree
from fedaudit.bounds.language.statement import Statement

from .. import kernel
from ..results.json_fields import Json, JsonObject
from ..search.claim_index import round_of
from ..settings.base import Reading
from .kinds import Crossing, letter, unit

__all__ = ["crossing"]

LENGTHS = (8, 4)  # rounds that a short run is drawn out to
COARSE = tuple(Fraction(2) ** k for k in (-3, -1, 0, 1, 3))
FINE = tuple(sorted({Fraction(2 ** (k / 4)).limit_denominator(64) for k in range(-12, 13)} | {Fraction(1)}))
CHEAP, DEAR = 300, 4000  # clients × steps of a run that is replayed at many points, and at few
DECADES = (8, 12, 18, 36)  # of n along a growth path
TALLEST = 1e100  # sides of which also the ratio is well inside the floats that an axis can mark

Instance = JsonObject
Certificate = Json
Point = tuple[float, float, float]  # x, lhs, rhs
Replays = Mapping[Fraction, tuple[float, float] | None]  # factor of a number -> both sides; None: not admitted


@dataclass(frozen=True, slots=True, eq=False)
class ReplaysAlong:
    """Replays along one axis."""

    points: tuple[Point, ...]
    label: str
    at: float
    logarithmic: bool
    said: str
    shown: str = ""  # the conclusion, where the points alone do not say it

    @property
    def worth(self) -> tuple[bool, int]:
        """Ranks replays: both sides cross; then, how many points there are."""
        signs = {left > right for _, left, right in self.points}
        return len(signs) == 2, len(self.points)


def crossing(statement: Statement, reading: Reading, certificate: Certificate) -> Crossing | None:
    """The picture of a certificate of this statement; None where no replay but its own is admitted."""
    if certificate["claim"]["setting"] == "order":
        replays = _growth(certificate)
    else:
        replays = _replayed(statement, reading, certificate)
    if replays is None or len(replays.points) < 4:
        return None
    x, lhs, rhs = (np.array(column) for column in zip(*replays.points, strict=True))
    relation = certificate["at"].get("relation", 0)
    left = sides_latex(statement)[0] if relation == 0 else "left side"
    return Crossing(
        id=statement.id,
        title=statement.title,
        relation=relations_latex(statement)[relation],
        sign=certificate["claim"]["then"][relation][0],
        x=x,
        xlabel=replays.label,
        logarithmic=replays.logarithmic,
        at=replays.at,
        ylabel=left,
        unit=unit(reading.lowered.units[relation]),
        lhs=lhs,
        rhs=rhs,
        caption=replays.said,
        conclusion=replays.shown,
    )


def _growth(certificate: Certificate) -> ReplaysAlong:
    """Both sides along the path x = c n^a on which one outgrows the other, as far as they need to cross if they can."""
    paths = certificate["instance"]["paths"]
    _, *sides = certificate["claim"]["then"][certificate["at"]["relation"]]
    trees = [formula(side) for side in sides]
    symbols = {s: formula(_path_tree(path)) for s, path in paths.items()}
    points: tuple[Point, ...] = ()
    for decades in DECADES:  # where they do not cross, no further than they can be told from rounding
        sampled = [(float(n), *_sides_at(trees, symbols, n)) for n in (10 ** (decades * k / 32) for k in range(33))]
        finite = tuple(p for p in sampled if all(1 / TALLEST < side < TALLEST for side in p[1:]))
        crosses = len({one > other for _, one, other in finite}) == 2
        points = finite if crosses or not points else points
        if crosses:
            break
    moving = [f"{s} = {_power(path)}" for s, path in paths.items() if any(Fraction(a) for _, a in path)]
    others = [
        f"{s} = {path[0][0] if path else 0}" for s, path in paths.items() if not any(Fraction(a) for _, a in path)
    ]
    said = f"the counterexample's path {', '.join(moving)} ({', '.join(others)}); the orders are decided exactly"
    left, right = (
        "stays as it is" if certificate[side] == "0" else f"goes like n^({certificate[side]})"
        for side in ("lhs", "rhs")
    )
    shown = f"Far out the left side {left}, and the right side {right}: no constant helps."
    return ReplaysAlong(points, "$n$", float("nan"), True, said, shown)


def _path_tree(path: Sequence[Sequence[str]]) -> Tree:
    """A sum of terms c n^a as a tree."""
    terms: list[Tree] = [["*", c, ["^", "n", a]] for c, a in path]
    return "0" if not terms else terms[0] if len(terms) == 1 else ["+", *terms]


def _sides_at(
    sides: Sequence[Formula[Number]], symbols: Mapping[str, Formula[Number]], n: float
) -> tuple[float, float]:
    """Both sides at one n, in so many digits that differences of large terms are told; NaN where they are not."""
    try:
        values = {s: computed(path, Scope({"n": fmpq(round(n))}, {})) for s, path in symbols.items()}
        left, right = (value_of(computed(side, Scope(values, {}))).approx for side in sides)
    except (Missing, Undefined, OverflowError):
        return float("nan"), float("nan")
    return left, right


def _power(path: list[list[str]]) -> str:
    def term(c: str, a: str) -> str:
        n = "n" if a == "1" else f"n^({a})" if "/" in a or "-" in a else f"n^{a}"
        return c if a == "0" else n if c == "1" else f"{c} {n}"

    return " + ".join(term(c, a) for c, a in path).replace("+ -", "− ")


def _replayed(statement: Statement, reading: Reading, certificate: Certificate) -> ReplaysAlong | None:
    """Replays along the rounds if the sides cross there, else along the number at which a few replays cross, or are
    most.
    """
    instance = cast("Instance", certificate["instance"])
    cost = instance.get("C", 1) * instance.get("E", 1) * instance.get("T", 1)
    if cost > DEAR:
        return None
    rounds = _over_rounds(reading, certificate) if cost <= CHEAP else None
    if rounds is not None and rounds.worth[0]:
        return rounds
    ranked = sorted(
        (
            (name, change, {x: _sides(certificate, change(x), certificate["at"]) for x in COARSE})
            for name, change in _numbers(instance)
            if _magnitude(instance, name) != 0
        ),
        key=lambda one: _few(one[2]).worth,
        reverse=True,
    )
    if ranked and _few(ranked[0][2]).worth > ((False, 1) if rounds is None else (False, len(COARSE))):
        return _over(statement, reading, certificate, *ranked[0], FINE if cost <= CHEAP else FINE[::3])
    return rounds


def _few(replays: Replays) -> ReplaysAlong:
    points = ((float(x), sides) for x, sides in replays.items())
    return ReplaysAlong(tuple((x, *sides) for x, sides in points if sides is not None), "", 1.0, True, "")


def _over_rounds(reading: Reading, certificate: Certificate) -> ReplaysAlong | None:
    """Replays the same problem for longer, at each of its rounds."""
    index = round_of(reading)
    instance, at = certificate["instance"], certificate["at"]
    if not index or index not in at or "T" not in instance:
        return None
    for rounds in (r for r in LENGTHS if r >= instance["T"]):
        if instance.get("C", 1) * instance.get("E", 1) * rounds > CHEAP:
            continue
        longer = _lengthened(instance, rounds)
        admitted: list[Point] = []
        for t in range(0 if index == "t" else 1, rounds + 1):
            point = _sides(certificate, longer, {**at, index: t})
            if point is not None:
                admitted.append((float(t), *point))
        if len(admitted) > 3:
            said = f"{_sizes(longer)}; every round replayed exactly by the kernel; {SHADED}"
            return ReplaysAlong(tuple(admitted), f"round ${index}$", float(at[index]), False, said)
    return None


SHADED = "shaded: the claim fails; dotted: where the certificate stands"


def _lengthened(instance: Instance, rounds: int) -> Instance:
    """Returns an instance with more rounds; what there is one of per round goes on with its last value."""
    own = instance["T"]

    def more(values: list[object]) -> list[object]:
        return [*values, *[values[-1]] * (rounds - own)] if len(values) == own else values

    longer = {**instance, "T": rounds}
    if "steps" in instance:
        longer["steps"] = {name: more(values) for name, values in instance["steps"].items()}
    if instance.get("weights", {}).get("kind") == "rows":
        longer["weights"] = {**instance["weights"], "rows": more(instance["weights"]["rows"])}
    return longer


def _numbers(instance: Instance) -> Iterator[tuple[str, Callable[[Fraction], Instance]]]:
    """Yields the numbers of an instance that can be changed, by name: parameters, constants, step sizes, start,
    noise.
    """
    for part in ("parameters", "constants", "steps"):
        for name in _part(instance, part):
            yield name, lambda x, part=part, name=name: {
                **instance, part: {**instance[part], name: _times(instance[part][name], x)}
            }  # fmt: skip
    if any(Fraction(x) for x in instance.get("w0", [])):
        yield "the start w0", lambda x: {**instance, "w0": _times(instance["w0"], x)}
    for part in ("coupling", "points", "noise"):
        value = instance.get(part)
        if value and value != "0" and value != {"kind": "none"}:
            yield f"the {part}", lambda x, part=part: {**instance, part: _times(instance[part], x)}


def _times(value: object, x: Fraction) -> object:
    """Returns JSON data with all its rationals times x."""
    if isinstance(value, dict):
        return {k: _times(v, x) for k, v in cast("JsonObject", value).items()}
    if isinstance(value, list):
        return [_times(v, x) for v in cast("list[object]", value)]
    if isinstance(value, str):
        try:
            return str(Fraction(value) * x)
        except ValueError:
            return value
    return value


def _over(
    statement: Statement,
    reading: Reading,
    certificate: Certificate,
    name: str,
    change: Callable[[Fraction], Instance],
    tried: Replays,
    factors: Sequence[Fraction],
) -> ReplaysAlong:
    """Replays along one number, wherever the kernel admits the instance; some of its replays were `tried` before."""
    instance, own = certificate["instance"], _magnitude(certificate["instance"], name)
    replays = {x: tried[x] if x in tried else _sides(certificate, change(x), certificate["at"]) for x in factors}
    points = tuple((float(x) * (own or 1.0), *sides) for x, sides in replays.items() if sides is not None)
    measure = unit(reading.lowered.scales.get(name, (0.0, 0.0))) if own else ""
    label = letter(statement, name) + (f"  [{measure}]" if measure else "") + ("" if own else ", times its own value")
    where = f"{_sizes(instance)}; all else as in the certificate; replayed exactly by the kernel; {SHADED}"
    return ReplaysAlong(points, label, own or 1.0, True, where)


def _part(instance: Instance, name: str) -> JsonObject:
    return cast("JsonObject", instance.get(name) or {})


def _magnitude(instance: Instance, name: str) -> float | None:
    """Returns the value of a number by its name; None for what is no single number."""
    for part in ("parameters", "constants", "steps"):
        value: object = _part(instance, part).get(name)
        if isinstance(value, str):
            return float(Fraction(value))
        several = cast("list[object]", value) if isinstance(value, list) else []
        if len(set(map(str, several))) == 1 and isinstance(several[0], str):
            return float(Fraction(several[0]))
    value = instance.get(name.removeprefix("the "))
    return float(Fraction(value)) if isinstance(value, str) else None


def _sizes(instance: Instance) -> str:
    sizes = ", ".join(
        f"{k} = {instance[k]}" for k in ("C", "m", "d", "E", "b", "T", "N", "n") if isinstance(instance.get(k), int)
    )
    return f"the counterexample ({sizes})" if sizes else "the counterexample"


def _sides(certificate: Certificate, instance: Instance, at: Mapping[str, int]) -> tuple[float, float] | None:
    """Returns both sides, where the kernel admits the instance."""
    try:
        lhs, rhs, _ = kernel.evaluate(certificate["claim"], instance, certificate["dropped"], dict(at))
    except (kernel.Rejected, kernel.Malformed):
        return None
    try:
        left, right = (int(side.p) / int(side.q) if isinstance(side, fmpq) else float(side) for side in (lhs, rhs))
    except OverflowError:  # no picture has a place for it
        return None
    return left, right
