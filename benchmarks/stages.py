"""Where the processor time of an audit goes: a dozen statements of all papers, one after the other in one process.

`python benchmarks/stages.py [ID ...]` prints this table alone.
"""

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # as a script or with -m
import one_thread  # noqa: F401, I001  before NumPy reads the environment

from fedaudit.figures import drawing
from fedaudit.running import runner, selection
from fedaudit.verify.moves import audit, judge
from fedaudit.verify.pictures import curves
from rich.console import Console
from rich.table import Table

STATEMENTS = (
    "benmansour/rem7", "benmansour/eq19", "buttaci/thm4.4-I", "buttaci/lemB.3", "buttaci/prop3.4-lower",
    "classic/fedavg-agree", "fallah/eq97", "fallah/sec5-hf-formula", "yuan/thm1~inequality", "yuan/eq1.5",
    "yuan/lem9~repaired", "zhang/eqA.33~repaired",
)  # fmt: skip
EFFORT = 0.39  # nominal seconds of a statement, when all that are encoded share the default budget
REST = "rest"
FUNCTIONS: dict[str, dict[Any, tuple[str, ...]]] = {
    "lint": {audit: ("linted",)},
    "derive": {audit: ("derive",)},
    "verify": {audit: ("scattered", "statistics", "observe")},
    "hunt": {audit: ("climbed_on", "examined")},
    "replays": {judge: ("certify", "reduced", "shrink", "endurance", "breaks", "tougher")},
    "repair": {audit: ("repair",)},
    "figures": {curves: ("picture",), drawing: ("draw", "svg")},
}
# Processor seconds of these statements before formulas were cancelled by python-flint and runs were measured in large
# batches, on two busy cores of 2026.
BEFORE = {
    "lint": 4.2,
    "derive": 34.9,
    "verify": 15.0,
    "hunt": 32.9,
    "replays": 14.3,
    "repair": 2.4,
    "figures": 6.3,
    "rest": 1.5,
}


@dataclass(slots=True)
class Clock:
    """Processor seconds by stage; a stage within another one counts for itself."""

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys((*FUNCTIONS, REST), 0.0))
    running: list[str] = field(default_factory=lambda: [REST])
    since: float = field(default_factory=process_time)

    def switch(self) -> None:
        """Counts what was spent until now for the stage that is running."""
        now = process_time()
        self.seconds[self.running[-1]] += now - self.since
        self.since = now

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def run(*args: Any, **more: Any) -> Any:
            self.switch()
            self.running.append(stage)
            try:
                return function(*args, **more)
            finally:
                self.switch()
                self.running.pop()

        return run


@contextmanager
def ticking() -> Generator[Clock]:
    """A clock on which every stage of an audit inside is timed."""
    clock, plain = Clock(), list[tuple[Any, str, Any]]()
    for stage, places in FUNCTIONS.items():
        for module, names in places.items():
            for name in names:
                plain.append((module, name, getattr(module, name)))
                setattr(module, name, clock.timed(stage, plain[-1][2]))
    try:
        yield clock
    finally:
        clock.switch()
        for module, name, function in plain:
            setattr(module, name, function)


def measured(ids: Sequence[str] = STATEMENTS, effort: float = EFFORT) -> dict[str, float]:
    """Processor seconds of each stage of an audit of these statements, figures included."""
    with ticking() as clock:
        for chosen in selection.choose(ids):
            outcome = runner.attempt(runner.Task("audit", chosen, 0, effort, "numpy", figure=True))
            if outcome.failure or outcome.undrawn:
                raise RuntimeError(f"{chosen.id}: {outcome.failure or outcome.undrawn}")
    return clock.seconds


def table(seconds: dict[str, float], before: dict[str, float] | None = None) -> Table:
    """Stages, and what they took once."""
    rows = Table("stage", "processor seconds", "share", "once" if before else "", box=None)
    total = sum(seconds.values())
    for stage, spent in (*seconds.items(), ("all", total)):
        once = f"{before.get(stage, sum(before.values())):.1f}" if before else ""
        rows.add_row(stage, f"{spent:.1f}", f"{spent / total:.0%}", once)
    return rows


if __name__ == "__main__":
    own = sys.argv[1:]
    Console().print(table(measured(own or STATEMENTS), None if own else BEFORE))
