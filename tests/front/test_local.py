"""Who gets which statement: chains stay with one worker, in the order of work."""

from __future__ import annotations

from itertools import chain as flattened

from fedaudit.commands import listing
from fedaudit.progress import Lines, begun, progress
from fedaudit.running import runner, selection
from fedaudit.running.local import Queue


def task(name: str, chain: str) -> runner.Task:
    return runner.Task("lint", selection.Chosen(name, name, "", chain), 0, 1.0, "numpy", figure=False)


def names(queue: Queue, *workers: int) -> list[str]:
    """What workers get that ask one after the other."""
    return [t.chosen.id for t in flattened.from_iterable(queue.next(worker) for worker in workers)]


def test_a_chain_stays_with_the_worker_that_has_begun_it() -> None:
    queue = Queue(
        dict(enumerate([task("a1", "a"), task("b1", "b"), task("a2", "a"), task("b2", "b"), task("c1", "c")]))
    )
    assert names(queue, 0, 1, 1, 0, 0) == ["a1", "b1", "b2", "a2", "c1"]


def test_who_has_nothing_left_takes_over_the_first_of_another_chain() -> None:
    queue = Queue(dict(enumerate([task("a1", "a"), task("a2", "a"), task("a3", "a")])))
    assert names(queue, 0, 1, 0, 1) == ["a1", "a2", "a3"]


def test_chains_hang_together_by_citations_and_by_prints() -> None:
    chains = listing.chains()
    assert chains["buttaci/thm4.1-I"] == chains["buttaci/lemB.1"] == chains["buttaci/lem4.1"]
    assert chains["fallah/eq99"] == chains["fallah/eq99~repaired"]
    assert len({chains[name] for name in ("buttaci/thm4.1-I", "zhang/thm3.5", "fallah/thm4.5")}) == 3


def test_progress_names_what_was_begun() -> None:
    lines = Lines("audit", ["a", "b", "c", "d"], jobs=2)
    lines.begun("b")
    lines.begun("d")
    assert lines.line(lines.times[0]).endswith("running b, d")
    lines.step("b", 1, 4)
    assert lines.line(lines.times[0] + 1).endswith("running d")


def test_begun_reaches_the_progress_that_is_shown_and_nobody_else(capsys) -> None:
    begun("nobody listens")
    with progress("audit", ["a", "b"], 1) as step:
        begun("b")
        step("b", 1, 2)
    begun("nobody listens")
    assert "nobody" not in capsys.readouterr().err
