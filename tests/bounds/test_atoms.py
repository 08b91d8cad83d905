"""Premises that are shown: what holds is accepted, every mutant is refused, normal forms agree with numbers."""

import subprocess
import sys
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from marks import only, slow, some
from sympy import Eq, Function, Ge, Le, Rational, Symbol

from fedaudit.bounds.catalogue.discovery import catalogue
from fedaudit.bounds.catalogue.printed_constants import constants, mutate
from fedaudit.bounds.decide.decision import decide
from fedaudit.bounds.decide.facts import exp_number
from fedaudit.bounds.language.derivation import Argument, Derivation, Induction, Known, Step, View, named
from fedaudit.bounds.language.rule_expressions import grad, mean, neighbours, noisy, norm2, point, w_star
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.papers.buttaci.frames import ON_FEDPROX, ON_PERTURBED, D, N, X, Z, centre, gradient, stochastic
from fedaudit.bounds.papers.buttaci.methods import FEDPROX, PERTURBED, u_i, w, w_i
from fedaudit.bounds.papers.buttaci.symbols import (
    E,
    L,
    T,
    bounded_gradients,
    deviation,
    dist2,
    gamma,
    gap,
    i,
    k,
    mu,
    p,
    strongly_convex,
    t,
)
from fedaudit.bounds.papers.buttaci.symbols_perturbed import j, spread
from fedaudit.bounds.papers.yuan.symbols import I as TAKEN
from fedaudit.bounds.papers.yuan.symbols import M as DEVICES_
from fedaudit.bounds.papers.yuan.symbols import among as AMONG
from fedaudit.bounds.papers.zhang import frames as zhang_frames
from fedaudit.bounds.papers.zhang.frames import ON_PROPOSED
from fedaudit.bounds.papers.zhang.methods import PROPOSED, P, c, eta, s, s_before, z, zhat
from fedaudit.bounds.papers.zhang.symbols import L as ZHANG_L
from fedaudit.bounds.papers.zhang.symbols import Omega, mu_at_most_L, tau
from fedaudit.bounds.papers.zhang.symbols import mu as PL_MU
from fedaudit.bounds.proofs.atoms import MEAN_CONVEX, Bound, Convex, Minimum, Near, Smooth, Square
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.bounds.proofs.frame import Frame, others
from fedaudit.bounds.proofs.hand_premises import shown, taken
from fedaudit.bounds.proofs.kept_vectors import require_kept
from fedaudit.bounds.proofs.method_vectors import Reader
from fedaudit.bounds.proofs.premise_identity import Shown, check, defined, known, reader_of, stands
from fedaudit.bounds.proofs.premise_identity import shown as show
from fedaudit.bounds.proofs.vectors import AXIS, Expanded, Scalar
from fedaudit.cli import main
from fedaudit.commands.tree import lines, tree
from fedaudit.errors import UserError
from fedaudit.verify.certify.command import certify_files
from fedaudit.verify.moves.audit import hunt

CHAIN = ("buttaci/lem4.1", "buttaci/lem4.2", "buttaci/lemB.1")


@lru_cache(maxsize=1)
def everything() -> tuple[tuple[str, Known], ...]:
    """Every shown premise of the catalogue, once."""
    known_ = catalogue()
    found: dict[Known, str] = {}
    for name, statement in known_.items():
        for premise in shown(statement, known_):
            found.setdefault(premise, name)
    return tuple((name, premise) for premise, name in found.items())


def refused(premise: Shown) -> bool:
    try:
        return bool(check(premise).rest)
    except (UserError, ValueError):
        return True


def test_the_catalogue_shows_premises_and_all_of_them_stand() -> None:
    assert {name for name, _ in everything()} >= set(CHAIN)
    assert [p.because for _, p in everything() if not stands(p)] == []


@pytest.mark.parametrize("name", [n for n, made in vars(zhang_frames).items() if hasattr(made, "cache_info")])
def test_a_premise_that_is_made_when_it_is_used_stands(name: str) -> None:
    assert stands(getattr(zhang_frames, name)())


def test_no_premise_is_checked_when_the_statements_are_loaded() -> None:
    probe = """
import fedaudit.bounds.papers.zhang.statements
from fedaudit.bounds.proofs.premise_identity import check
print(check.cache_info().currsize)
"""
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert run.stdout == "0\n"


EVERY = pytest.mark.parametrize("every", some([3, 1], 2, "every premise; each third is fast"))


@EVERY
def test_every_multiplier_that_is_one_percent_off_is_refused(every: int) -> None:
    tried = 0
    for _, premise in everything()[::every]:
        rule: Shown = premise.rule
        for n, (multiplier, atom) in enumerate(rule.by):
            for factor in (Rational(99, 100), Rational(101, 100)):
                changed = (*rule.by[:n], (multiplier * factor, atom), *rule.by[n + 1 :])
                assert refused(replace(rule, by=changed)), (premise.because, multiplier)
                tried += 1
    assert tried > 50


@EVERY
def test_every_claim_with_one_constant_one_percent_smaller_is_refused(every: int) -> None:
    known_ = catalogue()
    tried = 0
    for name, premise in everything()[::every]:
        statement = replace(known_[name], then=premise.claim, where={}, choose={}, when=())
        for constant in constants(statement, ("then",)):
            changed = mutate(statement, constant, Rational(99, 100)).then
            assert refused(replace(premise.rule, claim=changed)), (premise.because, str(constant))
            tried += 1
    assert tried > 50


# --- normal forms against numbers ------------------------------------------------------------------------------------

CLIENTS, SAMPLED, DIM = 3, 2, 2


class World:
    """Random vectors, weights and values; noise takes both signs for every client on its own.

    The weights are those of a similarity graph: p_ij = p_ji, p_i = sum_j p_ij.
    """

    def __init__(self, reader: Reader, seed: int) -> None:
        self.reader, self.draw = reader, np.random.default_rng(seed)
        pairs = np.triu(self.draw.uniform(0.1, 1, (CLIENTS, CLIENTS)), 1)
        pairs = np.triu(np.ones((CLIENTS, CLIENTS)), 1) if reader.frame.even else pairs
        self.graph = (pairs + pairs.T) / (2 * pairs.sum())
        self.p = self.graph.sum(axis=1)
        self.held: dict[Any, Any] = {}
        self.parameters = [float(x) for x in self.draw.uniform(0.3, 1.5, len(reader.letters))]
        squares = reader.letters.get(reader.frame.sum_of_squares)
        if squares is not None:
            self.parameters[list(reader.letters.values()).index(squares)] = float(self.p @ self.p)
        if reader.frame.even:
            self.parameters[list(reader.letters).index(reader.frame.sizes[1])] = float(CLIENTS)
        sizes = {reader.frame.sample: SAMPLED, others(reader.frame.sizes[1]): CLIENTS - 1}
        for n, leaf in enumerate(reader.letters):
            self.parameters[n] = float(sizes.get(leaf, self.parameters[n]))
        self.taken: tuple[int, ...] = ()  # the clients of the round
        self.batch = 1.0  # the losses that the clients draw: one of two

    def number(self, c: Any) -> float:
        def value(rows: list[list[Any]]) -> float:
            return sum(float(Rational(n)) * float(np.prod([x**e for x, e in zip(self.parameters, es, strict=True)]))
                       for es, n in rows)  # fmt: skip

        top, below = c.data()
        return value(top) / value(below)

    def vectors(self, name: Any, shared: bool) -> Any:
        if name.of_sample:  # what depends on the clients and losses of the round is another vector in each outcome
            return self.held.setdefault((name, self.taken, self.batch), self.draw.normal(size=DIM))
        if name.loss == "own":
            return self.held.setdefault((name, self.batch), self.draw.normal(size=(CLIENTS, DIM)))
        if (name, shared) not in self.held:
            made = self.draw.normal(size=DIM if shared else (CLIENTS, DIM))
            made = made / np.linalg.norm(made) if name.label == AXIS else made
            if name.label in self.reader.flat and not shared:
                made = made - self.p @ made
            if name.centre is not None and not shared:
                made = made - self.p @ made + self.vectors(name.centre, True)
            self.held[name, shared] = made
        return self.held[name, shared]

    def at(self, tagged: Any, client: int, signs: Any) -> Any:
        name, tag = tagged
        if tag == "":
            return self.vectors(name, True) * (signs[0] if name.noise else 1)
        of_all = self.of_all(name, signs)
        if tag == "mean":
            return self.p @ of_all
        if tag == "sampled":
            return of_all[list(self.taken)].mean(axis=0)
        return of_all[{"*": client, "i": 0, "j": 1}[tag]]

    def of_all(self, name: Any, signs: Any) -> Any:
        if name.near is not None:
            return self.graph / self.p[:, None] @ self.of_all(name.near, signs)
        return self.vectors(name, False) * (signs[:, None] if name.noise else 1)

    def value(self, label: str, tag: str, client: int) -> float:
        made = self.held.setdefault(label, self.draw.normal(size=CLIENTS))
        if tag == "":
            return float(made[0])
        return float(self.p @ made if tag == "mean" else made[{"*": client, "i": 0, "j": 1}[tag]])

    def drawn(self, label: str, tag: str, client: int, later: bool) -> float:
        """Of the loss that is drawn: at a point that was known before, f_i in the mean."""
        moves = self.held.setdefault(("drawn", label), self.draw.normal(size=CLIENTS))
        move = float(self.p @ moves if tag == "mean" else moves[{"*": client, "i": 0, "j": 1}[tag]])
        return self.value(label, tag, client) + self.batch * move + (self.batch > 0) * later

    def over(self, op: str, each: Any, near: str = "") -> float:
        row = {"i": 0, "j": 1}.get(near, 0)
        weights = {"mean": self.p, "squares": self.p**2, "near": self.graph[row] / self.p[row]}.get(op)
        return float(each(0) if weights is None else sum(q * each(n) for n, q in enumerate(weights)))

    def outcomes(self, each: Any) -> float:
        values: list[float] = []
        drawn = self.reader.frame.sample is not None
        for clients in combinations(range(CLIENTS), SAMPLED) if drawn else [()]:
            for self.batch in (-1.0, 1.0):
                self.taken = clients
                values += [each(np.array(s)) for s in product((-1.0, 1.0), repeat=CLIENTS)]
        return float(np.mean(values))

    def weight(self, label: str) -> float:
        client = {"i": 0, "j": 1}
        if label in client:
            return float(self.p[client[label]])
        _, among, of = label.split("_")
        return float(self.graph[client[among], client[of]] / self.p[client[among]])

    def raw(self, scalar: Scalar) -> float:
        def one(term: Any, client: int, signs: Any) -> float:
            if term.op == "inner":
                x, y = (
                    sum((self.number(c) * self.at(a, client, signs) for a, c in v.terms.items()), np.zeros(DIM))
                    for v in term.vectors
                )
                return float(x @ y)
            if term.op == "weight":
                return self.weight(term.label)
            if term.op == "regulariser":
                return self.value(term.label, term.tag, client)
            if term.op == "drawn":
                return self.drawn(term.label, term.tag, client, term.vectors[0].stage > 0)
            return self.value(term.label, term.tag, client) if term.op == "value" else 1.0

        def total(signs: Any) -> float:
            return sum(self.number(c) * self.over(t.over, lambda n, t=t: one(t, n, signs), t.client) for c, t in scalar)

        return self.outcomes(total)

    def normal(self, form: Expanded) -> float:
        def one(key: Any, signs: Any) -> float:
            op, *rest = key
            if op == "inner":
                return float(self.at(rest[0], 0, signs) @ self.at(rest[1], 0, signs))
            if op in ("mean", "squares", "near"):
                *near, a, b = rest
                return self.over(op, lambda n: self.at((a, "*"), n, signs) @ self.at((b, "*"), n, signs), *near)
            if op == "regulariser":
                return self.value(rest[0], rest[1], 0)
            if op == "value":
                return self.value(rest[0], rest[1], 0)
            if op == "drawn":
                return self.drawn(rest[0], rest[1], 0, True)
            return self.weight(rest[0]) if op == "weight" else 1.0

        return self.outcomes(lambda signs: sum(self.number(c) * one(key, signs) for key, c in form.terms.items()))


@EVERY
def test_normal_forms_agree_with_numeric_vectors_under_every_outcome_of_the_noise(every: int) -> None:
    compared = 0
    for seed, (_, premise) in list(enumerate(everything()))[::every]:
        reader = reader_of(premise.rule)
        for part in check(premise.rule).identities:
            for scalar in (part.left, *(atom for _, atom in part.terms)):
                world = World(reader, seed)
                assert world.raw(scalar) == pytest.approx(world.normal(reader.expand(scalar)), rel=1e-9, abs=1e-9)
                compared += 1
    assert compared > 60


# --- pitfalls --------------------------------------------------------------------------------------------------------

S = Function("S", real=True)


def frame(number: Any) -> Frame:
    return Frame(FEDPROX, {S(k): number}, ON_FEDPROX.letters, ON_FEDPROX.sizes, ON_FEDPROX.weights)


def left_over(claim: Any, meant: Frame, *by: Any, **how: Any) -> str:
    return check(show(claim, "", meant, *by, **how).rule).rest


def test_noise_dies_against_what_was_known_and_not_against_a_gradient_after_it() -> None:
    noise = stochastic - gradient
    before, after = mean(norm2(w_i + noise) - norm2(w_i) - norm2(noise)), mean(norm2(grad(w_i + noise) + noise))
    after = after - mean(norm2(grad(w_i + noise))) - mean(norm2(noise))
    assert left_over(Eq(S(k), 0), frame(before)) == ""
    assert "noise" in left_over(Eq(S(k), 0), frame(after))


def test_the_noise_of_the_next_step_is_another_draw() -> None:
    assert left_over(Eq(Z(k + 1), Z(k)), ON_FEDPROX) != ""


def test_f_at_a_client_s_own_point_is_not_at_least_f_star() -> None:
    with pytest.raises(UserError):
        show(Ge(S(k), 0), "no", frame(norm2(w)), (1, Minimum(w_i)))


def test_a_name_of_the_paper_cannot_be_given_another_meaning() -> None:
    with pytest.raises(UserError, match="dist2"):
        Frame(FEDPROX, {dist2(t): norm2(w)}, ON_FEDPROX.letters, ON_FEDPROX.sizes, ON_FEDPROX.weights)


def test_a_quantity_of_one_client_needs_that_client_among_its_indices() -> None:
    with pytest.raises(UserError, match="client"):
        check(Shown(Ge(S(k), 0), frame(norm2(w_i))))


def test_a_random_multiplier_is_refused() -> None:
    assert refused(Shown(Ge(D(k), 0), ON_FEDPROX, ((D(k), Square(centre - w_star)),)))


def test_a_multiplier_whose_form_does_not_show_its_sign_is_a_requirement() -> None:
    weight = 1 - gamma(t) * L
    premise = show(Ge(weight * D(k), 0), "", ON_FEDPROX, (weight, Square(centre - w_star)))
    assert [r.claim for r in premise.requires] == [Ge(weight, 0)]


def test_a_gradient_bound_is_asked_for_where_the_assumption_gives_it() -> None:
    later = show(Le(Function("g2", nonnegative=True)(i, k), 1), "", ON_FEDPROX, (1, Bound(bounded_gradients)))
    assert {str(r.claim) for r in later.requires} == {"t <= T - 1", "k <= E"}


def test_mu_is_at_most_L_only_because_a_vector_is_not_zero() -> None:
    u = point("u")
    atoms = (2, Smooth(w, w + u, L)), (2, Convex(w, w + u, mu))
    assert left_over(Le(mu, L), ON_FEDPROX, *atoms, times=u) == ""
    assert left_over(Le(mu, L), ON_FEDPROX, *atoms) != ""
    with pytest.raises(UserError):
        show(Le(gap(t), L), "", ON_FEDPROX, *atoms, times=u)


def test_a_quantity_without_its_round_is_not_read_at_another_round() -> None:
    """D(0) is about round t: that it is dist2(0) at round 0 says nothing of round t."""
    assert left_over(Eq(D(0), dist2(t)), ON_FEDPROX) == ""
    with pytest.raises(UserError, match="round"):
        show(Eq(D(0), dist2(0)), "", ON_FEDPROX, at=(0, k))


def test_a_step_size_is_not_that_of_another_round() -> None:
    with pytest.raises(UserError, match="gamma"):
        left_over(Eq(deviation(0, k + 1, i), deviation(0, k, i)), ON_FEDPROX, at=(0, k))


def test_a_mean_over_neighbours_keeps_the_mean_and_is_not_the_vector() -> None:
    def near(number: Any) -> Frame:
        charges, share_ = ON_PERTURBED.charges, ON_PERTURBED.shares
        return Frame(PERTURBED, {S(k): number}, ON_PERTURBED.letters, ON_PERTURBED.sizes, p, charges, shares=share_)

    keeps, settles = norm2(mean(neighbours(w_i)) - mean(w_i)), norm2(mean(u_i) - w)
    for number in (keeps, settles):
        assert left_over(Eq(S(k), 0), near(number)) == ""
    moves = mean(norm2(neighbours(w_i) - w_i))
    assert left_over(Eq(S(k), 0), near(moves)) != ""
    shrinks = mean(norm2(w_i - w)) - mean(norm2(neighbours(w_i) - w))
    assert left_over(Ge(S(k), 0), near(shrinks), (1, Near(w_i - w, "mean"))) == ""
    assert left_over(Le(S(k), 0), near(shrinks), (1, Near(w_i - w, "mean"))) != ""


def test_u_is_the_start_before_the_first_round_alone() -> None:
    assert left_over(Eq(spread(0, i, j), 0), ON_PERTURBED, at=(0, k)) == ""
    assert left_over(Eq(spread(t, i, j), 0), ON_PERTURBED) != ""
    assert left_over(Eq(spread(t + 1, i, j), 0), ON_PERTURBED, at=(t, E)) != ""


def test_a_mean_is_kept_by_the_rules_or_not_at_all() -> None:
    """u_i keeps the mean w because it ends a round as the neighbours' mean of what w is the mean of."""
    assert ON_PERTURBED.settled(u_i) == w
    for changed in ({"begin": {w_i: w, u_i: w_i}}, {"end": {u_i: w_i}}, {"update": {w: mean(u_i)}}):
        method = replace(PERTURBED, **changed)
        assert Frame(method, {}, ON_PERTURBED.letters, ON_PERTURBED.sizes, p).settled(u_i) is None


def test_cauchy_schwarz_needs_the_two_vectors_that_it_is_about() -> None:
    inner_product, first, second = (Function(name, real=True)(i, k) for name in ("a", "b", "c"))
    names = {
        first: norm2(w_i - w),
        second: norm2(noisy(grad(w_i))),
        inner_product: norm2(w_i - w) - norm2(w_i - w - stochastic),
    }
    meant = Frame(FEDPROX, names, ON_FEDPROX.letters, ON_FEDPROX.sizes, ON_FEDPROX.weights)
    rule = Shown(Le(inner_product**2, first * second), meant, schwarz=(w_i - w, stochastic))
    assert check(rule).rest != ""


# --- what derive makes of it -----------------------------------------------------------------------------------------


def test_the_fedprox_chain_is_proved_and_rests_on_no_premise_by_hand() -> None:
    known_ = catalogue()
    for name in ("buttaci/lem4.1", "buttaci/lem4.2", "buttaci/lem4.3", "buttaci/lem4.4"):
        made = derive(known_[name], known_, slack=False)
        assert (made.proved, made.premises) == (True, ())
        assert made.shown


def test_a_stronger_lemma_is_not_proved() -> None:
    known_ = catalogue()
    statement = known_["buttaci/lem4.1"]
    for constant in constants(statement, ("then",)):
        for factor in (Rational(99, 100), Rational(101, 100)):
            mutant = mutate(statement, constant, factor)
            made = derive(mutant, known_, slack=False)
            if made.proved:  # then it is weaker: a larger exponent of E, which is at least 1
                assert (str(constant.inside), factor) == ("E**2", Rational(101, 100))


def test_an_assumption_that_is_charged_and_not_made_is_told_and_nothing_is_proved() -> None:
    known_ = catalogue()
    made = derive(replace(known_["buttaci/lem4.2~any-weights"], implicit=()), known_, slack=False)
    assert not made.proved
    assert any(f.startswith("assumption:") and "nonnegative_weights" in f for f in made.texts)


def test_strong_convexity_with_another_constant_does_not_count() -> None:
    known_ = catalogue()
    statement = known_["buttaci/lemB.2"]
    other = tuple(replace(a, args=(L,)) if a == strongly_convex else a for a in statement.let)
    made = derive(replace(statement, let=other), known_, slack=False)
    assert not made.proved
    assert any("strongly_convex with" in f for f in made.texts)


def _by(premise: Known) -> Derivation:
    def proof(goal: View) -> Argument:
        step = Step(goal.relations[0], given=(premise,))
        return Argument((step,), step)

    return Derivation(proof)


def test_an_identity_that_fails_is_refused_with_what_is_left_over() -> None:
    known_ = catalogue()
    statement = replace(known_["buttaci/lemB.1"], then=Le(dist2(t + 1), 2 * dist2(t)), where={})
    wrong = show(Le(N(k), X(k) / 2), "half of Jensen", ON_FEDPROX, (1, Square(gradient - mean(gradient), "mean")))
    made = derive(replace(statement, follows_from=(_by(wrong),)), known_, slack=False)
    assert not made.proved
    assert any(f.startswith("refused: half of Jensen") and "left over" in f for f in made.texts)


def test_a_premise_that_only_calls_itself_shown_is_one_by_hand() -> None:
    real = next(p for _, p in everything() if p.because.startswith("Jensen for"))
    forged = replace(real, claim=Le(N(k), X(k) / 2))
    assert stands(real)
    assert not stands(forged)
    assert not stands(Known(Le(N(k), X(k)), "mine", "shown"))
    assert stands(known(real.rule, real.because))


def test_a_name_of_the_proof_is_no_premise_only_if_it_is_new_and_the_same_at_every_index() -> None:
    known_ = catalogue()
    a, real = Symbol("a_number", nonnegative=True), Symbol("a_number", real=True)
    n = Symbol("n", integer=True, nonnegative=True)

    def resting_on(*claims: Known, more: tuple[Step | Induction, ...] = ()) -> tuple[str, ...]:
        def proof(goal: View) -> Argument:
            step = Step(goal.relations[0], given=claims)
            return Argument((step, *more), step)

        return derive(replace(known_["buttaci/lem4.2"], follows_from=(Derivation(proof),)), known_).premises

    signed = named(a, L - mu, "signed")
    assert "signed" in resting_on(signed)
    assert "signed" in resting_on(signed, more=(Step(Ge(L - mu, 0), given=(signed,)),))
    assert "signed" not in resting_on(signed, more=(Step(Ge(L - mu, 0)),))
    assert "real" not in resting_on(named(real, L, "real"))
    assert {"one", "two"} <= set(resting_on(named(real, L, "one"), named(real, 2 * L, "two")))
    assert "theirs" in resting_on(named(L, 2 * mu, "theirs"))
    assert "circle" in resting_on(named(real, 2 * real, "circle"))
    index = named(real, n * L, "index")
    assert "index" not in resting_on(index)
    assert "index" in resting_on(index, more=(Induction(Le(n, n + 1, evaluate=False), over=n),))


PROVED = ["buttaci/lem4.1", "buttaci/lemB.1", "buttaci/appA-cocoercive", "zhang/fact1"]


@slow("a long search each; tests/verify/test_hunt.py has shorter ones")
@pytest.mark.parametrize("name", PROVED)
def test_what_is_proved_is_not_refuted(name: str) -> None:
    known_ = catalogue()
    assert derive(known_[name], known_, slack=False).proved
    assert hunt(known_[name], 0, 2.0).verdict != "refuted"


@pytest.mark.parametrize("name", ["buttaci/lemC.2", "buttaci/appA-strong-second", "buttaci/appA-combination"])
def test_what_is_refuted_is_not_proved(name: str) -> None:
    known_ = catalogue()
    assert not derive(known_[name], known_, slack=False).proved


def test_a_false_display_has_no_such_proof() -> None:
    """appA-strong-second is refuted: the atoms that prove its repaired form do not prove it."""
    known_ = catalogue()
    repaired, printed = known_["buttaci/appA-strong-second~repaired"], known_["buttaci/appA-strong-second"]
    made = derive(replace(printed, follows_from=repaired.follows_from[1:]), known_, slack=False)
    assert not made.proved
    assert any(f.startswith("refused:") and "left over" in f for f in made.texts)


def test_the_range_of_a_closed_index_is_no_premise_and_any_other_range_is_one() -> None:
    known_ = catalogue()
    lemma, theorem = known_["buttaci/lemB.6"], known_["buttaci/thm4.3-II"]

    def resting_on(claim: Any) -> tuple[str, ...]:
        def proof(goal: View, cited: View) -> Argument:
            step = Step(goal.relations[0], given=(cited.holds(Known(claim, "a range")),))
            return Argument((step,), step)

        way = Derivation(proof, cites=(lemma.id,))
        same = replace(theorem, then=lemma.then, where=lemma.where, choose={}, when=(), follows_from=(way,))
        return derive(same, known_, slack=False).premises

    assert "a range" not in resting_on(Le(t, T - 1))
    assert "a range" in resting_on(Le(t, T - 2))


def test_the_tree_goes_down_to_the_assumptions_and_carries_certificates() -> None:
    known_ = catalogue()
    row = tree(known_["buttaci/lem4.2"], known_)
    assert row["proved"]
    (line,) = lines(row)
    assert "9 shown; assumes full_participation" in line


def test_derive_writes_certificates_that_certify_accepts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", "buttaci/lem4.2", "--tree", "--out", str(tmp_path / "kept")]) == 0
    assert f"fedaudit certify {tmp_path / 'kept'}" in capsys.readouterr().out
    assert all(row["accepted"] for row in certify_files([str(tmp_path / "kept")]))


# --- algorithm 1 of zhang: kept vectors, ghosts, proximal points of clients ------------------------------------------


def on_composite(**changed: Any) -> Frame:
    frame = replace(ON_PROPOSED, names={}, **changed)
    require_kept(frame)
    return frame


def test_a_formula_that_the_rules_do_not_keep_is_refused() -> None:
    one_more = {**ON_PROPOSED.kept, zhat: lambda k: P - eta * s - (k + 1) * eta * c}
    with pytest.raises(UserError, match="when a round begins"):
        on_composite(kept=one_more)
    without = {**ON_PROPOSED.kept, zhat: lambda k: P - eta * s}
    with pytest.raises(UserError, match="after a local step"):
        on_composite(kept=without)
    last = {**ON_PROPOSED.kept, c: lambda _: (mean(s_before) - s_before) / (2 * tau)}
    with pytest.raises(UserError, match="after a"):
        on_composite(kept=last)
    with pytest.raises(UserError, match="is the same in a round"):
        on_composite(kept={c: lambda _: (mean(s) - s) / tau})
    with pytest.raises(UserError, match="speaks of itself"):
        on_composite(kept={c: lambda _: c})


def test_a_ghost_is_no_vector_of_the_method() -> None:
    with pytest.raises(UserError, match="ghost"):
        on_composite(ghosts={zhat: (zhat, zhat)}, kept={})


def test_convexity_of_the_mean_says_nothing_at_a_client_s_own_point() -> None:
    for atom in (Convex(P, z, ZHANG_L, "mean", MEAN_CONVEX), Convex(P, P, ZHANG_L, "one", MEAN_CONVEX)):
        with pytest.raises(UserError, match="shared"):
            show(Ge(ZHANG_L, PL_MU), "", ON_PROPOSED, (1, atom))


def test_an_assumption_that_is_written_as_a_lower_bound_is_read_as_one() -> None:
    assert left_over(Le(PL_MU, ZHANG_L), ON_PROPOSED, (1, Bound(mu_at_most_L))) == ""
    assert left_over(Ge(PL_MU, ZHANG_L), ON_PROPOSED, (1, Bound(mu_at_most_L))) != ""


def test_a_definition_is_that_of_the_method_and_nothing_else() -> None:
    said = defined(Omega(t), PROPOSED)
    assert not taken(said)
    assert taken(replace(said, claim=Eq(said.claim.lhs, 2 * said.claim.rhs)))
    with pytest.raises(UserError, match="formula"):
        defined(dist2(t), PROPOSED)


def test_a_power_of_e_is_compared_by_an_enclosure() -> None:
    assert not taken(exp_number(Rational(2, 5), Rational(3, 2)))
    assert taken(exp_number(Rational(2, 5), Rational(149, 100)))


ZHANG = ("eqA.20", "eqA.21~eighth", "eqA.25", "eqA.29", "eqA.33~repaired", "eqA.38~repaired", "lemA.1", "lemA.2",
         "thm3.5", "thm3.6", "thm3.8")  # fmt: skip


@pytest.mark.parametrize("name", only(["lemA.1", "thm3.8"], ZHANG, "the whole chain"))
def test_the_composite_chain_is_proved(name: str) -> None:
    known_ = catalogue()
    assert derive(known_[f"zhang/{name}"], known_, slack=False).proved


@slow("two proofs of many steps")
def test_lemma_A_1_is_proved_with_4_6_for_its_5_and_with_no_less() -> None:
    """(A.21) has 4 Λ² in each of at most 1.15 τ terms."""
    known_ = catalogue()
    statement = known_["zhang/lemA.1"]
    (five,) = (c for c in constants(statement, ("then",)) if str(c).startswith("5 in 5*E*lam2"))
    proved = {n: derive(mutate(statement, five, Rational(n, 100)), known_, slack=False).proved for n in (91, 93)}
    assert proved == {91: False, 93: True}


def test_what_is_refuted_of_the_composite_chain_is_not_proved() -> None:
    known_ = catalogue()
    for name in ("zhang/eqA.33", "zhang/eqA.38"):
        assert not derive(known_[name], known_, slack=False).proved


TIGHT = ("eqA.25", "eqA.29", "eqA.20", "lemA.2")  # the proof gives what is printed, and no more; lemma A.1: above


@pytest.mark.parametrize("name", only(("eqA.25", "eqA.29"), TIGHT, "each mutant is a proof of many steps"))
def test_a_mutant_of_the_composite_chain_is_proved_only_if_it_says_less(name: str) -> None:
    known_ = catalogue()
    statement = known_[f"zhang/{name}"]
    refused_ = 0
    for constant in constants(statement, ("then", "where")):
        for factor in (Rational(99, 100), Rational(101, 100)):
            mutant = mutate(statement, constant, factor)
            if derive(mutant, known_, slack=False).proved:
                assert weaker(mutant, statement), (name, str(constant), factor)
            else:
                refused_ += 1
    assert refused_ > 2


def weaker(mutant: Statement, statement: Statement) -> bool:
    pairs = zip(statement.relations, mutant.relations, strict=True)
    more = (mutant.defined(b.rhs - b.lhs) - statement.defined(a.rhs - a.lhs) for a, b in pairs)
    return all(decide(Ge(difference, 0), [*statement.when]).proved for difference in more)


# --- sampled clients, weak convexity -------------------------------------------------------------------------------


def test_the_mean_of_a_subset_has_the_variance_that_counting_gives() -> None:
    """Every subset of 2 or 3 of 4 clients, in rationals."""
    values = [Rational(v) for v in (3, -1, 4, 7)]
    middle = sum(values) / 4
    among = sum((v - middle) ** 2 for v in values) / 4
    claim = known_variance().claim
    for size in (1, 2, 3, 4):
        means = [sum(chosen) / size for chosen in combinations(values, size)]
        counted = sum((x - middle) ** 2 for x in means) / len(means)
        said = claim.rhs.subs({DEVICES_: 4, TAKEN: size, AMONG: among})
        assert counted == said


def known_variance() -> Known:
    return next(p for p in shown(catalogue()["yuan/lem4-variance"], catalogue()) if p.because.startswith("variance"))


def test_sampled_noise_is_not_expanded() -> None:
    sampled = replace(ON_FEDPROX, names={S(k): norm2(mean(stochastic, over="sampled"))}, even=True, sample=TAKEN)
    with pytest.raises((UserError, ValueError), match="sampled"):
        check(Shown(Ge(S(k), 0), sampled))


def test_a_weakly_convex_function_asks_for_a_short_proximal_step() -> None:
    (premise,) = shown(catalogue()["yuan/lem7"], catalogue())
    assert [str(r.claim) for r in premise.requires] == ["eta*nu < 1"]


MORE = ("zhang/eq2-compact", "zhang/eq2-zero-mean", "zhang/eq3-server", "yuan/lem7", "yuan/lem4-mean",
        "yuan/lem4-variance", "yuan/lem4-proof-step~repaired", "fallah/eq93", "benmansour/lem1")  # fmt: skip


@pytest.mark.parametrize("name", MORE)
def test_one_identity_or_two_prove_it_and_no_mutant_that_says_more(name: str) -> None:
    known_ = catalogue()
    statement = known_[name]
    assert derive(statement, known_, slack=False).proved
    for constant in constants(statement, ("then",)):
        for factor in (Rational(99, 100), Rational(101, 100)):
            mutant = mutate(statement, constant, factor)
            if derive(mutant, known_, slack=False).proved:
                assert statement.kind == "inequality", (str(constant), factor)
                assert weaker(mutant, statement), (str(constant), factor)
