"""Lines on z3's word: z3 is really asked, about the line itself with nothing but what it rests on."""

from __future__ import annotations

import pytest
from proof_writer import Writer, claim_of

from fedaudit.verify.kernel.proofs.rules.facts import relation
from fedaudit.verify.proposals.z3_lines import follows

FORMS = Writer(
    claim_of(["0 <= 1"], domains={"x": "real", "y": "nonnegative", "T": "count", "n": "index"}), {"s": "index"}
).context.forms


@pytest.mark.parametrize(
    ("says", "rests"),
    [
        ("x * y <= (x**2 + y**2)/2", []),
        ("x == y", ["x <= y", "y <= x"]),
    ],
)
def test_what_follows_is_given(says: str, rests: list[str]) -> None:
    assert follows(relation(says), [relation(rest) for rest in rests], FORMS)


@pytest.mark.parametrize(
    ("says", "rests"),
    [
        ("s <= T - 1", []),  # of a letter that stands for every index
        ("x/T <= x/T**(1/2)", []),  # x has no sign
        ("0 < y", []),
        ("x <= 0", ["x <= y"]),
        ("x == y", ["x <= y"]),
        ("1 <= n", []),
        ("s + 1 <= T", ["s < T"]),  # z3 is not told that they are whole
    ],
)
def test_what_does_not_follow_is_not(says: str, rests: list[str]) -> None:
    assert not follows(relation(says), [relation(rest) for rest in rests], FORMS)
