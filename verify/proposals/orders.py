"""The proof of an order of growth: cases of which term is the largest, and multipliers for each of them.

The kernel's own `Branch` says what an exponent is in a case; here cases are tried one after the other until a linear
programme (z3 over the rationals) finds the multipliers, and the whole is checked by the kernel as any proof is.
"""

# A tree of JSON is a list of anything to a type checker.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from random import Random
from typing import Any

from flint import fmpq

from ..kernel.core.claim import Claim, read
from ..kernel.core.expression import Op, Relation, Tree, free
from ..kernel.core.rational import Malformed, Node, Rejected
from ..kernel.proofs.forms import Forms
from ..kernel.proofs.judgement import UNIT, ZERO
from ..kernel.proofs.proof import FORMAT
from ..kernel.proofs.rules import growth
from ..kernel.proofs.rules.growth import AT_LEAST, MINUS, PARTS, SUMS, Branch, Exponent
from .atom_trees import relation_json, tree_json
from .lines.line_certificates import certificates

Json = Any
Picks = Mapping[Tree, int]
TRIES, OPTIONS, LEAVES = 4_000, 64, 2_000
NUMBERS = ("1", "2", "1/2", "3", "4", "1/4", "8", "1/8", "16", "1/16", "100", "1/100")


class NoProof(Exception):
    """Why no proof was found."""


def order_proof(raw: Json) -> dict[str, Json]:
    """A proof file of a claim in the setting "order", or `NoProof` with the reason why there is none."""
    claim = read(Node(raw, "claim"))
    if claim.setting != "order":
        raise NoProof(f"the claim is about {claim.setting!r}, not an order of growth between formulas")
    search = _Search(claim, Forms(claim.domains))
    judgements = search.facts()
    for relation, stated in zip(claim.then, raw["then"], strict=True):
        ways = [search.case(search.root(), goal, relation[0] in "<>") for goal in _goals(relation)]
        data = {"witness": search.witness(relation), "ways": ways}
        judgements.append({"rule": "order", "says": stated, "by": [*range(len(search.said))], "with": data})
    return {"format": FORMAT, "statement": claim.id, "claim": raw, "judgements": judgements}


def _goals(relation: Relation) -> list[tuple[Tree, Tree]]:
    """The pairs of sides of which the first is to be dominated by the second."""
    name, left, right = relation
    back = (right, left)
    return {"=": [(left, right), back], ">=": [back], ">": [back]}.get(name, [(left, right)])


@dataclass(slots=True)
class _Search:
    claim: Claim
    forms: Forms
    said: list[Relation] = field(default_factory=list[Relation])
    leaves: int = 0

    def root(self) -> Branch:
        return growth.beginning(self.claim, self.said, self.forms)

    # --- what the cases rest on --------------------------------------------------------------------------------------

    def facts(self) -> list[Json]:
        """Judgements: the conditions, and of every difference its sign and what it is the difference of."""
        judgements: list[Json] = []
        for n, condition in enumerate(self.claim.when):
            judgements.append({"rule": "condition", "says": relation_json(condition), "with": {"of": "when", "n": n}})
            self.said.append(condition)
        conditions = list(self.said)

        def shown(relation: Relation) -> bool:
            """Whether a line shows it from the conditions; then it is one of the judgements."""
            proofs = certificates(relation, conditions, self.forms)
            if proofs is not None:
                judgements.append(_line(relation, proofs, range(len(conditions))))
                self.said.append(relation)
            return proofs is not None

        for tree in self._differences():
            minus = Op("*", (MINUS, tree))
            if shown(("<", ZERO, tree)):
                shown(("<=", UNIT, tree))  # of whole numbers
            elif not shown(("<", ZERO, minus)):
                shown(("<=", ZERO, tree))
            negative = self.root().grade(minus) == "positive"
            parts = [Op("*", (MINUS, arg)) for arg in tree.args] if negative else [*tree.args]
            larger = [part for part in parts if not self._falls(part)]
            smaller = [self._turned(part) for part in parts if self._falls(part)]
            equation: Relation = ("=", _sum(larger), _sum([*smaller, minus if negative else tree]))
            trivial = {"products": [["1", ["goal"]]]}
            judgements.append(_line(equation, [trivial, trivial], ()))
            self.said.append(equation)
        return judgements

    def _differences(self) -> list[Op]:
        """Sums with a negative part, each once."""
        relations = (*self.claim.then, *self.claim.when)
        parts = [part for _, *sides in relations for side in sides for part in _inside(side)]
        sums = [
            part for part in parts if isinstance(part, Op) and part.name == "+" and any(map(self._falls, part.args))
        ]
        return [*{self.forms.text(part): part for part in sums}.values()]

    def _falls(self, tree: Tree) -> bool:
        """Whether it is minus something positive."""
        return self.root().grade(tree) not in AT_LEAST and self.root().grade(Op("*", (MINUS, tree))) in AT_LEAST

    def _turned(self, tree: Tree) -> Tree:
        """Minus the tree, written without a double minus."""
        if isinstance(tree, fmpq):
            return -tree
        if isinstance(tree, Op) and tree.name == "*" and isinstance(tree.args[0], fmpq):
            rest = [*tree.args[1:]]
            return _product([-tree.args[0], *rest] if tree.args[0] != -1 else rest)
        return Op("*", (MINUS, tree))

    # --- cases -------------------------------------------------------------------------------------------------------

    def case(self, branch: Branch, goal: tuple[Tree, Tree], strict: bool) -> Json:
        """The kernel's case for this branch."""
        if branch.grade(goal[0]) == "zero":
            if not strict or branch.grade(goal[1]) == "positive":
                return {}
            raise NoProof("0 against what may be 0")
        for n, (small, large) in enumerate(branch.relations):
            if branch.grade(small) == "positive" and branch.grade(large) == "zero":
                return {"contradiction": n}
        self.leaves += 1
        if self.leaves > LEAVES:
            raise NoProof(f"more than {LEAVES} cases")
        blocked: list[Tree] = []
        domination = self._multipliers(branch, goal, strict, blocked)
        if domination is not None:
            return domination
        for tree in (*blocked, *_pickable(branch, goal[1], upper=False)):  # a mean of two parts is below the larger one
            if not any(tree == done for done, _ in branch.chosen):
                return self._split(branch, goal, strict, tree)
        raise NoProof(f"not dominated where {[(tree_json(tree), place) for tree, place in branch.chosen]}"[:300])

    def _split(self, branch: Branch, goal: tuple[Tree, Tree], strict: bool, tree: Tree) -> Json:
        parts = branch.parts(tree)
        cases = [
            self.case(branch.where(tree, n), goal, strict) if branch.grade(part) != "zero" else {}
            for n, part in enumerate(parts)
        ]
        split: Json = {"split": tree_json(tree), "cases": cases}
        if branch.grade(tree) != "positive":
            split["zero"] = self.case(branch.without(tree), goal, strict)
        return split

    def _multipliers(self, branch: Branch, goal: tuple[Tree, Tree], strict: bool, blocked: list[Tree]) -> Json | None:
        """A sum that the kernel accepts; what would have to be split first is put into `blocked`."""
        targets = list(_differences_of(branch, *goal, False, blocked))
        if not targets:
            return None
        columns: list[tuple[Json, Exponent, bool]] = []
        for n, (small, large) in enumerate(branch.relations):
            if branch.grade(small) == "zero" or branch.grade(large) == "zero":
                continue
            for exponent, picks in _differences_of(branch, small, large, True, blocked):
                if any(c != 0 for c in exponent.values()):
                    columns.append(([n, _picked(picks)], exponent, False))
        for name, role in branch.roles.items():
            if role in ("whole", "grows", "vanishes") and branch.grade(name) == "positive":
                exponent = {self.forms.text(name): fmpq(1 if role == "vanishes" else -1)}
                columns.append(([name, []], exponent, role != "whole"))
        for target, picks in targets:
            weights = _solved(target, columns, strict)
            if weights is not None:
                terms = [[str(c), *columns[n][0]] for n, c in weights]
                return {"sum": terms, "picks": _picked(picks)}
        return None

    # --- a path that meets everything --------------------------------------------------------------------------------

    def witness(self, relation: Relation) -> Json:
        """Powers of n along which the conditions hold and parameters move as they are said to."""
        random, roles = Random(0), growth.roles(self.claim)
        for attempt in range(TRIES):
            paths = {name: self._path(name, roles, random, attempt) for name in self.claim.domains}
            try:
                growth.meets(Node({"paths": paths}, "witness"), relation, self.claim)
            except (Rejected, Malformed):
                continue
            return {"paths": paths}
        raise NoProof("no path was found that meets the conditions")

    def _path(self, name: str, roles: Mapping[str, str], random: Random, attempt: int) -> Json:
        role, kind = roles.get(name), self.claim.domains[name]
        number = NUMBERS[0] if attempt == 0 else random.choice(NUMBERS)
        if kind in ("count", "index") and "/" in number:
            number = number.removeprefix("1/")
        # At first nothing moves but what the claim says; the rest does where no path was found that way.
        power = 0 if role not in ("grows", "vanishes") else random.randint(1, 6)
        if role not in ("fixed", "grows", "vanishes") and attempt > TRIES // 4:
            power = random.choice((0, 0, 1, 2, 3) if kind in ("count", "index") else (0, 0, 1, -1, 2, -2, 3, -3))
        return [[number, str(-power if role == "vanishes" else power)]]


def _differences_of(
    branch: Branch, small: Tree, large: Tree, below: bool, blocked: list[Tree]
) -> Iterator[tuple[Exponent, Picks]]:
    """v(small) - v(large) from above or below, with every way to pick parts."""
    first = _options(branch, small, not below, blocked)
    second = _options(branch, large, below, blocked)
    for (a, one), (b, two) in islice(product(first, second), OPTIONS):
        if all(two.get(tree, place) == place for tree, place in one.items()):
            exponent = {name: a.get(name, fmpq(0)) - b.get(name, fmpq(0)) for name in {*a, *b}}
            yield exponent, {**one, **two}


def _options(branch: Branch, tree: Tree, upper: bool, blocked: list[Tree]) -> list[tuple[Exponent, Picks]]:
    """Every exponent that the kernel may find for a formula, with the picks that make it so."""
    options: list[tuple[Exponent, Picks]] = []
    for picks in islice(_picks(branch, tree, upper), OPTIONS):
        try:
            exponent = branch.bound(tree, upper, picks)
        except Rejected:
            blocked.extend(part for part in _needed(branch, tree, upper, picks) if part not in blocked)
            continue
        if exponent is not None:
            options.append((exponent, picks))
    return options


def _picks(branch: Branch, tree: Tree, upper: bool) -> Iterator[Picks]:
    """Every way to pick one part of what may be picked."""
    free_nodes = [*dict.fromkeys(_pickable(branch, tree, upper))]
    for places in product(*(range(len(node.args)) for node in free_nodes)):
        yield dict(zip(free_nodes, places, strict=True))


def _children(branch: Branch, tree: Op, upper: bool) -> Iterator[tuple[Tree, bool]]:
    """The parts whose exponents make that of a product, a power or a sum, each with its side."""
    if tree.name == "*" and MINUS not in tree.args:
        yield from ((arg, upper) for arg in tree.args)
    elif tree.name == "^" and isinstance(tree.args[1], fmpq):
        yield tree.args[0], upper == (tree.args[1] > 0)
    elif tree.name in PARTS and all(branch.grade(arg) in AT_LEAST for arg in tree.args):
        chosen = dict(branch.chosen).get(tree)
        yield from ((arg, upper) for n, arg in enumerate(tree.args) if chosen in (None, n))


def _pickable(branch: Branch, tree: Tree, upper: bool) -> Iterator[Op]:
    if not isinstance(tree, Op) or branch.grade(tree) == "zero":
        return
    if branch.grade(tree) == "positive" and all(branch.roles.get(name) == "fixed" for name, _ in free(tree)):
        return
    sums = tree.name in PARTS and all(branch.grade(arg) in AT_LEAST for arg in tree.args)
    live = [arg for arg in tree.args if branch.grade(arg) != "zero"]
    if sums and len(live) > 1 and dict(branch.chosen).get(tree) is None and upper != (tree.name in SUMS):
        yield tree
    for part, side in _children(branch, tree, upper):
        yield from _pickable(branch, part, side)


def _needed(branch: Branch, tree: Tree, upper: bool, picks: Picks) -> Iterator[Tree]:
    """What has to be split before the exponent of a formula is known."""
    grade = branch.grade(tree)
    if grade == "zero" or (grade == "positive" and all(branch.roles.get(n) == "fixed" for n, _ in free(tree))):
        return
    if isinstance(tree, Op):
        sums = tree.name in PARTS and all(branch.grade(arg) in AT_LEAST for arg in tree.args)
        live = [arg for arg in tree.args if branch.grade(arg) != "zero"]
        if sums and len(live) > 1 and dict(branch.chosen).get(tree) is None:
            if upper == (tree.name in SUMS):
                yield tree
                return
            yield from _needed(branch, tree.args[picks.get(tree, 0)], upper, picks)
            return
        children = [*_children(branch, tree, upper)]
        for part, side in children:
            yield from _needed(branch, part, side, picks)
        if children:
            return
    if grade == "nonnegative":
        yield tree


def _solved(
    target: Exponent, columns: Sequence[tuple[Json, Exponent, bool]], strict: bool
) -> list[tuple[int, object]] | None:
    """Non-negative multiples of the columns that add up to the target; if strict, one of what moves."""
    import z3

    # In a context of its own, z3's answer does not depend on what was asked before.
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    weights = [z3.Real(f"q{n}", ctx=context) for n in range(len(columns))]
    solver.add(*(q >= 0 for q in weights))
    for name in {*target, *(name for _, exponent, _ in columns for name in exponent)}:
        parts = [
            z3.RealVal(str(e[name]), ctx=context) * q
            for q, (_, e, _) in zip(weights, columns, strict=True)
            if name in e
        ]
        wanted = z3.RealVal(str(target.get(name, 0)), ctx=context)
        total: Any = z3.Sum(parts)
        solver.add(total == wanted if parts else z3.RealVal(0, ctx=context) == wanted)
    if strict:
        moving = [q for q, (_, _, moves) in zip(weights, columns, strict=True) if moves]
        falls: Any = z3.Sum(moving)
        solver.add(falls > 0 if moving else z3.BoolVal(val=False, ctx=context))
    if str(solver.check()) != "sat":
        return None
    model: Any = solver.model()
    values = [model.eval(q, model_completion=True).as_fraction() for q in weights]
    return [(n, value) for n, value in enumerate(values) if value != 0]


def _inside(tree: Tree) -> Iterator[Tree]:
    yield tree
    if isinstance(tree, Op):
        for arg in tree.args:
            yield from _inside(arg)


def _sum(parts: Sequence[Tree]) -> Tree:
    return fmpq(0) if not parts else parts[0] if len(parts) == 1 else Op("+", tuple(parts))


def _product(parts: Sequence[Tree]) -> Tree:
    return parts[0] if len(parts) == 1 else Op("*", tuple(parts))


def _line(relation: Relation, data: Json, by: Sequence[int]) -> Json:
    return {"rule": "line", "says": relation_json(relation), "by": [*by], "with": data}


def _picked(picks: Picks) -> Json:
    return [[tree_json(tree), place] for tree, place in picks.items()]
