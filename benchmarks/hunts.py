"""How many instances of a statement `hunt` tries in a second: genes drawn, the method run, both sides compared."""

from collections.abc import Callable

from fedaudit.bounds.catalogue import statement
from fedaudit.verify.audit import read
from fedaudit.verify.hunt import POPULATION, sample

# Instances a second in populations of 96 before runs were measured in many rounds at once, on a machine where it was
# 26,200, 6,260, 11,600, 20,100 and 17,000 after.
STATEMENTS = {
    "buttaci/thm4.1-I": 25_800,
    "buttaci/lemC.2": 5_280,
    "buttaci/thm4.4-I": 9_610,
    "zhang/lemA.2": 17_700,
    "benmansour/thm3": 14_700,
}
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
