"""Proofs of chapter 3's propositions, line by line; where the thesis's own line is wrong, a line that is right.

dtr = tr(L~ - L) = sum of the differences of the eigenvalues. The weights on different pairs are independent, and a
pair's weight stands twice in the trace and four times in tr (L~ - L)^2.
"""

from sympy import Eq, Expr, Function, Ge, IndexedBase, Le, Sum, Symbol, sqrt

from ...decide.facts import sum_next
from ...language.derivation import Argument, Induction, Known, Requirement, Step, View

trace = Symbol("trace", real=True)


def named(view: View, name: str) -> Symbol:
    """The statement's own symbol of that name."""
    symbols = {s for r in (*view.relations, *view.requires) for s in r.free_symbols if s.name == name}
    return symbols.pop()


def parameters(view: View) -> tuple[Expr, Expr, Expr]:
    """C, and mean and variance of w~_ij - w_ij."""
    C, theta, epsilon = (named(view, name) for name in ("C", "theta", "epsilon"))
    symbols = {s.name: s for r in (*view.relations, *view.requires) for s in r.free_symbols}
    phi, delta = symbols.get("phi", Symbol("phi", positive=True)), named(view, "delta")
    return C, -epsilon * theta, (2 + delta) * phi**2


def definition_3_2(goal: View) -> Argument:
    """The square multiplied out, coordinate by coordinate."""
    D = named(goal, "D")
    a, b = (IndexedBase(name, real=True) for name in "ab")
    d, n = Symbol("d", integer=True, positive=True), Symbol("n", integer=True, nonnegative=True)
    terms = ((a[d] - b[d]) ** 2, a[d] ** 2, a[d] * b[d], b[d] ** 2)
    apart, aa, ab, bb = (Sum(term, (d, 1, n)) for term in terms)
    expanded = Induction(
        Eq(apart, aa - 2 * ab + bb, evaluate=False),
        over=n,
        step=tuple(sum_next(term, d, 1, n) for term in terms),
        note="|a - b|² = |a|² - 2a'b + |b|²",
    )
    last = Step(goal.relations[0], given=(expanded.at(D),))
    return Argument((expanded, last), last)


def proposition_3_1(goal: View) -> Argument:
    hom, spectrum, C = (named(goal, name) for name in ("hom", "spectrum", "C"))
    degrees = Known(Eq(trace, 2 * C * (C - 1) * hom), "tr L = tr D (3.5)", "premise")
    eigenvalues = Known(
        Eq(trace, spectrum), "a trace is the sum of the eigenvalues, of which the first is 0", "premise"
    )
    last = Step(goal.relations[0], given=(degrees, eigenvalues), where="3.6")
    return Argument((last,), last)


def proposition_3_2(goal: View) -> Argument:
    """The thesis's way: S = hom~ - hom is normal, so that P(S < 0) = Φ(-E S / sqrt(V S)).

    Here with the variance of an average over C(C-1)/2 pairs; the thesis takes C(C-1) of them.
    """
    C, mean, variance = parameters(goal)
    A2, (left, right) = named(goal, "A2"), goal.relations[0].args
    difference, spread = mean / 2, variance / (2 * C * (C - 1))
    normal = Function("Phi_of_the_square", nonnegative=True)  # Φ(sqrt x)
    assumes = ("independent_networks",)
    law = Known(
        Eq(left, normal(difference**2 / spread)),
        "hom~ - hom averages C(C-1)/2 independent Gaussians: P(S < 0) = Φ(-E S / sqrt(V S)), E S < 0",
        "premise",
        assumes=assumes,
    )
    printed = Known(Eq(right, normal(A2)), "Φ(A), A > 0", "premise")
    argument = Step(Eq(A2, difference**2 / spread, evaluate=False), note="the argument of Φ")
    same = Known(
        Eq(normal(A2), normal(difference**2 / spread)),
        "equal arguments, equal values",
        "premise",
        (Requirement(Eq(A2, difference**2 / spread, evaluate=False), (argument,)),),
    )
    last = Step(goal.relations[0], given=(law, printed, same))
    return Argument((argument, last), last)


def proposition_3_3_lower(goal: View) -> Argument:
    C, mean, variance = parameters(goal)
    average = goal.lhs
    square = Symbol("dtr2", nonnegative=True)  # E dtr²: C(C-1)/2 pairs, each counted twice
    jensen = Known(Ge(average, square / (C - 1) ** 2), "Jensen over the C - 1 eigenvalues", "premise")
    gaussian = Known(
        Eq(square, 2 * C * (C - 1) * variance + (C * (C - 1) * mean) ** 2),
        "variance and mean of a sum over C(C-1)/2 independent pairs, doubled",
        "premise",
        assumes=("independent_networks",),
    )
    bound = Step(Ge(average, C**2 * mean**2 + 2 * C / (C - 1) * variance), given=(jensen, gaussian), note="4C² E S²")
    return Argument((bound, Step(goal.relations[0], given=(bound,))), bound)


def proposition_3_3_upper_traces(goal: View) -> Argument:
    """The thesis's way: the squared differences are tr (L~ - L)^2, and a trace of a square is at most a trace squared.

    The first is an upper bound (Hoffman-Wielandt) and the second needs L~ - L >= 0; in the mean both hold here.
    """
    C, mean, variance = parameters(goal)
    square, whole = (Symbol(name, nonnegative=True) for name in ("trM2", "dtr2"))  # E tr (L~ - L)², E (tr L~ - tr L)²
    eigenvalues = Known(Le(goal.lhs, square / (C - 1)), "Σ (λ~ - λ)² against tr (L~ - L)²", "premise")
    moments = [
        Known(Eq(square, C * (C - 1) * (2 * variance + C * mean**2)), "degrees and entries, squared", "premise",
              assumes=("independent_networks",)),
        Known(Eq(whole, 2 * C * (C - 1) * variance + (C * (C - 1) * mean) ** 2),
              "variance and mean of a sum over C(C-1)/2 independent pairs, doubled", "premise",
              assumes=("independent_networks",)),
    ]  # fmt: skip
    traces = Step(Le(square, whole), given=tuple(moments), note="tr M² ≤ (tr M)², in the mean")
    bound = Step(
        Le(goal.lhs, 2 * C * variance + C**2 * (C - 1) * mean**2),
        given=(eigenvalues, traces, moments[1]),
        note="4C²(C-1) E S²",
    )
    return Argument((traces, bound, Step(goal.relations[0], given=(bound,))), bound)


def proposition_3_3_upper(goal: View) -> Argument:
    C, mean, variance = parameters(goal)
    average = goal.lhs
    square = Symbol("trM2", nonnegative=True)  # E tr (L~ - L)²
    wielandt = Known(Le(average, square / (C - 1)), "Hoffman-Wielandt on the complement of 1", "premise")
    degrees = C * ((C - 1) * variance + (C - 1) ** 2 * mean**2)
    gaussian = Known(
        Eq(square, degrees + C * (C - 1) * (variance + mean**2)),
        "C squared degrees and C(C-1) squared entries",
        "premise",
        assumes=("independent_networks",),
    )
    bound = Step(Le(average, C**2 * mean**2 + 2 * C * variance), given=(wielandt, gaussian))
    return Argument((bound, Step(goal.relations[0], given=(bound,))), bound)


def proposition_3_3_large_C(goal: View, lower: View, upper: View) -> Argument:
    cited = (lower.holds(), upper.holds())
    return Argument(tuple(Step(r, given=(k,)) for r, k in zip(goal.relations, cited, strict=True)), cited)


def proposition_3_4_lower(goal: View) -> Argument:
    """E|N(m, s²)| grows with s, so that the printed variance, half of the true one, still gives a lower bound."""
    C, mean, variance = parameters(goal)
    wide, narrow = (Symbol(name, nonnegative=True) for name in ("wide", "narrow"))
    Phi, density = (Function(name, nonnegative=True)(C) for name in ("Phi", "density"))
    known = (
        Known(Ge(goal.lhs, wide), "convexity of |·|: E|dtr| / (C - 1), dtr of variance 2C(C-1) (2 + δ) φ²", "premise",
              assumes=("independent_networks",)),
        Known(Ge(wide, narrow), "E|N(m, s²)| grows with s", "premise"),
        Known(Eq(narrow, -C * mean * (2 * Phi - 1) + 2 * sqrt(C * variance / (C - 1)) * density),
              "E|N(m, s²)| = m (1 - 2Φ(-m/s)) + 2 s Φ'(m/s)", "premise"),
    )  # fmt: skip
    last = Step(goal.relations[0], given=known)
    return Argument((last,), last)


def proposition_3_4_upper(goal: View) -> Argument:
    """The thesis's way: the triangle inequality, and |λ| = λ."""
    C, theta, epsilon = (named(goal, name) for name in ("C", "theta", "epsilon"))
    traces = Symbol("traces", real=True)  # E tr L~ + E tr L
    triangle = Known(
        Le(goal.lhs, traces / (C - 1)),
        "the triangle inequality, and the eigenvalues of a Laplacian are not negative",
        "premise",
        assumes=("nonnegative_weights",),
    )
    means = Known(Eq(traces, C * (C - 1) * (theta + (1 - epsilon) * theta)), "means of C(C-1) weights", "premise")
    bound = Step(Le(goal.lhs, C * (2 - epsilon) * theta), given=(triangle, means), note="2C E T")
    return Argument((bound, *(Step(r, given=(bound,)) for r in goal.relations if r != bound.claim)), bound)


def proposition_3_4_upper_squares(goal: View) -> Argument:
    """Cauchy-Schwarz over the eigenvalues and Hoffman-Wielandt; no sign of an eigenvalue is needed."""
    C, mean, variance = parameters(goal)
    squared, square = (Symbol(name, nonnegative=True) for name in ("msd", "trM2"))  # mean of (λ~ - λ)², E tr (L~ - L)²
    schwarz = Known(Le(goal.lhs**2, squared), "Cauchy-Schwarz", "premise")
    wielandt = Known(Le(squared, square / (C - 1)), "Hoffman-Wielandt on the complement of 1", "premise")
    gaussian = Known(
        Eq(square, C * (C - 1) * (2 * variance + C * mean**2)),
        "C squared degrees and C(C-1) squared entries",
        "premise",
        assumes=("independent_networks",),
    )
    second = Step(Le(goal.lhs**2, C**2 * mean**2 + 2 * C * variance), given=(schwarz, wielandt, gaussian))
    bound = Step(Le(goal.lhs, C * sqrt(mean**2 + 2 * variance / C)), given=(second,))
    return Argument((second, bound, *(Step(r, given=(bound,)) for r in goal.relations if r != bound.claim)), bound)
