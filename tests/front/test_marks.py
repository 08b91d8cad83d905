"""What is slow says why, and something of everything is fast."""

from __future__ import annotations

import pytest
from conftest import pytest_itemcollected
from marks import only, slow, some


class Item:
    nodeid = "tests/test_this.py::test_that"

    def __init__(self, *marks: pytest.MarkDecorator) -> None:
        self.marks = [decorator.mark for decorator in marks]

    def iter_markers(self, name: str) -> list[pytest.Mark]:
        return [mark for mark in self.marks if mark.name == name]


@pytest.mark.parametrize("mark", [pytest.mark.slow, pytest.mark.slow(), slow(""), slow("  ")])
def test_a_slow_mark_without_a_reason_is_refused(mark: pytest.MarkDecorator) -> None:
    with pytest.raises(pytest.UsageError, match=r"test_that is slow without a reason"):
        pytest_itemcollected(Item(mark))


def test_a_slow_mark_with_a_reason_is_fine() -> None:
    pytest_itemcollected(Item(slow("ten searches")))
    pytest_itemcollected(Item(pytest.mark.jax))


def test_some_cases_stay_fast_and_none_is_lost() -> None:
    made = some([("a", 1), ("b", 2), ("c", 3)], 2, "two searches each")
    assert made[0::2] == [("a", 1), ("c", 3)]
    assert (made[1].values, made[1].marks) == (("b", 2), (slow("two searches each"),))
    chosen = only(["b"], ["a", "b"], "long")
    assert (chosen[0].values, chosen[1]) == (("a",), "b")
    with pytest.raises(AssertionError, match="no cases"):
        only(["z"], ["a", "b"], "long")
