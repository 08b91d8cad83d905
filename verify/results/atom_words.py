"""The inequalities of a proof in words, each with its points: "strong convexity of f_i at (w, w*), times 2".

Formulas stand between dollar signs, as LaTeX, so that a page, a terminal and a LaTeX document print one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fedaudit.bounds.formulas.algorithm_box import CONSTANTS, Printer
from fedaudit.bounds.language.assumptions import ASSUMPTIONS
from fedaudit.bounds.language.rule_parts import Vector
from fedaudit.bounds.proofs.atom import Atom

__all__ = ["ProofPrinter", "in_words", "vector_words"]

Words = Callable[[Any, Printer], str]
CLIENT = re.compile(r"(?<=[_^])i(?![A-Za-z])|(?<=[_^]\{)i(?=\})")
OVER = {"one": "", "mean": ", averaged over the clients", "squares": ", summed with the weights $p_i^2$"}


@dataclass(frozen=True, slots=True)
class ProofPrinter(Printer):
    """Vectors of a proof, where a mean often stands inside what is said of a client: its index is another letter."""

    def vector(self, value: Any) -> str:
        if not isinstance(value, Vector) or value.op != "mean":
            return Printer.vector(self, value)
        inside = self.factor(value.args[0])
        letter = r"\ell" if re.search(r"[_^{]j", inside) else "j"
        return rf"\sum_{letter} p_{letter} \, " + CLIENT.sub(lambda _: letter, inside)

    def atom(self, atom: tuple[Any, ...], expected: bool) -> str:
        """The expectation of a constant is the constant."""
        return Printer.atom(self, atom, expected and not _is_constant(atom))


def _is_constant(atom: tuple[Any, ...]) -> bool:
    op, *args = atom
    if op == "mean":
        return _is_constant(args[0])
    vectors = [arg for arg in args if isinstance(arg, Vector)]
    return op in CONSTANTS or (bool(args) and len(vectors) == len(args) and all(x.op in CONSTANTS for x in vectors))


def vector_words(x: Any, printer: Printer) -> str:
    """A vector between dollar signs."""
    return f"${printer.vector(x)}$"


def _points(atom: Any, printer: Printer) -> str:
    return f"at ${printer.vector(atom.x)}$ and ${printer.vector(atom.y)}$"


def _convex(atom: Any, printer: Printer) -> str:
    strong = "strong convexity" if atom.mu != 0 else "convexity"
    return f"{strong} of {_whose(atom)} {_points(atom, printer)}"


def _whose(atom: Any) -> str:
    return "$f$" if ASSUMPTIONS[atom.named].of_mean else "$f_i$"


def _smooth(atom: Any, printer: Printer) -> str:
    side = ", from below" if atom.below else ""
    return f"smoothness of {_whose(atom)}{side} {_points(atom, printer)}"


def _bound(atom: Any, printer: Printer) -> str:
    assumption = atom.assumption
    where = ", ".join(
        f"${printer.scalar(index)} = {printer.scalar(value)}$" for index, value in atom.at if index != value
    )
    says = (assumption.says or assumption.name.replace("_", " ")).partition(":")[0]
    return f"assumed ({says})" + (f", at {where}" if where else "")


WORDS: dict[str, Words] = {
    "square": lambda a, p: rf"$\left\|{p.vector(a.x)}\right\|^2 \geq 0$",
    "smooth": _smooth,
    "lipschitz": lambda a, p: rf"$\|\nabla f_i(x) - \nabla f_i(y)\| \leq L \|x - y\|$ {_points(a, p)}",
    "convex": _convex,
    "interpolated": lambda a, p: f"smoothness and strong convexity of $f_i$ together {_points(a, p)}",
    "cocoercive": lambda a, p: rf"co-coercivity of $\nabla f_i$ {_points(a, p)}",
    "lower": lambda a, p: rf"$f_i^\star$ is the least value of $f_i$ (at ${p.vector(a.x)}$)",
    "minimum": lambda a, p: rf"$f^\star$ is the least value (at ${p.vector(a.x)}$)",
    "variance": lambda a, p: f"the variance of the noise of ${p.vector(a.x)}$",
    "bound": _bound,
    "near": lambda a, p: f"Jensen's inequality over the neighbours for ${p.vector(a.x)}$",
    "weight": lambda a, p: "weights are not negative",
    "subset": lambda a, p: "no more clients are drawn than there are",
    "idle": lambda a, p: "at most one client is idle",
    "short": lambda a, p: f"the loss is Lipschitz: the length of ${p.vector(a.x)}$",
    "subgradient": lambda a, p: (
        f"the subgradient of $g$ at the proximal point of ${p.vector(a.x)}$, towards ${p.vector(a.y)}$"
    ),
    "slope": lambda a, p: f"subgradients of $g$ are bounded, at the proximal point of ${p.vector(a.x)}$",
    "proximal_pl": lambda a, p: f"the proximal Polyak–Łojasiewicz inequality at ${p.vector(a.x)}$",
    "optimal": lambda a, p: (
        f"the proximal point of ${p.vector(a.x)}$ is the minimiser of its problem, compared with ${p.vector(a.y)}$"
    ),
    "moved": lambda a, p: f"a proximal step of Lipschitz losses is short, from ${p.vector(a.x)}$",
    "steep": lambda a, p: f"the losses are Lipschitz, {_points(a, p)}",
    "largest": lambda a, p: "a mean is at most the largest",
}


def in_words(multiplier: Any, atom: Atom, printer: Printer) -> str:
    """One inequality that a line rests on: which, where, over which mean, and times what."""
    tell = WORDS.get(atom.kind, _unnamed)
    times = "" if multiplier == 1 else f", times ${printer.scalar(multiplier)}$"
    return f"{tell(atom, printer)}{OVER.get(atom.over, '')}{times}"


def _unnamed(atom: Any, printer: Printer) -> str:
    """An atom that this module has no words for: its kind, and its points."""
    parts = (getattr(atom, part.partition("=")[0], None) for part in atom.parts.split())
    points = ", ".join(vector_words(part, printer) for part in parts if isinstance(part, Vector))
    return atom.kind.replace("_", " ") + (f" at {points}" if points else "")
