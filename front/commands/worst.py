"""`fedaudit worst`: the worst case at constants of one's own, over all functions of the class and all dimensions."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from fedaudit.bounds.language.statement import Statement
    from fedaudit.verify.worst.worst import Worst

__all__ = ["ABOUT", "arguments", "as_text", "asked", "kept"]

ABOUT = """\
The largest lhs/rhs of a statement at these constants, from both sides: `lower` is attained by an exact instance (losses
known at finitely many points, checked by the interpolation conditions of their class), `upper` has a proof (exact
multipliers) that no function of the class in any dimension does worse. The kernel checked both. Above 1 the statement
fails there; at most 1 it is proved there. sigma is 0 unless it is given: then noise is a fair sign per step and client
times a vector of the client, every outcome is followed, and both ends are about noise of this form alone.
examples:
  fedaudit worst examples/gradient_descent.py::gd/rate L=3 T=4            the tight rate: exactly 1
  fedaudit worst examples/gradient_descent.py::gd/too-good L=1 T=1 --out worst
  fedaudit certify worst examples/gradient_descent.py                     check both ends again
  fedaudit worst buttaci/thm4.1-I L=2 mu=1 alpha=1 C=2 E=2 T=2            how much too large the bound is
  fedaudit worst examples/gradient_descent.py --measure 'gap(T)' --scale 'dist2(0)' L=3 mu=0 gamma=1/3 T=4
values are exact: 10, 1/3, 0.1. Sizes that are not given are small (C=2, E=2, T=1 where the conditions allow it),
weights are equal, indices stand at the end of their range, and of sampled clients m = C are drawn unless m is given:
"not given" lists all that was chosen so, and the answer is about that alone. What bounds the run alone (G) may be left
out: the worst case is then over it, "any". With --measure the class follows from the values: L smoothness, mu strong
convexity, mu=0 convexity, no mu none; sizes are then 1.
Equal clients are solved as one: 10 of them cost little more than 2. A solver only proposes: another one may be more
precise (mosek, sdpa) or less (scs), and both ends are exact all the same.
"""


def arguments(sub: argparse.ArgumentParser) -> None:
    """The command's options, but for the values."""
    sub.usage = "fedaudit worst ID|FILE NAME=VALUE… [--measure M --scale S] [--solver NAME] [--out DIR] [--json]"
    sub.add_argument("selectors", nargs=1, metavar="ID|FILE", help="one statement, also `my.py::id`; or a method")
    sub.add_argument("--measure", metavar="M", help="of a method: the measure whose worst case is asked for, 'gap(T)'")
    sub.add_argument("--scale", metavar="S", help="of a method: the measure that is at most 1, 'dist2(0)'")
    sub.add_argument(
        "--solver", metavar="NAME", help="who proposes: clarabel, or one that cvxpy has (scs, mosek, sdpa)"
    )
    sub.add_argument(
        "--out",
        metavar="DIR",
        help="folder for the instance, the proof (for `fedaudit certify`) and a picture of the run",
    )
    sub.add_argument("--json", action="store_true", help="one JSON array on stdout, nothing else")


def asked(
    name: str, texts: Sequence[str], measure: str | None, scale: str | None, solver: str | None = None
) -> tuple[Statement, list[Worst]]:
    """The claim that is examined, and one answer per relation."""
    from fedaudit.bounds.language.symbol_values import axes_of, points

    several = points(axes_of(texts))
    if len(several) != 1:
        raise UserError(f"{len(several)} combinations of values", "one value for each symbol", "ask for each of them")
    return answered(name, several[0], measure, scale, solver)


def answered(
    claim: Statement | str,
    values: Mapping[str, Fraction],
    measure: str | None,
    scale: str | None,
    solver: str | None = None,
) -> tuple[Statement, list[Worst]]:
    """The claim that is examined, and one answer per relation, from numbers and, if it is at hand, the statement."""
    from fedaudit.bounds.catalogue.discovery import find_methods
    from fedaudit.bounds.lint.wellformed import well_formed
    from fedaudit.verify.worst.methods import asked_of, question
    from fedaudit.verify.worst.solvers import OWN
    from fedaudit.verify.worst.worst import worst

    by = OWN if solver is None else solver
    if (measure is None) != (scale is None):
        raise UserError("one of --measure and --scale", "both or none", "write --measure 'gap(T)' --scale 'dist2(0)'")
    if not isinstance(claim, str):
        if measure is not None:
            raise UserError(
                f"a measure beside {claim.id}", "a method to ask about", "give its id, or leave measure out"
            )
        return claim, worst(claim, values, solver=by)
    name = claim
    named: list[Any] = well_formed([name]) if measure is None else [method for _, method in find_methods([name])]
    if len(named) != 1:
        what = "statements" if measure is None else "methods"
        raise UserError(f"{name}, which names {len(named)} {what}", "one", "write FILE::id or an id of `fedaudit list`")
    if measure is None or scale is None:
        return named[0], worst(named[0], values, solver=by)
    asked = question(named[0], measure, scale, values)
    return asked, asked_of(asked, values, by)


def as_text(statement: Statement, found: Sequence[Worst], asked: bool = False) -> str:
    """For people; `asked`: it is a question about a method, which claims nothing."""
    return "\n".join(line for one in found for line in _lines(one, statement.title if asked else ""))


def _lines(one: Worst, measure: str) -> Iterator[str]:
    """`measure`: what was asked for, where nothing is claimed."""
    at = ", ".join(f"{name} = {x}" for name, x in one.point.items())
    number = f" (relation {one.at['relation'] + 1})" if one.at.get("relation") else ""
    yield f"largest {measure} at {at}" if measure else f"{one.id}{number} at {at}"
    what = "worst case    " if measure else "worst lhs/rhs "
    if one.lower is not None and one.lower == one.upper:
        yield f"  {what} {_said(one.lower)}, exactly"
    elif one.estimate is None:
        nothing = f"nothing was found that bounds {'it' if measure else 'the left side by the right one'}"
        yield f"  {what} {nothing if one.lower is None else f'at least {_said(one.lower)}; {nothing}'}"
    else:
        yield f"  {what} between {_said(one.lower)} and {_said(one.upper, ROUND_CEILING)}"
    d = one.certificate["instance"]["d"] if one.certificate else None
    yield f"  lower end      {f'an exact instance in dimension {d}' if d else 'no exact instance was found'}"
    proof = f"an exact proof with {one.multipliers} multipliers, for all functions and dimensions"
    yield f"  upper end      {proof if one.proof else 'no exact proof was found'}"
    if one.chosen:
        everyone = f"; {one.sampled} is the number of clients" if one.sampled in one.chosen else ""
        yield f"  not given      {', '.join(f'{name} = {one.point[name]}' for name in one.chosen)}{everyone}"
    if one.noise == "signs":
        yield "  noise          a fair sign per step and client times its vector; both ends are about this alone"
    if not measure and (one.refuted or one.holds):
        yield f"  so             {'it fails there' if one.refuted else _holds(one)}"
    blocks = " + ".join(map(str, one.blocks))
    yield f"  size           {one.leaves} vectors in blocks of {blocks}, {one.constraints} constraints, {one.seconds} s"


def _holds(one: Worst) -> str:
    """That the claim holds at the point; of sampled clients only for as many as were drawn."""
    such = " for such noise" if one.noise == "signs" else " without noise" if "noise" in one.point else ""
    if one.sampled not in one.chosen:
        return f"it holds there{such}"
    fewer = f"which was not given: ask for fewer with {one.sampled}=1"
    return f"it holds{such} with as many clients drawn as there are ({one.sampled} = {one.point[one.sampled]}), {fewer}"


def _said(x: Fraction | None, rounding: str = ROUND_FLOOR) -> str:
    """A short fraction as it is; a long one in 9 digits, rounded so that it stays the end that it is."""
    if x is None or len(str(x)) <= 12:
        return "?" if x is None else str(x)
    digits = Context(prec=9, rounding=rounding).divide(Decimal(x.numerator), Decimal(x.denominator))
    # A float keeps nine digits as they are, so that the number stays rounded to its own side.
    return f"{float(digits):.9g}"


def kept(statement: Statement, found: Sequence[Worst], folder: Path) -> list[str]:
    """Write instances, proofs, and pictures of runs of several rounds; the names of the files."""
    from fedaudit.verify.results.file_names import slug
    from fedaudit.verify.worst.picture import along_run

    from ..running.files import dumps, write

    names: list[str] = []
    for one in found:
        stem = f"{slug(one.id)}.{one.at['relation']}"
        for what, data in (("instance", one.certificate), ("proof", one.proof)):
            if data is not None:
                path = folder / f"{stem}.{what}.json"
                write(path, dumps(data))
                names.append(str(path))
        curves = None if one.certificate is None else along_run(statement, one.certificate)
        if curves is not None:
            from fedaudit.figures.drawing import draw, image

            path = folder / f"{stem}.run.png"
            write(path, image(draw(curves), "png"))
            names.append(str(path))
    return names
