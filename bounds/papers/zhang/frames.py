"""What the names of the paper's proofs mean on a run of algorithm 1, and what the assumptions give at once."""

# sympy is annotated only in part: Eq(...) may be an Integer to a type checker, and most methods return unknowns.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportOperatorIssue=false, reportCallIssue=false

from functools import cache

from sympy import Eq, Expr, Function, IndexedBase, Integer, Le, Rational, Sum, Symbol
from sympy.logic.boolalg import Boolean

from ...language.assumptions import FLAT, SIGN, STILL, SUM, UNBIASED
from ...language.derivation import Known
from ...language.rule_expressions import (
    F,
    f_star,
    full_grad,
    grad,
    inner,
    mean,
    noisy,
    norm2,
    point,
    prox,
    vector,
    w_star,
)
from ...language.rule_parts import Number, Vector, zero
from ...proofs.atom import Atom
from ...proofs.atoms import MEAN_CONVEX, Bound, Convex, Minimum, Smooth, Square, Variance, lipschitz
from ...proofs.frame import Frame
from ...proofs.premise_identity import shown
from ...proofs.proximal_atoms import ProximalPL, Slope, Subgradient
from ...proofs.vectors import FENCHEL
from .methods import (
    COMPACT,
    FROM_STATIONARY,
    PROPOSED,
    PROXIMAL_STEP,
    Lambda,
    P,
    X,
    Z,
    Zhat,
    c,
    eta,
    onward,
    s,
    s_before,
    s_c,
    s_c_before,
    virtual,
    x,
    z,
    zhat,
)
from .symbols import (
    G2,
    B_g,
    L,
    b,
    dist2,
    eta_g,
    eta_t,
    gap,
    i,
    l,
    lam2,
    lam2_i,
    level,
    mean_off2,
    mu,
    mu_at_most_L,
    mu_sc,
    n,
    off2,
    r,
    sigma,
    step2,
    t,
    tau,
    vdev,
    vlevel,
    vstep2,
)

LETTERS, SIZES, SHARES = (r, t, i, l), (tau, n), IndexedBase("p")
CHARGED = {
    SUM: ("equal_weights", ()),
    SIGN: ("equal_weights", ()),
    UNBIASED: ("minibatch_variance", ()),
    FLAT: ("descent", ()),
    FENCHEL: None,  # g is convex in problem (1)
}
LOCAL = eta_t / eta_g  # eta tau
NOISE = sigma**2 / b
CONVEX = (("bounded_subgradients", (B_g,)),)  # g is convex

exact_sum = vector("e", r"\sum\nabla f_i(\mathbf z_{i})")  # of the gradients whose stochastic versions are summed in s
slope, gradient = full_grad(P), grad(z)
after_P = prox(onward, eta_t)  # P(x^(r+1))
m = Symbol("m", integer=True, nonnegative=True)  # a local step, whatever a statement says of its own

_not_negative, _real = {"nonnegative": True}, {"real": True}
noise2, apart2, turn2 = (Function(name, **_not_negative) for name in ("noise2", "apart2", "turn2"))  # of client i
mean_noise2, mean_apart2 = (Function(name, **_not_negative) for name in ("mean_noise2", "mean_apart2"))
shift2, push2 = (Function(x, **_not_negative) for x in ("shift2", "push2"))
pull = Function("pull", **_real)
exact2, between2, pushed2, bias2 = (Function(x, **_not_negative) for x in ("exact2", "between2", "pushed2", "bias2"))
turned, cross, kept_apart = (Function(name, **_real) for name in ("turned", "cross", "kept_apart"))
Y, V = Function("Y", **_not_negative), Function("V", **_not_negative)
V_k = tuple(Function(f"V_{k}", **_not_negative) for k in range(3))
WEIGHT, WEIGHTS_PL = Rational(1, 10), (Rational(7, 100), Rational(3, 20), Integer(1))  # of |Lambda - mean|^2 in V, V_k


def along(steps: Expr) -> Expr:
    return steps * eta


def pgd(steps: Expr) -> object:
    """x_pgd of (A.9): a proximal gradient step from P as long as so many local steps."""
    return prox(P - along(steps) * slope, along(steps))


H = eta_t**2 / n
apart = norm2(Lambda - mean(Lambda))
pushed = P - eta_t * slope - w_star + eta_t * full_grad(w_star)  # a gradient step on f, from P and from x*
bias = mean(exact_sum) / tau - slope
least = Number(f_star.terms)


best = prox(P - slope / mu, 1 / mu)  # where the minimum in D_g(P, μ) is
push = slope + (x - P) / eta_t  # a gradient of f and a subgradient of g, both at P


def mean_of(quantity: Expr) -> Expr:
    return Sum(quantity, (i, 1, n)) / n


ON_A_STEP = Frame(PROXIMAL_STEP, {}, LETTERS, SIZES, SHARES, CHARGED)

# z^ is P - eta (sum of gradients + steps times c), and c is the mean's part of the last round's sum minus the own one,
# at every step of every round: (A.2) to (A.4), which the frame checks from the rules of algorithm 1
ON_PROPOSED = Frame(
    PROPOSED,
    {
        noise2(r, t, i): norm2(s - exact_sum),
        apart2(r, t, i): norm2(exact_sum - t * grad(P)),
        turn2(r, t, i): norm2(gradient - grad(P)),
        turned(r, t, i): inner(exact_sum - t * grad(P), gradient - grad(P)),
        mean_noise2(r, t): norm2(mean(s - exact_sum)),
        mean_apart2(r, t): mean(norm2(exact_sum - t * grad(P))),
        exact2(r, t): norm2(pgd(t) - P),
        between2(r, t): norm2(after_P - virtual),
        cross(r, t): inner(slope - mean(s) / tau, after_P - virtual),
        pushed2(r): norm2(pushed),
        shift2(r): norm2(best - P),
        push2(r): norm2(push),
        pull(r): inner(push, best - P),
        bias2(r, t): norm2(bias),
        kept_apart(r, t): inner(pushed, mean(s - exact_sum)),
        Y(r): Number(((5 * H * (12 * B_g**2 + 2 * NOISE / tau), ("one",)),))
        + 10 * H * L**2 * norm2(P - w_star)
        + 5 * mean(apart),
        **{v(r): F(P) - least + w / eta_t * mean(apart) for v, w in zip((V, *V_k), (WEIGHT, *WEIGHTS_PL), strict=True)},
    },
    LETTERS,
    SIZES,
    SHARES,
    CHARGED,
    even=True,
    ghosts={exact_sum: (zero, exact_sum + gradient)},
    kept={zhat: lambda k: P - eta * s - k * eta * c, c: lambda _: (mean(s_before) - s_before) / tau},
)

ON_COMPACT = Frame(
    COMPACT,
    {},
    LETTERS,
    SIZES,
    SHARES,
    CHARGED,
    even=True,
    kept={
        **ON_PROPOSED.kept,
        X: lambda _: x,
        Zhat: lambda k: P - eta * s - k * eta * c,
        Z: lambda _: z,
        s_c: lambda _: s,
        s_c_before: lambda _: s_before,
    },
)


# from a stationary point nothing moves, if there is one client: at every step of every round
ON_STATIONARY = Frame(
    FROM_STATIONARY,
    {},
    LETTERS,
    SIZES,
    SHARES,
    {**CHARGED, FLAT: None, STILL: None},  # in problem (1) f is smooth and g convex: x* = P(x* − β∇f(x*)) for every β
    alone=True,
    kept={
        x: lambda _: w_star - eta_t * full_grad(w_star),
        c: lambda _: zero,
        s: lambda k: k * grad(w_star),
        zhat: lambda k: w_star - k * eta * grad(w_star),
        z: lambda _: w_star,
    },
)


def on_run(claim: Boolean, because: str, *by: tuple[Expr | int, Atom], **how: object) -> Known:
    return shown(claim, because, ON_PROPOSED, *by, **how)


# --- a client's local steps ------------------------------------------------------------------------------------------


def summed_noise(step: Expr) -> Known:
    return on_run(
        Le(noise2(r, step + 1, i), noise2(r, step, i) + NOISE),
        "the noise of different steps is uncorrelated (A.17)",
        (1, Variance(gradient, sigma, batch=b)),
        at=(r, step),
    )


def mean_of_noise(step: Expr) -> Known:
    return on_run(
        Le(mean_noise2(r, step + 1), mean_noise2(r, step) + NOISE / n),
        "the noise is uncorrelated over steps and clients",
        (1, Variance(gradient, sigma, "squares", batch=b)),
        at=(r, step),
    )


def one_more_gradient(step: Expr) -> tuple[Known, Known, Known]:
    """|Σ (∇f_i(z) − ∇f_i(P))|² with one more term, and what smoothness says of that term."""
    moved, turn = exact_sum - step * grad(P), gradient - grad(P)
    return (
        on_run(
            Eq(apart2(r, step + 1, i), apart2(r, step, i) + 2 * turned(r, step, i) + turn2(r, step, i)),
            "one more gradient, squared",
            at=(r, step),
        ),
        on_run(
            Le(turned(r, step, i) ** 2, apart2(r, step, i) * turn2(r, step, i)),
            "Cauchy-Schwarz",
            at=(r, step),
            schwarz=(moved, turn),
        ),
        on_run(
            Le(turn2(r, step, i), L**2 * off2(r, step, i)), "L-smoothness", *lipschitz(z, P, L), at=(r, step)
        ),
    )  # fmt: skip


def local_model(step: Expr) -> Known:
    """(A.10), (A.14) to (A.16): the next local model, by x_pgd, the nonexpansive proximal step and 2|a|² + 2|b|²."""
    count = step + 1
    size, goal = along(count), pgd(count)
    start, straight = zhat - eta * (noisy(gradient) + c), P - size * slope
    end = prox(start, size)
    noise, drifted = s + noisy(gradient) - (exact_sum + gradient), exact_sum + gradient - count * grad(P)
    return on_run(
        Le(off2(r, count, i), 8 * eta**2 * noise2(r, count, i) + 8 * eta**2 * apart2(r, count, i)
            + 4 * (count / tau) ** 2 * lam2_i(r, i) + 2 * exact2(r, count)),
        "2|a|² + 2|b|² (A.10), (A.16); the proximal operator is nonexpansive (A.14), (A.15)",
        (1, Square(end - goal - (goal - P))),
        (4 * size, Subgradient(start, goal, size, CONVEX)),
        (4 * size, Subgradient(straight, end, size, CONVEX)),
        (2, Square(start - end - straight + goal)),
        (2, Square(eta * (noise + drifted) - count / tau * (Lambda - mean(Lambda)))),
        (4 * eta**2, Square(noise - drifted)),
        at=(r, step),
    )  # fmt: skip


def mapped(step: Expr) -> Known:
    """(A.11) to (A.13): x_pgd − P = −(t+1)η (𝒢 − s̃ + s) with subgradients s, s̃ of g, which differ by at most 2 B_g."""
    size = along(step + 1)
    straight, long = P - size * slope, P - eta_t * slope
    one, two = (straight - pgd(step + 1)) / size, (long - virtual) / eta_t
    return on_run(
        Le(exact2(r, step + 1), size**2 * (8 * B_g**2 + 2 * G2(r))),
        "x_pgd − P = −(t+1)η 𝒢, and two subgradients of g differ by at most 2 B_g (A.13)",
        (1, Square(size / eta_t * (virtual - P) - size * (two - one))),
        (2 * size**2, Square(one + two)),
        (4, Slope(straight, size, B_g)),
        (4 * size**2 / eta_t**2, Slope(long, eta_t, B_g)),
        at=(r, step + 1),
    )


@cache
def begins() -> Known:
    return on_run(Eq(off2(r, 0, i), 0), "z_{i,0} = P")


@cache
def no_noise() -> Known:
    return on_run(Eq(noise2(r, 0, i), 0), "no gradient yet")


@cache
def no_gradient() -> Known:
    return on_run(Eq(apart2(r, 0, i), 0), "no gradient yet")


@cache
def no_mean_noise() -> Known:
    return on_run(Eq(mean_noise2(r, 0), 0), "no gradient yet")


# --- a whole round ---------------------------------------------------------------------------------------------------

ENDED = (r, tau)


@cache
def direction() -> Known:
    return on_run(
        Le(vdev(r), 2 * mean_noise2(r, tau) / tau**2 + 2 * bias2(r, tau)),
        "2|a|² + 2|b|²",
        (1, Square(mean(s - exact_sum) / tau - bias)),
        at=ENDED,
    )


@cache
def bias_of_clients() -> Known:
    return on_run(
        Le(bias2(r, tau), mean_apart2(r, tau) / tau**2),
        "Jensen over the clients",
        (1, Square(exact_sum / tau - grad(P) - bias, "mean")),
        at=ENDED,
    )


@cache
def mismatch() -> Known:
    return on_run(
        Le(lam2(r + 1), n * LOCAL**2 * 2 * L**2 * step2(r) + 4 * n * eta**2 * mean_apart2(r, tau)
            + 4 * n * eta**2 * mean_of(noise2(r, tau, i))),
        "|Y − WY| ≤ |Y| (A.22), then 2|a|² + 2|b|² twice, and L-smoothness",
        (n, Square(mean(eta * tau * grad(after_P) - eta * s))),
        (n, Square(eta * tau * (grad(after_P) - grad(P)) - eta * (tau * grad(P) - s), "mean")),
        *lipschitz(after_P, P, L, "mean", times=2 * n * LOCAL**2),
        (2 * n * eta**2, Square(exact_sum - tau * grad(P) - (s - exact_sum), "mean")),
        at=ENDED,
    )  # fmt: skip


@cache
def clients_apart() -> Known:
    return on_run(Eq(mean_apart2(r, tau), mean_of(apart2(r, tau, i))), "what the mean is", at=ENDED)


def clients_off(step: Expr) -> Known:
    return on_run(Eq(mean_off2(r, step), mean_of(off2(r, step, i))), "what the mean is", at=(r, step))


@cache
def clients_lambda() -> Known:
    return on_run(Eq(lam2(r), n * mean_of(lam2_i(r, i))), "|Λ − mean|² is the sum over clients")


# --- the server's step -----------------------------------------------------------------------------------------------


@cache
def virtual_step() -> Known:
    return on_run(
        Le(vlevel(r), level(r) + (L / 2 - 1 / eta_t) * vstep2(r)),
        "assumption 3.2 at the virtual iterate, whose proximal step gives a subgradient of g (A.25)",
        (1, Smooth(P, virtual, L, "mean", named="descent")),
        (1, Subgradient(P - eta_t * slope, P, eta_t, CONVEX)),
    )


@cache
def ahead() -> Known:
    return on_run(
        Le(gap(r + 1), gap(r) + vlevel(r) - level(r) + cross(r, tau) + (L / 2 - 1 / (2 * eta_t)) * step2(r)
            + (L / 2 + 1 / (2 * eta_t)) * eta_t**2 * G2(r) - between2(r, tau) / (2 * eta_t)),
        "fact 1 along (3), with 2<b, b − a> = |b − a|² + |b|² − |a|² (A.26)",
        (1, Smooth(P, after_P, L, "mean", named="descent")),
        (1, Smooth(P, virtual, L, "mean", below=True, named="two_sided")),
        (1, Subgradient(onward, virtual, eta_t, CONVEX)),
        at=ENDED,
    )  # fmt: skip


@cache
def peter_paul() -> Known:
    return on_run(
        Le(cross(r, tau), between2(r, tau) / (2 * eta_t) + eta_t / 2 * vdev(r)),
        "Peter-Paul (A.28)",
        (1 / (2 * eta_t), Square(after_P - virtual - eta_t * (slope - mean(s) / tau))),
        at=ENDED,
    )


@cache
def pl_step() -> Known:
    return on_run(
        Le(vlevel(r), level(r) - mu * eta_t * gap(r)),
        "the subgradient of g at the virtual iterate towards P and towards where D_g(P, μ) is attained (A.34)",
        (1, Smooth(P, virtual, L, "mean", named="descent")),
        (1 - mu * eta_t, Subgradient(P - eta_t * slope, P, eta_t, CONVEX)),
        (mu * eta_t, Subgradient(P - eta_t * slope, best, eta_t, CONVEX)),
        (1 / (2 * eta_t), Square(mu * eta_t * (best - P) + P - virtual)),
        (1 / (2 * eta_t) - L / 2, Square(P - virtual)),
        (mu * eta_t, ProximalPL(P, mu)),
    )


theta = Symbol("zeta", positive=True)  # min(1, μ η̃); theta is the weight of the l1 norm in this paper


@cache
def pl_step_of_any_size() -> Known:
    return on_run(
        Le(vlevel(r), level(r) - theta * gap(r)),
        "the subgradient of g at the virtual iterate towards P and towards where D_g(P, μ) is attained (A.34)",
        (1, Smooth(P, virtual, L, "mean", named="descent")),
        (1 - theta, Subgradient(P - eta_t * slope, P, eta_t, CONVEX)),
        (theta, Subgradient(P - eta_t * slope, best, eta_t, CONVEX)),
        (1 / (2 * eta_t), Square(theta * (best - P) + P - virtual)),
        (1 / (2 * eta_t) - L / 2, Square(P - virtual)),
        (theta * (mu - theta / eta_t) / 2, Square(best - P)),
        (theta, ProximalPL(P, mu)),
    )


@cache
def no_lower() -> Known:
    return on_run(
        Le((mu - L) * shift2(r), 0),
        "where D_g(P, μ) is attained F is not below F*",
        (2, Smooth(P, best, L, "mean", named="descent")),
        (2, ProximalPL(P, mu)),
        (2, Minimum(best)),
    )


@cache
def flat_gap() -> Known:
    return on_run(
        Le(gap(r), -pull(r) - mu / 2 * shift2(r)),
        "assumption 3.3 (2), and the subgradient of g at P",
        (1, ProximalPL(P, mu)),
        (1, Subgradient(x, best, eta_t, CONVEX)),
    )


@cache
def pulled() -> Known:
    return on_run(Le(pull(r) ** 2, push2(r) * shift2(r)), "Cauchy-Schwarz", schwarz=(push, best - P))


@cache
def mu_L() -> Known:
    return on_run(Le(mu, L), "μ ≤ L", (1, Bound(mu_at_most_L)))


# --- strong convexity ------------------------------------------------------------------------------------------------

_u = point("u")


@cache
def mu_sc_L() -> Known:
    return on_run(
        Le(mu_sc, L),
        "μ ≤ L",
        (2, Smooth(P, P + _u, L, "mean", named="descent")),
        (2, Convex(P, P + _u, mu_sc, "mean", MEAN_CONVEX)),
        times=_u,
    )


_turn = grad(P) - grad(w_star)


@cache
def map_() -> Known:
    return on_run(
        Le(G2(r), 2 * L**2 * dist2(r) + 8 * B_g**2),
        "𝒢 = ∇f(P) − ∇f(x*) + s − s* with subgradients s, s* of g",
        (1 / eta_t**2, Square(P - virtual - eta_t * slope + eta_t * full_grad(w_star) - eta_t * mean(_turn))),
        (2, Square(_turn - mean(_turn), "mean")),
        *lipschitz(P, w_star, L, "mean", times=2),
        (2 / eta_t**2, Square(P - virtual - eta_t * slope - eta_t * full_grad(w_star))),
        (4 / eta_t**2, Slope(P - eta_t * slope, eta_t, B_g)),
        (4 / eta_t**2, Slope(w_star - eta_t * full_grad(w_star), eta_t, B_g)),
    )


def coercive(x: Vector, y: Vector, times: Expr) -> tuple[tuple[Expr, Atom], ...]:
    """<d, x − y> ≥ |d|²/L + μ|d|²/L² for the gradients of f − μ/2|·|², d their difference, `times` a number."""
    atoms: list[tuple[Expr, Atom]] = []
    for a, b_ in ((x, y), (y, x)):
        end = b_ - (full_grad(b_) - full_grad(a) - mu_sc * (b_ - a)) / L
        atoms.append((times, Smooth(b_, end, L, "mean", named="descent")))
        atoms.append((times, Convex(a, end, mu_sc, "mean", MEAN_CONVEX)))
    return tuple(atoms)


SHRINK = mu_sc * eta_t
_contracting = 2 * eta_t * (1 - SHRINK)


@cache
def contraction() -> Known:
    return on_run(
        Le(pushed2(r), (1 - SHRINK) ** 2 * dist2(r)),
        "a gradient step on f contracts",
        *coercive(P, w_star, _contracting),
        (_contracting * (1 / L + mu_sc / L**2) - eta_t**2, Square(mean(_turn) - mu_sc * (P - w_star))),
    )


_noise = mean(s - exact_sum) / tau
_still = w_star - eta_t * full_grad(w_star)


@cache
def split() -> Known:
    return on_run(
        Le(dist2(r + 1), (1 + SHRINK) * pushed2(r) + (2 + 1 / SHRINK) * eta_t**2 * bias2(r, tau)
            + 2 * eta_t**2 * mean_noise2(r, tau) / tau**2 - 2 * eta_t / tau * kept_apart(r, tau)),
        "nonexpansive; Peter-Paul with m",
        (2 * eta_t, Subgradient(onward, w_star, eta_t, CONVEX)),
        (2 * eta_t, Subgradient(_still, after_P, eta_t, CONVEX)),
        (1, Square(onward - after_P - _still + w_star)),
        (SHRINK, Square(pushed + eta_t / SHRINK * bias)),
        (eta_t**2, Square(bias - _noise)),
        at=ENDED,
    )  # fmt: skip


@cache
def no_lean() -> Known:
    return on_run(Eq(kept_apart(r, 0), 0), "no gradient yet")


@cache
def moved() -> Known:
    return on_run(
        Le(step2(r), 2 * dist2(r + 1) + 2 * dist2(r)), "2|a|² + 2|b|²", (1, Square(after_P + P - 2 * w_star)), at=ENDED
    )


def lean(step: Expr) -> Known:
    return on_run(
        Eq(kept_apart(r, step + 1), kept_apart(r, step)),
        "the noise of a step is uncorrelated with where the round starts",
        at=(r, step),
    )
