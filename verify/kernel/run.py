"""The exact law of a run, and the world of claims about it: any method that is data, on any losses of the table.

Noise is additive (noise.py); `sampled` methods draw their clients anew in every round. All expectations are sums over
weighted states.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import comb, prod

from flint import fmpq

from . import moments
from .claim import Claim
from .expression import Evaluator, Tree, Value, World, free
from .loss import (
    ONE,
    ZERO,
    Loss,
    Matrix,
    Vector,
    combine,
    dot,
    ldl,
    minus,
    norm2,
    piecewise,
    plus,
    quadratic,
    scaled,
    semidefinite,
)
from .method import NOISE, NONE, PICKED, Measure, Method, Number, Oracle, Place, Problem, State, rules, scalars
from .method import read as read_method
from .minimum import lines, lowest, separable
from .moments import Draw
from .noise import Noise
from .noise import read as read_noise
from .rational import Malformed, Node, Rejected, affordable, shown
from .regulariser import read as read_regulariser
from .rotated import mix
from .sample import AnyLoss, samples
from .sample import read as read_sample
from .sample import similar as similar_gradients
from .spline import Curves, curves, hessian_spread, meta_gap, spread, steepest2
from .work import HASH, label, spend, summed

COUNT, POINTS, STATES = 1_000, 100_000, 4_096
SAMPLINGS = ("without_replacement", "with_replacement")
LOSSES = {"quadratic": quadratic, "bent": piecewise, "curves": curves, "sample": read_sample}
LARGE, LONG = 10**9, 10**15  # rounds where a law stands still, where moments say all
RESERVED = ("C", "E", "T", "D", "m", "Gamma")  # what only the run itself may say
BEFORE = " before the round"  # of a client's vector: what it goes back to if the client was not drawn


Weighted = tuple[State, Draw, fmpq]  # a state, what was drawn in this round, its weight


@dataclass(frozen=True, slots=True)
class Law:
    """Weighted states. With `paths`, every outcome and its probability. Otherwise a signed measure with the same mean
    and covariance: where all is affine in the signs, quadratic functions have the same expectation under it.
    """

    states: list[Weighted]
    paths: bool

    def kicked(self, noise: Noise) -> list[tuple[State, Draw, tuple[Vector, ...], fmpq]]:
        """Every state beside the noise of the next step."""
        kicks, none = noise.kicks(), noise.none
        size = (
            len(self.states) * 2 ** len(kicks)
            if self.paths
            else len(self.states) + 3 * len(kicks) * len(self.by_draw())
        )
        affordable(size, STATES, "instance.noise")
        if self.paths:
            signs = [[_signed(kick, sign) for sign in (ONE, -ONE)] for kick in kicks]
            sums = [_added(none, chosen) for chosen in product(*signs)]
            return [(x, draw, kick, q / len(sums)) for x, draw, q in self.states for kick in sums]
        outcomes = [(x, draw, none, q) for x, draw, q in self.states]
        for x, draw, chance in self.by_draw():
            for kick in kicks:
                outcomes.append((x, draw, none, -chance))
                outcomes += [(x, draw, _signed(kick, sign), chance / 2) for sign in (ONE, -ONE)]
        return outcomes

    def by_draw(self) -> list[Weighted]:
        """Of each draw one state (any will do) and the probability of the draw."""
        first: dict[Draw, State] = {}
        chances: defaultdict[Draw, fmpq] = defaultdict(fmpq)
        for state, draw, weight in self.states:
            first.setdefault(draw, state)
            chances[draw] += weight
        return [(state, draw, chances[draw]) for draw, state in first.items()]


def _signed(kick: tuple[Vector, ...], sign: fmpq) -> tuple[Vector, ...]:
    return tuple(scaled(sign, v) for v in kick)


def _added(none: tuple[Vector, ...], kicks: Iterable[tuple[Vector, ...]]) -> tuple[Vector, ...]:
    for kick in kicks:
        none = tuple(plus(*pair) for pair in zip(none, kick, strict=True))
    return none


def merged(states: list[Weighted]) -> list[Weighted]:
    """Equal states put together."""
    weights: defaultdict[tuple[object, ...], fmpq] = defaultdict(fmpq)
    kept: dict[tuple[object, ...], tuple[State, Draw]] = {}
    for state, draw, weight in states:
        key = keyed(state, draw)
        weights[key] += weight
        kept[key] = (state, draw)
    return [(*kept[key], weight) for key, weight in weights.items()]


def keyed(state: State, draw: Draw) -> tuple[object, ...]:
    """What equal states have in common, to look them up by."""
    spend(HASH * sum(len(vectors) * len(vectors[0]) for vectors in state.values()))
    return (draw, *((name, *map(label, vectors)) for name, vectors in state.items()))


def condensed(states: list[Weighted], names: list[str]) -> list[Weighted]:
    """The law of these vectors on few points with the same mean and covariance; the other vectors are forgotten."""
    shapes = [(name, len(states[0][0][name])) for name in names]
    d = len(states[0][0][names[0]][0])
    flat = [(tuple(x for name, _ in shapes for vector in s[name] for x in vector), q) for s, _, q in states]
    affordable(len(flat) * len(flat[0][0]) ** 2, 1_000_000)
    mean = combine([q for _, q in flat], [x for x, _ in flat])
    apart = [(minus(x, mean), q) for x, q in flat]
    rows = range(len(mean))
    parts = ldl([[summed(q * x[r] * x[s] for x, q in apart) for s in rows] for r in rows])
    if parts is None:
        raise ArithmeticError("got an indefinite covariance, expected a semidefinite one")
    points = [(combine((ONE, s), (mean, u)), D / 2) for D, u in parts for s in (ONE, -ONE)]
    points.append((mean, 1 - summed(D for D, _ in parts)))
    draw = states[0][1]
    restored: list[Weighted] = []
    for point, weight in points:
        vectors = [point[n * d : (n + 1) * d] for n in range(len(point) // d)]
        state: State = {}
        for name, size in shapes:
            state[name], vectors = tuple(vectors[:size]), vectors[size:]
        restored.append((state, draw, weight))
    return restored


class Run(World):
    """Quantities: the measures of the method; its step sizes; p."""

    def __init__(
        self, method: Method, problem: Problem, noise: Noise, draws: list[tuple[Draw, fmpq]], claim: Claim
    ) -> None:
        self.method, self.problem, self.noise, self.draws, self.claim = method, problem, noise, draws, claim
        self.known: dict[tuple[str, tuple[int, ...]], Value] = {}
        self.given: dict[str, dict[tuple[int, ...], fmpq]] = {}
        self.extremes: defaultdict[tuple[str, int], list[fmpq]] = defaultdict(list)  # at one client, so far
        self.laws: dict[tuple[int, int], Law] = {}  # (t, -1) before round t, (t, k) after k local steps
        self.f_star: fmpq | None = None
        self.box: tuple[Vector, Vector] | None = None  # that holds the run, if only its moments are followed
        self.followed: moments.Followed | None = None
        self.sampling, self.shared = "", False  # how clients are drawn; whether all draw the same minibatch

    def size(self, E: int, T: int) -> None:
        C, d = len(self.problem.p), len(self.problem.start)
        self.E, self.T = E, T
        self.values = {"C": fmpq(C), "E": fmpq(E), "T": fmpq(T), "D": fmpq(d)}
        first = self.method.counts_from
        spans = {"t": (first, first + T), "k": (0, E), "i": (1, C), "j": (1, C), "n": (1, d), "T": (T, T)}
        rounds = {**spans, "t": (first, first + T - 1)}
        self.ranges = {"p": (spans["i"],)}
        for name, measure in self.method.measures.items():
            if measure.at:
                self.ranges[name] = tuple((rounds if "k" in measure.at else spans)[index] for index in measure.at)
        bent = (
            any(loss.bends or (isinstance(loss, Loss) and loss.curves) for loss in self.problem.losses)
            or not self.problem.g.affine
        )
        extremes = any(measure.extreme for measure in self.method.measures.values())
        curved = self.method.reads("hess", "noisy_hess", "norm")
        self.paths = bent or extremes or curved or self.method.weighs("chosen", "largest")

    def length(self, r: int) -> int:
        """Local steps of round r."""
        return self.method.first if r == 0 and self.method.first else self.E

    def round(self, t: int) -> tuple[int, int]:
        """Where t counts steps: its round, and how many steps of that come before it."""
        if t < self.length(0):
            return 0, t
        r, k = divmod(t - self.length(0), self.E)
        return r + 1, k

    def time(self, r: int, k: int) -> tuple[int, int]:
        """The indices t, k of the step of round r before which k are taken, or of its last one."""
        if not self.method.steps:
            return r, k
        before = 0 if r == 0 else self.length(0) + (r - 1) * self.E
        return before + min(max(k, 0), self.length(r) - 1), 0

    def noise_at(self, t: int, k: int) -> Noise:
        """The noise of the step at these indices."""
        return self.noise.at(t if self.method.steps else t * self.E + k)

    def scalars(self, trees: Iterable[Tree], t: int, k: int) -> dict[Tree, fmpq]:
        """The value of every scalar factor at this place; exact, or the run has no exact replay."""
        values: dict[Tree, fmpq] = {}
        evaluator = Evaluator(self, self.claim.domains)
        for tree in trees:
            x = evaluator.value(tree, {"t": self.method.counts_from + t, "k": k})
            if not isinstance(x, fmpq):
                raise Rejected(f"method: got the irrational factor {shown(x)}, expected rational ones")
            values[tree] = x
        return values

    def place(
        self,
        t: int,
        state: State,
        draw: Draw,
        kick: tuple[Vector, ...],
        scalar: Mapping[Tree, fmpq],
        last: int = 0,
    ) -> Place:
        row, turn = (t // self.E, t % self.E == 0) if self.method.steps else (t, True)
        return Place(self.problem, state, kick, draw.counts, scalar, row, turn, self.f_star, last, draw.batch)

    def carried(self, law: Law, phase: str, t: int, k: int) -> Law:
        """The law after one phase of round t."""
        rules = self.method.phases[phase]
        if not rules:
            return law
        t, k = self.time(t, k)
        scalar = self.scalars((tree for rule in rules.values() for tree in rule.scalars()), t, k)
        if any(rule.has(op) for rule in rules.values() for op in NOISE):
            outcomes = law.kicked(self.noise_at(t, k))
        else:
            outcomes = [(x, draw, self.noise.none, q) for x, draw, q in law.states]
        states = [
            (self.place(t, x, draw, kick, scalar).carried(rules, phase == "update"), draw, q)
            for x, draw, kick, q in outcomes
        ]
        return Law(merged(states) if self.paths else states, self.paths)

    def law(self, t: int, k: int) -> Law:
        """Before round t (k = -1), or in round t after k local steps."""
        if (t, k) in self.laws:
            return self.laws[t, k]
        known = next(reversed(self.laws), None)  # all before it are known too
        everyone = Draw((1,) * len(self.problem.p))
        if known is None:
            self.laws[0, -1] = Law([(self.initial(), everyone, ONE)], self.paths)
            known = (0, -1)
        while known != (t, k):
            law, (s, done) = self.laws[known], known
            if done == -1:
                affordable(len(law.states) * len(self.draws), STATES, "instance.participation")
                drawn = [(self.noted(x), draw, q * chance) for x, _, q in law.states for draw, chance in self.draws]
                known, law = (s, 0), self.carried(Law(drawn, self.paths), "begin", s, 0)
            elif done < self.length(s):
                known, law = (s, done + 1), self.carried(law, "local", s, done)
            else:
                ended = self.carried(law, "end", s, self.E)
                ended = Law([(self.undone(x, draw.counts), draw, q) for x, draw, q in ended.states], self.paths)
                states, kept = self.carried(ended, "update", s, self.E).states, self.method.kept
                entries = sum(len(states[0][0][name]) for name in kept) * len(self.problem.start)
                if not self.paths and len(states) > 2 * entries + 1:  # fewer points with the same moments will do
                    states = condensed(states, kept)
                states: list[Weighted] = [({name: x[name] for name in kept}, everyone, q) for x, _, q in states]
                known, law = (s + 1, -1), Law(merged(states) if self.paths else states, self.paths)
            self.laws[known] = law
        return self.laws[t, k]

    def noted(self, state: State) -> State:
        """Where some clients are not drawn: what they keep, beside what they would compute."""
        if all(all(draw.counts) for draw, _ in self.draws):
            return state
        return state | {name + BEFORE: state[name] for name in self.method.kept if name in self.method.client}

    def undone(self, state: State, counts: tuple[int, ...]) -> State:
        """All clients compute; what is kept counts only for those that were drawn."""
        back = {name.removesuffix(BEFORE): vectors for name, vectors in state.items() if name.endswith(BEFORE)}
        kept = {
            name: tuple(x if count else y for x, y, count in zip(state[name], old, counts, strict=True))
            for name, old in back.items()
        }
        return {name: x for name, x in state.items() if not name.endswith(BEFORE)} | kept

    def initial(self) -> State:
        nobody = self.noise.none
        everyone = (1,) * len(self.problem.p)
        starts = [*self.method.server.values(), *self.method.client.values()]
        scalar = self.scalars((tree for rule in starts for tree in rule.scalars()), 0, 0)
        first = Place(self.problem, {}, nobody, everyone, scalar)
        state: State = {name: (first.vector(rule, 0),) for name, rule in self.method.server.items()}
        second = Place(self.problem, state, nobody, everyone, scalar)
        kept = {name: rule for name, rule in self.method.client.items() if name in self.method.kept}
        return state | {name: (second.vector(rule, 0),) * len(everyone) for name, rule in kept.items()}

    def quantity(self, name: str, indices: tuple[int, ...]) -> Value:
        if name == "p":
            return self.problem.p[indices[0] - 1]
        if name in self.given:
            return self.given[name][indices]
        if (name, indices) in self.known:
            return self.known[name, indices]
        value = self.measured(name, indices)
        if isinstance(value, fmpq):  # a ball has the precision of the moment
            self.known[name, indices] = value
        return value

    def rounds(self) -> Iterator[tuple[int, int]]:
        """Rounds from the first on, and how many of the run are like it: 1, or all that are left of a law at rest."""
        alike = self.method.timeless and self.problem.rows is None and self.noise.steps is None
        settled = max(len(self.problem.oracle.step) - 1, 0) if alike else self.T
        for t in range(self.T):
            before, after = ({keyed(x, draw): q for x, draw, q in self.law(s, -1).states} for s in (t, t + 1))
            rests = t >= settled and before == after
            yield t, self.T - t if rests else 1
            if rests:
                return

    def picked(self, name: str) -> Value:
        """The expectation at a round before the last, each with the same probability; or before any step of it."""
        measure = self.method.measures[name]
        each = (n * self.seen(measure, t) for t, n in self.rounds())
        return summed(each) / self.T

    def seen(self, measure: Measure, t: int) -> fmpq:
        """The expectation when round t begins, or before any of its steps."""
        if measure.law == "picked":
            return self.expected(self.law(t, -1), measure.terms, 0, t, 0)
        return summed(self.expected(self.law(t, k), measure.terms, 0, t, k) for k in range(self.E)) / self.E

    def in_box(self, measure: Measure, t: int, k: int, low: Vector, high: Vector) -> Value:
        """From moments: of a box that no outcome leaves, on which every loss is a quadratic."""
        if measure.law not in ("", *PICKED) or measure.extreme or {*measure.at} & {*"ijn"}:
            raise Rejected("instance.box: got another measure, expected the expectation of what all clients do")
        if self.followed is None:
            if self.method.reads(
                *moments.SOLVED
            ):  # or rejected: no solution of a local problem but the stationary point
                self.law(0, 0)
                self.expected(self.law(0, -1), measure.terms, 0, 0, 0)
            kicks, scalar = self.noise.of_gradients().kicks(), self.scalars(self.method.scalars(), 0, 0)
            boxed = moments.Boxed(self.method, self.problem, self.draws, kicks, scalar, self.noise)
            self.followed = moments.followed(boxed, low, high, self.initial(), self.E, self.T)
        return self.followed.measured(measure, t, k)

    def measured(self, name: str, indices: tuple[int, ...]) -> Value:
        measure = self.method.measures[name]
        where = dict(zip(measure.at, indices, strict=True))
        if self.box is not None and measure.at:  # without an index: of the first round when it has begun
            return self.in_box(measure, where.get("t", 0) - self.method.counts_from, where.get("k", 0), *self.box)
        if measure.at == ("T",):
            return self.picked(name)
        if measure.law == "picked_step":
            return self.seen(measure, where["t"] - self.method.counts_from)
        if measure.extreme and not self.method.steps:
            places = [(t, k) for t, _ in self.rounds() for k in range(self.E + 1 if self.method.phases["local"] else 1)]
            clients = range(len(self.problem.p))
            laws = [(t, k, Law([(x, draw, ONE)], True)) for t, k in places for x, draw, _ in self.law(t, k).states]
            each = [self.expected(law, measure.terms, i, t, k) for t, k, law in laws for i in clients]
            return min(each) if measure.extreme == "least" else max(each)
        if measure.extreme:
            clients = [where["i"] - 1] if "i" in where else list(range(len(self.problem.p)))
            return self.extreme(name, where.get("t", self.T - 1), clients)
        first = self.method.counts_from
        t, k, i = where.get("t", first) - first, where.get("k", -1 if "t" in where else 0), where.get("i", 1) - 1
        last = where.get("j", where.get("n", 1)) - 1
        law, total = self.law(*self.round(t)) if self.method.steps else self.law(t, k), ZERO
        if measure.law:
            return self.about_mean(law, measure, i, t, max(k, 0))
        evaluator = Evaluator(self, self.claim.domains)
        for factor, atom in measure.terms:
            coefficient = evaluator.value(factor, where)
            if not isinstance(coefficient, fmpq):
                raise Rejected(f"method.measures.{name}: got an irrational factor, expected rational ones")
            total += coefficient * self.expected(law, ((ONE, atom),), i, t, max(k, 0), last)
        return total

    def about_mean(self, law: Law, measure: Measure, i: int, t: int, k: int) -> fmpq:
        """|E x|^2, or E|x - E x|^2, times its factor."""
        ((factor, atom),) = measure.terms
        scalar = self.scalars(scalars(measure.terms), t, k)
        none = self.noise.none
        points = [self.place(t, x, draw, none, scalar).vector(atom.args[0], i) for x, draw, _ in law.states]
        weights = [q for _, _, q in law.states]
        mean = combine(weights, points)
        around = dot(weights, [norm2(minus(x, mean)) for x in points])
        return scalar[factor] * (norm2(mean) if measure.law == "of_mean" else around)

    def extreme(self, name: str, t: int, clients: list[int]) -> fmpq:
        """The least or largest value over all outcomes, these clients, and the steps up to t (that E divides)."""
        measure = self.method.measures[name]
        chosen, apart = min if measure.extreme == "least" else max, self.E if measure.each_round else 1
        for i in clients:
            running = self.extremes[name, i]
            for s in range(apart * len(running), t + 1, apart):
                states = [Law([(x, draw, ONE)], True) for x, draw, _ in self.law(*self.round(s)).states]
                running.append(chosen([*running[-1:], *(self.expected(law, measure.terms, i, s, 0) for law in states)]))
        return chosen(self.extremes[name, i][t // apart] for i in clients)

    def expected(self, law: Law, number: Number, i: int, t: int, k: int, last: int = 0) -> fmpq:
        """The expectation of a number over the law, and over the noise of a step where the number has some."""
        scalar = self.scalars(scalars(number), t, k)
        if any(rule.op in NOISE for rule in rules(number)):
            outcomes = law.kicked(self.noise_at(t, k))
        else:
            outcomes = [(x, draw, self.noise.none, q) for x, draw, q in law.states]
        places = ((self.place(t, x, draw, kick, scalar, last), q) for x, draw, kick, q in outcomes)
        return summed(q * place.total(number, i) for place, q in places)

    # assumptions

    def assume(self, name: str, args: tuple[str, ...] = ()) -> None:
        """A relation between measures that the claim gives, at every index; or one of the table."""
        if name == "exact_oracle":
            self.facts[name] = self.inaccuracy() == 0
        if name not in self.claim.means:
            super().assume(name, args)
            return
        relation, for_all = self.claim.means[name]
        evaluator = Evaluator(self, self.claim.domains)
        ends = [[evaluator.integer(end, {}) for end in both] for both in for_all.values()]
        affordable(prod(max(high - low + 1, 0) for low, high in ends), POINTS)
        for point in product(*(range(low, high + 1) for low, high in ends)):
            scope = dict(zip(for_all, point, strict=True))
            if not self.meets(relation, scope, self.claim.domains):
                raise Rejected(f"assumption {name}: got a failure at {scope}, expected an instance that meets it")

    def assumptions(self) -> None:
        f, p, C = self.problem.losses, self.problem.p, len(self.problem.p)
        rows = (p, *(self.problem.rows or ()))
        looks = self.method.weighs("chosen") and self.problem.rows is None  # weights that may be 0
        Gamma = self.values.get("Gamma")
        self.facts = {
            "distribution": summed(p) == 1 and min(p) > 0,
            "positive_weights": min(map(min, rows)) > 0 and (C == 1 or not looks),
            "fedavg_weights": all(row == p for row in rows) and (C == 1 or not looks),
            "homogeneous": Gamma is not None and Gamma == 0,
            "full_participation": all(draw.counts == (1,) * C for draw, _ in self.draws),
            **{kind: kind == self.sampling for kind in SAMPLINGS},
            "weights_sum_to_one": all(summed(row) == 1 for row in rows),
            "nonnegative_weights": min(map(min, rows)) >= 0,
            "similarity_weights": similar(p, self.problem.graph),
            "equal_weights": len(set(p)) == 1 and summed(p) == 1,
            "independent_noise": not self.noise.shared or C == 1 or not self.noise.kicks(),
            "broadcast": bool(self.problem.graph) and all(row == p for row in self.problem.graph),
            "convex": all(loss.above(ZERO) for loss in f),
            "lower_bounded": self.f_star is not None,
        }
        points = samples(f)
        each = [loss for client in points for loss in client.points]
        if points:
            self.facts["nonnegative_loss"] = all(loss.bounded_below() for loss in each)
            self.facts["full_batch"] = all(len(risks) == 1 for risks in self.problem.batches)
            self.facts["independent_minibatches"] = not self.shared or C == 1 or self.facts["full_batch"]
        self.bounds: dict[str, Callable[[fmpq], bool]] = {
            "smooth": lambda L: all(loss.above(-L) and loss.below(L) for loss in f),
            "strongly_convex": lambda mu: all(loss.above(mu) for loss in f),
            "bounded_variance": lambda sigma: all(norm2(v) <= sigma**2 for v in self.noise.v),
            "exact_variance": lambda s: self.noise.steps is None and all(norm2(v) == s**2 for v in self.noise.v),
            "descent": lambda L: all(loss.below(L) for loss in f),
            "two_sided": lambda L: all(loss.above(-L) for loss in f),
            "weakly_convex": lambda nu: all(loss.above(-nu) for loss in f),
            "bounded_subgradients": lambda B: self.problem.g.bounded(B, len(self.problem.start)),
            "mean_strongly_convex": self.strongly_convex,
            "prox_pl": self.prox_pl,
            "gradient_variance": self.noise.bounded,
            "hessian_variance": self.noise.bent_at_most,
            "lipschitz": lambda G: bool(points) and all(loss.lipschitz(G) for loss in each),
            "inexact": lambda eps: self.inaccuracy() <= eps,
            "lgd": lambda B: bool(points) and similar_gradients(points, p, B),
        }
        if (users := alike(f)) is not None:
            even, a, b = (fmpq(1, C),) * C, [user.a for user in users], [user.b for user in users]
            self.facts["bounded_below"] = all(part.rises() for u in users for part in u.parts)
            self.bounds |= {
                "bounded_gradients": lambda B: all((x := steepest2(u.parts)) is not None and x <= B * B for u in users),
                "lipschitz_hessian": lambda rho: all(part.steepness() <= rho for u in users for part in u.parts),
                "similar_gradients": lambda s: spread(users[0].eta, even, a, b) <= s * s,
                "similar_hessians": lambda s: hessian_spread(users[0].eta, even, b) <= s * s,
            }
        self.pairs = {
            "minibatch_variance": lambda sigma, b: all(norm2(v) * b <= sigma**2 for v in self.noise.v),
            "two_groups": lambda mu, G: two_groups(f, self.problem.start, mu, G),
            "meta_gap": lambda Delta, alpha: users is not None and meta_gap(users, self.problem.start, alpha) <= Delta,
        }

    def inaccuracy(self) -> fmpq:
        """How far from optimal the oracle's answers were, at most, in all rounds."""
        if not self.method.rules_use("oracle") or self.box is not None:  # where no answers are given they are exact
            return ZERO
        for _ in self.rounds():
            pass
        return max(self.problem.gaps)

    def strongly_convex(self, mu: fmpq) -> bool:
        """Whether f is."""
        f, p, g = self.problem.losses, self.problem.p, self.problem.g
        if plain := separable(f):
            return all(min(line.curvatures()) >= mu for line in lines(plain, p, g))
        return semidefinite(least_hessian(f, p), 1, -mu)

    def prox_pl(self, mu: fmpq) -> bool:
        """The proximal PL inequality of F: along every coordinate; or f is strongly convex enough; or, of quadratics
        without g, no curvature of f lies between 0 and mu.
        """
        f, p, g = self.problem.losses, self.problem.p, self.problem.g
        if plain := separable(f):
            return all((x := line.lowest()) is not None and line.prox_pl(mu, x) for line in lines(plain, p, g))
        H = least_hessian(f, p)
        square = tuple(tuple(dot(row, other) - mu * row[s] for s, other in enumerate(H)) for row in H)
        plain = g == NONE and not any(loss.bends or (isinstance(loss, Loss) and loss.curves) for loss in f)
        return mu > 0 and (semidefinite(H, 1, -mu) or (plain and semidefinite(H) and semidefinite(square)))


def least_hessian(f: tuple[AnyLoss, ...], p: Vector) -> Matrix:
    """No Hessian of sum_i p_i f_i is smaller."""
    H = [loss.hessian(most=weight < 0) for loss, weight in zip(f, p, strict=True)]
    return tuple(combine(p, [h[r] for h in H]) for r in range(len(H[0])))


def alike(f: tuple[AnyLoss, ...]) -> list[Curves] | None:
    """The curves that all losses consist of, if they differ by a and b alone."""
    users = [loss.curves for loss in f if isinstance(loss, Loss) and isinstance(loss.curves, Curves)]
    same = {(user.base, user.eta, user.turn) for user in users}
    return users if len(users) == len(f) and len(same) == 1 else None


def two_groups(f: tuple[AnyLoss, ...], start: Vector, mu: fmpq, G: fmpq) -> bool:
    """f_i = mu w^2/2 + G w in the first half, mu w^2/4 - G w in the second, odd C: a last f_i = 0.

    The signs of G are the other way round for a start below 0.
    """
    half, force = len(f) // 2, -G if start[0] < 0 else G
    losses = [(mu, -force)] * half + [(mu / 2, force)] * half + [(ZERO, ZERO)] * (len(f) % 2)
    plain = [(loss.A, loss.b, loss.bends, loss.curves) for loss in f if isinstance(loss, Loss)]
    return plain == [(((a,),), (b,), (), None) for a, b in losses]


def similar(p: Vector, graph: tuple[Vector, ...]) -> bool:
    """p_ij = p_i a_ij is symmetric, not negative and zero for i = j; the rows a_i sum to one, and the p_i > 0 do."""
    if not graph or min(p) <= 0 or summed(p) != 1:
        return False
    rows = range(len(p))
    pairs = [[p[i] * graph[i][j] for j in rows] for i in rows]
    symmetric = all(pairs[i][j] == pairs[j][i] >= 0 for i in rows for j in rows)
    return symmetric and not any(pairs[i][i] for i in rows) and all(summed(row) == 1 for row in graph)


def minimised(run: Run, node: Node | None, minimisers: tuple[Vector, ...] | None) -> None:
    """f_star from a minimiser of a convex f, or the best stationary point of a separable one; Gamma from the f_i's.

    Of F = f + g where there is a regulariser.
    """
    problem, p, f, g = run.problem, run.problem.p, run.problem.losses, run.problem.g
    w = problem.w_star
    best = lowest(f, p, g)
    if best is not None:
        run.f_star = problem.value(best) + g.value(best)
        run.problem = problem if w is not None else replace(problem, w_star=best)
    if w is not None and node is not None:
        slope = combine([-x for x in p], [loss.gradient(w) for loss in f])
        convex = run.f_star is None and g.subgradient(w, slope) and semidefinite(least_hessian(f, p))
        if not convex and problem.value(w) + g.value(w) != run.f_star:
            raise Rejected(f"{node.where}: got {shown(w)}, expected a minimiser of a convex f")
        run.f_star = problem.value(w) + g.value(w)
    for i, (loss, x) in enumerate(zip(f, minimisers or (), strict=minimisers is not None)):
        if any(loss.gradient(x)) or not loss.above(ZERO):
            raise Rejected(f"instance.minimisers[{i}]: got {shown(x)}, expected a minimiser of a convex f_{i + 1}")
    if minimisers is not None and run.f_star is not None:
        own = dot(p, [loss.value(x) for loss, x in zip(f, minimisers, strict=True)])
        run.values["Gamma"] = run.f_star - own


def _drawn(
    clients: list[tuple[tuple[int, ...], fmpq]], chances: list[list[fmpq]], shared: bool, where: str
) -> list[tuple[Draw, fmpq]]:
    """Who takes part and what each client draws; independent of one another, or one minibatch for all."""
    if not chances:
        return [(Draw(counts), chance) for counts, chance in clients]
    if shared and any(row != chances[0] for row in chances):
        raise Malformed(f"{where}: got different probabilities, expected the same for all where minibatches are shared")
    if shared:
        batches = [((n,) * len(chances), chance) for n, chance in enumerate(chances[0])]
    else:
        affordable(len(clients) * prod(len(row) for row in chances), STATES, where)
        each = product(*(list(enumerate(row)) for row in chances))
        batches = [(tuple(n for n, _ in one), prod((q for _, q in one), start=ONE)) for one in each]
    return [(Draw(counts, batch), chance * q) for counts, chance in clients for batch, q in batches]


def _oracle(node: Node | None, method: Method, C: int, d: int, T: int) -> Oracle:
    """The instance's answers; exact ones where it gives none."""
    if node is None:
        return Oracle()
    if not method.rules_use("oracle"):
        raise node.malformed("none, for the method asks no oracle")
    given = node.fields("step shift")
    step = tuple(row.vector(C) for row in given["step"].items())
    shift = tuple(
        tuple(tuple(_shift(entry, d) for entry in cell.items()) for cell in row.items(C))
        for row in given["shift"].items(len(step))
    )
    if not 0 < len(step) <= T or not all(cell for row in shift for cell in row):
        raise node.malformed("a row or more of steps and shifts, at most one per round")
    return Oracle(step, shift)


def _shift(node: Node, d: int) -> Vector:
    """A number along a line, a vector otherwise."""
    return node.vector(d) if d > 1 else (node.rational(),)


def _draws(node: Node | None, C: int) -> list[tuple[tuple[int, ...], fmpq]]:
    """Who takes part in a round, with the probability of each outcome."""
    if node is None:
        return [((1,) * C, ONE)]
    given = node.fields("kind m")
    kind, m = given["kind"].one_of(SAMPLINGS), given["m"].integer(1, C)
    if kind == "without_replacement":
        affordable(comb(C, m), STATES, node.where)
        chosen = list(combinations(range(C), m))
        return [(tuple(int(i in s) for i in range(C)), fmpq(1, len(chosen))) for s in chosen]
    affordable(C**m, STATES, node.where)
    chances: defaultdict[tuple[int, ...], fmpq] = defaultdict(fmpq)
    for s in product(range(C), repeat=m):
        chances[tuple(s.count(i) for i in range(C))] += fmpq(1, C**m)
    return list(chances.items())


def read(node: Node, claim: Claim) -> Run:
    given = node.fields(
        "C d E T p w0 constants clients noise",
        "parameters steps w_star minimisers participation graph weights regulariser points minibatch oracle box",
    )
    method = read_method(Node(claim.method, "claim.method"))
    C, d = (given[name].integer(1, COUNT) for name in ("C", "d"))
    long = "box" in given
    E = given["E"].integer(1, LARGE if long else COUNT)
    T = given["T"].integer(1, LONG if long else LARGE if method.brief else COUNT)
    affordable((1 if long else E) * (1 if long or method.brief else T) * C * d * d, POINTS)
    losses = tuple(LOSSES[n.kind(LOSSES)](n, d) for n in given["clients"].items(C))
    noise = read_noise(given["noise"], C, d, T if method.steps else E * T)
    noisy = given["noise"].kind(("none", "signs")) == "signs"
    if noise.steps is not None:
        affordable(E * T * C * d * d, POINTS, given["noise"].where)
    graph = tuple(row.vector(C) for row in given["graph"].items(C)) if "graph" in given else ()
    if method.rules_use("neighbours") and not graph:
        raise Malformed("instance: got no graph, expected one, for the method reads neighbours")
    w_star = given["w_star"].vector(d) if "w_star" in given else None
    minimisers = tuple(x.vector(d) for x in given["minimisers"].items(C)) if "minimisers" in given else None
    rows = _rows(given.get("weights"), method, C, (T - 1) // E + 1 if method.steps else T)
    if method.rules_use("prox") and "regulariser" not in given:
        raise Malformed("instance: got no regulariser, expected the one that the method's prox reads")
    g = read_regulariser(given["regulariser"]) if "regulariser" in given else NONE
    points = {name: x.vector(d) for name, x in given["points"].mapping().items()} if "points" in given else {}
    p, written = given["p"].vector(C), [str(n.raw) for n in given["clients"].items(C)]
    kinds = list(zip(p, written, strict=True))
    alike = () if graph else tuple(kinds.index(kind) for kind in kinds)
    problem = Problem(losses, p, graph, given["w0"].vector(d), w_star, g, points, alike, minimisers, rows)
    clients = _draws(given.get("participation"), C)
    if clients != [((1,) * C, ONE)] and not method.rules_use("sampled"):
        raise Malformed("instance.participation: got sampled clients, expected a method that means over them")
    chances, shared = list[list[fmpq]](), False
    if data := samples(losses):
        minibatch = given["minibatch"].fields("b shared") if "minibatch" in given else {}
        b = minibatch["b"].integer(1, LARGE) if minibatch else 0
        shared = bool(minibatch) and minibatch["shared"].flag()
        drawn = [client.minibatches(b) if b else [(ONE, client.risk)] for client in data]
        chances = [[chance for chance, _ in risks] for risks in drawn]
        risks = {"full_prox": [c.risk for c in data], "training_prox": [c.empirical for c in data]}
        problem = replace(
            problem,
            whole={op: mix(p, each) for op, each in risks.items() if method.reads(op)},
            batches=tuple(tuple(risk for _, risk in risks) for risks in drawn),
            oracle=_oracle(given.get("oracle"), method, C, d, T),
        )
    elif "minibatch" in given or "oracle" in given:
        raise Malformed("instance: got minibatches or an oracle, expected them of clients with data points alone")
    draws = _drawn(clients, chances, shared, "instance.minibatch")
    if noise.h and not method.rules_use("noisy_hess"):
        raise given["noise"].malformed("no noise of Hessians, for the method draws none")
    if method.rules_use("noisy_hess"):
        none = ((ZERO,) * d,) * C
        noise = replace(noise, h=noise.h or none, v=noise.v if method.rules_use("again") else noise.v + none)
    if method.rules_use("again"):
        noise = replace(noise, v=noise.v * 2)
        if noise.shared:
            raise Malformed("instance.noise: got one sign for all, expected independent ones, for a step draws twice")
    run = Run(method, problem, noise, draws, claim)
    run.size(E, T)
    run.shared = shared
    if "box" in given:
        box = given["box"].fields("low high")
        run.box = box["low"].vector(d), box["high"].vector(d)
        if "oracle" in given or method.steps or (data and noisy) or noise.steps is not None:
            raise given["box"].malformed(
                "none, unless there are exact answers, no noise of data points or of a few steps, and rounds"
            )
        if not all(a < b for a, b in zip(*run.box, strict=True)):
            raise Rejected("instance.box: got an empty one, expected low < high")
    if "minibatch" in given:
        run.values["b"] = given["minibatch"].mapping()["b"].rational()
    if "participation" in given:
        run.values["m"] = given["participation"].mapping()["m"].rational()
        run.sampling = given["participation"].kind(SAMPLINGS)
    run.values |= {letter: run.values.pop(name) for letter, name in method.names.items() if name in run.values}
    minimised(run, given.get("w_star"), minimisers)
    run.assumptions()
    constants = given["constants"].mapping()
    if clash := set(constants) & {*RESERVED, *run.values, *run.ranges, *method.measures}:
        raise Malformed(f"instance.constants: got {sorted(clash)}, expected names that the run does not give itself")
    run.values |= {name: claim.number(name, entry, least=0) for name, entry in constants.items()}
    taken = {*run.values, *RESERVED, *method.measures}
    parameters = claim.parameters(given["parameters"], taken) if "parameters" in given else {}
    known = {arg for _, args in (*claim.let, *claim.implicit) for arg in args} | {name for name, _ in method.needs()}
    several = [n for n, x in parameters.items() if claim.domains[n] == "count" and n not in known and x != 1]
    if noisy and several:  # nothing else says what they do to the noise
        raise Rejected(f"instance.parameters: got {several} other than 1, expected batches of one point")
    run.values |= parameters
    _steps(run, given.get("steps"))
    for name, now in method.before.items():
        if name in {*run.values, *run.ranges, *RESERVED} or run.ranges.get(now) != ((0, T - 1),):
            raise Malformed(f"method.before: got {name!r} for {now!r}, expected a new name for a step size per round")
        run.given[name] = {(t,): run.given[now][t - 1,] if t else ZERO for t in range(T)}
        run.ranges[name] = ((0, T - 1),)
    run.values |= {name: _rational(name, run.measured(name, ())) for name, m in method.measures.items() if not m.at}
    if unknown := {name for name, indices in method.needs() if indices < 0} - set(run.values):
        raise Malformed(f"method: got {sorted(unknown)}, expected scalars that the instance gives")
    return run


def _rational(name: str, x: Value) -> fmpq:
    if not isinstance(x, fmpq):
        raise Rejected(f"method.measures.{name}: got the irrational {shown(x)}, expected a rational")
    return x


def _rows(node: Node | None, method: Method, C: int, rounds: int) -> tuple[Vector, ...] | None:
    """The weights that an instance chooses: one row per round, or (None) the clients with the largest values."""
    if method.weighs("chosen") != (node is not None):
        raise Malformed(
            "instance.weights: got both or neither of it and a method whose weights are chosen, expected both"
        )
    if node is None or node.kind(("rows", "largest")) == "largest":
        return None
    return tuple(row.vector(C) for row in node.fields("kind rows")["rows"].items(rounds))


def _steps(run: Run, node: Node | None) -> None:
    """Every quantity that the method's rules read: chosen by the claim, or given by the instance; positive."""
    needed = {name: arity for name, arity in run.method.needs() if arity > 0}
    entries = node.mapping() if node is not None else {}
    if idle := set(run.claim.choose) - set(needed):
        raise Malformed(f"claim.choose: got {sorted(idle)}, expected what the method reads of {sorted(needed)}")
    if set(entries) != set(needed) - set(run.claim.choose):
        raise Malformed(
            f"instance.steps: got {sorted(entries)}, expected what the claim does not choose of {sorted(needed)}"
        )
    evaluator = Evaluator(run, run.claim.domains)
    for name, arity in sorted(needed.items()):
        if arity > (1 if run.method.steps else 2):
            raise Malformed(f"method: got {name!r} with {arity} indices, expected the round, or round and local step")
        rounds = range(run.method.counts_from, run.method.counts_from + run.T)
        places = list(product(rounds, *([range(run.E)] if arity == 2 else [])))
        values: dict[tuple[int, ...], fmpq] = {}
        if name in entries:
            rows = entries[name].items(run.T)
            for place in places:
                row = rows[place[0] - rounds.start]
                cell = row if arity == 1 else row.items(run.E)[place[1]]
                values[place] = cell.rational()
        else:
            names, tree = run.claim.choose[name]
            if len(names) != arity or set(names) & set(run.values) or any(n >= 0 for _, n in free(tree)):
                raise Malformed(
                    f"claim.choose.{name}: got {names}, expected {arity} indices and a value before the run"
                )
            for place in places:
                x = evaluator.value(tree, dict(zip(names, place, strict=True)))
                if not isinstance(x, fmpq):
                    raise Rejected(f"{name}: got the step size {shown(x)}, expected a rational")
                values[place] = x
        if min(values.values()) <= 0:
            raise Rejected(f"{name}: got a step size that is not positive, expected positive ones")
        run.given[name] = values
        run.ranges[name] = ((rounds.start, rounds.stop - 1), (0, run.E - 1))[:arity]
        run.listed = (*run.listed, name) if arity == 1 else run.listed
