"""An order of growth between formulas: lhs = O(rhs), term by term, for all parameters that the conditions allow.

With x = e^u for every positive parameter x, a formula of positive terms made by +, *, rational powers, min and max is,
up to constant factors, e^v with v made of linear functions of u: a sum is its largest term. What is no such formula (a
difference) and is positive is a parameter of its own; what it has to do with others, judgements say: a relation
small <= large between positive formulas gives v(small) <= v(large) + constant. If v(lhs) - v(rhs) is a sum of
non-negative multiples of such differences v(small) - v(large), it is bounded, and lhs <= K rhs with K > 0 from those
constants (Farkas). If moreover it falls with a parameter that grows or vanishes, lhs = o(rhs).

Which term is the largest is looked at in cases, which cover: each part of a sum in turn, and that all of them are 0. K
is the largest of finitely many. It may depend on parameters that are `fixed`: these count as constants where they are
positive, and their value 0 is a case like that of any other parameter.

"<=" is O, ">=" Omega, "=" Theta, "<" o, ">" omega. So what is judged here is no relation between numbers: nothing may
rest on it, and no other rule may judge it (see `proof`). A claim whose conditions nothing meets, or whose parameters
cannot move as it says, is refused: a path of powers of n has to be given that meets all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from flint import fmpq

from ...core.budget import spend
from ...core.claim import Claim
from ...core.expression import Op, Relation, Tree, free, parse
from ...core.rational import Node, Rejected
from ...worlds import order
from ..forms import Forms
from ..judgement import Context, Judgement, defined, ordered, within, written
from ..polynomials import text

SUMS = ("+", "max")  # of which the largest part decides
PARTS = (*SUMS, "min")
AT_LEAST = ("positive", "nonnegative", "zero")
MINUS = fmpq(-1)
DEPTH = 40
Exponent = Mapping[str, fmpq]  # a linear function of the logarithms of parameters


def check(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """`data`: {"witness": {"paths": ...}, "ways": [case, ...]}, two ways for "=", otherwise one.

    A case is {"split": tree, "cases": [case, ...], "zero": case}, or {"sum": [[number, n, picks], ...], "picks": picks}
    where n is the place of a relation, or the name of a parameter that is at least 1, grows or vanishes; or
    {"contradiction": n}, a relation that puts 0 above something positive; or {} where the left side is 0 (of o, the
    other one positive).
    """
    claim = context.claim
    op, left, right = stated.says
    plain = not (claim.choose or claim.for_all or claim.means or stated.under)
    if claim.setting != "order" or claim.kind != "order" or stated.says not in claim.then or not plain or op == "!=":
        raise Rejected("got something else, expected a relation of a claim about orders of growth, as it stands")
    within(rests, (), context.forms)
    defined(stated.says, rests, context, held=[("=", left, left), ("=", right, right)])
    fields = data.fields("witness ways")
    meets(fields["witness"], stated.says, claim)
    sides = {"<=": [(left, right)], ">=": [(right, left)], "=": [(left, right), (right, left)]}
    sides |= {"<": sides["<="], ">": sides[">="]}
    root = beginning(claim, [rest.says for rest in rests], context.forms)
    for goal, way in zip(sides[op], fields["ways"].items(len(sides[op])), strict=True):
        if any(root.grade(side) not in AT_LEAST for side in goal):
            raise Rejected("got a side that may be negative, expected sides of terms that are not")
        _show(way, goal, root, op in "<>", 0)


def meets(node: Node, relation: Relation, claim: Claim) -> None:
    """Reject unless a path of all parameters meets the domains, conditions and assumptions, and the relation there."""
    paths = order.read(node, claim)
    for name, kind in claim.domains.items():
        paths.value(name)
        paths.inhabit(name, kind)
    for name, args in claim.assumptions:
        paths.assume(name, args)
    if not all(paths.meets(condition, {}, claim.domains) for condition in claim.when):
        raise Rejected(f"{node.where}: got a path on which a condition fails, expected one that meets them all")
    if not paths.settle(relation, {}, claim.domains)[2]:
        raise Rejected(f"{node.where}: got a path on which the relation fails, expected one on which it holds")


def beginning(claim: Claim, said: Sequence[Relation], forms: Forms) -> Branch:
    """What is known before any case is looked at: the relations that are said, and the signs that they give."""
    lines = [ordered(relation) for relation in said]
    relations = [(small, large) for op, small, large in lines if op in ("<=", "<", "=")]
    relations += [(large, small) for op, small, large in lines if op == "="]
    signs = {name: {text(forms.difference(a, b)) for op, a, b in lines if op == name} for name in ("<", "<=")}
    positive, nonnegative = frozenset(signs["<"]), frozenset(signs["<="])
    return Branch(forms, roles(claim), tuple(relations), nonnegative, positive)


def roles(claim: Claim) -> dict[str, str]:
    """What is fixed, grows or vanishes; of the others, what is a whole number."""
    whole = {name: "whole" for name, kind in claim.domains.items() if kind in ("count", "index")}
    return whole | {name: role for role, args in claim.assumptions for name in args}


@dataclass(frozen=True, slots=True)
class Branch:
    """What is known in one case: which relations hold, which part of a sum is the largest, what is positive or 0."""

    forms: Forms
    roles: Mapping[str, str]
    relations: tuple[tuple[Tree, Tree], ...]  # the first is at most a constant times the second
    nonnegative: frozenset[str]  # normal forms
    positive: frozenset[str]
    zero: frozenset[str] = frozenset()
    chosen: tuple[tuple[Tree, int], ...] = ()
    grades: dict[Tree, str] = field(default_factory=dict["Tree", str], compare=False)

    def grade(self, tree: Tree) -> str:
        """ "positive", "zero", "nonnegative" or "real"."""
        grade = self.grades.get(tree)
        if grade is None:
            spend(20)
            grade = self.grades[tree] = self._grade(tree)
        return grade

    def _grade(self, tree: Tree) -> str:
        key = self.forms.text(tree)
        if key in self.zero or key in self.positive:
            return "zero" if key in self.zero else "positive"
        shown = self._parts(tree) if isinstance(tree, Op) else "real"
        if shown == "real":
            form = self.forms.form(tree)
            sign = self.forms.sign(form) if form.top else "zero"
            shown = sign if sign in AT_LEAST else "nonnegative" if key in self.nonnegative else "real"
        return shown

    def _parts(self, tree: Op) -> str:
        """The sign of a tree as those of its parts show it."""
        if tree.name == "^":
            base, exponent = tree.args
            if not isinstance(exponent, fmpq):
                return "real"
            grade = self.grade(base)
            if grade == "real" and _even(exponent):
                grade = "positive" if self.grade(_negative(base)) == "positive" else "nonnegative"
            return grade if grade == "positive" or exponent > 0 else "real"
        grades = [self.grade(arg) for arg in tree.args] if tree.name in ("*", *PARTS) else ["real"]
        if "real" in grades:
            return "real"
        if tree.name in SUMS:
            return next(grade for grade in ("positive", "nonnegative", "zero") if grade in grades)
        return next(grade for grade in ("zero", "nonnegative", "positive") if grade in grades)

    def bound(self, tree: Tree, upper: bool, picks: Mapping[Tree, int]) -> Exponent | None:
        """The exponent of a formula, or one that is above it or below it; None: the formula is 0."""
        grade = self.grade(tree)
        if grade == "zero":
            return None
        if grade == "positive" and all(self.roles.get(name) == "fixed" for name, _ in free(tree)):
            return {}
        if isinstance(tree, Op) and tree.name == "*" and MINUS not in tree.args:
            return _total([(fmpq(1), self.bound(arg, upper, picks)) for arg in tree.args])
        if isinstance(tree, Op) and tree.name == "^" and isinstance(tree.args[1], fmpq):
            base, exponent = tree.args[0], tree.args[1]
            turned = self.grade(base) not in AT_LEAST and _even(exponent)
            inner = self.bound(_negative(base) if turned else base, upper == (exponent > 0), picks)
            return _total([(exponent, inner)])
        if isinstance(tree, Op) and (parts := self.parts(tree)) != (tree,):
            live = [n for n, part in enumerate(parts) if self.grade(part) != "zero"]
            place = dict(self.chosen).get(tree, live[0] if len(live) == 1 else None)
            place = picks.get(tree) if place is None and upper != (tree.name in SUMS) else place
            if place is None:
                raise Rejected(f"got {written(tree)}, expected to be told which part decides")
            return self.bound(parts[place], upper, picks)
        if grade != "positive":
            raise Rejected(f"got {written(tree)}, which may be 0 or negative, expected it to be positive in this case")
        return {self.forms.text(tree): fmpq(1)}  # a parameter, or what counts as one

    def parts(self, tree: Tree) -> tuple[Tree, ...]:
        """What a sum, a maximum or a minimum consists of, if nothing of it is negative; otherwise it is one thing."""
        if isinstance(tree, Op) and tree.name in PARTS and all(self.grade(arg) in AT_LEAST for arg in tree.args):
            return tree.args
        if self.grade(tree) not in AT_LEAST:
            raise Rejected(f"got {written(tree)}, which may be negative, expected something that is not")
        return (tree,)

    def where(self, tree: Tree, place: int) -> Branch:
        """The case that one part of a sum or maximum is the largest, of a minimum the least, and is positive."""
        parts = self.parts(tree)
        largest = isinstance(tree, Op) and tree.name in SUMS
        pairs = [(part, parts[place]) for n, part in enumerate(parts) if n != place]
        hypotheses = pairs if largest else [(large, small) for small, large in pairs]
        positive = {self.forms.text(factor) for factor in self._factors(parts[place])}
        relations = (*self.relations, *hypotheses)
        chosen = self.chosen if parts == (tree,) else (*self.chosen, (tree, place))  # a difference has no largest part
        return replace(self, relations=relations, chosen=chosen, positive=self.positive | positive, grades={})

    def without(self, tree: Tree) -> Branch:
        """The case that it is 0; of a sum or maximum, that all its parts are."""
        parts = self.parts(tree) if isinstance(tree, Op) and tree.name in SUMS else (tree,)
        zero = {self.forms.text(inner) for part in parts for inner in (part, *self._vanishing(part))}
        return replace(self, zero=self.zero | zero, grades={})

    def _factors(self, tree: Tree) -> Iterator[Tree]:
        """What is positive if a product of what is not negative is."""
        yield tree
        if isinstance(tree, Op) and (tree.name == "*" or (tree.name == "^" and _moves(tree.args[1]))):
            for arg in tree.args if tree.name == "*" else tree.args[:1]:
                if self.grade(arg) in AT_LEAST:
                    yield from self._factors(arg)

    def _vanishing(self, tree: Tree) -> Iterator[Tree]:
        """What is 0 if a product is, of which all other factors are positive."""
        if isinstance(tree, Op) and tree.name == "*":
            others = [arg for arg in tree.args if self.grade(arg) != "positive"]
            if len(others) == 1:
                yield from (others[0], *self._vanishing(others[0]))
        elif isinstance(tree, Op) and tree.name == "^" and isinstance(tree.args[1], fmpq) and tree.args[1] > 0:
            yield from (tree.args[0], *self._vanishing(tree.args[0]))


def _show(node: Node, goal: tuple[Tree, Tree], branch: Branch, strict: bool, depth: int) -> None:
    """Reject unless the case is shown, by cases of its own or by multipliers."""
    if depth > DEPTH:
        raise Rejected(f"{node.where}: got more than {DEPTH} cases in one another, expected fewer")
    fields = node.fields("", "split cases zero sum picks contradiction")
    if "split" in fields:
        fields = node.fields("split cases", "zero")
        tree = parse(fields["split"])
        if not any(_speaks(side, tree) for pair in (goal, *branch.relations) for side in pair):
            raise Rejected(f"{node.where}: got {written(tree)}, expected a formula that is a number: a part of a side")
        parts = branch.parts(tree)
        if "zero" in fields:
            _show(fields["zero"], goal, branch.without(tree), strict, depth + 1)
        elif branch.grade(tree) != "positive":
            raise Rejected(f"{node.where}: got no case that {written(tree)} is 0, expected one, for it may be")
        for place, case in enumerate(fields["cases"].items(len(parts))):
            if branch.grade(parts[place]) != "zero" or case.raw != {}:
                _show(case, goal, branch.where(tree, place), strict, depth + 1)
    elif "contradiction" in fields:
        small, large = branch.relations[fields["contradiction"].integer(0, len(branch.relations) - 1)]
        if branch.grade(small) != "positive" or branch.grade(large) != "zero":
            raise Rejected(f"{node.where}: got no contradiction, expected something positive that is at most 0")
    elif branch.grade(goal[0]) != "zero" or (strict and branch.grade(goal[1]) != "positive"):  # 0 is not o(0)
        _dominated(fields, goal, branch, strict, node.where)


def _speaks(side: Tree, tree: Tree) -> bool:
    """Whether a formula is a part of a side; what stands in a sum is about its index."""
    parts = side.args if isinstance(side, Op) and side.name not in ("sum", "at") else ()
    return side == tree or any(_speaks(part, tree) for part in parts)


def _picks(node: Node | None) -> dict[Tree, int]:
    """Which part of a sum stands for it from below, of a minimum from above: [[tree, place], ...]."""
    pairs = [entry.items(2) for entry in node.items()] if node is not None else []
    return {tree: place.integer(0, len(tree.args) - 1) for raw, place in pairs if isinstance(tree := parse(raw), Op)}


def _dominated(fields: Mapping[str, Node], goal: tuple[Tree, Tree], branch: Branch, strict: bool, where: str) -> None:
    """Reject unless v(lhs) - v(rhs) is the sum of multiples of what is bounded above; if strict, of what falls."""
    total, falls = dict(_difference(*goal, branch, _picks(fields.get("picks")))), False
    for entry in fields["sum"].items() if "sum" in fields else ():
        number, what, own = entry.items(3)
        times = number.rational(least=0)
        if isinstance(what.raw, str):
            name = what.name()
            role = branch.roles.get(name)
            if role not in ("whole", "grows", "vanishes") or branch.grade(name) != "positive":
                raise Rejected(f"{what.where}: got {name!r}, expected a whole number or what grows or vanishes")
            part: Exponent = {branch.forms.text(name): fmpq(1 if role == "vanishes" else -1)}
            falls = falls or (role != "whole" and times > 0)
        else:
            small, large = branch.relations[what.integer(0, len(branch.relations) - 1)]
            part = _difference(small, large, branch, _picks(own), below=True)
        for name, c in part.items():
            total[name] = total.get(name, fmpq(0)) - times * c
    if any(c != 0 for c in total.values()):
        left = {name: str(c) for name, c in total.items() if c != 0}
        raise Rejected(f"{where}: got the exponent {left} left over, expected the sum to be that of lhs/rhs")
    if strict and not falls:
        raise Rejected(f"{where}: got nothing that falls, expected a multiple of what grows or vanishes")


def _difference(small: Tree, large: Tree, branch: Branch, picks: Mapping[Tree, int], below: bool = False) -> Exponent:
    """v(small) - v(large), from above; or from `below`."""
    first, second = branch.bound(small, not below, picks), branch.bound(large, below, picks)
    if first is None or second is None:
        raise Rejected(f"got a side of {written(small)} <= {written(large)} that is 0, expected positive ones")
    return _total([(fmpq(1), first), (MINUS, second)]) or {}


def _total(parts: Sequence[tuple[fmpq, Exponent | None]]) -> Exponent | None:
    """A sum of multiples; None (of what is 0) if one of them is."""
    total: dict[str, fmpq] = {}
    for times, part in parts:
        if part is None:
            return None
        for name, c in part.items():
            total[name] = total.get(name, fmpq(0)) + times * c
    return total


def _moves(exponent: Tree) -> bool:
    return isinstance(exponent, fmpq) and exponent != 0


def _even(exponent: fmpq) -> bool:
    return exponent.q == 1 and exponent.p % 2 == 0


def _negative(tree: Tree) -> Tree:
    return Op("*", (MINUS, tree))
