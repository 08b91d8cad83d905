"""What one certificate may cost, counted while it is checked: operations on numbers, long numbers by their length.

As FLINT's context holds the working precision, one meter holds for all that is computed inside `metered`. Every sum of
rationals goes through `summed`, every other number that grows from round to round through `paid`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

from flint import arb, ctx, fmpq, fmpz

from .rational import BITS, Rejected

MOST = 4_000_000  # of a certificate; about half as many microseconds
SEARCH = MOST // 2  # to admit an instance that is only tried, and to evaluate it: what a search finds passes the check
ZERO = fmpq(0)
HASH = 5  # operations to look a number up
SHORT = 64  # bits up to which a number costs one operation
Real = TypeVar("Real", bound=fmpq | arb)


class TooLarge(Rejected):
    """More work than is allowed; it says nothing about the claim."""


@dataclass(slots=True)
class Work:
    """What is left of `most` operations."""

    most: int
    left: int


_RUNNING: ContextVar[Work | None] = ContextVar("work", default=None)


@contextmanager
def metered(most: int) -> Generator[Work]:
    """Count what is computed inside; within another meter, that one goes on counting."""
    running = _RUNNING.get()
    if running is not None:
        yield running
        return
    work = Work(most, most)
    token = _RUNNING.set(work)
    try:
        yield work
    finally:
        _RUNNING.reset(token)


def spend(cost: int) -> None:
    """Asked before, or at once after, so many elementary operations."""
    work = _RUNNING.get()
    if work is None:
        return
    work.left -= cost
    if work.left < 0:
        raise TooLarge(f"too large to check: needs more than {work.most} operations; do: certify --limit SECONDS[,GB]")


def price(bits: int) -> int:
    """A product and a sum of rationals of this height: common divisors take more than linear time."""
    return 1 if bits <= SHORT else 1 + bits // 32 + (bits // 700) ** 2


def paid(x: Real) -> Real:
    """`x`, counted by its length, unless it has grown beyond what is worth replaying; a ball by its precision."""
    if isinstance(x, arb):
        spend(price(ctx.prec))
        return x
    bits = x.height_bits()
    if bits <= SHORT:
        spend(1)
        return x
    if bits > BITS:
        raise Rejected(f"claim: got a number of {bits} bits, expected at most {BITS}")
    spend(price(bits))
    return x


def summed(terms: Iterable[fmpq], start: fmpq = ZERO) -> fmpq:
    """Their sum. Each partial sum is counted: sums of unlike denominators are longer than all their terms."""
    total, cost = start if start is ZERO else paid(start), 1
    for term in terms:
        total += term
        bits = total.height_bits() if type(total) is fmpq else ctx.prec  # otherwise it is a ball
        if bits <= SHORT:
            cost += 1
            continue
        cost += 1 + price(bits)
        if bits > BITS:
            paid(total)
    spend(cost)
    return total


def label(numbers: Iterable[fmpq | arb]) -> tuple[fmpz, ...]:
    """What equal numbers have in common, to look them up by: a fraction's own hash takes ten times as long.

    Balls with the same centre and radius count as equal: what is computed from the one encloses the other's value.
    """
    return tuple(part for x in numbers for part in ((x.p, x.q) if isinstance(x, fmpq) else _ends(x)))


def _ends(x: arb) -> tuple[fmpz, ...]:
    return (*x.mid().man_exp(), *x.rad().man_exp())
