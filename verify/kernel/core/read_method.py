"""A method read from JSON: its rules, weights, numbers and measures, each refused where it has no meaning."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from flint import fmpq

from .expression import Tree, free, parse
from .method import HESSIANS, NOISE, PICKED, Atom, Measure, Method, Number, Rule, Weights, rules, scalars
from .rational import Malformed, Node

DEPTH, ATOMS = 24, 40
CONSTANT = ("start", "zero", "w_star", "w_i_star", "axis")
UNARY = ("grad", "batch_grad", "noisy", "again", "neighbours", "mean", "sampled", "other")
SCALED = ("*", "coin", "prox", "oracle", "full_prox", "training_prox")  # proximal points: of g, of a local problem, ...
OWN = ("grad", "batch_grad", "hess", "oracle", *NOISE, "neighbours", "w_i_star")  # where a client reads it
LAST = {"other": "j", "axis": "n"}  # the index that it needs, which only a measure has
PAIRED = (*SCALED, *HESSIANS, "weighted")
VECTOR = {**dict.fromkeys(CONSTANT, 0), **dict.fromkeys(UNARY, 1), **dict.fromkeys(PAIRED, 2)}
WEIGHTS = {"own": 0, "chosen": 1, "largest": 1, "softmax": 2, "in_turn": 1}
ATOM = {"norm": 1, "norm2": 1, "inner": 2, "f": 1, "f_i": 1, "F": 1, "g": 1, "conjugate": 1, "f_star": 0, "f_i_star": 0}
NUMBER = {**ATOM, "mean": 1, "weighted": 2, "weight": 1, "ratio": 2, "smaller": 2}
EXTREMES, LAWS = ("least", "most"), (*PICKED, "of_mean", "around_mean")
PHASES = ("begin", "local", "end", "update")
SIZES = ("C", "m", "E", "T", "D", "t", "k", "i", "j", "n")
RUN = {"C", "m", "E", "T", "D", "b", "p", "Gamma"}  # what the run itself says
AT = [(*t, *end) for t in (("t",), ("t", "k")) for end in ((), ("i",), ("i", "j"), ("n",))]


@dataclass(frozen=True, slots=True)
class Vectors:
    """Names that rules may read. `own`: whether a client reads, so that its vectors and its loss have a meaning."""

    server: Set[str]
    client: Set[str]

    def rule(self, node: Node, own: bool, depth: int = 0) -> Rule:
        if not isinstance(node.raw, list):
            name = node.name()
            if name not in self.server and not (own and name in self.client):
                names = sorted(self.server | self.client)
                raise node.malformed(f"a vector among {names}, a client's one only inside a mean")
            return Rule("name", name=name)
        head, *rest = node.items() or [node]
        op = head.one_of((*VECTOR, "+", "point"))
        if op == "point" and len(rest) == 1:
            return Rule(op, name=rest[0].name())
        if depth > DEPTH or (len(rest) != VECTOR[op] if op in VECTOR else not rest):
            raise node.malformed(f"{VECTOR.get(op, 'one or more')} arguments of {op!r}, nested at most {DEPTH} deep")
        if op in OWN and not own:
            raise node.malformed(f"{op!r} where a client reads it, or inside a mean")
        factor = parse(rest.pop(0)) if op in SCALED else None
        weights = self.weights(rest.pop(0), depth + 1) if op == "weighted" else None
        own = own or op in ("mean", "sampled", "weighted")
        return Rule(op, tuple(self.rule(arg, own, depth + 1) for arg in rest), factor, weights=weights)

    def weights(self, node: Node, depth: int = 0) -> Weights:
        head, *rest = node.items() or [node]
        op = head.one_of(WEIGHTS)
        if depth > DEPTH or not WEIGHTS[op] <= len(rest) <= WEIGHTS[op] + (op == "largest"):
            raise node.malformed(f"the arguments of {op!r}, nested at most {DEPTH} deep")
        if op == "in_turn":
            return Weights(op, inside=self.weights(rest[0], depth + 1))
        by = self.number(rest[0], True, depth + 1) if rest else ()
        return Weights(op, by, parse(rest[1]) if len(rest) > 1 else None)

    def number(self, node: Node, own: bool, depth: int = 0) -> Number:
        terms = [term.items(2) for term in node.items()]
        if not 0 < len(terms) <= ATOMS or depth > DEPTH:
            raise node.malformed(f"at least one term and at most {ATOMS}, nested at most {DEPTH} deep")
        return tuple((parse(factor), self.atom(atom, own, depth + 1)) for factor, atom in terms)

    def atom(self, node: Node, own: bool, depth: int = 0) -> Atom:
        head, *rest = node.items() or [node]
        op = head.one_of(NUMBER)
        if len(rest) != NUMBER[op] or depth > DEPTH or (op in ("f_i", "f_i_star", "weight") and not own):
            raise node.malformed(f"the arguments of {op!r}, and a client's value only at a client")
        weights = self.weights(rest.pop(0), depth + 1) if op in ("weighted", "weight") else None
        if op in ("mean", "weighted"):
            return Atom(op, inside=self.atom(rest[0], True, depth + 1), weights=weights)
        if op in ("ratio", "smaller"):
            return Atom(op, numbers=tuple(self.number(arg, own, depth + 1) for arg in rest))
        return Atom(op, tuple(self.rule(arg, own, depth + 1) for arg in rest), weights=weights)

    def measure(self, node: Node, clocked: bool) -> Measure:
        fields = node.fields("at terms", "over")
        at = tuple(index.one_of("tkijnT") for index in fields["at"].items())
        over, span = fields["over"].items(2) if "over" in fields else (None, None)
        law = over.one_of((*EXTREMES, *LAWS)) if over is not None else ""
        each_round = span is not None and span.one_of(("rounds", "steps")) == "rounds"
        places = [(), ("t",), ("t", "i")] if clocked else [(), ("i",), ("T",), *AT]
        unclocked = law in EXTREMES and not clocked and (at or each_round)
        misplaced = (law in LAWS and clocked) or (at not in PICKED[law] if law in PICKED else at == ("T",))
        if at not in places or unclocked or misplaced or (not at and not law and clocked):
            raise node.malformed(f"indices among {places}, T for a round that is picked, and none for an extreme")
        terms = self.number(fields["terms"], "i" in at or law in EXTREMES)  # which look at every client
        plain = len(terms) == 1 and terms[0][1].op == "norm2" and not any(rule.op in NOISE for rule in rules(terms))
        if law in ("of_mean", "around_mean") and not plain:
            raise node.malformed(f"one norm2 without noise for {law!r}")
        return Measure(at, terms, law if law in EXTREMES else "", law if law in LAWS else "", each_round)


def read(node: Node) -> Method:
    fields = node.fields("id server client begin local end update measures", "clock before counts_from names")
    clocked = "clock" in fields
    starts = {whose: fields[whose].mapping() for whose in ("server", "client")}
    server, client = (set(starts[whose]) for whose in ("server", "client"))
    if server & client or not server or "t" in server | client:
        raise node.malformed("vectors of the server and of the clients under different names")
    every, phases = Vectors(server, client), dict[str, dict[str, Rule]]()
    for phase in PHASES:
        block, whose = fields[phase].mapping(), server if phase == "update" else client
        if unknown := set(block) - whose:
            raise fields[phase].malformed(f"rules for vectors among {sorted(whose)}, not for {sorted(unknown)}")
        phases[phase] = {name: every.rule(entry, phase != "update") for name, entry in block.items()}
    nothing, servers = Vectors(set(), set()), Vectors(server, set())
    method = Method(
        id=fields["id"].identifier(),
        server={name: nothing.rule(entry, own=False) for name, entry in starts["server"].items()},
        client={name: servers.rule(entry, own=False) for name, entry in starts["client"].items()},
        phases=phases,
        measures={name: every.measure(entry, clocked) for name, entry in fields["measures"].mapping().items()},
        steps=clocked,
        first=_first(fields["clock"].fields("first")["first"]) if clocked else fmpq(0),
        counts_from=fields["counts_from"].integer(0, 1) if "counts_from" in fields else 0,
        before={name: n.name() for name, n in fields["before"].mapping().items()} if "before" in fields else {},
        names={name: n.one_of(SIZES) for name, n in fields["names"].mapping().items()} if "names" in fields else {},
    )
    _check_names(method)
    _check_noise(method)
    return method


def _first(node: Node) -> Tree:
    """The length of the first round: a whole number, or a formula of E."""
    tree = parse(node)
    if not free(tree) <= {("E", -1)}:
        raise node.malformed("a whole number, or a formula of E alone")
    return tree


def _check_names(method: Method) -> None:
    """What is forgotten between rounds is not read there; a second index only where there is one; one name for each."""
    if len(set(method.names.values())) < len(method.names):
        raise Malformed(f"method.names: got {sorted(method.names)}, expected one letter for each size")
    if taken := {*RUN, *method.names} & set(method.measures):
        raise Malformed(f"method.measures: got {sorted(taken)}, expected names that the run does not have itself")
    if any(rule.op == "oracle" for measure in method.measures.values() for rule in rules(measure.terms)):
        raise Malformed("method.measures: got an oracle, whose accuracy is that of what rules ask it")
    kept = set(method.kept)
    for name, rule in method.phases["begin"].items():
        if lost := {part.name for part in rule.all() if part.op == "name"} - kept:
            raise Malformed(f"method.begin.{name}: got {sorted(lost)}, expected vectors that are kept between rounds")
    for name, measure in method.measures.items():
        read_names = {rule.name for rule in rules(measure.terms)} - {""}
        between = "t" in measure.at and "k" not in measure.at and not method.steps and measure.law != "picked_step"
        if (between or measure.law == "picked") and read_names - kept:
            raise Malformed(f"method.measures.{name}: got {sorted(read_names - kept)}, expected vectors that are kept")
        if (between or measure.law == "picked") and any(rule.op == "sampled" for rule in rules(measure.terms)):
            raise Malformed(f"method.measures.{name}: got drawn clients between rounds, expected a local step")
        inside_rules = {letter for tree in scalars(*(atom for _, atom in measure.terms)) for letter, _ in free(tree)}
        if inside_rules & {"i", "j", "n"}:
            raise Malformed(f"method.measures.{name}: got a rule that changes with the client, expected a coefficient")
        if any(rule.op in LAST and LAST[rule.op] not in measure.at for rule in rules(measure.terms)):
            raise Malformed(f"method.measures.{name}: got `other` or `axis`, expected a measure at j or at n")
    blocks = (method.server, method.client, *method.phases.values())
    if any(rule.has(*LAST) for block in blocks for rule in block.values()):
        raise Malformed("method: got `other` or `axis` in a rule, expected them in measures alone")


def _check_noise(method: Method) -> None:
    """One call of the oracle per local step: what is read with noise is one thing in a rule of `local`."""
    outside = (method.server, method.client, *(method.phases[phase] for phase in ("begin", "end", "update")))
    several = (
        len({part for part in rule.all() if part.op == op}) > 1
        for rule in method.phases["local"].values()
        for op in NOISE
    )
    if any(several) or any(rule.has(*NOISE) for block in outside for rule in block.values()):
        raise Malformed("method: got noise outside `local` or twice in a rule, expected one oracle call per local step")
    if any(rule.has("coin") for block in outside[:2] for rule in block.values()):
        raise Malformed("method: got a coin where a run starts, expected it in a rule of a round")
    if method.reads("again") and not method.rules_use("again"):
        raise Malformed("method: got a second draw in a measure alone, expected one that a rule reads")
