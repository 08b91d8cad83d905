"""How many instances of a statement `hunt` tries in a second: genes drawn, the method run, both sides compared."""

from collections.abc import Callable

from fedaudit.bounds.catalogue import statement
from fedaudit.verify.audit import read
from fedaudit.verify.hunt import POPULATION, sample

STATEMENTS = ("buttaci/thm4.1-I", "buttaci/lemC.2", "buttaci/thm4.4-I", "zhang/lemA.2", "benmansour/thm3")
SIZES = (POPULATION, 2048)
TURNS = 3


def throughput(id_: str, n: int, seconds: Callable[[Callable[[], object]], float]) -> tuple[int, float]:
    """Admissible instances among `n` of every shape of the statement, and the best time for them in some turns."""
    reading, setting = read(statement(id_))
    shapes = setting.shapes(reading)

    def once() -> int:
        return sample(reading, setting, shapes, n, seed=0).instances

    instances = once()
    return instances, min(seconds(once) for _ in range(TURNS if n == POPULATION else 1))
