"""What a statement asks of runs, read from its claim: losses, noise, weights, step sizes, and what it leaves open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import product
from math import inf, prod

from fedaudit.bounds.language.assumptions import ASSUMPTIONS, Curvature
from fedaudit.problems.arrays.genes import Kind
from fedaudit.problems.families import losses
from fedaudit.problems.families.family import Family
from fedaudit.problems.families.regularisers import FAMILIES

from ...search.claim_trees import Node, Tree, heads, names, parts_at, quantity, subtrees, words
from ..base import Json, Reading

CONSTANTS = tuple(name for name, record in ASSUMPTIONS.items() if record.drawn)
MEASURED = {name for name, record in ASSUMPTIONS.items() if record.measured}
KINDS = ("positive", "nonnegative", "real")
RULES = ("begin", "local", "end", "update")  # of a method
SAMPLINGS = ("without_replacement", "with_replacement")


def declared(claim: Json) -> tuple[str, ...]:
    """Constants that an assumption bounds a measure by: as measure <= G^2 or measure <= G."""
    bounds = (meaning["relation"] for meaning in claim["means"].values())
    said = [args[0] for kind, *args in (*claim["let"], *claim["implicit"]) if kind in MEASURED]
    return (*(name for op, _, right in bounds if op == "<=" and (name := root_name(right))), *said)


def root_name(tree: Tree) -> str:
    """G, of G or G^2; nothing of any other tree."""
    if isinstance(tree, list):
        return str(tree[1]) if tree[0] == "^" and tree[2] == "2" and isinstance(tree[1], str) else ""
    return tree if isinstance(tree, str) and not tree[0].isdigit() else ""


@lru_cache
def families(reading: Reading) -> list[Family]:
    """Losses that the statement asks for by an assumption; all that serve any statement if it asks for none."""
    named = [family for family in losses().values() if family.assumption and has(reading, family.assumption)]
    return named or [family for family in losses().values() if not family.assumption]


@lru_cache
def convex_mean(reading: Reading) -> bool:
    """Whether an assumption asks that f on the whole is convex."""
    return any(
        record.of_mean and (record.curvature or (0,))[0] in (0, 1) and has(reading, name)
        for name, record in ASSUMPTIONS.items()
    )


@lru_cache
def lifted(reading: Reading) -> bool:
    """Whether f on the whole has to be convex: by an assumption, or for a minimum of F to be there and easy to find."""
    return convex_mean(reading) or (regularisers(reading) != [""] and reads_minimum(reading))


@lru_cache
def regularisers(reading: Reading) -> list[str]:
    """Those that the statement's assumptions allow; no name where the method reads none."""
    if not reads(reading, "prox", "F", "g", "conjugate"):
        return [""]
    bounded = has(reading, "bounded_subgradients")
    about_g = reads(reading, "g", "conjugate")  # of g = 0 such a claim says nothing
    return [name for name, g in FAMILIES.items() if (not g.ridge or not bounded) and (name != "none" or not about_g)]


@lru_cache
def points(reading: Reading) -> list[str]:
    """Points that the method starts from besides its start."""
    starts = list(reading.claim["method"]["server"].values())
    return sorted({quantity(part) for part in subtrees(starts) if part[0] == "point"})


@lru_cache
def minimises_each(reading: Reading) -> bool:
    """Whether instances give a minimiser of every f_i: the kernel takes those of convex f_i alone."""
    return reading.uses("Gamma") or has(reading, "homogeneous") or reads(reading, "f_i_star", "w_i_star")


@lru_cache
def choices(reading: Reading) -> tuple[list[str], list[str]]:
    """Kinds of noise and of participation that the statement's assumptions speak of."""
    noises = ["none"]
    bound = next(iter(noise_bounds(reading, "steps", "minibatches", "gradients")), "")
    if bound and uses(reading, "noisy"):
        noises = ["shared"] if "independent_noise" in reading.dropped else ["none", "independent"]
        if ["<", "0", bound] in reading.claim["when"] or [">", bound, "0"] in reading.claim["when"]:
            noises.remove("none")
        if noise_bounds(reading, "Hessians") and uses(reading, "noisy_hess"):
            noises.append("rough")
    named = [kind for kind in SAMPLINGS if has(reading, kind)]
    sampled = uses(reading, "sampled") and not has(reading, "full_participation")
    return noises, (named or [*SAMPLINGS]) if sampled else [""]


@lru_cache
def bends(reading: Reading) -> frozenset[Curvature | None]:
    """How far the assumptions on every f_i let it bend, in multiples of their constants; without what is dropped."""
    kept = {name: record for name, record in ASSUMPTIONS.items() if has(reading, name) and name not in reading.dropped}
    return frozenset(record.curvature for record in kept.values() if not record.of_mean)


def noise_bounds(reading: Reading, *kinds: str, exact: bool | None = None) -> list[str]:
    """The constants that bound the variance of such noise, or are what it is (`exact`)."""
    records = [name for name, x in ASSUMPTIONS.items() if x.noise in kinds and exact in (None, x.exact)]
    return [constant for name in records if (constant := argument(reading, name))]


@lru_cache
def layouts(reading: Reading) -> list[dict[str, str]]:
    """Which weights an instance chooses, where it may; and where runs begin if the clients' own minima matter."""
    rows, own = {"weights": "rows"}, {"weights": "own"}
    looks = [] if reading.dropped or has(reading, "positive_weights") else [{"weights": "largest"}]
    weights = [own] if has(reading, "fedavg_weights") else [*looks, rows]
    layouts = weights if uses(reading, "chosen") else [dict[str, str]()]
    if uses(reading, "again"):
        layouts = [one | {"draws": "twice"} for one in layouts]
    if uses(reading, "coin"):
        layouts = [one | {"coin": "each round"} for one in layouts]
    if has(reading, "at_rest"):
        return [one | {"start": "between"} for one in layouts]
    corners = reads(reading, "f_i_star", "w_i_star") and not has(reading, "homogeneous")
    return layouts + ([one | {"start": "client"} for one in layouts] if corners else [])


def share(reading: Reading) -> Kind:
    """The kind of gene that rows of weights are made of."""
    if has(reading, "positive_weights"):
        return "positive"
    return "real" if "nonnegative_weights" in reading.dropped else "fraction"


@lru_cache
def counts_steps(reading: Reading) -> bool:
    return "clock" in reading.claim["method"]


@lru_cache
def below_roots(reading: Reading) -> frozenset[str]:
    """Names that the chosen step sizes take a square root of."""
    rooted = (part[1] for rule in reading.claim["choose"].values() for part in subtrees(rule["value"]) if is_root(part))
    return frozenset(name for inside in rooted for name, _ in names(inside))


def is_root(tree: Node) -> bool:
    """Whether a tree is a square root, or one over a square root."""
    return tree[0] == "^" and tree[2] in ("1/2", "-1/2")


@lru_cache
def roots(reading: Reading) -> set[str]:
    """Counts of which the sweep takes the square root: exact only where they are squares."""
    trees = [rule["value"] for rule in reading.lowered.sweep.values()]
    return {str(part[1]) for part in subtrees(trees) if part[0] == "^" and part[2:] == ["1/2"]}


@lru_cache
def has(reading: Reading, name: str) -> bool:
    return any(a[0] == name for a in (*reading.claim["let"], *reading.claim["implicit"]))


@lru_cache
def constants(reading: Reading) -> dict[str, str]:
    """Constants of the losses and the noise, with the assumptions that name them."""
    said = {a: argument(reading, a) for a in CONSTANTS if a not in reading.claim["means"]}
    return {name: a for a, name in said.items() if name}


@lru_cache
def argument(reading: Reading, name: str) -> str:
    """The constant that an assumption introduces, or nothing."""
    return next(iter(arguments(reading, name)), "")


@lru_cache
def arguments(reading: Reading, name: str) -> tuple[str, ...]:
    """All constants that an assumption introduces."""
    return next((tuple(a[1:]) for a in (*reading.claim["let"], *reading.claim["implicit"]) if a[0] == name), ())


@lru_cache
def uses(reading: Reading, word: str) -> bool:
    """Whether a rule or a measure has this word in it: an operation, or a way of meaning (weighted, sampled, ...)."""
    return any(word in words(reading.claim["method"][phase]) for phase in (*RULES, "measures"))


@lru_cache
def rules_sample(reading: Reading) -> bool:
    """Whether a rule means over a sample of the clients."""
    return any("sampled" in words(reading.claim["method"][phase]) for phase in RULES)


@lru_cache
def reads_data(reading: Reading) -> bool:
    """Whether the method draws minibatches or asks an oracle."""
    return reads(reading, "oracle", "batch_grad")


def least_clients(reading: Reading) -> int:
    """The least number of clients: one alone has no neighbour."""
    return 2 if uses(reading, "neighbours") else 1


@lru_cache
def reads_minimum(reading: Reading) -> bool:
    unsaid = has(reading, "homogeneous") or has(reading, "lower_bounded")
    return unsaid or reading.uses("Gamma") or reads(reading, "f_star", "w_star")


@lru_cache
def reads(reading: Reading, *ops: str) -> bool:
    """Whether a rule or a measure contains one of these operations."""
    return not heads(reading.claim["method"]).isdisjoint(ops)


@lru_cache
def differs(reading: Reading) -> bool:
    """Whether it reads differences of values of losses that are sums of cubes, of which floats lose half the digits."""
    return uses(reading, "hess") and reads(reading, "f_i")


@lru_cache
def steps(reading: Reading) -> dict[str, int]:
    """Quantities that the rules read, with their number of indices."""
    method = reading.claim["method"]
    blocks = [method[phase] for phase in ("server", "client", "begin", "local", "end", "update")]
    return {quantity(part): len(part) - 2 for part in parts_at([list(block.values()) for block in blocks])}


@lru_cache
def free_steps(reading: Reading) -> dict[str, int]:
    fixed = {*reading.claim["choose"], *reading.lowered.sweep}
    return {name: arity for name, arity in steps(reading).items() if name not in fixed}


@lru_cache
def stride(reading: Reading) -> str:
    """The step size of the local steps: the first scalar of their rules; nothing where it is one of the round."""
    factors = (part[1] for part in subtrees(list(reading.claim["method"]["local"].values())) if part[0] == "*")
    return next((name for name in factors if isinstance(name, str) and name in reading.claim["domains"]), "")


Range = tuple[str, Tree, Tree]  # an index and the trees of its ends


@lru_cache
def places(reading: Reading) -> list[tuple[str, Node, list[Range]]]:
    """Where measures are read that have a round: the trees of their indices, and the ranges of what these name."""
    claim, measures = reading.claim, reading.claim["method"]["measures"]
    relations = [(relation, claim["for_all"]) for relation in (*claim["then"], *claim["when"])]
    relations += [(meaning["relation"], meaning["for_all"]) for meaning in claim["means"].values()]
    relations += [(rule["value"], dict[str, tuple[Tree, Tree]]()) for rule in claim["choose"].values()]

    def inside(tree: Tree, ranges: list[Range]) -> Iterator[tuple[str, Node, list[Range]]]:
        if not isinstance(tree, list):
            return
        if tree[0] == "at" and measures.get(quantity(tree), {"at": ()})["at"][:1] == ["t"]:
            yield quantity(tree), tree[2:], ranges
        ranges = [*ranges, (str(tree[1]), tree[2], tree[3])] if tree[0] == "sum" else ranges
        for part in tree[1:]:
            yield from inside(part, ranges)

    ranged = ((relation, [(v, *ends) for v, ends in spans.items()]) for relation, spans in relations)
    return [place for relation, ranges in ranged for place in inside(relation, ranges)]


def until(reading: Reading, sizes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """The last round, or round and step, counted from 0, in which the claim reads a measure; where that is known."""
    if reading.whole or counts_steps(reading):
        return {}
    method, last = reading.claim["method"], dict[str, list[float]]()
    for name, indices, ranges in places(reading):
        ranges_of_names = {size: (float(n), float(n)) for size, n in sizes.items()}
        for index, low, high in ranges:
            ranges_of_names[index] = _ends(low, ranges_of_names)[0], _ends(high, ranges_of_names)[1]
        ends = [_ends(tree, ranges_of_names)[1] for tree in indices[: 1 + ("k" in method["measures"][name]["at"])]]
        ends[0] -= method.get("counts_from", 0)
        last[name] = [max(pair) for pair in zip(ends, last.get(name, ends), strict=True)]
    return {name: tuple(map(int, ends)) for name, ends in last.items() if max(ends) < inf}


def _ends(tree: Tree, ranges_of_names: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    """Between which numbers a tree lies; of what is not made of whole numbers and indices, nothing is known."""
    if not isinstance(tree, list):
        number = str(tree).removeprefix("-").isdecimal()
        return (float(tree), float(tree)) if number else ranges_of_names.get(str(tree), (-inf, inf))
    op, *parts = tree
    ends = [_ends(part, ranges_of_names) for part in parts]
    if op not in ("+", "*", "min", "max") or any(abs(end) == inf for pair in ends for end in pair):
        return -inf, inf
    if op == "*":
        corners = [prod(corner) for corner in product(*ends)]
        return min(corners), max(corners)
    fold: Callable[[Iterable[float]], float] = {"+": sum, "min": min, "max": max}[op]
    return fold(low for low, _ in ends), fold(high for _, high in ends)


def one_round(claim: Json) -> bool:
    """Whether the claim reads the first round alone."""
    measures, places = (
        claim["method"]["measures"],
        [p for p in parts_at(claim["then"]) if p[1] in claim["method"]["measures"]],
    )
    step = any(measures[part[1]].get("over", [""])[0] == "picked_step" for part in places)
    first = [(part[2:3] == ["0"] and (part[3:] or step)) or (step and part[2:3] == ["1"]) for part in places]
    used = {name for relation in (*claim["then"], *claim["when"]) for name, _ in names(relation)}
    return bool(first) and all(first) and "T" not in used and not claim["means"]


@lru_cache
def ones(reading: Reading) -> list[str]:
    """Counts that nothing determines, where clients have no data points: sizes of batches, which are 1."""
    counts = sorted(name for name, kind in reading.claim["domains"].items() if kind == "count")
    return [] if reads_data(reading) else [name for name in counts if name not in taken(reading)]


@lru_cache
def free_symbols(reading: Reading) -> list[str]:
    """Scalars that nothing determines: no assumption, sweep, count, or measure of the run."""
    domains, known = reading.claim["domains"], taken(reading)
    return [name for name, kind in sorted(domains.items()) if name not in known and kind in KINDS]


@lru_cache
def taken(reading: Reading) -> frozenset[str]:
    """Names that the run, the claim or its sweep gives a meaning to."""
    taken = {*constants(reading)} | {"C", "E", "T", "D", "d", "m", "b", "Gamma", "p", *"tkijn"}
    taken |= {*declared(reading.claim), *reading.claim["choose"], *reading.claim["method"]["measures"]}
    taken |= {*reading.lowered.sweep, *steps(reading), *reading.lowered.knobs}
    taken |= {*reading.claim["method"].get("before", ()), *reading.claim["method"].get("names", ())}
    return frozenset(taken | {name for family in losses().values() for name in arguments(reading, family.assumption)})
