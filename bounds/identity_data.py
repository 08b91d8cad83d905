"""A shown premise as JSON, for a kernel that expands it again without sympy and z3 (verify/kernel/identity.py)."""

# sympy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sympy import Add, Integer, Mul, Pow, Rational
from sympy.core.function import AppliedUndef

from .atoms import (
    MEAN_CONVEX,
    Atom,
    Bound,
    Convex,
    Lipschitz,
    Lower,
    Minimum,
    Near,
    ProximalPL,
    Short,
    Slope,
    Smooth,
    Square,
    Subgradient,
    Subset,
    Variance,
    Weight,
)
from .derivation import Known
from .frame import Reader
from .groups import Idle
from .method import full_prox, grad, mean, neighbours, oracle, prox
from .proximal_atoms import Largest, Moved, Optimal, Steep
from .shown import Shown, by_form, check, reader_of
from .vectors import ANY, AXIS, Coefficient, Name, Scalar, Term, Vec

FORMAT = "fedaudit-identity/1"


def identity_data(premise: Known, statement: str = "") -> dict[str, Any]:
    """The certificate of a shown premise."""
    rule: Shown = premise.rule
    made, reader = check(rule), reader_of(rule)
    names = Names()
    identities = [
        {
            "left": names.scalar(identity.left),
            "by": [
                {
                    "multiplier": _tree(multiplier, reader),
                    "sign": "form" if by_form(multiplier) else "z3",
                    "atom": names.atom(atom, reader),
                }
                for multiplier, atom in (rule.by if n == 0 else ())
            ],
        }
        for n, identity in enumerate(made.identities)
    ]
    squares: Any = reader.letters.get(rule.frame.sum_of_squares)
    if rule.frame.even:
        squares = ["/", "1", reader.letters[rule.frame.sizes[1]]]
    return {
        "format": FORMAT,
        "statement": statement,
        "because": premise.because,
        "claim": str(premise.claim),
        "charges": sorted({name for name, _ in made.charges}),
        "parameters": {
            name: {"means": str(leaf), "sign": _sign(leaf)} for leaf, name in reader.letters.items()
        },
        **({"squares": squares} if squares else {}),
        **({"share": fraction_tree(reader.share, reader.ring.parameters)} if reader.share else {}),
        **({"single": True} if rule.frame.one else {}),
        **({"composite": True} if rule.frame.method.composite else {}),
        **({"pathwise": True} if rule.pathwise else {}),
        **({"groups": True} if rule.frame.groups else {}),
        **({"alone": True} if rule.frame.alone else {}),
        **({"kept": [x.name for x in rule.frame.kept]} if rule.frame.kept else {}),
        **({"fenchel": True} if _speaks_of_the_conjugate(rule) else {}),
        "names": names.rows,
        "identities": identities,
    }  # fmt: skip


def _speaks_of_the_conjugate(rule: Shown) -> bool:
    meant = (rule.frame.meaning(q) for q in rule.claim.atoms(AppliedUndef) if rule.frame.formula(q) is None)
    return any(atom[0] == "conjugate" for known in meant if known for _, atom in known[1].terms)


def _sign(leaf: Any) -> str:
    return "positive" if by_form(leaf, strict=True) else "nonnegative" if by_form(leaf) else "real"


def _tree(expr: Any, reader: Reader) -> Any:
    if isinstance(expr, Rational):
        return str(expr)
    if expr in reader.letters:
        return reader.letters[expr]
    if isinstance(expr, Pow) and isinstance(expr.exp, Integer):
        base = ["^", _tree(expr.base, reader), abs(int(expr.exp))]
        return base if expr.exp > 0 else ["/", "1", base]
    if isinstance(expr, Add | Mul):
        return ["+" if isinstance(expr, Add) else "*", *(_tree(arg, reader) for arg in expr.args)]
    return reader.letters[reader.frame.sum_of_squares]


def fraction_tree(c: Coefficient, letters: tuple[str, ...]) -> Any:
    def polynomial(rows: list[list[Any]]) -> Any:
        terms = [
            ["*", number, *(["^", name, e] for name, e in zip(letters, exponents, strict=True) if e)]
            for exponents, number in rows
        ]
        return ["+", *terms] if terms else "0"

    top, below = c.data()
    return polynomial(top) if c.below.is_one() else ["/", polynomial(top), polynomial(below)]


class Names:
    """The vectors of one certificate, numbered as they are met; each point before what is taken there."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.numbers: dict[Name, int] = {}

    def number(self, name: Name) -> int:
        if name not in self.numbers:
            if name.near is not None:
                row: dict[str, Any] = {"kind": "near", "of": self.number(name.near)}
            elif name.point is None:
                kinds = {"w*": "w*", AXIS: "axis"}
                row = {"kind": kinds[name.label]} if name.label in kinds else {"kind": "vector", "label": name.label}
                row |= {} if name.centre is None else {"mean": self.number(name.centre)}
            else:
                row = {"kind": "gradient", "of": self.vector(name.point)}
                if name.noise:
                    row = {"kind": "noise", "of": row["of"], "step": name.stage - 1}
                elif name.step is not None:
                    kind = f"{name.loss} prox" if name.loss else "prox"
                    row = {"kind": kind, "of": row["of"], "size": self.coefficient(name.step)}
            self.rows.append(row)
            self.numbers[name] = len(self.rows) - 1
        return self.numbers[name]

    def vector(self, x: Vec) -> list[Any]:
        return [[self.number(name), tag, self.coefficient(c)] for (name, tag), c in x.terms.items()]

    def coefficient(self, c: Coefficient) -> Any:
        return fraction_tree(c, tuple(c.top.context().names()))

    def scalar(self, scalar: Scalar) -> list[Any]:
        return [[self.coefficient(c), self.term(term)] for c, term in scalar]

    def term(self, term: Term) -> list[Any]:
        if term.op == "inner":
            whose = [term.client] if term.over == "near" else []
            return ["inner", term.over, *(self.vector(x) for x in term.vectors), *whose]
        if term.op == "value":
            point = [self.vector(x) for x in term.vectors]
            return ["value" if point else "least", term.over, *point, term.tag]
        if term.op in ("regulariser", "drawn"):
            return [term.op, term.over, self.vector(term.vectors[0]), term.tag]
        return [term.op, term.over, *([term.label] if term.op == "weight" else [])]  # 1 is its own mean

    def atom(self, atom: Atom, reader: Reader) -> dict[str, Any]:
        chosen = atom.client if isinstance(atom, Near) else None
        client = str(chosen or reader.frame.letters[2]) if atom.over == "one" else ANY
        return {
            "kind": KINDS[type(atom)],
            "over": atom.over,
            "client": client,
            **dict(self._parts(atom, reader, client)),
        }

    def _parts(self, atom: Atom, reader: Reader, client: str) -> Iterator[tuple[str, Any]]:
        def vector(x: Any) -> list[Any]:
            other = str(reader.frame.letters[3]) if atom.over == "one" else None
            return self.vector(reader.vector(x, "base", client, other))

        match atom:
            case Bound():
                yield "terms", self.scalar(reader.atom(atom))
            case Weight():
                ((_, term),) = reader.atom(atom)
                yield "index", term.label
            case Near(x=x):
                self.vector(reader.vector(neighbours(x), "base", client))
                yield "x", self.vector(reader.vector(x, "base", ANY))
            case Variance(x=x, sigma=sigma, batch=batch):
                point = reader.vector(x, "base", client)
                yield "x", self.vector(reader.noise(point, "base", client))
                yield "constant", _tree(sigma, reader)
                if batch is not None:
                    yield "batch", _tree(batch, reader)
            case Smooth(x=x, y=y, L=constant) | Lipschitz(x=x, y=y, L=constant) | Convex(x=x, y=y, mu=constant):
                vector(grad(x))  # names for the gradients, whether or not a term has them
                vector(grad(y))
                yield "x", vector(x)
                yield "y", vector(y)
                yield "constant", "0" if constant == 0 else _tree(constant, reader)
                if isinstance(atom, Smooth):
                    yield "below", atom.below
                if isinstance(atom, Convex) and atom.named == MEAN_CONVEX:
                    yield "shared", True
            case Subgradient(x=x, y=y, step=step, nu=nu):
                vector(prox(x, step))
                yield "x", vector(x)
                yield "y", vector(y)
                yield "constant", _tree(step, reader)
                if nu != 0:
                    yield "weak", _tree(nu, reader)
            case Slope(x=x, step=step, B=bound):
                vector(prox(x, step))
                yield "x", vector(x)
                yield "size", _tree(step, reader)
                yield "constant", _tree(bound, reader)
            case Optimal(x=x, y=y, step=step, nu=nu, full=full):
                vector((full_prox if full else oracle)(x, step))
                yield "x", vector(x)
                yield "y", vector(y)
                yield "constant", _tree(step, reader)
                yield "weak", _tree(nu, reader)
                yield "full", full
            case Moved(x=x, step=step, G=bound):
                vector(oracle(x, step))
                yield "x", vector(x)
                yield "size", _tree(step, reader)
                yield "constant", _tree(bound, reader)
            case Steep(x=x, y=y, G=bound, c=c, draws=draws):
                yield "x", vector(x)
                yield "y", vector(y)
                yield "constant", _tree(bound, reader)
                yield "size", _tree(c, reader)
                yield "draws", draws
            case Largest(quantity=quantity):
                yield "most", reader.letters[quantity]
                yield "terms", self.scalar(reader.atom(atom)[1:])
            case ProximalPL(x=x, mu=mu):
                vector(prox(x - mean(grad(x)) / mu, 1 / mu))
                vector(mean(grad(x)))
                yield "x", vector(x)
                yield "constant", _tree(mu, reader)
            case Idle():
                yield "terms", self.scalar(reader.atom(atom))
            case Subset():
                yield "few", reader.letters[reader.frame.sample]
                yield "many", reader.letters[reader.frame.sizes[1]]
            case Short(x=x, G=bound):
                yield "x", vector(x)
                yield "constant", _tree(bound, reader)
            case Square(x=x) | Lower(x=x) | Minimum(x=x):
                yield "x", vector(x)


KINDS: dict[type, str] = {
    Square: "square",
    Smooth: "smooth",
    Convex: "convex",
    Lipschitz: "lipschitz",
    Lower: "lower",
    Minimum: "minimum",
    Variance: "variance",
    Bound: "assumed",
    Subgradient: "subgradient",
    Slope: "slope",
    Short: "short",
    Subset: "subset",
    ProximalPL: "proximal_pl",
    Near: "near",
    Weight: "weight",
    Optimal: "optimal",
    Moved: "moved",
    Steep: "steep",
    Largest: "largest",
    Idle: "idle",
}
