"""Elementary facts about powers, exp, log, roots and extremes: schemas that the kernel instantiates itself.

A schema says something of all real x, y, z, w and all whole n, m >= 0 that meet its conditions. The axioms: what a
power, an absolute value, a root, a minimum and a maximum are; exp(x + y) = exp(x) exp(y); exp lies above its tangent at
0, because it is convex; log is its inverse. (That exp is positive, that exp(-x) is 1/exp(x) and that 0^0 is 1 is in the
normal forms.) Every other schema is a claim that the rules prove from those before it: tests/test_fact_proofs.py.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from flint import fmpq

from ...core.expression import Op, Relation, Tree, decide, parse
from ...core.rational import Node, Rejected
from ...core.world import tabled
from ..forms import names_of
from ..judgement import Context, Judgement, in_domain, put, require, within, yields

ROOTS = 64  # the largest degree of a root
RELATIONS: Mapping[type[ast.cmpop], str] = {ast.LtE: "<=", ast.Lt: "<", ast.Eq: "=", ast.NotEq: "!="}
OPERATIONS: Mapping[type[ast.operator], str] = {ast.Add: "+", ast.Mult: "*", ast.Pow: "^"}
AXIOMS = {  # name: conditions |- relation; its variables are w x y z n m, in this order; n, m whole
    "power_step": "1 <= n |- x**n == x * x**(n - 1)",
    "exp_sum": "|- exp(x + y) == exp(x) * exp(y)",
    "exp_lower": "|- 1 + x <= exp(x)",
    "exp_log": "0 < x |- exp(log(x)) == x",
    "log_exp": "|- log(exp(x)) == x",
    "abs_above": "0 <= x |- abs(x) == x",
    "abs_below": "x <= 0 |- abs(x) == -x",
}
PROVED = {
    "power_sign": "0 <= x |- 0 <= x**n",
    "power_positive": "0 < x |- 0 < x**n",
    "power_product": "|- (x * y)**n == x**n * y**n",
    "power_sum": "|- x**(n + m) == x**n * x**m",
    "power_monotone": "0 <= x; x <= y |- x**n <= y**n",
    "power_le_one": "0 <= x; x <= 1 |- x**n <= 1",
    "power_ge_one": "1 <= x |- 1 <= x**n",
    "power_le_base": "0 <= x; x <= 1; 1 <= n |- x**n <= x",
    "power_decreasing": "0 <= x; x <= 1 |- x**(n + m) <= x**n",
    "bernoulli": "-1 <= x |- 1 + n * x <= (1 + x)**n",
    "power_difference": "0 <= y; y <= x; 1 <= n |- n * (x - y) * y**(n - 1) <= x**n - y**n",
    "quarter": "2 <= n |- 1/4 <= (1 - 1/n)**n",
    "geometric": "x != 1 |- sum(k, 0, n - 1, x**k) == (1 - x**n) / (1 - x)",
    "exp_recip": "-1 < x |- exp(-x) <= 1 / (1 + x)",
    "exp_power": "|- exp(x)**n == exp(n * x)",
    "exp_monotone": "x <= y |- exp(x) <= exp(y)",
    "one_minus_power": "0 <= x; x <= n; 1 <= n |- (1 - x/n)**n <= exp(-x)",
    "inverse_e": "1 <= n |- exp(-1) <= (1 - 1/n)**(n - 1)",
    "log_upper": "0 < x |- log(x) <= x - 1",
    "log_positive": "1 < x |- 0 < log(x)",
    "log_monotone": "0 < x; x <= y |- log(x) <= log(y)",
    "log_product": "0 < x; 0 < y |- log(x * y) == log(x) + log(y)",
    "log_growth": "0 < x |- log(x + 1) - log(x) <= 1/x",
    "young": "|- x * y <= x**2/2 + y**2/2",
    "peter_paul": "0 < z |- x * y <= x**2/(2 * z) + z * y**2/2",
    "jensen_square": "0 <= w; w <= 1 |- (w * x + (1 - w) * y)**2 <= w * x**2 + (1 - w) * y**2",
    "quotient": "x <= y; 0 <= y; 0 < z; z <= w |- x/w <= y/z",
}


@dataclass(frozen=True, slots=True)
class Schema:
    """`when` gives `then`, for all values of the variables in their domains."""

    variables: Mapping[str, str]
    when: tuple[Relation, ...]
    then: Relation


Found = tuple[Relation, Sequence[Relation]]  # what is said, and what it requires


def _schema(line: str) -> Schema:
    conditions, then = line.split("|-")
    when = tuple(relation(part) for part in conditions.split(";") if part.strip())
    letters = [c for c in "wxyznm" if c in names_of(*(side for r in (*when, relation(then)) for side in r[1:]))]
    return Schema({c: "index" if c in "nm" else "real" for c in letters}, when, relation(then))


def relation(line: str) -> Relation:
    """A relation as it is written above."""
    node = cast("ast.Compare", ast.parse(line.strip(), mode="eval").body)
    return RELATIONS[type(node.ops[0])], _tree(node.left), _tree(node.comparators[0])


def _tree(node: ast.expr) -> Tree:
    match node:
        case ast.Constant(value=int() as n):
            return fmpq(n)
        case ast.Name(id=name):
            return f"_{name}" if name == "k" else name  # the index of a sum: no value speaks of it
        case ast.UnaryOp(operand=x):
            return Op("*", (fmpq(-1), _tree(x)))
        case ast.Call(func=ast.Name(id=name), args=args):
            return Op(name, tuple(map(_tree, args)))
        case ast.BinOp(left=x, op=ast.Sub(), right=y):
            return Op("+", (_tree(x), Op("*", (fmpq(-1), _tree(y)))))
        case ast.BinOp(left=x, op=ast.Div(), right=y):
            return Op("*", (_tree(x), Op("^", (_tree(y), fmpq(-1)))))
        case ast.BinOp(left=x, op=op, right=y):
            return Op(OPERATIONS[type(op)], (_tree(x), _tree(y)))
        case _:
            raise ValueError(ast.dump(node))


FACTS: Mapping[str, Schema] = {name: _schema(line) for name, line in {**AXIOMS, **PROVED}.items()}


def fact(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """An instance of a schema: `name`, and `at` the values of its variables; its conditions are rested on, or hold by
    their form. A root takes a base and a degree, an extreme its parts, `numbers` nothing.
    """
    fields = data.fields("name at")
    name, values = fields["name"].one_of((*FACTS, *OTHERS)), [parse(node) for node in fields["at"].items()]
    within(rests, stated.under, context.forms)
    says, when = OTHERS[name](stated, values) if name in OTHERS else _instance(FACTS[name], values, rests, context)
    for requirement in when:
        require(requirement, rests, context)
    yields(says, stated, rests, context)


def _instance(schema: Schema, values: list[Tree], rests: Sequence[Judgement], context: Context) -> Found:
    if len(values) != len(schema.variables):
        raise Rejected(f"got {len(values)} values, expected one for each of {' '.join(schema.variables)}")
    for value, domain in zip(values, schema.variables.values(), strict=True):
        in_domain(value, domain, rests, context)
    at = dict(zip(schema.variables, values, strict=True))
    return put(schema.then, at), [put(condition, at) for condition in schema.when]


def _root(stated: Judgement, values: list[Tree]) -> Found:
    """The root of degree q of what is not negative, to the power q, is that."""
    base, degree = values if len(values) == 2 else ("", "")
    if isinstance(degree, str | Op) or degree.q != 1 or not 2 <= degree <= ROOTS:
        raise Rejected(f"got no root, expected a base and a degree from 2 to {ROOTS}")
    return ("=", Op("^", (Op("^", (base, 1 / degree)), degree)), base), [("<=", fmpq(0), base)]


def _extreme(name: str, beyond: bool) -> Callable[[Judgement, list[Tree]], Found]:
    """A minimum is at most its first part; with `beyond`, the first value is at most the minimum of the others if it is
    at most each of them. Of a maximum the same, the other way round.
    """

    def compared(small: Tree, large: Tree) -> Relation:
        return ("<=", small, large) if name == "min" else ("<=", large, small)

    def found(stated: Judgement, values: list[Tree]) -> Found:
        if len(values) < 2:
            raise Rejected("got fewer than two values, expected the parts")
        first, *others = values
        if beyond:
            return compared(first, Op(name, tuple(others))), [compared(first, part) for part in others]
        return compared(Op(name, tuple(values)), first), []

    return found


def _numbers(stated: Judgement, values: list[Tree]) -> Found:
    """A relation between formulas without letters, which enclosures of both sides decide."""
    if values or names_of(*stated.says[1:]):
        raise Rejected("got letters, expected a relation between numbers")
    if not decide(stated.says, {}, tabled({}, {}), None)[2]:
        raise Rejected("got a relation that does not hold")
    return stated.says, []


OTHERS: Mapping[str, Callable[[Judgement, list[Tree]], Found]] = {
    "root": _root, "numbers": _numbers,
    "min_below": _extreme("min", False), "max_above": _extreme("max", False),
    "below_min": _extreme("min", True), "above_max": _extreme("max", True),
}  # fmt: skip
