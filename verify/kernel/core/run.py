"""The world of claims about a run: any method that is data, on explicit losses.

An instance gives a problem, noise, what is drawn, constants and step sizes. Quantities are the measures of the method,
its step sizes, and p.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from pkgutil import iter_modules
from typing import Protocol

from flint import arb, fmpq

from .assumptions import assumptions
from .claim import Claim
from .expression import Evaluator, Tree, Value, free
from .layers import load
from .loss import ONE, ZERO, ClientLoss, Loss, Vector, quadratic
from .method import BENT, Method
from .problem import Problem, ball_or_rational, minimised
from .randomness import SAMPLINGS, Draw, Draws, participation, read_noise
from .rational import Malformed, Node, Rejected, affordable, shown
from .replay import EveryOutcome, Following, Indices, Replay
from .world import Ranges, Reader, World, tabled

COUNT, POINTS = 1_000, 100_000
LARGE, LONG = 10**9, 10**15  # rounds where a law stands still, where moments say all
KINDS = Path(__file__).parents[1] / "losses" / "kinds"  # of further losses: a module for each, called like it
LOSSES = ("quadratic", *(module.name for module in iter_modules([str(KINDS)])))
RESERVED = {"C", "E", "T", "D", "m", "Gamma"}  # what only the run itself may say
OPTIONAL = "parameters steps w_star minimisers participation graph weights regulariser points minibatch oracle box"
DATA = ("minibatch", "oracle")  # fields of clients with data points
Fields = dict[str, Node]
Steps = dict[str, dict[tuple[int, ...], fmpq]]  # of every quantity that the rules read, its value at every place


class Measuring(Protocol):
    """The measures of a run, from a replay, or from its moments (runs/moments.py)."""

    def value(self, name: str, indices: Indices) -> Value: ...


def read(node: Node, claim: Claim) -> World:
    fields = node.fields("C d E T p w0 constants clients noise", OPTIONAL)
    method = claim.algorithm
    C, d = (fields[name].integer(1, COUNT) for name in ("C", "d"))
    long = "box" in fields
    E = fields["E"].integer(1, LARGE if long else COUNT)
    T = fields["T"].integer(1, LONG if long else LARGE if method.brief else COUNT)
    affordable((1 if long else E) * (1 if long or method.brief else T) * C * d * d, POINTS)
    problem = problem_of(fields, method, C, d, (T - 1) // E + 1 if method.steps else T)
    noise = read_noise(fields["noise"], method, C, d, T if method.steps else E * T)
    if noise.steps is not None:
        affordable(E * T * C * d * d, POINTS, fields["noise"].where)
    problem, draws = drawing(fields, method, claim, problem, T)
    problem = minimised(problem)
    values, Gamma = sizes(fields, method, d), problem.Gamma()
    if Gamma is None and problem.minimisers is not None and ("Gamma", -1) in claim.needs:
        raise Rejected("instance.clients: got no least value of f, expected one where the claim reads Gamma")
    values |= {} if Gamma is None else {"Gamma": Gamma}
    values |= constants(fields, claim, method, {"p", *values, *RESERVED, *method.measures})
    ranges = ranges_of(method, C, d, E, T)
    before_run, taken = dict(values), {*values, *ranges, *RESERVED}

    def stepped() -> Steps:
        steps = steps_of(fields.get("steps"), claim, method, before_run, E, T)
        return steps | shifted(steps, method, taken, T)

    first = stepped()
    ranges |= {name: tuple((min(n), max(n)) for n in zip(*places, strict=True)) for name, places in first.items()}
    listed = tuple(name for name in first if name not in method.before and len(ranges[name]) == 1)
    irrational = any(isinstance(x, arb) for places in first.values() for x in places.values())
    steps: Callable[[], Steps] = lambda: first  # noqa: E731
    if irrational:
        balls = load("..runs.irrational_steps")
        balls.refuse(method, problem, long)
        steps = balls.by_precision(stepped)
    evaluator = Evaluator(World(values, ranges, lambda name, at: steps()[name][at]), claim.domains)

    def scalar(tree: Tree, at: Mapping[str, int], where: str) -> fmpq:
        return ball_or_rational(evaluator.value(tree, at)) if irrational else evaluator.rational(tree, at, where)

    draws = load("..runs.coins").tossed(method, draws, scalar) if method.reads("coin") else draws
    following: Following[Vector] = EveryOutcome(noise.kicks, noise.none, problem)
    if straight(problem, method) and (noise.kicks() or len(draws) > 1):  # a few points say as much as every outcome
        following = load("..runs.mean_covariance").MeanAndCovariance(noise, shortens=not irrational)
    settled = load("..runs.rest").settled(method, problem, noise) if method.brief else None

    def replayed() -> Replay[Vector, fmpq]:
        return Replay(method, problem, following, draws, E, T, scalar, settled)

    replay = replayed()
    run: Callable[[], Measuring] = lambda: replay  # noqa: E731
    if irrational:
        run = load("..runs.irrational_steps").by_precision(replayed)
    if long:
        boxed = load("..runs.moments").boxed(fields, replay, problem, noise)
        run = lambda: boxed  # noqa: E731
    values |= {name: _rational(name, run().value(name, ())) for name, m in method.measures.items() if not m.at}
    if unknown := {name for name, indices in method.needs if indices < 0} - set(values):
        raise Malformed(f"method: got {sorted(unknown)}, expected scalars that the instance gives")

    def quantity(name: str, indices: tuple[int, ...]) -> Value:
        if name == "p":
            return problem.p[indices[0] - 1]
        chosen = steps()
        return chosen[name][indices] if name in chosen else run().value(name, indices)

    kind = fields["participation"].kind(SAMPLINGS) if "participation" in fields else ""
    facts, bounds, pairs = assumptions(problem, method, noise, draws, kind, Gamma)
    decided, plain = {*facts, *bounds, *pairs}, all(isinstance(f, Loss) for f in problem.losses)
    if not plain or any(name not in decided and name not in claim.means for name, _ in claim.assumptions):
        more = load("..runs.assumptions").assumptions(problem, replay, noise, long)
        facts, bounds, pairs = {**facts, **more[0]}, {**bounds, **more[1]}, {**pairs, **more[2]}
    return World(values, ranges, quantity, facts, bounds, pairs, listed)


def read_loss(node: Node, d: int) -> ClientLoss:
    kind = node.kind(LOSSES)
    return quadratic(node, d) if kind == "quadratic" else load(f"..losses.kinds.{kind}").read(node, d)


def straight(problem: Problem, method: Method) -> bool:
    """Whether every rule and measure is, in the signs of the noise, affine or a quadratic function."""
    bent = method.reads(*BENT) or method.weighs("chosen", "largest")
    extremes = any(measure.extreme for measure in method.measures.values())
    affine = problem.g is None or problem.g.affine
    return all(loss.straight for loss in problem.losses) and affine and not bent and not extremes


def problem_of(fields: Fields, method: Method, C: int, d: int, rounds: int) -> Problem:
    losses = tuple(read_loss(n, d) for n in fields["clients"].items(C))
    graph = tuple(row.vector(C) for row in fields["graph"].items(C)) if "graph" in fields else ()
    if method.rules_use("neighbours") and not graph:
        raise Malformed("instance: got no graph, expected one, for the method reads neighbours")
    if method.rules_use("prox") and "regulariser" not in fields:
        raise Malformed("instance: got no regulariser, expected the one that the method's prox reads")
    if "regulariser" in fields and not method.composite:  # it would move w* and f* alone
        raise fields["regulariser"].malformed("none, for neither the method nor its measures read it")
    minimisers = tuple(x.vector(d) for x in fields["minimisers"].items(C)) if "minimisers" in fields else None
    chosen = "weights" in fields or method.weighs("chosen")
    rows = load("..runs.largest_values").rows_of(fields.get("weights"), method, C, rounds) if chosen else None
    return Problem(
        losses=losses,
        p=fields["p"].vector(C),
        graph=graph,
        start=fields["w0"].vector(d),
        w_star=fields["w_star"].vector(d) if "w_star" in fields else None,
        g=load("..losses.regulariser").read(fields["regulariser"], d) if "regulariser" in fields else None,
        points={name: x.vector(d) for name, x in fields["points"].mapping().items()} if "points" in fields else {},
        minimisers=minimisers,
        rows=rows,
    )


def drawing(fields: Fields, method: Method, claim: Claim, problem: Problem, T: int) -> tuple[Problem, Draws]:
    """What a round draws: who takes part, and, of clients with data points, with which minibatch."""
    clients = participation(fields.get("participation"), len(problem.p))
    if clients != [((1,) * len(problem.p), ONE)] and not method.rules_use("sampled"):
        raise Malformed("instance.participation: got sampled clients, expected a method that means over them")
    kinds = {n.kind(LOSSES) for n in fields["clients"].items()}
    if not kinds & {"sample", "table"} and not {*DATA} & set(fields):
        return problem, [(Draw(counts), chance) for counts, chance in clients]
    return load("..runs.data").drawing(fields, method, claim, problem, clients, T)


def noisy(fields: Fields) -> bool:
    return fields["noise"].kind(("none", "signs")) == "signs"


def sizes(fields: Fields, method: Method, d: int) -> dict[str, fmpq]:
    """What the run itself says, under the claim's letters."""
    values = {"D": fmpq(d), **{name: fields[name].rational() for name in ("C", "E", "T")}}
    for name, part in (("b", "minibatch"), ("m", "participation")):
        values |= {name: fields[part].mapping()[name].rational()} if part in fields else {}
    return values | {letter: values.pop(name) for letter, name in method.names.items() if name in values}


def constants(fields: Fields, claim: Claim, method: Method, taken: set[str]) -> dict[str, fmpq]:
    """Constants, which are not negative, and free parameters of the claim, under names that nothing else gives."""
    entries = fields["constants"].mapping()
    if clash := set(entries) & taken:
        raise Malformed(f"instance.constants: got {sorted(clash)}, expected names that the run does not give itself")
    values = {name: claim.number(name, entry, least=0) for name, entry in entries.items()}
    free = claim.parameters(fields["parameters"], taken - {"p"} | set(values)) if "parameters" in fields else {}
    named = {arg for _, args in claim.assumptions for arg in args} | {name for name, _ in method.needs}
    several = [n for n, x in free.items() if claim.domains[n] == "count" and n not in named and x != 1]
    if noisy(fields) and several:  # nothing else says what they do to the noise
        raise Rejected(f"instance.parameters: got {several} other than 1, expected batches of one point")
    return values | free


def ranges_of(method: Method, C: int, d: int, E: int, T: int) -> Ranges:
    """The ranges of the indices of p and of every measure; inside a round, the last one is over."""
    first = method.counts_from
    spans = {"t": (first, first + T), "k": (0, E), "i": (1, C), "j": (1, C), "n": (1, d), "T": (T, T)}
    rounds = {**spans, "t": (first, first + T - 1)}
    indexed = {name: measure.at for name, measure in method.measures.items() if measure.at}
    ranges = {name: tuple((rounds if "k" in at else spans)[index] for index in at) for name, at in indexed.items()}
    return {"p": (spans["i"],), **ranges}


def steps_of(node: Node | None, claim: Claim, method: Method, values: dict[str, fmpq], E: int, T: int) -> Steps:
    """Every quantity that the method's rules read: chosen by the claim, or given by the instance; positive."""
    needed = {name: arity for name, arity in method.needs if arity > 0}
    entries = node.mapping() if node is not None else {}
    if taken := set(needed) & {"p", *method.measures}:
        raise Malformed(f"method: got {sorted(taken)} in its rules, expected names that are no measures")
    if idle := set(claim.choose) - set(needed):
        raise Malformed(f"claim.choose: got {sorted(idle)}, expected what the method reads of {sorted(needed)}")
    if set(entries) != set(needed) - set(claim.choose):
        raise Malformed(
            f"instance.steps: got {sorted(entries)}, expected what the claim does not choose of {sorted(needed)}"
        )
    rounds, steps = range(method.counts_from, method.counts_from + T), Steps()
    for name, arity in sorted(needed.items()):
        if arity > (1 if method.steps else 2):
            raise Malformed(f"method: got {name!r} with {arity} indices, expected the round, or round and local step")
        affordable(T * E ** (arity - 1), POINTS, name)
        places = list(product(rounds, *([range(E)] if arity == 2 else [])))
        if name in entries:
            rows = entries[name].items(T)
            cells = [cell for row in rows for cell in ([row] if arity == 1 else row.items(E))]
            steps[name] = {place: cell.rational() for place, cell in zip(places, cells, strict=True)}
        else:
            steps[name] = chosen(name, claim, values, places)
        if not all(x > 0 for x in steps[name].values()):
            raise Rejected(f"{name}: got a step size that is not positive, expected positive ones")
    return steps


def chosen(
    name: str, claim: Claim, values: dict[str, fmpq], places: list[tuple[int, ...]]
) -> dict[tuple[int, ...], fmpq]:
    """The step size that a claim chooses, at every place."""
    names, tree = claim.choose[name]
    if len(names) != len(places[0]) or set(names) & set(values) or any(n >= 0 for _, n in free(tree)):
        raise Malformed(
            f"claim.choose.{name}: got {names}, expected {len(places[0])} indices and a value before the run"
        )
    evaluator = Evaluator(tabled(values, {}), claim.domains)
    return {place: ball_or_rational(evaluator.value(tree, dict(zip(names, place, strict=True)))) for place in places}


def shifted(steps: Steps, method: Method, taken: set[str], T: int) -> Steps:
    """Step sizes of the round before, 0 in the first one."""
    before: Steps = {}
    for name, now in method.before.items():
        if name in {*taken, *steps, *before} or set(steps.get(now, ())) != {(t,) for t in range(T)}:
            raise Malformed(f"method.before: got {name!r} for {now!r}, expected a new name for a step size per round")
        before[name] = {(t,): steps[now][t - 1,] if t else ZERO for t in range(T)}
    return before


def _rational(name: str, x: Value) -> fmpq:
    if not isinstance(x, fmpq):
        raise Rejected(f"method.measures.{name}: got the irrational {shown(x)}, expected a rational")
    return x


WORLDS = {"run": Reader(read, steps=True)}
