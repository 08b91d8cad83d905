"""Step sizes that a theorem leaves free: false variants of theorems of Khaled et al. 2020 fall, the theorems stand.

A start far away once hid the rest: there lhs/rhs tends to 1, where the bound is tight, and a climb stayed.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from marks import slow
from places import ROOT

import fedaudit as fa
from fedaudit.bounds.formulas.free_ends import swept_below_ends
from fedaudit.verify import kernel
from fedaudit.verify.moves.audit import hunt, read
from fedaudit.verify.search.climb import some_at_rest
from fedaudit.verify.search.genome import draw
from fedaudit.verify.search.score import genes_of, larger_parts, score
from fedaudit.verify.worst.profile import broken

OWN = {one.id: one for one in fa.load(ROOT / "tests" / "own" / "free_steps.py")}
FALSE = sorted(name for name, one in OWN.items() if "(false" in one.title)
TRUE = sorted(set(OWN) - set(FALSE))


@pytest.mark.parametrize("name", FALSE)
def test_a_false_variant_falls_by_a_certificate_that_the_kernel_accepts(name: str) -> None:
    verdict = hunt(OWN[name], 0, 2.0)
    assert isinstance(verdict, fa.Refuted)
    kernel.check(verdict.certificate)


@slow("a search of the default length for each theorem")
@pytest.mark.parametrize("name", TRUE)
def test_a_theorem_survives(name: str) -> None:
    assert isinstance(hunt(OWN[name], 0, 6.0), fa.Survived)


def test_a_free_step_size_is_drawn_below_the_smaller_of_its_ends() -> None:
    ((gamma, drawn),) = swept_below_ends(OWN["khaled/heterogeneous"]).items()
    values = {str(s): s for s in drawn.free_symbols}
    for E, end in ((1, Fraction(1, 4)), (2, Fraction(1, 8)), (3, Fraction(1, 16))):
        at = drawn.subs({values["E"]: E, values["L"]: 1, values["unit_gamma"]: 1})
        assert Fraction(str(at)) == end
    assert str(gamma) == "gamma"


def test_what_an_assumption_or_a_choice_determines_is_not_swept() -> None:
    statement = fa.statement("buttaci/lem4.1")
    assert not swept_below_ends(statement)


def test_a_bound_has_a_region_for_its_start_and_one_for_its_noise() -> None:
    reading, world = read(OWN["khaled/floor-square"])
    ((start, noise),) = larger_parts(reading)
    assert "dist2" in str(start)
    assert "sigma" in str(noise)
    shape = next(s for s in world.shapes(reading) if s.flag("noise") == "independent" and s["C"] == 2)
    genome = draw(genes_of(reading, world, shape), 64, np.random.default_rng(0))
    scores = score(reading, world, shape, some_at_rest(reading, world, shape, genome))
    assert set(scores.region[-8:]) == {1}  # they start at x*, where nothing is left but noise
    assert np.allclose(scores.table.quantities["dist2"].values[-8:, 0], 0)


def test_a_worst_case_with_noise_at_the_end_of_the_step_sizes_refutes() -> None:
    reading, _ = read(OWN["khaled/floor-square"])
    against = broken(reading, 6.0)
    assert against is not None
    point, worst = against
    assert worst.lower is not None
    assert worst.lower > 1
    assert (point.told["C"], point.told["gamma"]) == ("3", "2/9")  # 1/(4 L) for L = 9/8
    assert broken(read(OWN["khaled/floor"])[0], 1.0) is None


def test_points_that_fail_a_condition_do_not_hide_those_that_meet_it() -> None:
    """C = E = 2 is asked for, and sharp points begin with 1."""
    statement = fa.statement("classic/fedavg-two-clients")
    (relation,) = statement.relations
    for term in relation.rhs.args:
        halved = statement.variant(id="half/term", then=fa.Le(relation.lhs, relation.rhs - term / 2))
        assert broken(read(halved)[0], 0.25) is not None
    assert broken(read(statement)[0], 0.25) is None
