"""`make mutants [ONLY='buttaci yuan/lem5'] [EFFORT=0.1] [AUDIT=audit]`: is a slip seen, and by which move?

Every statement that stands is changed in one place: its right side is halved, or one term of it, a term is dropped, an
exponent goes up or down by one, the relation is turned round. The moves look at the mutant, the cheap ones first:
`replay` (the statement's own tightest instance, then instances that were drawn and climbed to for the statement, in
floats and in the kernel), `lint` (a finding that the statement itself does not have), `derive` (it claims more than
what it cites gives) and `hunt` (a search of its own). Of `replay` and `hunt` only a refutation that the kernel accepts
counts. What none of them catches survives, and the table says why it may: it is `proved`; it `claims less`, so that it
is as true as the statement, and is not hunted; the statement is `loose` (proofs at points for all functions, or a
tightness that is below 1/2 as far as was seen); or the question is `open` at this effort.

What is known of a statement itself comes from an audit's audit.json where one is given, and is searched for otherwise.
Its exact instances are replayed on the mutants, and a halved right side is not hunted again where the audit's own,
larger search stayed below half of the bound.

Statements that are done are kept in build/mutants.jsonl, and a run goes on from there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sympy import Add, Ge, Gt, Le, Lt, Pow, Rational

from fedaudit.bounds.catalogue.discovery import find, statement
from fedaudit.bounds.language.statement import Statement
from fedaudit.errors import UserError
from fedaudit.verify import kernel
from fedaudit.verify.moves.audit import derived, hunt, linted, read
from fedaudit.verify.results.verdicts import Proved, Refuted, Survived
from fedaudit.verify.search.climb import VIOLATION, Found, climb, top
from fedaudit.verify.search.genome import draw, rows
from fedaudit.verify.search.lowered_claim import lower
from fedaudit.verify.search.rationalise import certify, needed_names
from fedaudit.verify.search.score import Scores, genes_of, score
from fedaudit.verify.settings.base import Reading

KINDS = ("half", "share", "term", "exponent", "flip")
MOVES = ("replay", "lint", "derive", "hunt")
SURVIVED = ("proved", "claims less", "loose", "open")  # why
TURNED = {Le: Ge, Lt: Gt, Ge: Le, Gt: Lt}
BELOW = (Ge, Gt)  # their right side is what is small
AUDITED = ("inequality", "identity")
SHAPES, DRAWN, ROUNDING = 24, 20, 1e-9
CLIMBED, GENERATIONS = 6, 8  # shapes on which the statement's own tightest instances are climbed to, and how far
STOPPED = "stopped by an error:"
HALF = 1 / 2
REPLAYS = 4  # instances that floats see violate a mutant, and that the kernel is asked about
KEPT = Path(__file__).parent.parent / "build" / "mutants.jsonl"


@dataclass(frozen=True)
class Mutant:
    kind: str
    what: str  # the change, in words
    statement: Statement
    place: int  # of the relation that was changed


@dataclass(frozen=True)
class Known:
    """What an audit, or a hunt of this run, says of a statement before it is changed."""

    falls: bool
    tightness: float | None = None
    tightest: tuple[Mapping[str, Any], ...] = ()  # instances with exact numbers, and where they are read
    most: tuple[float | None, ...] = ()  # upper ends of its worst cases
    rules: tuple[str, ...] | None = None  # of lint's findings; None: not known yet
    status: str | None = None  # of derive


@dataclass(frozen=True)
class Itself:
    """A statement before it is changed."""

    statement: Statement
    known: Known
    instances: tuple[Scores, ...]  # some for every shape, scored

    @cached_property
    def rules(self) -> Counter[str]:
        """How often lint has a finding of each rule."""
        known = self.known.rules
        return Counter(known if known is not None else (one.rule for one in linted(self.statement).findings))

    @cached_property
    def status(self) -> str:
        """The status that derive gives it."""
        return derived(self.statement).status if self.known.status is None else self.known.status


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant: the move that caught it, or why it may have survived."""

    kind: str
    what: str
    fate: str  # one of MOVES or of SURVIVED
    reason: str = ""
    certified: bool = False  # also refuted, with a certificate

    @property
    def caught(self) -> bool:
        return self.fate in MOVES


@dataclass(frozen=True)
class Judged:
    """A statement: why it was left out, or the fate of its mutants."""

    id: str
    left_out: str = ""
    outcomes: tuple[Outcome, ...] = ()


def mutants(original: Statement) -> Iterator[Mutant]:
    """All mutants of one statement, relation by relation; a change that leaves both sides as they are makes none."""
    for place, relation in enumerate(original.relations):
        seen = list[Any]()
        for kind, what, changed in _changes(original, relation):
            if any(_same(changed, other) for other in (relation, *seen)):
                continue
            seen.append(changed)
            parts = (*original.relations[:place], changed, *original.relations[place + 1 :])
            yield Mutant(kind, what, replace(original, id=f"{original.id}-mutant", then=parts), place)


def _same(one: Any, other: Any) -> bool:
    """Whether two relations have the same sides, perhaps written differently."""
    return one.func is other.func and (one.lhs - other.lhs - one.rhs + other.rhs).expand() == 0


def _changes(original: Statement, relation: Any) -> Iterator[tuple[str, str, Any]]:
    left, right, make = relation.lhs, relation.rhs, partial(relation.func, evaluate=False)
    tighter = 2 if relation.func in BELOW else Rational(1, 2)
    yield "half", f"right side x {tighter}", make(left, tighter * right)
    written = right if isinstance(right, Add) else original.defined(right)
    for term in written.args if isinstance(written, Add) else ():
        yield "share", f"{term} x {tighter}", make(left, written + (tighter - 1) * term)
        yield "term", f"without {term}", make(left, written - term)
    for power in sorted(right.atoms(Pow), key=str):
        for by in (1, -1):
            changed = right.xreplace({power: Pow(power.base, power.exp + by)})
            yield "exponent", f"{power} with its exponent {by:+d}", make(left, changed)
    if relation.func in TURNED:
        yield "flip", "turned round", TURNED[relation.func](left, right, evaluate=False)


def judged(identifier: str, effort: float, seed: int, known: Known | None) -> Judged:
    """Judges the statement itself, then every mutant."""
    original = statement(identifier)
    if original.kind not in AUDITED or original.quoted:
        return Judged(original.id, "quoted" if original.quoted else f"of kind {original.kind}")
    known = known or hunted(original, effort, seed)
    if known.falls:
        return Judged(original.id, "it falls itself")
    itself = Itself(original, known, tuple(instances(original, seed)))
    return Judged(original.id, outcomes=tuple(fate(mutant, itself, effort, seed) for mutant in mutants(original)))


def hunted(original: Statement, effort: float, seed: int) -> Known:
    """What a search of this run says of a statement."""
    found = hunt(original, seed, effort)
    tightest = found.tightest if isinstance(found, Survived) else None
    most = tuple(one.upper for one in found.search.worst)
    tightness = found.tightness if isinstance(found, Survived) else None
    return Known(isinstance(found, Refuted), tightness, () if tightest is None else (tightest,), most)


def known_from(path: Path) -> dict[str, Known]:
    """What an audit.json says of every statement."""
    found = dict[str, Known]()
    for row in json.loads(path.read_text(encoding="utf-8"))["statements"]:
        hunts, lint, derive = row["hunt"] or {}, row["lint"] or {}, row["derive"] or {}
        tightest = [one["tightest"] for one in (hunts, row["verify"] or {}) if one.get("tightest")]
        found[row["id"]] = Known(
            row["verdict"] == "refuted",
            row["tightness"],
            tuple(tightest),
            tuple(one["upper"] for one in hunts.get("worst", ())),
            tuple(finding["rule"] for finding in lint.get("findings", ())),
            derive.get("status"),
        )
    return found


def attempted(identifier: str, effort: float, seed: int, known: Mapping[str, Known]) -> Judged:
    """What `judged` says of one statement; an error of the tool is said too, and the others go on."""
    try:
        return judged(identifier, effort, seed, known.get(identifier))
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        return Judged(identifier, f"{STOPPED} {type(error).__name__}: {error}"[:300])


def instances(original: Statement, seed: int) -> Iterator[Scores]:
    """Random instances of all sizes, and the tightest after a short climb on the first few shapes."""
    reading, world = read(original)
    rng, shapes = np.random.default_rng(seed), world.shapes(reading)
    some = shapes[:: 1 + (len(shapes) - 1) // SHAPES]
    for shape in some:
        yield score(reading, world, shape, draw(genes_of(reading, world, shape), DRAWN, rng))
    for found in climb(reading, world, some[:CLIMBED], GENERATIONS, seed).best:
        yield score(reading, world, found.scores.shape, rows(found.scores.genome, np.array([found.row])))


def fate(mutant: Mutant, itself: Itself, effort: float, seed: int) -> Outcome:
    """Which move catches it, or why none does."""
    changed, told = mutant.statement, partial(Outcome, mutant.kind, mutant.what)
    reading, world = read(changed)
    if any(replayed(reading, one) for one in itself.known.tightest):
        return told("replay", certified=True)
    scores = [score(reading, world, one.shape, one.genome) for one in itself.instances]
    suspects = sorted((f for one in scores for f in top(one, REPLAYS) if f.margin > VIOLATION), key=simple)
    if any(one is not None and not one.holds for one in (certify(reading, world, f) for f in suspects[:REPLAYS])):
        return told("replay", certified=True)
    if Counter(finding.rule for finding in linted(changed).findings) - itself.rules:
        return told("lint")
    if tried := claims_less(itself, mutant):
        return told("claims less", f"as true as the statement: lhs/rhs is no larger on {tried} instances")
    with suppress(UserError):  # a written proof may not fit the mutant, which says nothing of it
        # Where the statement itself claims more than it derives, a mutant that does so too is no news.
        if derived(changed).status == "claims-more" != itself.status:
            return told("derive")
    if mutant.kind == "half" and (why := loose(itself.known)):
        return told("loose", why)
    verdict: Any = hunt(changed, seed, effort)
    if isinstance(verdict, Refuted):
        return told("hunt", certified=True)
    if isinstance(verdict, Proved):
        return told("proved", "it is true: proved")
    if why := proved_at_points([one.upper for one in verdict.search.worst], 1):
        return told("loose", why)
    if isinstance(verdict, Survived) and verdict.tightness is not None:
        return told("open", f"out of budget: lhs/rhs up to {verdict.tightness:.4g} was found")
    return told("open", f"out of budget: {getattr(verdict, 'reason', verdict.verdict)}")


def loose(known: Known) -> str:
    """Why half of a bound may be true as well; nothing where the statement is tighter than that, or not known to be."""
    if known.tightness is None or known.tightness >= HALF:
        return ""
    return proved_at_points(known.most, HALF) or f"the statement's own tightness found is {known.tightness:.2g}"


def proved_at_points(most: Sequence[float | None], bound: float) -> str:
    """What proofs at points say, where there are some and all are below the bound."""
    if not most or not all(upper is not None and upper <= bound for upper in most):
        return ""
    largest = max(upper for upper in most if upper is not None)
    where = f"at {len(most)} points lhs/rhs of the {'mutant' if bound == 1 else 'statement'}"
    return f"{where} is at most {largest:.2g}, for all functions and dimensions (proofs)"


def simple(found: Found) -> tuple[int, float]:
    """Small instances first, then clear violations."""
    return found.scores.shape.cost, -found.margin


def replayed(reading: Reading, tightest: Mapping[str, Any]) -> bool:
    """Whether an exact instance of the statement refutes the mutant in the kernel."""
    instance = needed_names(reading.claim, dict(tightest["instance"]))
    try:
        return not kernel.evaluate(reading.claim, instance, [], tightest["at"])[2]
    except (kernel.Malformed, kernel.Rejected):  # the mutant may read other names
        return False


def claims_less(itself: Itself, mutant: Mutant) -> int:
    """On how many admissible instances lhs/rhs of the changed relation is no larger; 0 if it is larger on any."""
    (reading, world), (changed, _) = (
        read(replace(s, then=(s.relations[mutant.place],))) for s in (itself.statement, mutant.statement)
    )
    tried = 0
    for one in itself.instances:
        before, after = (score(relation, world, one.shape, one.genome) for relation in (reading, changed))
        finite = [np.isfinite(one) for scores in (before, after) for one in (scores.ratio, scores.margin)]
        known = np.logical_and.reduce(finite)
        if (after.ratio > before.ratio + ROUNDING * (1 + abs(before.ratio)))[known].any():
            return 0
        tried += int(known.sum())
    return tried


def key(identifier: str, effort: float, seed: int) -> str:
    """What a result depends on, but for the code."""
    text = json.dumps([lower(statement(identifier)).claim, effort, seed], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def kept(path: Path) -> dict[str, Judged]:
    """Results of earlier runs, by key; a last line that was cut off is no result."""
    found = dict[str, Judged]()
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        with suppress(json.JSONDecodeError):
            one = json.loads(line)
            outcomes = tuple(Outcome(**outcome) for outcome in one["outcomes"])
            found[one["key"]] = Judged(one["id"], one["left_out"], outcomes)
    return found


def keep(path: Path, name: str, one: Judged) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"key": name, **asdict(one)}) + "\n")


def show(found: Sequence[Judged], console: Console) -> None:
    """By kind of change how many each move caught; then the survivors, then what was left out."""
    outcomes = [outcome for one in found for outcome in one.outcomes]
    table = Table("change", "mutants", *MOVES, *SURVIVED, title="which move caught it, or why it survived")
    for kind in (*KINDS, "all"):
        some = [outcome for outcome in outcomes if kind in (outcome.kind, "all")]
        fates = Counter(outcome.fate for outcome in some)
        table.add_row(kind, str(len(some)), *(str(fates[name]) for name in (*MOVES, *SURVIVED)))
    console.print(table)
    halves = [outcome.certified for outcome in outcomes if outcome.kind == "half"]
    console.print(f"of {len(halves)} halved right sides {sum(halves)} are refuted with a certificate", highlight=False)
    lines = [f"{one.id}: {o.what}: {o.reason}" for one in found for o in one.outcomes if not o.caught]
    lines += [f"{one.id}: left out: {one.left_out}" for one in found if one.left_out]
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make mutants", description="Which move catches a slip in a statement?")
    parser.add_argument("selectors", nargs="*", help="papers, ids, globs; none means all")
    parser.add_argument("--effort", type=float, default=0.1, help="of one search (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kept", type=Path, default=KEPT, help="results, from which a run goes on (%(default)s)")
    parser.add_argument("--audit", type=Path, help="an audit.json that knows the statements themselves")
    given = parser.parse_args(arguments)
    names = {original.id: key(original.id, given.effort, given.seed) for original in find(given.selectors)}
    found = {name: one for name, one in kept(given.kept).items() if name in names.values()}
    left = [identifier for identifier, name in names.items() if name not in found]
    known = {} if given.audit is None else known_from(given.audit)
    work = partial(attempted, effort=given.effort, seed=given.seed, known=known)
    with ProcessPoolExecutor(given.jobs) as pool:
        for one in pool.map(work, left) if given.jobs > 1 else map(work, left):
            found[names[one.id]] = one
            if not one.left_out.startswith(STOPPED):
                keep(given.kept, names[one.id], one)
            caught = f"{sum(o.caught for o in one.outcomes)} of {len(one.outcomes)} caught"
            print(f"{one.id}: {one.left_out or caught}", file=sys.stderr, flush=True)
    show([found[name] for name in names.values()], Console(width=None if sys.stdout.isatty() else 120))
    return 0


if __name__ == "__main__":
    sys.exit(main())
