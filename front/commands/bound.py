"""`fedaudit bound`: a statement's right-hand side in numbers, as text, JSON or CSV. One point, or a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fedaudit.bounds.catalogue.bound_optimisation import Best, Crossing, crossings, minimise, sensitivity
from fedaudit.bounds.catalogue.bound_values import Bound, Condition, Plan, plan
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.language.symbol_values import Axes, axes_of, points
from fedaudit.output import JsonObject

from ..errors import UserError

__all__ = ["Asked", "Line", "as_csv", "as_rows", "as_text", "asked"]


@dataclass(frozen=True, slots=True)
class Line:
    """One statement at one choice of values, and what was asked for besides."""

    bound: Bound
    best: Best | None = None
    elasticity: Mapping[str, float | None] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The answer: for every point the lines of all statements, and where their bounds cross."""

    plans: tuple[Plan, ...]
    varied: tuple[str, ...]  # names with more than one value
    lines: tuple[tuple[Line, ...], ...]  # (point, statement)
    crossings: tuple[Crossing, ...]

    @property
    def single(self) -> bool:
        return len(self.lines) == 1


def asked(
    statements: Sequence[Statement], texts: Sequence[str], minimised: str | None = None, *, elastic: bool = False
) -> Asked:
    """What `NAME=VALUE` texts give for these statements; raises `UserError`, also for a condition that fails at the
    one point that was asked for.
    """
    plans, axes = tuple(plan(s) for s in statements), axes_of(texts)
    among = axes.pop(minimised, ()) if minimised else ()
    if len(among) == 1:
        raise UserError(f"{minimised}={among[0]} with --minimise {minimised}", f"a range of {minimised}, or none",
                        f"leave {minimised}={among[0]} out")  # fmt: skip
    for name in axes:
        _known(plans, name)
    many = tuple(name for name, values in axes.items() if len(values) > 1)
    lines = tuple(
        tuple(_line(p, _own(p, values, len(plans) > 1), minimised, among, elastic) for p in plans)
        for values in points(axes)
    )
    if len(lines) == 1:
        for line in lines[0]:
            line.bound.must_hold()
    return Asked(plans, many, lines, tuple(_crossings(plans, axes, many, lines)))


def _known(plans: Sequence[Plan], name: str) -> None:
    """Raises `UserError` for a name that none of the statements takes."""
    for n, p in enumerate(plans):
        try:
            return p.known(name)
        except UserError:
            if n == len(plans) - 1:
                raise


def _own(p: Plan, values: Mapping[str, Fraction], several: bool) -> dict[str, Fraction]:
    """The values that this statement takes; of a single statement all that were given, so that a wrong name is told."""

    def takes(name: str) -> bool:
        try:
            p.known(name)
        except UserError:
            return False
        return True

    return {name: x for name, x in values.items() if not several or takes(name)}


def _line(
    p: Plan, values: Mapping[str, Fraction], minimised: str | None, among: Sequence[Fraction], elastic: bool
) -> Line:
    best = minimise(p, minimised, values, among) if minimised else None
    evaluated = best.bound if best else p.at(values)
    return Line(evaluated, best, sensitivity(p, evaluated.values) if elastic else None)


def _crossings(
    plans: Sequence[Plan], axes: Axes, many: Sequence[str], lines: Sequence[Sequence[Line]]
) -> Iterator[Crossing]:
    if len(plans) < 2 or len(many) != 1:
        return
    bounds = [[_shown(line[n].bound) for line in lines] for n in range(len(plans))]
    yield from crossings([p.statement.id for p in plans], axes[many[0]], bounds)


def _shown(made: Bound) -> float:
    """The bound as a float; NaN where one of its conditions fails."""
    return float("nan") if made.failing else made.value.approx


def as_rows(answer: Asked) -> list[JsonObject]:
    """The rows that `--json` prints: one for each statement at each point."""
    return [_row(answer, line) for point in answer.lines for line in point]


def _row(answer: Asked, line: Line) -> JsonObject:
    row = line.bound.row()
    if line.best:
        row["minimised"] = {"name": line.best.name, "value": str(line.best.value), "how": line.best.how}
    if line.elasticity is not None:
        row["elasticity"] = dict(line.elasticity)
    if len(answer.plans) > 1:
        row["crosses"] = [
            {"id": c.lower_before, "between": [str(c.last), str(c.first)]}
            for c in answer.crossings
            if c.lower_after == line.bound.id and line.bound.values.get(answer.varied[0]) == c.first
        ]
    return row


def as_csv(answer: Asked) -> str:
    """One line per point and statement: the values, the bound, its terms (of one statement), what fails."""
    names = list(dict.fromkeys(name for point in answer.lines for line in point for name in line.bound.values))
    alone = len(answer.plans) == 1
    terms = [t.term for t in answer.lines[0][0].bound.terms] if alone else []
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    elastic = list(answer.lines[0][0].elasticity or ()) if alone else []
    write(["id", *names, "bound", "exact", *terms, *(f"elasticity {name}" for name in elastic), "fails"])
    for line in (line for point in answer.lines for line in point):
        made = line.bound
        values = [str(made.values.get(name, "")) for name in names]
        each = [repr(t.value.approx) for t in made.terms] if alone else []
        moved = [(line.elasticity or {}).get(name) for name in elastic]
        exact = made.row()["exact"] or ""
        write([made.id, *values, repr(made.value.approx), exact, *each, *moved, "; ".join(made.failing)])
    return out.getvalue()


def as_text(answer: Asked) -> str:
    """The answer for a terminal: a table of points, or one point term by term."""
    if answer.single and len(answer.plans) == 1:
        return "\n".join(_one(answer.plans[0], answer.lines[0][0]))
    return "\n".join(_compared(answer) if len(answer.plans) > 1 else _table(answer))


def _one(p: Plan, line: Line) -> Iterator[str]:
    evaluated = line.bound
    yield f"{evaluated.id}: {p.statement.title}"
    for side in evaluated.sides:
        yield f"{side.left} {side.relation} {side.value.text}"
        if len(side.terms) > 1:
            whole = side.value.approx
            share = [f"{100 * t.value.approx / whole:.3g} %" if whole > 0 else "" for t in side.terms]
            yield from _aligned([["", t.value.text, s, t.term] for t, s in zip(side.terms, share, strict=True)])
    if line.best:
        yield f"best {line.best.name} = {line.best.value} ({float(line.best.value):.6g})"
        yield f"  found by {line.best.how}"
    if evaluated.computed:
        yield "computed:"
        texts = [p.shown[name.partition("(")[0]] for name in evaluated.computed]
        yield from (f"  {text} = {x.text}" for text, x in zip(texts, evaluated.computed.values(), strict=True))
    if evaluated.conditions:
        yield "conditions:"
        yield from (f"  {c.condition}: {_told(c)}" for c in evaluated.conditions)
    if line.elasticity is not None:
        yield "elasticity, d log(bound) / d log(constant):"
        yield from _aligned([["", name, "-" if x is None else f"{x:+.4g}"] for name, x in line.elasticity.items()])


def _told(condition: Condition) -> str:
    if condition.holds is None:
        return f"open, it needs {', '.join(condition.needs)}" if condition.needs else "cannot be told"
    return "holds" if condition.holds else "FAILS"


def _table(answer: Asked) -> Iterator[str]:
    first = answer.lines[0][0]
    p, terms = answer.plans[0], first.bound.terms
    yield f"{p.statement.id}: {p.statement.title}"
    for side in first.bound.sides:
        yield f"{side.left} {side.relation} bound"
    several = len(terms) > 1
    if several:
        yield from (f"  ({n}) {t.term}" for n, t in enumerate(terms, start=1))
    best = [f"best {first.best.name}"] if first.best else []
    more = [f"bound {n}" for n in range(2, len(first.bound.sides) + 1)]
    heads = [*answer.varied, *best, "bound", *more, *(f"({n})" for n in range(1, len(terms) + 1) if several)]
    elastic = list(first.elasticity or ())
    heads += [f"d {name}" for name in elastic]
    rows = [heads + ["fails"] * any(line.bound.failing for (line,) in answer.lines)]
    for (line,) in answer.lines:
        evaluated = line.bound
        cells = [str(evaluated.values[name]) for name in answer.varied]
        cells += [f"{float(line.best.value):.6g}"] if line.best else []
        cells += [str(side.value) for side in evaluated.sides]
        cells += [str(t.value) for t in evaluated.terms] if several else []
        moved = [(line.elasticity or {}).get(name) for name in elastic]
        cells += ["-" if x is None else f"{x:+.3g}" for x in moved]
        rows.append([*cells, "; ".join(evaluated.failing)])
    yield from _aligned(rows)
    if first.best:
        yield f"best {first.best.name} by {first.best.how}"
    yield from dict.fromkeys(
        f"open: {c.condition} needs {', '.join(c.needs)}" for c in first.bound.conditions if c.holds is None and c.needs
    )


def _compared(answer: Asked) -> Iterator[str]:
    for n, p in enumerate(answer.plans):
        yield f"({n + 1}) {p.statement.id}: {answer.lines[0][n].bound.sides[0].left} {p.sides[0].relation} bound"
    lefts = {p.sides[0].left for p in answer.plans}
    if len(lefts) > 1:
        yield "their left sides differ; compare with care"
    numbers = [f"({n + 1})" for n in range(len(answer.plans))]
    best = [f"best {answer.lines[0][0].best.name} {n}" for n in numbers] if answer.lines[0][0].best else []
    rows = [[*answer.varied, *numbers, *best, "lowest"]]
    for point in answer.lines:
        shown = [_shown(line.bound) for line in point]
        # A bound whose condition fails is NaN here, which equals nothing, not even itself.
        usable = [x for x in shown if x == x]
        lowest = ", ".join(n for n, x in zip(numbers, shown, strict=True) if usable and x == min(usable))
        values = {name: x for line in point for name, x in line.bound.values.items()}
        cells = [str(line.bound.value) + ("" if not line.bound.failing else " *") for line in point]
        choices = [f"{float(line.best.value):.6g}" for line in point if line.best]
        rows.append([*(str(values[name]) for name in answer.varied), *cells, *choices, lowest])
    yield from _aligned(rows)
    failing = dict.fromkeys(
        f"* {x.bound.id}: {c} fails" for point in answer.lines for x in point for c in x.bound.failing
    )
    yield from failing
    for c in answer.crossings:
        where = f"between {answer.varied[0]} = {c.last} and {c.first}"
        yield f"they cross {where}: {c.lower_before} is lower before, {c.lower_after} after"
    if answer.varied and not answer.crossings and len(answer.varied) == 1:
        yield "they do not cross"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    width = max(len(row) for row in rows)
    full = [[*row, *[""] * (width - len(row))] for row in rows]
    widths = [max(len(row[n]) for row in full) for n in range(width)]
    for row in full:
        yield "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
