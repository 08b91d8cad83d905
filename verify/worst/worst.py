"""The worst case of a claim at one point: over all functions of its class and all dimensions, from both sides.

`lower` is attained by an instance in rationals that the kernel replayed; `upper` has a proof that the kernel accepted.
Floats only propose both.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt, prod, sqrt

import numpy as np
from flint import fmpq

from fedaudit.bounds.language.row_list import Recorded
from fedaudit.bounds.language.statement import Statement
from fedaudit.errors import UserError

from .. import kernel
from ..kernel import Malformed, Rejected
from ..kernel.gram.algebra import START
from ..kernel.gram.form import Vec
from ..kernel.gram.point_proof import FORMAT as PROOF
from ..kernel.gram.point_proof import prove, rest
from ..kernel.gram.programme import STEEPNESS, Programme, programme
from ..kernel.gram.variables import Entry
from ..search.lowered_claim import lower as lowered
from ..search.rationalise import FORMAT as COUNTEREXAMPLE
from ..settings.base import Exact, Json, Reading
from .blocks import Blocks, blocks, places
from .cone import Solved, eased, smallest
from .faces import IDLE, attained, distinct, face, idle
from .lower import Run, attainable, runs
from .parameters import SMALL, Choices, Point, RunClaim, missing, points_of
from .solvers import OWN, usable
from .upper import LITTLE, Proved, proofs

__all__ = [
    "TooLarge",
    "Worst",
    "broken_at",
    "in_reach",
    "instance_of",
    "reached",
    "worst",
    "worst_at",
    "worst_of",
    "written",
]

MOST = 100  # leaves: the exact check of a proof takes a minute
ROUNDING = 1e-9  # of the largest eigenvalue
EXACT = 1e-9
REFUSALS, REASON = 4, 30  # of the kernel, for one reason, which so many characters tell apart
NO_RATIO = "a side that is 0 or irrational"  # as a reason
ENOUGH, CLOSE = 1e-4, 2e-2  # below the worst case: no better run is looked for
ABOVE = 1e-5  # 1: a worst case that may be exactly 1
LOOSE = 2e-3  # above the smallest factor: another proof is looked for
TOO_MANY = re.compile(r"point(\.[CET])?: got \d+")  # how the kernel says that sizes are too large
PLENTY = 60  # clients times steps times rounds: more are not tried
LONG = 4_000  # bits of a multiplier: exact ones of a hundredth of that are usual, and longer ones take minutes
MOST_ALONE = 40  # leaves of one block: the solver takes a minute


@dataclass(frozen=True, slots=True, eq=False)
class Worst(Recorded):
    """The largest lhs/rhs at one point lies in [lower, upper]; above 1 the claim fails there.

    >>> import fedaudit as fa
    >>> made = fa.worst("examples/gradient_descent.py::gd/rate", L=3, T=4)
    >>> made.lower, made.upper
    (Fraction(1, 1), Fraction(1, 1))
    """

    id: str
    point: Mapping[str, str]
    at: Mapping[str, int]
    lower: Fraction | None
    upper: Fraction | None
    certificate: Json | None = field(repr=False)  # of the lower end: an instance; above 1 a refutation
    proof: Json | None = field(repr=False)  # of the upper end
    estimate: float | None  # of the solver
    leaves: int  # vectors that the run is made of
    blocks: tuple[int, ...]  # of the matrices that were solved for
    constraints: int
    seconds: float
    noise: str = "none"  # of the runs that both ends are about: none, or "signs", a fair sign times a client's vector
    chosen: tuple[str, ...] = ()  # names of the point that nobody gave
    sampled: str = ""  # the letter of how many clients are drawn, where the method samples them

    @property
    def refuted(self) -> bool:
        return self.lower is not None and self.lower > 1

    @property
    def holds(self) -> bool:
        """Proved at this point, for all functions and dimensions, and `noise` of this form."""
        return self.upper is not None and self.upper <= 1

    @property
    def multipliers(self) -> int:
        """How many the proof has."""
        return 0 if self.proof is None else len(self.proof["multipliers"])

    def row(self) -> Json:
        return {
            "id": self.id,
            "point": dict(self.point),
            "chosen": list(self.chosen),
            "at": dict(self.at),
            "lower": _float(self.lower),
            "upper": _float(self.upper),
            "lower_exact": _text(self.lower),
            "upper_exact": _text(self.upper),
            "refuted": self.refuted,
            "holds": self.holds,
            "estimate": self.estimate,
            "leaves": self.leaves,
            "blocks": list(self.blocks),
            "constraints": self.constraints,
            "seconds": self.seconds,
            "noise": self.noise,
            "certificate": None if self.certificate is None else dict(self.certificate),
            "proof": None if self.proof is None else dict(self.proof),
        }

    def brief(self) -> Json:
        """What a row of `hunt` says of it, with both ends."""
        exact = {"lower_exact": _text(self.lower), "upper_exact": _text(self.upper)}
        ends = {"certificate": self.certificate, "proof": self.proof}
        row: Json = {"point": dict(self.point), "lower": _float(self.lower), "upper": _float(self.upper), **exact}
        return {**row, **{name: None if end is None else dict(end) for name, end in ends.items()}}


class TooLarge(UserError):
    """A programme that would take too long."""

    def __init__(self, got: str, do: str = "") -> None:
        self.what = got
        smaller = "take a smaller C, E or T (about C times E times T vectors); equal p cost least"
        super().__init__(got, f"at most {MOST} vectors, {MOST_ALONE} where clients differ", do or smaller)


def _float(x: Fraction | None) -> float | None:
    try:
        return None if x is None else float(x)
    except OverflowError:  # JSON has no infinity
        return None


def _text(x: Fraction | None) -> str | None:
    return None if x is None else str(x)


def worst(
    statement: Statement, values: Mapping[str, Fraction], small: Choices = SMALL, solver: str = OWN
) -> list[Worst]:
    """The worst case of every relation of the statement at these values; `small`: sizes where none are given.

    `solver`: who proposes, by the name that cvxpy has for it. Raises `UserError` where it is out of reach.
    """
    solver = usable(solver)
    if statement.quoted or statement.kind == "experiment" or statement.setting != "run":
        raise UserError(f"{statement.id}, which is no claim about runs of a method", "one that is", "ask for another")
    reading = Reading(lowered(statement))
    why: UserError | None = None
    for points in points_of(reading, values, small):
        try:
            return [worst_at(reading, point, solver=solver) for point in points]
        except TooLarge as error:
            fits = fitting(reading, points[0], values, small)
            why = TooLarge(error.what, f"take for example {fits}, which fits" if fits else "")
        except UserError as error:
            why = error
    raise why or UserError(f"{statement.id} without sizes", "one size at least", "give C, E and T")


def worst_at(reading: Reading, point: Point, largest: int = MOST, solver: str = OWN) -> Worst:
    """Both ends at one point; of a run of at most so many vectors."""
    return worst_of(reading, point, *reached(reading, point, largest, solver))


def worst_of(reading: Reading, point: Point, shape: Blocks, asked: Programme, quick: bool = False) -> Worst:
    """Both ends of a programme that was built before; `quick`: a close run will do, and the faster proof is first."""
    began, claim = time.perf_counter(), reading.claim
    best = smallest(shape.cone)
    below, certificate = _from_below(claim, point, asked, shape, best, CLOSE if quick else ENOUGH)
    above, proof = (None, None) if best is None else _upper(claim, point, asked, shape, best, quick)
    sizes = tuple(len(block) for block in shape.cone.rhs.gram)
    estimate = None if best is None else best.factor
    seconds = round(time.perf_counter() - began, 3)
    answer = (below, above, certificate, proof, estimate, len(asked.leaves), sizes, len(asked.constraints), seconds)
    noise = point.data.get("noise", {"kind": "none"})["kind"]
    run_claim = RunClaim.of(reading)
    sampled = run_claim.drawn if run_claim.sampling else ""
    return Worst(claim["id"], point.told, point.at, *answer, noise=noise, chosen=point.chosen, sampled=sampled)


def broken_at(reading: Reading, point: Point, shape: Blocks, asked: Programme) -> Worst | None:
    """The lower end, where it is above 1: no upper end is looked for, which takes most of the time elsewhere."""
    began, best = time.perf_counter(), smallest(shape.cone)
    if best is not None and best.factor <= 1 + ABOVE:
        return None
    below, certificate = _from_below(reading.claim, point, asked, shape, best, CLOSE)
    if below is None or below <= 1 or certificate is None:
        return None
    sizes = tuple(len(block) for block in shape.cone.rhs.gram)
    seconds = round(time.perf_counter() - began, 3)
    estimate = None if best is None else best.factor
    answer = (below, None, certificate, None, estimate, len(asked.leaves), sizes, len(asked.constraints), seconds)
    noise = point.data.get("noise", {"kind": "none"})["kind"]
    return Worst(reading.claim["id"], point.told, point.at, *answer, noise=noise, chosen=point.chosen)


def reached(reading: Reading, point: Point, largest: int, solver: str = OWN) -> tuple[Blocks, Programme]:
    """The programme of a point; `UserError` with the kernel's reason and a remedy where there is none."""
    try:
        return in_reach(reading, point, largest, solver)
    except (Malformed, Rejected) as error:
        left = missing(reading, point)
        do = f"give {', '.join(left)} too, or other values" if left else "change a value"
        raise UserError(f"{_where(reading, point)} ({error})", "a claim and a point in reach", do) from error


def in_reach(reading: Reading, point: Point, largest: int, solver: str = OWN) -> tuple[Blocks, Programme]:
    """The programme of a point; raises the kernel's own error, or `UserError` for what is not its business."""
    claim = reading.claim
    try:
        asked = programme(claim, point.data, point.at)
    except (Malformed, Rejected) as error:
        if TOO_MANY.match(str(error)):
            raise TooLarge(f"{_where(reading, point)} ({error})") from error
        raise
    if len(asked.leaves) > largest:
        raise _too_large(claim, asked)
    if not asked.leaves:
        raise UserError(f"{claim['id']}, which reads nothing of a run there", "a claim about runs", "change a value")
    shape = blocks(asked, solver)
    size = max(len(block) for block in shape.cone.rhs.gram)
    if size > MOST_ALONE:
        raise _too_large(claim, asked)
    return shape, asked


def _where(reading: Reading, point: Point) -> str:
    at = ", ".join(f"{name} = {x}" for name, x in point.told.items()) or "no values"
    return f"{reading.claim['id']} at {at}"


def _too_large(claim: Json, asked: Programme) -> TooLarge:
    return TooLarge(f"{claim['id']} with {len(asked.leaves)} vectors and {len(asked.constraints)} constraints")


def fitting(reading: Reading, point: Point, values: Mapping[str, Fraction], small: Choices) -> str:
    """Sizes that fit, from those of a point that do not; nothing where none were found."""
    run_claim = RunClaim.of(reading)
    sizes = {size: int(point.data[size]) for size in small}
    constants = {name: x for name, x in values.items() if name not in run_claim.claim.for_all}
    while max(sizes.values()) > 1:
        largest = max(sizes, key=lambda size: sizes[size])
        sizes[largest] //= 2
        if prod(sizes.values()) > PLENTY:
            continue
        letters = {run_claim.sizes[size]: n for size, n in sizes.items()}
        try:
            (points, *_) = points_of(reading, constants | {letter: Fraction(n) for letter, n in letters.items()}, small)
            reached(reading, points[0], MOST)
        except TooLarge:
            continue
        except UserError:
            return ""
        return ", ".join(f"{letter}={n}" for letter, n in letters.items())
    return ""


def _from_below(
    claim: Json, point: Point, asked: Programme, shape: Blocks, best: Solved | None, enough: float
) -> tuple[Fraction | None, Json | None]:
    """The lower end, of runs whose minimiser is one for sure; where nothing bounds lhs by rhs, how large it gets."""
    runs_of, solution = attainable(_convex(claim, point, asked)), best
    if runs_of is not asked:
        shape = blocks(runs_of, shape.cone.solver)
        solution = smallest(shape.cone)
    bounded, solution = solution is not None, solution or smallest(eased(shape.cone))
    return (None, None) if solution is None else _lower(claim, point, runs_of, shape, solution, enough, bounded)


def _convex(claim: Json, point: Point, asked: Programme) -> Programme:
    """The programme with convex losses, if gradients are bounded everywhere: only then is a table sure to have one.

    The worst of these runs may be less than the worst case.
    """
    assumed = {name for name, *_ in (*claim["let"], *claim["implicit"])} - {*claim.get("means", ())}
    # The first two are about gradients of losses, the third is about subgradients of the regulariser.
    if not assumed & {*STEEPNESS[:2]} or min(asked.mu) >= 0:
        return asked
    return programme({**claim, "let": [*claim["let"], ["convex"]]}, point.data, point.at)


def _lower(
    claim: Json,
    point: Point,
    asked: Programme,
    shape: Blocks,
    best: Solved,
    enough: float,
    bounded: bool,
) -> tuple[Fraction | None, Json | None]:
    """The worst run that the kernel admits, and what lhs/rhs is on it; `bounded`: whether there is a worst one."""
    most, tightest, refusals = None, None, Counter[str]()
    for run in runs(asked, shape, best, face(shape, best), bounded):
        if max(refusals.values(), default=0) >= REFUSALS:
            break  # it is not the rounding
        instance = instance_of(asked, point, run)
        try:
            lhs, rhs, holds = kernel.evaluate(claim, instance, (), dict(point.at))
        except (Malformed, Rejected) as error:  # one point with two gradients, or numbers that are too long
            refusals[str(error)[:REASON]] += 1
            continue
        small, large = (rhs, lhs) if claim["then"][point.at["relation"]][0] in (">=", ">") else (lhs, rhs)
        if not (isinstance(small, fmpq) and isinstance(large, fmpq)) or large <= 0:
            refusals[NO_RATIO] += 1
            continue
        ratio = _fraction(small / large)
        if most is None or ratio > most:
            most, tightest = ratio, written(claim, point, instance, lhs, rhs, holds)
        if ratio > best.factor * (1 - (EXACT if run.on_face else enough)) or (ratio == 0 and best.factor < EXACT):
            break
    return most, tightest


def written(claim: Json, point: Point, instance: Json, lhs: Exact, rhs: Exact, holds: bool = False) -> Json:
    """The certificate of an instance, with both sides as the kernel sees them; no refutation where the claim holds."""
    sides = {"lhs": kernel.claimed(lhs), "rhs": kernel.claimed(rhs)}
    form = kernel.INSTANCE if holds else COUNTEREXAMPLE
    certificate: Json = {"format": form, "statement": claim["id"], "claim": claim, "dropped": []}
    return {**certificate, "instance": instance, "at": dict(point.at), **sides}


def instance_of(asked: Programme, point: Point, run: Run) -> Json:
    """The run as an instance of the kernel's, with losses known at finitely many points."""
    constants = dict(point.data["constants"])
    for name, square in asked.open.items():
        constants[name] = str(_root_above(run.unknowns[square]))
    instance = {k: v for k, v in point.data.items() if k not in ("constants", "noise")}
    kicks = [run.vector(one) for one in asked.noise or ()]
    noise: Json = {"kind": "none"}
    if any(any(kick) for kick in kicks):
        noise = {**point.data["noise"], "v": [_texts(kick) for kick in kicks]}
    instance |= {"d": run.dimension, "w0": _texts(run.vector(START)), "constants": constants, "noise": noise}
    if asked.minimised:
        instance["w_star"] = ["0"] * run.dimension
    if asked.minimisers is not None:
        instance["minimisers"] = [_texts(run.vector(w)) for w in asked.minimisers]
    if asked.points:
        instance["points"] = {name: _texts(run.vector(Vec({f"point_{name}": fmpq(1)}))) for name in asked.points}
    if asked.errors:
        shift = [[[_shift(run.vector(error))] for error in row] for row in asked.errors]
        instance["oracle"] = {"step": [["1"] * len(row) for row in asked.errors], "shift": shift}
    instance["clients"] = [
        {"kind": "table", "mu": str(mu), "L": None if L is None else str(L), "points": _points(table, run)}
        for table, mu, L in zip(asked.tables, asked.mu, asked.L, strict=True)
    ]
    if asked.penalty:
        instance["regulariser"] = {"kind": "table", "points": _points(asked.penalty, run)}
    return instance


def _points(table: Sequence[Entry], run: Run) -> list[Json]:
    """The points of a table, each once."""
    each: dict[str, Json] = {}
    for entry in table:
        x, g, f = _texts(run.vector(entry.x)), _texts(run.vector(entry.g)), str(run.value(entry.f))
        each.setdefault(str((x, g, f)), {"x": x, "g": g, "f": f})
    nothing = ["0"] * run.dimension
    # A table has one point at least, also that of a client of which nothing is read.
    return list(each.values()) or [{"x": nothing, "g": nothing, "f": "0"}]


def _shift(error: Sequence[fmpq]) -> str | list[str]:
    """A number along a line, otherwise a vector."""
    return str(error[0]) if len(error) == 1 else _texts(error)


def _texts(vector: Sequence[fmpq]) -> list[str]:
    return [str(x) for x in vector]


def _root_above(square: fmpq) -> Fraction:
    """A short rational whose square is at least this."""
    x = _fraction(square)
    if x <= 0:
        return Fraction(0)
    near = Fraction(sqrt(x)).limit_denominator(1000)
    if near * near == x:
        return near
    parts = 10**12
    return Fraction(isqrt(x.numerator * parts**2 // x.denominator) + 1, parts)


def _upper(
    claim: Json, point: Point, asked: Programme, shape: Blocks, best: Solved, quick: bool
) -> tuple[Fraction | None, Json | None]:
    """The smallest factor that the kernel accepts a proof of: the one that is attained, or one just above."""
    head: Json = {"format": PROOF, "statement": claim["id"], "claim": claim, "point": point.data, "at": dict(point.at)}

    def proof_of(one: Proved) -> Json:
        used = {name: str(x) for name, x in one.multipliers.items() if x}
        return {**head, "factor": str(one.factor), "multipliers": used}

    def accepted(one: Proved) -> bool:
        if not _looks_right(asked, one):
            return False
        try:
            prove(proof_of(one))
        except (Malformed, Rejected):
            return False
        return True

    on = face(shape, best)
    best_proof = None if on is None else attained(asked, shape, best, on, accepted)

    def beside(factor: fmpq | None, inside: Solved) -> Proved | None:
        edges = [edge for least in IDLE if (edge := idle(shape, inside, least)) is not None]
        tried = (attained(asked, shape, inside, edge, accepted, factor) for edge in distinct(edges))
        return next((proof for proof in tried if proof is not None), None)

    def near(one: Proved | None) -> bool:
        return one is not None and float(one.factor) <= best.factor + LOOSE * max(best.factor, LITTLE)

    ways = [lambda: beside(None, best), lambda: next(proofs(asked, shape, best, accepted, beside), None)]
    for way in reversed(ways) if quick else ways:  # the first is exact, the second is faster
        if near(best_proof):
            break
        best_proof = min(
            (one for one in (best_proof, way()) if one is not None), key=lambda one: one.factor, default=None
        )
    return (None, None) if best_proof is None else (_fraction(best_proof.factor), proof_of(best_proof))


def _looks_right(asked: Programme, proof: Proved) -> bool:
    """Whether it is worth the kernel's time."""
    if any(x.height_bits() > LONG for x in proof.multipliers.values()):
        return False
    left = rest(asked, proof.factor, dict(proof.multipliers))
    if left.linear or left.constant < 0:
        return False
    place, matrix = places(asked.leaves), np.zeros((len(asked.leaves),) * 2)
    for (a, b), x in left.gram.items():
        matrix[place[a], place[b]] += float(x) / 2
        matrix[place[b], place[a]] += float(x) / 2
    values = np.linalg.eigvalsh(matrix)
    return bool(values[0] >= -ROUNDING * max(abs(float(values[-1])), 1e-300))


def _fraction(x: fmpq) -> Fraction:
    return Fraction(int(x.p), int(x.q))
