"""What an accepted certificate must trust: kernel modules, the method, every assumption and condition, both sides.

The kernel has accepted it before, in a process of its own; here its world is asked again, part by part. Of a proof, the
chain of trust: which rules were used and how long they are, what is believed, what is assumed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import cast

from fedaudit.bounds.formulas.algorithm_box import algorithm, measures
from fedaudit.bounds.formulas.printer import PYTHON, text
from fedaudit.bounds.language.statement import Statement

from .. import kernel
from ..kernel.core.check import assume
from ..kernel.core.claim import read as read_claim
from ..kernel.core.expression import Evaluator, free
from ..kernel.core.layers import recorded
from ..kernel.core.rational import Node, shown
from ..kernel.proofs.proof import RULES
from ..results.json_fields import Json

__all__ = ["explain", "explain_proof"]

KERNEL = Path(kernel.__file__).parent
LAYERS = ("core", "losses", "runs", "worlds", "gram", "proofs", "service")  # each imports those before it alone
Parts = dict[str, list[str]]


def explain(certificate: Json, statement: Statement) -> Parts:
    """Heading -> lines, in the order in which a reader checks them. Raises what the kernel raises."""
    claim = read_claim(Node(certificate["claim"], "claim"))
    dropped = tuple(certificate["dropped"])
    with recorded() as loaded:  # from scratch, so that no answer is known already
        kernel.check(certificate)
    world = kernel.admit(certificate["claim"], certificate["instance"], dropped)
    assumptions: list[str] = []
    said = {a.name: a.says for a in (*statement.let, *statement.implicit)}
    for name, args in (*claim.let, *claim.implicit):
        constants = ", ".join(f"{arg} = {shown(world.value(arg))}" for arg in args)
        what = f"{name}({constants})" if args else name
        if name not in dropped:
            assume(claim, world, name, args)
        outcome = "not required" if name in dropped else "holds"
        assumptions.append(f"{outcome}: {what}" + (f"  [{said[name]}]" if said.get(name) else ""))
    conditions: list[str] = []
    for printed, condition in zip(statement.when, claim.when, strict=True):
        names = [n for n in claim.for_all if any((n, -1) in free(side) for side in condition[1:])]
        ends = [[Evaluator(world, claim.domains).integer(end, {}) for end in claim.for_all[n]] for n in names]
        points = list(product(*(range(low, high + 1) for low, high in ends)))
        sides = [world.settle(condition, dict(zip(names, point, strict=True)), claim.domains) for point in points]
        first = f"{shown(sides[0][0])} against {shown(sides[0][1])}" if sides else "nothing to check"
        everywhere = f", and at all {len(sides)} indices" if names else ""
        conditions.append(f"holds: {text(printed, PYTHON)}  [{first}{everywhere}]")
    lhs, rhs, _ = kernel.evaluate(certificate["claim"], certificate["instance"], dropped, certificate["at"])
    at = {name: n for name, n in certificate["at"].items() if name != "relation"}
    claimed = [text(relation, PYTHON) for relation in statement.relations]
    sides = [
        f"claimed: {claimed[certificate['at']['relation']]}",
        f"at: {', '.join(f'{k} = {v}' for k, v in at.items()) or 'the instance'}",
    ]
    return {
        "kernel": _modules(loaded),
        "method": _method(statement),
        "assumptions": assumptions,
        "conditions": conditions,
        "both sides": [*sides, f"left side: {kernel.claimed(lhs)}", f"right side: {kernel.claimed(rhs)}"],
    }


def explain_proof(row: Json, statement: Statement) -> Parts:
    """The chain of trust of an accepted proof, from its row: at most ten lines."""
    used = cast("dict[str, int]", row["rules"])
    rules = {RULES[name].__module__.removeprefix(f"{kernel.__name__}.") for name in used}
    files = _needed({"proofs.proof"} - rules)
    by_rule = ", ".join(f"{name} {n}" for name, n in sorted(used.items(), key=lambda one: (-one[1], one[0])))
    own = [file for file in files if file.parent.name == "rules" and f"proofs.rules.{file.stem}" in rules]
    shared = [file for file in files if _layer(file) == "proofs" and file.parent.name != "rules"]
    below = [file for file in files if _layer(file) != "proofs"]
    cites = cast("list[str]", row["cites"])
    assumed = [f"{a.name}({', '.join(map(str, a.args))})" if a.args else a.name for a in statement.let]
    implicit = [a.name for a in statement.implicit]
    z3 = f"z3, for {row['trusted']} lines (its own and those of what it rests on)" if row["trusted"] else "no solver"
    return {
        "chain of trust": [
            f"judgements by rule: {by_rule}",
            f"lines of code of these rules: {_lengths(own)}",
            f"and of what all rules share: {_lengths(shared)}",
            f"below them, what reads claims, methods and numbers: {sum(map(_length, below))} lines",
            f"rests on the proofs of: {', '.join(cites) or 'nothing else'}",
            f"believed: python-flint, the mathematics in the docstring of each rule, {z3}",
            f"assumed, as the text says: {', '.join(assumed) or 'nothing'}",
            f"assumed, as the text does not say: {', '.join(implicit) or 'nothing'}",
            f"and that the claim of {statement.id} is what the paper prints: `fedaudit show {statement.id}`",
        ]
    }


def _lengths(files: Iterable[Path]) -> str:
    return ", ".join(f"{file.name} {_length(file)}" for file in files)


def _length(file: Path) -> int:
    return len(file.read_text(encoding="utf-8").splitlines())


def _method(statement: Statement) -> list[str]:
    if isinstance(statement.method, str):
        return [f"the world {statement.method!r}, whose module says what it computes"]
    return algorithm(statement.method) + measures(statement.method)


def _needed(names: Iterable[str]) -> list[Path]:
    """The kernel's files that these modules of it are made of: their own, and all that they import, layer by layer."""
    waiting, needed = list(names), dict[str, Path]()
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed[name] = KERNEL / f"{name.replace('.', '/')}.py"
            waiting += _imports(name, needed[name].read_text(encoding="utf-8"))
    return sorted(needed.values(), key=lambda file: (LAYERS.index(_layer(file)), file))


def _by_layer(files: Iterable[Path]) -> list[str]:
    """A line for each layer, with its files and their lengths."""
    rows: dict[str, list[Path]] = {}
    for file in files:
        rows.setdefault(_layer(file), []).append(file)
    return [f"verify/kernel/{layer}: {_lengths(inside)}" for layer, inside in rows.items()]


def _layer(file: Path) -> str:
    return file.relative_to(KERNEL).parts[0]


def _modules(loaded: Iterable[str]) -> list[str]:
    """The layers that read this certificate, each with its files, and how many lines that is together."""
    files = _needed(["core.check", *(name.removeprefix(f"{kernel.__name__}.") for name in loaded)])
    total = sum(map(_length, files))
    return [*_by_layer(files), f"together {total} lines, the standard library and python-flint"]


def _imports(module: str, text: str) -> list[str]:
    """Modules of the kernel that one of them imports, from its top on; worlds are loaded when they are asked for."""
    lines: list[str] = []
    # Its own modules are all that the kernel imports relatively; the rest is the standard library and python-flint.
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = [*module.split(".")[: -node.level], *(node.module or "").split(".")]
            home = ".".join(filter(None, folder))
            lines += [home, *(f"{home}.{alias.name}".lstrip(".") for alias in node.names)]
    return [name for name in lines if (KERNEL / f"{name.replace('.', '/')}.py").is_file()]
