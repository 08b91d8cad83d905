r"""LaTeX of a rate, such as `E f(w_T) - f^* \le \frac{L \|w_0 - w^*\|^2}{2T}`, as a tree: parsed, never evaluated.

Read are one relation, sums, products, quotients, powers, roots, max, min, exp, log, and three measures of a run: the
gap of values, the squared distance from the optimum, the squared gradient. Anything else is `Unread`, with its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

__all__ = ["MEASURES", "Parsed", "Unread", "parse", "parts", "renamed", "source"]

Tree = tuple[Any, ...]  # (operation, arguments ...): numbers and names are text
MEASURES = ("gap", "dist2", "slope2")
LONGEST = 2000  # characters
DEEPEST = 40  # brackets in brackets
RELATIONS = {
    **dict.fromkeys((r"\leq", r"\le", r"\leqslant", "≤"), "Le"),
    **dict.fromkeys((r"\geq", r"\ge", r"\geqslant", "≥"), "Ge"),
    "=": "Eq",
}
SPACES = {
    r"\,", r"\;", r"\!", r"\:", "\\ ", r"\quad", r"\qquad", r"\left", r"\right", r"\displaystyle", "~", "&", "$",
    r"\big", r"\Big", r"\bigl", r"\bigr", r"\Bigl", r"\Bigr", r"\mathrm", r"\mathbf", r"\bar", r"\overline",
}  # fmt: skip
SAME = {
    **dict.fromkeys((r"\Vert", r"\lVert", r"\rVert", "‖"), r"\|"),
    **dict.fromkeys((r"\star", r"\ast"), "*"),
    **dict.fromkeys((r"\cdot", r"\times"), "·"),
    **dict.fromkeys((r"\dfrac", r"\tfrac"), r"\frac"),
    "−": "-",
    r"\ln": r"\log",
}
FUNCTIONS = {r"\max": "Max", r"\min": "Min", r"\exp": "exp", r"\log": "log"}
CLOSING = {"(": ")", "[": "]", r"\{": r"\}", "{": "}"}
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\S", re.DOTALL)
POINTS = "wxyzθ"
GREEK = {
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu", "nu",
    "xi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Phi", "Psi",
    "Omega",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Parsed:
    """A relation between two trees."""

    relation: str
    left: Tree
    right: Tree


class Unread(ValueError):
    """What could not be read, in a few words."""


def parse(text: str) -> Parsed:
    """The one relation that the text holds; raises `Unread`."""
    if len(text) > LONGEST:
        raise Unread(f"{len(text)} characters, more than {LONGEST}")
    reader = _Reader(text)
    left = reader.sum()
    relation = RELATIONS.get(reader.take())
    if relation is None:
        raise Unread(f"{reader.before} where a relation is expected")
    right = reader.sum()
    if reader.token:
        raise Unread(f"{reader.here} after the relation's right side")
    return Parsed(relation, left, right)


class _Reader:
    """Recursive descent over the tokens."""

    def __init__(self, text: str) -> None:
        tokens = [(m.start() + 1, SAME.get(m[0], m[0])) for m in TOKEN.finditer(text) if m[0] not in SPACES]
        self.columns, self.tokens = [n for n, _ in tokens], [token for _, token in tokens]
        self.at, self.depth = 0, 0

    @property
    def token(self) -> str:
        return self.ahead(0)

    @property
    def here(self) -> str:
        return self._place(self.at)

    @property
    def before(self) -> str:
        return self._place(self.at - 1)

    def _place(self, n: int) -> str:
        return f"`{self.tokens[n]}` in column {self.columns[n]}" if n < len(self.tokens) else "the end"

    def ahead(self, n: int) -> str:
        return self.tokens[self.at + n] if self.at + n < len(self.tokens) else ""

    def take(self) -> str:
        token, self.at = self.token, self.at + 1
        return token

    def expect(self, token: str) -> None:
        if self.token != token:
            raise Unread(f"{self.here} where `{token}` is expected")
        self.at += 1

    def sum(self, *, bare: bool = False) -> Tree:
        """Terms with signs; a value and the best value together are a gap. `bare`: a value may stand alone."""
        first = self.take() if self.token in ("+", "-") else "+"
        terms = [(first, self.product())]
        while self.token in ("+", "-"):
            terms.append((self.take(), self.product()))
        if bare and len(terms) == 1:
            return terms[0][1]
        for sign, value in [term for term in terms if term[1][0] == "value"]:
            best = ("-" if sign == "+" else "+", ("best",))
            if best not in terms:
                raise Unread(f"f at a point without `- f^*`, before {self.here}")
            terms[terms.index((sign, value))] = (sign, ("call", "gap", value[1]))
            terms.remove(best)
        if any(term[0] == "best" for _, term in terms):
            raise Unread(f"f^* without f at a point, before {self.here}")
        (sign, total), *rest = terms
        total = ("neg", total) if sign == "-" else total
        for sign, term in rest:
            total = (sign, total, term)
        return total

    def product(self) -> Tree:
        product = self.power()
        while self.token and self.token not in ("+", "-", ",", *CLOSING.values(), *RELATIONS):
            if self.token == "/":
                self.take()
                product = ("/", product, self.power())
            else:
                self.at += self.token in ("·", "*")
                product = ("*", product, self.power())
        if product[0] in ("*", "/") and any(part[0] in ("value", "best") for part in parts(product)):
            raise Unread(f"a product with f at a point, before {self.here}")
        return product

    def power(self) -> Tree:
        base = self.factor()
        if self.token != "^":
            return base
        self.take()
        return ("^", base, self.argument())

    def argument(self) -> Tree:
        """What stands behind ^, or after \\frac: a group, or one token (of a number one digit)."""
        if self.token.isdigit() and len(self.token) > 1:
            self.tokens[self.at : self.at + 1] = [self.token[0], self.token[1:]]
            self.columns.insert(self.at + 1, self.columns[self.at] + 1)
        return self.bracket("{") if self.token == "{" else self.factor()

    def bracket(self, opening: str, *, bare: bool = False) -> Tree:
        self.expect(opening)
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unread(f"more than {DEEPEST} brackets in one another")
        inside = self.sum(bare=bare)
        self.depth -= 1
        self.expect(CLOSING[opening])
        return inside

    def factor(self) -> Tree:
        token = self.token
        if token == r"\mathbb" or (token == "E" and self.ahead(1) in ("f", "F", r"\|", "[")):
            return self.expected()
        if token in ("f", "F"):
            return self.value()
        if token == r"\|":
            return self.norm()
        if token in CLOSING:
            return self.bracket(token)
        if token == r"\frac":
            self.take()
            return ("/", self.argument(), self.argument())
        if token == r"\sqrt":
            self.take()
            return ("sqrt", self.bracket("{") if self.token == "{" else self.factor())
        if token in FUNCTIONS:
            return self.function(FUNCTIONS[self.take()])
        if token[:1].isdigit():
            return ("number", self.take())
        return self.symbol()

    def function(self, name: str) -> Tree:
        opening = self.token
        if opening not in CLOSING:
            return (name, self.power())
        self.take()
        arguments = [self.sum()]
        while self.token == ",":
            self.take()
            arguments.append(self.sum())
        self.expect(CLOSING[opening])
        return (name, *arguments)

    def expected(self) -> Tree:
        if self.take() == r"\mathbb":
            braced = self.token == "{"
            self.at += braced
            self.expect("E")
            if braced:
                self.expect("}")
        inside = self.bracket(self.token, bare=True) if self.token in CLOSING else self.factor()
        if self.token == "^":  # E |x|^2: the power stands inside
            raise Unread(f"{self.here} after an expectation")
        if inside[0] != "value" and not (inside[0] == "call" and inside[1] in MEASURES):
            raise Unread(f"an expectation of something other than {', '.join(MEASURES)}, before {self.here}")
        return inside

    def value(self) -> Tree:
        """f^*, f(w^*), or f at a point of the run."""
        self.take()
        if self.token in ("^", "_"):
            self.take()
            self.star()
            return ("best",)
        self.expect("(")
        at = self.point()
        self.expect(")")
        return ("best",) if at is None else ("value", at)

    def norm(self) -> Tree:
        """|w_t - w*|^2 or |grad f(w_t)|^2."""
        self.expect(r"\|")
        if self.token == r"\nabla":
            self.take()
            if self.take() not in ("f", "F"):
                raise Unread(f"{self.before} where f is expected")
            self.expect("(")
            name, at = "slope2", self.point()
            self.expect(")")
        else:
            name, at = "dist2", self.point()
            self.expect("-")
            if self.point() is not None:
                raise Unread(f"a distance from something other than the optimum, before {self.here}")
        self.expect(r"\|")
        self.expect("^")
        if at is None or self.argument() != ("number", "2"):
            raise Unread(f"a norm that is not squared, or not of a point of the run, before {self.here}")
        return ("call", name, at)

    def point(self) -> Tree | None:
        """The index of w_t; None for w^*."""
        braced = self.token == "{"
        self.at += braced
        if self.take() not in POINTS:
            raise Unread(f"{self.before} where a point such as w_t is expected")
        if braced:
            self.expect("}")
        if self.take() not in ("_", "^"):
            raise Unread(f"{self.before} where the index of a point is expected")
        if self.token == "*" or (self.token == "{" and self.ahead(1) == "*"):
            self.star()
            return None
        return self.argument()

    def star(self) -> None:
        braced = self.token == "{"
        self.at += braced
        self.expect("*")
        if braced:
            self.expect("}")

    def symbol(self) -> Tree:
        token = self.take()
        name = token.removeprefix("\\")
        if not (len(token) == 1 and token.isascii() and token.isalpha()) and name not in GREEK:
            raise Unread(f"{self.before}" if token else "the end where a formula is expected")
        if self.token != "_":
            return ("symbol", name)
        self.take()
        below = self.argument()
        if below[0] in ("symbol", "number") and below[1].isalnum():
            return ("below", name, below)
        raise Unread(f"the index of {name}, before {self.here}")


def parts(tree: Tree) -> Iterator[Tree]:
    """The tree and all that is inside it."""
    yield tree
    for part in _inside(tree):
        yield from parts(part)


def renamed(tree: Tree, names: dict[Tree, Tree]) -> Tree:
    """The tree with some of its parts replaced."""
    if tree in names:
        return names[tree]
    return (tree[0], *(renamed(cast("Tree", part), names) if isinstance(part, tuple) else part for part in tree[1:]))


def _inside(tree: Tree) -> list[Tree]:
    return [cast("Tree", part) for part in tree[1:] if isinstance(part, tuple)]


def source(tree: Tree) -> str:
    """The tree as Python, in the order of the print; numbers stay exact."""
    op, *rest = tree
    match op:
        case "number":
            return rest[0] if rest[0].isdigit() else f'fa.Rational("{rest[0]}")'
        case "symbol":
            return rest[0]
        case "call":
            return f"{rest[0]}({source(rest[1])})"
        case "below":
            return f"{rest[0]}_{rest[1][1]}"
        case "/" if all(part[0] not in ("symbol", "below", "call") for part in parts(tree)):
            return _exact(*rest)
        case "neg":
            return f"-{_closed(rest[0], '*/')}"
        case "^":
            return f"{_closed(rest[0], '')} ** {_closed(rest[1], '')}"
        case "+" | "-":
            return f"{source(rest[0])} {op} {_closed(rest[1], '*/^')}"
        case "*" | "/":
            return f"{_closed(rest[0], '*/^')} {op} {_closed(rest[1], '^')}"
        case _:
            return f"fa.{op}({', '.join(source(one) for one in rest)})"


def _exact(top: Tree, bottom: Tree) -> str:
    """A quotient of numbers: of Python's own the quotient would be a float."""
    if all(side[0] == "number" and side[1].isdigit() for side in (top, bottom)):
        return f"fa.Rational({top[1]}, {bottom[1]})"
    return f"fa.Rational({_bare(top)}) / {_closed(bottom, '^')}"


def _bare(tree: Tree) -> str:
    return tree[1] if tree[0] == "number" and tree[1].isdigit() else source(tree)


def _closed(tree: Tree, bare: str) -> str:
    """In brackets, unless it is an atom or one of these operations."""
    text = source(tree)
    several = tree[0] in ("+", "-", "*", "/", "^", "neg") and tree[0] not in bare
    return f"({text})" if several and not re.fullmatch(r"fa\.Rational\(\d+, \d+\)", text) else text
