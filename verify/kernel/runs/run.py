"""The world of claims about a run: any method that is data, on any losses of the table.

An instance gives a problem, noise, what is drawn, constants and step sizes. Quantities are the measures of the method,
its step sizes, and p.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from flint import fmpq

from ..core.claim import Claim
from ..core.expression import Evaluator, Value, free
from ..core.method import Method
from ..core.rational import Malformed, Node, Rejected, affordable, shown
from ..core.read_method import method_of
from ..core.world import Ranges, Reader, World, tabled
from ..losses.draws import SAMPLINGS, Draws, drawn, participation
from ..losses.kinds import kinds
from ..losses.kinds import read as read_further
from ..losses.loss import ONE, ZERO, Vector, piecewise, quadratic
from ..losses.regulariser import NONE
from ..losses.regulariser import read as read_regulariser
from ..losses.rotated import mix
from ..losses.sample import read as read_sample
from ..losses.sample import samples
from ..losses.spline import curves
from ..losses.table import Mixture, Penalty, Table
from ..losses.table import read as read_table
from .assumptions import assumptions
from .balls import enclosed, irrational, precise, refuse
from .measures import Measures
from .noise import read as read_noise
from .problem import EXACT, Oracle, Problem, minimised
from .replay import Replay

COUNT, POINTS = 1_000, 100_000
LARGE, LONG = 10**9, 10**15  # rounds where a law stands still, where moments say all
LOSSES = {
    "quadratic": quadratic,
    "bent": piecewise,
    "curves": curves,
    "sample": read_sample,
    "table": read_table,
    **dict.fromkeys(kinds(), read_further),
}
RESERVED = {"C", "E", "T", "D", "m", "Gamma"}  # what only the run itself may say
OPTIONAL = "parameters steps w_star minimisers participation graph weights regulariser points minibatch oracle box"
SUBGRADIENTS = ("subgradients", ())
WHOLE = ("full_prox", "training_prox")  # proximal points of f
Fields = dict[str, Node]
Steps = dict[str, dict[tuple[int, ...], fmpq]]  # of every quantity that the rules read, its value at every place


def read(node: Node, claim: Claim) -> World:
    given = node.fields("C d E T p w0 constants clients noise", OPTIONAL)
    method = method_of(claim.method)
    C, d = (given[name].integer(1, COUNT) for name in ("C", "d"))
    long = "box" in given
    E = given["E"].integer(1, LARGE if long else COUNT)
    T = given["T"].integer(1, LONG if long else LARGE if method.brief else COUNT)
    affordable((1 if long else E) * (1 if long or method.brief else T) * C * d * d, POINTS)
    problem = problem_of(given, method, C, d, (T - 1) // E + 1 if method.steps else T)
    check_tables(problem, claim, long)
    noise = read_noise(given["noise"], method, C, d, T if method.steps else E * T)
    if noise.steps is not None:
        affordable(E * T * C * d * d, POINTS, given["noise"].where)
    problem, draws, shared = drawing(given, method, problem, T)
    box = box_of(given, method, d) if long else None
    problem = minimised(problem)
    values, Gamma = sizes(given, method, d), problem.Gamma()
    if Gamma is None and problem.minimisers is not None and ("Gamma", -1) in claim.needs():
        raise Rejected("instance.clients: got no least value of f, expected one where the claim reads Gamma")
    values |= {} if Gamma is None else {"Gamma": Gamma}
    values |= constants(given, claim, method, {"p", *values, *RESERVED, *method.measures})
    ranges = ranges_of(method, C, d, E, T)
    before_run, taken = dict(values), {*values, *ranges, *RESERVED}

    def stepped() -> Steps:
        steps = steps_of(given.get("steps"), claim, method, before_run, E, T)
        return steps | shifted(steps, method, taken, T)

    first = stepped()
    ranges |= {name: tuple((min(n), max(n)) for n in zip(*places, strict=True)) for name, places in first.items()}
    listed = tuple(name for name in first if name not in method.before and len(ranges[name]) == 1)
    balls = any(irrational(x) for places in first.values() for x in places.values())
    if balls:
        refuse(method, problem, long)
    steps = precise(stepped if balls else lambda: first, balls)
    evaluator = Evaluator(World(values, ranges, lambda name, at: steps()[name][at]), claim.domains)
    run = precise(lambda: Measures(Replay(method, problem, noise, draws, E, T, evaluator, balls), box), balls)
    measures = run()
    kind = given["participation"].kind(SAMPLINGS) if "participation" in given else ""
    facts, bounds, pairs = assumptions(measures, kind, shared, Gamma)
    values |= {name: _rational(name, measures.value(name, ())) for name, m in method.measures.items() if not m.at}
    if unknown := {name for name, indices in method.needs() if indices < 0} - set(values):
        raise Malformed(f"method: got {sorted(unknown)}, expected scalars that the instance gives")

    def quantity(name: str, indices: tuple[int, ...]) -> Value:
        if name == "p":
            return problem.p[indices[0] - 1]
        chosen = steps()
        return chosen[name][indices] if name in chosen else run().value(name, indices)

    return World(values, ranges, quantity, facts, bounds, pairs, listed)


def problem_of(given: Fields, method: Method, C: int, d: int, rounds: int) -> Problem:
    losses = tuple(LOSSES[n.kind(LOSSES)](n, d) for n in given["clients"].items(C))
    graph = tuple(row.vector(C) for row in given["graph"].items(C)) if "graph" in given else ()
    if method.rules_use("neighbours") and not graph:
        raise Malformed("instance: got no graph, expected one, for the method reads neighbours")
    if method.rules_use("prox") and "regulariser" not in given:
        raise Malformed("instance: got no regulariser, expected the one that the method's prox reads")
    if "regulariser" in given and not method.composite:  # it would move w* and f* alone
        raise given["regulariser"].malformed("none, for neither the method nor its measures read it")
    p, written = given["p"].vector(C), [str(n.raw) for n in given["clients"].items(C)]
    minimisers = tuple(x.vector(d) for x in given["minimisers"].items(C)) if "minimisers" in given else None
    kinds = list(zip(p, written, minimisers or [()] * C, strict=True))  # a flat loss has more than one minimiser
    return Problem(
        losses=losses,
        p=p,
        graph=graph,
        start=given["w0"].vector(d),
        w_star=given["w_star"].vector(d) if "w_star" in given else None,
        g=read_regulariser(given["regulariser"], d) if "regulariser" in given else NONE,
        points={name: x.vector(d) for name, x in given["points"].mapping().items()} if "points" in given else {},
        alike=() if graph or len(set(kinds)) == C else tuple(kinds.index(kind) for kind in kinds),
        minimisers=minimisers,
        rows=rows_of(given.get("weights"), method, C, rounds),
    )


def check_tables(problem: Problem, claim: Claim, long: bool) -> None:
    """A table has no moments, and its slopes are gradients of a smooth function unless the claim says otherwise."""
    tables = [loss for loss in problem.losses if isinstance(loss, Table)]
    if long and (tables or isinstance(problem.g, Penalty)):
        raise Rejected("instance.box: got losses known at a few points, expected losses that are quadratic there")
    said = SUBGRADIENTS in claim.let and SUBGRADIENTS[0] not in claim.means
    if any(table.L is None for table in tables) and not said:
        raise Rejected("instance.clients: got a table without L, expected a claim about subgradients")


def rows_of(node: Node | None, method: Method, C: int, rounds: int) -> tuple[Vector, ...] | None:
    """The weights that an instance chooses: one row per round, or (None) the clients with the largest values."""
    if method.weighs("chosen") != (node is not None):
        raise Malformed(
            "instance.weights: got both or neither of it and a method whose weights are chosen, expected both"
        )
    if node is None or node.kind(("rows", "largest")) == "largest":
        return None
    return tuple(row.vector(C) for row in node.fields("kind rows")["rows"].items(rounds))


def noisy(given: Fields) -> bool:
    return given["noise"].kind(("none", "signs")) == "signs"


def drawing(given: Fields, method: Method, problem: Problem, T: int) -> tuple[Problem, Draws, bool]:
    """What a round draws, the problem with the risks of minibatches, and whether all clients draw the same one."""
    C, d = len(problem.p), len(problem.start)
    clients = participation(given.get("participation"), C)
    if clients != [((1,) * C, ONE)] and not method.rules_use("sampled"):
        raise Malformed("instance.participation: got sampled clients, expected a method that means over them")
    data, chances, shared = samples(problem.losses), list[list[fmpq]](), False
    if data:
        minibatch = given["minibatch"].fields("b shared") if "minibatch" in given else {}
        b = minibatch["b"].integer(1, LARGE) if minibatch else 0
        shared = bool(minibatch) and minibatch["shared"].flag()
        risks = [client.minibatches(b) if b else [(ONE, client.risk)] for client in data]
        chances = [[chance for chance, _ in own] for own in risks]
        whole = {"full_prox": [c.risk for c in data], "training_prox": [c.empirical for c in data]}
        problem = replace(
            problem,
            whole={op: mix(problem.p, each) for op, each in whole.items() if method.reads(op)},
            batches=tuple(tuple(risk for _, risk in own) for own in risks),
            oracle=oracle_of(given.get("oracle"), method, C, d, T),
        )
    elif (tables := [loss for loss in problem.losses if isinstance(loss, Table)]) and solves(method):
        if len(tables) < C:
            raise Rejected("instance.clients: got tables and others, expected tables alone")
        chances = [[ONE]] * C  # a table is one data point
        problem = replace(
            problem,
            whole={op: Mixture(tuple(tables), problem.p) for op in WHOLE if method.reads(op)},
            batches=tuple((table,) for table in tables),
            oracle=oracle_of(given.get("oracle"), method, C, d, T),
        )
    elif "minibatch" in given or "oracle" in given:
        raise Malformed("instance: got minibatches or an oracle, expected them of clients with data points alone")
    return problem, drawn(clients, chances, shared, "instance.minibatch"), shared


def solves(method: Method) -> bool:
    """Whether it reads data points: minibatches, local problems or proximal points of f."""
    return method.reads("oracle", "batch_grad", *WHOLE)


def oracle_of(node: Node | None, method: Method, C: int, d: int, T: int) -> Oracle:
    """The instance's answers; exact ones where it gives none. A shift is a number along a line, otherwise a vector."""
    if node is None:
        return EXACT
    if not method.rules_use("oracle"):
        raise node.malformed("none, for the method asks no oracle")
    given = node.fields("step shift")
    step = tuple(row.vector(C) for row in given["step"].items())
    shift = tuple(
        tuple(tuple(x.vector(d) if d > 1 else (x.rational(),) for x in cell.items()) for cell in row.items(C))
        for row in given["shift"].items(len(step))
    )
    if not 0 < len(step) <= T or not all(cell for row in shift for cell in row):
        raise node.malformed("a row or more of steps and shifts, at most one per round")
    return Oracle(step, shift)


def box_of(given: Fields, method: Method, d: int) -> tuple[Vector, Vector]:
    ends = given["box"].fields("low high")
    low, high = ends["low"].vector(d), ends["high"].vector(d)
    data = any(n.kind(LOSSES) == "sample" for n in given["clients"].items())
    few = "steps" in given["noise"].mapping()
    if "oracle" in given or method.steps or (data and noisy(given)) or few:
        raise given["box"].malformed(
            "none, unless there are exact answers, no noise of data points or of a few steps, and rounds"
        )
    if not all(a < b for a, b in zip(low, high, strict=True)):
        raise Rejected("instance.box: got an empty one, expected low < high")
    return low, high


def sizes(given: Fields, method: Method, d: int) -> dict[str, fmpq]:
    """What the run itself says, under the claim's letters."""
    values = {"D": fmpq(d), **{name: given[name].rational() for name in ("C", "E", "T")}}
    for name, part in (("b", "minibatch"), ("m", "participation")):
        values |= {name: given[part].mapping()[name].rational()} if part in given else {}
    return values | {letter: values.pop(name) for letter, name in method.names.items() if name in values}


def constants(given: Fields, claim: Claim, method: Method, taken: set[str]) -> dict[str, fmpq]:
    """Constants, which are not negative, and free parameters of the claim, under names that nothing else gives."""
    entries = given["constants"].mapping()
    if clash := set(entries) & taken:
        raise Malformed(f"instance.constants: got {sorted(clash)}, expected names that the run does not give itself")
    values = {name: claim.number(name, entry, least=0) for name, entry in entries.items()}
    free = claim.parameters(given["parameters"], taken - {"p"} | set(values)) if "parameters" in given else {}
    known = {arg for _, args in claim.assumptions for arg in args} | {name for name, _ in method.needs()}
    several = [n for n, x in free.items() if claim.domains[n] == "count" and n not in known and x != 1]
    if noisy(given) and several:  # nothing else says what they do to the noise
        raise Rejected(f"instance.parameters: got {several} other than 1, expected batches of one point")
    return values | free


def ranges_of(method: Method, C: int, d: int, E: int, T: int) -> Ranges:
    """Of p and of every measure with indices; inside a round, the last one is over."""
    first = method.counts_from
    spans = {"t": (first, first + T), "k": (0, E), "i": (1, C), "j": (1, C), "n": (1, d), "T": (T, T)}
    rounds = {**spans, "t": (first, first + T - 1)}
    indexed = {name: measure.at for name, measure in method.measures.items() if measure.at}
    ranges = {name: tuple((rounds if "k" in at else spans)[index] for index in at) for name, at in indexed.items()}
    return {"p": (spans["i"],), **ranges}


def steps_of(node: Node | None, claim: Claim, method: Method, values: dict[str, fmpq], E: int, T: int) -> Steps:
    """Every quantity that the method's rules read: chosen by the claim, or given by the instance; positive."""
    needed = {name: arity for name, arity in method.needs() if arity > 0}
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
    return {place: enclosed(evaluator.value(tree, dict(zip(names, place, strict=True)))) for place in places}


def shifted(steps: Steps, method: Method, taken: set[str], T: int) -> Steps:
    """Step sizes of the round before, 0 in the first one."""
    found: Steps = {}
    for name, now in method.before.items():
        if name in {*taken, *steps, *found} or set(steps.get(now, ())) != {(t,) for t in range(T)}:
            raise Malformed(f"method.before: got {name!r} for {now!r}, expected a new name for a step size per round")
        found[name] = {(t,): steps[now][t - 1,] if t else ZERO for t in range(T)}
    return found


def _rational(name: str, x: Value) -> fmpq:
    if not isinstance(x, fmpq):
        raise Rejected(f"method.measures.{name}: got the irrational {shown(x)}, expected a rational")
    return x


WORLDS = {"run": Reader(read, steps=True)}
