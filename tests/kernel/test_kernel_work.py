"""Work is counted while a certificate is checked: long numbers by their length, in one budget, from scratch."""

from __future__ import annotations

import json
from fractions import Fraction as F
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st
from places import TESTS

from fedaudit.verify.kernel import Rejected, check, evaluate, load
from fedaudit.verify.kernel.core.budget import MOST, SEARCH, TooLarge, metered, paid, price, spend, summed
from fedaudit.verify.kernel.service import serve

FOLDER = TESTS / "certificates"
GOLDEN: dict[str, Any] = {path.stem: load(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
RICH = "lemB.2-terms-lost"
rationals = st.fractions(-10, 10, max_denominator=1000)


def cost(raw: Any) -> int:
    with metered(MOST) as work:
        check(raw)
    return work.most - work.left


@given(st.lists(rationals, max_size=20), rationals)
def test_a_counted_sum_is_the_sum(terms: list[F], start: F) -> None:
    exact = summed((fmpq(x.numerator, x.denominator) for x in terms), fmpq(start.numerator, start.denominator))
    assert F(int(exact.p), int(exact.q)) == sum(terms, start)


@given(st.integers(0, 1 << 17), st.integers(0, 1 << 17))
def test_longer_numbers_cost_more(a: int, b: int) -> None:
    assert price(min(a, b)) <= price(max(a, b))
    assert 2 * price(a) <= price(4 * a + 1000)


def test_a_sum_is_counted_by_its_partial_sums() -> None:
    """Unlike denominators: the sum is longer than all its terms."""
    terms = [fmpq(1, 10**50 + k) for k in range(100)]
    with metered(MOST) as alike:
        summed([terms[0]] * 100)
    with metered(MOST) as unlike:
        summed(terms)
    assert unlike.most - unlike.left > 10 * (alike.most - alike.left)


def test_a_number_may_not_grow_without_end() -> None:
    with pytest.raises(Rejected, match="got a number of 200001 bits, expected at most 131072"):
        paid(fmpq(2) ** 200_000)


def test_too_much_work_is_refused_in_one_line() -> None:
    with metered(10), pytest.raises(TooLarge) as refusal:
        spend(11)
    assert str(refusal.value) == "too large to check: needs more than 10 operations; do: certify --limit SECONDS[,GB]"


def test_a_meter_inside_another_one_is_the_same() -> None:
    with metered(10) as outer, metered(1000) as inner:
        spend(3)
        assert (outer.left, inner.left) == (7, 7)


def test_outside_of_a_meter_nothing_is_counted() -> None:
    spend(10 * MOST)


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_certificates_need_less_than_a_third_of_the_work_allowed(name: str) -> None:
    assert check(GOLDEN[name], MOST // 3)


def test_no_answer_depends_on_what_was_asked_before() -> None:
    needed = cost(GOLDEN[RICH])
    for _ in range(2):
        with pytest.raises(TooLarge):
            check(GOLDEN[RICH], needed - 1)
        assert check(GOLDEN[RICH], needed)


def test_what_a_search_evaluates_passes_the_check() -> None:
    """An instance is admitted and evaluated, each within SEARCH; the check does both."""
    assert 2 * SEARCH <= MOST
    raw = GOLDEN[RICH]
    with metered(MOST) as work:
        evaluate(raw["claim"], raw["instance"], raw["dropped"], raw["at"])
    assert work.most - work.left <= cost(raw)


def test_more_time_allows_more_work(monkeypatch: pytest.MonkeyPatch) -> None:
    raw, needed = GOLDEN[RICH], cost(GOLDEN[RICH])
    monkeypatch.setattr(serve, "MOST", needed // 2)
    text = json.dumps(raw).encode()
    for seconds, outcome in ((1, "rejected"), (serve.USUAL, "rejected"), (3 * serve.USUAL, "accepted")):
        assert serve.judged(text, seconds)["outcome"] == outcome
