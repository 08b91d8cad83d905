"""Formulas, relations and lines of a proof as Coq's real numbers. What is not a number there is not translated."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from flint import fmpq

from ..kernel.core.expression import Op, Relation, Tree, parse
from ..kernel.core.rational import Node
from ..kernel.proofs.forms import Forms
from ..kernel.proofs.judgement import Judgement, ordered
from ..kernel.proofs.polynomials import Form, Polynomial, scaled, times
from ..kernel.proofs.rules.line import GOAL, NEGATED, constraint
from .terms import real

__all__ = ["Formulas", "Untranslated", "line"]

COUNTS = ("count", "index")
RESERVED = frozenset(  # words of Coq, and what the library's statements are made of
    [
        *(
            "R",
            "S",
            "Q",
            "V",
            "N",
            "Z",
            "I",
            "O",
            "f",
            "g",
            "h",
            "w",
            "v",
            "u",
            "p",
            "e",
            "ws",
            "H",
            "H_",
            "holds",
            "at",
        ),
        *("as", "in", "let", "fun", "fix", "forall", "exists", "match", "with", "end", "if", "then", "else", "return"),
        *("Type", "Prop", "Set", "nat", "nil", "cons", "list", "pair", "plus", "minus", "mult", "scale", "inner"),
        *(
            "zero",
            "norm2",
            "sum",
            "row",
            "form",
            "entry",
            "point",
            "slope",
            "value",
            "exp",
            "ln",
            "sqrt",
            "pow",
            "root",
        ),
        *("gradient", "convex", "strongly_convex", "weakly_convex", "smooth", "subgradient", "minimiser"),
        *(
            "proximal",
            "above",
            "below",
            "space",
            "vector",
            "line",
            "parabola",
            "slope_of",
            "function",
            "check",
            "room",
            "put",
        ),
        *("times", "empty", "key", "INR", "Rmin", "Rmax", "IZR", "True", "False", "not", "and", "or", "eq"),
    ]
)
SAYS = {"<=": "<=", "<": "<", "=": "=", "!=": "<>", ">=": ">=", ">": ">"}


class Untranslated(Exception):
    """Something that has no counterpart in the library yet."""


def word(name: str) -> str:
    """A symbol's name as a Coq variable."""
    if (
        re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name)
        and name not in RESERVED
        and not name.startswith(("v_", "j_", "c_"))
    ):
        return name
    return "v_" + "".join(c if re.fullmatch(r"[A-Za-z0-9]", c) else f"_{ord(c):x}_" for c in name)


@dataclass(frozen=True, slots=True, eq=False)
class Formulas(Forms):
    """The kernel's normal forms, with Coq's text for every atom in them; `texts`: of symbols that are no variables."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    indexed: set[str] = field(default_factory=set[str])  # quantities of one index

    def tree(self, tree: Tree) -> str:
        """A formula. Sums, products and whole powers are as they are written, everything else in its normal form."""
        if isinstance(tree, fmpq):
            return real(tree)
        if isinstance(tree, Op) and tree.name in ("+", "*"):
            return f"({f' {tree.name} '.join(map(self.tree, tree.args))})"
        if isinstance(tree, Op) and tree.name == "^" and isinstance(n := tree.args[1], fmpq) and n.q == 1:
            base = self.tree(tree.args[0])
            power = base if abs(n) == 1 else f"({base} ^ {abs(int(n.p))})"
            return power if n > 0 else f"(/ {power})" if n < 0 else "1"
        return self.text_of(self.form(tree))

    def relation(self, relation: Relation) -> str:
        name, left, right = relation
        return f"{self.tree(left)} {SAYS[name]} {self.tree(right)}"

    def text_of(self, form: Form) -> str:
        top = self.polynomial(form.top)
        below = self.polynomial(form.below)
        return top if below == "1" else f"({top} * / {below})"

    def polynomial(self, polynomial: Polynomial) -> str:
        terms: list[str] = []
        for monomial, c in sorted(polynomial.items()):
            factors = [self._atom_text(name) if n == 1 else f"{self._atom_text(name)} ^ {n}" for name, n in monomial]
            terms.append(" * ".join(factors if c == 1 and factors else [real(c), *factors]))
        if not terms:
            return "0"
        alone = len(terms) == 1 and (re.fullmatch(r"\w+", terms[0]) or terms[0] in self.texts.values())
        return terms[0] if alone else f"({' + '.join(terms)})"

    def _atom_text(self, name: str) -> str:
        if name in self.texts:
            return self.texts[name]
        if (kind := self.domain(name)) in ("", "client", "integer"):
            raise Untranslated(name)
        return f"INR {word(name)}" if kind in COUNTS else word(name)

    def _at(self, tree: Op) -> Form:
        term = Forms._at(self, tree)
        head, *indices = map(str, tree.args)
        if len(indices) != 1 or self.domain(indices[0]) not in COUNTS:
            raise Untranslated("a quantity at another index than a letter")
        (((key, _),),) = term.top
        self.texts[key] = f"({word(head)} {word(indices[0])})"
        self.indexed.add(head)
        return term

    def _applied(self, name: str, parts: list[Form], sign: str) -> Form:
        term = Forms._applied(self, name, parts, sign)
        (((key, _),),) = term.top
        self.texts[key] = self._application(name, parts)
        return term

    def _application(self, name: str, parts: list[Form]) -> str:
        if name == "power":
            exponent = parts[1]
            symbols = [m[0][0] for m in exponent.top if len(m) == 1 and m[0][1] == 1]
            if len(exponent.top) != 1 or not symbols or next(iter(exponent.top.values())) != 1:
                raise Untranslated("a power with such an exponent")
            if self.domain(symbols[0]) not in COUNTS:
                raise Untranslated("a power with a real exponent")
            return f"({self.text_of(parts[0])} ^ {word(symbols[0])})"
        if name.startswith("root"):
            return f"(root {int(name[4:])} {self.text_of(parts[0])})"
        if name in ("min", "max"):
            first, *others = map(self.text_of, parts)
            for other in others:
                first = f"(R{name} {first} {other})"
            return first
        if name == "exp":
            return f"(exp {self.text_of(parts[0])})"
        raise Untranslated(name)


def line(stated: Judgement, data: Node, rests: list[tuple[str, Judgement]], forms: Formulas) -> str:
    """Coq's proof of a line: its negation, products and equations add up to 0 < 0."""
    relation = ordered(stated.says)
    name, *_ = relation
    certificates = data.items()
    if name == "=":
        parts = [
            _contradiction(node, goal, relation, rests, forms) for node, goal in zip(certificates, "<>", strict=True)
        ]
        return f"apply Rle_antisym; apply Rnot_lt_le; intro goal.\n  {{ {parts[0]} }}\n  {{ {parts[1]} }}"
    begin = {"<=": "apply Rnot_lt_le; intro goal.", "<": "apply Rnot_le_lt; intro goal.", "!=": "intro goal."}[name]
    if stated.says[0] in (">=", ">"):
        begin = f"apply {'Rle_ge' if stated.says[0] == '>=' else 'Rlt_gt'}; {begin}"
    return f"{begin} {_contradiction(certificates[0], '<', relation, rests, forms)}"


def _contradiction(
    node: Node, side: str, relation: Relation, rests: list[tuple[str, Judgement]], forms: Formulas
) -> str:
    """`side`: which half of an equation fails: its right side is less ("<"), or more."""
    fields = node.fields("products", "equations")
    steps: dict[str, str] = {}
    name, polynomial = constraint(relation, forms)
    goal_name = "<" if name == "=" else NEGATED[name]
    goal = polynomial if (name == "=" and side == ">") or name == "!=" else scaled(polynomial, -1)
    swapped = (relation[2], relation[1]) if goal is not polynomial else (relation[1], relation[2])
    strict: list[tuple[str, str]] = []
    weak: list[tuple[str, str]] = []
    for n, entry in enumerate(fields["products"].items()):
        number, factors = entry.items(2)
        weight = number.rational(least=0)
        texts, positive = [real(weight)], weight > 0
        for factor in factors.items():
            text, more = _factor(factor, goal_name, goal, swapped, rests, forms, steps)
            texts, positive = [*texts, text], positive and more
        product = " * ".join(texts)
        sign = "<" if positive else "<="
        steps[f"p_{n}"] = f"assert (p_{n} : 0 {sign} {product}) by ({'strictly' if positive else 'weakly'})."
        (strict if positive else weak).append((f"p_{n}", product))
    for n, entry in enumerate(fields["equations"].items() if "equations" in fields else ()):
        multiplier, place = entry.items(2)
        top = forms.form(parse(multiplier)).top
        if place.raw == GOAL:
            key, poly, sides = "goal", goal, swapped
        else:
            key, judgement = rests[place.integer(0, len(rests) - 1)]
            _, poly = constraint(judgement.says, forms)
            sides = ordered(judgement.says)[1:]
        target = forms.polynomial(poly)
        steps[f"e_{key}"] = _equation(f"e_{key}", key, target, sides, poly, forms)
        product = f"{forms.polynomial(top)} * {target}"
        steps[f"q_{n}"] = f"assert (q_{n} : 0 <= {product}) by (rewrite e_{key}; rewrite Rmult_0_r; apply Rle_refl)."
        weak.append((f"q_{n}", product))
    parts = [*strict, *weak]
    first, total = strict[0]
    lines = [*steps.values()]
    for count, (key, product) in enumerate(parts[1:]):
        kind = "Rplus_lt_0_compat" if (key, product) in strict else "Rplus_lt_le_0_compat"
        lines.append(f"pose proof ({kind} _ _ {first} {key}) as s_{count}.")
        first, total = f"s_{count}", f"{total} + {product}"
    lines.append(f"apply (contradiction_by ({total})); [exact {first} | fractions].")
    return "\n    ".join(lines)


def _factor(
    node: Node, goal_name: str, goal: Polynomial, sides: tuple[Tree, Tree],
    rests: list[tuple[str, Judgement]], forms: Formulas, steps: dict[str, str],
) -> tuple[str, bool]:  # fmt: skip
    """A factor's text and whether it is positive; why it is not negative goes to `steps`."""
    if node.raw == GOAL or type(node.raw) is int:
        if node.raw == GOAL:
            key, name, polynomial = "goal", goal_name, goal
        else:
            key, judgement = rests[node.integer(0, len(rests) - 1)]
            name, polynomial = constraint(judgement.says, forms)
            sides = ordered(judgement.says)[1:]
        text = forms.polynomial(polynomial)
        steps[f"c_{key}"] = _inequality(f"c_{key}", key, name, text, sides, forms)
        return text, name == "<"
    if isinstance(node.raw, list) and node.items() and node.items()[0].raw == "square":
        text = forms.polynomial(forms.form(parse(node.items(2)[1])).top)
        return f"({text} * {text})", False
    form = forms.form(parse(node))
    return forms.polynomial(form.top), forms.sign(form) == "positive"


def _below(sides: tuple[Tree, Tree], forms: Formulas) -> str:
    """By what the difference of two sides is multiplied in its polynomial."""
    difference = forms.difference(sides[0], sides[1])
    positive = forms.sign(type(difference)(difference.below)) == "positive"
    # As `constraint` of the kernel's rule `line`: a denominator whose sign is not known counts squared.
    return forms.polynomial(difference.below if positive else times(difference.below, difference.below))


def _inequality(key: str, source: str, name: str, text: str, sides: tuple[Tree, Tree], forms: Formulas) -> str:
    below, (left, right) = _below(sides, forms), map(forms.tree, sides)
    lemma, sign = ("Rmult_lt_0_compat", "<") if name == "<" else ("Rmult_le_pos", "<=")
    how = f"apply {lemma}; [pose proof {source}; lra | {'strictly' if name == '<' else 'weakly'}]"
    scaled_text = f"({right} - {left}) * {below}"
    by = "positive_by" if name == "<" else "nonnegative_by"
    return f"assert ({key} : 0 {sign} {text}). {{ apply ({by} _ ({scaled_text})); [fractions | {how}]. }}"


def _equation(
    key: str, source: str, text: str, sides: tuple[Tree, Tree], polynomial: Polynomial, forms: Formulas
) -> str:
    below, (left, right) = _below(sides, forms), map(forms.tree, sides)
    by = f"zero_by _ ({right} - {left}) ({below})"
    return f"assert ({key} : {text} = 0). {{ apply ({by}); [fractions | pose proof {source}; lra]. }}"
