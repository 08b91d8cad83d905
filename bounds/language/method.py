"""A method as data: the algorithm box in the paper's symbols.

A `Method` names the server's and the clients' vectors, says what they are before round 0, and gives the rules of a
round: `begin` when the round reaches a client, `local` E times, `end` after them, `update` at the server. The rules of
one phase are carried out at once, from the values before it. Interpreters elsewhere read it (arrays, rationals, LaTeX);
none of them is mentioned here.
"""

# sympy ships no type stubs (2026-11).
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, cast, get_args

from sympy import Expr, Integer, Lambda, Pow, Symbol, SympifyError, sympify
from sympy.core.function import AppliedUndef

from fedaudit.errors import UserError

from .statement import Glossary

PHASES = ("begin", "local", "end", "update")
SIZES = {"E": "local steps", "C": "clients", "T": "rounds", "m": "sampled clients", "D": "the dimension"}
INDICES = ("t", "k", "i", "j", "n")  # what every run calls round, local step, client, another client, coordinate
LAST = {"other": "j", "axis": "n"}  # the index that it needs, which only a measure has
Over = Literal["all", "sampled"]
Clock = Literal["rounds", "steps"]
Law = Literal["", "expect", "least", "most", "picked", "picked_step", "of_mean", "around_mean"]


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector of the run: a name, or an operation on vectors.

    >>> import fedaudit as fa
    >>> (fa.start - fa.w_star).op
    '+'
    """

    op: str
    args: tuple[Any, ...] = ()

    # sympy leaves `scalar * vector` to us (NotImplemented), so that rules read as they are printed
    def __add__(self, other: Vector) -> Vector:
        return Vector("+", (*_terms(self), *_terms(_vector(other))))

    def __neg__(self) -> Vector:
        return Vector("*", (Integer(-1), self))

    def __sub__(self, other: Vector) -> Vector:
        return self + -_vector(other)

    def __mul__(self, scalar: Any) -> Vector:
        return Vector("*", (_scalar(scalar), self))

    __rmul__ = __mul__

    def __truediv__(self, scalar: Any) -> Vector:
        return self * (1 / _scalar(scalar))

    @property
    def name(self) -> str:
        if self.op != "name":
            raise UserError(f"got {self.op!r}, expected the name of a vector; do: assign to a vector's own name")
        return self.args[0]

    def scalars(self) -> Iterator[Expr]:
        """Every scalar factor in it."""
        return scalars_of(self)

    def uses(self, op: str) -> bool:
        return any(isinstance(part, Vector | Weights) and part.op == op for part in _parts(self))


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the clients in a mean, one number each."""

    op: str
    args: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Number:
    """A combination of norms, inner products and values; of a measure, of their expectations or extremes.

    >>> import fedaudit as fa
    >>> (fa.expect(fa.f(fa.vector("x"))) - fa.f_star).law
    'expect'
    """

    terms: tuple[tuple[Expr, tuple[Any, ...]], ...]  # (coefficient, (operation, vectors ...))
    law: Law = ""
    each_round: bool = False  # of an extreme: over the steps that E divides alone

    def __add__(self, other: Number) -> Number:
        if self.law != _number(other).law:
            raise UserError("got a random number beside an expectation, expected both of one sort; do: use expect(...)")
        return Number(self.terms + other.terms, self.law)

    def __neg__(self) -> Number:
        return -1 * self

    def __sub__(self, other: Number) -> Number:
        return self + -_number(other)

    def __mul__(self, scalar: Any) -> Number:
        return Number(tuple((coefficient * _scalar(scalar), atom) for coefficient, atom in self.terms), self.law)

    __rmul__ = __mul__

    def __truediv__(self, scalar: Any) -> Number:
        return self * (1 / _scalar(scalar))


def _parts(x: Any) -> Iterator[Any]:
    """The thing itself and all that is inside it: vectors, weights, numbers, scalars."""
    yield x
    inside = x.terms if isinstance(x, Number) else x.args if isinstance(x, Vector | Weights) else x
    for part in cast("tuple[Any, ...]", inside) if isinstance(inside, tuple) else ():
        yield from _parts(part)


def scalars_of(x: Vector | Number) -> Iterator[Expr]:
    """Every scalar factor in it."""
    return (part for part in _parts(x) if isinstance(part, Expr))


def vectors_of(x: Vector | Number) -> Iterator[Vector]:
    """Every vector in it."""
    return (part for part in _parts(x) if isinstance(part, Vector))


def _terms(vector: Vector) -> tuple[Vector, ...]:
    return vector.args if vector.op == "+" else (vector,)


def _vector(value: Any) -> Vector:
    if isinstance(value, Vector):
        return value
    if isinstance(value, int) and value == 0:
        return zero
    raise UserError(f"got {value!r}, expected a vector; do: write 0 or an expression of the method's vectors")


def _number(value: Any) -> Number:
    if isinstance(value, Number):
        return value
    what = "a vector" if isinstance(value, Vector) else repr(value)
    raise UserError(what, "a number of the run such as norm2(x), f(x) or inner(x, y)", "write one of them")


def _scalar(value: Any) -> Any:
    if isinstance(value, Vector | Number):
        raise UserError("got a product of two vectors, expected a scalar and a vector; do: use inner(x, y)")
    try:
        return cast("Any", sympify(value, strict=True))  # strict: numbers and formulas, never text
    except SympifyError:
        raise UserError(repr(value), "a number or a formula", "write it with the glossary's symbols") from None


start = Vector("start")  # the point where the run begins
zero = Vector("zero")
w_star = Vector("w_star")  # a minimiser of f, of F = f + g where the problem has a regulariser g
w_i_star = Vector("w_i_star")  # a minimiser of the client's own loss
axis = Vector("axis")  # the unit vector along coordinate n, of a measure at n: inner(x, axis) is x_n
f_star = Number(((Integer(1), ("f_star",)),), "expect")  # the least value of f, or of F
f_i_star = Number(((Integer(1), ("f_i_star",)),))  # the least value of the client's own loss
own = Weights("own")  # the problem's weights p_i


def vector(name: str, latex: str = "") -> Vector:
    """A vector of the server or of every client; which of them, the method says.

    >>> import fedaudit as fa
    >>> fa.vector("y", "y_i").name
    'y'
    """
    return Vector("name", (name, latex or name))


def point(name: str) -> Vector:
    """A point that the instance gives, anywhere."""
    return Vector("point", (name,))


def grad(x: Vector) -> Vector:
    """The gradient of the client's own loss.

    >>> import fedaudit as fa
    >>> fa.grad(fa.vector("x")).op
    'grad'
    """
    return Vector("grad", (_vector(x),))


def batch_grad(x: Vector) -> Vector:
    """The gradient of the mean over the minibatch that the client drew in this round."""
    return Vector("batch_grad", (_vector(x),))


def oracle(x: Vector, step: Any) -> Vector:
    """Any point that the accuracy allows, near the minimiser of the minibatch's loss + |. - x|^2/(2 step)."""
    return Vector("oracle", (_scalar(step), _vector(x)))


def full_prox(x: Vector, step: Any) -> Vector:
    """The minimiser of f + |. - x|^2/(2 step), f = sum_i p_i f_i."""
    return Vector("full_prox", (_scalar(step), _vector(x)))


def training_prox(x: Vector, step: Any) -> Vector:
    """The same with the losses of the training sample in place of their means over all data points."""
    return Vector("training_prox", (_scalar(step), _vector(x)))


def hess(x: Vector, v: Vector) -> Vector:
    """The Hessian of the client's own loss at x, times v."""
    return Vector("hess", (_vector(x), _vector(v)))


def noisy_hess(x: Vector, v: Vector) -> Vector:
    """The Hessian at a data point that is drawn anew in every step, independent of all other draws, times v."""
    return Vector("noisy_hess", (_vector(x), _vector(v)))


def noisy(x: Vector, *, again: bool = False) -> Vector:
    """What the client's oracle returns for x: unbiased, with noise that is new in every step.

    `again`: a second draw of the same step, independent of the first.

    >>> import fedaudit as fa
    >>> fa.noisy(fa.grad(fa.vector("x"))).op
    'noisy'
    """
    return Vector("again" if again else "noisy", (_vector(x),))


def other(x: Vector) -> Vector:
    """What client j has where client i has x, of a measure at i and j."""
    return Vector("other", (_vector(x),))


def prox(x: Vector, step: Any) -> Vector:
    """The proximal point of the regulariser.

    >>> import fedaudit as fa
    >>> fa.prox(fa.vector("x"), 1).op
    'prox'
    """
    return Vector("prox", (_scalar(step), _vector(x)))


def neighbours(x: Vector) -> Vector:
    """The mean over the client's neighbours in the similarity graph, with the graph's weights.

    >>> import fedaudit as fa
    >>> fa.neighbours(fa.vector("x")).op
    'neighbours'
    """
    return Vector("neighbours", (_vector(x),))


def mean(x: Any, over: Over = "all", weights: Weights = own) -> Any:
    """The mean over all clients with the problem's weights or others; over the sampled ones each counts the same.

    >>> import fedaudit as fa
    >>> fa.mean(fa.vector("y")).op, fa.mean(fa.vector("y"), over="sampled").op
    ('mean', 'sampled')
    """
    if over not in get_args(Over):
        raise UserError(f"mean(…, over={over!r})", " or ".join(map(repr, get_args(Over))), "write over='sampled'")
    if not isinstance(cast("Any", weights), Weights):
        raise UserError(f"mean(…, weights={weights!r})", "weights", "write weights=own, largest(…), softmax(…)")
    if over == "sampled" and (isinstance(x, Number) or weights != own):
        expected = "vectors there, which count the same"
        raise UserError("mean(…, over='sampled') of numbers or with weights", expected, "leave `over` out")
    if isinstance(x, Number):
        around = ("mean",) if weights == own else ("weighted", weights)
        return Number(tuple((c, (*around, atom)) for c, atom in x.terms), x.law)
    if weights != own:
        return Vector("weighted", (weights, _vector(x)))
    return Vector("mean" if over == "all" else "sampled", (_vector(x),))


def chosen(by: Number) -> Weights:
    """Any weights that the instance chooses: a row per round, or a policy that looks at the clients' numbers `by`."""
    return Weights("chosen", (by,))


def largest(by: Number, k: Any = None) -> Weights:
    """Equal shares for the clients where `by` is largest; with k, for the first k of them (ties: by number)."""
    return Weights("largest", (by,) if k is None else (by, _scalar(k)))


def softmax(by: Number, temperature: Any) -> Weights:
    """p_i exp(by/temperature), divided by their sum."""
    return Weights("softmax", (by, _scalar(temperature)))


def in_turn(weights: Weights) -> Weights:
    """These weights at the steps that E divides, the problem's own at the others."""
    return Weights("in_turn", (weights,))


def weight(weights: Weights) -> Number:
    """The client's own weight."""
    return Number(((Integer(1), ("weight", weights)),))


def ratio(x: Number, y: Number) -> Number:
    """x / y, where y is not 0."""
    return Number(((Integer(1), ("ratio", _number(x), _number(y))),))


def smaller(x: Number, y: Number) -> Number:
    return Number(((Integer(1), ("smaller", _number(x), _number(y))),))


def norm(x: Vector) -> Number:
    return Number(((Integer(1), ("norm", _vector(x))),))


def norm2(x: Vector) -> Number:
    """The squared Euclidean norm.

    >>> import fedaudit as fa
    >>> dist2 = fa.expect(fa.norm2(fa.vector("x") - fa.w_star))
    >>> dist2.law
    'expect'
    """
    return Number(((Integer(1), ("norm2", _vector(x))),))


def inner(x: Vector, y: Vector) -> Number:
    """The inner product.

    >>> import fedaudit as fa
    >>> fa.inner(fa.vector("x"), fa.w_star).terms[0][1][0]
    'inner'
    """
    return Number(((Integer(1), ("inner", _vector(x), _vector(y))),))


def f(x: Vector) -> Number:
    """The value of f = sum_i p_i f_i.

    >>> import fedaudit as fa
    >>> fa.f(fa.vector("x")).terms[0][1][0]
    'f'
    """
    return Number(((Integer(1), ("f", _vector(x))),))


def F(x: Vector) -> Number:
    """The value of f + g, g the regulariser."""
    return Number(((Integer(1), ("F", _vector(x))),))


def g(x: Vector) -> Number:
    """The value of the regulariser."""
    return Number(((Integer(1), ("g", _vector(x))),))


def conjugate(s: Vector) -> Number:
    """The value of the regulariser's conjugate: g(x) + g*(s) = <s, x> exactly if s is a subgradient of g at x."""
    return Number(((Integer(1), ("conjugate", _vector(s))),))


def f_i(x: Vector) -> Number:
    """The value of the client's own loss.

    >>> import fedaudit as fa
    >>> fa.f_i(fa.vector("x")).terms[0][1][0]
    'f_i'
    """
    return Number(((Integer(1), ("f_i", _vector(x))),))


def full_grad(x: Vector) -> Vector:
    """The gradient of f = sum_i p_i f_i at a vector of the server.

    >>> import fedaudit as fa
    >>> fa.full_grad(fa.vector("x")) == fa.mean(fa.grad(fa.vector("x")))
    True
    """
    return mean(grad(x))


def expect(x: Number) -> Number:
    """The expectation over noise and sampling.

    >>> import fedaudit as fa
    >>> fa.expect(fa.f(fa.vector("x"))).law
    'expect'
    """
    return Number(_number(x).terms, "expect")


def picked(x: Number) -> Number:
    """The expectation at a round that is picked uniformly among 0, ..., T - 1; its quantity has the index T."""
    return Number(_number(x).terms, "picked")


def picked_step(x: Number) -> Number:
    """The expectation before a local step that is picked uniformly: of all rounds (index T), or of round t alone."""
    return Number(_number(x).terms, "picked_step")


def mean_norm2(x: Vector) -> Number:
    """|E x|^2."""
    return Number(norm2(x).terms, "of_mean")


def variance(x: Vector) -> Number:
    """E|x - E x|^2."""
    return Number(norm2(x).terms, "around_mean")


def least(x: Number, *, each_round: bool = False) -> Number:
    """The least over all outcomes, all clients, and all steps so far (or those of them that E divides).

    Noise in x itself is averaged.
    """
    return Number(_number(x).terms, "least", each_round)


def most(x: Number, *, each_round: bool = False) -> Number:
    """The largest, as `least`."""
    return Number(_number(x).terms, "most", each_round)


def _nothing() -> Any:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Method:
    """An algorithm box. Step sizes are quantities of the round t, or of the round and the local step k.

    Where the clock counts steps, t and T count local steps over all rounds: measures look before the step t, and what
    the server does after it comes before step t + 1. A measure without an index is about the whole run if it is an
    extreme, otherwise about the first round when it has begun. `names`: the paper's letters for C, m, E, i, ...

    >>> import fedaudit as fa
    >>> glossary = fa.Glossary()
    >>> gamma = glossary.quantity("gamma", "W^2/F", "step size", positive=True)
    >>> gap, t = glossary.quantity("gap", "F", "f(x_t) - f*"), glossary.index("t", "round")
    >>> x, y = fa.vector("x"), fa.vector("y")
    >>> descent = fa.Method(
    ...     id="descent", title="Gradient descent", cite="Cauchy 1847", glossary=glossary,
    ...     server={x: fa.start}, client={y: x}, begin={y: x},
    ...     local={y: y - gamma(t) * fa.grad(y)}, update={x: fa.mean(y)},
    ...     measures={gap(t): fa.expect(fa.f(x)) - fa.f_star},
    ... )
    >>> fa.simulate(descent, fa.Problem.quadratic([[2.0]], [[2.0]]), rounds=2, gamma=0.25)["gap"].tolist()
    [1.0, 0.25, 0.0625]
    """

    id: str
    title: str
    cite: str
    glossary: Glossary = field(repr=False)
    server: Mapping[Vector, Any]  # vectors, and what they are before round 0
    client: Mapping[Vector, Any]
    begin: Mapping[Vector, Any] = field(default_factory=_nothing)
    local: Mapping[Vector, Any] = field(default_factory=_nothing)
    end: Mapping[Vector, Any] = field(default_factory=_nothing)
    update: Mapping[Vector, Any] = field(default_factory=_nothing)
    measures: Mapping[Any, Number] = field(default_factory=_nothing)  # quantity at its indices -> what it is
    formulas: Mapping[Any, Expr] = field(default_factory=_nothing)  # quantity at its indices -> formula of measures
    counts_from: int = 0  # the number of the first round
    clock: Clock = "rounds"
    first: Any = 0  # local steps of the first round: a number, or a formula of E such as E - 1; 0: E
    before: Mapping[Any, Any] = field(default_factory=_nothing)  # quantity of t -> the one it was before; 0 at first
    names: Mapping[Any, str] = field(default_factory=_nothing)  # a size or an index -> what every run calls it

    def __post_init__(self) -> None:
        self._check_words()
        names = [v.name for v in (*self.server, *self.client)]
        if len(set(names)) < len(names):
            raise UserError(f"{self.id}: got {names}, expected every vector once; do: rename one of them")
        for phase in PHASES:
            owners = self.server if phase == "update" else self.client
            for target in getattr(self, phase):
                if target not in owners:
                    whose = "server" if phase == "update" else "clients"
                    raise UserError(f"{self.id}: got {target.name!r} in {phase}, expected a vector of the {whose}")
        first = _scalar(self.first)
        if {self.names.get(s, str(s)) for s in first.free_symbols} - {"E"} or not first.is_integer or first.has(Pow):
            expected = "a whole number, or a sum or product with E alone, such as E - 1"
            raise UserError(f"{self.id}: got first={self.first}, expected {expected}; do: mend `first`")
        for quantity, number in self.measures.items():
            if not number.law:
                raise UserError(f"{self.id}: got {quantity} without an expectation; do: write expect(...)")
            indices = {str(index) for index in quantity.args}
            for op, index in LAST.items():
                if index not in indices and any(isinstance(part, Vector) and part.op == op for part in _parts(number)):
                    raise UserError(f"{self.id}: got {op!r} in {quantity}, expected a measure at {index}; do: add it")
        if any(self.uses(op) for op in LAST):
            raise UserError(f"{self.id}: got 'other' or 'axis' in a rule, expected them in measures alone")

    def _check_words(self) -> None:
        """Fields that are one of a few words."""
        if self.clock not in get_args(Clock):
            expected = " or ".join(map(repr, get_args(Clock)))
            raise UserError(f"{self.id}: got clock={self.clock!r}, expected {expected}; do: write clock='steps'")
        if self.counts_from not in (0, 1):
            said = f"{self.id}: got counts_from={self.counts_from!r}"
            raise UserError(f"{said}, expected 0 or 1; do: write counts_from=1")
        for letter, name in self.names.items():
            said = f"{self.id}: got names={{{letter}: {name!r}}}"
            if not isinstance(letter, Symbol):
                raise UserError(f"{said}, expected a symbol of the glossary; do: write it without quotes")
            if name not in (*SIZES, *INDICES):
                letters = ", ".join((*SIZES, *INDICES))
                raise UserError(f"{said}, expected one of {letters}; do: 'E' is local steps, 'C' clients, 'T' rounds")
        several = sorted({name for name in self.names.values() if list(self.names.values()).count(name) > 1})
        for name in several:
            letters = ", ".join(sorted(str(letter) for letter, size in self.names.items() if size == name))
            raise UserError(f"{self.id}: got {letters} in `names`, all for {name!r}, expected one letter; do: keep one")

    @property
    def phases(self) -> dict[str, Mapping[Vector, Any]]:
        return {phase: getattr(self, phase) for phase in PHASES}

    def steps(self) -> frozenset[AppliedUndef]:
        """Step sizes and other quantities that its rules read, as they stand there."""
        return _steps(self)

    def scalars(self, measures: Collection[str]) -> Iterator[Expr]:
        """Every scalar factor in its rules and in the measures of these names."""
        rules = [_vector(v) for block in (self.server, self.client, *self.phases.values()) for v in block.values()]
        for rule in rules:
            yield from rule.scalars()
        for quantity, number in self.measures.items():
            if quantity_name(quantity) in measures:
                yield from scalars_of(number)

    def written(self, expr: Any) -> Any:
        """`expr` in measures alone: its formulas written out, in their order."""
        for quantity, formula in self.formulas.items():
            indexed = isinstance(quantity, AppliedUndef)
            written = Lambda(quantity.args, formula) if indexed else formula
            expr = expr.replace(quantity.func if indexed else quantity, written)
        return expr

    def uses(self, op: str) -> bool:
        """Whether a rule contains this operation."""
        return any(_vector(v).uses(op) for block in self.phases.values() for v in block.values())

    @property
    def composite(self) -> bool:
        """Whether a regulariser takes part: then w* minimises F = f + g, and f* is the least value of F."""
        measured = (part for number in self.measures.values() for part in _parts(number))
        spoken = any(part in ("F", "g", "conjugate") or getattr(part, "op", "") == "prox" for part in measured)
        return spoken or self.uses("prox")

    def data(self, tree: Callable[[Any], Any], measures: Collection[str]) -> dict[str, Any]:
        """The method with these measures as JSON data; `tree` lowers scalars.

        Names of vectors are strings, operations are lists.
        """

        run_letters = {s: Symbol(name, integer=True) for s, name in self.names.items() if name in INDICES}

        def scalar(x: Any) -> Any:
            """The tree of a scalar of the rules, whose indices have the letters of every run."""
            return tree(cast("Any", x).xreplace(run_letters) if run_letters and isinstance(x, Expr) else x)

        def rules(block: Mapping[Vector, Any]) -> dict[str, Any]:
            return {target.name: vector_tree(_vector(value), scalar) for target, value in block.items()}

        def measured(quantity: Any, number: Number) -> dict[str, Any]:
            over = {} if number.law == "expect" else {"over": [number.law, "rounds" if number.each_round else "steps"]}
            at = [self.names.get(index, tree(index)) for index in quantity.args]
            return {"at": at, "terms": vector_tree(number, scalar), **over}

        kept = {quantity_name(q): measured(q, number) for q, number in self.measures.items()}
        blocks = {"server": self.server, "client": self.client, **self.phases}
        before = {new.func.__name__: old.func.__name__ for new, old in self.before.items()}
        read = {name: old for name, old in before.items() if name in measures}
        return {
            "id": self.id,
            **{name: rules(block) for name, block in blocks.items()},
            "measures": {name: measure for name, measure in kept.items() if name in measures},
            **({"clock": {"first": self._first(tree)}} if self.clock == "steps" else {}),
            **({"before": read} if read else {}),
            **({"counts_from": self.counts_from} if self.counts_from else {}),
            **({"names": {tree(letter): name for letter, name in self.names.items()}} if self.names else {}),
        }

    def _first(self, tree: Callable[[Any], Any]) -> Any:
        """The length of the first round: a number as it is, a formula under the name that every run has for E."""
        first = _scalar(self.first)
        formula = first.subs(dict.fromkeys(first.free_symbols, Symbol("E", integer=True)))
        return int(formula) if formula.is_number else tree(formula)


def quantity_name(quantity: Any) -> str:
    """Of gap(t), or of a constant of the run such as rho."""
    return quantity.func.__name__ if isinstance(quantity, AppliedUndef) else quantity.name


def vector_tree(x: Any, tree: Callable[[Any], Any]) -> Any:
    """Vectors, weights, numbers and their atoms as lists that begin with the operation; scalars as `tree` has them."""
    match x:
        case Vector(op="name"):
            return x.args[0]
        case Vector(op="point"):
            return ["point", *x.args]
        case Vector() | Weights():
            return [x.op, *(vector_tree(arg, tree) for arg in x.args)]
        case Number():
            return [[tree(c), vector_tree(atom, tree)] for c, atom in x.terms]
        case (str() as op, *args):
            return [op, *(vector_tree(arg, tree) for arg in args)]
        case _:
            return tree(x)


@lru_cache(maxsize=512)
def _steps(method: Method) -> frozenset[AppliedUndef]:
    return frozenset(q for e in method.scalars(()) for q in e.atoms(AppliedUndef))
