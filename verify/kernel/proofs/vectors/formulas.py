"""Formulas of a proof as numbers of the run: linear in the quantities that the method, or the proof, measures.

A mean over the clients is a sum with the weight of each once; sum_i p_i^2 is a constant. What is the largest of a run
or stands in a round that is picked is a number like any other.
"""

from __future__ import annotations

from flint import fmpq

from ...core.expression import Op, Tree, free
from ...core.method import Atom, Measure, factors, rules
from ...core.rational import Rejected
from .combinations import ANY, Scalar, Term, constant, number, times
from .reading import Reader, plus

CHANGING = ("name", "noisy", "sampled", "oracle")  # what is another one in every round, or draws anew


def measure_of(reader: Reader, name: str) -> Measure | None:
    """A quantity that is an expectation at a place; extremes and rounds that are picked are numbers."""
    measure = reader.frame.measured(name)
    return None if measure is None or measure.extreme or measure.law else measure


def formula(reader: Reader, tree: Tree, bound: str = "") -> Scalar:
    """A formula that is linear in quantities; `bound` is the client over which a mean runs."""
    if is_constant(reader, tree):
        tree = reader.plain(tree)
        if (bound, -1) in free(tree):
            raise Rejected(f"got a factor that changes with the client {bound!r}, expected its weight alone")
        return constant(reader.form(tree))
    if isinstance(tree, str):
        return _quantity(reader, tree, (), bound)
    if not isinstance(tree, Op):
        return constant(reader.form(tree))
    if tree.name == "at" and (_weight(reader, tree) or _share(reader, tree)):
        if bound in tree.args[1:]:
            raise Rejected(f"got the weight of {bound!r} twice, or outside of its mean")
        who = "_".join(reader.client(arg) for arg in tree.args[1:])
        return ((number(1), Term("weight", label=f"{tree.args[0]} {who}")),)
    if tree.name == "at":
        return _quantity(reader, str(tree.args[0]), tree.args[1:], bound)
    if tree.name == "+":
        return tuple(pair for arg in tree.args for pair in formula(reader, arg, bound))
    if tree.name == "*":
        spoken = [arg for arg in tree.args if not is_constant(reader, arg)]
        if len(spoken) == 1:
            factor = number(1)
            for arg in tree.args:
                factor = factor * (number(1) if arg is spoken[0] else formula(reader, arg, bound)[0][0])
            return times(factor, formula(reader, spoken[0], bound))
    if tree.name == "sum" and not bound:
        return _sum(reader, tree)
    raise Rejected("got a formula that is not linear in the quantities of the run, expected one that is")


def _weight(reader: Reader, tree: Tree, index: str = "") -> bool:
    if not isinstance(tree, Op) or tree.name != "at" or tree.args[0] != reader.frame.setting.weights:
        return False
    return not reader.frame.even and (not index or tree.args[1:] == (index,))


def _share(reader: Reader, tree: Tree) -> bool:
    return isinstance(tree, Op) and tree.name == "at" and tree.args[0] == reader.frame.shares != ""


def is_constant(reader: Reader, tree: Tree) -> bool:
    """Whether it speaks of no quantity of the run, and of no weight but in the sum of their squares."""
    if isinstance(tree, fmpq):
        return True
    if isinstance(tree, str):
        return measure_of(reader, tree) is None and not _gamma(reader, tree)
    if tree.name == "at":
        return not (_weight(reader, tree) or _share(reader, tree) or measure_of(reader, str(tree.args[0])))
    squares = None if reader.frame.even else reader.normal.squares
    if tree.name == "sum" and squares is not None and reader.frame.forms.form(tree) == squares:
        return True
    parts = tree.args[1:] if tree.name == "sum" else tree.args
    return all(is_constant(reader, part) for part in parts)


def _gamma(reader: Reader, name: str) -> bool:
    return name == "Gamma" and reader.frame.claim.setting == "run"


def _sum(reader: Reader, tree: Op) -> Scalar:
    """The mean over the clients, or over the neighbours of one: each term has its weight once."""
    index, low, high, body = str(tree.args[0]), *tree.args[1:]
    if not (reader.same(low, fmpq(1)) and reader.same(high, reader.frame.size("C"))):
        raise Rejected("got a sum of quantities, expected one over all clients")
    total: Scalar = ()
    for term in _terms(body):
        factors = list(term)
        shares = [
            x for x in factors if isinstance(x, Op) and _share(reader, x) and x.args[2:] == (index,) != x.args[1:2]
        ]
        weights = [x for x in factors if _weight(reader, x, index)]
        clients = reader.frame.size("C")
        for x in (shares or weights)[:1]:
            factors.remove(x)
        if not shares and not weights and reader.frame.even:
            factors.append(clients)
        elif not shares and not weights:
            raise Rejected("got a sum over the clients without their weights, expected p_i in each term")
        inside = formula(reader, Op("*", (fmpq(1), *factors)), index)
        if shares:
            total = (*total, *reader.normal.under_near(inside, reader.client(shares[0].args[1])))
        else:
            total = (*total, *reader.normal.under_mean(inside))
    return total


def _quantity(reader: Reader, name: str, indices: tuple[Tree, ...], bound: str) -> Scalar:
    if _gamma(reader, name) and measure_of(reader, name) is None:  # f* - sum_i p_i f_i*, which every run calls so
        each = reader.normal.under_mean(reader.atom(Atom("f_i_star"), "base", ANY, "", None))
        return (*reader.least(), *times(number(-1), each))
    measure = measure_of(reader, name)
    if measure is None or len(measure.at) != len(indices):
        raise Rejected(f"got {name!r} with {len(indices)} indices, expected it as it is measured")
    where = dict(zip(measure.at, indices, strict=True))
    if any((bound, -1) in free(x) and (c not in "ij" or x != bound) for c, x in where.items()):
        raise Rejected(f"got {name!r} at {bound!r} as something else than a client")
    letters = {letter for c in factors(measure.terms) for letter, _ in free(c)}
    if any(x == bound and c in letters for c, x in where.items()):
        raise Rejected(f"got {name!r}, whose coefficient changes with the client {bound!r}, expected its weight alone")
    spoken = any(rule.op in CHANGING for rule in rules(measure.terms))
    timeless = "t" not in where and reader.frame.claim.method is None
    if name in reader.frame.setting.ends and not reader.same(reader.at[1], reader.frame.size("E")):
        raise Rejected(f"got {name!r}, which is about the last step, expected a premise about that")
    if "t" not in where and spoken and not reader.first and not timeless:
        raise Rejected(f"got {name!r}, which is about the first round, expected a premise about that")
    round_, step = where.get("t", reader.frame.first), where.get("k", None if "t" in where else fmpq(0))
    when = _when(reader, name, round_, step) if (spoken or "t" in where) and not timeless else "base"
    who = [ANY if where.get(c) == bound != "" else reader.client(where[c]) if c in where else "" for c in "ij"]
    values = {**where, "t": round_, "k": fmpq(0) if step is None else step}
    plain = "@" if reader.frame.setting.one else reader.frame.grouped.get(name, who[0])
    return reader.number(measure.terms, when, plain, who[1], values)


def _when(reader: Reader, name: str, round_: Tree, step: Tree | None) -> str:
    t, k = reader.at
    if reader.same(round_, t):
        if step is None:
            return "round"
        for then, place in (("base", k), ("local", plus(k, 1)), ("begun", fmpq(0))):
            if reader.same(step, place):
                return then
    last = reader.same(k, reader.frame.size("E")) or (reader.frame.single and reader.same(k, fmpq(0)))
    if step is None and reader.same(round_, plus(t, 1)) and last:
        return "updated"
    raise Rejected(f"got {name!r} at another place than the premise is about, or the next one")


def _terms(tree: Tree) -> list[tuple[Tree, ...]]:
    """A sum of products, each as its factors."""
    if isinstance(tree, Op) and tree.name == "+":
        return [term for arg in tree.args for term in _terms(arg)]
    if isinstance(tree, Op) and tree.name == "*":
        products: list[tuple[Tree, ...]] = [()]
        for arg in tree.args:
            products = [(*product, *term) for product in products for term in _terms(arg)]
        return products
    return [(tree,)]
