"""A claim as data: what is assumed, chosen, required and asserted, read from JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from flint import fmpq

from .expression import DOMAINS, Relation, Tree, free, inhabits, parse, parse_relation
from .layers import load
from .method import Method
from .rational import Malformed, Node
from .read_method import read as read_method

Assumption = tuple[str, tuple[str, ...]]
KINDS = ("inequality", "identity", "exists", "order", "experiment")


@dataclass(frozen=True)
class Claim:
    id: str
    kind: str
    setting: str
    let: tuple[Assumption, ...]
    implicit: tuple[Assumption, ...]
    choose: dict[str, tuple[tuple[str, ...], Tree]]  # quantity -> (its indices, its value)
    when: tuple[Relation, ...]
    for_all: dict[str, tuple[Tree, Tree]]  # index -> inclusive range
    then: tuple[Relation, ...]
    domains: dict[str, str]  # of every symbol and quantity that the claim or its world reads
    means: dict[str, tuple[Relation, dict[str, tuple[Tree, Tree]]]]  # assumption -> what it says of the run's measures
    method: object = None  # the method of a run, as data
    form: object = None  # of an order claim: the identity between its left side and a run, as a claim of its own

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        return (*self.let, *self.implicit)

    @cached_property
    def algorithm(self) -> Method:
        """The method of a run, with a meaning for each of its rules."""
        return read_method(Node(self.method, "claim.method"))

    @cached_property
    def needs(self) -> frozenset[tuple[str, int]]:
        """Symbols (with -1) and quantities (with their number of indices) that an instance must give."""
        inside = {name for _, *sides in (*self.when, *self.then) for side in sides for name in free(side)}
        ends = {name for both in self.for_all.values() for end in both for name in free(end)}
        chosen = {name for at, value in self.choose.values() for name in free(value) - {(index, -1) for index in at}}
        for relation, for_all in self.means.values():
            inside |= {name for side in relation[1:] for name in free(side)} - {(index, -1) for index in for_all}
            ends |= {name for both in for_all.values() for end in both for name in free(end)}
        constants = {(arg, -1) for _, args in (*self.let, *self.implicit) for arg in args}
        return frozenset((inside - {(index, -1) for index in self.for_all}) | ends | chosen | constants)

    def number(self, name: str, node: Node, least: int | None = None) -> fmpq:
        """A number that the instance gives, under a name that the claim or its world reads, in its domain."""
        if name not in self.domains:
            raise Malformed(f"{node.where}: got {name!r}, expected names that the claim or its world reads")
        return inhabits(name, node.rational(least), self.domains[name])

    def numbers(self, node: Node, required: str, optional: str = "") -> dict[str, fmpq]:
        """Constants under the names that a world declares, none of them negative."""
        return {name: self.number(name, entry, least=0) for name, entry in node.fields(required, optional).items()}

    def parameters(self, node: Node, taken: set[str]) -> dict[str, fmpq]:
        """Free scalars of an instance, under names of the claim that nothing else gives."""
        entries, needs = node.mapping(), self.needs
        taken = taken | {name for name, arity in needs if arity >= 0 and (name, -1) not in needs}
        if clash := (taken | set(self.for_all)) & set(entries):
            raise Malformed(f"{node.where}: got {sorted(clash)}, expected names that the instance does not give twice")
        return {name: self.number(name, entry) for name, entry in entries.items()}


def _assumptions(node: Node) -> tuple[Assumption, ...]:
    assumptions: list[Assumption] = []
    for entry in node.items():
        name, *args = [part.name() for part in entry.items()] or [""]
        if not name or name in (other for other, _ in assumptions):
            raise entry.malformed("the name of an assumption, once, and its constants")
        assumptions.append((name, tuple(args)))
    return tuple(assumptions)


def _ranges(node: Node) -> dict[str, tuple[Tree, Tree]]:
    ends = {name: entry.items(2) for name, entry in node.mapping().items()}
    return {name: (parse(low), parse(high)) for name, (low, high) in ends.items()}


def _meaning(node: Node) -> tuple[Relation, dict[str, tuple[Tree, Tree]]]:
    fields = node.fields("relation for_all")
    return parse_relation(fields["relation"]), _ranges(fields["for_all"])


def read(node: Node) -> Claim:
    fields = node.fields("id kind setting let implicit choose when for_all then domains", "form means method")
    choose = {name: entry.fields("index value") for name, entry in fields["choose"].mapping().items()}
    ranges = _ranges(fields["for_all"])
    means = fields["means"].mapping() if "means" in fields else {}
    domains = fields["domains"].mapping()
    if "relation" in ranges:
        raise fields["for_all"].malformed("indices with another name than 'relation'")
    claim = Claim(
        id=fields["id"].identifier(),
        kind=fields["kind"].one_of(KINDS),
        setting=fields["setting"].name(),
        let=_assumptions(fields["let"]),
        implicit=_assumptions(fields["implicit"]),
        choose={n: (tuple(x.name() for x in c["index"].items()), parse(c["value"])) for n, c in choose.items()},
        when=tuple(parse_relation(entry) for entry in fields["when"].items()),
        for_all=ranges,
        then=tuple(parse_relation(entry) for entry in fields["then"].items()),
        domains={name: entry.one_of(DOMAINS) for name, entry in domains.items()},
        means={name: _meaning(entry) for name, entry in means.items()},
        method=fields["method"].raw if "method" in fields else None,
    )
    if (claim.setting == "run") != ("method" in fields) or ("means" in fields and "method" not in fields):
        raise node.malformed("a method exactly where the setting is 'run'")
    if "form" in fields:
        claim = replace(claim, form=load("..worlds.closed_form").form_of(claim, fields["form"]))
    if missing := {name for name, _ in claim.needs} - set(domains):
        raise Malformed(f"claim.domains: got none for {sorted(missing)}, expected one for every symbol and quantity")
    return claim
