"""A method as an algorithm box, in text or LaTeX."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sympy import Add, Expr, Symbol

from ..language.algebra import fraction
from ..language.method import Method, Rules, quantity_name
from ..language.rule_parts import Atom, Number, Vector, Weights
from .printer import PYTHON, joined, latex_form, text

INDENT = {"text": "  ", "latex": r"\quad "}
CONSTANTS = {
    "start": ("start", r"\text{start}"),
    "zero": ("0", "0"),
    "w_star": ("w*", r"w^\star"),
    "w_i_star": ("w_i*", r"w_i^\star"),
    "axis": ("e_n", "e_n"),
    "f_star": ("f*", r"f^\star"),
    "f_i_star": ("f_i*", r"f_i^\star"),
}
WEIGHTS = {  # operation -> text and LaTeX of the client's weight, and of the mean with it
    "own": ("p_i", "p_i"),
    "chosen": ("alpha_i", r"\alpha^i"),
    "largest": ("largest_i({})", r"\operatorname{{largest}}_i\left({}\right)"),
    "softmax": ("softmax_i({})", r"\operatorname{{softmax}}_i\left({}\right)"),
    "in_turn": ("[E | t: {}, else p_i]", r"\left[E \mid t \colon {},\ \text{{else }} p_i\right]"),
}
AROUND = {  # operation -> text and LaTeX of its argument in brackets
    "grad": ("grad f_i({})", r"\nabla f_i\left({}\right)"),
    "hess": ("hess f_i({})({})", r"\nabla^2 f_i\left({}\right)\left({}\right)"),
    "noisy_hess": ("noisy hess f_i({})({})", r"\tilde\nabla^2 f_i\left({}\right)\left({}\right)"),
    "batch_grad": ("grad f_B({})", r"\nabla f_{{B_i}}\left({}\right)"),
    "oracle": ("oracle_({1} f_B)({0})", r"\operatorname{{oracle}}_{{{1} f_{{B_i}}}}\left({0}\right)"),
    "full_prox": ("prox_({1} f)({0})", r"\operatorname{{prox}}_{{{1} f}}\left({0}\right)"),
    "training_prox": ("prox_({1} f_erm)({0})", r"\operatorname{{prox}}_{{{1} f_{{\mathrm{{erm}}}}}}\left({0}\right)"),
    "other": ("{}[j]", r"\left({}\right)_{{i = j}}"),
    "coin": ("coin_({1})({0})", r"\operatorname{{coin}}_{{{1}}}\left({0}\right)"),
    "prox": ("prox_({1} g)({0})", r"\operatorname{{prox}}_{{{1} g}}\left({0}\right)"),
}
LAWS = {  # of a whole number: text and LaTeX around it
    "picked": ("mean_(t < T) E[{}]", r"\frac1T \sum_{{t < T}} \mathbb{{E}} \, {}"),
    "picked_step": ("mean_steps E[{}]", r"\operatorname{{mean}}_{{\text{{steps}}}} \mathbb{{E}} \, {}"),
    "of_mean": ("|E[{}]|^2", r"\left\| \mathbb{{E}} \, {} \right\|^2"),
    "around_mean": ("Var[{}]", r"\operatorname{{Var}} \left[ {} \right]"),
}
BEFORE = {  # operation -> what stands before its argument
    "mean": ("mean_i ", r"\sum_i p_i \, "),
    "sampled": ("mean_(i in S_t) ", r"\frac{1}{m} \sum_{i \in S_t} "),
    "neighbours": ("mean_(j near i) ", r"\sum_j a_{ij} \, "),
}
ATOMS = {
    "norm": ("|{}|", r"\left\| {} \right\|"),
    "norm2": ("|{}|^2", r"\left\| {} \right\|^2"),
    "inner": ("<{}, {}>", r"\left\langle {}, {} \right\rangle"),
    "f": ("f({})", r"f\left({}\right)"),
    "f_i": ("f_i({})", r"f_i\left({}\right)"),
    "F": ("F({})", r"F\left({}\right)"),
    "g": ("g({})", r"g\left({}\right)"),
    "conjugate": ("g*({})", r"g^*\left({}\right)"),
}


@dataclass(frozen=True, slots=True)
class Printer:
    """Vectors, scalars and measures of one method as text or LaTeX."""

    method: Method
    as_latex: bool

    def scalar(self, x: Any) -> str:
        return latex_form(x, self.method.glossary) if self.as_latex else text(x, PYTHON)

    def bracketed(self, x: str) -> str:
        return rf"\left({x}\right)" if self.as_latex else f"({x})"

    def factor(self, x: Vector) -> str:
        """A vector as one factor."""
        return self.bracketed(self.vector(x)) if x.op == "+" else self.vector(x)

    def vector(self, value: object) -> str:
        x = value if isinstance(value, Vector) else Vector("zero")
        match x.op:
            case "name":
                return x.args[1] if self.as_latex else x.args[0]
            case "+":
                *most, last = x.args
                return joined([*map(self.closed, most), self.vector(last)])
            case "*":
                return self.multiple(x.args[0], self.factor(x.args[1]))
            case "noisy" | "again":
                return self.noisy(x.args[0])
            case "point":
                return rf"\text{{{x.args[0]}}}" if self.as_latex else x.args[0]
            case op if op in CONSTANTS:
                return CONSTANTS[op][self.as_latex]
            case op if op in BEFORE:
                return BEFORE[op][self.as_latex] + self.factor(x.args[0])
            case "weighted":
                return self.sum_over(x.args[0]) + self.factor(x.args[1])
            case op:
                named = rf"\operatorname{{{{{op}}}}}\left({{}}\right)" if self.as_latex else f"{op}({{}})"
                template = AROUND[op][self.as_latex] if op in AROUND else named
                vectors = [self.vector(arg) for arg in x.args if isinstance(arg, Vector)]
                scalars = [self.scalar(arg) for arg in x.args if isinstance(arg, Expr)]
                return template.format(*vectors, *scalars) if op in AROUND else template.format(", ".join(vectors))

    def closed(self, x: Vector) -> str:
        """A term that another one follows, in brackets where its sum over clients would run into that one."""
        sums = (*BEFORE, "weighted")
        if x.op == "*" and x.args[1].op in sums:
            return self.multiple(x.args[0], self.closed(x.args[1]))
        return self.bracketed(self.vector(x)) if x.op in sums else self.vector(x)

    def weights(self, x: Weights) -> str:
        """The weight of client i."""
        inside: list[str] = []
        for arg in x.args:
            whole = self.number(arg) if isinstance(arg, Number) else None
            inside.append(whole or (self.weights(arg) if isinstance(arg, Weights) else self.scalar(arg)))
        return WEIGHTS[x.op][self.as_latex].format("; ".join(inside))

    def sum_over(self, weights: Weights) -> str:
        return rf"\sum_i {self.weights(weights)} \, " if self.as_latex else f"sum_i {self.weights(weights)} "

    def noisy(self, x: Vector) -> str:
        if not self.as_latex:
            return f"noisy {self.factor(x)}"
        if x.op != "grad":
            return self.bracketed(rf"{self.vector(x)} + \xi_i")
        return self.vector(x).replace(r"\nabla", r"\widetilde{\nabla}", 1)

    def multiple(self, scalar: Expr, body: str) -> str:
        negative = not isinstance(scalar, Add) and scalar.could_extract_minus_sign()
        sign, size = ("-", -scalar) if negative else ("", scalar)
        if size == 1:
            return sign + body
        top, bottom = fraction(size)
        if self.as_latex:
            return f"{sign}{self.bracketed(self.scalar(size)) if isinstance(size, Add) else self.scalar(size)} {body}"
        if top == 1:
            below = self.scalar(bottom)
            return f"{sign}{body}/{below if bottom.is_Atom or bottom.is_Function else f'({below})'}"
        return f"{sign}{self.bracketed(self.scalar(size)) if isinstance(size, Add) else self.scalar(size)}*{body}"

    def number(self, number: Number) -> str:
        if number.law in ("least", "most"):
            inside = self.bracketed(self.number(Number(number.terms)))
            where = ("_(E | s)", r"_{E \mid s}")[self.as_latex] if number.each_round else ""
            word = {"least": "min", "most": "max"}[number.law]
            return rf"\{word}{where} {inside}" if self.as_latex else f"{word}{where} {inside}"
        if number.law in ("of_mean", "around_mean"):
            ((c, (_, x)),) = number.terms
            return self.multiple(c, LAWS[number.law][self.as_latex].format(self.vector(x)))
        if number.law in LAWS:
            return LAWS[number.law][self.as_latex].format(self.number(Number(number.terms)))
        terms = [(c, "" if atom[0] == "one" else self.atom(atom, number.law == "expect")) for c, atom in number.terms]
        return joined([self.multiple(c, body) if body else self.scalar(c) for c, body in terms])

    def atom(self, atom: Atom, expected: bool) -> str:
        op, *args = atom
        match op:
            case "f_star" | "f_i_star":
                return CONSTANTS[op][self.as_latex]
            case "mean":
                inside = BEFORE["mean"][self.as_latex] + self.atom(args[0], expected=False)
            case "weighted":
                inside = self.sum_over(args[0]) + self.atom(args[1], expected=False)
            case "weight":
                inside = self.weights(args[0])
            case "ratio":
                above, below = (self.number(arg) for arg in args)
                inside = rf"\frac{{{above}}}{{{below}}}" if self.as_latex else f"({above})/({below})"
            case "smaller":
                word = r"\min" if self.as_latex else "min"
                inside = word + self.bracketed(", ".join(self.number(arg) for arg in args))
            case _ if op in ATOMS:
                inside = ATOMS[op][self.as_latex].format(*map(self.vector, args))
            case _:
                inside = f"{op}({', '.join(map(self.vector, args))})"
        if not expected:
            return inside
        return rf"\mathbb{{E}} \, {inside}" if self.as_latex else f"E[{inside}]"

    def word(self, text: str) -> str:
        return rf"\text{{{text}}}" if self.as_latex else text

    def rules(self, block: Rules, sign: str) -> str:
        pairs = [f"{self.vector(target)} {sign} {self.vector(value)}" for target, value in block.items()]
        return (r", \quad " if self.as_latex else ",  ").join(pairs)


def algorithm(method: Method, *, as_latex: bool = False) -> list[str]:
    """The lines of the box. The rules of one line are carried out at once, from the values before it."""
    printer = Printer(method, as_latex)
    arrow = r"\leftarrow" if as_latex else "<-"
    to = r", \ldots, " if as_latex else ", ..., "
    named = {str(symbol): symbol for symbol in method.glossary} | {own: symbol for symbol, own in method.names.items()}
    t, k, T, E = (printer.scalar(named.get(name, Symbol(name))) for name in ("t", "k", "T", "E"))
    rounds = T if method.counts_from else f"{T} - 1" if method.clock == "rounds" else printer.word(_rounds(method))
    whose = "client i of the sample S_t" if method.uses("sampled") else "client i"
    steps: list[tuple[int, str, str]] = [
        (0, "server: ", printer.rules(method.server, "=")),
        (0, "every client i: ", printer.rules(method.client, "=")),
        (0, "for ", f"{t if method.clock == 'rounds' else 'r'} = {method.counts_from}{to}{rounds}"),
        (1, f"every {whose}: ", printer.rules(method.begin, arrow)),
        (2, "for ", f"{k} = 0{to}{E} - 1" if method.clock == "rounds" else _span(method, to)),
        (3, "", printer.rules(method.local, arrow)),
        (2, "", printer.rules(method.end, arrow)),
        (1, "server: ", printer.rules(method.update, arrow)),
    ]
    phases = {3: method.begin, 4: method.local, 5: method.local, 6: method.end, 7: method.update}
    indent = INDENT["latex" if as_latex else "text"]
    # The line of the clients stays without a rule of its own, for their local steps are indented below it.
    kept = [step for n, step in enumerate(steps) if phases.get(n, True) or n == 3]
    return [indent * depth + (printer.word(word) if word else "") + rules for depth, word, rules in kept]


def _rounds(method: Method) -> str:
    return "T - 1" if method.clock == "rounds" else "the last round"


def _span(method: Method, to: str) -> str:
    """The local steps of round r, where t counts them over all rounds."""
    if not method.first:
        return f"t = rE{to}rE + E - 1"
    first = method.first
    if not isinstance(first, Expr) or first.is_number:
        last = "rE" if first == 1 else f"rE + {first - 1}"
        return f"t = max(0, (r - 1)E + {first}){to}{last}"
    (E,) = first.free_symbols
    ends = (str(end.expand()) for end in (first - E, first - 1))
    low, high = (f"rE - {end[1:]}" if end[0] == "-" else f"rE + {end}" if end != "0" else "rE" for end in ends)
    return f"t = max(0, {low}){to}{high}"


def measures(method: Method, used: Collection[str] | None = None, *, as_latex: bool = False) -> list[str]:
    """What statements call by a name: quantity = expectation; those of these names, or all."""
    printer = Printer(method, as_latex)
    chosen = {q: number for q, number in method.measures.items() if used is None or quantity_name(q) in used}
    return [f"{printer.scalar(q)} = {printer.number(number)}" for q, number in chosen.items()]


def box(method: Method, *, as_latex: bool = False) -> str:
    """The whole method: for a terminal, or one display for a LaTeX document."""
    if as_latex:
        rows = algorithm(method, as_latex=True) + measures(method, as_latex=True)
        return "\n".join([r"\[\begin{array}{l}", *(f"{row} \\\\" for row in rows), r"\end{array}\]"])
    lines = [f"{method.id}  (method)", method.title, f"printed: {method.cite}", "algorithm:"]
    lines += [f"  {line}" for line in algorithm(method)]
    return "\n".join([*lines, "measures:", *(f"  {line}" for line in measures(method))])
