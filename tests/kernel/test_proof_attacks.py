"""False statements with proofs that only look like one: `derive` or the kernel refuses every one.

Every attack has a twin with an honest proof of a true statement, so that it is the attack that is refused and not the
form of the proof.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from sympy import Eq, Function, Ge, Gt, IndexedBase, Le, Max, Sum, Symbol
from test_derive_rules import WORDS, at_once, by, ends, height, i, rise, room, run, slope, toy

from fedaudit.bounds.decide.facts import quotient, sum_next, termwise, young
from fedaudit.bounds.language.assumptions import EVEN, SIGN, SUM
from fedaudit.bounds.language.derivation import Argument, Derivation, Induction, Known, Step, View
from fedaudit.bounds.language.method import Method
from fedaudit.bounds.language.rule_expressions import expect, f, f_star, grad, mean, norm2, start, vector
from fedaudit.bounds.language.statement import Assumption, Glossary, Statement
from fedaudit.bounds.papers.buttaci.inequalities import ON_A_FUNCTION, SMOOTH_GAP, grad2
from fedaudit.bounds.papers.buttaci.symbols import L as smoothness
from fedaudit.bounds.proofs.atoms import Bound, Minimum, Smooth, Square
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.bounds.proofs.frame import Frame
from fedaudit.bounds.proofs.premise_identity import shown, stands
from fedaudit.errors import UserError
from fedaudit.verify.moves.kernel_proof import Proof, prove

FALSE = Le(rise, slope)
count = WORDS.count("count", "a count")
many = WORDS.count("many", "another count")
step = WORDS.index("step", "an index")


def proved(statement: Statement, *others: Statement) -> bool:
    try:
        return run(statement, *others).proved
    except UserError:  # refused before anything is decided
        return False


def goal(proof, *cites: str, then=FALSE, **fields) -> Statement:
    return toy("goal", then, by(proof, *cites), **fields)


# --- lines -----------------------------------------------------------------------------------------------------------


def left_open(goal: View) -> Argument:
    last = Step(goal.relations[0], under=(goal.relations[0],))
    return Argument((last,), last)


def over_a_real(goal: View) -> Argument:
    """x >= 1 for every real x > 0, from 1 on in steps of 1."""
    line = Induction(goal.relations[0], room, start=1)
    return Argument((line,), line)


def forged_instance(goal: View) -> Argument:
    return ends(goal, replace(young(x=rise, y=slope), claim=goal.relations[0]))


def without_its_conditions(goal: View) -> Argument:
    """x/w <= y/z, whatever they are."""
    x, y, z, w = rise, slope, 1, 1
    return ends(goal, replace(quotient(x=x, y=y, z=z, w=w), requires=()))


def forged_sum(goal: View) -> Argument:
    return ends(goal, replace(sum_next(rise, step, 0, count), claim=goal.relations[0], requires=()))


def by_a_word(goal: View) -> Argument:
    return ends(goal, Known(goal.relations[0], "what a finite sum is", "fact", rule="what a finite sum is"))


def forged_index(goal: View) -> Argument:
    line = Induction(Le(0, step), step)
    return ends(goal, replace(line.at(count), claim=goal.relations[0], requires=()), before=(line,))


def without_its_start(goal: View) -> Argument:
    """n >= 3 for all n, because it is so from 3 on."""
    line = Induction(Ge(step, 3), step, start=3, under=(Ge(step, 3),))
    last = Step(goal.relations[0], given=(replace(line.at(count), requires=()),))
    return Argument((line, last), last)


@pytest.mark.parametrize(
    "attack",
    [
        goal(left_open),
        goal(over_a_real, then=Ge(room, 1)),
        goal(forged_instance),
        goal(without_its_conditions),
        goal(forged_sum),
        goal(by_a_word),
        goal(forged_index),
        goal(without_its_start, then=Ge(count, 3)),
    ],
    ids=lambda s: s.follows_from[0].proof.__name__,
)
def test_a_line_that_does_not_follow_proves_nothing(attack: Statement) -> None:
    assert not proved(attack)


def whole(goal: View) -> Argument:
    line = Induction(goal.relations[0], step, start=0)
    return Argument((line,), line)


def test_the_same_kinds_of_lines_prove_what_is_true() -> None:
    instance = goal(lambda g: ends(g, young(x=rise, y=slope)), then=Le(2 * rise * slope, rise**2 + slope**2))
    assert proved(instance)
    assert proved(goal(whole, then=Le(step, step**2)))


# --- sums ------------------------------------------------------------------------------------------------------------

each = WORDS.quantity("each", "1", "a term", nonnegative=True)


def over_a_restricted_index(goal: View) -> Argument:
    """Σ_{step<count} (step + 1) <= count, because step = 0 is among the conditions."""
    return ends(goal, termwise(Le(step + 1, 1), step, 0, count - 1))


def with_a_range_from_nowhere(goal: View) -> Argument:
    """step <= 5, for this is the range of some sum."""
    (needed, _) = termwise(Le(step, 5), step, 0, 5).requires
    return ends(goal, *needed.given)


def with_a_captured_index(goal: View) -> Argument:
    """Terms of a sum whose last index is its own."""
    return ends(goal, termwise(Le(0, rise), step, 0, step))


@pytest.mark.parametrize(
    "attack",
    [
        goal(
            over_a_restricted_index,
            then=Le(Sum(step + 1, (step, 0, count - 1)), Sum(1, (step, 0, count - 1))),
            when=(Eq(step, 0),),
        ),
        goal(with_a_range_from_nowhere, then=Le(step, 5)),
    ],
    ids=lambda s: s.follows_from[0].proof.__name__,
)
def test_a_sum_is_taken_over_its_own_range_alone(attack: Statement) -> None:
    assert not proved(attack)


def test_terms_that_compare_have_sums_that_compare() -> None:
    term, more = each(step), each(step) ** 2 + 1
    claim = Le(Sum(term, (step, 0, count - 1)), Sum(more, (step, 0, count - 1)))
    assert proved(goal(lambda g: ends(g, termwise(Le(term, more), step, 0, count - 1)), then=claim))


# --- citations -------------------------------------------------------------------------------------------------------

COUNTED = toy("counted", Ge(count**2, count), by(at_once))


def in_between(goal: View, lemma: View) -> Argument:
    return ends(goal, lemma.at({count: room}).holds())


def test_a_count_is_not_read_as_a_real_number() -> None:
    assert proved(COUNTED)
    assert not proved(goal(in_between, "counted", then=Ge(room**2, room)), COUNTED)
    assert proved(goal(lambda g, c: ends(g, c.at({count: many}).holds()), "counted", then=Ge(many**2, many)), COUNTED)


LARGER = Le(rise + room, Max(rise, room))
GROWTH = toy("growth", LARGER, kind="order", method="order")


def test_an_order_of_growth_is_no_inequality() -> None:
    assert proved(GROWTH)
    assert not proved(goal(at_once, "growth", then=LARGER), GROWTH)


# --- citations of statements about runs ------------------------------------------------------------------------------

RUNS = Glossary()
L, mu, G = (
    RUNS.symbol("L", "F/W^2", "smoothness"),
    RUNS.symbol("mu", "F/W^2", "convexity"),
    RUNS.symbol("G", "F/W", "a bound"),
)
E, T, C = RUNS.count("E", "local steps"), RUNS.count("T", "rounds"), RUNS.count("C", "clients")
t = RUNS.index("t", "round")
gamma = RUNS.quantity("gamma", "W^2/F", "step size", positive=True)
gap = RUNS.quantity("gap", "F", "f(x_t) - f*", nonnegative=True)
slope2 = RUNS.quantity("slope2", "F^2/W^2", "|grad f(x_t)|^2", nonnegative=True)
x, y = vector("x"), vector("y")


def descent(name: str, factor: int) -> Method:
    return Method(
        id=name, title=name, cite="toy", glossary=RUNS, server={x: start}, client={y: x}, begin={y: x},
        local={y: y - factor * gamma(t) * grad(y)}, update={x: mean(y)},
        measures={gap(t): expect(f(x)) - f_star, slope2(t): expect(norm2(mean(grad(x))))},
    )  # fmt: skip


SLOW, FAST = descent("slow", 1), descent("fast", 2)
SMOOTH = Assumption("smooth", (L,), "L-smooth")
BOUNDED = Assumption("bounded", (G,), "gradients", means=Le(slope2(t), G**2), for_all=((t, 0, T),))


def on_runs(label: str, then: Any, *ways: Derivation, **fields: Any) -> Statement:
    about = {"kind": "inequality", "title": label, "cite": label, "method": SLOW, "glossary": RUNS, **fields}
    return Statement(id=f"toy/{label}", then=then, follows_from=ways, **about)


def cites(lemma: Statement, **fields: Any) -> Statement:
    """The lemma's claim again, from the lemma as it stands."""
    return on_runs("goal", fields.pop("then", lemma.then), by(at_once, "lemma", **fields.pop("way", {})), **fields)


def by_premise(goal: View) -> Argument:
    return ends(goal, Known(goal.relations[0], "believed for the test", "premise"))


def rests_on(lemma: Statement, citing: Statement) -> list[str]:
    """What is taken for granted besides what the lemma itself takes for granted; the lemma may be anything here."""
    found = derive(citing, {s.id: s for s in (citing, lemma)}, slack=False)
    assert not found.proved  # the lemma is no theorem
    return [p for p in found.premises if p != "believed for the test"] + [f for f in found.texts if "needs" in f]


FALL = on_runs("lemma", Le(gap(T), gap(0) / E), let=(SMOOTH,), when=(Le(gamma(t), 1 / L),))


def lemma(**changes: Any) -> Statement:
    return replace(FALL, follows_from=(by(by_twice),), **changes)


def by_twice(goal: View) -> Argument:
    """Two premises, so that none of them is the claim alone."""
    middle = Symbol("middle", nonnegative=True)
    small, large = (
        Known(claim, "believed for the test", "premise") for claim in (Le(goal.lhs, middle), Le(middle, goal.rhs))
    )
    return ends(goal, small, large)


SAME = {"let": (SMOOTH,), "when": (Le(gamma(t), 1 / L),)}
OTHER = Assumption("smooth", (mu,), "mu-smooth")
BOUND_ELSEWHERE = replace(BOUNDED, for_all=((t, 0, 0),))
BOUND_LARGER = replace(BOUNDED, means=Le(slope2(t), 4 * G**2))


def test_a_lemma_that_is_used_as_it_stands_takes_nothing_for_granted() -> None:
    assert rests_on(lemma(), cites(FALL, **SAME)) == []


@pytest.mark.parametrize(
    ("cited", "citing", "granted"),
    [
        (lemma(), cites(FALL, **{**SAME, "method": FAST}), "toy/lemma, which is about slow"),
        (lemma(), cites(FALL, **SAME, then=Le(gap(T), gap(0)), way={"substitute": {E: 1}}), "toy/lemma's E is 1"),
        (lemma(), cites(FALL, **{**SAME, "let": (OTHER,)}), "toy/lemma's smooth, with other constants"),
        (lemma(kind="exists"), cites(FALL, **SAME), "toy/lemma, which is of the kind exists"),
        (lemma(let=(BOUNDED,)), cites(FALL, **{**SAME, "let": (BOUND_ELSEWHERE,)}), "toy/lemma's bounded, with other"),
        (lemma(let=(BOUNDED,)), cites(FALL, **{**SAME, "let": (BOUND_LARGER,)}), "toy/lemma's bounded, with other"),
        (lemma(choose={gamma(t): 1 / L}, when=()), cites(FALL, **SAME), "needs Eq"),
        (lemma(), cites(FALL, let=(SMOOTH,), way={"substitute": {gamma(t): 1 / L}}), "toy/lemma's gamma(t) is 1/L"),
    ],
    ids=["method", "size", "constant", "kind", "range", "relation", "step", "free step"],
)  # fmt: skip
def test_what_a_citation_changes_is_taken_for_granted(cited: Statement, citing: Statement, granted: str) -> None:
    assert any(granted in one for one in rests_on(cited, citing))


def above_one(number: Any) -> Any:
    """True of what is positive, false of 0."""
    return Gt((number + 1) ** 2, 1)


def test_a_quantity_that_may_be_zero_is_not_put_where_a_positive_number_stands() -> None:
    strict = toy("strict", above_one(rise), by(at_once))
    assert proved(strict)
    at_height = goal(lambda g, c: ends(g, c.at({rise: height(i)}).holds()), "strict", then=above_one(height(i)))
    assert not proved(at_height, strict)


def test_a_measure_is_not_positive_because_it_is_declared_so() -> None:
    declared = RUNS.quantity("declared", "F", "f(x_t) - f*", positive=True)
    method = replace(SLOW, measures={declared(t): expect(f(x)) - f_star})
    claim = on_runs("goal", above_one(declared(T)), by(lambda g: ends(g)), method=method)
    assert not proved(claim)
    assert derive(claim, {}, slack=False).premises == ("declared(T) is positive",)


def test_a_value_is_put_in_for_a_name_and_not_for_a_formula() -> None:
    young_ = toy("young", Le(2 * rise * slope, rise**2 + slope**2), by(at_once))
    swapped = Le(2 * rise**2 + 2 * slope**2, rise**2 + slope**2)

    def by_formula(goal: View, cited: View) -> Argument:
        return ends(goal, cited.at({rise * slope: rise**2 + slope**2}).holds())

    assert not proved(toy("goal", swapped, by(by_formula, "young")), young_)


def test_the_sign_of_a_definition_that_stays_closed_is_not_taken_from_its_name() -> None:
    closed = Derivation(lambda g: ends(g), closed=(room,))
    assert not proved(toy("goal", above_one(room), closed, where={room: rise - slope}))


# --- premises that identities show -----------------------------------------------------------------------------------

k, client, other_client = RUNS.index("k", "step"), RUNS.index("i", "client"), RUNS.index("j", "another client")
WEIGHTS = IndexedBase("p")


def on(method: Method, names: Any = MappingProxyType({})) -> Frame:
    return Frame(method, dict(names), (t, k, client, other_client), (E, C), WEIGHTS)


def test_an_assumption_says_what_the_statement_says_and_no_more() -> None:
    """|grad f|^2 <= 0, by an assumption of the same name and constants as the one that is made."""
    claim = Le(slope2(t), G**2 / 2)
    forged = replace(BOUNDED, means=claim)

    def from_it(goal: View) -> Argument:
        return ends(goal, shown(claim, "bounded", on(SLOW), (1, Bound(forged))))

    range_of_t = {"for_all": {t: (0, T)}}
    assert not proved(on_runs("goal", claim, by(from_it), let=(BOUNDED,), **range_of_t))
    assert proved(on_runs("goal", claim, by(from_it), let=(forged,), **range_of_t))


def test_clients_that_were_not_drawn_keep_what_they_had() -> None:
    """A kept vector that is 0 after the round of those that were drawn, and not of the others."""
    kept = vector("c")
    method = replace(SLOW, client={y: x, kept: x}, end={kept: 0}, update={x: mean(y, over="sampled")})
    left = Function("left", nonnegative=True)
    with pytest.raises(UserError, match="after a round"):
        shown(Le(left(t + 1), 0), "gone", on(method, {left(t): mean(norm2(kept))}), at=(t, E))
    everyone = replace(method, update={x: mean(y)})
    assert stands(shown(Le(left(t + 1), 0), "gone", on(everyone, {left(t): mean(norm2(kept))}), at=(t, E)))


each2 = RUNS.quantity("each2", "F^2/W^2", "the mean of |grad f_i(x_t)|^2", nonnegative=True)
SPREAD = replace(SLOW, measures={**SLOW.measures, each2(t): expect(mean(norm2(grad(x))))})
JENSEN = Le(slope2(t), each2(t))
WEIGHED = (
    Assumption("weights_sum_to_one", (), "weights sum to one"),
    Assumption("nonnegative_weights", (), "no weight is negative"),
)


def by_jensen(frame: Frame) -> Derivation:
    apart = Square(grad(x) - mean(grad(x)), "mean")
    return by(lambda goal: ends(goal, shown(JENSEN, "Jensen", frame, (1, apart))))


def accepted(statement: Statement) -> bool:
    """Whether the kernel accepts the proof."""
    try:
        return isinstance(prove(statement, {statement.id: statement}), Proof)
    except UserError:  # refused before anything is decided
        return False


@pytest.mark.parametrize(
    "changes",
    [
        {"charges": {SUM: None, SIGN: None}},
        {"charges": {SUM: ("smooth", ()), SIGN: ("smooth", ())}},
        {"charges": {SUM: None, SIGN: None}, "one": True},
        {"charges": {SUM: None, SIGN: None}, "alone": True},
        {"charges": {SUM: None, SIGN: None, EVEN: None}, "even": True},
        {"charges": {SUM: None, SIGN: None}, "sizes": (E, G)},
        {"charges": {SUM: None, SIGN: None}, "letters": (t, client, k, other_client)},
    ],
    ids=["no charge", "another charge", "one function", "one client", "equal weights", "sizes", "letters"],
)
def test_what_a_frame_says_of_the_method_is_not_believed(changes: dict[str, Any]) -> None:
    """Weights that need not sum to one: the mean of the gradients may be longer than they are."""

    def claim(frame: Frame, *let: Assumption) -> Statement:
        return on_runs("goal", JENSEN, by_jensen(frame), method=SPREAD, let=(SMOOTH, *let), for_all={t: (0, T - 1)})

    assert accepted(claim(on(SPREAD), *WEIGHED))
    assert not accepted(claim(replace(on(SPREAD), **changes)))


def test_a_frame_of_ones_own_does_not_say_what_a_setting_is() -> None:
    """2 |grad f|^2 / L <= f - f*, with half the gradient by the name of the gradient; a quarter of it is true."""
    first, *_ = SMOOTH_GAP.then
    w, half = vector("w"), grad(vector("w")) / 2
    halved = {**ON_A_FUNCTION.method.measures, grad2: expect(norm2(half))}
    forged = replace(ON_A_FUNCTION, method=replace(ON_A_FUNCTION.method, measures=halved))

    def claim(then: Any, frame: Frame) -> Statement:
        end = w - grad(w) / smoothness
        atoms = ((1, Smooth(w, end, smoothness)), (1, Minimum(end, (("has_minimum", ()),))))
        return replace(
            SMOOTH_GAP,
            id="toy/gap",
            then=then,
            follows_from=(by(lambda goal: ends(goal, shown(then, "descent", frame, *atoms))),),
        )

    false = claim(Le(2 * grad2 / smoothness, first.rhs), forged)
    assert not accepted(false)
    assert accepted(claim(first, ON_A_FUNCTION))
