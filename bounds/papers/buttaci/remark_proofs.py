"""Why gradient descent goes down, and why an upper bound is enough for a convex function: appendix A, at two points."""

from ...language.algebra import Le, Lt
from ...language.derivation import Argument, Step, View
from ...language.rule_expressions import full_grad
from ...proofs.atoms import Convex, Smooth, Square
from ...proofs.frame import Frame
from ...proofs.premise_identity import shown
from .claims import accuracy
from .methods import DESCENT, TWO_POINTS, v, w
from .symbols import C, Delta, E, G, L, S, alpha, gamma, i, k, p, sigma, t
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


def compared(goal: View) -> Argument:
    """4 L_α² > L², and 4 (L² + α²) ≥ L_α² with S σ² ≤ G² in the noise."""
    smaller = Step(Lt(16 * L**2 * Delta**2, 64 * (alpha + L) ** 2 * Delta**2))
    noise = Step(Le(S**2 * sigma**4, G**4), note="S <= 1, sigma <= G")
    squares = Step(Le((alpha + L) ** 2, 4 * (L**2 + alpha**2)))
    wide = Step(
        Le((alpha + L) ** 2 * S**2 * sigma**4 / 4, L**2 * S**2 * sigma**4 + alpha**2 * E**4 * G**4),
        given=(noise, squares),
    )
    scaled = Step(
        Le(S**2 * sigma**4 / 4, (L**2 * S**2 * sigma**4 + alpha**2 * E**4 * G**4) / (alpha + L) ** 2), given=(wide,)
    )
    unit = E * accuracy**2
    first = Step(Lt(16 * L**2 * Delta**2 / unit, 64 * (alpha + L) ** 2 * Delta**2 / unit), given=(smaller,))
    both = L**2 * S**2 * sigma**4 / ((alpha + L) ** 2 * unit) + alpha**2 * E**3 * G**4 / ((alpha + L) * accuracy) ** 2
    second = Step(Le(S**2 * sigma**4 / (4 * unit), both), given=(scaled,))
    rest = goal.rhs - 64 * (alpha + L) ** 2 * Delta**2 / unit - both
    sign = Step(Le(0, rest))
    last = Step(goal.relations[0], given=(first, second, sign))
    return Argument((smaller, noise, squares, wide, scaled, first, second, sign, last), last)


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
