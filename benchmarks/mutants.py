"""`make mutants [ONLY='buttaci yuan/lem5'] [EFFORT=0.5]`: is a slip in a statement seen, and by which move?

Every statement that stands is changed in one place: its right side is halved, a term of it is dropped, an exponent goes
up or down by one, the relation is turned round. The moves look at the mutant in their order, the cheap ones first:
`lint` (a finding that the statement itself does not have), `derive` (it claims more than what it cites gives), `verify`
and `hunt` (a certificate that the kernel accepts). What none of them catches survives, and the table says why it may:
it is `proved`; it `claims less`, so that it is as true as the statement; the statement is `loose` (proofs at points for
all functions, or a tightness that is below 1/2 as far as was seen); or the question is `open` at this effort.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sympy import Add, Ge, Gt, Le, Lt, Pow, Rational

from fedaudit.bounds.catalogue import find, statement
from fedaudit.bounds.statement import Statement
from fedaudit.verify.audit import derived, hunt, linted, read, verify
from fedaudit.verify.check import genes_of, score
from fedaudit.verify.genome import draw
from fedaudit.verify.verdict import Proved, Refuted, Survived

KINDS = ("half", "term", "exponent", "flip")
MOVES = ("lint", "derive", "verify", "hunt")
SURVIVED = ("proved", "claims less", "loose", "open")  # why
TURNED = {Le: Ge, Lt: Gt, Ge: Le, Gt: Lt}
BELOW = (Ge, Gt)  # their right side is what is small
AUDITED = ("inequality", "identity")
SHAPES, DRAWN, ROUNDING = 24, 20, 1e-9


@dataclass(frozen=True)
class Mutant:
    kind: str
    what: str  # the change, in words
    statement: Statement
    place: int  # of the relation that was changed


@dataclass(frozen=True)
class Itself:
    """What the moves say of a statement before it is changed."""

    statement: Statement
    rules: Counter[str]  # of lint's findings
    status: str  # of derive
    tightness: float | None  # of hunt


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


def mutants(made: Statement) -> Iterator[Mutant]:
    """All of one statement, relation by relation. What changes nothing is none."""
    for place, relation in enumerate(made.relations):
        seen = list[Any]()
        for kind, what, changed in _changes(made, relation):
            if any(_same(changed, other) for other in (relation, *seen)):
                continue
            seen.append(changed)
            parts = (*made.relations[:place], changed, *made.relations[place + 1 :])
            yield Mutant(kind, what, replace(made, id=f"{made.id}-mutant", then=parts), place)


def _same(one: Any, other: Any) -> bool:
    """Whether two relations have the same sides, perhaps written differently."""
    return one.func is other.func and (one.lhs - other.lhs - one.rhs + other.rhs).expand() == 0


def _changes(made: Statement, relation: Any) -> Iterator[tuple[str, str, Any]]:
    left, right, make = relation.lhs, relation.rhs, partial(relation.func, evaluate=False)
    tighter = 2 if relation.func in BELOW else Rational(1, 2)
    yield "half", f"right side x {tighter}", make(left, tighter * right)
    written = right if isinstance(right, Add) else made.defined(right)
    for term in written.args if isinstance(written, Add) else ():
        yield "term", f"without {term}", make(left, written - term)
    for power in sorted(right.atoms(Pow), key=str):
        for by in (1, -1):
            changed = right.xreplace({power: Pow(power.base, power.exp + by)})
            yield "exponent", f"{power} with its exponent {by:+d}", make(left, changed)
    if relation.func in TURNED:
        yield "flip", "turned round", TURNED[relation.func](left, right, evaluate=False)


def judged(identifier: str, effort: float, seed: int) -> Judged:
    """The statement itself, then every mutant."""
    made = statement(identifier)
    if made.kind not in AUDITED or made.quoted:
        return Judged(made.id, "quoted" if made.quoted else f"of kind {made.kind}")
    found = hunt(made, seed, effort)
    if isinstance(found, Refuted):
        return Judged(made.id, "it falls itself")
    rules = Counter(finding.rule for finding in linted(made).findings)
    tightness = found.tightness if isinstance(found, Survived) else None
    itself = Itself(made, rules, derived(made).status, tightness)
    return Judged(made.id, outcomes=tuple(fate(mutant, itself, effort, seed) for mutant in mutants(made)))


def fate(mutant: Mutant, itself: Itself, effort: float, seed: int) -> Outcome:
    """Which move catches it, or why none does. Halved right sides are searched in any case: that number is compared."""
    changed, first = mutant.statement, ""
    status = derived(changed).status
    if Counter(finding.rule for finding in linted(changed).findings) - itself.rules:
        first = "lint"
    elif status == "claims-more" != itself.status:
        first = "derive"
    told = partial(Outcome, mutant.kind, mutant.what)
    if first and mutant.kind != "half":
        return told(first)
    verdict: Any = None
    for name, move in (("verify", partial(verify, sturdy=False)), ("hunt", hunt)):
        verdict = move(changed, seed, effort)
        if isinstance(verdict, Refuted):
            return told(first or name, certified=True)
    if first:
        return told(first)
    if isinstance(verdict, Proved):
        return told("proved", "it is true: proved")
    if tried := claims_less(itself.statement, mutant):
        return told("claims less", f"as true as the statement: lhs/rhs is no larger on {tried} random instances")
    known = [one["upper"] for one in verdict.search.worst]
    if known and all(upper is not None and upper <= 1 for upper in known):
        most = f"lhs/rhs is at most {max(known):.2g}"
        return told("loose", f"at {len(known)} points {most}, for all functions and dimensions (proofs)")
    if mutant.kind == "half" and itself.tightness is not None and itself.tightness < 1 / 2:
        return told("loose", f"the statement's own tightness found is {itself.tightness:.2g}: below 1/2")
    if isinstance(verdict, Survived) and verdict.tightness is not None:
        return told("open", f"out of budget: lhs/rhs up to {verdict.tightness:.4g} was found")
    return told("open", f"out of budget: {getattr(verdict, 'reason', verdict.verdict)}")


def claims_less(made: Statement, mutant: Mutant) -> int:
    """On so many random instances lhs/rhs of the changed relation is no larger than it was; 0 if on one it is."""
    (reading, world), (changed, _) = (
        read(replace(s, then=(s.relations[mutant.place],))) for s in (made, mutant.statement)
    )
    rng, tried, shapes = np.random.default_rng(0), 0, world.shapes(reading)
    for shape in shapes[:: 1 + (len(shapes) - 1) // SHAPES]:  # of all sizes
        genome = draw(genes_of(reading, world, shape), DRAWN, rng)
        before, after = (score(one, world, shape, genome) for one in (reading, changed))
        known = np.isfinite(before.ratio) & np.isfinite(after.ratio)
        if (after.ratio > before.ratio + ROUNDING * (1 + abs(before.ratio)))[known].any():
            return 0
        tried += int(known.sum())
    return tried


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
    parser.add_argument("--effort", type=float, default=0.5, help="of one search (default 0.5)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args(arguments)
    ids = [made.id for made in find(given.selectors)]
    work, found = partial(judged, effort=given.effort, seed=given.seed), list[Judged]()
    with ProcessPoolExecutor(given.jobs) as pool:
        for one in pool.map(work, ids) if given.jobs > 1 else map(work, ids):
            found.append(one)
            caught = f"{sum(o.caught for o in one.outcomes)} of {len(one.outcomes)} caught"
            print(f"{one.id}: {one.left_out or caught}", file=sys.stderr, flush=True)
    show(found, Console(width=None if sys.stdout.isatty() else 120))
    return 0


if __name__ == "__main__":
    sys.exit(main())
