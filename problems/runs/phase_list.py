"""A phase of a method as a list: every operation and every sum in it once, each after what it reads.

Rules of a phase share much (a new iterate and its proximal point read one sum), and walking their trees costs more than
the smallest arrays.
"""

from dataclasses import dataclass, field
from functools import lru_cache

from .compiled_method import ONE, Linear, Operation, Programme

Terms = tuple[tuple[int, int], ...]  # coefficients, by their place in the programme, and places of vectors


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """An operation on vectors at `places`, or the sum of `terms`."""

    operation: Operation | None
    places: tuple[int, ...] = ()
    terms: Terms = ()


@dataclass(frozen=True, slots=True, eq=False)
class Flat:
    names: tuple[str, ...]  # vectors of the state, at the first places
    steps: tuple[Step, ...]  # one more place each
    targets: tuple[tuple[str, int], ...]
    stays: frozenset[int]  # places of vectors that the phase does not change


@lru_cache(maxsize=1024)
def flat(rules: Programme, phase: str, drawn: bool) -> Flat:
    """The list of a phase. With `drawn`, noise comes from drawn data, on which what is inside `noisy` is read later."""
    lister = _Lister(rules, drawn)
    targets = [(name, lister.sum(rule)) for name, rule in rules.phases[phase].items()]
    first = {name: place for place, name in enumerate(lister.names)}
    # Names were met between operations; now they come first, so that the state is the beginning of the list.
    places = [first[item] if isinstance(item, str) else len(first) + item for item in lister.vectors]
    steps = [
        Step(
            step.operation,
            tuple(places[i] for i in step.places),
            tuple((coefficient, places[i]) for coefficient, i in step.terms),
        )
        for step in lister.steps
    ]
    stays = frozenset(place for name, place in first.items() if name not in rules.phases[phase])
    return Flat(tuple(lister.names), tuple(steps), tuple((name, places[i]) for name, i in targets), stays)


@dataclass(frozen=True, slots=True, eq=False)
class _Lister:
    """`vectors` are in the order in which they were met: names, or numbers of steps."""

    rules: Programme
    drawn: bool
    names: list[str] = field(default_factory=list[str])
    steps: list[Step] = field(default_factory=list[Step])
    vectors: list[str | int] = field(default_factory=list[str | int])
    index: dict[Operation | Terms, int] = field(default_factory=dict[Operation | Terms, int])

    def sum(self, rule: Linear) -> int:
        terms = tuple((coefficient, self.vector(operation)) for coefficient, operation in rule.terms)
        if len(terms) == 1 and self.rules.coefficients[terms[0][0]] == ONE:
            return terms[0][1]
        if terms not in self.index:
            self.index[terms] = self.add(Step(None, terms=terms))
        return self.index[terms]

    def vector(self, operation: Operation) -> int:
        if operation not in self.index:
            if operation.op == "name":
                self.names.append(operation.name)
                self.vectors.append(operation.name)
                self.index[operation] = len(self.vectors) - 1
            else:
                closed = operation.op == "noisy" and self.drawn
                places = () if closed else tuple(self.sum(arg) for arg in operation.args)
                self.index[operation] = self.add(Step(operation, places))
        return self.index[operation]

    def add(self, step: Step) -> int:
        self.steps.append(step)
        self.vectors.append(len(self.steps) - 1)
        return len(self.vectors) - 1
