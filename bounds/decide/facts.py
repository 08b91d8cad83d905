"""Elementary facts that proofs lean on. Each is a statement with its own proof, decided like any other.

Calling a fact gives an instance: `one_minus_power(x=γ(α+μ)E, n=E)` is (1 − γ(α+μ))^E ≤ e^{−γ(α+μ)E}, and requires
0 ≤ γ(α+μ)E ≤ E. One axiom is about exp (its tangent at 0), two rules are about finite sums; all else is derived.
"""

# sympy is annotated only in part: Eq(...) may be an Integer to a type checker, and most methods return unknowns.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownParameterType=false
# pyright: reportArgumentType=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false, reportCallIssue=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flint import arb, fmpq
from sympy import Add, Eq, Expr, Ge, Gt, Integer, Le, Mul, Ne, Pow, Rational, Sum, Symbol, exp, log
from sympy import E as e
from sympy.logic.boolalg import And, Boolean, false

from fedaudit.errors import UserError

from ..language.derivation import Induction, Known, Requirement, Step

x, y, z = (Symbol(name, real=True) for name in "xyz")
w = Symbol("w", real=True)
n = Symbol("n", integer=True, nonnegative=True)
m = Symbol("m", integer=True, nonnegative=True)
k = Symbol("k", integer=True, nonnegative=True)

Proof = Callable[..., tuple[Step | Induction, ...]]


@dataclass(frozen=True, slots=True)
class Instance:
    """What was put into a fact or into a rule about finite sums, so that the instance can be made again."""

    make: Callable[..., Known]
    arguments: tuple[Any, ...]

    @property
    def fact(self) -> Fact | None:
        """The fact of which this is an instance; None for a rule about finite sums."""
        owner = getattr(self.make, "__self__", None)
        return owner if isinstance(owner, Fact) else None

    def known(self) -> Known:
        return self.make(*self.arguments)


@dataclass(frozen=True, slots=True)
class Fact:
    """`when` ⟹ `then` for all values of the variables; `proof` is None for an axiom, and `says` then says why."""

    name: str
    says: str
    variables: tuple[Symbol, ...]
    then: Callable[..., Boolean]
    when: Callable[..., tuple[Boolean, ...]] = lambda *_: ()
    proof: Proof | None = None

    def __call__(self, **values: Expr | int) -> Known:
        names = [v.name for v in self.variables]
        if sorted(values) != sorted(names):
            raise UserError(f"{self.name}: got values for {sorted(values)}, expected {names}; do: name each once")
        return self.at(*(_exact(values[name]) for name in names))

    def at(self, *arguments: Expr) -> Known:
        """The fact at these values of its variables, in their order."""
        whole = [a.is_integer is True for v, a in zip(self.variables, arguments, strict=True) if v.is_integer]
        requires = (*map(Requirement, self.when(*arguments)), *(() if all(whole) else (Requirement(false),)))
        return Known(self.then(*arguments), self.name, "fact", requires, rule=Instance(self.at, arguments))

    @property
    def conditions(self) -> tuple[Boolean, ...]:
        return self.when(*self.variables)

    @property
    def conclusion(self) -> Boolean:
        return self.then(*self.variables)


def _exact(value: Expr | int) -> Expr:
    return Integer(value) if isinstance(value, int) else value


# --- powers ----------------------------------------------------------------------------------------------------------

power_sign = Fact(
    "power_sign",
    "x^n is non-negative for x ≥ 0",
    (x, n),
    when=lambda x, n: (Le(0, x), Le(0, n)),
    then=lambda x, n: Le(0, x**n),
    proof=lambda x, n: (Induction(Le(0, x**n), n, bare=True),),
)
power_positive = Fact(
    "power_positive",
    "x^n is positive for x > 0",
    (x, n),
    when=lambda x, n: (Gt(x, 0), Le(0, n)),
    then=lambda x, n: Gt(x**n, 0),
    proof=lambda x, n: (Induction(Gt(x**n, 0), n, bare=True),),
)
power_monotone = Fact(
    "power_monotone",
    "0 ≤ x ≤ y gives x^n ≤ y^n",
    (x, y, n),
    when=lambda x, y, n: (Le(0, x), Le(x, y), Le(0, n)),
    then=lambda x, y, n: Le(x**n, y**n),
    proof=lambda x, y, n: (
        Induction(And(Le(0, x**n), Le(x**n, y**n)), n, bare=True),
        Step(Le(x**n, y**n), given=(Induction(And(Le(0, x**n), Le(x**n, y**n)), n, bare=True),), bare=True),
    ),
)
power_le_one = Fact(
    "power_le_one",
    "x^n ≤ 1 for 0 ≤ x ≤ 1",
    (x, n),
    when=lambda x, n: (Le(0, x), Le(x, 1), Le(0, n)),
    then=lambda x, n: Le(x**n, 1),
    proof=lambda x, n: (Step(Le(x**n, 1), given=(power_monotone(x=x, y=1, n=n),)),),
)
power_le_base = Fact(
    "power_le_base",
    "x^n ≤ x for 0 ≤ x ≤ 1 and n ≥ 1",
    (x, n),
    when=lambda x, n: (Le(0, x), Le(x, 1), Le(1, n)),
    then=lambda x, n: Le(x**n, x),
    proof=lambda x, n: (Induction(Le(x**n, x), n, start=1),),
)
power_decreasing = Fact(
    "power_decreasing",
    "x^(n+m) ≤ x^n for 0 ≤ x ≤ 1",
    (x, n, m),
    when=lambda x, n, m: (Le(0, x), Le(x, 1), Le(0, n), Le(0, m)),
    then=lambda x, n, m: Le(x ** (n + m), x**n),
    proof=lambda x, n, m: (Induction(Le(x ** (n + m), x**n), m),),
)
bernoulli = Fact(
    "bernoulli",
    "(1 + x)^n ≥ 1 + n x for x ≥ −1",
    (x, n),
    when=lambda x, n: (Le(-1, x), Le(0, n)),
    then=lambda x, n: Ge((1 + x) ** n, 1 + n * x),
    proof=lambda x, n: (Induction(Ge((1 + x) ** n, 1 + n * x), n),),
)
# Equations about powers are not evaluated: sympy would turn both sides into one expression, and nothing be left.
power_product = Fact(
    "power_product",
    "(x y)^n = x^n y^n",
    (x, y, n),
    when=lambda x, y, n: (Le(0, n),),
    then=lambda x, y, n: Eq(Pow(x * y, n, evaluate=False), Mul(x**n, y**n), evaluate=False),
    proof=lambda x, y, n: (
        Induction(Eq(Pow(x * y, n, evaluate=False), Mul(x**n, y**n), evaluate=False), n, bare=True),
    ),
)
power_sum = Fact(
    "power_sum",
    "x^(n+m) = x^n x^m",
    (x, n, m),
    when=lambda x, n, m: (Le(0, n), Le(0, m)),
    then=lambda x, n, m: Eq(Pow(x, n + m), Mul(x**n, x**m, evaluate=False), evaluate=False),
    proof=lambda x, n, m: (
        Induction(Eq(Pow(x, n + m), Mul(x**n, x**m, evaluate=False), evaluate=False), n, bare=True),
    ),
)
power_difference = Fact(
    "power_difference",
    "x^n − y^n ≥ n (x − y) y^(n−1) for x ≥ y ≥ 0 and n ≥ 1",
    (x, y, n),
    when=lambda x, y, n: (Le(0, y), Le(y, x), Le(1, n)),
    then=lambda x, y, n: Ge(x**n - y**n, n * (x - y) * y ** (n - 1)),
    proof=lambda x, y, n: (Induction(Ge(x**n - y**n, n * (x - y) * y ** (n - 1)), n, start=1),),
)
quarter = Fact(
    "quarter",
    "(1 − 1/n)^n ≥ 1/4 for n ≥ 2: it grows, by Bernoulli at 1/(n² − 1)",
    (n,),
    when=lambda n: (Le(2, n),),
    then=lambda n: Ge((1 - 1 / n) ** n, Rational(1, 4)),
    proof=lambda n: (
        Induction(
            Ge((1 - 1 / n) ** n, Rational(1, 4)),
            n,
            start=2,
            step=(
                bernoulli(x=1 / (n**2 - 1), n=n),
                power_product(x=1 - 1 / n, y=1 + 1 / (n**2 - 1), n=n),
                power_sign(x=1 - 1 / n, n=n),
            ),
        ),
    ),
)

# --- the exponential -------------------------------------------------------------------------------------------------

exp_lower = Fact(
    "exp_lower",
    "1 + x ≤ e^x: exp lies above its tangent at 0, because its second derivative is positive",
    (x,),
    then=lambda x: Le(1 + x, exp(x)),
)
exp_recip = Fact(
    "exp_recip",
    "e^(−x) ≤ 1/(1 + x) for x > −1",
    (x,),
    when=lambda x: (Gt(x, -1),),
    then=lambda x: Le(exp(-x), 1 / (1 + x)),
    proof=lambda x: (Step(Le(exp(-x), 1 / (1 + x)), given=(exp_lower(x=x),)),),
)
one_minus_power = Fact(
    "one_minus_power",
    "(1 − x/n)^n ≤ e^(−x) for 0 ≤ x ≤ n, n ≥ 1",
    (x, n),
    when=lambda x, n: (Le(0, x), Le(x, n), Le(1, n)),
    then=lambda x, n: Le((1 - x / n) ** n, exp(-x)),
    proof=lambda x, n: (
        tangent := Step(Le(1 - x / n, exp(-x / n)), given=(exp_lower(x=-x / n),)),
        Step(Le((1 - x / n) ** n, exp(-x)), given=(tangent, power_monotone(x=1 - x / n, y=exp(-x / n), n=n))),
    ),
)
inverse_e = Fact(
    "inverse_e",
    "(1 − 1/n)^(n−1) ≥ 1/e for n ≥ 1, with 0^0 = 1: (1 + 1/n)^n ≤ e, inverted",
    (n,),
    when=lambda n: (Le(1, n),),
    then=lambda n: Ge((1 - 1 / n) ** (n - 1), 1 / e),
    proof=lambda n: (
        tangent := Step(Le(1 + 1 / n, exp(1 / n)), given=(exp_lower(x=1 / n),)),
        raised := Step(Le((1 + 1 / n) ** n, e), given=(tangent, power_monotone(x=1 + 1 / n, y=exp(1 / n), n=n))),
        Induction(Ge((1 - 1 / n) ** (n - 1), 1 / e), n, start=1, step=(raised, power_positive(x=1 + 1 / n, n=n))),
    ),
)

# --- squares ---------------------------------------------------------------------------------------------------------

young = Fact(
    "young",
    "x y ≤ x²/2 + y²/2",
    (x, y),
    then=lambda x, y: Le(x * y, x**2 / 2 + y**2 / 2),
    proof=lambda x, y: (Step(Le(x * y, x**2 / 2 + y**2 / 2)),),
)
peter_paul = Fact(
    "peter_paul",
    "x y ≤ x²/(2 z) + z y²/2 for z > 0",
    (x, y, z),
    when=lambda x, y, z: (Gt(z, 0),),
    then=lambda x, y, z: Le(x * y, x**2 / (2 * z) + z * y**2 / 2),
    proof=lambda x, y, z: (Step(Le(x * y, x**2 / (2 * z) + z * y**2 / 2)),),
)
jensen_square = Fact(
    "jensen_square",
    "(w x + (1 − w) y)² ≤ w x² + (1 − w) y² for 0 ≤ w ≤ 1 (more points: by induction on their number)",
    (w, x, y),
    when=lambda w, x, y: (Le(0, w), Le(w, 1)),
    then=lambda w, x, y: Le((w * x + (1 - w) * y) ** 2, w * x**2 + (1 - w) * y**2),
    proof=lambda w, x, y: (Step(Le((w * x + (1 - w) * y) ** 2, w * x**2 + (1 - w) * y**2)),),
)

quotient = Fact(
    "quotient",
    "x/w ≤ y/z for x ≤ y, 0 ≤ y and 0 < z ≤ w",
    (x, y, z, w),
    when=lambda x, y, z, w: (Le(x, y), Le(0, y), Gt(z, 0), Le(z, w)),
    then=lambda x, y, z, w: Le(x / w, y / z),
    proof=lambda x, y, z, w: (Step(Le(x / w, y / z)),),
)

sum_sign = Fact(
    "sum_sign",
    "x + y ≥ 0 for x, y ≥ 0",
    (x, y),
    when=lambda x, y: (Ge(x, 0), Ge(y, 0)),
    then=lambda x, y: Ge(x + y, 0),
    proof=lambda x, y: (Step(Ge(x + y, 0)),),
)

# --- logarithms ------------------------------------------------------------------------------------------------------

log_growth = Fact(
    "log_growth",
    "log(x + 1) − log(x) ≤ 1/x for x > 0: log lies below its tangent at x, because its second derivative is negative",
    (x,),
    when=lambda x: (Gt(x, 0),),
    then=lambda x: Le(log(x + 1) - log(x), 1 / x),
)
log_positive = Fact(
    "log_positive",
    "log(x) > 0 for x > 1: log grows, and log(1) = 0",
    (x,),
    when=lambda x: (Gt(x, 1),),
    then=lambda x: Gt(log(x), 0),
)

# --- finite sums -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExpNumber:
    """e^q ≤ most between two numbers, which an enclosure of e^q decides."""

    def says(self, claim: Boolean) -> bool:
        if not isinstance(claim, Le) or not isinstance(claim.lhs, exp):
            return False
        q, most = claim.lhs.args[0], claim.rhs
        if not isinstance(q, Rational) or not isinstance(most, Rational):
            return False
        return bool(arb(fmpq(int(q.p), int(q.q))).exp() <= fmpq(int(most.p), int(most.q)))


def exp_number(q: Expr, most: Expr) -> Known:
    """e^q ≤ most (sympy would decide it at once, and drop it)."""
    return Known(Le(exp(q), most, evaluate=False), f"exp({q}) ≤ {most}", "fact", rule=ExpNumber())


def sum_next(term: Expr, index: Symbol, low: Expr | int, high: Expr) -> Known:
    """Σ up to `high` + 1 is Σ up to `high` and one more term: what a finite sum is."""
    made_of = Instance(sum_next, (term, index, low, high))
    whole = Sum(term, (index, low, high + 1))
    claim = Eq(whole, Sum(term, (index, low, high)) + term.subs(index, high + 1), evaluate=False)
    return Known(claim, "sum_next", "fact", _range_of(index, low, high), rule=made_of)


def sum_splits(index: Symbol, low: Expr | int, high: Expr, *terms: Expr) -> Known:
    """The sum of sums: what a finite sum is."""
    whole, parts = Sum(Add(*terms), (index, low, high)), (Sum(term, (index, low, high)) for term in terms)
    claim = Eq(whole, Add(*parts), evaluate=False)
    made_of = Instance(sum_splits, (index, low, high, *terms))
    return Known(claim, "sum_splits", "fact", _range_of(index, low, high), rule=made_of)


def sum_empty(term: Expr, index: Symbol, low: Expr | int) -> Known:
    """Σ without terms is 0: what a finite sum is."""
    low = _exact(low)
    claim = Eq(Sum(term, (index, low, low - 1)), 0, evaluate=False)
    return Known(claim, "sum_empty", "fact", rule=Instance(sum_empty, (term, index, low)))


def termwise(relation: Ge | Le, index: Symbol, low: Expr | int, high: Expr, *given: Known | Step) -> Known:
    """Terms that compare for every index in the range have sums that compare."""
    sides = (Sum(side, (index, low, high)) for side in relation.args)
    inside = Known(And(Le(low, index), Le(index, high)), "the range of the sum", "fact")
    needed = (Requirement(relation, (*given, inside)), *_range_of(index, low, high))
    made_of = Instance(termwise, (relation, index, low, high, *given))
    return Known(relation.func(*sides), "termwise", "fact", needed, rule=made_of)


def _range_of(index: Symbol, low: Expr | int, high: Expr) -> tuple[Requirement, ...]:
    """The range of a sum ends at least where it begins, less one; its ends do not speak of its own index."""
    if not index.is_integer or index in (_exact(low).free_symbols | _exact(high).free_symbols):
        raise UserError(
            f"a sum over {index} from {low} to {high}", "an index that its ends do not speak of", "rename it"
        )
    return (Requirement(Le(low, high + 1)),)


SUMS = (sum_next, sum_splits, sum_empty, termwise)


geometric = Fact(
    "geometric",
    "Σ_{j<n} x^j = (1 − x^n)/(1 − x) for x ≠ 1",
    (x, n),
    when=lambda x, n: (Ne(x, 1), Le(0, n)),
    then=lambda x, n: Eq(Sum(x**k, (k, 0, n - 1)), (1 - x**n) / (1 - x), evaluate=False),
    proof=lambda x, n: (
        Induction(
            Eq(Sum(x**k, (k, 0, n - 1)), (1 - x**n) / (1 - x), evaluate=False),
            n,
            step=(sum_next(x**k, k, 0, n - 1),),
        ),
    ),
)


# Everything above, in its order: a fact is found, and not registered.
FACTS = tuple(fact for fact in tuple(vars().values()) if isinstance(fact, Fact))
