"""Claims in the text: the rates of the introduction (section 1.2) and the discussion (section 4.4)."""

from dataclasses import replace
from typing import Any

from ...language.algebra import Eq, Ge, Gt, Integer, Le, Lt, Rational, sqrt
from ...language.derivation import Argument, Derivation, Step, View
from ...language.knobs import free, unit
from ...language.statement import Assumption, Statement
from .fedprox import THEOREM_4_1_I
from .frames import FEDPROX_BASICS, PERTURBED_BASICS
from .lower import TWO_GROUPS
from .lower_perturbed import contracts_by_a_quarter
from .methods import PERTURBED
from .network import PROPOSITION_3_3_LARGE_C, REMAINDERS, epsilon, msd, o_C, o_C2, theta
from .nonconvex import THEOREM_4_3_I, Delta_inf
from .perturbed import THEOREM_4_4_I
from .perturbed_nonconvex import THEOREM_4_6_I, bracket
from .symbols import GLOSSARY, C, Delta, E, G, Gamma, L, L_alpha, S, T, alpha, gamma, gamma_, gap, mu, sigma, t
from .symbols_perturbed import beta, similarity_weights

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
    cited = theorem.holds()
    basics = PERTURBED_BASICS if "similarity_weights" in theorem.assumes else FEDPROX_BASICS
    ordered = (basics.mu_at_most_L,) if "strongly_convex" in theorem.assumes else ()
    return Argument((Step(goal.relations[0], given=(cited, *ordered)),), cited)


def rate(theorem: Statement, display: str, label: str, title: str, bound: Any, *reading: str) -> Statement:
    """What the introduction says of a theorem's method and step size, with the rate as section 1.2 prints it."""
    return replace(
        theorem,
        id=f"buttaci/sec1.2-{label}",
        kind="order",
        title=f"Introduction: {title}",
        cite=f"Section 1.2, {display} display",
        then=Le(theorem.relations[0].lhs, bound),
        order=bound,
        reading=(*theorem.reading, THE_THEOREM_S, *reading),
        follows_from=(Derivation(restated, cites=(theorem.id,)),),
    )


# --- section 1.2, typed from its own displays ------------------------------------------------------------------------

SPECTRAL = replace(
    PROPOSITION_3_3_LARGE_C,
    id="buttaci/sec1.2-spectral",
    title="Introduction: mean squared deviation of the Laplacian eigenvalues",
    cite="Section 1.2, first display",
    then=(
        Gt(msd(C), epsilon**2 * theta**2 * C**2 + o_C),
        Le(msd(C), epsilon**2 * theta**2 * C**3 + o_C2),
    ),
    reading=(
        *PROPOSITION_3_3_LARGE_C.reading,
        "theta is called the mean client dissimilarity and epsilon the variation on it: read as in chapter 3, where "
        "theta is the mean of -ln mis (the footnote says parameter of the log-normal law)",
    ),
    follows_from=PROPOSITION_3_3_LARGE_C.follows_from,
)
SPECTRAL_REMAINDERS = replace(
    REMAINDERS,
    id="buttaci/sec1.2-spectral~remainders",
    title="The remainders of sec1.2-spectral are o(C) and o(C^2)",
    cite="Section 1.2, first display",
    reading=("the witnesses that sec1.2-spectral names: that they are o(.) is part of the claim",),
)

FEDPROX_NONCONVEX = rate(
    THEOREM_4_3_I,
    "second",
    "fedprox-nonconvex",
    "rate of FedProx, nonconvex",
    1 / sqrt(T)
    * (
        8 * (L + alpha) * Delta_inf / sqrt(E)
        + L * S * sigma**2 / ((L + alpha) * sqrt(E))
        + alpha * E ** Rational(3, 2) * G**2 / (L + alpha)
    )
    + 2 * L**2 * E * G**2 / ((L + alpha) ** 2 * T)
    + alpha**2 * L * sqrt(E) * G**2 / (16 * (L + alpha) ** 3 * T ** Rational(3, 2)),
)  # fmt: skip

FEDPROX_CONVEX = rate(
    THEOREM_4_1_I,
    "third",
    "fedprox-convex",
    "rate of FedProx, strongly convex",
    L * Delta / mu * (1 - mu / (3 * (alpha + L))) ** t
    + L / (L + alpha) * (S * sigma**2 / (4 * mu) + 3 * L * Gamma / (2 * mu) + 2 * E**2 * G**2 / mu),
)  # fmt: skip

PERTURBED_NONCONVEX = rate(
    THEOREM_4_6_I,
    "fourth",
    "perturbed-nonconvex",
    "rate of the perturbed method, nonconvex",
    1 / sqrt(T) * (4 * L * Delta_inf / sqrt(E) + S * sigma**2 / (2 * sqrt(E)))
    + E * G**2 / T * (4 + (1 - beta) ** 2 + 8 * (1 - 1 / beta) ** 2),
)  # fmt: skip

VANISHING = L * Delta / mu * (1 - mu / ((beta + 2) * L)) ** t + S * sigma**2 / (4 * mu) + 3 * L * Gamma / (2 * mu)
PERTURBED_CONVEX = rate(
    THEOREM_4_4_I,
    "fifth",
    "perturbed-convex",
    "rate of the perturbed method, strongly convex",
    VANISHING + E**2 * G**2 / (4 * mu) * (32 + 64 * (1 - 1 / beta) ** 2 + (1 - beta) * (8 + mu * beta)),
    "8 + mu beta is printed, a number plus a curvature: theorem 4.4 (I) has 8 (1 - beta) + mu beta/(2 L E)",
)

PERTURBED_CONVEX_REPAIRED = replace(
    PERTURBED_CONVEX,
    id="buttaci/sec1.2-perturbed-convex~repaired",
    then=Le(
        gap(t),
        VANISHING
        + E**2 * G**2 / (4 * mu)
        * (32 + 64 * (1 - 1 / beta) ** 2 + (1 - beta) * (8 * (1 - beta) + mu * beta / (2 * L * E))),
    ),
    reading=(*THEOREM_4_4_I.reading, THE_THEOREM_S),
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


def by_theorem_4_5(goal: View, theorem: View) -> Argument:
    """As the text has it: beta = 1 in theorem 4.5, which leaves beta = 1 out and has a minimum of two terms."""
    cited = theorem.holds()
    return Argument((Step(goal.relations[0], given=(cited,)),), cited)


FEDAVG_LOWER = Statement(
    id="buttaci/sec4.4-fedavg-lower",
    kind="exists",
    title="FedAvg: lower bound on the contraction of the gap",
    cite="Section 4.4, last sentence on the lower bounds",
    method=PERTURBED,
    glossary=GLOSSARY,
    let=(*TWO_GROUPS, similarity_weights),
    choose={gamma(t): gamma_},
    when=(Le(gamma_, 1 / (E * mu)), Eq(beta, 1), Ge(E, 2), Ge(C, 2)),
    then=Ge(gap(t), Delta / 4 ** (2 * t)),
    where={Delta: gap(0)},
    for_all={t: (0, T)},
    sweep={gamma_: unit("gamma") / (E * mu), beta: Integer(1)},
    reading=(
        "what FedAvg does on the construction of theorems 4.2 and 4.5, of which it is the case alpha = 0 or beta = 1, "
        "both left out there; with beta = 1 the neighbour averages do not matter",
        "Omega is read with the constant 1, without the second term of the theorems' minima, which the sentence drops",
        "the formulas alone: sec4.4-fedavg-lower~formula",
    ),
    follows_from=(
        Derivation(by_theorem_4_5, cites=("buttaci/thm4.5",)),
        Derivation(contracts_by_a_quarter),
    ),
)

FEDAVG_LOWER_FORMULA = Statement(
    id="buttaci/sec4.4-fedavg-lower~formula",
    kind="identity",
    title="The factors of the two lower bounds at alpha = 0 and at beta = 1",
    cite="Section 4.4, last sentence on the lower bounds",
    method="scalar",
    glossary=GLOSSARY,
    when=(Eq(alpha_any, 0), Eq(beta_any, 1)),
    then=(
        Eq(Delta * FEDPROX_LOWER ** (2 * t), Delta / 4 ** (2 * t)),
        Eq(Delta * (beta_any / 4) ** (2 * t), Delta / 4 ** (2 * t)),
    ),
    sweep={alpha_any: 0 * mu, beta_any: mu / mu},
    reading=("'setting ... yields' the first term of the two minima",),
    follows_from=(Derivation(at_fedavg),),
)

# --- section 4.4: local steps ----------------------------------------------------------------------------------------


def vanishing(steps: Any) -> Any:
    """A sigma^2/E + B Gamma/E + C E G^2."""
    return A_vanish * sigma**2 / steps + B_vanish * Gamma / steps + C_vanish * steps * G**2


def minimum(goal: View) -> Argument:
    """What is left of the larger value is C G^2 (x - E*)^2 / x."""
    (claim,) = goal.relations
    least = sqrt(A_vanish * sigma**2 / C_vanish + B_vanish * Gamma / C_vanish) / G
    root = Step(Eq(C_vanish * G**2 * least**2, A_vanish * sigma**2 + B_vanish * Gamma), note="where the slope is 0")
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
