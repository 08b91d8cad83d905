"""The ways in which code is known to leave a stated algorithm, one record each.

A deviation is a change of the method's rules, as data: it says at which places of which rules it can have happened, and
what the rule is then. Nothing here knows a method by name. Public threads that each one was seen in: docs/conform.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .evaluation import MEAN_WEIGHTS
from .replay import Data, Rule
from .rule_trees import (
    MEANS,
    Path,
    Tree,
    children,
    factors,
    is_negative,
    is_sum,
    leaves,
    nodes,
    op_of,
    part,
    product,
    put,
    said,
    swapped,
)

__all__ = ["DEVIATIONS", "Changed", "Deviation", "changes"]

PHASES = ("begin", "local", "end", "update")
# Adam counts its steps from 1, rounds count from 0, and flwr's FedAdam begins one step later.
ONE_STEP: tuple[Tree, ...] = (["+", "t", "1"], ["+", "t", "2"])


@dataclass(frozen=True, slots=True, eq=False)
class Changed:
    """A method with one deviation: which, in which rule, in words, and the rules as they are then."""

    deviation: str
    rule: Rule
    says: str
    data: Data


@dataclass(frozen=True, slots=True)
class Site:
    """A rule of a method, and what a change of it may look at."""

    data: Data
    phase: str
    vector: str
    tree: Tree
    arrays: tuple[str, ...]

    @property
    def server(self) -> tuple[str, ...]:
        return tuple(self.data["server"])

    @property
    def vectors(self) -> tuple[str, ...]:
        return (*self.data["server"], *(self.data["client"] if self.phase != "update" else ()))


Edits = Callable[[Site], Iterator[tuple[str, Tree]]]  # what changed, in words, and the rule then


@dataclass(frozen=True, slots=True)
class Deviation:
    """One way to leave a rule: its name, and the rules that it may have been."""

    name: str
    edits: Edits
    phases: tuple[str, ...] = PHASES


def _summands(tree: Tree) -> Iterator[tuple[Path, int, Tree]]:
    """Every summand of every sum in a rule: the way to the sum, its number, and itself."""
    for path, node in nodes(tree):
        if is_sum(node):
            for n, child in enumerate(children(node)[1:], 1):
                yield path, n, child


def _without(node: Tree, gone: tuple[int, ...]) -> Tree:
    left = [child for n, child in enumerate(node) if n not in gone]
    return left if len(left) > 2 else left[1]


def _lost(site: Site) -> Iterator[tuple[str, Tree]]:
    for path, node in nodes(site.tree):
        if not is_sum(node):
            continue
        # The first term of a whole rule is what the step is taken from: without it there is no step.
        for n in range(2 if path == () else 1, len(node)):
            yield f"the term {_term(node[n])} is missing", put(site.tree, path, _without(node, (n,)))
        for n in range(1, len(node)) if len(node) > 3 else ():
            for m in range(n + 1, len(node)):
                pair = ["+", node[n], node[m]]
                yield f"the terms {said(pair)} are missing", put(site.tree, path, _without(node, (n, m)))


def _term(tree: Tree) -> str:
    negative = is_negative(tree)
    return said(tree[2] if negative else tree)


def _negative(tree: Tree) -> Tree:
    return tree[2] if is_negative(tree) else ["*", "-1", tree]


def _sign(site: Site) -> Iterator[tuple[str, Tree]]:
    for path, node in nodes(site.tree):
        if not is_sum(node):
            continue
        for n in range(1, len(node)):
            yield f"{_term(node[n])} has the other sign", put(site.tree, (*path, n), _negative(node[n]))
        for n in range(1, len(node)) if len(node) > 3 else ():
            for m in range(n + 1, len(node)):
                both = [_negative(c) if i in (n, m) else c for i, c in enumerate(node)]
                yield f"{said(['+', node[n], node[m]])} has the other sign", put(site.tree, path, both)


def _scaled(site: Site) -> Iterator[tuple[str, Tree]]:
    for path, n, term in _summands(site.tree):
        if path == () and n == 1 and isinstance(term, str):
            continue
        for factor, words in (("2", "twice"), ("1/2", "half")):
            yield f"{_term(term)} counts {words}", put(site.tree, (*path, n), ["*", factor, term])


def _lost_factor(site: Site) -> Iterator[tuple[str, Tree]]:
    for path, node in nodes(site.tree):
        if op_of(node) != "*":
            continue
        parts = factors(node[1])
        named = [n for n, factor in enumerate(parts) if factor != "-1"]
        for n in named:
            rest = product([f for m, f in enumerate(parts) if m != n])
            left = put(site.tree, path, ["*", rest, node[2]])
            yield f"the factor {said(['*', parts[n], '_'])[:-2]} of {said(node[2])} is missing", left
        if len(named) > 1:
            rest = product([f for m, f in enumerate(parts) if m not in named])
            text = said(["*", product([parts[n] for n in named]), "_"])[:-2]
            yield f"the factor {text} of {said(node[2])} is missing", put(site.tree, path, ["*", rest, node[2]])


def _damped(site: Site) -> Iterator[tuple[str, Tree]]:
    """(1 - beta) on what a momentum is fed with, where the rule has none."""
    for path, node in nodes(site.tree):
        if not is_sum(node):
            continue
        decay = [c[1] for c in node[1:] if op_of(c) == "*" and c[2] == site.vector]
        for n, term in enumerate(node):
            if n and decay and not (op_of(term) == "*" and term[2] == site.vector):
                rest = ["+", "1", ["*", "-1", decay[0]]]
                yield (
                    f"{_term(term)} has a factor 1 - {_plain(decay[0])}",
                    put(site.tree, (*path, n), ["*", rest, term]),
                )


def _plain(scalar: Tree) -> str:
    return said(["*", scalar, "_"])[:-2]


def _norm(site: Site) -> Iterator[tuple[str, Tree]]:
    for path, node in nodes(site.tree):
        if op_of(node) == "*" and node[1] != "-1" and is_sum(node[2]) and len(node[2]) == 3:
            # A penalty is about the distance of two models, of which no gradient and no mean is a part.
            if any(op_of(c) in ("noisy", "grad", *MEANS) for c in node[2][1:]):
                continue
            for factor, words in (("1/2", ""), ("1", ", without its factor 1/2")):
                new = ["*", node[1], ["*", factor, ["unit", node[2]]]]
                yield f"the norm of {said(node[2])} is taken for its square{words}", put(site.tree, path, new)


def _reference(site: Site) -> Iterator[tuple[str, Tree]]:
    for path, name in leaves(site.tree):
        for other in site.vectors:
            if other != name:
                yield (
                    f"{other} stands where the rule has {name} ({_around(site.tree, path)})",
                    put(site.tree, path, other),
                )
        if name != "start" and site.phase != "update":
            here = ["previous", site.vector] if site.phase == "local" else None
            for new, words in (
                (here, f"{site.vector} one step earlier stands"),
                (["start"], "the very first model stands"),
            ):
                if new is not None:
                    yield f"{words} where the rule has {name} ({_around(site.tree, path)})", put(site.tree, path, new)


def _around(tree: Tree, path: Path) -> str:
    """The smallest part around a name that says where it stands."""
    upper = path[:-1]
    while upper and said(part(tree, upper)) == said(part(tree, path)):
        upper = upper[:-1]
    return f"in {said(part(tree, upper))}"


def _weights(site: Site) -> Iterator[tuple[str, Tree]]:
    for path, node in nodes(site.tree):
        if op_of(node) in MEANS:
            stated = {"mean": "own"}.get(node[0], node[0])
            for kind, (words, _) in MEAN_WEIGHTS.items():
                if kind != stated:
                    yield (
                        f"the mean of {said(node[-1])} is over {words}",
                        put(site.tree, path, ["combine", kind, node[-1]]),
                    )


def _sum_minus_one(site: Site) -> Iterator[tuple[str, Tree]]:
    for path, node in nodes(site.tree):
        if op_of(node) in MEANS and is_sum(node[-1]) and len(node[-1]) == 3:
            first, second = node[-1][1:]
            if not all(name in site.server for _, name in leaves(second)):
                continue
            rest = ["*", ["^", "m", "-1"], second]
            words = f"sum({said(first)}) - {_term(second)} stands for sum({said(node[-1])})"
            yield words, put(site.tree, path, ["+", [*node[:-1], first], rest])


def _scaled_again(site: Site) -> Iterator[tuple[str, Tree]]:
    """A mean whose weights sum to 1 is scaled by C/m, as weights that sum to m/C have to be."""
    if swapped(site.tree, "m", "C") != site.tree:  # the rule has such a factor of its own: a wrong count is that
        return
    for path, node in nodes(site.tree):
        for kind in ("sampled", "shares") if op_of(node) in MEANS else ():
            mean = ["*", ["*", "C", ["^", "m", "-1"]], ["combine", kind, node[-1]]]
            words = f"the mean of {said(node[-1])} is over {MEAN_WEIGHTS[kind][0]}, and scaled by C/m once more"
            yield words, put(site.tree, path, mean)


def _size(site: Site) -> Iterator[tuple[str, Tree]]:
    """Another count where a rule reads one."""
    counts = {
        "C": ("m",),
        "m": ("C",),
        "E": ("batches", "epochs", "E_mean", ["+", "E", "1"], ["+", "E", "-1"]),
        "E_mean": ("E_plain", "m", "C", "epochs"),
    }
    words = {
        "C": "the number of all clients",
        "m": "the number of sampled clients",
        "E": "the local steps",
        "batches": "the batches of one epoch",
        "epochs": "the number of epochs",
        "E_mean": "the mean of the local steps, by weight",
        "E_plain": "the plain mean of the local steps",
    }
    for path, node in nodes(site.tree):
        if op_of(node) != "*":
            continue
        for name, others in counts.items():
            for other in others:
                changed = swapped(node[1], name, other)
                if changed != node[1]:
                    there = words.get(other, "") if isinstance(other, str) else f"E {'+' if other[2] == '1' else '-'} 1"
                    yield (
                        f"{there} stands where the rule has {words.get(name, name)}",
                        put(site.tree, path, ["*", changed, node[2]]),
                    )


def _epochs(site: Site) -> Iterator[tuple[str, Tree]]:
    """A factor 1/epochs, or 1/batches, stands where the rule has 1/(E gamma)."""
    for path, node in nodes(site.tree):
        if (
            isinstance(node, list)
            and node[0] == "*"
            and ["^", "E", "-1"] in factors(node[1])
            and len(factors(node[1])) > 1
        ):
            for count, words in (("epochs", "the number of epochs"), ("batches", "the batches of one epoch")):
                text = f"{said(node[2])} is divided by {words} alone, not by {_plain(_inverse(node[1]))}"
                yield text, put(site.tree, path, ["*", ["^", count, "-1"], node[2]])


def _inverse(scalar: Tree) -> Tree:
    """1 over a product of powers, to be put in words and not computed with."""
    parts = [f[1] if op_of(f) == "^" and f[2] == "-1" else ["^", f, "-1"] for f in factors(scalar)]
    return product(parts)


def _bias(site: Site) -> Iterator[tuple[str, Tree]]:
    for path, node in nodes(site.tree):
        if op_of(node) != "adaptive":
            continue
        decays = [_decay(moment, site.server) for moment in node[2:]]
        if None in decays:
            continue
        for exponent in ONE_STEP:
            one, two = (["+", "1", ["*", "-1", ["^", b, exponent]]] for b in decays)
            which = "round + 1" if exponent[2] == "1" else "round + 2"
            # Some code corrects the whole step and some both moments; they differ in what tau is added to.
            root = ["*", ["^", two, "1/2"], ["^", one, "-1"]]
            words = "(rounds count from 0) that the algorithm does not have"
            yield f"a bias correction with the exponent {which} {words}", put(site.tree, path, ["*", root, node])
            moments = [["*", ["^", b, "-1"], moment] for b, moment in zip((one, two), node[2:], strict=True)]
            text = f"a bias correction of both moments with the exponent {which} {words}"
            yield text, put(site.tree, path, ["adaptive", node[1], *moments])


def _decay(moment: Tree, server: tuple[str, ...]) -> Tree | None:
    """beta of a moment beta m + (1 - beta) new."""
    terms = children(moment)[1:] if is_sum(moment) else []
    return next((t[1] for t in terms if op_of(t) == "*" and t[2] in server), None)


def _new_values(site: Site) -> Iterator[tuple[str, Tree]]:
    """The new values of other vectors of this phase that stand written out in a rule."""
    for name, rule in site.data[site.phase].items():
        if name != site.vector and is_sum(rule) and any(node == rule for _, node in nodes(site.tree)):
            yield name, rule


def _stale(site: Site) -> Iterator[tuple[str, Tree]]:
    for name, rule in _new_values(site):
        yield f"{name} is read as it was before the round", swapped(site.tree, rule, name)


def _bypassed(site: Site) -> Iterator[tuple[str, Tree]]:
    for name, rule in _new_values(site):
        for term in rule[1:]:
            fresh = term[2] if op_of(term) == "*" else term
            if fresh != name and not isinstance(fresh, str):
                yield f"{said(fresh)} stands where the rule has the new {name}", swapped(site.tree, rule, fresh)


def _plain_momentum(site: Site) -> Iterator[tuple[str, Tree]]:
    """Polyak's momentum m+ is taken where the rule has Nesterov's, change + beta m+."""
    for name, rule in _new_values(site):
        for path, node in nodes(site.tree):
            if is_sum(node) and any(op_of(c) == "*" and c[2] == rule for c in node[1:]) and len(node) == 3:
                yield f"plain momentum {name} where the rule has Nesterov's", put(site.tree, path, rule)


def _moved(site: Site) -> Iterator[tuple[str, Tree]]:
    inner = next((n[1] for _, n in nodes(site.tree) if op_of(n) == "grad" and is_sum(n[1])), None)
    if inner is not None and is_sum(site.tree) and site.tree[1] == site.vector:
        yield f"the step starts from the moved point {said(inner)}", put(site.tree, (1,), inner)


def _quadratic(site: Site) -> Iterator[tuple[str, Tree]]:
    """The quadratic part of a penalty is lost, its linear part stays: alpha (y - x) becomes -alpha x."""
    for path, node in nodes(site.tree):
        if (
            isinstance(node, list)
            and node[0] == "*"
            and is_sum(node[2])
            and node[2][1] == site.vector
            and node[1] != "-1"
        ):
            words = (
                f"the quadratic part of the penalty is lost: {said(_without(node[2], (1,)))} stands for {said(node[2])}"
            )
            yield words, put(site.tree, path, ["*", node[1], _without(node[2], (1,))])


def _array(site: Site) -> Iterator[tuple[str, Tree]]:
    if len(site.arrays) < 2 or site.vector not in site.data["server"]:
        return
    model = next(iter(site.data["client"]), "")
    for name in site.arrays:
        yield f"the array {name!r} is not aggregated: the server keeps its own", ["block", name, site.tree, site.vector]
        taken = ["combine", "first-alone", model]
        yield f"the array {name!r} is not aggregated: it is the first client's", ["block", name, site.tree, taken]


def _soft(site: Site) -> Iterator[tuple[str, Tree]]:
    for path, node in nodes(site.tree):
        if op_of(node) == "shrunk":
            yield (
                "the proximal point of the norm is taken for that of its square",
                put(site.tree, path, ["soft", *node[1:]]),
            )


DEVIATIONS: tuple[Deviation, ...] = (
    Deviation("quadratic-lost", _quadratic, ("local",)),
    Deviation("lost-term", _lost),
    Deviation("sign", _sign),
    Deviation("norm-for-square", _norm, ("local",)),
    Deviation("weights", _weights, ("update",)),
    Deviation("sum-minus-one", _sum_minus_one, ("update",)),
    Deviation("wrong-count", _size),
    Deviation("scaled-again", _scaled_again, ("update",)),
    Deviation("epochs-for-steps", _epochs, ("end",)),
    Deviation("lost-factor", _lost_factor),
    Deviation("bias-correction", _bias, ("update",)),
    Deviation("change-for-momentum", _bypassed, ("update",)),
    Deviation("plain-momentum", _plain_momentum, ("update",)),
    Deviation("stale", _stale, ("update",)),
    Deviation("damped", _damped, ("update",)),
    Deviation("moved-point", _moved, ("local",)),
    Deviation("prox-of-norm", _soft, ("update",)),
    Deviation("array-left-out", _array, ("update",)),
    Deviation("wrong-point", _reference),
    Deviation("wrong-factor", _scaled),
)


def changes(data: Data, arrays: tuple[str, ...] = ()) -> Iterator[Changed]:
    """Every method that is one deviation away from this one."""
    for deviation in DEVIATIONS:
        for phase in deviation.phases:
            for name, tree in data[phase].items():
                for words, new in deviation.edits(Site(data, phase, name, tree, arrays)):
                    if new != tree:
                        yield Changed(deviation.name, (phase, name), words, _with(data, phase, name, tree, new))
    yield from _whole(data)


def _with(data: Data, phase: str, name: str, old: Tree, new: Tree) -> Data:
    """The method with another rule; other rules of the phase that have the new value written out follow it."""
    rules = {
        other: new if other == name else swapped(tree, old, new) if is_sum(old) else tree
        for other, tree in data[phase].items()
    }
    return {**data, phase: rules}


def _whole(data: Mapping[str, Any]) -> Iterator[Changed]:
    """What is no change of one rule: first values, who trains, how many steps."""
    for side in ("server", "client"):
        for name, tree in data[side].items():
            if tree in (["start"],) or (side == "client" and name in data["begin"]):
                continue
            for new, words in (
                (["zero"], "0"),
                (["ones"], "1 in every coordinate"),
                (["first", name], "other values than stated"),
            ):
                if new != tree:
                    yield Changed(
                        "first-value",
                        ("start", name),
                        f"{name} begins at {words}",
                        {**data, side: {**data[side], name: new}},
                    )
    if data.get("everyone"):
        yield Changed("only-sampled-train", ("idle", ""), "only the sampled clients train", {**data, "everyone": False})
    for loop, words in (
        (["*", "E", "batches"], "E epochs are taken for E steps"),
        ("epochs", "one step is taken in each epoch"),
        ("batches", "the steps of one epoch are taken for those of all"),
    ):
        yield Changed("number-of-steps", ("local", "steps"), words, {**data, "loop": loop})
