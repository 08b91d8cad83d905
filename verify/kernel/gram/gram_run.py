"""A method read as combinations of leaves: the run of all losses of a class at once, in every dimension.

It follows the rules phase by phase as a replay does (replay.py), with vectors that are sums of leaves. Rules that are
not linear, or that read more of a loss than gradients, values and proximal points, are out of reach. Minibatches are
all of the data; an oracle may answer whatever its accuracy allows, anew for every point that it is asked. Noise, where
there is some, is a fair sign per step, and per client unless it is shared, times a vector of the client (noise.py):
every outcome is followed, with its own gradients.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from flint import fmpq

from ..core.expression import Evaluator, Tree
from ..core.method import NOISE, Atom, Measure, Method, Number, Rule, Weights, rules
from ..core.rational import affordable
from ..losses.draws import STATES
from ..losses.loss import ONE, Vector
from ..runs.replay import BEFORE, first_round
from .form import NOTHING, Form, OutOfReach, Vec, inner, leaf, mixed, number, square, total
from .variables import OF_ALL, Leaves

State = dict[str, tuple[Vec, ...]]  # of the server's vectors one each, of the clients' vectors one per client
Counts = tuple[int, ...]  # how often each client takes part
Outcome = tuple[State, Counts, fmpq]
Kick = tuple[Vec, ...]  # what the noise of a step is, per client and draw; nothing: no noise
START = leaf("start", ONE)
SCENARIOS = 64  # outcomes of all signs


@dataclass(frozen=True, slots=True)
class Extreme:
    """The largest of several numbers ("most"), or the smallest."""

    kind: str
    forms: tuple[Form, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """Where rules and numbers are read: a state, who takes part, and the time."""

    run: Run
    state: State
    counts: Counts
    scope: Mapping[str, int]  # t and k, as scalars read them
    row: int = 0  # of the weights that the point gives
    turn: bool = True  # whether E divides the step
    last: int = 0  # of a measure: the other client
    kick: Kick = ()

    @property
    def clients(self) -> range:
        return range(len(self.counts))

    def scalar(self, tree: Tree | None) -> fmpq:
        return ONE if tree is None else self.run.evaluator.rational(tree, self.scope, "method")

    def weights(self, weights: Weights) -> Vector:
        rows, p = self.run.rows, self.run.leaves.p
        if weights.op == "own" or (weights.op == "in_turn" and not self.turn):
            return p
        if weights.inside is not None:
            return self.weights(weights.inside)
        if weights.op == "chosen" and rows is not None:
            return rows[min(self.row, len(rows) - 1)]
        raise OutOfReach(f"out of reach: weights that depend on the state ({weights.op})")

    def vector(self, rule: Rule, i: int) -> Vec:
        """The value of a rule for client i."""
        leaves = self.run.leaves
        match rule.op:
            case "name":
                entries = self.state[rule.name]
                return entries[i if len(entries) > 1 else 0]
            case "start":
                return START
            case "zero":
                return NOTHING
            case "w_star":
                return leaves.minimised()
            case "w_i_star":
                return leaves.own_minimiser(i)
            case "point":
                return leaf(f"point_{rule.name}", ONE)
            case "mean" | "sampled" | "weighted":
                return self.averaged(rule, [self.vector(rule.args[0], j) for j in self.clients])
            case "neighbours":
                return mixed(self.run.graph[i], [self.vector(rule.args[0], j) for j in self.clients])
            case "other":
                return self.vector(rule.args[0], self.last)
            case "+":
                return mixed([ONE] * len(rule.args), [self.vector(arg, i) for arg in rule.args])
            case "*":
                return mixed([self.scalar(rule.factor)], [self.vector(rule.args[0], i)])
            case "grad":
                return leaves.gradient(i, self.vector(rule.args[0], i))
            case "prox":
                return leaves.prox(self.vector(rule.args[0], i), self.scalar(rule.factor))
            case "oracle":
                asked = i, self.vector(rule.args[0], i), self.scalar(rule.factor)
                error = self.run.errors[self.row, i] = leaves.error(*asked)
                return mixed((ONE, ONE), (leaves.own_prox(*asked), error))
            case "full_prox":
                return leaves.own_prox(OF_ALL, self.vector(rule.args[0], i), self.scalar(rule.factor))
            case "batch_grad":  # of all data
                return leaves.gradient(i, self.vector(rule.args[0], i))
            case "noisy" | "again":
                x = self.vector(rule.args[0], i)
                drawn = i + len(self.counts) * NOISE.index(rule.op)
                return mixed((ONE, ONE), (x, self.kick[drawn])) if self.kick else x
            case _:
                raise OutOfReach(f"out of reach: the operation {rule.op!r}")

    def averaged(self, rule: Rule, each: Sequence[Vec]) -> Vec:
        if rule.weights is not None:
            return mixed(self.weights(rule.weights), each)
        drawn = [fmpq(count, sum(self.counts)) for count in self.counts]
        return mixed(self.run.leaves.p if rule.op == "mean" else drawn, each)

    def number(self, atom: Atom, i: int) -> Form:
        leaves, inside = self.run.leaves, atom.inside
        match atom.op:
            case "norm2":
                return square(self.vector(atom.args[0], i))
            case "inner":
                return inner(*(self.vector(arg, i) for arg in atom.args))
            case "f":
                return leaves.mean_value(self.vector(atom.args[0], i))
            case "f_i":
                return leaves.value(i, self.vector(atom.args[0], i))
            case "F":
                return leaves.total_value(self.vector(atom.args[0], i))
            case "g":
                return leaves.penalty_value(self.vector(atom.args[0], i))
            case "f_star":
                return leaves.total_value(leaves.minimised())
            case "f_i_star":
                return leaves.value(i, leaves.own_minimiser(i))
            case "weight" if atom.weights is not None:
                return number(self.weights(atom.weights)[i])
            case "mean" | "weighted" if inside is not None:
                weights = leaves.p if atom.weights is None else self.weights(atom.weights)
                return total(weights, [self.number(inside, j) for j in self.clients])
            case "ratio" | "smaller":
                over, under = (self.total(terms, i) for terms in atom.numbers)
                if not (over.known and under.known) or (atom.op == "ratio" and not under.constant):
                    raise OutOfReach(f"out of reach: the number {atom.op!r}")
                x, y = over.constant, under.constant
                return number(min(x, y) if atom.op == "smaller" else x / y)
            case _:
                raise OutOfReach(f"out of reach: the number {atom.op!r}")

    def total(self, terms: Number, i: int) -> Form:
        return total([self.scalar(factor) for factor, _ in terms], [self.number(atom, i) for _, atom in terms])

    def carried(self, rules: Mapping[str, Rule], server: bool) -> State:
        """The state after one phase, at the server or at every client."""
        who = [0] if server else self.clients
        return self.state | {name: tuple(self.vector(rule, i) for i in who) for name, rule in rules.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Signs:
    """Noise s v_i with fair signs s."""

    v: tuple[Vec, ...]  # one per client
    shared: bool  # whether all clients have one sign in a step
    steps: tuple[int, ...] | None  # that have noise, counted from 0 over all rounds; None: all

    def kicks(self, draws: int) -> list[Kick]:
        """What the noise of a step may be where every client draws so often; each is as probable as the others."""
        rows = self.v * draws
        if self.shared:
            return [tuple(mixed([sign], [v]) for v in rows) for sign in (ONE, -ONE)]
        affordable(2 ** len(rows), SCENARIOS, "point")
        every = product((ONE, -ONE), repeat=len(rows))
        return [tuple(mixed([sign], [v]) for sign, v in zip(signs, rows, strict=True)) for signs in every]


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    method: Method
    leaves: Leaves
    graph: tuple[Vector, ...]
    rows: tuple[Vector, ...] | None  # chosen weights, one row per round
    draws: Sequence[tuple[Counts, fmpq]]  # of every round, with their probabilities
    E: int
    T: int
    evaluator: Evaluator  # of the scalars that rules and measures read
    noise: Signs | None = None
    errors: dict[tuple[int, int], Vec] = field(default_factory=dict[tuple[int, int], Vec])  # by round and client
    laws: dict[tuple[int, int], list[Outcome]] = field(default_factory=dict[tuple[int, int], list[Outcome]])

    # time

    def length(self, r: int) -> int:
        """Local steps of round r."""
        return (first_round(self.method, self.E) or self.E) if r == 0 else self.E

    def round(self, t: int) -> tuple[int, int]:
        """Where t counts steps: its round, and how many steps of that come before it."""
        r, k = 0, t
        while k >= self.length(r):
            r, k = r + 1, k - self.length(r)
        return r, k

    def clock(self, r: int, k: int) -> tuple[int, int]:
        """The indices t, k of the step of round r before which k are taken, or of its last one."""
        if not self.method.steps:
            return r, k
        return sum(self.length(s) for s in range(r)) + min(max(k, 0), self.length(r) - 1), 0

    def spot(self, state: State, counts: Counts, t: int, k: int, last: int = 0, kick: Kick = ()) -> Spot:
        row, turn = (t // self.E, t % self.E == 0) if self.method.steps else (t, True)
        return Spot(self, state, counts, {"t": self.method.counts_from + t, "k": k}, row, turn, last, kick)

    def kicks(self, read: Iterable[Rule], t: int, k: int) -> list[Kick]:
        """The noise of the step at these indices, where one of these rules reads it."""
        noise, step = self.noise, t if self.method.steps else t * self.E + k
        if noise is None or (noise.steps is not None and step not in noise.steps):
            return [()]
        if not any(rule.has(*NOISE) for rule in read):
            return [()]
        return noise.kicks(2 if self.method.rules_use("again") else 1)

    # rounds

    @property
    def everyone(self) -> Counts:
        return (1,) * len(self.leaves.p)

    def law(self, t: int, k: int) -> list[Outcome]:
        """Before round t (k = -1), or in round t after k local steps."""
        known = next(reversed(self.laws), None)  # all before it are known too
        while (t, k) not in self.laws:
            if known is None:
                known, law = (0, -1), [(self.initial(), self.everyone, ONE)]
            elif known[1] == -1:
                known, law = (known[0], 0), self.begun(known[0])
            elif known[1] < self.length(known[0]):
                known, law = (known[0], known[1] + 1), self.after(self.laws[known], "local", *known)
            else:
                known, law = (known[0] + 1, -1), self.ended(known[0])
            self.laws[known] = law
        return self.laws[t, k]

    def initial(self) -> State:
        method, nobody = self.method, self.spot({}, self.everyone, 0, 0)
        state: State = {name: (nobody.vector(rule, 0),) for name, rule in method.server.items()}
        server = self.spot(state, self.everyone, 0, 0)
        kept = {name: rule for name, rule in method.client.items() if name in method.kept}
        return state | {name: (server.vector(rule, 0),) * len(self.everyone) for name, rule in kept.items()}

    def begun(self, t: int) -> list[Outcome]:
        before = self.laws[t, -1]
        affordable(len(before) * len(self.draws), STATES, "point.participation")
        own = [name for name in self.method.kept if name in self.method.client]
        kept = [(state | {name + BEFORE: state[name] for name in own}, q) for state, _, q in before]
        drawn = [(state, counts, q * chance) for state, q in kept for counts, chance in self.draws]
        return self.after(drawn, "begin", t, 0)

    def ended(self, t: int) -> list[Outcome]:
        """After `end` and `update`. Who was not drawn in round t has what it had before."""
        last, kept = self.laws[t, self.length(t)], self.method.kept
        finished = self.after(last, "end", t, self.E)
        own = [name for name in kept if name in self.method.client]
        restored: list[Outcome] = []
        for state, counts, q in finished:
            old = [(name, zip(state[name], state[name + BEFORE], counts, strict=True)) for name in own]
            restored.append((state | {name: tuple(x if n else y for x, y, n in each) for name, each in old}, counts, q))
        updated = self.after(restored, "update", t, self.E)
        return [({name: state[name] for name in kept}, self.everyone, q) for state, _, q in updated]

    def after(self, law: list[Outcome], phase: str, t: int, k: int) -> list[Outcome]:
        """The law after one phase of round t."""
        block, at = self.method.phases[phase], self.clock(t, k)
        if not block:
            return law
        kicks = self.kicks(block.values(), *at)
        affordable(len(law) * len(kicks), SCENARIOS if self.noise else STATES, "point")
        kicked = ((x, counts, q / len(kicks), kick) for x, counts, q in law for kick in kicks)
        return [(self.spot(x, counts, *at, kick=kick).carried(block, phase == "update"), counts, q)
                for x, counts, q, kick in kicked]  # fmt: skip

    # measures

    def expected(self, law: list[Outcome], terms: Number, i: int, t: int, k: int, last: int = 0) -> Form:
        kicks = self.kicks(rules(terms), t, k)
        spots = [(self.spot(state, counts, t, k, last, kick), q) for state, counts, q in law for kick in kicks]
        return total([q / len(kicks) for _, q in spots], [spot.total(terms, i) for spot, _ in spots])

    def measured(self, name: str, indices: tuple[int, ...]) -> Form | Extreme:
        measure, first = self.method.measures[name], self.method.counts_from
        where = dict(zip(measure.at, indices, strict=True))
        if measure.at == ("T",):  # a round before the last, each with the same probability
            return total([fmpq(1, self.T)] * self.T, [self.picked(measure, t) for t in range(self.T)])
        if measure.law == "picked_step":
            return self.picked(measure, where["t"] - first)
        if measure.extreme:
            each = self.extremes(measure, where)
            if all(form.known for form in each):
                known = [form.constant for form in each]
                return number(min(known) if measure.extreme == "least" else max(known))
            return Extreme(measure.extreme, tuple(each))
        return self.at_place(measure, where)

    def at_place(self, measure: Measure, where: Mapping[str, int]) -> Form:
        first = self.method.counts_from
        t, k, i = where.get("t", first) - first, where.get("k", -1 if "t" in where else 0), where.get("i", 1) - 1
        law = self.law(*self.round(t)) if self.method.steps else self.law(t, k)
        if measure.law:
            return self.about_mean(law, measure, i, t, max(k, 0))
        if "n" in where:
            raise OutOfReach("out of reach: a coordinate")
        factors = [self.evaluator.rational(factor, where, "method.measures") for factor, _ in measure.terms]
        last = where.get("j", 1) - 1
        each = [self.expected(law, ((ONE, atom),), i, t, max(k, 0), last) for _, atom in measure.terms]
        return total(factors, each)

    def picked(self, measure: Measure, t: int) -> Form:
        """The expectation when round t begins, or before any of its steps."""
        if measure.law == "picked":
            return self.expected(self.law(t, -1), measure.terms, 0, t, 0)
        each = [self.expected(self.law(t, k), measure.terms, 0, t, k) for k in range(self.E)]
        return total([fmpq(1, self.E)] * self.E, each)

    def about_mean(self, law: list[Outcome], measure: Measure, i: int, t: int, k: int) -> Form:
        """|E x|^2, or E|x - E x|^2, times its factor."""
        ((factor, atom),) = measure.terms
        spots, q = [self.spot(state, counts, t, k) for state, counts, _ in law], [q for _, _, q in law]
        points = [spot.vector(atom.args[0], i) for spot in spots]
        mean = mixed(q, points)
        around = total(q, [square(mixed((ONE, -ONE), (x, mean))) for x in points])
        return total([spots[0].scalar(factor)], [square(mean) if measure.law == "of_mean" else around])

    def extremes(self, measure: Measure, where: Mapping[str, int]) -> list[Form]:
        """Of every outcome, client and step that an extreme looks at."""
        clients = [where["i"] - 1] if "i" in where else list(range(len(self.leaves.p)))
        if self.method.steps:
            apart = self.E if measure.each_round else 1
            times = [(s, 0, self.law(*self.round(s))) for s in range(0, where.get("t", self.T - 1) + 1, apart)]
        else:
            ends = self.E + 1 if self.method.phases["local"] else 1
            times = [(t, k, self.law(t, k)) for t in range(self.T) for k in range(ends)]
        return [self.expected([(state, counts, ONE)], measure.terms, i, t, k)
                for t, k, law in times for state, counts, _ in law for i in clients]  # fmt: skip
