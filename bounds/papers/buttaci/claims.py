"""Claims in the text: the rates of the introduction (section 1.2) and the discussion (section 4.4)."""

from dataclasses import replace
from typing import Any

from ...algebra import Eq, Ge, Gt, Le, Lt, Rational, sqrt
from ...derivation import Argument, Derivation, Step, View
from ...statement import Assumption, Statement, free, unit
from .derivations import mu_at_most_L
from .fedprox import THEOREM_4_1_I
from .network import PROPOSITION_3_3_LARGE_C
from .nonconvex import THEOREM_4_3_I
from .perturbed import THEOREM_4_4_I
from .perturbed_nonconvex import THEOREM_4_6_I, bracket
from .symbols import GLOSSARY, Delta, E, G, Gamma, L, L_alpha, S, T, alpha, gap, mu, sigma, t
from .symbols_perturbed import beta

_s = GLOSSARY.symbol
accuracy = _s("accuracy", "F^2/W^2", "accuracy that E|grad f|^2 has to reach (4.4)", r"\epsilon")
alpha_any = _s("alpha_any", "F/W^2", "proximal parameter, 0 allowed (4.4)", r"\alpha", nonnegative=True)
beta_any = _s("beta_any", "1", "parameter of the perturbed method, 0 allowed (4.4)", r"\beta", nonnegative=True)
local = _s("local", "1", "number of local steps, as a real number", "E")
best = _s("best", "1", "printed minimiser of the vanishing error (4.4)", r"E_\star")
A_vanish = _s("A_vanish", "W^2/F", "printed A of the vanishing error (4.4)", "A", nonnegative=True)
B_vanish = _s("B_vanish", "1", "printed B of the vanishing error (4.4)", "B", nonnegative=True)
C_vanish = _s("C_vanish", "W^2/F", "printed C of the vanishing error (4.4)", "C")

THE_THEOREM_S = "the rate is the method's: O(1) is read as the constant 1 of the theorem that the sentence sums up"


def restated(goal: View, theorem: View) -> Argument:
    """The theorem's own bound, compared with the rate."""
    given = theorem.holds()
    ordered = (mu_at_most_L,) if "strongly_convex" in theorem.assumes else ()
    return Argument((Step(goal.relations[0], given=(given, *ordered)),), given)


def rate(theorem: Statement, **changes: object) -> Statement:
    """What the introduction says of a theorem: the same method and step size, the rate as section 1.2 prints it."""
    made = replace(theorem, kind="order", follows_from=(Derivation(restated, cites=(theorem.id,)),), **changes)  # pyright: ignore[reportArgumentType]
    return replace(made, order=made.relations[0].rhs, reading=(*theorem.reading, THE_THEOREM_S, *made.reading))


# --- section 1.2 -----------------------------------------------------------------------------------------------------

SPECTRAL = replace(
    PROPOSITION_3_3_LARGE_C,
    id="buttaci/sec1.2-spectral",
    title="Introduction: mean squared deviation of the Laplacian eigenvalues",
    cite="Section 1.2, first display",
)

FEDPROX_NONCONVEX = rate(
    THEOREM_4_3_I,
    id="buttaci/sec1.2-fedprox-nonconvex",
    title="Introduction: rate of FedProx, nonconvex",
    cite="Section 1.2, second display",
    reading=("inside O stands the bound of theorem 4.3 (I), term by term",),
)

FEDPROX_CONVEX = rate(
    THEOREM_4_1_I,
    id="buttaci/sec1.2-fedprox-convex",
    title="Introduction: rate of FedProx, strongly convex",
    cite="Section 1.2, third display",
    reading=("inside O stands the bound of theorem 4.1 (I), term by term",),
)

PERTURBED_NONCONVEX = rate(
    THEOREM_4_6_I,
    id="buttaci/sec1.2-perturbed-nonconvex",
    title="Introduction: rate of the perturbed method, nonconvex",
    cite="Section 1.2, fourth display",
    reading=("inside O stands the bound of theorem 4.6 (I), term by term",),
)

VANISHING = L * Delta / mu * (1 - mu / ((beta + 2) * L)) ** t + S * sigma**2 / (4 * mu) + 3 * L * Gamma / (2 * mu)
PERTURBED_CONVEX = rate(
    THEOREM_4_4_I,
    id="buttaci/sec1.2-perturbed-convex",
    title="Introduction: rate of the perturbed method, strongly convex",
    cite="Section 1.2, fifth display",
    then=Le(
        gap(t),
        VANISHING
        + E**2 * G**2 / (4 * mu) * (32 + 64 * (1 - 1 / beta) ** 2 + (1 - beta) * (8 + mu * beta)),
    ),
    reading=("8 + mu beta is printed, a number plus a curvature: theorem 4.4 (I) has 8 (1 - beta) + mu beta/(2 L E)",),
)  # fmt: skip

PERTURBED_CONVEX_REPAIRED = rate(
    THEOREM_4_4_I,
    id="buttaci/sec1.2-perturbed-convex~repaired",
    title=PERTURBED_CONVEX.title,
    cite=PERTURBED_CONVEX.cite,
    then=Le(
        gap(t),
        VANISHING
        + E**2 * G**2 / (4 * mu)
        * (32 + 64 * (1 - 1 / beta) ** 2 + (1 - beta) * (8 * (1 - beta) + mu * beta / (2 * L * E))),
    ),
    reading=(),
    repairs="8 + mu beta becomes 8 (1 - beta) + mu beta/(2 L E), which is theorem 4.4 (I) and agrees in its units",
)  # fmt: skip

# --- section 4.4: contraction and lower bounds -----------------------------------------------------------------------


def powers(goal: View) -> Argument:
    """Factors in order and not negative, then their powers."""
    steps: list[Step] = []
    for relation in goal.relations:
        sides: tuple[Any, ...] = relation.args
        small, large = (side.base for side in sides)
        least = Step(Ge(small, 0), note="not negative")
        order = Step(Le(small, large), note="the factors")
        steps += [least, order, Step(relation, given=(least, order), note="their powers")]
    return Argument(tuple(steps))


OURS, FEDAVG = 1 - mu / ((beta_any + 2) * L), 1 - mu / (3 * L)
CONTRACTION_ORDER = Statement(
    id="buttaci/sec4.4-contraction-order",
    kind="inequality",
    title="The three contraction factors in order",
    cite="Section 4.4, first display and below it",
    method="scalar",
    glossary=GLOSSARY,
    when=(Le(mu, L), Le(beta_any, 1)),
    then=(
        Le(OURS**t, FEDAVG**t),
        Le(FEDAVG**t, (1 - mu / (3 * (alpha_any + L))) ** t),
        Le((1 - mu / (2 * L)) ** t, OURS**t),
    ),
    sweep={L: mu * (1 + free("L")), beta_any: unit("beta")},
    reading=("the third relation is the text's: no smaller than (1 - mu/(2L))^t",),
    follows_from=(Derivation(powers),),
)

FEDPROX_LOWER = 1 - 3 * mu / (4 * (alpha_any + mu))
LOWER_ORDER = Statement(
    id="buttaci/sec4.4-lower-order",
    kind="inequality",
    title="The two factors of the lower bounds in order",
    cite="Section 4.4, below theorem 4.5's comparison",
    method="scalar",
    glossary=GLOSSARY,
    when=(Le(beta_any, 1),),
    then=Le((beta_any / 4) ** (2 * t), FEDPROX_LOWER ** (2 * t)),
    sweep={beta_any: unit("beta")},
    follows_from=(Derivation(powers),),
)


def at_fedavg(goal: View) -> Argument:
    """Both factors are 1/4 there."""
    return Argument(tuple(Step(relation) for relation in goal.relations))


FEDAVG_LOWER = Statement(
    id="buttaci/sec4.4-fedavg-lower",
    kind="identity",
    title="The lower bounds at alpha = 0 and at beta = 1",
    cite="Section 4.4, last sentence on the lower bounds",
    method="scalar",
    glossary=GLOSSARY,
    when=(Eq(alpha_any, 0), Eq(beta_any, 1)),
    then=(
        Eq(Delta * FEDPROX_LOWER ** (2 * t), Delta / 4 ** (2 * t)),
        Eq(Delta * (beta_any / 4) ** (2 * t), Delta / 4 ** (2 * t)),
    ),
    sweep={alpha_any: 0 * mu, beta_any: mu / mu},
    reading=(
        "a claim about formulas: 'setting ... yields' the first term of the two minima, with the constant 1 of Omega",
        "theorems 4.2 and 4.5 leave out alpha = 0 and beta = 1; the second term of their minima, which falls like "
        "1/t^2, is the larger one in the long run, so that the minimum is Delta/4^(2t) for all large t of one problem",
    ),
    follows_from=(Derivation(at_fedavg),),
)

# --- section 4.4: local steps ----------------------------------------------------------------------------------------


def vanishing(steps: Any) -> Any:
    """A sigma^2/E + B Gamma/E + C E G^2."""
    return A_vanish * sigma**2 / steps + B_vanish * Gamma / steps + C_vanish * steps * G**2


def minimum(goal: View) -> Argument:
    """What is left of the larger value is C G^2 (x - E*)^2 / x."""
    (claim,) = goal.relations
    found = sqrt(A_vanish * sigma**2 / C_vanish + B_vanish * Gamma / C_vanish) / G
    root = Step(Eq(C_vanish * G**2 * found**2, A_vanish * sigma**2 + B_vanish * Gamma), note="where the slope is 0")
    return Argument((root, Step(claim, given=(root,), note="a square is left")))


OPTIMAL_E = Statement(
    id="buttaci/sec4.4-optimal-E",
    kind="inequality",
    title="The number of local steps that minimises the vanishing error",
    cite="Section 4.4, second paragraph",
    method="scalar",
    glossary=GLOSSARY,
    when=(Gt(G, 0), Gt(A_vanish * sigma**2 + B_vanish * Gamma, 0)),
    then=Le(vanishing(best), vanishing(local)),
    where={best: sqrt(A_vanish * sigma**2 / C_vanish + B_vanish * Gamma / C_vanish) / G},
    reading=(
        "minimised over real E > 0; G > 0 and some noise or heterogeneity, without which there is no minimiser",
        "the bounds II of theorems 4.1 and 4.4 have this form, up to terms without E",
    ),
    follows_from=(Derivation(minimum),),
)

# --- section 4.4: iterations -----------------------------------------------------------------------------------------

BOUND_FEDPROX = (
    1 / sqrt(T)
    * (
        8 * L_alpha * Delta / sqrt(E)
        + L * S * sigma**2 / (L_alpha * sqrt(E))
        + alpha * E ** Rational(3, 2) * G**2 / L_alpha
    )
    + 2 * L**2 * E * G**2 / (L_alpha**2 * T)
    + alpha**2 * L * sqrt(E) * G**2 / (16 * L_alpha**3 * T ** Rational(3, 2))
)  # fmt: skip
ITERATIONS_FEDPROX = (
    64 * L_alpha**2 * Delta**2 / (E * accuracy**2)
    + L**2 * S**2 * sigma**4 / (L_alpha**2 * E * accuracy**2)
    + alpha**2 * E**3 * G**4 / (L_alpha**2 * accuracy**2)
    + 2 * L**2 * E * G**2 / (L_alpha**2 * accuracy)
    + alpha ** Rational(4, 3) * L ** Rational(2, 3) * E ** Rational(1, 3) * G ** Rational(4, 3)
    / (16 ** Rational(2, 3) * L_alpha**2 * accuracy ** Rational(2, 3))
)  # fmt: skip
BOUND_PERTURBED = 1 / sqrt(T) * (4 * L * Delta / sqrt(E) + S * sigma**2 / (2 * sqrt(E))) + E * G**2 / T * bracket(8)
LEADING_PERTURBED = 16 * L**2 * Delta**2 / (E * accuracy**2) + S**2 * sigma**4 / (4 * E * accuracy**2)
LAST_PERTURBED = E * G**2 / accuracy * bracket(8)

NOT_YET = (
    "about formulas: T is any number of rounds at which the theorem's bound is still the accuracy or more, and the "
    "claim bounds the largest of them"
)
EVERYTHING = "every parameter may grow, vanish or (sigma, G, Delta, S) be 0: no constant is hidden in O"

COMPLEXITY_FEDPROX = Statement(
    id="buttaci/sec4.4-complexity-fedprox",
    kind="order",
    title="FedProx, nonconvex: iterations to reach an accuracy",
    cite="Section 4.4, last paragraph, first display",
    method="order",
    glossary=GLOSSARY,
    when=(Le(accuracy, BOUND_FEDPROX),),
    then=Le(T, ITERATIONS_FEDPROX),
    where={L_alpha: alpha + L},
    order=ITERATIONS_FEDPROX,
    reading=(
        NOT_YET,
        EVERYTHING,
        "the bound is that of theorem 4.3 (I)",
        "the last term is never needed: alpha L <= L_alpha^2/4 and E, T >= 1 keep it below the one in accuracy^-2",
    ),
)

COMPLEXITY_PERTURBED = Statement(
    id="buttaci/sec4.4-complexity-perturbed",
    kind="order",
    title="Perturbed method, nonconvex: iterations to reach an accuracy",
    cite="Section 4.4, last paragraph, second display",
    method="order",
    glossary=GLOSSARY,
    when=(Le(accuracy, BOUND_PERTURBED), Lt(beta, 1)),
    then=Le(T, LEADING_PERTURBED + LAST_PERTURBED),
    order=LEADING_PERTURBED + LAST_PERTURBED,
    reading=(NOT_YET, EVERYTHING, "the bound is that of theorem 4.6 (I)"),
)

COMPLEXITY_COMPARED = Statement(
    id="buttaci/sec4.4-complexity-compared",
    kind="order",
    title="The perturbed method needs asymptotically no more iterations than FedProx",
    cite="Section 4.4, last paragraph, below the second display",
    method="order",
    glossary=GLOSSARY,
    let=(Assumption("vanishes", (accuracy,), "asymptotically, for small accuracy"),),
    when=(Le(sigma, G), Le(S, 1)),
    then=Le(LEADING_PERTURBED, ITERATIONS_FEDPROX),
    where={L_alpha: alpha + L},
    reading=(
        "'a limited magnitude of the last term' leaves that term out; 'inferior' is at most of the same order",
        "sigma <= G: the variance is part of E|g|^2. Were both only some bounds, FedProx's damped noise would win for "
        "alpha >> L",
        "S is at most 1, as a sum of squared weights",
    ),
)
