"""Why gradient descent goes down, and why an upper bound is enough for a convex function: appendix A, at two points."""

from ...language.derivation import Argument, Step, View
from ...language.rule_expressions import full_grad
from ...proofs.atoms import Convex, Smooth, Square
from ...proofs.frame import Frame
from ...proofs.premise_identity import shown
from .methods import DESCENT, TWO_POINTS, v, w
from .symbols import C, E, L, gamma, i, k, p, t
from .symbols_perturbed import j

LETTERS, SIZES = (t, k, i, j), (E, C)
ON_DESCENT, ON_TWO_POINTS = Frame(DESCENT, {}, LETTERS, SIZES, p), Frame(TWO_POINTS, {}, LETTERS, SIZES, p)


def gradient_descent(goal: View) -> Argument:
    """Smoothness from w_t to w_{t+1} = w_t - gamma_t grad f(w_t)."""
    onward = w - gamma(t) * full_grad(w)
    smooth = shown(
        goal.relations[0], "smoothness, at w_{t+1}", ON_DESCENT, (1, Smooth(w, onward, L, "mean")), at=(t, E)
    )
    first = Step(goal.relations[0], given=(smooth,))
    second = Step(goal.relations[1], note="the same, in other terms")
    third = Step(goal.relations[2], given=(first, second), note="gamma_t < 2/L")
    return Argument((first, second, third), (first, second, third))


def by_algebra(goal: View) -> Argument:
    """Each relation on its own."""
    steps = tuple(Step(relation) for relation in goal.relations)
    return Argument(steps, steps)


def upper_bound(goal: View) -> Argument:
    """Co-coercivity from the upper bound at w - d/L and v + d/L and tangents below, d the difference of gradients."""
    d = full_grad(w) - full_grad(v)
    near_w, near_v = w - d / L, v + d / L
    atoms = (
        (2 * L, Smooth(w, near_w, L, "mean", named="descent")),
        (2 * L, Convex(v, near_w, over="mean")),
        (2 * L, Smooth(v, near_v, L, "mean", named="descent")),
        (2 * L, Convex(w, near_v, over="mean")),
        (1, Square(L * (w - v) - d)),
    )
    last = shown(goal.relations[0], "co-coercivity, and |L (w - v) - d|^2 >= 0", ON_TWO_POINTS, *atoms)
    step = Step(goal.relations[0], given=(last,))
    return Argument((step,), step)
