"""Order claims as people write them: each ends in a verdict with its reason, or in one line before any move begins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from marks import examples

import fedaudit as fa
from fedaudit.bounds.decide.dominance import dominance
from fedaudit.bounds.formulas.lowering import lower
from fedaudit.bounds.language.algebra import Abs, Integer, Rational
from fedaudit.bounds.lint.checks import lint
from fedaudit.bounds.lint.order_faults import contradictions
from fedaudit.bounds.lint.wellformed import faults
from fedaudit.cli import main
from fedaudit.verify import kernel
from fedaudit.verify.moves.audit import audit, derived

FILE = """
import fedaudit as fa
from sympy import *
from fedaudit import Assumption, Eq, Ge, Gt, Le, Lt
from fedaudit.bounds.language.algebra import Ne
from fedaudit.bounds.language.statement import Limit

G = fa.Glossary()
x, y = (G.symbol(n, "1", "a number") for n in "xy")
L, z = (G.symbol(n, "1", "a number that may be 0", nonnegative=True) for n in "Lz")
w = G.symbol("w", "1", "any number", real=True)
below = G.symbol("below", "1", "a negative number", negative=True)
T, K = (G.count(n, "rounds") for n in "TK")
t = G.index("t", "round")


def fixed(*which):
    return Assumption("fixed", which)


def grows(*which):
    return Assumption("grows", which)


def vanishes(*which):
    return Assumption("vanishes", which)


CLAIM = fa.Statement(
    id="mine/order", kind="order", title="An order", cite="made up", method="order", glossary=G, {fields}
)
"""


def written(folder: Path, fields: str) -> str:
    path = folder / "mine.py"
    path.write_text(FILE.replace("{fields}", fields))
    return str(path)


@pytest.fixture
def claim(tmp_path: Path) -> Any:
    """The statement with these fields."""

    def loaded(fields: str) -> fa.Statement:
        (statement,) = fa.load(written(tmp_path, fields))
        return statement

    return loaded


OPERATIONS = (
    "expected rational numbers, e, +, *, powers, Min, Max, exp, log, Abs, erf, sums and relations; do: write it with"
    " those, or give it a letter of its own"
)
REAL = "expected real numbers; do: look for a division by 0 or the root of a negative"
FORMULA = (
    "in an order of growth, expected formulas of parameters, without runs and sums; do: give it a letter of its own;"
    " a rate of a method is claimed with method=METHOD, in its measures"
)
MOVES = "expected a parameter that can move; do: leave"
EMPTY = 'got an order of growth without parameters, expected some that may grow or vanish; do: write kind="inequality"'
DOMAIN = (
    "expected positive, nonnegative, real, a count or an index; do: declare one of these; of a negative number write"
    " the size, with a minus in the formulas"
)

CONTRADICTIONS = {
    "then=Le(T**2, T), let=(fixed(T), grows(T))": "got T, which is both 'fixed' and 'grows', expected one of them; do:"
    " leave T out of 'fixed' or out of 'grows'",
    "then=Le(x, x**2), let=(fixed(x), vanishes(x))": "got x, which is both 'fixed' and 'vanishes', expected one of"
    " them; do: leave x out of 'fixed' or out of 'vanishes'",
    "then=Lt(x**2, x), let=(grows(x), vanishes(x))": "got x, which is both 'grows' and 'vanishes', expected one of"
    " them; do: leave x out of 'grows' or out of 'vanishes'",
    "then=Le(T**2, T), let=(grows(T),), implicit=(fixed(T),)": "got T, which is both 'fixed' and 'grows', expected one"
    " of them; do: leave T out of 'fixed' or out of 'grows'",
    "then=Le(T**2, T), when=(Le(T, 5),), let=(grows(T),)": f"got T in 'grows', which T <= 5 excludes, {MOVES} T out of"
    " 'grows', or mend `when`",
    "then=Lt(T**2, T), when=(Le(T, K), Le(K, 5)), let=(grows(T),)": "got T in 'grows', which T <= K and K <= 5"
    f" excludes, {MOVES} T out of 'grows', or mend `when`",
    "then=Le(T**2, T), when=(Le(T**2, K * x),), let=(grows(T), fixed(K, x))": "got T in 'grows', which T**2 <= K*x"
    f" excludes, {MOVES} T out of 'grows', or mend `when`",
    "then=Le(T, 1), when=(Le(x * T, 1), Ge(x, 1)), let=(grows(T),)": "got T in 'grows', which T*x <= 1 and 1 <= x"
    f" excludes, {MOVES} T out of 'grows', or mend `when`",
    "then=Le(1, x), when=(Ge(x, 1),), let=(vanishes(x),)": f"got x in 'vanishes', which 1 <= x excludes, {MOVES} x out"
    " of 'vanishes', or mend `when`",
    "then=Le(w, 1), when=(Eq(w, 2),), let=(vanishes(w),)": f"got w in 'vanishes', which Eq(w, 2) excludes, {MOVES} w"
    " out of 'vanishes', or mend `when`",
    "then=Le(1, 1 / T**2), let=(vanishes(T),)": f"got T in 'vanishes', which its domain excludes, {MOVES} T out of"
    " 'vanishes'",
    "then=Lt(x, y), when=(Le(x * y, 1),), let=(grows(x, y),)": "got x, y in 'grows', which x*y <= 1 excludes,"
    f" {MOVES} x, y out of 'grows', or mend `when`",
}
SLIPS = CONTRADICTIONS | {
    "then=Le(T, -T)": "got the side -T of an order of growth, which is never positive, expected two sides that are not"
    " negative; do: write T",
    "then=Le(T, 1 - T)": "got the side 1 - T of an order of growth, which is never positive, expected two sides that"
    " are not negative; do: write T - 1",
    "then=Le(-z, T)": "got the side -z of an order of growth, which is never positive, expected two sides that are not"
    " negative; do: write z",
    "then=Le(x, T), where={x: -1 / T}": "got the side -1/T of an order of growth, which is never positive, expected two"
    " sides that are not negative; do: write 1/T",
    "then=Le(T, nan * T)": f"got nan in `then`, {REAL}",
    "then=Le(zoo, T)": f"got zoo in `then`, {REAL}",
    "then=Le(T, oo)": f"got oo in `then`, {REAL}",
    "then=Le(sqrt(-x), T)": f"got I in `then`, {REAL}",
    "then=Le(T**I, T)": f"got I in `then`, {REAL}",
    "then=Le(T, T**2), when=(Le(sqrt(-x), T),)": f"got I in `when`, {REAL}",
    "then=Le(T, factorial(T))": f"got factorial(T) in `then`, {OPERATIONS}",
    "then=Le(binomial(T, 2), T**2)": f"got binomial(T, 2) in `then`, {OPERATIONS}",
    "then=Le(floor(x), x)": f"got floor(x) in `then`, {OPERATIONS}",
    "then=Le(Mod(T, 2), T)": f"got Mod(T, 2) in `then`, {OPERATIONS}",
    "then=Le(Piecewise((T, T > 1), (1, True)), T)": f"got Piecewise((T, T > 1), (1, True)) in `then`, {OPERATIONS}",
    "then=Le(pi * T, T)": f"got pi in `then`, {OPERATIONS}",
    "then=Le(T, T**2), when=(Or(Ge(T, 2), Le(T, 1)),)": f"got (T >= 2) | (T <= 1) in `when`, {OPERATIONS}",
    "then=Le(T, T**2), when=(And(Ge(T, 2), Le(x, 1)),)": "got (T >= 2) & (x <= 1) in `when`, expected single relations;"
    " do: write them one by one, as a tuple",
    "then=Le(Sum(x, (t, 1, T)), x * T)": f"got Sum(x, (t, 1, T)) {FORMULA}",
    "then=Le(Function('gap')(T), T)": f"got gap(T) {FORMULA}",
    "then=Ne(T, T + 1)": "got `then` with Ne(T, T + 1) in place of a relation, expected a claim; do: write Eq(left,"
    " right), Le or Ge",
    "then=Le(x, T), choose={x: T**2}": "got `choose` in an order of growth, expected formulas alone; do: write it in"
    " `where`",
    "then=Le(t, T), for_all={t: (0, T)}": "got `for_all` of t in an order of growth, expected formulas of parameters,"
    " without runs and sums; do: leave it out: a count needs no range",
    "then=Le(Integer(1), Integer(2), evaluate=False)": EMPTY,
    "then=Le(Integer(0), Integer(0), evaluate=False)": EMPTY,
    "then=Le(T, T**2), let=(Assumption('growz', (T,)),)": "got the assumption 'growz' of an order of growth, expected"
    " one of fixed, grows, vanishes; do: write Assumption('fixed', (…,))",
    "then=Le(T, T**2), let=(grows(),)": "got 'grows' without parameters, expected some; do: write Assumption('grows',"
    " (T,))",
    "then=Le(T, x * T), let=(grows(T), grows(x))": "got 'grows' twice, of x too, expected every assumption once; do:"
    " put them together",
    "then=Le(x, x**2 + x), let=(grows(T),)": "got 'grows' of T, expected a parameter that the claim reads; do: leave it"
    " out",
    "then=Le(x, T), where={x: 5}, let=(grows(x),)": "got 'grows' of x, expected a parameter that the claim reads; do:"
    " name what defines it",
    "then=Le(Symbol('q', positive=True), T)": "got the symbol q, expected one of the glossary; do: write q ="
    " GLOSSARY.symbol('q', …)",
    "then=Le(T, -below * T), let=(fixed(below),)": f"got another domain of the symbol below, {DOMAIN}",
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_one_line_before_any_move(slip: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, slip)
    (statement,) = fa.load(path)
    assert [found.message for found in fa.lint(statement)][:1] == [SLIPS[slip]]
    line = 1 + next(n for n, text in enumerate(Path(path).read_text().splitlines()) if '"mine/order"' in text)
    for move in ("derive", "verify", "hunt", "audit"):
        assert main([move, path, "--jobs", "1"]) == 2
        out, err = capsys.readouterr()
        assert (out, err) == ("", f"fedaudit: {path}:{line}: mine/order: {SLIPS[slip]}\n")


@pytest.mark.parametrize("fields", CONTRADICTIONS)
def test_a_contradiction_is_found_once_and_proves_nothing_in_python(fields: str, claim: Any) -> None:
    statement = claim(fields)
    assert list(map(str, contradictions(statement))) == [CONTRADICTIONS[fields]]
    moves: tuple[Any, ...] = (fa.derive, fa.hunt, fa.verify)
    for move in moves:
        with pytest.raises(fa.UserError) as said:
            move(statement)
        assert str(said.value) == f"mine/order: {CONTRADICTIONS[fields]}"


MOVING = (
    "then=Le(x, 1), when=(Le(x * T, 1),), let=(grows(T),)",
    "then=Le(T, K), when=(Le(T, K),), let=(grows(T),)",
    "then=Le(T, 1 + z * T), when=(Le(z * T, 1),), let=(fixed(z), grows(T))",  # z = 0
    "then=Le(w**2, Abs(w)), when=(Le(w, 0),), let=(vanishes(w),)",
    "then=Le(1, x * T), when=(Ge(x, 1 / T),), let=(vanishes(x), grows(T))",
)


@pytest.mark.parametrize("fields", MOVING)
def test_what_can_move_is_no_contradiction(fields: str, claim: Any) -> None:
    assert not list(faults(claim(fields)))


ZERO: dict[str, dict[str, Any]] = {
    "then=Le(T, L * T), let=(fixed(L),)": {"T": [["1", "0"]], "L": []},
    "then=Le(T, L * T + 1), let=(fixed(L),)": {"T": [["1", "1"]], "L": []},
    "then=Le(T, w * T), let=(fixed(w),)": {"T": [["1", "0"]], "w": []},
    "then=Le(T, log(1 + L) * T), let=(fixed(L),)": {"T": [["1", "0"]], "L": []},
    "then=Le(1, erf(L)), let=(fixed(L),)": {"L": []},
    "then=Lt(T, L * T**2), let=(fixed(L), grows(T))": {"T": [["1", "1"]], "L": []},
}


@pytest.mark.parametrize("fields", ZERO)
def test_a_fixed_parameter_that_may_be_0_is_no_constant_factor(fields: str, claim: Any) -> None:
    statement = claim(fields)
    assert not derived(statement).derived.proved
    row = audit(statement, 0, 0.2).row()
    assert (row["verdict"], row["how"], row["evidence"]) == ("refuted", "growth path", "exact")
    assert row["certificate"]["instance"]["paths"] == ZERO[fields]
    kernel.check(json.loads(json.dumps(row["certificate"])))


PROVED = (
    "then=Le(L * T, T), let=(fixed(L),)",
    "then=Le(L * T, T + L), let=(fixed(L),)",
    "then=Le(T, (1 + L) * T), let=(fixed(L),)",
    "then=Le(Abs(w) * T, T), let=(fixed(w),)",
    "then=Le(T, x * T), let=(fixed(x),)",
    "then=Le(T, L * T), when=(Ge(L, 1),), let=(fixed(L),)",
    "then=Le(z, z**2), let=(grows(z),)",
    "then=Le(x, 2 * T), where={x: T}",  # T <= 2 T is true as written, and an order besides
    "then=Le(E * T, T)",
)


@pytest.mark.parametrize("fields", PROVED)
def test_a_constant_factor_is_proved_where_it_is_one(fields: str, claim: Any) -> None:
    row = audit(claim(fields), 0, 0.1).row()
    assert (row["verdict"], row["how"]) == ("proved", "dominance")


NOT_PROVED = {
    "then=Le(w**2, 1), when=(Le(w, 1),)": "not dominated, if such a path is allowed, along w ~ n^(1)",  # w = -n
    "then=Le(x**2, x), when=(Lt(x, 1), Gt(x, 2))": "no parameters meet the conditions",
    "then=Le(T**2, T), when=(Lt(t, y), Lt(y, t), Lt(t, 1))": "no parameters meet the conditions",
    "then=Le(t**2, x), when=(Lt(x, t), Lt(t, 1)), let=(fixed(x, t),)": "no parameters meet the conditions",
    "then=Le(T / z, T), let=(fixed(z),)": "zoo is no real number",
    "then=Le(Max(1 / z, T), T), let=(fixed(z),)": "Max(T, 1/z) has no value at z = 0",
    "then=Le(T, T**2), when=(Le(1 / z, x),)": "1/z <= x has no value at z = 0",
    "then=Le(x**2 - y**2, x**2), when=(Le(y, x),)": "x - y may be 0",  # once an endless recursion
    "then=Le(T * x - (-1)**Rational(2, 3), T)": "T*x - (-1)**(2/3) is no real number",
    "then=Lt(z * T, T**2), let=(fixed(z), grows(T))": "o and omega are decided for positive parameters, and z may be 0",
}


@pytest.mark.parametrize("fields", NOT_PROVED)
def test_what_is_not_proved_says_why(fields: str, claim: Any) -> None:
    (decision,) = dominance(claim(fields))
    assert (decision.proved, decision.detail) == (False, NOT_PROVED[fields])


UNREPLAYED = "violations that the kernel could not replay: claim: got"
NO_PATH = "no path was found that meets the conditions and along which both sides are real and not negative"
VERDICTS = {
    # contractions
    "then=Le((1 - x)**T, 1 / T), when=(Lt(x, 1),)": ("refuted", ""),
    "then=Le((1 - x)**T, 1 / T), when=(Lt(x, 1),), let=(fixed(x),)": ("survived", ""),
    "then=Le(1 / T, (1 - x / y)**T), when=(Le(x, y),), let=(fixed(x, y),)": ("refuted", ""),
    "then=Le((1 - x)**t, 1 / (1 + t)), when=(Lt(x, 1),), let=(fixed(x), grows(t))": ("survived", ""),
    "then=Le((1 - x)**T, exp(-x * T)), when=(Le(x, 1),)": ("undecided", UNREPLAYED),
    # exponentials
    "then=Le(T, exp(T))": ("survived", ""),
    "then=Le(exp(T), T)": ("refuted", ""),
    "then=Le(T, exp(-x * T) * log(T + 1))": ("refuted", ""),
    "then=Le(3**T, 2**T)": ("undecided", UNREPLAYED),
    "then=Le(exp(T), 2**T)": ("undecided", UNREPLAYED),
    "then=Le(2**(2**T), exp(T))": ("undecided", UNREPLAYED),
    "then=Le(T**T, T)": ("refuted", ""),
    # differences of roots
    "then=Le(sqrt(T + 1) - sqrt(T), 1 / sqrt(T))": ("survived", ""),
    "then=Le(sqrt(T + 1) - sqrt(T), 1 / T)": ("refuted", ""),
    # logarithms
    "then=Le(log(log(T)), T)": ("undecided", UNREPLAYED),
    "then=Le(log(1 - x), T), when=(Lt(x, 1),)": ("undecided", NO_PATH),
    "then=Le(-log(1 - x), T), when=(Lt(x, 1),)": ("refuted", ""),
    # right sides that are 0 or less
    "then=Le(T, 0 * x)": ("refuted", ""),
    "then=Le(T, log(1 / T)), let=(grows(T),)": ("undecided", NO_PATH),
    "then=Le(T, (x - y) * T), when=(Le(y, x),), let=(fixed(x, y),)": ("refuted", ""),
    # negative bases, minima
    "then=Le((-2)**T, 3**T)": ("survived", ""),
    "then=Le((-x)**Rational(1, 3), x)": ("undecided", NO_PATH),
    "then=Le(fa.Max(T, -T), T)": ("survived", ""),
    "then=Le(x**2, x), when=(Lt(x, 1), Gt(x, 2))": ("undecided", NO_PATH),
    "then=Le(t, t**2)": ("proved", ""),
}


@pytest.mark.parametrize("fields", VERDICTS)
def test_every_order_ends_in_a_verdict_with_its_reason(fields: str, claim: Any) -> None:
    statement = claim(fields)
    assert not list(faults(statement))
    row = audit(statement, 0, 0.05).row()
    verdict, reason = VERDICTS[fields]
    assert row["verdict"] == verdict
    assert reason in row.get("reason", "")
    if verdict == "refuted":
        kernel.check(json.loads(json.dumps(row["certificate"])))


@pytest.mark.parametrize(
    "fields", ["then=Le(3**T, 2**T)", "then=Le(exp(T), T)", "then=Le(T**T, T)", "then=Le(T, 0 * x)"]
)
def test_sides_beyond_the_floats_are_drawn_or_left_out(fields: str, tmp_path: Path, capsys: Any) -> None:
    path = written(tmp_path, fields)
    assert main(["audit", path, "--jobs", "1", "--budget", "0.1", "--out", str(tmp_path / "audit")]) == 0
    assert "failed" not in capsys.readouterr().err


LIMITS = {
    "then=Le(T, Max(x, 1 / T)), limits=(Limit(T, oo, Integer(0)),)": (
        "as T -> oo sympy finds no limit, so that the printed one is not checked, at x = 1"
    ),
    "then=Le(1, (-1)**T), limits=(Limit(T, oo, Integer(0)),)": (
        "as T -> oo sympy finds no limit, so that the printed one is not checked"
    ),
    "then=Le(T, erf(T) * T), limits=(Limit(T, oo, oo),)": None,
    "then=Le(T, x / T), limits=(Limit(T, oo, Integer(0)),)": None,
    "then=Le(T, x / T), limits=(Limit(T, oo, Integer(1)),)": "as T -> oo it tends to 0, not to 1, at x = 1",
}


@pytest.mark.parametrize("fields", LIMITS)
def test_a_limit_that_sympy_does_not_find_is_said(fields: str, claim: Any) -> None:
    found = [finding.message for finding in lint(claim(fields)) if finding.rule == "limit"]
    assert found == ([] if LIMITS[fields] is None else [LIMITS[fields]])


GLOSSARY = fa.Glossary()
PARAMETERS: tuple[Any, ...] = (
    *(GLOSSARY.symbol(n, "1", "positive") for n in "xy"),
    *(GLOSSARY.symbol(n, "1", "may be 0", nonnegative=True) for n in "zs"),
    GLOSSARY.symbol("w", "1", "any", real=True),
    GLOSSARY.count("T", "a count"),
    GLOSSARY.index("t", "an index"),
)
ROLES = ("fixed", "fixed", "grows", "vanishes", "", "")


def formula(rng: Random, depth: int, among: Sequence[Any]) -> Any:
    if depth == 0 or rng.random() < 0.3:
        return rng.choice([*among, *among, Rational(rng.choice([1, 2, -1]), rng.choice([1, 2]))])
    one, other = (formula(rng, depth - 1, among) for _ in range(2))
    powers = [2, 3, -1, -2, Rational(1, 2), Rational(2, 3)]
    return rng.choice([one + other, one - other, one * other, one ** rng.choice(powers), fa.Max(one, other), Abs(one)])


def random_claim(rng: Random) -> fa.Statement:
    among = rng.sample(PARAMETERS, rng.choice([1, 2, 3]))
    relation = rng.choice([fa.Le, fa.Le, fa.Ge, fa.Eq, fa.Lt])
    ends = [Integer(1), Integer(2), *among, among[0] ** 2]
    bounds = [rng.choice([fa.Le, fa.Ge, fa.Eq])(rng.choice(among), rng.choice(ends)) for _ in range(2)]
    drawn = {s: rng.choice(ROLES) for s in among}
    roles = {role: tuple(s for s in among if drawn[s] == role) for role in set(drawn.values()) - {""}}
    return fa.Statement(
        id="mine/random",
        kind="order",
        title="",
        cite="",
        method="order",
        glossary=GLOSSARY,
        then=relation(formula(rng, 2, among), formula(rng, 2, among)),
        when=tuple(bounds[: rng.choice([0, 1, 2])]),
        let=tuple(fa.Assumption(role, symbols) for role, symbols in sorted(roles.items())),
    )


def random_path(claim: dict[str, Any], rng: Random) -> dict[str, Any]:
    """A path of every parameter, mostly inside its domain and its role."""
    role = {s: name for name, *symbols in claim["let"] for s in symbols}

    def path(name: str, domain: str) -> list[list[str]]:
        whole, still = domain in ("count", "index"), role.get(name) == "fixed"
        power = Fraction(0) if still else Fraction(rng.randint(0 if whole else -4, 4), rng.choice([1, 2]))
        if role.get(name) in ("grows", "vanishes"):
            power = (abs(power) or Fraction(1)) * (1 if role[name] == "grows" else -1)
        size = Fraction(rng.choice([1, 2, 3]), 1 if whole else rng.choice([1, 2]))
        if domain in ("nonnegative", "real", "index") and rng.random() < 0.3:
            return []
        return [[str(-size if domain == "real" and rng.random() < 0.5 else size), str(power)]]

    return {"paths": {name: path(name, domain) for name, domain in claim["domains"].items()}}


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(0, 2**32))
def test_no_path_breaks_what_is_proved_and_none_is_admitted_where_nothing_can_move(seed: int) -> None:
    """With parameters of every domain in every role, under conditions."""
    rng = Random(seed)
    statement = random_claim(rng)
    denied = list(contradictions(statement))
    if list(faults(statement)) == denied and (denied or dominance(statement)[0].proved):
        claim = lower(statement, lambda _: {}).claim
        for _ in range(60):
            path = random_path(claim, rng)
            if denied:
                assert not kernel.admissible(claim, path, ()), (statement.when, statement.let, path)
                continue
            try:
                assert kernel.evaluate(claim, path, (), {"relation": 0})[2], (statement.then, statement.when, path)
            except kernel.Rejected:
                continue
