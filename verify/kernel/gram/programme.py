"""The worst case of a claim at one point: its run as leaves, both sides and all that is assumed as linear forms.

A point gives sizes, weights, step sizes and constants, and no losses, start or dimension. It says whether there is no
noise, or a fair sign times a vector for every client, of any length that the claim allows: then all that is found here
is about noise of that form alone. The worst case is the largest left side over all semidefinite Gram matrices and
unknowns where every constraint is >= 0. What the point leaves open is unknown: values of losses, and constants that the
claim reads as squares alone.

Every constraint holds on every admissible instance at the point, so that a bound proved here holds for all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product

from flint import fmpq

from ..core.assumptions import CURVATURE, of_weights
from ..core.budget import metered
from ..core.claim import Claim
from ..core.claim import read as read_claim
from ..core.expression import Evaluator, Relation, Tree, free
from ..core.loss import ONE, ZERO, Vector
from ..core.method import NOISE, Method, Rule, inside
from ..core.randomness import SAMPLINGS, STATES, Draw, Draws, participation
from ..core.rational import Malformed, Node, Rejected, affordable, shown
from ..core.replay import EveryOutcome, Replay
from ..core.run import Fields, constants, ranges_of, shifted, sizes, steps_of
from ..core.world import World
from ..runs.assumptions import of_graph
from ..runs.coins import tossed
from ..runs.largest_values import rows_of
from .algebra import SCENARIOS, SILENCE, Combinations, Extreme, SignedVectors
from .algebra import Number as Measured
from .form import Form, OutOfReach, UnknownAssumption, Vec, leaf, number, square, total, unknown
from .linear import Amount, Sides
from .variables import Entry, Leaves

OPTIONAL = "parameters steps participation graph weights noise"
WORK = 10_000_000  # operations
SIZE, PLACES = 200, 2_000  # local steps of all clients; points at which an assumption is asked
VARIANCES = ("bounded_variance", "exact_variance", "minibatch_variance", "gradient_variance", "hessian_variance")
STEEPNESS = ("bounded_gradients", "lipschitz", "bounded_subgradients")
NOTHING_MORE = (  # in a run without noise and minibatches that reads what it reads
    *("lower_bounded", "subgradients", "nonnegative_loss", "full_batch"),
    *("independent_minibatches", "exact_oracle"),
)
ONE_CONSTANT = (*CURVATURE, *VARIANCES, *STEEPNESS, "inexact")


@dataclass(frozen=True, slots=True, eq=False)
class Programme:
    leaves: tuple[str, ...]  # of the Gram matrix
    unknowns: tuple[str, ...]
    constraints: Mapping[str, Form]  # each >= 0
    lhs: Form  # the claim is lhs <= rhs
    rhs: Form
    tables: tuple[tuple[Entry, ...], ...]  # of every client
    penalty: tuple[Entry, ...]  # of the regulariser
    mu: tuple[fmpq, ...]  # of every client
    L: tuple[fmpq | None, ...]
    minimised: bool  # whether the origin is w*
    minimisers: tuple[Vec, ...] | None  # of every client, where they are read
    open: Mapping[str, str]  # constant that the point does not give -> the unknown that is its square
    noise: tuple[Vec, ...] | None = None  # of every client, times a sign
    errors: tuple[tuple[Vec, ...], ...] = ()  # of every round and client: by how much its oracle's answer misses
    points: tuple[str, ...] = ()  # that the method reads, and an instance gives


def programme(claim: object, point: object, at: object, most: int = WORK) -> Programme:
    """The programme of a lowered claim; `OutOfReach` with the reason, `Rejected` where the point is not admissible."""
    with metered(most):
        return _programme(read_claim(Node(claim, "claim")), Node(point, "point"), Node(at, "at"))


def _programme(claim: Claim, node: Node, at: Node) -> Programme:
    if claim.setting != "run":
        raise OutOfReach(f"out of reach: a claim about {claim.setting}, not about a run")
    fields = node.fields("C E T p constants", OPTIONAL)
    method = claim.algorithm
    arity(claim)
    C, E, T = (fields[name].integer(1, SIZE) for name in "CET")
    affordable(C * E * T, SIZE, "point")
    p = fields["p"].vector(C)
    graph = tuple(row.vector(C) for row in fields["graph"].items(C)) if "graph" in fields else ()
    if method.rules_use("neighbours") and not graph:
        raise Malformed("point: got no graph, expected one, for the method reads neighbours")
    rows = rows_of(fields.get("weights"), method, C, (T - 1) // E + 1 if method.steps else T)
    world, numbers = numbers_of(fields, claim, method, C, E, T)
    noise = noise_of(claim, method, world, fields.get("noise"), C, E * T)
    accuracy = accuracy_of(claim, method, world)
    leaves = replace(leaves_of(claim, world, p, method.composite), accuracy=accuracy)
    draws = participation(fields.get("participation"), C)
    if draws != [((1,) * C, ONE)] and not method.rules_use("sampled"):
        raise Malformed("point.participation: got sampled clients, expected a method that means over them")
    kind = fields["participation"].kind(SAMPLINGS) if "participation" in fields else ""
    weights = of_weights(p, rows, method.weighs("chosen") and rows is None) | of_graph(p, graph)
    facts = weights | {"full_participation": all(set(counts) == {1} for counts, _ in draws)}
    facts |= {name: name == kind for name in SAMPLINGS}
    facts["independent_noise"] = not noise.shared or C == 1
    algebra, scalar = Combinations(leaves, graph, rows), Evaluator(numbers, claim.domains).rational
    following = EveryOutcome(noise.kicks, noise.none, algebra, SCENARIOS if noise.v else STATES, "point")
    drawn: Draws = [(Draw(counts), chance) for counts, chance in draws]
    drawn = tossed(method, drawn, scalar) if method.reads("coin") else drawn
    replay = Replay(method, algebra, following, drawn, E, T, scalar, where="point")
    spans = {name: tuple((lo, hi) for lo, hi in ends) for name, ends in ranges_of(method, C, 1, E, T).items()}
    sides = Sides(world, claim.domains, measured(replay, spans), arities(method), leaves.gap_of_minima)
    meets(claim, facts)
    lhs, rhs, ties = sides_of(claim, sides, at)
    also_read(replay)
    constraints = {**ties, **conditions(claim, sides), **assumed(claim, sides, leaves, facts, noise)}
    constraints |= {f"answer_{n}": room for n, (_, room) in enumerate(leaves.answers.values())}
    constraints |= steepness(claim, sides, leaves)
    if not classified(claim) and any(len(table) > 1 for table in leaves.tables):
        raise OutOfReach("out of reach: losses whose curvature is not bounded below, read at several points")
    constraints |= {f"{square}_nonnegative": unknown(square) for square in sides.open.values()}
    constraints = distinct(constraints | leaves.interpolation())
    forms = [lhs, rhs, *constraints.values()]
    return Programme(
        tuple(sorted({leaf for form in forms for pair in form.gram for leaf in pair})),
        tuple(sorted({name for form in forms for name in form.linear})),
        constraints,
        lhs,
        rhs,
        tuple(tuple(table.values()) for table in leaves.tables),
        tuple(leaves.penalty.values()),
        (leaves.mu,) * C,
        (leaves.L,) * C,
        any(not entry.x.terms for entry in leaves.tables[0].values()),
        tuple(leaves.least[i] for i in range(C)) if len(leaves.least) == C else None,
        dict(sides.open),
        noise.v or None,
        tuple(tuple(algebra.errors[t, i] for i in range(C)) for t in range(T)) if accuracy and algebra.errors else (),
        points_of(method),
    )


def arity(claim: Claim) -> None:
    """Assumptions that are known here have as many constants as they are known with."""
    for name, args in claim.assumptions:
        constants = 2 if name == "minibatch_variance" else int(name in ONE_CONSTANT)
        has_arity = name in (*ONE_CONSTANT, "convex", "homogeneous", *NOTHING_MORE) and name not in claim.means
        if has_arity and len(args) != constants:
            raise Malformed(f"claim: got {name} of {len(args)} constants, expected {constants}")


def noise_of(claim: Claim, method: Method, world: World, noise: Node | None, C: int, steps: int) -> SignedVectors:
    """No minibatches, and no noise or signs. Where the claim allows some, the point says which runs it is about."""
    if noise is not None and noise.kind(("none", "signs")) == "none":
        noise.fields("kind")
        return SILENCE
    if noise is not None:
        if not method.rules_use("noisy", "again") or method.reads("noisy_hess", "oracle", "batch_grad"):
            raise OutOfReach("out of reach: noise of a method that draws none, or also Hessians or minibatches")
        fields = noise.fields("kind shared", "steps")
        noisy = tuple(n.integer(0, steps - 1) for n in fields["steps"].items()) if "steps" in fields else None
        draws = 2 if method.rules_use("again") else 1
        return SignedVectors(tuple(leaf(f"v{i + 1}") for i in range(C)), fields["shared"].flag(), noisy, draws)
    assumed = {name: args for name, args in claim.assumptions if name not in claim.means}
    silent = any(world.values.get(args[0]) == 0 for name, args in assumed.items() if name in VARIANCES[:-1])
    if method.reads(*NOISE) and not silent:
        raise OutOfReach("out of reach: noise; in reach are runs without it, of a point with the noise of kind none")
    if method.reads("oracle", "batch_grad") and "full_batch" not in assumed:
        raise OutOfReach("out of reach: minibatches; in reach are runs of a point with the noise of kind none")
    return SILENCE


def accuracy_of(claim: Claim, method: Method, world: World) -> fmpq:
    """How far from the least value of a local problem its answer may be."""
    assumed = {name: args for name, args in claim.assumptions if name not in claim.means}
    up_to = [world.values.get(args[0]) for name, args in assumed.items() if name == "inexact"]
    if not method.reads("oracle") or "exact_oracle" in assumed:
        return ZERO
    bounds = [x for x in up_to if x is not None]
    if not bounds:
        raise OutOfReach("out of reach: answers of any accuracy; in reach are points that give it")
    return min(bounds)


def numbers_of(fields: Fields, claim: Claim, method: Method, C: int, E: int, T: int) -> tuple[World, World]:
    """What is known before the run: for the claim, and for the method, which has step sizes of its own."""
    values = sizes(fields, method, 0)
    values.pop("D", None)
    for letter, name in method.names.items():
        if name == "D":
            values.pop(letter, None)
    fields = fields | {"noise": Node({"kind": "none"}, "point.noise")}
    reserved = {"p", *values, "C", "E", "T", "D", "m", "Gamma", *method.measures}
    values |= constants(fields, claim, method, reserved)
    steps = steps_of(fields.get("steps"), claim, method, values, E, T)
    listed = tuple(name for name, entries in steps.items() if len(next(iter(entries))) == 1)
    steps |= shifted(steps, method, {*values, *method.measures, *reserved}, T)
    ranges = {name: tuple((min(n), max(n)) for n in zip(*entries, strict=True)) for name, entries in steps.items()}
    p = fields["p"].vector(C)
    world = World(values, {"p": ((1, C),), **ranges},
                  lambda name, at: p[at[0] - 1] if name == "p" else steps[name][at], listed=listed)  # fmt: skip
    for name, domain in claim.domains.items():
        world.inhabit(name, domain)
    return world, World(values, ranges, lambda name, at: steps[name][at])


def leaves_of(claim: Claim, world: World, p: Vector, composite: bool) -> Leaves:
    """The class of every loss, from what is assumed of all of them."""
    lower, upper = list[fmpq](), list[fmpq]()
    for name, args in claim.assumptions:
        if name in claim.means:
            continue
        if name in CURVATURE:
            c, (low, high) = given_constant(world, args[0]), CURVATURE[name]
            lower += [] if low is None else [low * c]
            upper += [] if high is None else [high * c]
        if name == "convex":
            lower.append(ZERO)
    if not lower:  # then nothing is said of two points, and of one point any class says the same
        return Leaves(p, ZERO, ONE, tuple({} for _ in p), composite)
    mu, L = max(lower), min(upper) if upper else None
    if L is None and min(p) < 0:
        raise OutOfReach("out of reach: weights below 0 of losses without gradients")
    if L is not None and mu >= L:
        raise OutOfReach(f"out of reach: curvatures from {shown(mu)} to {shown(L)}, expected an interval")
    return Leaves(p, mu, L, tuple({} for _ in p), composite)


def classified(claim: Claim) -> bool:
    """Whether curvatures are bounded below."""
    below = ("convex", *(name for name, (low, _) in CURVATURE.items() if low is not None))
    return any(name in below and name not in claim.means for name, _ in claim.assumptions)


def given_constant(world: World, name: str) -> fmpq:
    if name not in world.values:
        raise OutOfReach(f"out of reach: {name} is not given, and the class of the losses depends on it")
    return world.values[name]


def arities(method: Method) -> dict[str, int]:
    return {name: len(measure.at) for name, measure in method.measures.items()}


def measured(
    run: Replay[Vec, Measured], spans: Mapping[str, tuple[tuple[int, int], ...]]
) -> Callable[[str, tuple[int, ...]], Form | Extreme]:
    def value(name: str, indices: tuple[int, ...]) -> Form | Extreme:
        if any(not low <= n <= high for n, (low, high) in zip(indices, spans.get(name, ()), strict=True)):
            raise Rejected(f"claim: got {name}{indices}, expected each index in its range")
        x = run.value(name, indices)
        if isinstance(x, Extreme) and all(form.known for form in x.forms):
            values = [form.constant for form in x.forms]
            return number(min(values) if x.kind == "least" else max(values))
        return x

    return value


def sides_of(claim: Claim, sides: Sides, at: Node) -> tuple[Form, Form, dict[str, Form]]:
    """Both sides of the relation at `at`, the smaller one first, and what ties them to the run."""
    place = at.fields(" ".join(("relation", *claim.for_all)))
    op, left, right = claim.then[place.pop("relation").integer(0, len(claim.then) - 1)]
    if op not in ("<=", "<", ">=", ">"):
        raise OutOfReach(f"out of reach: the relation {op!r}")
    scope: dict[str, int] = {}
    for name, (low, high) in claim.for_all.items():
        scope[name] = place[name].integer(sides.integer(low, {}), sides.integer(high, {}))
    small, large = (left, right) if op in ("<=", "<") else (right, left)
    lhs, below = one_of(sides.value(small, scope), "least")
    rhs, above = one_of(sides.value(large, scope), "most")
    return lhs, rhs, below | above


def one_of(x: Amount, kind: str) -> tuple[Form, dict[str, Form]]:
    """A side, and what is asked besides: the least of several numbers is any number that none of them is below.

    The least one is such a number, so that every run meets what is asked; of the largest ones the same.
    """
    if isinstance(x, Extreme) and x.kind == kind:
        sign = ONE if kind == "least" else -ONE
        return unknown(kind), {
            f"{kind}_{n}": total((sign, -sign), (one, unknown(kind))) for n, one in enumerate(x.forms)
        }
    if not isinstance(x, Form):
        raise OutOfReach("out of reach: a constant that is not squared, or an extreme in a sum or on the wrong side")
    return x, {}


def everywhere(
    sides: Sides, relation: Relation, for_all: Mapping[str, tuple[Tree, Tree]], name: str
) -> dict[str, Form]:
    """What a relation says at every place, by name and place."""
    ranges = [range(sides.integer(low, {}), sides.integer(high, {}) + 1) for low, high in for_all.values()]
    places = list(product(*ranges))
    affordable(len(places), PLACES, name)
    rooms_by_name: dict[str, Form] = {}
    for place in places:
        rooms = sides.rooms(relation, dict(zip(for_all, place, strict=True)))
        rooms_by_name |= {"_".join(map(str, (name, *place, n))): room for n, room in enumerate(rooms)}
    return rooms_by_name


def meets(claim: Claim, facts: Mapping[str, bool]) -> None:
    """What the point itself says: weights, graph and who takes part."""
    for name, _ in claim.assumptions:
        if name not in claim.means and not facts.get(name, True):
            raise Rejected(f"point: got a failure of {name}, expected a point that meets it")


def conditions(claim: Claim, sides: Sides) -> dict[str, Form]:
    rooms_by_name: dict[str, Form] = {}
    for n, condition in enumerate(claim.when):
        named = {name for side in condition[1:] for name, arity in free(side) if arity < 0}
        for_all = {name: ends for name, ends in claim.for_all.items() if name in named}
        rooms_by_name |= everywhere(sides, condition, for_all, f"when{n}")
    return rooms_by_name


def assumed(
    claim: Claim, sides: Sides, leaves: Leaves, facts: Mapping[str, bool], noise: SignedVectors
) -> dict[str, Form]:
    """What the assumptions say, beyond the class. One that is not known here is never dropped."""
    rooms_by_name: dict[str, Form] = {}
    for name, args in claim.assumptions:
        if name in claim.means:
            rooms_by_name |= everywhere(sides, *claim.means[name], name)
        elif name in VARIANCES:
            sigma = given_constant(sides.world, args[0])  # >= 0
            if name == "exact_variance" and sigma != 0:
                raise OutOfReach("out of reach: noise of an exact size")
            points = given_constant(sides.world, args[1]) if name == "minibatch_variance" else ONE
            v = () if name == "hessian_variance" else noise.v
            each = [total((ONE, -points), (number(sigma**2), square(one))) for one in v]
            rooms_by_name |= {f"{name}_{i + 1}": form for i, form in enumerate(each)}
        elif name == "homogeneous":
            rooms_by_name[name] = total([-ONE], [leaves.gap_of_minima()])
        elif name not in (*facts, *CURVATURE, "convex", "inexact", *STEEPNESS, *NOTHING_MORE):
            raise UnknownAssumption(f"out of reach: the assumption {name}")
    return rooms_by_name


def steepness(claim: Claim, sides: Sides, leaves: Leaves) -> dict[str, Form]:
    """Bounds on all gradients or subgradients, at every point that is read: asked when all of them are known."""
    rooms_by_name: dict[str, Form] = {}
    slopes, subgradients = leaves.slopes, leaves.penalty_slopes
    each = {"bounded_gradients": slopes, "lipschitz": slopes, "bounded_subgradients": subgradients}
    for name, args in claim.assumptions:
        if name in each and name not in claim.means:
            bound = sides.form_of_square(args[0])
            rooms_by_name |= {entry: total((ONE, -ONE), (bound, form)) for entry, form in each[name]().items()}
    return rooms_by_name


def points_of(method: Method) -> tuple[str, ...]:
    """Names of the points that the method reads, and that an instance gives."""
    parts = (*method.parts, *inside(*method.server.values(), *method.client.values()))
    return tuple(sorted({part.name for part in parts if isinstance(part, Rule) and part.op == "point"}))


def also_read(replay: Replay[Vec, Measured]) -> None:
    """What every replay reads, whatever the claim says: measures of the whole run, and every answer of an oracle."""
    if replay.method.reads("oracle"):
        replay.law(replay.T, -1)
    for name, measure in replay.method.measures.items():
        if not measure.at:
            try:
                replay.value(name, ())
            except OutOfReach:
                continue


def distinct(constraints: Mapping[str, Form]) -> dict[str, Form]:
    """Each once, without those that say 0 >= 0 or that a number is one."""
    alike: defaultdict[frozenset[object], list[Form]] = defaultdict(list)  # by leaves and unknowns
    kept: dict[str, Form] = {}
    for name, form in constraints.items():
        if form.known and form.constant < 0:
            raise Rejected(f"point: got a failure of {name}, expected a point that meets it")
        same = alike[frozenset({*form.gram, *form.linear})]
        if not form.known and form not in same:
            same.append(form)
            kept[name] = form
    return kept
