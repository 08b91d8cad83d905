"""Dimensions of a method's rules: a vector has one dimension in all of them, a measure that of its quantity."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from sympy import Expr

from ..formulas.algorithm_box import Printer
from ..language.dimension import ONE, Dimension, DimensionError, dimension, dimension_of
from ..language.method import Method
from ..language.rule_parts import Atom, Number, Vector, Weights

LENGTH, SLOPE, VALUE, STEP = (dimension(text) for text in ("W", "F/W", "F", "W^2/F"))
Dimensions = dict[str, Dimension]


def mismatches(method: Method) -> Iterator[str]:
    """Rules and measures whose terms, or whose two sides, differ in dimension; each in one line."""
    dimensions = _inferred(method)
    for place, target, value in _assignments(method):
        text = f"{place} {target.name} = {Printer(method, False).vector(value)}"
        try:
            dim = _of(value, method, dimensions)
            if dim is not None and dimensions.get(target.name, dim) != dim:
                yield f"{text}: the rule has dimension {dim}, {target.name} has {dimensions[target.name]}"
        except DimensionError as error:
            yield f"{text}: {error}"
    for quantity, number in method.measures.items():
        text = f"measure {quantity} = {Printer(method, False).number(number)}"
        try:
            dim = _number(number, method, dimensions)
            own = dimension_of(quantity, method.glossary)
            if dim is not None and own is not None and dim != own:
                yield f"{text}: the expression has dimension {dim}, {quantity} has {own}"
        except DimensionError as error:
            yield f"{text}: {error}"


def _assignments(method: Method) -> Iterator[tuple[str, Vector, Any]]:
    for place, block in (("server", method.server), ("client", method.client), *method.phases.items()):
        for target, value in block.items():
            yield place, target, value if isinstance(value, Vector) else Vector("zero")


def _inferred(method: Method) -> Dimensions:
    """The dimension of every vector: of its value before round 0 or else of its first rule that has one."""
    dimensions: Dimensions = {}
    while True:
        before = len(dimensions)
        for _, target, value in _assignments(method):
            if target.name not in dimensions and (dim := _guessed(value, method, dimensions)) is not None:
                dimensions[target.name] = dim
        if len(dimensions) == before:
            return dimensions


def _guessed(x: Vector, method: Method, known: Dimensions) -> Dimension | None:
    """The dimension that its first known term gives it; what disagrees is found later."""
    if x.op == "+":
        return next((dim for arg in x.args if (dim := _guessed(arg, method, known)) is not None), None)
    try:
        return _of(x, method, known)
    except DimensionError:
        return None


def _of(x: Vector, method: Method, known: Dimensions) -> Dimension | None:
    """None for zero, and for vectors of which nothing is known yet."""
    inside = [_of(arg, method, known) for arg in x.args if isinstance(arg, Vector)]
    for arg in x.args:
        if isinstance(arg, Weights):
            _check(arg, method, known)
    match x.op:
        case "name":
            return known.get(x.name)
        case "start" | "w_star" | "w_i_star" | "point":
            return LENGTH
        case "axis":
            return ONE
        case "zero":
            return None
        case "+":
            named = [Printer(method, False).vector(arg) for arg in x.args]
            return _agreed(list(zip(named, inside, strict=True)))
        case "*":
            scalar = dimension_of(x.args[0], method.glossary)
            return None if scalar is None or inside[0] is None else scalar * inside[0]
        case "grad" | "batch_grad":
            _expect(x.args[0], inside[0], LENGTH, method)
            return SLOPE
        case "hess" | "noisy_hess":
            _expect(x.args[0], inside[0], LENGTH, method)
            return None if inside[1] is None else inside[1] * SLOPE * LENGTH ** Fraction(-1)
        case "prox" | "oracle" | "full_prox" | "training_prox":
            _expect(x.args[1], inside[0], LENGTH, method)
            step = dimension_of(x.args[0], method.glossary)
            if step not in (None, STEP):
                raise DimensionError(f"the step {x.args[0]} of {x.op} has dimension {step}, expected {STEP}")
            return inside[0]
        case "coin":
            if (chance := dimension_of(x.args[0], method.glossary)) not in (None, ONE):
                raise DimensionError(f"the chance {x.args[0]} of a coin has dimension {chance}, expected {ONE}")
            return inside[0]
        case _:  # means, noise and whatever returns what it is given
            return inside[0] if inside else None


def _number(x: Number, method: Method, known: Dimensions) -> Dimension | None:
    return _agreed([(_term(method, c, atom), _atom(c, atom, method, known)) for c, atom in x.terms])


def _check(weights: Weights, method: Method, known: Dimensions) -> None:
    """What weights look at has one dimension, and a temperature has the same."""
    dims: list[Dimension | None] = []
    for arg in weights.args:
        if isinstance(arg, Weights):
            _check(arg, method, known)
        else:
            dims.append(_number(arg, method, known) if isinstance(arg, Number) else dimension_of(arg, method.glossary))
    if weights.op == "softmax" and None not in dims and dims[0] != dims[1]:
        raise DimensionError(f"the temperature of softmax has dimension {dims[1]}, expected {dims[0]}")


def _atom(c: Expr, atom: Atom, method: Method, known: Dimensions) -> Dimension | None:
    scalar = dimension_of(c, method.glossary)
    op, *args = atom
    if op in ("weighted", "weight"):
        _check(args.pop(0), method, known)
    if op in ("mean", "weighted"):
        return _atom(c, args[0], method, known)
    if op == "smaller":
        own = _agreed([(Printer(method, False).number(arg), _number(arg, method, known)) for arg in args])
        return None if scalar is None or own is None else scalar * own
    if op == "ratio":
        above, below = (_number(arg, method, known) for arg in args)
        return None if scalar is None or above is None or below is None else scalar * above * below ** Fraction(-1)
    inside = [_of(arg, method, known) for arg in args]
    if op in ("f", "f_i", "F", "g"):
        _expect(args[0], inside[0], LENGTH, method)
    if op == "conjugate":
        _expect(args[0], inside[0], SLOPE, method)
    if op in ("f", "f_i", "F", "g", "f_star", "f_i_star", "conjugate"):
        own = VALUE
    elif None in inside:
        own = None
    else:
        own = ONE
        # A squared norm has the dimension of its vector twice.
        for dim in inside * 2 if op == "norm2" else inside:
            own = own * (dim or ONE)
    return None if scalar is None or own is None else scalar * own


def _term(method: Method, c: Expr, atom: Atom) -> str:
    printer = Printer(method, False)
    return printer.multiple(c, printer.atom(atom, expected=False))


def _expect(x: Vector, got: Dimension | None, expected: Dimension, method: Method) -> None:
    if got not in (None, expected):
        raise DimensionError(f"{Printer(method, False).vector(x)} has dimension {got}, expected {expected}")


def _agreed(terms: list[tuple[str, Dimension | None]]) -> Dimension | None:
    dimensioned = [(term, dim) for term, dim in terms if dim is not None]
    for term, dim in dimensioned[1:]:
        if dim != dimensioned[0][1]:
            raise DimensionError(f"{dimensioned[0][0]} has dimension {dimensioned[0][1]}, {term} has {dim}")
    return dimensioned[0][1] if dimensioned else None
