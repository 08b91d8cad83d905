"""What an accepted certificate must trust: kernel modules, the method, every assumption and condition, both sides.

The kernel has accepted it before, in a process of its own; here its world is asked again, part by part.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import kernel
from .kernel.check import WORLDS, assume
from .kernel.claim import read as read_claim
from .kernel.expression import Evaluator, free
from .kernel.rational import Node, shown

if TYPE_CHECKING:
    from fedaudit.bounds.statement import Statement

__all__ = ["explain"]

CORE = ("check", "claim", "expression", "rational", "work", "world")  # what reads every certificate
Parts = dict[str, list[str]]


def explain(certificate: Mapping[str, Any], statement: Statement) -> Parts:
    """Heading -> lines, in the order in which a reader checks them. Raises what the kernel raises."""
    from fedaudit.bounds.printing import PYTHON, text
    from fedaudit.bounds.written import written

    claim = read_claim(Node(certificate["claim"], "claim"))
    dropped = tuple(certificate["dropped"])
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
    made = written(statement)
    for printed, condition in zip(made.when, claim.when, strict=True):
        names = [n for n in claim.for_all if any((n, -1) in free(side) for side in condition[1:])]
        ends = [[Evaluator(world, claim.domains).integer(end, {}) for end in claim.for_all[n]] for n in names]
        points = list(product(*(range(low, high + 1) for low, high in ends)))
        sides = [world.settle(condition, dict(zip(names, point, strict=True)), claim.domains) for point in points]
        first = f"{shown(sides[0][0])} against {shown(sides[0][1])}" if sides else "nothing to check"
        everywhere = f", and at all {len(sides)} indices" if names else ""
        conditions.append(f"holds: {text(printed, PYTHON)}  [{first}{everywhere}]")
    lhs, rhs, _ = kernel.evaluate(certificate["claim"], certificate["instance"], dropped, certificate["at"])
    at = {name: n for name, n in certificate["at"].items() if name != "relation"}
    claimed = [text(relation, PYTHON) for relation in made.then]
    sides = [
        f"claimed: {claimed[certificate['at']['relation']]}",
        f"at: {', '.join(f'{k} = {v}' for k, v in at.items()) or 'the instance'}",
    ]
    return {
        "kernel": _modules(claim.setting),
        "method": _method(statement),
        "assumptions": assumptions,
        "conditions": conditions,
        "both sides": [*sides, f"left side: {kernel.claimed(lhs)}", f"right side: {kernel.claimed(rhs)}"],
    }


def _method(statement: Statement) -> list[str]:
    from fedaudit.bounds.algorithm import algorithm, measures

    if isinstance(statement.method, str):
        return [f"the world {statement.method!r}, whose module says what it computes"]
    return algorithm(statement.method) + measures(statement.method)


def _modules(setting: str) -> list[str]:
    """The modules that read this certificate, each with its length: the core, the world, and what that imports."""
    folder = Path(kernel.__file__).parent
    waiting = [*CORE, WORLDS[setting].read.__module__.rpartition(".")[2]]
    needed: dict[str, int] = {}
    while waiting:
        name = waiting.pop(0)
        if name in needed:
            continue
        text = (folder / f"{name}.py").read_text(encoding="utf-8")
        needed[name] = len(text.splitlines())
        waiting += _imports(text) if name != "check" else ()  # which imports every world there is
    lines = [f"verify/kernel/{name}.py  {count} lines" for name, count in needed.items()]
    return [*lines, f"together {sum(needed.values())} lines, the standard library and python-flint"]


def _imports(text: str) -> list[str]:
    """Modules of the kernel that a module imports."""
    found: list[str] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found += [node.module] if node.module else [alias.name for alias in node.names]
    return found
