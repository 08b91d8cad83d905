"""Lint finds errors that were put in on purpose, by the rule that should see them, and nothing on the clean chain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from chain import CHAIN
from sympy import Expr, Ge, Gt, Integer, Le, Min, oo

from fedaudit.bounds.catalogue.discovery import catalogue, statement
from fedaudit.bounds.language.statement import Limit, Statement
from fedaudit.bounds.lint.checks import lint
from fedaudit.bounds.papers.buttaci.symbols import E, G, Gamma, L, alpha, gamma, gamma_, gap, mu, sigma, t

CATALOGUE = catalogue()


def bound(change: Callable[[Expr], Expr]) -> Callable[[Statement], Statement]:
    """Change the right-hand side."""
    return lambda s: replace(s, then=s.relations[0].func(s.relations[0].args[0], change(s.relations[0].args[1])))


def where(change: Callable[[Expr], Expr]) -> Callable[[Statement], Statement]:
    """Change every definition below `where`."""
    return lambda s: replace(s, where={k: change(v) for k, v in s.where.items()})


SEEDED = {
    "sigma for sigma squared": ("thm4.1-I", bound(lambda e: e.subs(sigma**2, sigma)), "dimension"),
    "G for G squared": ("lem4.1", bound(lambda e: e.subs(G**2, G)), "dimension"),
    "gamma for gamma squared": ("lem4.2", bound(lambda e: e.subs(gamma(t) ** 2, gamma(t))), "dimension"),
    "gamma squared for gamma in a definition": ("lemB.2", where(lambda e: e.subs(gamma_, gamma_**2)), "dimension"),
    "a missing L before Gamma": ("lemB.1", where(lambda e: e.subs(L * Gamma, Gamma)), "dimension"),
    "Gamma squared": ("thm4.1-II", bound(lambda e: e.subs(Gamma, Gamma**2)), "dimension"),
    "a dropped 1/mu": ("lemB.3", bound(lambda e: e * mu), "dimension"),
    "mu for mu/L in the contraction": (
        "thm4.1-I",
        bound(lambda e: e.subs(mu / (3 * (alpha + L)), mu / 3)),
        "dimension",
    ),
    "a step size without its curvature": (
        "thm4.1-I",
        lambda s: replace(s, choose={gamma(t): 1 / (2 * E)}),
        "dimension",
    ),
    "a condition with the step size upside down": (
        "lemB.1",
        lambda s: replace(s, when=(Le(gamma(t), L),)),
        "dimension",
    ),
    "a step size above the lemma's limit": (
        "thm4.1-I",
        lambda s: replace(s, choose={gamma(t): 3 / (2 * (alpha + L) * E)}),
        "step-size",
    ),
    "a diminishing step size that starts too large": (
        "thm4.1-II",
        lambda s: replace(s, choose={gamma(t): 4 / (mu * E * (2 * (alpha + L) / mu + t))}),
        "step-size",
    ),
    "a limit that is not reached": ("lemB.2", lambda s: replace(s, limits=(Limit(t, oo, Integer(0)),)), "limit"),
    "a limit whose variable a condition mentions": (
        "lemB.2",
        lambda s: replace(s, when=(*s.when, Ge(t, 1)), limits=(Limit(t, oo, 2 * s.limits[0].value),)),
        "limit",
    ),
    "a limit off by a factor": (
        "lemB.2",
        lambda s: replace(s, limits=(Limit(t, oo, 2 * s.limits[0].value),)),
        "limit",
    ),
    "conditions that contradict each other": (
        "lemB.3",
        lambda s: replace(s, when=(*s.when, Ge(mu, 2 * L), Le(mu, L))),
        "satisfiable",
    ),
    "a condition that no step size meets": (
        "lemB.2",
        lambda s: replace(s, when=(*s.when, Gt(gamma_, Min(1 / (2 * L), 1 / (alpha + mu))))),
        "satisfiable",
    ),
    "mu/L for L/mu": ("lemB.2", bound(lambda e: e * mu**2 / L**2), "start"),
    "a bound below its own start": ("thm4.1-II", bound(lambda e: e - gap(0)), "start"),
    "a flipped sign before the noise": ("thm4.1-I", bound(lambda e: e.subs(sigma**2, -(sigma**2))), "monotone"),
    "a flipped sign before G squared": ("lemB.1", where(lambda e: e.subs(G**2, -(G**2))), "monotone"),
}


@pytest.mark.parametrize("name", SEEDED)
def test_seeded_error_is_found(name: str) -> None:
    label, change, rule = SEEDED[name]
    broken = change(statement(f"buttaci/{label}"))
    assert rule in {f.rule for f in lint(broken, CATALOGUE)}


@pytest.mark.parametrize("identifier", CHAIN)
def test_clean_chain_has_no_findings(identifier: str) -> None:
    assert lint(CATALOGUE[identifier], CATALOGUE) == ()


def test_a_condition_on_the_variable_of_a_true_limit_changes_nothing() -> None:
    printed = statement("buttaci/lemB.2")
    conditioned = replace(printed, when=(*printed.when, Ge(t, 1)))
    assert [f for f in lint(conditioned, CATALOGUE) if f.rule == "limit"] == []
