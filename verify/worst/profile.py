"""What `hunt` says of worst cases: a refutation where one is above the bound, and a profile of ordinary points."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import product

from fedaudit.bounds.language.statement import Statement
from fedaudit.errors import UserError
from fedaudit.progress import told

from .. import kernel
from ..kernel.gram.programme import Programme
from ..pictures.worst_marks import NOTHING
from ..results.row import Ends
from ..results.verdicts import Counterexample, Judged, Refuted, Undecided, searched
from ..search.rationalise import Replayed, certificate
from ..settings.base import Json, Reading, Setting
from .blocks import Blocks
from .ordinary import ORDINARY, Ordinary, points_at, proposed
from .parameters import Point, RunClaim
from .search import found_at
from .smaller import shrunk
from .worst import TooLarge, Worst, broken_at, in_reach, worst_of

__all__ = ["Profile", "examined", "profile"]

Built = tuple[Blocks, Programme] | TooLarge | kernel.OutOfReach | str
LARGEST = 60  # leaves
NOMINAL = 25_000  # leaves times constraints times the size of a block, per nominal second
LEAST, USUAL, SHARE, MORE = 0.35, 3.0, 6.0, 0.25  # nominal seconds, and per second of effort: at first, and beyond
SHARP = (  # condition numbers, and what a statement draws as a share of its range
    (Fraction(9, 8), Fraction(1)),
    (10, Fraction(1)),
    (Fraction(9, 8), Fraction(1, 4)),
    (2, Fraction(1, 2)),
    (100, Fraction(1)),
)
SMALL_SIZES = (
    (1, 1, 1),
    (2, 1, 1),
    (1, 2, 1),
    (2, 2, 1),
    (1, 1, 2),
    (3, 1, 2),
    (2, 2, 2),
    (1, 1, 4),
    (3, 1, 3),
)  # C, E, t
SOLVED = 0.1  # of the cost: to solve a programme alone
REASONS = 3  # points that are out of reach: then the others are
TRIED = 0.005  # nominal seconds: to see that a point is out of reach
BUILT = 0.25  # of the cost: to build a programme


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """Worst cases at ordinary points, names of those that were too large, or why there are none."""

    rows: tuple[Json, ...] = ()
    left_out: tuple[str, ...] = ()
    why: str = ""
    against: tuple[Point, Worst] | None = None  # one that refutes the statement


def in_question(statement: Statement, reading: Reading) -> bool:
    """Whether it is one of the claims that worst cases are about."""
    return statement.kind == "inequality" and statement.setting == "run" and not reading.dropped


def profile(statement: Statement, reading: Reading, effort: float, share: float = SHARE) -> Profile:
    """At ordinary points, cheap ones first, as far as the effort goes: which is counted, not measured."""
    if not in_question(statement, reading):
        return Profile(why="out of reach: no inequality about runs of a method")
    left = min(USUAL, max(LEAST, share * effort)) + MORE * effort
    rows, out, why, against, first_cost = list[Json](), list[str](), "", None, None
    examined_points, built = set[str](), dict[str, Built]()
    for n, variants in enumerate(proposed(reading)):
        told("worst cases", n, len(ORDINARY))
        for at, points in variants:
            if _expected(first_cost, points[0].data) > left:
                out.append(points[0].name)
                break
            programmes, large, reason = _reached(reading, points, built)
            why = why or reason
            # An assumption that the kernel does not know is out of reach at every point.
            if any(isinstance(one, kernel.UnknownAssumption) for one in built.values()):
                return Profile(why=why)
            if large:
                out.append(points[0].name)
            for point, shape, asked in programmes:
                if _key(point) in examined_points:
                    continue
                cost = _cost(shape, asked)
                first_cost = first_cost or (point.data, cost)
                # It was built before its cost is known, so that this part is paid even where the rest costs too much.
                left -= BUILT * cost
                if cost > left:
                    out.append(point.name)
                    continue
                examined_points.add(_key(point))
                left -= cost
                one = worst_of(reading, point, shape, asked, quick=True)
                if against is None and one.refuted and one.certificate is not None and _accepted(one.certificate):
                    against = point, one
                rows += [_row(at, point, one)] if one.lower is not None or one.upper is not None else []
            if programmes or large:
                break
    return Profile(tuple(rows), tuple(dict.fromkeys(out)) if rows else (), "" if rows else why, against)


def broken(reading: Reading, effort: float) -> tuple[Point, Worst] | None:
    """A worst case above the bound where bounds are sharp: steps at the end of their range, noise, little curvature.

    Start, noise and heterogeneity are free in a worst case, so that it is met wherever one of them dominates.
    """
    left, examined_points, built = effort, set[str](), dict[str, Built]()
    run_claim, first_cost = RunClaim.of(reading), None
    for (kappa, knob), sizes in product(SHARP, SMALL_SIZES):
        at = Ordinary(kappa, *sizes)
        for noise in (1, 0) if run_claim.signs and run_claim.noise else (0,):
            points = points_at(run_claim, reading, at, knob, noise)
            if not points or _expected(first_cost, points[0].data) > left:
                continue
            programmes, _, _ = _reached(reading, points, built)
            for point, shape, asked in programmes:
                cost = SOLVED * _cost(shape, asked)
                first_cost = first_cost or (point.data, cost)
                if _key(point) in examined_points or cost > left:
                    continue
                examined_points.add(_key(point))
                left -= cost
                one = broken_at(reading, point, shape, asked)
                if one is not None and one.certificate is not None and _accepted(one.certificate):
                    return point, one
            left -= TRIED
            if left < 0 or (len(built) >= REASONS and all(map(_out_of_reach, built.values()))):
                return None
    return None


def _cost(shape: Blocks, asked: Programme) -> float:
    """Nominal seconds."""
    return len(asked.leaves) * len(asked.constraints) * max(map(len, shape.cone.rhs.gram)) / NOMINAL


def _expected(first_cost: tuple[Json, float] | None, data: Json) -> float:
    """The cost at a point that is not built yet, from that of another one: sizes too large are left at that."""
    if first_cost is None:
        return 0.0
    point, cost = first_cost
    clients, steps = data["C"] / point["C"], data["E"] * data["T"] / (point["E"] * point["T"])
    return float(cost * clients**2 * steps**2.5 / 2)


def _reached(
    reading: Reading, points: list[Point], built: dict[str, Built]
) -> tuple[list[tuple[Point, Blocks, Programme]], bool, str]:
    """Programmes of the points that have one, whether one is too large, and why another has none."""
    programmes, large, why = list[tuple[Point, Blocks, Programme]](), False, ""
    for point in points:
        key = _key(point)
        if key not in built:
            built[key] = _built(reading, point)
        match built[key]:
            case TooLarge():
                large = True
            case kernel.OutOfReach() | str() as reason:
                why = why or str(reason)
            case shape, asked:
                programmes.append((point, shape, asked))
    return programmes, large, why


def _key(point: Point) -> str:
    """What equal points have in common, whatever they are called."""
    return str((point.data, point.at))


def _built(reading: Reading, point: Point) -> Built:
    """The programme, that it is too large, or why there is none."""
    try:
        return in_reach(reading, point, LARGEST)
    except (TooLarge, kernel.OutOfReach) as error:
        return error
    except (UserError, kernel.Malformed, kernel.Rejected) as error:
        return str(error)


def _out_of_reach(one: Built) -> bool:
    """Whether the claim has no programme, at this point or at any."""
    return isinstance(one, kernel.OutOfReach)


def _row(at: Ordinary, point: Point, one: Worst) -> Json:
    several = {"relation": one.at["relation"] + 1} if one.at["relation"] else {}
    return {"name": point.name, "ordinary": asdict(at), **several, **one.brief(), "by": "programme"}


def examined(
    statement: Statement,
    reading: Reading,
    world: Setting,
    verdict: Judged,
    seed: int = 0,
    effort: float = 0.0,
    share: float = SHARE,
    sharp: float = 0.0,
) -> Judged:
    """The verdict with its profile, or a refutation by a worst case that the kernel accepts.

    `sharp`: nominal seconds for worst cases at sharp points, where nothing else refutes.
    """
    worst_cases = profile(statement, reading, effort, share)
    open_ = worst_cases.against is None and not isinstance(verdict, Refuted) and sharp > 0
    if open_ and in_question(statement, reading):
        worst_cases = replace(worst_cases, against=broken(reading, sharp))
    rows = tuple(row for row in worst_cases.rows if row["upper"] is None or row["upper"] > NOTHING)
    # Points that say nothing do not keep the search from looking for others; they are told where it finds none.
    met = [] if rows else list(found_at(reading, world, seed, effort))
    against = _counterexample(reading, worst_cases, [replayed for _, replayed in met if not replayed.holds])
    if against is not None and not isinstance(verdict, Refuted):
        verdict = Refuted(statement.id, against, verdict.search)
    rows = rows or tuple(row for row, _ in met) or worst_cases.rows
    ends = tuple(map(Ends.of, rows))
    verdict = searched(verdict, worst=ends, left_out=worst_cases.left_out, out_of_reach=worst_cases.why)
    nothing_met = verdict.search.nothing_met
    return replace(verdict, reason=nothing_met) if isinstance(verdict, Undecided) and nothing_met else verdict


def _counterexample(reading: Reading, worst_cases: Profile, broken: list[Replayed]) -> Counterexample | None:
    """The counterexample of a worst case, or of what a search met at an ordinary point, if the kernel accepts it."""
    if worst_cases.against is not None:
        point, one = worst_cases.against
        return Counterexample(shrunk(reading, point, one), one.brief()["lower"])
    certificates = ((certificate(reading, one), one.ratio) for one in broken)
    return next((Counterexample(data, ratio) for data, ratio in certificates if _accepted(data)), None)


def _accepted(certificate: Json) -> bool:
    try:
        kernel.check(certificate)
    except kernel.Rejected:
        return False
    return True
