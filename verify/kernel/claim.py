"""A claim as data: what is assumed, chosen, required and asserted, read from JSON."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from .expression import Evaluator, Relation, Tree, World, free, parse, parse_relation
from .rational import Malformed, Node, Rejected, shown

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

    def needs(self) -> set[tuple[str, int]]:
        """Symbols (with -1) and quantities (with their number of indices) that an instance must give."""
        inside = {name for _, *sides in (*self.when, *self.then) for side in sides for name in free(side)}
        ends = {name for both in self.for_all.values() for end in both for name in free(end)}
        chosen = {name for index, value in self.choose.values() for name in free(value) - {(index, -1)}}
        constants = {(arg, -1) for _, args in (*self.let, *self.implicit) for arg in args}
        return (inside - {(index, -1) for index in self.for_all}) | ends | chosen | constants

    def parameters(self, node: Node, taken: set[str]) -> dict[str, fmpq]:
        """Free scalars of an instance, under names that nothing else gives."""
        given = node.mapping()
        if clash := (taken | set(self.for_all)) & set(given):
            raise Malformed(f"{node.where}: got {sorted(clash)}, expected names that the instance does not give twice")
        return {name: entry.rational() for name, entry in given.items()}

    def steps(self, node: Node | None, world: World, T: int, name: str = "gamma") -> list[fmpq]:
        """gamma(0), ..., gamma(T-1) (or eta): chosen by the claim or else given by the instance; positive."""
        if bool(self.choose) == (node is not None):
            raise Malformed("instance.steps: got both or neither of it and the claim's choice, expected one of them")
        steps = node.fields(name)[name].vector(T) if node is not None else ()
        if set(self.choose) - {name}:
            raise Malformed(f"claim.choose: got {sorted(self.choose)}, expected {name} alone")
        for index, tree in self.choose.values():
            if index in world.values or any(arity >= 0 for _, arity in free(tree)):
                raise Malformed(
                    f"claim.choose.{name}: got a run-dependent value, expected one of symbols and its index"
                )
            steps = [Evaluator(world).value(tree, {index: t}) for t in range(T)]
        exact = [gamma for gamma in steps if isinstance(gamma, fmpq) and gamma > 0]
        if len(exact) < T:
            raise Rejected(f"{name}: got the step sizes {shown(steps)}, expected positive rationals")
        return exact


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
    choose = {name: entry.fields("index value") for name, entry in given["choose"].fields("", "gamma eta").items()}
    ranges = {name: entry.items(2) for name, entry in given["for_all"].mapping().items()}
    domains = given["domains"].mapping() if "domains" in given else {}
    if "relation" in ranges:
        raise given["for_all"].malformed("indices with another name than 'relation'")
    return Claim(
        id=given["id"].identifier(),
        setting=given["setting"].name(),
        let=_assumptions(given["let"]),
        implicit=_assumptions(given["implicit"]),
        choose={n: (c["index"].items(1)[0].name(), parse(c["value"])) for n, c in choose.items()},
        when=tuple(parse_relation(entry) for entry in given["when"].items()),
        for_all={name: (parse(low), parse(high)) for name, (low, high) in ranges.items()},
        then=tuple(parse_relation(entry) for entry in given["then"].items()),
        domains={name: entry.one_of(DOMAINS) for name, entry in domains.items()},
    )
