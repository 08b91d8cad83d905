"""What `derive` refuses and reports: false steps, premises that are the goal, citations by hand, proofs that are none.

The statements are toys: `slope <= 3 rise` from `slope <= 2 rise` and the like.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from marks import slow
from sympy import Eq, Ge, Gt, Le, Rational, Symbol, false

from fedaudit.bounds.catalogue.discovery import catalogue
from fedaudit.bounds.decide.facts import Fact, young
from fedaudit.bounds.language.derivation import Argument, Derivation, Known, Requirement, Step, View
from fedaudit.bounds.language.statement import Assumption, Glossary, Statement
from fedaudit.bounds.proofs.argument import argued, walk
from fedaudit.bounds.proofs.derivation_check import Derived, derive

WORDS = Glossary()
slope, rise, room, size = (WORDS.symbol(name, "1", name) for name in ("slope", "rise", "room", "size"))
height = WORDS.quantity("height", "1", "a measured height", nonnegative=True)
tall = WORDS.quantity("tall", "1", "a height above 0", positive=True)
other = WORDS.quantity("other", "1", "another height", nonnegative=True)
i = WORDS.index("i", "an index")
between = Symbol("between", positive=True)
SMOOTH = Assumption("smooth", (), "it is smooth")


def toy(label: str, then, *ways: Derivation, **fields) -> Statement:
    about = {"kind": "inequality", "title": label, "cite": label, "method": "scalar", "glossary": WORDS, **fields}
    return Statement(id=f"toy/{label}", then=then, follows_from=ways, **about)


def by(proof, *cites: str, **fields) -> Derivation:
    return Derivation(proof, cites=tuple(f"toy/{c}" for c in cites), **fields)


def run(statement: Statement, *others: Statement) -> Derived:
    return derive(statement, {s.id: s for s in (statement, *others)}, slack=False)


def premise(claim, because: str = "by hand", *assumes: str) -> Known:
    return Known(claim, because, "premise", assumes=assumes)


def ends(goal: View, *given, before=()) -> Argument:
    """The claim from `given`, after some other lines."""
    last = Step(goal.relations[0], given=given)
    return Argument((*before, last), last)


def at_once(goal: View, *cited: View) -> Argument:
    return ends(goal, *(c.holds() for c in cited))


def with_bound(goal: View, lemma: View) -> Argument:
    used = lemma.holds()
    return Argument((Step(goal.relations[0], given=(used,)),), used)


SQUARE = (size + rise) ** 2
PURE = toy("pure", Le(4 * size * rise, SQUARE), by(at_once))  # needs nothing but arithmetic
LEMMA = toy("lemma", Le(slope, 2 * rise))


# --- false steps -----------------------------------------------------------------------------------------------------


def aside(factor: int):
    """A proof with a line that the last one does not use."""

    def proof(goal: View, lemma: View) -> Argument:
        line = Step(Le(factor * size * rise, (size + rise) ** 2), note="aside")
        return ends(goal, lemma.holds(), before=(line,))

    return proof


def test_a_false_step_derives_nothing_even_if_no_other_uses_it():
    goal = toy("goal", Le(slope, 3 * rise), by(aside(3), "lemma"))
    assert run(goal, LEMMA).status == "follows"
    broken = run(replace(goal, follows_from=(by(aside(5), "lemma"),)), LEMMA)
    assert broken.status == "not-derived"
    assert any("aside" in finding and "false" in finding for finding in broken.texts)


def test_a_false_goal_is_still_a_claim_of_more():
    goal = toy(
        "goal", Le(slope, rise), by(lambda g, c: Argument((Step(g.relations[0], (k := c.holds(),)),), k), "lemma")
    )
    result = run(goal, LEMMA)
    assert (result.status, result.factor) == ("claims-more", 2.0)


def test_lemma_10_does_not_follow_from_a_lemma_1_that_is_ten_times_weaker():
    known = catalogue()
    lemma = known["yuan/lem1"]
    (relation,) = lemma.relations
    weaker = replace(lemma, then=relation.func(relation.lhs, 10 * relation.rhs))
    assert derive(known["yuan/lem10-bias"], {**known, lemma.id: weaker}, slack=False).status == "not-derived"


# --- premises --------------------------------------------------------------------------------------------------------


def from_premises(*claims):
    given = tuple(premise(claim, f"premise {n}") for n, claim in enumerate(claims))
    return by(lambda goal: ends(goal, *given))


@pytest.mark.parametrize(
    "claim",
    [Le(slope, 3 * rise), Ge(3 * rise, slope), Le(slope / 3, rise), Le(slope, 2 * rise), Le(slope + rise, 3 * rise)],
    ids=str,
)
def test_a_premise_that_is_the_goal_or_stronger_is_refused(claim):
    result = run(toy("goal", Le(slope, 3 * rise), from_premises(claim)))
    assert result.status == "not-derived"
    assert any(f.startswith("refused:") and "premise 0" in f for f in result.texts)


def test_a_premise_that_is_the_goal_under_the_conditions_is_refused():
    goal = toy("goal", Le(slope, 3 * rise), from_premises(Le(slope, room)), when=(Le(room, 3 * rise),))
    assert run(goal).status == "not-derived"


def test_two_premises_that_meet_in_the_middle_are_a_derivation():
    result = run(toy("goal", Le(slope, 6 * rise), from_premises(Le(slope, 2 * between), Le(between, 3 * rise))))
    assert result.status == "follows"
    assert not any(f.startswith("refused:") for f in result.texts)


def test_what_the_conditions_give_does_not_make_a_premise_the_goal():
    goal = toy("goal", Le(slope, 3 * rise), from_premises(Le(size, room)), when=(Le(slope, rise),))
    assert run(goal).status == "follows"


def test_nothing_is_proved_beside_a_premise():
    result = run(toy("goal", Le(slope, 6 * rise), from_premises(Le(slope, 2 * between), Le(between, 3 * rise))))
    assert result.evidence == "proof"
    assert result.premises == ("premise 0", "premise 1")
    assert not result.proved


def test_a_fact_that_is_no_instance_of_a_rule_is_a_premise():
    taken = Known(Le(slope, 2 * between), "so it is", "fact")
    goal = toy(
        "goal",
        Le(slope, 6 * rise),
        by(lambda g: Argument((Step(g.relations[0], (taken, premise(Le(between, 3 * rise)))),))),
    )
    result = run(goal)
    assert "so it is" in result.premises
    assert not result.proved


def test_a_fact_is_none_until_its_own_proof_is_one():
    x = Symbol("x", real=True)
    wish = Fact("wish", "x <= 1", (x,), then=lambda x: Le(x, 1), proof=lambda x: (Step(Le(x, 1)),))
    for fact, proved in ((wish(x=size), False), (young(x=size, y=rise), True)):
        square = toy("square", fact.claim, by(lambda goal, f=fact: ends(goal, f)))
        assert run(square).proved == proved


# --- chains ----------------------------------------------------------------------------------------------------------


def test_proved_is_only_what_rests_on_proved_statements():
    middle = toy("middle", Le(size * rise, SQUARE / 2), by(at_once, "pure"))
    goal = toy("goal", Le(size * rise, SQUARE), by(at_once, "middle"))
    for lemma, proved in ((PURE, True), (replace(PURE, follows_from=()), False)):
        result = run(goal, middle, lemma)
        assert result.status in ("follows", "claims-less")
        assert result.proved == proved


def test_a_statement_does_not_follow_from_itself():
    one = toy("one", Le(slope, rise), by(at_once, "two"))
    two = toy("two", Le(slope, rise), by(at_once, "one"))
    result = run(one, two)
    assert result.status == "not-derived"
    assert "toy/one -> toy/two -> toy/one" in result.texts[0]


def test_any_way_may_prove_but_the_first_makes_the_status():
    stuck = by(lambda goal: ends(goal, before=(Step(false, note="stuck"),)))
    result = run(replace(PURE, follows_from=(stuck, *PURE.follows_from)))
    assert (result.status, result.proved) == ("not-derived", True)


# --- citations -------------------------------------------------------------------------------------------------------


def cited_with(change):
    return by(lambda goal, lemma: ends(goal, change(lemma)), "lemma")


ASSUMING = replace(LEMMA, let=(SMOOTH,))


def test_assumptions_of_what_is_cited_cannot_be_swapped():
    honest = toy("goal", Le(slope, 3 * rise), cited_with(lambda lemma: lemma.holds()))
    assert any("smooth" in f for f in run(honest, ASSUMING).texts)
    swapped = toy("goal", Le(slope, 3 * rise), cited_with(lambda lemma: replace(lemma.holds(), assumes=())))
    result = run(swapped, ASSUMING)
    assert result.status == "not-derived"
    assert any(f.startswith("refused: toy/lemma") for f in result.texts)


@pytest.mark.parametrize(
    "change",
    [
        lambda lemma: replace(lemma.holds(), claim=Le(slope, rise)),
        lambda lemma: replace(lemma.holds(), requires=()),
        lambda lemma: Known(lemma.relations[0], lemma.id, "cited", (Requirement(Le(rise, room)),)),
    ],
    ids=("another claim", "no conditions", "typed by hand"),
)
def test_claims_and_conditions_of_what_is_cited_cannot_be_swapped(change):
    goal = toy("goal", Le(slope, 3 * rise), cited_with(change), when=(Le(rise, room),))
    lemma = replace(LEMMA, when=(Le(rise, room),))
    assert run(replace(goal, follows_from=(cited_with(lambda c: c.holds()),)), lemma).status == "follows"
    assert run(goal, lemma).status == "not-derived"


def test_what_stands_for_an_assumption_is_a_premise():
    short = premise(Le(between, rise), "it is smooth enough")
    goal = toy("goal", Le(slope, 3 * rise), cited_with(lambda lemma: lemma.holds(instead={"smooth": short})))
    result = run(goal, ASSUMING)
    assert result.status == "follows"
    assert "toy/lemma's smooth: it is smooth enough" in result.premises


def test_a_cited_statement_may_be_used_at_other_values_within_their_domain():
    def at(quantity):
        way = cited_with(lambda lemma: lemma.at({slope: quantity, rise: size}).holds())
        return toy("goal", Le(quantity, 2 * size), way)

    assert run(at(tall(i)), LEMMA).status == "follows"
    assert run(at(height(i)), LEMMA).status != "follows"  # it may be 0, of which the lemma says nothing
    outside = toy(
        "goal",
        Le(height(i), 2 * size - 2),
        cited_with(lambda lemma: lemma.at({slope: height(i), rise: size - 1}).holds()),
    )
    assert run(outside, LEMMA).status != "follows"  # size - 1 need not be positive


def test_a_quantity_that_is_read_as_another_is_written_by_hand():
    proved = toy("lemma", Le(4 * height(i) * size, (height(i) + size) ** 2), by(at_once))
    goal = toy(
        "goal",
        Le(4 * other(i) * size, (other(i) + size) ** 2),
        cited_with(lambda lemma: lemma.at({height: other}).holds()),
    )
    assert run(proved).proved
    result = run(goal, proved)
    assert result.status == "follows"
    assert "toy/lemma's height is other" in result.premises


def test_a_citation_that_no_step_uses_is_reported():
    goal = toy("goal", Le(4 * size * rise, SQUARE), by(lambda goal, lemma: at_once(goal), "lemma"))
    assert any(f.startswith("citation: toy/lemma") for f in run(goal, LEMMA).texts)
    used = toy("goal", Le(slope, 3 * rise), by(at_once, "lemma"))
    assert not any(f.startswith("citation:") for f in run(used, LEMMA).texts)


def test_a_premise_in_the_place_of_a_citation_is_reported():
    def proof(goal: View, lemma: View) -> Argument:
        retyped = premise(Le(lemma.lhs, rise), "the bound behind the lemma")
        return ends(goal, retyped, premise(Le(rise, room)), lemma.holds())

    findings = run(toy("goal", Le(slope, room), by(proof, "lemma")), LEMMA).texts
    assert any("takes the place of toy/lemma: the bound behind the lemma" in f for f in findings)


# --- factors ---------------------------------------------------------------------------------------------------------


def claims(gives, claimed, **fields) -> Derived:
    """What becomes of `slope <= claimed` where the lemma gives `slope <= gives`."""
    return run(toy("goal", Le(slope, claimed), by(with_bound, "lemma"), **fields), toy("lemma", Le(slope, gives)))


@pytest.mark.parametrize(
    ("gives", "claimed", "status", "factor"),
    [
        (7 * rise + 2 * room, 2 * rise + 3 * room, "claims-more", 3.5),
        (2 * rise + room, 4 * rise + 3 * room, "claims-less", 0.5),
        (2 * rise + room, 2 * rise + 3 * room, "follows", 1.0),
        (2 * rise + room * size, 2 * rise + size, "claims-more", "unbounded"),
        (rise, rise - room, "claims-more", "unbounded"),
        (rise, rise * size, "claims-more", "unbounded"),
    ],
    ids=str,
)
def test_the_factor_is_the_largest_ratio_of_coefficients_or_unbounded(gives, claimed, status, factor):
    result = claims(gives, claimed)
    assert (result.status, result.factor) == (status, factor)


def test_conditions_keep_a_factor_bounded():
    result = claims(rise + room, rise, when=(Le(room, rise / 2),))
    assert result.status == "claims-more"
    assert result.factor == pytest.approx(1.5, rel=1e-3)


# --- every derivation of the catalogue -------------------------------------------------------------------------------


CITING = [
    (name, cited)
    for name, s in catalogue().items()
    for cited in dict.fromkeys(c for way in s.follows_from[:1] for c in way.cites if c in catalogue())
]


def used_parts(statement, known, cited):
    """Which relations of a cited statement the first derivation uses."""
    _, argument = argued(statement, known)
    walked = walk((*argument.steps, *argument.bounds))
    return {k.citation.part for k in walked if isinstance(k, Known) and k.citation and k.because == cited}


def scaled(relation, weaker):
    """Ten times weaker or stronger; an equation becomes another one, by 10 or by 1/10."""
    up = weaker != isinstance(relation, Ge | Gt)
    return relation.func(relation.lhs, (10 if up else Rational(1, 10)) * relation.rhs)


@slow("derives every citation twice")
@pytest.mark.parametrize(("name", "cited"), CITING, ids=str)
def test_bounds_ten_times_weaker_or_stronger_leave_no_false_step_standing(name, cited):
    known = catalogue()
    statement, lemma = known[name], known[cited]
    before = derive(statement, known, slack=False)
    used = used_parts(statement, known, cited)
    moved = [r for n, r in enumerate(lemma.relations) if n in used and r.rhs != 0]
    noticed = {}
    for weaker in (True, False):
        relations = tuple(scaled(r, weaker) if n in used else r for n, r in enumerate(lemma.relations))
        result = derive(statement, {**known, cited: replace(lemma, then=relations)}, slack=False)
        decisions = [d for step in result.steps for d in (step.decision, *(use.decision for use in step.uses))]
        if any(d.status == "false" for d in decisions):
            assert result.status != "follows"
            assert not result.proved or cited not in result.proved_from  # another way may prove it without the lemma
        told = any(f.startswith(("citation:", "vacuous:")) for f in result.texts)  # it decides nothing, and is told
        noticed[weaker] = (result.status, result.factor) != ("follows", before.factor) or told
    if before.status == "follows" and before.factor == 1 and moved:
        either = all(isinstance(r, Eq) for r in moved)  # which way an equation is weaker, depends on its use
        assert noticed[True] or (either and noticed[False])
