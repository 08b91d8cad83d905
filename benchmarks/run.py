"""`make bench`: the array interpreter on FedProx, as `verify` and `hunt` run it, instances a second of `hunt`, and
processor seconds of an audit's stages.

Client-gradient-steps a second on quadratics are ratios within one run. Contestants take turns of like length and the
best of several counts: other work on the machine can only slow one down.
Stepwise takes every local step of every client, as JAX does. Where steps are many and matrices small, the interpreter
turns a round into eigenvectors and back and multiplies by eigenvalues at each step; the row says so, and one that
takes a product at each step stands beside it. Fast-forward takes no local steps: a round is one affine map.
BLAS and JAX have one thread each. Exit status 0 whether targets are met or not: this measures, tests do not time.
"""

import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parent))  # as a script or with -m
import one_thread  # noqa: F401, I001  before NumPy and JAX read the environment

import hunts
import loops
import numpy as np
import scaling
import sparse
import stages
from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.problems.runs import local_maps as forwarding
from fedaudit.problems.runs.interpreter import Measured, Setup, run, walked
from fedaudit.problems.losses.piecewise import Piecewise
from fedaudit.problems.losses.quadratics import Quadratics
from fedaudit.verify.search.lowered_claim import lower
from rich.console import Console
from rich.table import Table

try:
    import jax
    import jax_runs
except ImportError:
    jax = None

ALPHA, GAMMA = 0.1, 0.05
FEDPROX = lower(statement("buttaci/thm4.1-I")).claim["method"]  # measures the gap, and gradients at every local step
GAP = {**FEDPROX, "measures": {"gap": FEDPROX["measures"]["gap"]}}
SCALARS = {"alpha": ALPHA, "gamma": GAMMA}
PARTS = ("a", "m", "lo", "hi", "c")  # of bent losses
PLOT = Path(__file__).parent.parent / "build" / "scaling.png"
Times = dict[str, float]


@dataclass(frozen=True)
class Size:
    B: int
    C: int
    d: int
    E: int
    T: int
    over_loops: tuple[float, float]  # targets against (a): stepwise, fast-forward
    forward_over_jax: float
    loop_rounds: int  # (a) is timed on this many rounds of one instance and scaled

    @property
    def steps(self) -> int:
        return self.B * self.C * self.E * self.T


SIZES = (
    Size(64, 20, 10, 10, 200, over_loops=(40, 500), forward_over_jax=14, loop_rounds=100),
    Size(1, 100, 100, 10, 200, over_loops=(4, 0), forward_over_jax=7, loop_rounds=40),
    Size(1, 1000, 20, 5, 100, over_loops=(40, 500), forward_over_jax=10, loop_rounds=2),
)


def make(B: int, C: int, d: int) -> Quadratics:
    rng = np.random.default_rng(np.random.SFC64(7))
    R = rng.normal(size=(B, C, d, d)) / np.sqrt(d)
    A = np.matmul(R, R.swapaxes(-1, -2)) + 0.1 * np.eye(d)
    return Quadratics(0.5 * (A + A.swapaxes(-1, -2)), rng.normal(size=(B, C, d)), np.full(C, 1 / C))


def make_bent(B: int, C: int, d: int) -> Piecewise:
    rng = np.random.default_rng(np.random.SFC64(8))
    a, m, lo, hi = (rng.uniform(0.1, 2, size=(B, C, d)) for _ in range(4))
    return Piecewise(a, m, lo, hi, rng.normal(size=(B, C, d)), np.full(C, 1 / C))


def scalar(tree: object) -> np.ndarray:
    """alpha, or gamma at every round and step."""
    return np.full((1, 1, 1), SCALARS[tree if isinstance(tree, str) else tree[1]])


def seconds(f: Callable[[], object]) -> float:
    """Wall-clock or processor time, whichever is less: the first counts waiting for others, the second all threads."""
    wall, processor = perf_counter(), process_time()
    f()
    return min(perf_counter() - wall, process_time() - processor)


def take_turns(contestants: dict[str, Callable[[], object]], turns: int, patience: float = 0) -> Times:
    """Best time of each in `turns` turns, and in more for `patience` seconds until nobody gains 2 % in 8 turns."""
    best = dict.fromkeys(contestants, float("inf"))
    start, gained, turn = perf_counter(), 0, 0
    while turn < turns or (perf_counter() - start < patience and turn - gained < 8):
        turn += 1
        for name, f in contestants.items():
            time = seconds(f)
            if time < 0.98 * best[name]:
                gained = turn
            best[name] = min(best[name], time)
    return best


class Board:
    """The table, row by row."""

    def __init__(self) -> None:
        self.table = Table(title="fedaudit benchmarks: ratios within this run", title_justify="left")
        for column in ("size", "contestant", "seconds", "Msteps/s", "against", "ratio", "target", ""):
            self.table.add_column(column, justify="left" if column in ("size", "contestant", "against") else "right")

    def time(self, size: str, name: str, time: float, steps: int | None = None) -> None:
        self.table.add_row(size, name, f"{time:.4g}", f"{steps / time / 1e6:.4g}" if steps else "", "", "", "", "")

    def ratio(self, name: str, against: str, ratio: float, target: float | None) -> None:
        verdict = "" if target is None else "met" if ratio >= target else "missed"
        wanted = "" if target is None else f">= {target:g}"
        self.table.add_row("", name, "", "", against, f"{ratio:.3g}", wanted, verdict)

    def note(self, size: str, text: str, verdict: str = "") -> None:
        self.table.add_row(size, text, "", "", "", "", "", verdict)


def bench_size(board: Board, size: Size) -> None:
    problem = make(size.B, size.C, size.d)
    w0 = np.random.default_rng(1).normal(size=(size.B, size.d))
    A_mean, w_star = problem.mean()[0], problem.minimiser()
    data = (problem.A, problem.b, problem.p, w0, ALPHA, GAMMA, A_mean, w_star)
    setup = Setup(problem, w0, scalar, size.E, size.T, w_star=w_star)

    def stepwise() -> Measured:
        return walked(GAP, setup)

    def forward() -> Measured:
        return run(GAP, setup)

    def plain() -> np.ndarray:
        one = (problem.A[:1], problem.b[:1], problem.p, w0[:1], ALPHA, GAMMA, A_mean[:1], w_star[:1])
        return loops.run(*one, size.E, size.loop_rounds)

    def by_products() -> Measured:
        # So that a run never saves enough steps to turn its rounds into eigenvectors.
        with patch.object(forwarding, "LONG", inf):
            return walked(GAP, setup)

    contestants: dict[str, Callable[[], object]] = {"stepwise": stepwise, "fast-forward": forward, "loops": plain}
    ways = {"stepwise": "stepwise, a product at each step"}
    if forwarding.along_eigenvectors(size.B, size.C, size.d, size.E, size.T):
        ways = {"stepwise": "stepwise, along eigenvectors", "by products": ways["stepwise"]}
        contestants["by products"] = by_products
    compiled = float("inf")
    if jax is not None:
        forms = {f"jax {form}": _jax_run(form, data, size) for form in jax_runs.FORMS}
        for f in forms.values():
            for _ in range(2):
                jax.clear_caches()
                compiled = min(compiled, seconds(f))
        contestants |= forms
    for f in contestants.values():
        f()
    best = take_turns(contestants, turns=9, patience=30)
    best["fast-forward"] = min(best["fast-forward"], take_turns({"fast-forward": forward}, 20)["fast-forward"])
    best["loops"] *= size.B * size.T / size.loop_rounds

    name = f"{size.B} x {size.C} x d {size.d} x E {size.E} x T {size.T}"
    board.time(
        name, "(a) loops, scaled from " + f"{size.loop_rounds} rounds of one instance", best["loops"], size.steps
    )
    if jax is not None:
        form = min(jax_runs.FORMS, key=lambda form: best[f"jax {form}"])
        best["jax"] = best[f"jax {form}"]
        board.time("", f"(b) JAX warm, {form} form (the faster)", best["jax"], size.steps)
        board.time("", "(b) JAX with compilation", compiled, size.steps)
    for way, text in ways.items():
        board.time("", text, best[way], size.steps)
    board.time("", "fast-forward", best["fast-forward"], size.steps)
    for way, text in ways.items():
        board.ratio(text, "(a)", best["loops"] / best[way], size.over_loops[0])
    board.ratio("fast-forward", "(a)", best["loops"] / best["fast-forward"], size.over_loops[1] or None)
    if jax is not None:
        for way, text in ways.items():
            board.ratio(text, "(b) warm", best["jax"] / best[way], 0.8)
            board.ratio(text, "(b) with compilation", compiled / best[way], 1)
        board.ratio("fast-forward", "(b) warm", best["jax"] / best["fast-forward"], size.forward_over_jax)
    difference = float(np.max(np.abs(stepwise()["gap"] - forward()["gap"])))
    board.note(
        "", f"largest |stepwise - fast-forward| gap: {difference:.1e}", "met" if difference <= 1e-9 else "missed"
    )

    drift = take_turns({"steps": lambda: walked(FEDPROX, setup), "phases": lambda: run(FEDPROX, setup)}, 2)
    board.ratio("drift in two phases", "drift by steps", drift["steps"] / drift["phases"], None)
    board.table.add_section()


def bench_bent(board: Board, size: Size) -> None:
    """The same sizes on losses whose gradient is not affine (`Piecewise`, which `hunt` draws): every step is taken."""
    problem, w0 = make_bent(size.B, size.C, size.d), np.ones((size.B, size.d))
    w_star = problem.minimiser()
    setup = Setup(problem, w0, scalar, size.E, size.T, w_star=w_star)
    name = f"{size.B} x {size.C} x d {size.d} x E {size.E} x T {size.T}"

    def ours() -> Measured:
        return run(GAP, setup)

    if jax is None:
        board.time(name, "bent losses, stepwise", take_turns({"ours": ours}, 3)["ours"], size.steps)
        return
    parts = tuple(jax.numpy.asarray(getattr(problem, part)) for part in PARTS)
    data = [jax.numpy.asarray(x) for x in (problem.p, w0, ALPHA, GAMMA, w_star)]

    def by_hand(form: str) -> Callable[[], Any]:
        return lambda: jax_runs.bent(form, parts, *data, size.E, size.T).block_until_ready()

    contestants: dict[str, Callable[[], object]] = {form: by_hand(form) for form in jax_runs.FORMS}
    off = np.max(np.abs(np.asarray(by_hand(jax_runs.FORMS[0])()).T - ours()["gap"][:, 1:]))
    for f in contestants.values():
        f()
    best = take_turns(contestants | {"ours": ours}, 7)
    form = min(jax_runs.FORMS, key=lambda form: best[form])
    board.time(name, f"(b) JAX warm, bent losses, {form} form (the faster)", best[form], size.steps)
    board.time("", "bent losses, stepwise", best["ours"], size.steps)
    board.ratio("bent losses, stepwise", "(b) warm", best[form] / best["ours"], 0.8)
    board.note("", f"largest |ours - JAX| gap: {off:.1e}", "met" if off <= 1e-9 else "missed")
    board.table.add_section()


def _jax_run(form: str, data: tuple[object, ...], size: Size) -> Callable[[], object]:
    on_device = [jax.numpy.asarray(x) for x in data]
    return lambda: jax_runs.run(form, *on_device, size.E, size.T).block_until_ready()


def bench_moments(board: Board) -> None:
    C, d, E, T, seeds = 10, 5, 5, 100, 1000
    problem = make(1, C, d)
    w0, w_star = np.ones((1, d)), problem.minimiser()
    setup = Setup(problem, w0, scalar, E, T, w_star=w_star, v=np.ones((1, C, d)))

    def ours() -> Measured:
        return run(GAP, setup)

    exact = take_turns({"exact": ours}, 100)["exact"]
    name = f"{C} clients x d {d} x E {E} x T {T}"
    board.time(name, "exact moments, signs", exact)
    if jax is None:
        return
    data = [jax.numpy.asarray(x) for x in (problem.A[0], problem.b[0], problem.p, w0[0])]
    data += [ALPHA, GAMMA, jax.numpy.asarray(problem.mean()[0][0]), jax.numpy.asarray(w_star[0])]

    def simulated(form: str) -> Callable[[], object]:
        return lambda: jax_runs.mean_gap(form, seeds, *data, E, T).block_until_ready()

    contestants = {form: simulated(form) for form in jax_runs.FORMS}
    for f in contestants.values():
        f()
    times = take_turns(contestants | {"exact": ours}, 4)
    form = min(jax_runs.FORMS, key=lambda form: times[form])
    board.time("", f"(b) JAX, {seeds} seeds, {form} form (the faster)", times[form])
    board.ratio("exact moments", "(b) warm", times[form] / min(exact, times["exact"]), 100)
    board.table.add_section()


def bench_sparse(board: Board) -> None:
    """Sparse logistic regression, a loss whose gradient is not affine: every step is taken."""
    losses = sparse.problem()
    setup = sparse.setup(losses)

    def ours() -> Measured:
        return run(sparse.METHOD, setup)

    steps = sparse.CLIENTS * sparse.E * sparse.T
    name = f"1 x {sparse.CLIENTS} x d {sparse.DIMENSION} x E {sparse.E} x T {sparse.T}"
    if jax is None:
        board.time(name, "sparse logistic regression", take_turns({"ours": ours}, 3)["ours"], steps)
        return
    ba = jax.numpy.asarray(losses.ba[0])

    def by_hand() -> object:
        return jax_runs.sparse(ba, sparse.ETA, sparse.ETA_G, sparse.THETA, sparse.E, sparse.T).block_until_ready()

    difference = float(np.max(np.abs(np.asarray(by_hand()) - ours()["vstep2"][0])))
    best = take_turns({"jax": by_hand, "ours": ours}, 5)
    board.time(name, f"(b) JAX warm, sparse logistic regression, {sparse.SAMPLES} samples", best["jax"], steps)
    board.time("", "sparse logistic regression", best["ours"], steps)
    board.ratio("sparse logistic regression", "(b) warm", best["jax"] / best["ours"], 1)
    board.note("", f"largest |ours - JAX| step: {difference:.1e}", "met" if difference <= 1e-12 else "missed")
    board.table.add_section()


def plot_scaling(board: Board) -> None:
    """Cost along clients, instances and rounds, drawn into build/."""

    def steps(B: int = 8, C: int = 20, T: int = 50) -> float:
        problem = make(B, C, 10)
        setup = Setup(problem, np.ones((B, 10)), scalar, 5, T, w_star=problem.minimiser())
        return take_turns({"": lambda: walked(GAP, setup)}, 5)[""]

    def logistic(B: int = 1, C: int = 30, T: int = 10) -> float:
        setup = sparse.setup(sparse.problem(C, B), T)
        return take_turns({"": lambda: run(sparse.METHOD, setup)}, 4)[""]

    runs = "quadratics, stepwise", "sparse logistic regression"
    each = {
        "clients": (lambda n: steps(C=20 * n), lambda n: logistic(C=30 * n)),
        "instances": (lambda n: steps(B=8 * n), lambda n: logistic(B=n)),
        "rounds": (lambda n: steps(T=50 * n), lambda n: logistic(T=10 * n)),
    }
    costs_of = scaling.measured({along: dict(zip(runs, costs, strict=True)) for along, costs in each.items()})
    scaling.draw(costs_of, PLOT)
    for along, times in costs_of.items():
        for name, seconds_ in times.items():
            board.note("cost", f"{name}: grows with {along} to the power {scaling.slope(seconds_):.2f}")
    board.note("", f"drawn in build/{PLOT.name}")
    board.table.add_section()


def show_memory(board: Board) -> None:
    """Peak of a run, the recorded scalars apart, as T grows."""
    problem = make(8, 20, 10)
    w0, w_star = np.ones((8, 10)), problem.minimiser()

    def peak(way: Callable[..., Measured], T: int) -> float:
        tracemalloc.start()
        measured = way(GAP, Setup(problem, w0, scalar, 5, T, w_star=w_star))
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return (top - measured["gap"].nbytes) / 1024

    for name, way in (("stepwise", walked), ("fast-forward", run)):
        # What the first run of all imports and keeps is not counted.
        peak(way, 2)
        sizes = {T: peak(way, T) for T in (100, 1000, 10_000)}
        text = ", ".join(f"T = {T}: {kib:.0f}" for T, kib in sizes.items())
        steady = sizes[10_000] <= sizes[1000] + 3 * 8 * 8 * 10_000 / 1024  # the scalars again, gathered and joined
        board.note("8 x 20 x d 10 x E 5", f"{name}: peak KiB beside the scalars: {text}", "met" if steady else "missed")
    board.table.add_section()


def bench_hunts(board: Board) -> None:
    """Instances a second that are drawn, run, measured and checked, in populations as `hunt` has them and larger."""
    for id_, before in hunts.STATEMENTS.items():
        for n in hunts.SIZES:
            instances, time = hunts.throughput(id_, n, seconds)
            once = f" (once {before:,})" if n == hunts.POPULATION else ""
            board.note(id_, f"{instances / time:,.0f} instances a second{once} in random populations of {n}")
        instances, time = hunts.climbed(id_, seconds)
        board.note("", f"{instances / time:,.0f} instances a second in climbs, {instances:,} instances")
        instances, time = hunts.small(id_, seconds)
        if instances:
            board.note("", f"{instances / time:,.0f} small instances a second, {hunts.LARGE_POPULATION} at once")


def main() -> None:
    board = Board()
    if jax is None:
        print("JAX is not installed: its columns are left out; do: pip install 'fedaudit[bench]'", file=sys.stderr)
    for size in SIZES:
        bench_size(board, size)
    for size in SIZES:
        bench_bent(board, size)
    bench_moments(board)
    bench_sparse(board)
    plot_scaling(board)
    show_memory(board)
    bench_hunts(board)
    Console(width=150).print(board.table)
    Console(width=150).print(stages.table(stages.measured(), stages.BEFORE))


if __name__ == "__main__":
    main()
