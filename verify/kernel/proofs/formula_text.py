"""Trees as formulas, for people."""

from __future__ import annotations

from ..core.expression import Op, Tree

INFIX = {"+": " + ", "*": " * ", "^": "^"}


def told(tree: Tree) -> str:
    """A tree as a formula, for people."""
    if not isinstance(tree, Op):
        return str(tree)
    name, args = tree.name, [told(arg) for arg in tree.args]
    if name in INFIX:
        return f"({INFIX[name].join(args)})"
    if name == "sum":
        return f"sum({args[3]}, {args[0]} = {args[1]}..{args[2]})"
    return f"{args[0]}({', '.join(args[1:])})" if name == "at" else f"{name}({', '.join(args)})"
