"""A method as data: its rules and measures, read from JSON, and their values on one state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isqrt
from typing import Any

from flint import fmpq

from .expression import Tree, free, parse
from .loss import ZERO, Loss, Vector, combine, dot, norm2, plus, scaled
from .rational import Malformed, Node, Rejected, shown
from .regulariser import Regulariser
from .rotated import Rotated
from .sample import AnyLoss
from .work import label, paid, spend, summed

DEPTH, ATOMS, FIRST = 24, 40, 1_000
CONSTANT = ("start", "zero", "w_star", "w_i_star", "axis")
UNARY = ("grad", "batch_grad", "noisy", "again", "neighbours", "mean", "sampled", "other")
NOISE = ("noisy", "again", "noisy_hess")  # draws of one step, independent
HESSIANS = ("hess", "noisy_hess")  # at a point, times a vector
WHOLE = ("full_prox", "training_prox")  # proximal points of f, and of the risk of the training sample
SCALED = ("*", "prox", "oracle", *WHOLE)
OWN = ("grad", "batch_grad", "hess", "oracle", *NOISE, "neighbours", "w_i_star")  # where a client reads it
SIZES = ("C", "m", "E", "T", "D", "t", "k", "i", "j", "n")
LAST = {"other": "j", "axis": "n"}  # the index that it needs, which only a measure has
WEIGHTS = {"own": 0, "chosen": 1, "largest": 1, "softmax": 2, "in_turn": 1}
ATOM = {"norm": 1, "norm2": 1, "inner": 2, "f": 1, "f_i": 1, "F": 1, "g": 1, "conjugate": 1, "f_star": 0, "f_i_star": 0}
EXTREMES, LAWS = ("least", "most"), ("picked", "picked_step", "of_mean", "around_mean")
PICKED = {"picked": (("T",),), "picked_step": (("T",), ("t",))}  # where a measure of these laws stands
PHASES = ("begin", "local", "end", "update")
NONE = Regulariser()
State = dict[str, tuple[Vector, ...]]  # of the server's vectors one each, of the clients' vectors one per client


@dataclass(frozen=True, slots=True)
class Rule:
    """An operation on vectors; `factor` is the scalar of "*" and of proximal points. "name" and "point" have a name."""

    op: str
    args: tuple[Rule, ...] = ()
    factor: Tree | None = None
    name: str = ""
    weights: Weights | None = None  # of the operation "weighted"

    def all(self) -> list[Rule]:
        """Itself and every rule inside."""
        weighed = [] if self.weights is None else [rule for number in self.weights.numbers() for rule in rules(number)]
        return [self, *(rule for arg in self.args for rule in arg.all()), *weighed]

    def scalars(self) -> list[Tree]:
        own = [] if self.factor is None else [self.factor]
        inside = [tree for arg in self.args for tree in arg.scalars()]
        return own + inside + ([] if self.weights is None else self.weights.scalars())

    def has(self, op: str) -> bool:
        return any(rule.op == op for rule in self.all())

    def names(self) -> set[str]:
        return {rule.name for rule in self.all() if rule.op == "name"}


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the clients in a mean: what they look at, at every client, and their scalar (k, or a temperature)."""

    op: str
    by: Number = ()
    factor: Tree | None = None
    inside: Weights | None = None

    def numbers(self) -> list[Number]:
        return [self.by, *([] if self.inside is None else self.inside.numbers())]

    def scalars(self) -> list[Tree]:
        own = [] if self.factor is None else [self.factor]
        return own + scalars(self.by) + ([] if self.inside is None else self.inside.scalars())


@dataclass(frozen=True, slots=True)
class Atom:
    """norm2, inner, f, f_i, F, g, conjugate of vectors, f_star, f_i_star, a client's weight; the mean over clients of
    one of these; the ratio of two numbers or the smaller one.
    """

    op: str
    args: tuple[Rule, ...] = ()
    inside: Atom | None = None
    weights: Weights | None = None
    parts: tuple[Number, ...] = ()

    def ops(self) -> list[str]:
        """Its own and those of the atoms inside."""
        return [self.op, *([] if self.inside is None else self.inside.ops())]

    def rules(self) -> list[Rule]:
        inside = [] if self.inside is None else self.inside.rules()
        numbers = [*self.parts, *([] if self.weights is None else self.weights.numbers())]
        return [*(r for arg in self.args for r in arg.all()), *inside, *(r for n in numbers for r in rules(n))]

    def scalars(self) -> list[Tree]:
        own = [tree for arg in self.args for tree in arg.scalars()] + [t for part in self.parts for t in scalars(part)]
        own += [] if self.weights is None else self.weights.scalars()
        return own + ([] if self.inside is None else self.inside.scalars())


Number = tuple[tuple[Tree, Atom], ...]  # a sum of coefficients times atoms


def rules(number: Number) -> list[Rule]:
    return [rule for _, atom in number for rule in atom.rules()]


def scalars(number: Number) -> list[Tree]:
    return [tree for factor, atom in number for tree in (factor, *atom.scalars())]


@dataclass(frozen=True, slots=True)
class Measure:
    at: tuple[str, ...]  # t or t, k; then i, or i and another client j, or a coordinate n; nothing or T: the whole run
    terms: Number
    extreme: str = ""  # "least" or "most" over all outcomes, clients and steps so far; otherwise the expectation
    law: str = ""  # "picked": at any round before the last; "picked_step": before any step of it; "of_mean"
    # and "around_mean": |E x|^2 and E|x - E x|^2
    each_round: bool = False  # of an extreme: over the steps that E divides


@dataclass(frozen=True, slots=True)
class Method:
    id: str
    server: dict[str, Rule]
    client: dict[str, Rule]
    phases: dict[str, dict[str, Rule]]
    measures: dict[str, Measure]
    steps: bool  # whether t counts local steps over all rounds
    first: int  # local steps of the first round; 0: as many as in every round
    counts_from: int  # the number of the first round
    before: dict[str, str]  # quantity of t -> the one that it was in the round before
    names: dict[str, str]  # letter of the claim -> what every run calls it

    def scalars(self) -> list[Tree]:
        blocks = (self.server, self.client, *self.phases.values())
        trees = [tree for block in blocks for rule in block.values() for tree in rule.scalars()]
        return trees + [tree for measure in self.measures.values() for tree in scalars(measure.terms)]

    def weighs(self, *ops: str) -> bool:
        """Whether a rule or a measure uses weights of one of these kinds."""
        found = [rule for block in self.phases.values() for top in block.values() for rule in top.all()]
        weights = [rule.weights for rule in found]
        for measure in self.measures.values():
            weights += [rule.weights for rule in rules(measure.terms)]
            weights += _weights_of(measure.terms)
        return any(w is not None and (w.op in ops or (w.inside is not None and w.inside.op in ops)) for w in weights)

    def needs(self, bound: frozenset[str] = frozenset("tkijn")) -> set[tuple[str, int]]:
        """Symbols (with -1) and quantities (with their number of indices) that its rules read."""
        return {name for tree in self.scalars() for name in free(tree, bound)}

    def rules_use(self, op: str) -> bool:
        return any(rule.has(op) for block in self.phases.values() for rule in block.values())

    def reads(self, *ops: str) -> bool:
        """Whether a rule or a measure contains one of these operations."""
        atoms = [atom for measure in self.measures.values() for _, atom in measure.terms]
        inside = [rule.op in ops for atom in atoms for rule in atom.rules()]
        return any(map(self.rules_use, ops)) or any(inside) or any(set(atom.ops()) & set(ops) for atom in atoms)

    @property
    def brief(self) -> bool:
        """Whether nothing of it is asked for round by round: then a run at rest may be long."""
        return not self.steps and all(measure.at in ((), ("T",)) for measure in self.measures.values())

    @property
    def timeless(self) -> bool:
        """Whether every round has the same rules."""
        return self.brief and self.steady

    @property
    def steady(self) -> bool:
        """Whether no scalar of it changes with the round or the step."""
        return not any(name in ("t", "k") or arity >= 0 for name, arity in self.needs(frozenset()))

    @property
    def kept(self) -> list[str]:
        """Vectors that the next round still reads: the server's, and of the clients' what `begin` does not replace."""
        return [*self.server, *(name for name in self.client if name not in self.phases["begin"])]


def _weights_of(number: Number) -> list[Weights | None]:
    """Of the atoms of a number, at any depth."""
    found: list[Weights | None] = []
    for _, atom in number:
        here: Atom | None = atom
        while here is not None:
            found += [here.weights, *(w for part in here.parts for w in _weights_of(part))]
            here = here.inside
    return found


def _rule(node: Node, server: set[str], client: set[str], own: bool, depth: int = 0) -> Rule:
    """`own`: whether a client reads it, so that its own vectors and its own loss have a meaning."""
    if not isinstance(node.raw, list):
        name = node.name()
        if name not in server and not (own and name in client):
            raise node.malformed(f"a vector among {sorted(server | client)}, a client's one only inside a mean")
        return Rule("name", name=name)
    head, *rest = node.items() or [node]
    op = head.one_of((*CONSTANT, *UNARY, *SCALED, *HESSIANS, "weighted", "+", "point"))
    if op == "point" and len(rest) == 1:
        return Rule(op, name=rest[0].name())
    sizes = {**dict.fromkeys(CONSTANT, 0), **dict.fromkeys(UNARY, 1)}
    sizes |= dict.fromkeys((*SCALED, *HESSIANS, "weighted"), 2)
    if depth > DEPTH or (len(rest) != sizes[op] if op in sizes else not rest):
        raise node.malformed(f"{sizes.get(op, 'one or more')} arguments of {op!r}, nested at most {DEPTH} deep")
    if op in OWN and not own:
        raise node.malformed(f"{op!r} where a client reads it, or inside a mean")
    factor = parse(rest.pop(0)) if op in SCALED else None
    weights = _weights(rest.pop(0), server, client, depth + 1) if op == "weighted" else None
    own = own or op in ("mean", "sampled", "weighted")
    return Rule(op, tuple(_rule(arg, server, client, own, depth + 1) for arg in rest), factor, weights=weights)


def _weights(node: Node, server: set[str], client: set[str], depth: int = 0) -> Weights:
    head, *rest = node.items() or [node]
    op = head.one_of(WEIGHTS)
    if depth > DEPTH or not WEIGHTS[op] <= len(rest) <= WEIGHTS[op] + (op == "largest"):
        raise node.malformed(f"the arguments of {op!r}, nested at most {DEPTH} deep")
    if op == "in_turn":
        return Weights(op, inside=_weights(rest[0], server, client, depth + 1))
    by = _number(rest[0], server, client, own=True, depth=depth + 1) if rest else ()
    return Weights(op, by, parse(rest[1]) if len(rest) > 1 else None)


def _number(node: Node, server: set[str], client: set[str], own: bool, depth: int = 0) -> Number:
    terms = [term.items(2) for term in node.items()]
    if not 0 < len(terms) <= ATOMS or depth > DEPTH:
        raise node.malformed(f"at least one term and at most {ATOMS}, nested at most {DEPTH} deep")
    return tuple((parse(c), _atom(a, server, client, own, depth + 1)) for c, a in terms)


def _atom(node: Node, server: set[str], client: set[str], own: bool, depth: int = 0) -> Atom:
    head, *rest = node.items() or [node]
    sizes = {**ATOM, "mean": 1, "weighted": 2, "weight": 1, "ratio": 2, "smaller": 2}
    op = head.one_of(sizes)
    if len(rest) != sizes[op] or depth > DEPTH or (op in ("f_i", "f_i_star", "weight") and not own):
        raise node.malformed(f"the arguments of {op!r}, and a client's value only at a client")
    weights = _weights(rest.pop(0), server, client, depth + 1) if op in ("weighted", "weight") else None
    if op in ("mean", "weighted"):
        return Atom(op, inside=_atom(rest[0], server, client, own=True, depth=depth + 1), weights=weights)
    if op in ("ratio", "smaller"):
        return Atom(op, parts=tuple(_number(arg, server, client, own, depth + 1) for arg in rest))
    return Atom(op, tuple(_rule(arg, server, client, own, depth + 1) for arg in rest), weights=weights)


def read(node: Node) -> Method:
    given = node.fields("id server client begin local end update measures", "clock before counts_from names")
    first = given["clock"].fields("first")["first"].integer(0, FIRST) if "clock" in given else 0
    starts = {whose: given[whose].mapping() for whose in ("server", "client")}
    server, client = (set(starts[whose]) for whose in ("server", "client"))
    if server & client or not server or "t" in server | client:
        raise node.malformed("vectors of the server and of the clients under different names")
    phases: dict[str, dict[str, Rule]] = {}
    for phase in PHASES:
        block, whose = given[phase].mapping(), server if phase == "update" else client
        if unknown := set(block) - whose:
            raise given[phase].malformed(f"rules for vectors among {sorted(whose)}, not for {sorted(unknown)}")
        phases[phase] = {name: _rule(entry, server, client, phase != "update") for name, entry in block.items()}
    measures: dict[str, Measure] = {}
    ends = ((), ("i",), ("i", "j"), ("n",))
    counted = [(*t, *end) for t in (("t",), ("t", "k")) for end in ends]
    places = [(), ("t",), ("t", "i")] if "clock" in given else [(), ("i",), ("T",), *counted]
    for name, entry in given["measures"].mapping().items():
        parts = entry.fields("at terms", "over")
        at = tuple(index.one_of("tkijnT") for index in parts["at"].items())
        extreme, span = parts["over"].items(2) if "over" in parts else (None, None)
        law = extreme.one_of((*EXTREMES, *LAWS)) if extreme is not None else ""
        each_round = span is not None and span.one_of(("rounds", "steps")) == "rounds"
        unclocked = law in EXTREMES and "clock" not in given and (at or each_round)
        misplaced = (law in LAWS and "clock" in given) or (at not in PICKED[law] if law in PICKED else at == ("T",))
        if at not in places or unclocked or misplaced or (not at and not law and "clock" in given):
            raise entry.malformed(f"indices among {places}, T for a round that is picked, and none for an extreme")
        number = _number(parts["terms"], server, client, "i" in at or law in EXTREMES)  # which look at every client
        if law in ("of_mean", "around_mean") and (
            len(number) != 1 or number[0][1].op != "norm2" or any(rule.op == "noisy" for rule in rules(number))
        ):
            raise entry.malformed(f"one norm2 without noise for {law!r}")
        measures[name] = Measure(at, number, law if law in EXTREMES else "", law if law in LAWS else "", each_round)
    method = Method(
        given["id"].identifier(),
        {name: _rule(entry, set(), set(), own=False) for name, entry in starts["server"].items()},
        {name: _rule(entry, server, set(), own=False) for name, entry in starts["client"].items()},
        phases,
        measures,
        "clock" in given,
        first,
        given["counts_from"].integer(0, 1) if "counts_from" in given else 0,
        {name: entry.name() for name, entry in given["before"].mapping().items()} if "before" in given else {},
        {name: entry.one_of(SIZES) for name, entry in given["names"].mapping().items()} if "names" in given else {},
    )
    kept = set(method.kept)
    for name, rule in phases["begin"].items():
        if lost := rule.names() - kept:
            raise Malformed(f"method.begin.{name}: got {sorted(lost)}, expected vectors that are kept between rounds")
    for name, measure in method.measures.items():
        read_names = {rule.name for rule in rules(measure.terms)} - {""}
        between = "t" in measure.at and "k" not in measure.at and not method.steps and measure.law != "picked_step"
        if (between or measure.law == "picked") and read_names - kept:
            raise Malformed(f"method.measures.{name}: got {sorted(read_names - kept)}, expected vectors that are kept")
        if any(rule.op in LAST and LAST[rule.op] not in measure.at for rule in rules(measure.terms)):
            raise Malformed(f"method.measures.{name}: got `other` or `axis`, expected a measure at j or at n")
    blocks = (method.server, method.client, *phases.values())
    if any(rule.has(op) for block in blocks for rule in block.values() for op in LAST):
        raise Malformed("method: got `other` or `axis` in a rule, expected them in measures alone")
    if any(len(_draws(rule, op)) > 1 for rule in method.phases["local"].values() for op in NOISE) or any(
        method.phases[phase][name].has(op)
        for op in NOISE
        for phase in ("begin", "end", "update")
        for name in method.phases[phase]
    ):
        raise Malformed("method: got noise outside `local` or twice in a rule, expected one oracle call per local step")
    return method


def _draws(rule: Rule, op: str) -> set[Rule]:
    """What is read with noise."""
    return {inside for inside in rule.all() if inside.op == op}


@dataclass(frozen=True, slots=True)
class Oracle:
    """It returns x + step (best - x) + shift; a row per round, the last one for all later rounds; none: exact.

    A row has a step per client, and a shift per client, or per client and minibatch.
    """

    step: tuple[Vector, ...] = ()
    shift: tuple[tuple[tuple[Vector, ...], ...], ...] = ()

    def answer(self, x: Vector, best: Vector, t: int, i: int, batch: int) -> Vector:
        if not self.step:
            return best
        row = min(t, len(self.step) - 1)
        step, shifts = self.step[row][i], self.shift[row][i]
        moved = shifts[min(batch, len(shifts) - 1)]
        return tuple(paid(a + step * (b - a) + c) for a, b, c in zip(x, best, moved, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Losses f_i, weights p_i, the graph's rows, the start, a minimiser of F = f + g if known, g, other points."""

    losses: tuple[AnyLoss, ...]
    p: Vector
    graph: tuple[Vector, ...]
    start: Vector
    w_star: Vector | None
    g: Regulariser = NONE
    points: Mapping[str, Vector] = field(default_factory=dict[str, Vector])
    alike: tuple[int, ...] = ()  # of each client the first one with the same loss and weight; none where it matters who
    minimisers: tuple[Vector, ...] | None = None  # of every f_i
    rows: tuple[Vector, ...] | None = None  # chosen weights, one row per round; None: the largest, as FedMax has it
    whole: Mapping[str, Rotated] = field(default_factory=dict[str, Rotated])  # what the operations of WHOLE are of
    batches: tuple[tuple[Rotated, ...], ...] = ()  # risks of the minibatches that each client may draw
    oracle: Oracle = field(default_factory=lambda: Oracle())
    gaps: list[fmpq] = field(default_factory=list[fmpq])  # how far from optimal the oracle's answers were

    def value(self, w: Vector) -> fmpq:
        """f."""
        return dot(self.p, [loss.value(w) for loss in self.losses])


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rule is evaluated: a state, the noise of this step per client, who takes part, and the scalars."""

    problem: Problem
    state: State
    kick: Sequence[Vector]
    counts: Sequence[int]  # how often each client was sampled in this round
    scalar: Mapping[Tree, fmpq]
    row: int = 0  # of the weights that the instance chooses
    turn: bool = True  # whether E divides the step
    f_star: fmpq | None = None
    last: int = 0  # of a measure: the other client, or the coordinate
    batch: Sequence[int] = ()  # which minibatch each client drew in this round
    means: dict[int, Vector] = field(
        default_factory=dict[int, Vector]
    )  # of rules and weights: the same for all clients
    twins: list[int] = field(default_factory=list[int])

    def each(self, of: Callable[[int], Any]) -> list[Any]:
        """`of` every client; clients alike in the same place have the same value, which is computed once."""
        if not self.twins:
            clients = range(len(self.problem.p))
            own = [vectors for vectors in self.state.values() if len(vectors) > 1]
            first: dict[object, int] = {}
            drawn = [self.counts, *([self.batch] if self.batch else [])]
            alike = self.problem.alike if not self.problem.oracle.step else ()
            keys = [
                (
                    a,
                    *(label(kick) for kick in self.kick[i :: len(self.problem.p)]),
                    *(x[i] for x in drawn),
                    *(label(x[i]) for x in own),
                )
                for i, a in enumerate(alike)
            ]
            self.twins.extend([first.setdefault(key, i) for i, key in enumerate(keys)] or clients)
        values: dict[int, Any] = {}
        for i in self.twins:
            if i not in values:
                values[i] = of(i)
        return [values[i] for i in self.twins]

    def weights(self, weights: Weights) -> Vector:
        """One weight per client."""
        rows, p = self.problem.rows, self.problem.p
        if weights.op == "own" or (weights.op == "in_turn" and not self.turn):
            return p
        if weights.inside is not None:
            return self.weights(weights.inside)
        if weights.op == "chosen" and rows is not None:
            return rows[min(self.row, len(rows) - 1)]
        if weights.op == "softmax":
            raise Rejected(
                "method: got softmax weights, which are irrational; expected weights that are replayed exactly"
            )
        if id(weights) not in self.means:  # the same for all clients
            self.means[id(weights)] = self.largest(weights, [self.total(weights.by, i) for i in range(len(p))])
        return self.means[id(weights)]

    def largest(self, weights: Weights, by: list[fmpq]) -> Vector:
        """Equal weights for the clients of the largest value, or for the first k of them."""
        p = self.problem.p
        spend(len(p))
        if weights.factor is None:
            best = max(by)
            count = by.count(best)
            return tuple(fmpq(x == best, count) for x in by)
        k = self.scalar[weights.factor]
        if k.q != 1 or not 1 <= k <= len(p):
            raise Rejected(f"method: got the first {k} clients, expected a whole number from 1 to {len(p)}")
        first = sorted(range(len(p)), key=lambda i: (-by[i], i))[: int(k.p)]
        return tuple(fmpq(i in first, k.p) for i in range(len(p)))

    def total(self, number: Number, i: int) -> fmpq:
        """The value of a number at client i."""
        return summed(self.scalar[factor] * self.number(atom, i) for factor, atom in number)

    def own_minimiser(self, i: int) -> Vector:
        if self.problem.minimisers is None:
            raise Malformed("instance: got no minimisers, expected those of every f_i, which the method reads")
        return self.problem.minimisers[i]

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
                return plus(*(self.vector(arg, i) for arg in rule.args))
            case "*":
                return scaled(self.scalar[_factor(rule)], self.vector(rule.args[0], i))
            case "grad":
                return problem.losses[i].gradient(self.vector(rule.args[0], i))
            case "hess" | "noisy_hess":
                loss, (x, v) = problem.losses[i], (self.vector(arg, i) for arg in rule.args)
                if not isinstance(loss, Loss):
                    raise Rejected("instance.clients: got data points, expected losses with a Hessian")
                rough = self.kick[i + len(problem.p) * NOISE.index(rule.op)] if rule.op in NOISE else (ZERO,) * d
                return tuple(paid(a + b * c) for a, b, c in zip(loss.bend(x, v), rough, v, strict=True))
            case "batch_grad":
                return self.minibatch(i).gradient(self.vector(rule.args[0], i))
            case "oracle":
                return self.solved(i, self.vector(rule.args[0], i), self.scalar[_factor(rule)])
            case "full_prox" | "training_prox":
                x, rho = self.vector(rule.args[0], i), self.scalar[_factor(rule)]
                if rule.op not in problem.whole or rho <= 0:
                    raise Rejected("instance.clients: got no data points, or rho = 0, expected a proximal point of f")
                return problem.whole[rule.op].prox(x, rho)
            case "noisy" | "again":
                kick = self.kick[i + len(problem.p) * NOISE.index(rule.op)]
                return plus(self.vector(rule.args[0], i), kick)
            case "w_i_star":
                return self.own_minimiser(i)
            case "mean" | "sampled" | "weighted":
                if id(rule) not in self.means:
                    drawn = [fmpq(count, sum(self.counts)) for count in self.counts]
                    shares = problem.p if rule.op == "mean" else drawn
                    shares = shares if rule.weights is None else self.weights(rule.weights)
                    self.means[id(rule)] = combine(shares, self.each(lambda j: self.vector(rule.args[0], j)))
                return self.means[id(rule)]
            case "other":
                return self.vector(rule.args[0], self.last)
            case "axis":
                return tuple(fmpq(r == self.last) for r in range(d))
            case "neighbours":
                return combine(problem.graph[i], [self.vector(rule.args[0], j) for j in range(len(problem.p))])
            case "point":
                if rule.name not in problem.points:
                    raise Malformed(f"instance.points: got none named {rule.name!r}, expected one")
                return problem.points[rule.name]
            case _:
                step = self.scalar[_factor(rule)]
                if step < 0:
                    raise Rejected(f"method: got prox with the step {shown(step)}, expected none below 0")
                return problem.g.prox(self.vector(rule.args[0], i), step)

    def minibatch(self, i: int) -> Rotated:
        """The risk of what client i drew."""
        if not self.batch:
            raise Rejected("instance.clients: got no data points, expected some to draw from")
        return self.problem.batches[i][self.batch[i]]

    def solved(self, i: int, x: Vector, eta: fmpq) -> Vector:
        """What the oracle of client i returns for its minibatch's risk + |. - x|^2/(2 eta)."""
        risk = self.minibatch(i)
        if eta <= 0:
            raise Rejected(f"method: got the step {shown(eta)} of a local problem, expected a positive one")
        best, local = risk.prox(x, eta), risk.plus(1 / eta, x)
        answer = self.problem.oracle.answer(x, best, self.row, i, self.batch[i])
        self.problem.gaps.append(local.value(answer) - local.value(best))
        return answer

    def carried(self, rules: Mapping[str, Rule], server: bool) -> State:
        """The state after one phase, at the server or at every client."""
        if server:
            return self.state | {name: (self.vector(rule, 0),) for name, rule in rules.items()}
        return self.state | {name: tuple(self.each(partial(self.vector, rule))) for name, rule in rules.items()}

    def number(self, atom: Atom, i: int) -> fmpq:
        problem, inside = self.problem, atom.inside
        match atom.op:
            case "norm2":
                return norm2(self.vector(atom.args[0], i))
            case "norm":
                return length(self.vector(atom.args[0], i))
            case "inner":
                return dot(*(self.vector(arg, i) for arg in atom.args))
            case "f":
                return problem.value(self.vector(atom.args[0], i))
            case "f_i":
                return problem.losses[i].value(self.vector(atom.args[0], i))
            case "F" | "g":
                x = self.vector(atom.args[0], i)
                return problem.g.value(x) + (problem.value(x) if atom.op == "F" else 0)
            case "conjugate":
                value = problem.g.conjugate(self.vector(atom.args[0], i))
                if value is None:
                    raise Rejected("claim: got a conjugate of g that is infinite, expected finite values")
                return value
            case "f_i_star":
                return problem.losses[i].value(self.own_minimiser(i))
            case "weight" if atom.weights is not None:
                return self.weights(atom.weights)[i]
            case "mean" | "weighted" if inside is not None:
                weights = problem.p if atom.weights is None else self.weights(atom.weights)
                return dot(weights, self.each(lambda j: self.number(inside, j)))
            case "ratio" | "smaller":
                x, y = (self.total(part, i) for part in atom.parts)
                if atom.op == "ratio" and not y:
                    raise Rejected("method: got a ratio over 0, expected another value below")
                return min(x, y) if atom.op == "smaller" else x / y
            case _:
                if self.f_star is None:
                    raise Rejected("instance: got no minimiser, expected one, for the claim reads f_star")
                return self.f_star


def length(x: Vector) -> fmpq:
    """|x|, where that is rational."""
    square = norm2(x)
    p, q = isqrt(int(square.p)), isqrt(int(square.q))
    if (p * p, q * q) != (square.p, square.q):
        raise Rejected("claim: got a vector of irrational length, expected rational lengths")
    return fmpq(p, q)


def _factor(rule: Rule) -> Tree:
    if rule.factor is None:
        raise Malformed(f"method: got {rule.op!r} without its scalar")
    return rule.factor
