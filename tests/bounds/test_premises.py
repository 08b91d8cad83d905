"""Premises of derivations on simulated runs: true ones hold, a false one is a finding that the kernel confirms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import permutations
from typing import Any

from marks import slow
from sympy import Add, And, Basic, Eq, Ge, Le, Mul, Pow, Sum, Symbol, cancel, expand
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from fedaudit.bounds.catalogue.discovery import catalogue, statement
from fedaudit.bounds.formulas.evaluator import quantities
from fedaudit.bounds.language.derivation import Argument, Derivation, Known, Step, View
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.papers.buttaci.inequalities import dist2, gap, grad2, mu
from fedaudit.bounds.papers.buttaci.symbols import i, k, t
from fedaudit.bounds.papers.buttaci.symbols_perturbed import perturbation
from fedaudit.bounds.papers.fallah.measured import bias2
from fedaudit.bounds.proofs.citation_rules import parameters
from fedaudit.bounds.proofs.hand_premises import premises
from fedaudit.bounds.proofs.statement_view import view
from fedaudit.verify.moves.audit import derive_row
from fedaudit.verify.moves.premise_trials import Tried, tried


def resting_on(claim: Le, identifier: str = "buttaci/appA-strong-gap") -> Statement:
    """A statement with a proof that takes `claim` for granted."""
    return defining(claim, identifier=identifier, because="taken for granted")


def defining(*claims: Boolean, identifier: str = "buttaci/appA-strong-gap", because: str = "premise") -> Statement:
    """A statement with a proof that takes several things for granted."""

    def proof(goal: View) -> Argument:
        taken = tuple(Known(claim, f"{because} {n}", "premise") for n, claim in enumerate(claims))
        return Argument(tuple(Step(relation, given=taken) for relation in goal.relations))

    return replace(statement(identifier), follows_from=(Derivation(proof),))


def only(made: Statement) -> Tried:
    (row,) = tried(made, catalogue([made]))
    return row


def test_true_premises_hold_on_runs() -> None:
    known = catalogue()
    for name in ("benmansour/cor4~repaired", "fallah/eq97"):
        rows = tried(known[name], known)
        assert rows
        assert {row.status for row in rows} == {"holds"}
        assert all(row.instances > 0 and row.finding() is None for row in rows)


def test_a_false_premise_is_confirmed_by_the_kernel() -> None:
    """gap <= mu/2 |w - w*|^2 is what appA-strong-second prints; it fails, and the row names an instance."""
    row = only(resting_on(Le(gap, mu / 2 * dist2)))
    assert row.status == "fails"
    assert row.instance is not None
    assert "taken for granted" in str(row.finding())


def test_only_what_is_measured_is_tried() -> None:
    assert only(resting_on(Le(gap, grad2 / mu))).status == "holds"
    known = catalogue()
    rows = tried(known["buttaci/appA-strong-gap"], known)
    left_out = {row.reason for row in rows if row.status == "not-measured"}
    assert left_out == {"read as the definition of slope_out", "only the proof speaks of slope_in"}
    assert any("slope_out as in" in row.reason for row in rows if row.status == "holds")
    assert tried(known["buttaci/appA-combination"], known) == ()


def test_a_conjunction_is_tried_part_by_part() -> None:
    assert only(resting_on(And(Le(gap, grad2 / mu), Le(0, gap)))).status == "holds"
    assert only(resting_on(And(Le(0, gap), Le(gap, mu / 2 * dist2)))).status == "fails"


def test_an_index_goes_only_as_far_as_the_run() -> None:
    """A premise of the perturbed method that looks one local step ahead, and the corollary's, one round."""
    known = catalogue()
    (round_,) = [row for row in tried(known["benmansour/cor4"], known) if row.claim == "gap(t + 1) <= L*dist2(t + 1)/2"]
    ahead = only(resting_on(Le(0, perturbation(t, k + 1, i), evaluate=False), "buttaci/lemC.1"))
    for row in (round_, ahead):
        assert (row.status, row.reason) == ("holds", "")
        assert row.instances > 0


def test_the_row_says_for_each_premise_what_became_of_it() -> None:
    row = derive_row(statement("benmansour/cor4~repaired"))
    assert row["measured"]
    assert {part["status"] for part in row["measured"]} == {"holds"}
    assert all(part["instances"] > 0 and part["premise"] in row["premises"] for part in row["measured"])


def test_a_quantity_of_the_proof_is_measured_by_its_definition() -> None:
    half = Symbol("half_of_it", real=True)
    for claim, status in ((Le(gap, half), "holds"), (Le(gap, half * mu**2 / 2 * dist2 / grad2), "fails")):
        made = defining(Eq(half, grad2 / mu), claim)
        definition, other = tried(made, catalogue([made]))
        assert (definition.status, definition.reason) == ("not-measured", "read as the definition of half_of_it")
        assert other.status == status
        assert "half_of_it as in 'premise 0'" in other.reason


def test_a_quantity_that_nothing_defines_stays_unmeasured() -> None:
    half, size = Symbol("half_of_it", real=True), Symbol("other", real=True)
    made = defining(Eq(half, size), Le(gap, half))
    assert {row.status for row in tried(made, catalogue([made]))} == {"not-measured"}


def test_a_symbol_that_neither_statement_nor_method_speaks_of_is_a_letter_of_the_proof() -> None:
    """bias2 is what lemma 4.3 bounds. A run of Per-FedAvg has none: it would be drawn like a constant."""
    row = only(resting_on(Le(bias2, 1), "fallah/eq99"))
    assert (row.status, row.reason) == ("not-measured", "only the proof speaks of bias2")
    assert only(resting_on(Le(bias2, 1), "fallah/lem4.3-bias")).status == "fails"
    product, slope2 = statement("fallah/eq99").relations[0].args
    made = defining(Eq(bias2, slope2), Le(product, bias2), identifier="fallah/eq99")
    definition, other = tried(made, catalogue([made]))
    assert definition.reason == "read as the definition of bias2"
    assert (other.status, other.reason) == ("fails", "bias2 as in 'premise 0'")  # as (99) does


def test_a_claim_about_numbers_measures_its_own_symbols_alone() -> None:
    """zeta is a symbol of Peter-Paul; a and b are those of Young's inequality too."""
    young, peter_paul = statement("buttaci/appA-young"), statement("buttaci/appA-peterpaul")
    zeta = next(s for s in peter_paul.relations[0].free_symbols if str(s) == "zeta")
    assert zeta in young.glossary
    own = next(iter(young.relations[0].free_symbols))
    assert only(resting_on(Le(zeta, 1), young.id)).reason == "only the proof speaks of zeta"
    assert only(resting_on(Le(0, own**2), young.id)).status == "holds"
    assert only(resting_on(Le(zeta, 1), peter_paul.id)).status == "fails"


def test_the_step_at_which_proposition_3_4_goes_wrong_fails_on_a_network() -> None:
    """Sums of negative weights: the eigenvalues may be negative, and the triangle inequality gives less."""
    known = catalogue()
    (row,) = [row for row in tried(known["buttaci/prop3.4-upper"], known) if row.status == "fails"]
    assert row.because.startswith("the triangle inequality, and the eigenvalues of a Laplacian are not negative")
    assert "traces as in" in row.reason


@slow("tries the premises of the whole catalogue")
def test_no_other_premise_fails() -> None:
    known = catalogue()
    failing = {name for name, s in known.items() for row in tried(s, known) if row.status in ("fails", "suspect")}
    assert failing == {"buttaci/prop3.4-upper"}


# --- no premise is the goal ------------------------------------------------------------------------------------------


def same_up_to_names(premise: Relational, goal: Relational, fixed: set[Basic]) -> bool:
    """Whether one is the other with other names for what is measured, up to a positive factor."""
    if {type(premise), type(goal)} - {Le, Ge} and type(premise) is not type(goal):
        return False
    own, wanted = (sorted(set(quantities(claim)) - fixed, key=str) for claim in (premise, goal))
    if len(own) != len(wanted) or len(own) > 5:
        return False
    less, more = (_difference(claim) for claim in (premise, goal))
    for order in permutations(wanted):
        renamed = less.xreplace(dict(zip(own, order, strict=True)))
        factor = cancel(renamed / more) if more != 0 else renamed
        if factor.is_number and (factor.is_positive or (isinstance(goal, Eq) and factor != 0)):
            return True
    return False


def _difference(claim: Relational) -> Any:
    return expand(claim.lhs - claim.rhs if isinstance(claim, Eq) else claim.gts - claim.lts)


def by_hand(made: Statement, known: Mapping[str, Statement]) -> Iterator[Known]:
    """What any of its derivations takes for granted."""
    for way in made.follows_from:
        if all(cited in known for cited in way.cites):
            yield from premises(replace(made, follows_from=(way,)), known)


# of the same form by chance: what stands for the claim's quantity is another one, and more is needed for the claim
COINCIDENCES = {
    "yuan/lem2: N differences of at most beta": "the sum over the points; Efron and Stein make it the spread",
    "buttaci/appA-combination~repaired: the triangle inequality: "
    "|grad f(w) - grad f(v)| <= sum_i lambda_i |grad f_i(w) - grad f_i(v)|": "slopes, which L_i bounds",
    "buttaci/lem4.3: definition (4.6), averaged": "the average at the step, which the claim has at the round's start",
}


@slow("every derivation of the catalogue is built")
def test_no_premise_of_the_catalogue_is_its_statement_s_claim_under_other_names() -> None:
    """But for relations between two bare names, which have no form."""
    known = catalogue()
    tried_, found = 0, list[str]()
    for name, made in known.items():
        if made.quoted or not made.follows_from:
            continue
        goals = [goal for goal in view(made).relations if goal.atoms(Add, Mul, Pow, Sum)]
        fixed = parameters(made)
        for premise in by_hand(made, known):
            for part in And.make_args(premise.claim):
                tried_ += 1
                if part.atoms(Add, Mul, Pow, Sum) and any(same_up_to_names(part, goal, fixed) for goal in goals):
                    found.append(f"{name}: {premise.because}")
    assert set(found) <= set(COINCIDENCES)
    assert tried_ > 200


def test_a_goal_under_another_name_is_seen() -> None:
    y = Symbol("y", real=True)
    goal = statement("buttaci/appA-strong-gap").relations[0]
    (other,) = [q for q in quantities(goal) if q == gap]
    fixed = {mu}
    assert same_up_to_names(goal.xreplace({other: y}), goal, fixed)
    assert same_up_to_names(Le(3 * goal.lts, 3 * goal.gts), goal, fixed)
    assert not same_up_to_names(Le(2 * goal.lts, goal.gts), goal, fixed)
