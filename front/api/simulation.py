"""`fa.simulate`: a method on one's own problem data. Plain arrays or functions in, named arrays out; no kernel."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from fedaudit.output import JsonObject

from ..errors import UserError
from ..progress import Wanted, told, watched

if TYPE_CHECKING:
    from fedaudit.bounds.formulas.trees import Tree
    from fedaudit.bounds.language.method import Method
    from fedaudit.problems.noises.law import NoiseLaw
    from fedaudit.problems.runs.user_problem import Problem
    from fedaudit.verify.search.tree_arrays import Array

__all__ = ["Trajectories", "simulate"]

RULES = {
    "name",
    "start",
    "zero",
    "grad",
    "noisy",
    "again",
    "mean",
    "sampled",
    "weighted",
    "coin",
    "+",
    "*",
}  # what can be run
NEEDS = {  # operation of a measure -> what the problem has to give for it
    "w_star": ("w_star",),
    "f": ("value",),
    "f_i": ("value",),
    "f_star": ("value", "w_star"),
}
ATOMS = {
    "norm",
    "norm2",
    "inner",
    "one",
    "ratio",
    "smaller",
    "weight",
    "own",
    "chosen",
    "largest",
    "softmax",
    "in_turn",
}


@dataclass(frozen=True, slots=True, eq=False)
class Trajectories:
    """What a method did: its measures and the server's vectors, round by round; an axis in front where it was repeated.

    `gap(t)` is (T + 1,), a measure of clients has one more axis C, one of local steps is (T, E + 1); vectors are
    (T + 1, d).

    >>> import fedaudit as fa
    >>> problem = fa.Problem.quadratic(A=[[1.0], [3.0]], b=[[1.0], [3.0]])
    >>> made = fa.simulate("fedprox", problem, rounds=2, steps=1, gamma=0.25, alpha=0)
    >>> made["gap"].tolist()
    [1.0, 0.25, 0.0625]
    >>> made.to_records()[1]["gap"]
    0.25
    """

    method: str
    measures: Mapping[str, Array]
    vectors: Mapping[str, Array]
    repeats: int
    left_out: Mapping[str, str]  # measures that could not be computed, and why

    def __getitem__(self, name: str) -> Array:
        """A measure or a vector by its name."""
        recorded = {**self.vectors, **self.measures}
        if name in recorded:
            return recorded[name]
        why = f" ({self.left_out[name]})" if name in self.left_out else ""
        raise UserError(f"{name!r}{why}", f"one of {', '.join(recorded)}", "pick one of them")

    def to_records(self) -> list[JsonObject]:
        """One row per round (and repetition) with every measure that is a number there."""
        plain = {name: x for name, x in self.measures.items() if x.ndim == (1 if self.repeats == 1 else 2)}
        rounds = next(iter(self.vectors.values())).shape[-2]
        rows: list[JsonObject] = []
        for n in range(self.repeats):
            for t in range(rounds):
                row: JsonObject = {"t": t} if self.repeats == 1 else {"repeat": n, "t": t}
                for name, x in plain.items():
                    row[name] = float(x[t] if self.repeats == 1 else x[n, t])
                rows.append(row)
        return rows

    def _repr_html_(self) -> str:
        from fedaudit.bounds.language.row_list import html_table

        return html_table(self.to_records())


def simulate(
    method: Method | str,
    problem: Problem,
    *,
    rounds: int,
    steps: int = 1,
    start: object = None,
    noise: float = 0.0,
    noise_law: str = "",
    participating: int | None = None,
    repeats: int = 1,
    seed: int = 0,
    progress: Wanted = None,
    **symbols: object,
) -> Trajectories:
    """A method on your own problem: `Problem.quadratic(A, b)`, or `Problem(grad=...)` with gradients of your own.

    `method` is a `Method`, the id of one in the catalogue ("fedprox"), or `my.py::id`. Its symbols are given by name: a
    number, one per round, or a function of its indices (`gamma=lambda t: 1 / (t + 1)`). `noise` is the standard
    deviation of a stochastic gradient, E|noise|^2 = noise^2, normally distributed, or by a `noise_law` of the adversary
    ("independent", "shared": signs times one vector per client); `participating` clients are drawn per round without
    replacement where the method samples. The same seed gives the same arrays. Floats, one outcome:
    nothing is decided by this.

    >>> import numpy as np, fedaudit as fa
    >>> rng = np.random.default_rng(0)
    >>> problem = fa.Problem.quadratic(A=rng.uniform(1, 2, (100, 1000)), b=rng.normal(size=(100, 1000)))
    >>> values = fa.simulate("fedprox", problem, rounds=20, steps=5, gamma=0.1, alpha=0)  # FedAvg: alpha = 0
    >>> values["w"].shape, bool(values["gap"][-1] < values["gap"][0] / 100)
    ((21, 1000), True)
    """
    from fedaudit.bounds.formulas.lowering import tree
    from fedaudit.problems.runs.interpreter import Setup
    from fedaudit.problems.runs.one_path import follow
    from fedaudit.problems.runs.user_problem import Problem as Given

    algorithm = _method(method)
    if not isinstance(cast("object", problem), Given):
        raise UserError(f"a problem of type {type(problem).__name__}", "a fa.Problem", "write Problem.quadratic(A, b)")
    for name, size in (("rounds", rounds), ("steps", steps), ("repeats", repeats)):
        if isinstance(size, bool) or not isinstance(cast("object", size), int) or size < 1:
            raise UserError(f"{name} = {size!r}", "a whole number from 1 on", "give another one")
    _runs(algorithm)
    kept, left_out = _measurable(algorithm, problem)
    data = algorithm.data(tree, kept)
    rng = np.random.default_rng(seed)
    C, d = problem.clients, problem.dim
    drawn = _drawn(algorithm, C, participating, repeats, rng)
    scalar = _scalars(algorithm, symbols, kept, {"C": C, "T": rounds, "E": steps, "m": participating or C})
    point = np.zeros(d) if start is None else np.asarray(start, dtype=float)
    if point.shape != (d,):
        raise UserError(f"a start of shape {point.shape}", f"({d},)", "give one number per dimension")
    best = problem.minimiser
    setup = Setup(
        problem.losses(),
        np.repeat(point[None], repeats, axis=0),
        scalar,
        steps,
        rounds,
        w_star=None if best is None else np.repeat(best, repeats, axis=0),
    )
    # A rule that draws a gradient `again` at the same step needs noise that is independent of the first.
    again = 2 if algorithm.uses("again") else 1

    law = _law(noise_law)

    def kick(_: int, __: int) -> Array | None:
        if not noise or (law is not None and law.silent):
            return None
        if law is None:
            # Each of the d coordinates has its share, so that E|noise|^2 = noise^2 whatever d is.
            return rng.normal(scale=noise / np.sqrt(d), size=(1, repeats, again * C, d))
        signs = rng.choice([-1.0, 1.0], size=(1, repeats, again, 1 if law.one_sign else C, 1))
        return (noise * signs * law.directions(C, d).astype(float)).reshape(1, repeats, again * C, d)

    def toss(_: int) -> Array:
        return rng.uniform(size=(1, repeats))

    with watched(f"simulate {algorithm.id}", progress):
        values = follow(data, setup, kick, drawn, toss, lambda done: told("round", done, rounds))
    one = 0 if repeats == 1 else slice(None)
    return Trajectories(
        algorithm.id,
        {name: np.asarray(x)[one] for name, x in values.measures.items()},
        {name: np.asarray(x)[one] for name, x in values.vectors.items()},
        repeats,
        left_out,
    )


def _law(name: str) -> NoiseLaw | None:
    """A law of noise by its name; None for the normal distribution."""
    from fedaudit.problems.noises import laws

    if not name:
        return None
    of_gradients = {law.name: law for law in laws().values() if not law.of_hessians}
    if name not in of_gradients:
        raise UserError(f"noise_law={name!r}", f"one of {', '.join(of_gradients)}", "give one of them")
    return of_gradients[name]


def _method(given: Method | str) -> Method:
    from fedaudit.bounds.catalogue.discovery import find_methods
    from fedaudit.bounds.language.method import Method

    if isinstance(given, Method):
        return given
    named_methods = find_methods([given])
    if len(named_methods) != 1:
        raise UserError(f"{given}, which names {len(named_methods)} methods", "one id", "`fedaudit methods` lists them")
    return named_methods[0][1]


def _operations(raw: object) -> Iterator[str]:
    """The operations in lowered rules or measures."""
    if isinstance(raw, list):
        parts = cast("list[object]", raw)
        if parts and isinstance(parts[0], str):
            yield parts[0]
        for part in parts:
            yield from _operations(part)
    elif isinstance(raw, dict):
        for part in cast("JsonObject", raw).values():
            yield from _operations(part)


def _runs(method: Method) -> None:
    """Raises `UserError` for a method with something that plain gradients do not give."""
    from fedaudit.bounds.language.rule_parts import vector_tree

    rules = [v for block in (method.server, method.client, *method.phases.values()) for v in block.values()]
    used = {op for rule in rules for op in _operations(vector_tree(rule, lambda _: "1"))}
    vectors = {v.name for v in (*method.server, *method.client)}
    other = sorted(used - RULES - ATOMS - vectors - {"w_star", "f", "f_i"})
    if other or method.clock != "rounds":
        what = f"{', '.join(other)} in its rules" if other else "t that counts local steps"
        raise UserError(f"{method.id}, with {what}", "gradients, noise and means, round by round", "use another method")


def _measurable(method: Method, problem: Problem) -> tuple[set[str], dict[str, str]]:
    """The measures that this problem allows, and why not the others."""
    from fedaudit.bounds.language.method import quantity_name
    from fedaudit.bounds.language.rule_parts import vector_tree

    kept, left_out = set[str](), dict[str, str]()
    vectors = {v.name for v in (*method.server, *method.client)}
    for quantity, number in method.measures.items():
        used = set(_operations(vector_tree(number, lambda _: "1"))) - vectors - {"1"}
        lacking = {n for op in used for n in NEEDS.get(op, ()) if getattr(problem, n) is None}
        indices = {method.names.get(index, str(index)) for index in quantity.args}
        foreign = used - RULES - ATOMS - set(NEEDS)
        if lacking:
            left_out[quantity_name(quantity)] = f"the problem gives no {' and no '.join(sorted(lacking))}"
        elif foreign or number.law != "expect" or "t" not in indices or not indices <= {"t", "k", "i"}:
            left_out[quantity_name(quantity)] = "it is no number of one round or one step"
        else:
            kept.add(quantity_name(quantity))
    return kept, left_out


def _drawn(
    method: Method, C: int, m: int | None, repeats: int, rng: np.random.Generator
) -> Callable[[int], Array | None]:
    """How often each client takes part in a round, (1, repeats, C): every repetition draws its own."""
    if not method.uses("sampled"):
        if m is not None:
            raise UserError(f"participating={m}", "nothing: all clients take part in this method", "leave it out")
        return lambda _: None
    if m is None or isinstance(m, bool) or not isinstance(cast("object", m), int) or not 1 <= m <= C:
        raise UserError(f"participating={m}", f"how many of {C} clients take part in a round", "give it")

    some = np.broadcast_to(np.arange(C) < m, (1, repeats, C)).astype(float)
    return lambda _: rng.permuted(some, axis=-1)


def _scalars(
    method: Method, given: Mapping[str, object], kept: set[str], sizes: Mapping[str, int]
) -> Callable[[Tree], Array]:
    """What turns a scalar of the rules into an array (n, T, E)."""
    from fedaudit.bounds.formulas.lowering import tree
    from fedaudit.verify.search.tree_arrays import Evaluator, Quantity, Table

    letters = {tree(letter): name for letter, name in method.names.items()}
    counts = {**sizes, **{str(letter): sizes[name] for letter, name in letters.items() if name in sizes}}
    first, T, E = method.counts_from, sizes["T"], sizes["E"]
    indices = {name: letter for letter, name in letters.items() if name in ("t", "k")}
    t, k = indices.get("t", "t"), indices.get("k", "k")
    needed = dict(_symbols(method, kept, {*counts, str(t), str(k), "i"}))
    fixed = {new.func.__name__: old.func.__name__ for new, old in method.before.items()}
    wanted = {fixed.get(name, name): axes for name, axes in needed.items()}
    _asked(method, wanted, given)
    ticks = (np.arange(first, first + T), np.arange(E))
    scalars = {name: np.array([float(cast("float", given[name]))]) for name, axes in wanted.items() if axes == 0}
    quantities = {name: Quantity(_filled(name, given[name], ticks[:axes])[None], (first, 0)[:axes])
                  for name, axes in wanted.items() if axes}  # fmt: skip
    for new, old in fixed.items():
        if new in needed:
            # Before the first round the quantity is 0, as `Method.before` has it.
            before = quantities[old].values
            quantities[new] = Quantity(np.concatenate([np.zeros_like(before[:, :1]), before[:, :-1]], axis=1), (first,))
    evaluator = Evaluator(
        Table(1, scalars, quantities, counts), {str(t): (str(first), str(first + T - 1)), str(k): ("0", str(E - 1))}
    )
    return lambda scalar: np.asarray(evaluator(scalar), dtype=float)


def _symbols(method: Method, kept: set[str], known: set[str]) -> Iterator[tuple[str, int]]:
    """The names that have to be given, with how many indices each has."""
    from sympy import Symbol
    from sympy.core.function import AppliedUndef

    for expr in method.scalars(kept):
        for quantity in expr.atoms(AppliedUndef):
            yield str(quantity.func), len(quantity.args)
        for symbol in expr.atoms(Symbol):
            if symbol.name not in known:
                yield symbol.name, 0


def _asked(method: Method, wanted: Mapping[str, int], given: Mapping[str, object]) -> None:
    meanings = {str(symbol): entry.meaning for symbol, entry in method.glossary.items()}
    if missing := [name for name in wanted if name not in given]:
        listed = ", ".join(f"{name} ({meanings.get(name, 'no entry in the glossary')})" for name in missing)
        raise UserError(f"{method.id} without {', '.join(missing)}", f"values of {listed}", f"add {missing[0]}=…")
    for name in given:
        if name not in wanted:
            near = difflib.get_close_matches(name, [*wanted, "rounds", "steps", "start", "noise", "repeats"], n=1)
            hint = f"did you mean {near[0]}?" if near else "leave it out"
            raise UserError(f"{name}, which {method.id} does not know", f"{', '.join(wanted) or 'no symbol'}", hint)


def _filled(name: str, given: object, ticks: tuple[Array, ...]) -> Array:
    """A quantity at all its indices: from a number, from an array of the first ones, or from a function."""
    shape = tuple(len(axis) for axis in ticks)
    if callable(given):
        indices = np.stack(np.meshgrid(*ticks, indexing="ij"), axis=-1).reshape(-1, len(ticks))
        each = cast("Callable[..., float]", given)
        return np.array([float(each(*at)) for at in indices.tolist()]).reshape(shape)
    values = np.asarray(given, dtype=float)
    if values.ndim and values.shape != shape[: values.ndim]:
        raise UserError(f"{name} of shape {values.shape}", f"a number, {shape} or a function", "give one per round")
    return np.broadcast_to(values.reshape(values.shape + (1,) * (len(shape) - values.ndim)), shape)
