"""The words that rules and measures of a method are written with: `y - gamma(t) * grad(y)` is a `Vector`,
`expect(norm2(x - w_star))` a `Number` (rule_parts.py).
"""

# A file of a user holds what no type checker saw.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from typing import TypeVar, get_args

from sympy import Integer

from fedaudit.errors import UserError

from .rule_parts import Number, Over, Scalar, Vector, Weights, as_number, as_scalar, as_vector

M = TypeVar("M", Vector, Number)

start = Vector("start")  # the point where the run begins
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
    """A point that the instance gives, anywhere.

    >>> import fedaudit as fa
    >>> fa.point("z").op
    'point'
    """
    return Vector("point", (name,))


def grad(x: Vector) -> Vector:
    """The gradient of the client's own loss.

    >>> import fedaudit as fa
    >>> fa.grad(fa.vector("x")).op
    'grad'
    """
    return Vector("grad", (as_vector(x),))


def batch_grad(x: Vector) -> Vector:
    """The gradient of the mean over the minibatch that the client drew in this round.

    >>> import fedaudit as fa
    >>> fa.batch_grad(fa.vector("x")).op
    'batch_grad'
    """
    return Vector("batch_grad", (as_vector(x),))


def oracle(x: Vector, step: Scalar) -> Vector:
    """Any point that the accuracy allows, near the minimiser of the minibatch's loss + |. - x|^2/(2 step).

    >>> import fedaudit as fa
    >>> fa.oracle(fa.vector("x"), 1).op
    'oracle'
    """
    return Vector("oracle", (as_scalar(step), as_vector(x)))


def full_prox(x: Vector, step: Scalar) -> Vector:
    """The minimiser of f + |. - x|^2/(2 step), f = sum_i p_i f_i.

    >>> import fedaudit as fa
    >>> fa.full_prox(fa.vector("x"), 1).op
    'full_prox'
    """
    return Vector("full_prox", (as_scalar(step), as_vector(x)))


def training_prox(x: Vector, step: Scalar) -> Vector:
    """The minimiser of f + |. - x|^2/(2 step) for the losses of the training sample, not of all points.

    >>> import fedaudit as fa
    >>> fa.training_prox(fa.vector("x"), 1).op
    'training_prox'
    """
    return Vector("training_prox", (as_scalar(step), as_vector(x)))


def hess(x: Vector, v: Vector) -> Vector:
    """The Hessian of the client's own loss at x, times v.

    >>> import fedaudit as fa
    >>> fa.hess(fa.vector("x"), fa.grad(fa.vector("x"))).op
    'hess'
    """
    return Vector("hess", (as_vector(x), as_vector(v)))


def noisy_hess(x: Vector, v: Vector) -> Vector:
    """The Hessian at a data point that is drawn anew in every step, independent of all other draws, times v.

    >>> import fedaudit as fa
    >>> fa.noisy_hess(fa.vector("x"), fa.grad(fa.vector("x"))).op
    'noisy_hess'
    """
    return Vector("noisy_hess", (as_vector(x), as_vector(v)))


def noisy(x: Vector, *, again: bool = False) -> Vector:
    """What the client's oracle returns for x: unbiased, with noise that is new in every step.

    `again`: a second draw of the same step, independent of the first.

    >>> import fedaudit as fa
    >>> fa.noisy(fa.grad(fa.vector("x"))).op
    'noisy'
    """
    return Vector("again" if again else "noisy", (as_vector(x),))


def other(x: Vector) -> Vector:
    """What client j has where client i has x, of a measure at i and j.

    >>> import fedaudit as fa
    >>> fa.other(fa.vector("y")).op
    'other'
    """
    return Vector("other", (as_vector(x),))


def prox(x: Vector, step: Scalar) -> Vector:
    """The proximal point of the regulariser.

    >>> import fedaudit as fa
    >>> fa.prox(fa.vector("x"), 1).op
    'prox'
    """
    return Vector("prox", (as_scalar(step), as_vector(x)))


def coin(x: Vector, chance: Scalar) -> Vector:
    """x with this probability, otherwise zero: all clients toss one coin together, once in a round.

    Every coin of a method is the same one, so that x + coin(mean(x) - x, q) and what else waits for it happen at once.

    >>> import fedaudit as fa
    >>> fa.coin(fa.vector("x"), fa.Rational(1, 2)).op
    'coin'
    """
    return Vector("coin", (as_scalar(chance), as_vector(x)))


def neighbours(x: Vector) -> Vector:
    """The mean over the client's neighbours in the similarity graph, with the graph's weights.

    >>> import fedaudit as fa
    >>> fa.neighbours(fa.vector("x")).op
    'neighbours'
    """
    return Vector("neighbours", (as_vector(x),))


def mean(x: M, over: Over = "all", weights: Weights = own) -> M:
    """The mean over all clients with the problem's weights or others; over the sampled ones each counts the same.

    >>> import fedaudit as fa
    >>> fa.mean(fa.vector("y")).op, fa.mean(fa.vector("y"), over="sampled").op
    ('mean', 'sampled')
    """
    if over not in get_args(Over):
        raise UserError(f"mean(…, over={over!r})", " or ".join(map(repr, get_args(Over))), "write over='sampled'")
    if not isinstance(weights, Weights):
        raise UserError(f"mean(…, weights={weights!r})", "weights", "write weights=own, largest(…), softmax(…)")
    if over == "sampled" and (isinstance(x, Number) or weights != own):
        expected = "vectors there, which count the same"
        raise UserError("mean(…, over='sampled') of numbers or with weights", expected, "leave `over` out")
    if isinstance(x, Number):
        around = ("mean",) if weights == own else ("weighted", weights)
        return Number(tuple((c, (*around, atom)) for c, atom in x.terms), x.law)
    if weights != own:
        return Vector("weighted", (weights, as_vector(x)))
    return Vector("mean" if over == "all" else "sampled", (as_vector(x),))


def chosen(by: Number) -> Weights:
    """Any weights that the instance chooses: a row per round, or a policy that looks at the clients' numbers `by`.

    >>> import fedaudit as fa
    >>> fa.chosen(fa.f_i(fa.vector("x"))).op
    'chosen'
    """
    return Weights("chosen", (by,))


def largest(by: Number, k: Scalar | None = None) -> Weights:
    """Equal shares for the clients where `by` is largest; with k, for the first k of them (ties: by number).

    >>> import fedaudit as fa
    >>> fa.largest(fa.f_i(fa.vector("x"))).op
    'largest'
    """
    return Weights("largest", (by,) if k is None else (by, as_scalar(k)))


def softmax(by: Number, temperature: Scalar) -> Weights:
    """p_i exp(by/temperature), divided by their sum.

    >>> import fedaudit as fa
    >>> fa.softmax(fa.f_i(fa.vector("x")), 1).op
    'softmax'
    """
    return Weights("softmax", (by, as_scalar(temperature)))


def in_turn(weights: Weights) -> Weights:
    """These weights at the steps that E divides, the problem's own at the others.

    >>> import fedaudit as fa
    >>> fa.in_turn(fa.largest(fa.f_i(fa.vector("x")))).op
    'in_turn'
    """
    return Weights("in_turn", (weights,))


def weight(weights: Weights) -> Number:
    """The client's own weight.

    >>> import fedaudit as fa
    >>> fa.weight(fa.own).terms[0][1][0]
    'weight'
    """
    return Number(((Integer(1), ("weight", weights)),))


def ratio(x: Number, y: Number) -> Number:
    """x / y, where y is not 0.

    >>> import fedaudit as fa
    >>> fa.ratio(fa.f(fa.vector("x")), fa.norm2(fa.vector("x"))).terms[0][1][0]
    'ratio'
    """
    return Number(((Integer(1), ("ratio", as_number(x), as_number(y))),))


def smaller(x: Number, y: Number) -> Number:
    """The smaller of two numbers.

    >>> import fedaudit as fa
    >>> fa.smaller(fa.f(fa.vector("x")), fa.norm2(fa.vector("x"))).terms[0][1][0]
    'smaller'
    """
    return Number(((Integer(1), ("smaller", as_number(x), as_number(y))),))


def norm(x: Vector) -> Number:
    """The Euclidean norm.

    >>> import fedaudit as fa
    >>> fa.norm(fa.vector("x")).terms[0][1][0]
    'norm'
    """
    return Number(((Integer(1), ("norm", as_vector(x))),))


def norm2(x: Vector) -> Number:
    """The squared Euclidean norm.

    >>> import fedaudit as fa
    >>> dist2 = fa.expect(fa.norm2(fa.vector("x") - fa.w_star))
    >>> dist2.law
    'expect'
    """
    return Number(((Integer(1), ("norm2", as_vector(x))),))


def inner(x: Vector, y: Vector) -> Number:
    """The inner product.

    >>> import fedaudit as fa
    >>> fa.inner(fa.vector("x"), fa.w_star).terms[0][1][0]
    'inner'
    """
    return Number(((Integer(1), ("inner", as_vector(x), as_vector(y))),))


def f(x: Vector) -> Number:
    """The value of f = sum_i p_i f_i.

    >>> import fedaudit as fa
    >>> fa.f(fa.vector("x")).terms[0][1][0]
    'f'
    """
    return Number(((Integer(1), ("f", as_vector(x))),))


def F(x: Vector) -> Number:
    """The value of f + g, g the regulariser.

    >>> import fedaudit as fa
    >>> fa.F(fa.vector("x")).terms[0][1][0]
    'F'
    """
    return Number(((Integer(1), ("F", as_vector(x))),))


def g(x: Vector) -> Number:
    """The value of the regulariser.

    >>> import fedaudit as fa
    >>> fa.g(fa.vector("x")).terms[0][1][0]
    'g'
    """
    return Number(((Integer(1), ("g", as_vector(x))),))


def conjugate(s: Vector) -> Number:
    """The value of the regulariser's conjugate: g(x) + g*(s) = <s, x> exactly if s is a subgradient of g at x.

    >>> import fedaudit as fa
    >>> fa.conjugate(fa.vector("s")).terms[0][1][0]
    'conjugate'
    """
    return Number(((Integer(1), ("conjugate", as_vector(s))),))


def f_i(x: Vector) -> Number:
    """The value of the client's own loss.

    >>> import fedaudit as fa
    >>> fa.f_i(fa.vector("x")).terms[0][1][0]
    'f_i'
    """
    return Number(((Integer(1), ("f_i", as_vector(x))),))


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
    return Number(as_number(x).terms, "expect")


def picked(x: Number) -> Number:
    """The expectation at a round that is picked uniformly among 0, ..., T - 1; its quantity has the index T.

    >>> import fedaudit as fa
    >>> fa.picked(fa.f(fa.vector("x"))).law
    'picked'
    """
    return Number(as_number(x).terms, "picked")


def picked_step(x: Number) -> Number:
    """The expectation before a local step that is picked uniformly: of all rounds (index T), or of round t alone.

    >>> import fedaudit as fa
    >>> fa.picked_step(fa.f(fa.vector("x"))).law
    'picked_step'
    """
    return Number(as_number(x).terms, "picked_step")


def mean_norm2(x: Vector) -> Number:
    """|E x|^2.

    >>> import fedaudit as fa
    >>> fa.mean_norm2(fa.vector("x")).law
    'of_mean'
    """
    return Number(norm2(x).terms, "of_mean")


def variance(x: Vector) -> Number:
    """E|x - E x|^2.

    >>> import fedaudit as fa
    >>> fa.variance(fa.vector("x")).law
    'around_mean'
    """
    return Number(norm2(x).terms, "around_mean")


def least(x: Number, *, each_round: bool = False) -> Number:
    """The least over all outcomes, all clients, and all steps so far (or those of them that E divides).

    Noise in x itself is averaged.

    >>> import fedaudit as fa
    >>> fa.least(fa.f(fa.vector("x"))).law
    'least'
    """
    return Number(as_number(x).terms, "least", each_round)


def most(x: Number, *, each_round: bool = False) -> Number:
    """The largest, as `least`.

    >>> import fedaudit as fa
    >>> fa.most(fa.f(fa.vector("x"))).law
    'most'
    """
    return Number(as_number(x).terms, "most", each_round)
