"""A claim as data: what is assumed, chosen, required and asserted, read from JSON."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from .expression import Evaluator, Relation, Tree, World, free, parse, parse_relation
from .rational import Malformed, Node, Rejected

Assumption = tuple[str, tuple[str, ...]]
DOMAINS = ("real", "nonnegative", "positive", "count", "index")


@dataclass(frozen=True, slots=True)
class Claim:
    id: str
    setting: str
    let: tuple[Assumption, ...]
    implicit: tuple[Assumption, ...]
    choose: dict[str, tuple[str, Tree]]  # quantity -> (its index, its value)
    when: tuple[Relation, ...]
    for_all: dict[str, tuple[Tree, Tree]]  # index -> inclusive range
    then: tuple[Relation, ...]
    domains: dict[str, str]

    @property
    def needs(self) -> set[tuple[str, int]]:
        """Symbols (with -1) and quantities (with their number of indices) that an instance must give."""
        inside = [*self.when, *self.then]
        found = set[tuple[str, int]]().union(*(free(side) for _, *sides in inside for side in sides))
        found -= {(index, -1) for index in self.for_all}
        found |= set[tuple[str, int]]().union(*(free(end) for ends in self.for_all.values() for end in ends))
        for index, value in self.choose.values():
            found |= free(value) - {(index, -1)}
        return found | {(arg, -1) for _, args in (*self.let, *self.implicit) for arg in args}

    def parameters(self, node: Node, taken: set[str]) -> dict[str, fmpq]:
        """Free scalars of an instance, under names that nothing else gives."""
        given = node.mapping()
        if clash := (taken | set(self.for_all)) & set(given):
            raise Malformed(f"{node.where}: got {sorted(clash)}, expected names that the instance does not give twice")
        return {name: entry.rational() for name, entry in given.items()}

    def steps(self, node: Node | None, world: World, T: int) -> list[fmpq]:
        """gamma(0), ..., gamma(T-1): chosen by the claim or else given by the instance; positive."""
        if ("gamma" in self.choose) == (node is not None):
            raise Malformed("instance.steps: got both or neither of it and the claim's choice, expected one of them")
        if node is not None:
            steps = list(node.fields("gamma")["gamma"].vector(T))
        else:
            index, tree = self.choose["gamma"]
            if index in world.values or any(arity >= 0 for _, arity in free(tree)):
                raise Malformed("claim.choose.gamma: got a run-dependent value, expected one of symbols and its index")
            steps = [Evaluator(world).value(tree, {index: t}) for t in range(T)]
        for t, gamma in enumerate(steps):
            if not isinstance(gamma, fmpq) or gamma <= 0:
                raise Rejected(f"gamma({t}): got {gamma}, expected a positive rational")
        return [gamma for gamma in steps if isinstance(gamma, fmpq)]


def _assumptions(node: Node) -> tuple[Assumption, ...]:
    found: list[Assumption] = []
    for entry in node.items():
        name, *args = [part.name() for part in entry.items()] or [""]
        if not name or name in (other for other, _ in found):
            raise entry.malformed("the name of an assumption, once, and its constants")
        found.append((name, tuple(args)))
    return tuple(found)


def read(node: Node) -> Claim:
    given = node.fields("id setting let implicit choose when for_all then", "domains")
    choose: dict[str, tuple[str, Tree]] = {}
    for name, entry in given["choose"].mapping().items():
        chosen = entry.fields("index value")
        choose[name] = chosen["index"].items(1)[0].name(), parse(chosen["value"])
    ranges = {name: entry.items(2) for name, entry in given["for_all"].mapping().items()}
    domains = given["domains"].mapping() if "domains" in given else {}
    if "relation" in ranges:
        raise given["for_all"].malformed("indices with another name than 'relation'")
    return Claim(
        id=given["id"].identifier(),
        setting=given["setting"].name(),
        let=_assumptions(given["let"]),
        implicit=_assumptions(given["implicit"]),
        choose=choose,
        when=tuple(parse_relation(entry) for entry in given["when"].items()),
        for_all={name: (parse(low), parse(high)) for name, (low, high) in ranges.items()},
        then=tuple(parse_relation(entry) for entry in given["then"].items()),
        domains={name: entry.one_of(DOMAINS) for name, entry in domains.items()},
    )
