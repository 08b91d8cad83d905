"""Appendix A: the inequalities that the thesis's proofs lean on, as statements about functions and vectors."""

from typing import Any

from sympy import Expr, Function, IndexedBase, Sum, Symbol, sqrt
from sympy.logic.boolalg import And, Boolean

from ...decide.facts import peter_paul, sum_next, termwise, young
from ...language.algebra import Eq, Le
from ...language.assumptions import FLAT
from ...language.derivation import Argument, Derivation, Induction, Known, Step, View
from ...language.method import Method
from ...language.rule_expressions import expect, f, f_i, f_star, grad, mean, norm2, start, vector, w_star
from ...language.rule_expressions import inner as inner_product
from ...language.statement import Assumption, Glossary, Statement
from ...proofs.atom import Atom
from ...proofs.atoms import Convex, Lipschitz, Minimum, Smooth, Square
from ...proofs.frame import Frame
from ...proofs.premise_identity import shown
from ...proofs.vectors import SAME

GLOSSARY = Glossary()
_s, _n, _q = GLOSSARY.symbol, GLOSSARY.count, GLOSSARY.quantity

D = _n("D", "dimension of the parameter")
N = _n("N", "number of functions")
n = _n("n", "number of points")
i = GLOSSARY.index("i", "function or point, counted from 1")
j = GLOSSARY.index("j", "coordinate, counted from 1")
L = _s("L", "F/W^2", "smoothness of f")
mu = _s("mu", "F/W^2", "strong convexity of f", r"\mu")
a = _s("a", "1", "any number", real=True)
b = _s("b", "1", "any number", real=True)
zeta = _s("zeta", "1", "any positive number", r"\zeta")

_DIFFERENCE = r"\nabla f(\mathbf w) - \nabla f(\mathbf v)"
grad_diff2 = _s("grad_diff2", "F^2/W^2", "|grad f(w) - grad f(v)|^2", rf"\|{_DIFFERENCE}\|^2", nonnegative=True)
grad_inner = _s(
    "grad_inner",
    "F",
    "(grad f(w) - grad f(v))'(w - v)",
    rf"({_DIFFERENCE})^\top (\mathbf w - \mathbf v)",
    real=True,
)
diff2 = _s("diff2", "W^2", "|w - v|^2", r"\|\mathbf w - \mathbf v\|^2", nonnegative=True)
grad2 = _s("grad2", "F^2/W^2", "|grad f(w)|^2", r"\|\nabla f(\mathbf w)\|^2", nonnegative=True)
gap = _s("gap", "F", "f(w) - f(w*)", r"\left(f(\mathbf w) - f(\mathbf w_\star)\right)", real=True)
dist2 = _s("dist2", "W^2", "|w - w*|^2", r"\|\mathbf w - \mathbf w_\star\|^2", nonnegative=True)
smoothness = _s("smoothness", "F/W^2", "the least smoothness constant of f = sum_i lambda_i f_i", r"L(f)", real=True)
f_mean = _s("f_mean", "F", "f(sum_i lambda_i w_i)", r"f\left(\sum_{i=1}^n \lambda_i \mathbf w_i\right)", real=True)

lam = _q("lam", "1", "weights lambda_i", r"\lambda_{{{0}}}")
L_i = _q("L_i", "F/W^2", "smoothness of f_i", r"L_{{{0}}}", nonnegative=True)
f_at = _q("f_at", "F", "f(w_i)", r"f(\mathbf w_{{{0}}})")
v = _q("v", "W", "components of the vector v", r"v_{{{0}}}")
w = _q("w", "W", "components of the vector w", r"w_{{{0}}}")
inner = _s("inner", "W^2", "v'w", r"\mathbf v^\top \mathbf w", real=True)
v_norm = _s("v_norm", "W", "|v|", r"\|\mathbf v\|", nonnegative=True)
w_norm = _s("w_norm", "W", "|w|", r"\|\mathbf w\|", nonnegative=True)

_CONVEX, _STRONG = "appendix A, convex, smooth and differentiable", "appendix A, strongly convex and differentiable"
differentiable = Assumption("differentiable", (), "f is differentiable", "appendix A")
convex = Assumption("convex", (), "f is convex", "appendix A")
smooth = Assumption("smooth", (L,), "f is L-smooth: its gradient is L-Lipschitz", "appendix A")
strongly_convex = Assumption("strongly_convex", (mu,), "f is mu-strongly convex", "appendix A")
has_minimum = Assumption("has_minimum", (), "w* is a minimiser of f", "appendix A")
each_smooth = Assumption("each_smooth", (), "every f_i is L_i-smooth", "appendix A")
weights_sum_to_one = Assumption("weights_sum_to_one", (), "sum_i lambda_i = 1", "appendix A")
nonnegative_weights = Assumption("nonnegative_weights", (), "lambda_i >= 0", "appendix A")


# --- proofs ----------------------------------------------------------------------------------------------------------


def _young(goal: View) -> Argument:
    fact = young(x=a, y=b)
    return Argument((Step(goal.relations[0], given=(fact,), where="Young"),), fact)


def _peter_paul(goal: View) -> Argument:
    fact = peter_paul(x=a, y=b, z=zeta)
    return Argument((Step(goal.relations[0], given=(fact,), where="Peter-Paul"),), fact)


def _cauchy(goal: View) -> Argument:
    """(v'w)^2 <= |v|^2 |w|^2 by induction on the dimension; then the root."""
    m = Symbol("m", integer=True, nonnegative=True)
    terms = (v(j) * w(j), v(j) ** 2, w(j) ** 2)

    def claim(d: Expr) -> Boolean:
        product, first, second = (Sum(term, (j, 1, d)) for term in terms)
        return And(Le(0, first), Le(0, second), Le(product**2, first * second))

    squares = Induction(claim(m), m, step=tuple(sum_next(term, j, 1, m) for term in terms), where="induction on D")
    roots = tuple(Step(relation, given=(squares.at(D),), where="its root") for relation in goal.relations)
    return Argument((squares, *roots))


def _jensen(goal: View) -> Argument:
    """f lies above its tangent at the mean, at every point; the mean of that."""
    tangent = shown(
        goal.relations[0],
        "f lies above a tangent at the mean of the points; the mean over the points",
        ON_POINTS,
        (1, Convex(mean(_each), _each, over="mean")),
    )
    return Argument((Step(goal.relations[0], given=(tangent,)),))


def _combination(goal: View) -> Argument:
    """The triangle inequality, then term by term."""
    part = Function("slope", real=True)  # |grad f_i(w) - grad f_i(v)| / |w - v|
    triangle = Known(
        Le(smoothness, Sum(lam(i) * part(i), (i, 1, N))),
        "the triangle inequality: |grad f(w) - grad f(v)| <= sum_i lambda_i |grad f_i(w) - grad f_i(v)|",
        "premise",
        assumes=("nonnegative_weights",),
    )
    each = Known(Le(part(i), L_i(i)), "f_i is L_i-smooth", "premise", assumes=("each_smooth",))
    sign = Known(Le(0, lam(i)), "lambda_i >= 0", "premise", assumes=("nonnegative_weights",))
    larger = termwise(Le(lam(i) * part(i), lam(i) * L_i(i)), i, 1, N, each, sign)
    last = Step(goal.relations[0], given=(triangle, larger), where="f is smooth")
    return Argument((last,), last)


# Appendix A cites these as known; what follows is the usual way from the definitions. All about one pair of points.
slope_in = Symbol("slope_in", real=True)  # grad f(w)'(w - w*)
slope_out = Symbol("slope_out", real=True)  # grad f(w*)'(w - w*)
lower_gap = Symbol("lower_gap", real=True)  # f(w - grad f(w)/L) - f(w*)
ahead, back = (Symbol(name, real=True) for name in ("ahead", "back"))  # f(w) - f(v) - grad f(v)'(w - v), and v <-> w
_above = Known(Le(0, gap), "w* is a minimiser", "premise")
_flat = Known(Eq(slope_out, 0), "the gradient vanishes at w*", "premise", assumes=("differentiable",))


def _chain(goal: View, *links: tuple[Expr, tuple[Known, ...], str]) -> Argument:
    """For each printed relation: what its left side is at most, and from what; then the relation itself."""
    bounds = [
        Step(Le(relation.lhs, most), given=given, where=where)
        for relation, (most, given, where) in zip(goal.relations, links, strict=True)
    ]
    printed = [Step(relation, given=(bound,)) for relation, bound in zip(goal.relations, bounds, strict=True)]
    return Argument(
        (*bounds, *(step for step in printed if step.claim not in [b.claim for b in bounds])), tuple(bounds)
    )


def _strong_gap(goal: View) -> Argument:
    """Strong convexity from w* to w, and from w to w* with the square completed."""
    strong = ("strongly_convex",)
    out = Known(Le(slope_out + mu / 2 * dist2, gap), "strong convexity from w* to w", "premise", assumes=strong)
    back_ = Known(Le(gap, slope_in - mu / 2 * dist2), "strong convexity from w to w*", "premise", assumes=strong)
    square = Known(Le(0, grad2 - 2 * mu * slope_in + mu**2 * dist2), "|grad f(w) - mu (w - w*)|^2 >= 0", "premise")
    return _chain(
        goal, (gap, (out, _flat, _above), "strong convexity at w*"), (grad2 / (2 * mu), (back_, square), "Peter-Paul")
    )


def _smooth_gap(goal: View) -> Argument:
    """A gradient step of length 1/L cannot go below the minimum; the parabola above f at w*."""
    decrease = Known(
        Le(lower_gap, gap - grad2 / L + L / 2 * (grad2 / L**2)),
        "smoothness from w to w - grad f(w)/L",
        "premise",
        assumes=("smooth",),
    )
    least = Known(Le(0, lower_gap), "w* is a minimiser", "premise", assumes=("has_minimum",))
    above = Known(Le(gap, slope_out + L / 2 * dist2), "smoothness from w* to w", "premise", assumes=("smooth",))
    return _chain(
        goal, (gap, (decrease, least, _above), "descent lemma"), (L / 2 * dist2, (above, _flat), "descent lemma at w*")
    )


def _cocoercive(goal: View, smooth_gap: View) -> Argument:
    """appA-smooth-gap for f - grad f(v)'(.), whose minimiser is v, and the same with v and w exchanged; then added."""
    from_v, from_w = (
        smooth_gap.at({gap: part, grad2: grad_diff2}).holds(
            instead={
                "has_minimum": Known(
                    Le(0, part),
                    f"f minus its tangent at {at} is convex and least at {at}",
                    "premise",
                    assumes=("convex",),
                )
            }
        )
        for part, at in ((ahead, "v"), (back, "w"))
    )
    both = Known(Eq(ahead + back, grad_inner), "the two Bregman distances add up to the inner product", "premise")
    schwarz = Known(Le(grad_inner**2, grad_diff2 * diff2), "Cauchy-Schwarz", "premise")
    lipschitz = Known(Le(grad_diff2, L**2 * diff2), "grad f is L-Lipschitz", "premise", assumes=("smooth",))
    monotone = Known(Le(0, grad_inner), "the gradient is monotone", "premise", assumes=("convex",))
    return _chain(
        goal,
        (grad_inner, (from_v, from_w, both, monotone), "co-coercivity"),
        (L * diff2, (schwarz, lipschitz), "Cauchy-Schwarz and smoothness"),
    )


def _strongly_monotone(goal: View) -> Argument:
    """Strong convexity from v to w and back, added; then Cauchy-Schwarz."""
    strong = ("strongly_convex",)
    from_v = Known(Le(mu / 2 * diff2, ahead), "strong convexity from v to w", "premise", assumes=strong)
    from_w = Known(Le(mu / 2 * diff2, back), "strong convexity from w to v", "premise", assumes=strong)
    both = Known(Eq(ahead + back, grad_inner), "the two Bregman distances add up to the inner product", "premise")
    schwarz = Known(Le(grad_inner**2, grad_diff2 * diff2), "Cauchy-Schwarz", "premise")
    monotone = Known(Le(0, grad_inner), "the gradient is monotone", "premise", assumes=strong)
    added = (from_v, from_w, both, monotone)
    return _chain(
        goal,
        (grad_inner, added, "strong convexity, twice"),
        (grad_diff2 / mu, (*added, schwarz), "Cauchy-Schwarz"),
    )


# The same from the definitions alone, relation by relation: atoms with their multipliers.
_w, _v = vector("w"), vector("v")
_slope, _turn = grad(_w), grad(_w) - grad(_v)
ON_A_FUNCTION = Frame(
    Method(
        id="function",
        title="One function at two points",
        cite="appendix A",
        glossary=GLOSSARY,
        server={_w: start, _v: start},
        client={},
        measures={
            grad_diff2: expect(norm2(_turn)),
            grad_inner: expect(inner_product(_turn, _w - _v)),
            diff2: expect(norm2(_w - _v)),
            grad2: expect(norm2(_slope)),
            gap: expect(f(_w)) - f_star,
            dist2: expect(norm2(_w - w_star)),
        },
    ),
    {},
    (Symbol("t"), Symbol("k"), i, j),
    (Symbol("E"), Symbol("C")),
    IndexedBase("p"),
    {FLAT: ("differentiable", ())},
    one=True,
)
_each = vector("w_i", r"\mathbf w_i")
ON_POINTS = Frame(
    Method(
        id="function",
        title="One function at several points",
        cite="appendix A",
        glossary=GLOSSARY,
        server={},
        client={_each: start},
        measures={f_at(i): expect(f_i(_each)), f_mean: expect(f(mean(_each)))},
    ),
    {},
    (Symbol("t"), Symbol("k"), i, j),
    (Symbol("E"), n),
    lam,
    {SAME: None},  # there is one function
    same=True,
)


def _by_atoms(*by: tuple[tuple[Any, Atom], ...]) -> Derivation:
    """Each printed relation as one identity."""

    def proof(goal: View) -> Argument:
        premises = [
            shown(relation, f"relation {n + 1} from the definitions", ON_A_FUNCTION, *atoms)
            for n, (relation, atoms) in enumerate(zip(goal.relations, by, strict=True))
        ]
        steps = tuple(Step(p.claim, given=(p,), where=p.because) for p in premises)
        return Argument(steps, steps)

    return Derivation(proof)


def _tangents(mu_: Any) -> tuple[tuple[Any, Atom], ...]:
    """f above its tangents at v and at w, with curvature `mu_`."""
    return (1, Convex(_v, _w, mu_)), (1, Convex(_w, _v, mu_))


_end = _w - _slope / L  # of a gradient step from w
_least = (("has_minimum", ()),)
_SMOOTH_GAP = _by_atoms(((1, Smooth(_w, _end, L)), (1, Minimum(_end, _least))), ((1, Smooth(w_star, _w, L)),))
_from_w, _from_v = _w - _turn / L, _v + _turn / L
_COCOERCIVE = _by_atoms(
    (
        (1, Convex(_v, _from_w)),
        (1, Smooth(_w, _from_w, L)),
        (1, Convex(_w, _from_v)),
        (1, Smooth(_v, _from_v, L)),
    ),
    ((1 / (2 * L), Square(L * (_w - _v) - _turn)), (1 / (2 * L), Lipschitz(_w, _v, L))),
)
_STRONG_GAP = _by_atoms(
    ((1, Convex(w_star, _w, mu)),),
    ((1, Convex(_w, w_star, mu)), (1 / (2 * mu), Square(_slope - mu * (_w - w_star)))),
)
_STRONGLY_MONOTONE = _by_atoms(_tangents(mu), (*_tangents(mu), (1 / mu, Square(_turn - mu * (_w - _v)))))

# --- statements ------------------------------------------------------------------------------------------------------

COCOERCIVE = Statement(
    id="buttaci/appA-cocoercive",
    kind="inequality",
    title="The gradient of a convex smooth function is co-coercive",
    cite=f"{_CONVEX}, first display",
    method="function",
    glossary=GLOSSARY,
    let=(differentiable, convex, smooth),
    then=(Le(grad_diff2 / L, grad_inner), Le(grad_inner, L * diff2)),
    follows_from=(Derivation(_cocoercive, cites=("buttaci/appA-smooth-gap",)), _COCOERCIVE),
)

SMOOTH_GAP = Statement(
    id="buttaci/appA-smooth-gap",
    kind="inequality",
    title="Gradient, gap and distance of a convex smooth function",
    cite=f"{_CONVEX}, second display",
    method="function",
    glossary=GLOSSARY,
    let=(differentiable, convex, smooth, has_minimum),
    then=(Le(grad2 / (2 * L), gap), Le(gap, L / 2 * dist2)),
    follows_from=(Derivation(_smooth_gap), _SMOOTH_GAP),
)

_COMBINED = Le(smoothness, Sum(lam(i) * L_i(i), (i, 1, N)))
_SMOOTH_WITH = (
    "f is smooth with parameter X: the least smoothness constant of f is at most X",
    "L_i is any constant with which f_i is smooth; f_i need not be convex",
)

COMBINATION = Statement(
    id="buttaci/appA-combination",
    kind="inequality",
    title="Smoothness of a linear combination",
    cite="appendix A, linear combination of smooth functions",
    method="function",
    glossary=GLOSSARY,
    let=(each_smooth, weights_sum_to_one),
    then=_COMBINED,
    reading=(*_SMOOTH_WITH, "the weights are any reals that sum to one: no sign is asked for"),
)

COMBINATION_REPAIRED = Statement(
    id="buttaci/appA-combination~repaired",
    kind="inequality",
    title="Smoothness of a convex combination",
    cite="appendix A, linear combination of smooth functions",
    method="function",
    glossary=GLOSSARY,
    let=(each_smooth, weights_sum_to_one, nonnegative_weights),
    then=_COMBINED,
    reading=_SMOOTH_WITH,
    repairs="the weights lambda_i are not negative (with any sign, |lambda_i| has to stand in the sum)",
    follows_from=(Derivation(_combination),),
)

STRONG_GAP = Statement(
    id="buttaci/appA-strong-gap",
    kind="inequality",
    title="Distance, gap and gradient of a strongly convex function",
    cite=f"{_STRONG}, first display",
    method="function",
    glossary=GLOSSARY,
    let=(differentiable, strongly_convex),
    then=(Le(mu / 2 * dist2, gap), Le(gap, grad2 / (2 * mu))),
    follows_from=(Derivation(_strong_gap), _STRONG_GAP),
)

STRONG_SECOND = Statement(
    id="buttaci/appA-strong-second",
    kind="inequality",
    title="The chain of the display before it, the other way round",
    cite=f"{_STRONG}, second display",
    method="function",
    glossary=GLOSSARY,
    let=(differentiable, strongly_convex),
    then=(Le(grad2 / (2 * mu), gap), Le(gap, mu / 2 * dist2)),
    reading=("mu is any constant with which f is strongly convex, here and in the first display",),
)

STRONG_SECOND_REPAIRED = Statement(
    id="buttaci/appA-strong-second~repaired",
    kind="inequality",
    title="The gradient of a strongly convex function is strongly monotone",
    cite=f"{_STRONG}, second display",
    method="function",
    glossary=GLOSSARY,
    let=(differentiable, strongly_convex),
    then=(Le(mu * diff2, grad_inner), Le(grad_inner, grad_diff2 / mu)),
    reading=(
        "the text quantifies over v and w, but no v is printed: the display that mirrors co-coercivity has one",
        "other repairs say nothing new: turned round it is the first display, with L for mu it is appA-smooth-gap",
    ),
    follows_from=(Derivation(_strongly_monotone), _STRONGLY_MONOTONE),
    repairs="differences between w and v in place of gap, gradient and distance to w*, and the order turned round",
)

JENSEN = Statement(
    id="buttaci/appA-jensen",
    kind="inequality",
    title="The inequality of Jensen",
    cite="appendix A, Jensen",
    method="function",
    glossary=GLOSSARY,
    let=(convex, nonnegative_weights, weights_sum_to_one),
    then=Le(f_mean, Sum(lam(i) * f_at(i), (i, 1, n))),
    follows_from=(Derivation(_jensen),),
)

CAUCHY = Statement(
    id="buttaci/appA-cauchy",
    kind="inequality",
    title="The inequality of Cauchy and Schwarz",
    cite="appendix A, Cauchy-Schwartz (printed so)",
    method="function",
    glossary=GLOSSARY,
    then=(Le(-v_norm * w_norm, inner), Le(inner, v_norm * w_norm)),
    where={
        inner: Sum(v(j) * w(j), (j, 1, D)),
        v_norm: sqrt(Sum(v(j) ** 2, (j, 1, D))),
        w_norm: sqrt(Sum(w(j) ** 2, (j, 1, D))),
    },
    follows_from=(Derivation(_cauchy),),
)

YOUNG = Statement(
    id="buttaci/appA-young",
    kind="inequality",
    title="The inequality of Young",
    cite="appendix A, Young",
    method="scalar",
    glossary=GLOSSARY,
    then=Le(a * b, a**2 / 2 + b**2 / 2),
    follows_from=(Derivation(_young),),
)

PETER_PAUL = Statement(
    id="buttaci/appA-peterpaul",
    kind="inequality",
    title="The Peter–Paul inequality",
    cite="appendix A, Peter-Paul",
    method="scalar",
    glossary=GLOSSARY,
    then=Le(a * b, a**2 / (2 * zeta) + zeta * b**2 / 2),
    follows_from=(Derivation(_peter_paul),),
)
