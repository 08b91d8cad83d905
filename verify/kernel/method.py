"""A method as data: its rules and measures, read from JSON, and their values on one state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from flint import fmpq

from .expression import Tree, free, parse
from .loss import ZERO, Loss, Vector, combine, dot, norm2
from .rational import Malformed, Node, Rejected

DEPTH, ATOMS = 24, 40
CONSTANT, UNARY, SCALED = ("start", "zero", "w_star"), ("grad", "noisy", "neighbours", "mean", "sampled"), ("*", "prox")
PHASES = ("begin", "local", "end", "update")
State = dict[str, tuple[Vector, ...]]  # of the server's vectors one each, of the clients' vectors one per client


@dataclass(frozen=True, slots=True)
class Rule:
    """An operation on vectors; `factor` is the scalar of "*" and "prox". A name is the operation "name"."""

    op: str
    args: tuple[Rule, ...] = ()
    factor: Tree | None = None
    name: str = ""

    def scalars(self) -> list[Tree]:
        own = [] if self.factor is None else [self.factor]
        return own + [tree for arg in self.args for tree in arg.scalars()]

    def has(self, op: str) -> bool:
        return self.op == op or any(arg.has(op) for arg in self.args)

    def names(self) -> set[str]:
        return {self.name} - {""} | {name for arg in self.args for name in arg.names()}


@dataclass(frozen=True, slots=True)
class Atom:
    """norm2, inner, f, f_i of vectors, f_star, or the mean over the clients of one of them."""

    op: str
    args: tuple[Rule, ...] = ()
    inside: Atom | None = None

    def rules(self) -> tuple[Rule, ...]:
        return self.args if self.inside is None else self.inside.rules()


@dataclass(frozen=True, slots=True)
class Measure:
    at: tuple[str, ...]  # t; t, i; t, k; or t, k, i
    terms: tuple[tuple[Tree, Atom], ...]


@dataclass(frozen=True, slots=True)
class Method:
    id: str
    server: dict[str, Rule]
    client: dict[str, Rule]
    phases: dict[str, dict[str, Rule]]
    measures: dict[str, Measure]
    before: dict[str, str]  # quantity of t -> the one that it was in the round before

    def scalars(self) -> list[Tree]:
        blocks = (self.server, self.client, *self.phases.values())
        trees = [tree for block in blocks for rule in block.values() for tree in rule.scalars()]
        for measure in self.measures.values():
            trees += [tree for factor, atom in measure.terms for tree in (factor, *_inside(atom))]
        return trees

    def needs(self) -> set[tuple[str, int]]:
        """Symbols (with -1) and quantities (with their number of indices) that its rules read."""
        return {name for tree in self.scalars() for name in free(tree, frozenset("tki"))}

    def rules_use(self, op: str) -> bool:
        return any(rule.has(op) for block in self.phases.values() for rule in block.values())

    @property
    def kept(self) -> list[str]:
        """Vectors that the next round still reads: the server's, and of the clients' what `begin` does not replace."""
        return [*self.server, *(name for name in self.client if name not in self.phases["begin"])]


def _inside(atom: Atom) -> list[Tree]:
    return [tree for rule in atom.rules() for tree in rule.scalars()]


def _rule(node: Node, server: set[str], client: set[str], own: bool, depth: int = 0) -> Rule:
    """`own`: whether a client reads it, so that its own vectors and its own loss have a meaning."""
    if not isinstance(node.raw, list):
        name = node.name()
        if name not in server and not (own and name in client):
            raise node.malformed(f"a vector among {sorted(server | client)}, a client's one only inside a mean")
        return Rule("name", name=name)
    head, *rest = node.items() or [node]
    op = head.one_of((*CONSTANT, *UNARY, *SCALED, "+"))
    sizes = {**dict.fromkeys(CONSTANT, 0), **dict.fromkeys(UNARY, 1), **dict.fromkeys(SCALED, 2)}
    if depth > DEPTH or (len(rest) != sizes[op] if op in sizes else not rest):
        raise node.malformed(f"{sizes.get(op, 'one or more')} arguments of {op!r}, nested at most {DEPTH} deep")
    if op in ("grad", "noisy", "neighbours") and not own:
        raise node.malformed(f"{op!r} where a client reads it, or inside a mean")
    factor = parse(rest.pop(0)) if op in SCALED else None
    own = own or op in ("mean", "sampled")
    return Rule(op, tuple(_rule(arg, server, client, own, depth + 1) for arg in rest), factor)


def _atom(node: Node, server: set[str], client: set[str], own: bool) -> Atom:
    head, *rest = node.items() or [node]
    op = head.one_of(("norm2", "inner", "f", "f_i", "f_star", "mean"))
    if len(rest) != {"f_star": 0, "inner": 2}.get(op, 1) or (op == "f_i" and not own):
        raise node.malformed(f"the arguments of {op!r}, and a client's value only at a client")
    if op == "mean":
        return Atom(op, inside=_atom(rest[0], server, client, own=True))
    return Atom(op, tuple(_rule(arg, server, client, own) for arg in rest))


def read(node: Node) -> Method:
    given = node.fields("id server client begin local end update measures", "before")
    starts = {whose: given[whose].mapping() for whose in ("server", "client")}
    server, client = (set(starts[whose]) for whose in ("server", "client"))
    if server & client or not server or "t" in server | client:
        raise node.malformed("vectors of the server and of the clients under different names")
    phases: dict[str, dict[str, Rule]] = {}
    for phase in PHASES:
        rules, whose = given[phase].mapping(), server if phase == "update" else client
        if unknown := set(rules) - whose:
            raise given[phase].malformed(f"rules for vectors among {sorted(whose)}, not for {sorted(unknown)}")
        phases[phase] = {name: _rule(entry, server, client, phase != "update") for name, entry in rules.items()}
    measures: dict[str, Measure] = {}
    for name, entry in given["measures"].mapping().items():
        parts = entry.fields("at terms")
        at = tuple(index.one_of("tki") for index in parts["at"].items())
        terms = [term.items(2) for term in parts["terms"].items()]
        if at not in (("t",), ("t", "i"), ("t", "k"), ("t", "k", "i")) or not 0 < len(terms) <= ATOMS:
            raise entry.malformed("indices t; t, i; t, k; or t, k, i, and some terms")
        measures[name] = Measure(at, tuple((parse(c), _atom(a, server, client, "i" in at)) for c, a in terms))
    method = Method(
        given["id"].identifier(),
        {name: _rule(entry, set(), set(), own=False) for name, entry in starts["server"].items()},
        {name: _rule(entry, server, set(), own=False) for name, entry in starts["client"].items()},
        phases,
        measures,
        {name: entry.name() for name, entry in given["before"].mapping().items()} if "before" in given else {},
    )
    kept = set(method.kept)
    for name, measure in method.measures.items():
        read_names = {x for _, atom in measure.terms for rule in atom.rules() for x in rule.names()}
        if "k" not in measure.at and read_names - kept:
            raise Malformed(f"method.measures.{name}: got {sorted(read_names - kept)}, expected vectors that are kept")
    if any(_noisy_places(rule) > 1 for rule in method.phases["local"].values()) or any(
        method.phases[phase][name].has("noisy") for phase in ("begin", "end", "update") for name in method.phases[phase]
    ):
        raise Malformed("method: got noise outside `local` or twice in a rule, expected one oracle call per local step")
    return method


def _noisy_places(rule: Rule) -> int:
    return (rule.op == "noisy") + sum(_noisy_places(arg) for arg in rule.args)


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Losses f_i, weights p_i, the graph's rows, the start, a minimiser of f where it is known."""

    losses: tuple[Loss, ...]
    p: Vector
    graph: tuple[Vector, ...]
    start: Vector
    w_star: Vector | None
    prox: Callable[[Vector, fmpq], Vector] | None = None

    def value(self, w: Vector) -> fmpq:
        return dot(self.p, [loss.value(w) for loss in self.losses])


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rule is evaluated: a state, the noise of this step per client, who takes part, and the scalars."""

    problem: Problem
    state: State
    kick: Sequence[Vector]
    counts: Sequence[int]  # how often each client was sampled in this round
    scalar: Mapping[Tree, fmpq]

    def vector(self, rule: Rule, i: int) -> Vector:
        """The value of a rule for client i (any i where only the server is read)."""
        problem, d = self.problem, len(self.problem.start)
        match rule.op:
            case "name":
                entries = self.state[rule.name]
                return entries[i if len(entries) > 1 else 0]
            case "start":
                return problem.start
            case "zero":
                return (ZERO,) * d
            case "w_star":
                if problem.w_star is None:
                    raise Malformed("instance: got no w_star, expected the minimiser that a measure reads")
                return problem.w_star
            case "+":
                return combine((fmpq(1),) * len(rule.args), [self.vector(arg, i) for arg in rule.args])
            case "*":
                return combine((self.scalar[_factor(rule)],), (self.vector(rule.args[0], i),))
            case "grad":
                return problem.losses[i].gradient(self.vector(rule.args[0], i))
            case "noisy":
                return combine((fmpq(1), fmpq(1)), (self.vector(rule.args[0], i), self.kick[i]))
            case "mean":
                return combine(problem.p, [self.vector(rule.args[0], j) for j in range(len(problem.p))])
            case "sampled":
                drawn = [fmpq(count, sum(self.counts)) for count in self.counts]
                return combine(drawn, [self.vector(rule.args[0], j) for j in range(len(problem.p))])
            case "neighbours":
                return combine(problem.graph[i], [self.vector(rule.args[0], j) for j in range(len(problem.p))])
            case _:
                if problem.prox is None:
                    raise Malformed("instance: got no regulariser, expected the one that the method's prox reads")
                return problem.prox(self.vector(rule.args[0], i), self.scalar[_factor(rule)])

    def carried(self, rules: Mapping[str, Rule], server: bool) -> State:
        """The state after one phase, at the server or at every client."""
        owners = range(1 if server else len(self.problem.p))
        values = {name: tuple(self.vector(rule, i) for i in owners) for name, rule in rules.items()}
        return self.state | values

    def number(self, atom: Atom, i: int, f_star: fmpq | None) -> fmpq:
        match atom.op:
            case "norm2":
                return norm2(self.vector(atom.args[0], i))
            case "inner":
                return dot(*(self.vector(arg, i) for arg in atom.args))
            case "f":
                return self.problem.value(self.vector(atom.args[0], i))
            case "f_i":
                return self.problem.losses[i].value(self.vector(atom.args[0], i))
            case "mean" if atom.inside is not None:
                inside = atom.inside
                return dot(self.problem.p, [self.number(inside, j, f_star) for j in range(len(self.problem.p))])
            case _:
                if f_star is None:
                    raise Rejected("instance: got no minimiser, expected one, for the claim reads f_star")
                return f_star


def _factor(rule: Rule) -> Tree:
    if rule.factor is None:
        raise Malformed(f"method: got {rule.op!r} without its scalar")
    return rule.factor
