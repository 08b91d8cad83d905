"""Sturdy counterexamples: what lasts is preferred, looked for, kept by shrinking, and reported as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faked import typed
from marks import only, slow, some
from sympy import Le

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.bounds.papers.benmansour.symbols import L, eta, t
from fedaudit.commands.report import Pages
from fedaudit.errors import UserError
from fedaudit.running.store import Folder
from fedaudit.verify import kernel
from fedaudit.verify.moves.audit import _siblings, hunt, read
from fedaudit.verify.moves.judge import judge
from fedaudit.verify.results.audit_json import parse
from fedaudit.verify.search import endure as sturdy
from fedaudit.verify.search.climb import Found, Searched
from fedaudit.verify.search.endure import ROUNDS, breaks, endurance, tougher
from fedaudit.verify.search.genome import draw, rows
from fedaudit.verify.search.lowered_claim import lower
from fedaudit.verify.search.rationalise import Replayed, decided, replay
from fedaudit.verify.search.score import genes_of, score
from fedaudit.verify.search.shrink import shrink, simplicity
from fedaudit.verify.search.tree_arrays import Array
from fedaudit.verify.settings.base import Shape

EFFORT = 0.14  # about one statement's share of the default budget
REMARK_7, WEIGHTED = read(statement("benmansour/rem7"))
PAIR = Shape.of({"loss": "quadratic", "noise": "none", "sampling": "all", "weights": "largest"}, C=2, d=1, E=1, T=1)
ROW = Mapping[str, Any]


def two_clients(start: str, *centres: str) -> dict[str, Array]:
    """Genes of |w - c_1|^2/2 and |w - c_2|^2/2 with equal weights, from `start`."""
    ones = {name: np.array(Fraction(1), dtype=object) for name in ("curvature", "scale")}
    return {
        **ones,
        "ratio": np.array(Fraction(0), dtype=object),
        "curve": np.array([[Fraction(0)]] * 2, dtype=object),
        "start": np.array([Fraction(start)], dtype=object),
        "weight": np.array([Fraction(1)] * 2, dtype=object),
        "centre": np.array([[Fraction(c)] for c in centres], dtype=object),
    }


FRAGILE, STURDY = two_clients("0", "1", "0"), two_clients("1", "0", "1/10")


def replayed(genome: Mapping[str, Array], shape: Shape = PAIR) -> Replayed:
    one = replay(REMARK_7, WEIGHTED, shape, genome)
    assert one is not None
    assert not one.holds
    return one


def both(*genomes: Mapping[str, Array]) -> list[Found]:
    """The candidates of a search that saw these, in this order."""
    batch = {k: np.stack([np.asarray(g[k], dtype=float) for g in genomes]) for k in genomes[0]}
    scores = score(REMARK_7, WEIGHTED, PAIR, batch)
    return [Found(scores, row) for row in range(len(genomes))]


def fails(claim: ROW, instance: ROW, at: ROW) -> bool:
    return not kernel.evaluate(claim, instance, (), at)[2]


def test_a_counterexample_that_stops_at_four_rounds_is_reported_so() -> None:
    one = replayed(FRAGILE)
    lasting = endurance(REMARK_7, WEIGHTED, one)
    assert lasting.row() == {"persists": [{"T": 2}], "persists_until": "holds again at T = 4"}
    assert lasting.fragile
    assert [T for T in (1, 2, 4) if fails(REMARK_7.claim, {**one.instance, "T": T}, one.at)] == [1, 2]


def test_every_horizon_that_is_reported_refutes_in_the_kernel() -> None:
    one = replayed(STURDY)
    lasting = endurance(REMARK_7, WEIGHTED, one)
    assert lasting.row() == {"persists": [{"T": T} for T in ROUNDS], "persists_until": ""}
    assert lasting.lasts
    assert not lasting.fragile
    assert all(fails(REMARK_7.claim, {**one.instance, **longer}, one.at) for longer in lasting.refutes)


@pytest.mark.parametrize(("genome", "unsure"), [(FRAGILE, 1), (STURDY, 0)], ids=["equal at T = 4", "lasts"])
def test_a_glance_says_what_the_kernel_says(
    genome: Mapping[str, Array], unsure: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = replayed(genome)
    exact = endurance(REMARK_7, WEIGHTED, one)
    asked: list[int] = []

    def counted(*given: Any) -> Replayed | None:
        asked.append(1)
        return decided(*given)

    monkeypatch.setattr(sturdy, "decided", counted)
    assert endurance(REMARK_7, WEIGHTED, one, glance=True) == exact
    assert len(asked) == unsure
    asked.clear()
    monkeypatch.setattr(sturdy, "BEYOND_ROUNDING", 1e9)  # floats are sure of nothing
    assert endurance(REMARK_7, WEIGHTED, one, glance=True) == exact
    assert len(asked) == len(exact.refutes) + (not exact.lasts)


def test_only_what_lasts_at_a_glance_is_shown_to_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    glances: list[bool] = []

    def told(*given: Any) -> sturdy.Endurance:
        glances.append(given[-1])
        return endurance(*given)

    monkeypatch.setattr(sturdy, "endurance", told)
    assert not sturdy._lasts(REMARK_7, WEIGHTED, replayed(FRAGILE))
    assert glances == [True]
    assert sturdy._lasts(REMARK_7, WEIGHTED, replayed(STURDY))
    assert glances == [True, True, False]


def test_what_a_glance_got_wrong_is_decided_by_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fedaudit.verify.moves.judge.tougher", lambda *_: None)
    seen = Searched(2, tuple(both(FRAGILE, STURDY)))
    honest = judge(REMARK_7, WEIGHTED, seen).row()
    forever = endurance(REMARK_7, WEIGHTED, replayed(STURDY))

    def hasty(*given: Any, glance: bool = False) -> sturdy.Endurance:
        return forever if glance else endurance(*given)

    monkeypatch.setattr("fedaudit.verify.moves.judge.endurance", hasty)
    assert judge(REMARK_7, WEIGHTED, seen).row() == honest


def test_what_lasts_is_worth_more_than_what_ends_late() -> None:
    lasting, ending = endurance(REMARK_7, WEIGHTED, replayed(STURDY)), endurance(REMARK_7, WEIGHTED, replayed(FRAGILE))
    late = replace(ending, refutes=({"T": 2}, {"T": 4}), reach=4)
    assert lasting.worth() > late.worth() > ending.worth()
    assert lasting.keeps(late)
    assert not ending.keeps(late)
    assert ending.keeps(ending)


def test_of_two_that_were_found_the_one_that_lasts_is_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fedaudit.verify.moves.judge.tougher", lambda *_: None)  # only what was found
    found = both(FRAGILE, STURDY)
    alone = judge(REMARK_7, WEIGHTED, Searched(1, tuple(found[:1]))).row()
    assert alone["persists"] == [{"T": 2}]
    assert alone["persists_until"] == "holds again at T = 4"
    row = judge(REMARK_7, WEIGHTED, Searched(2, tuple(found))).row()
    assert [one["T"] for one in row["persists"]] == [*ROUNDS]
    assert row["certificate"]["instance"] != alone["certificate"]["instance"]


@slow("a climb over long runs")
def test_the_climb_finds_one_that_lasts_where_only_a_fragile_one_was_found() -> None:
    tough = tougher(REMARK_7, WEIGHTED, both(FRAGILE))
    assert tough is not None
    assert endurance(REMARK_7, WEIGHTED, tough).lasts
    row = judge(REMARK_7, WEIGHTED, Searched(1, tuple(both(FRAGILE)))).row()
    assert [one["T"] for one in row["persists"]] == [*ROUNDS]
    kernel.check(row["certificate"])


def test_the_climb_spares_the_longer_run_only_of_what_cannot_be_among_the_elite() -> None:
    genome = draw(genes_of(REMARK_7, WEIGHTED, PAIR), 600, np.random.default_rng(0))
    last, longer = [one for one in sturdy._longer(REMARK_7, WEIGHTED, PAIR, genome) if not isinstance(one, str)][-1]
    here = sturdy._lean(REMARK_7, WEIGHTED, PAIR, genome)
    there = sturdy._lean(sturdy._late(REMARK_7, last), WEIGHTED, last, dict(longer))
    every = np.nan_to_num(np.minimum(here, there), nan=-np.inf)
    some_of_them = sturdy._leans(REMARK_7, WEIGHTED, PAIR, genome)
    elite, chosen = (np.argsort(-worst, kind="stable")[: sturdy.ELITE] for worst in (every, some_of_them))
    assert np.array_equal(elite, chosen)
    assert np.array_equal(every[elite], some_of_them[elite])
    assert np.isneginf(some_of_them).sum() > np.isneginf(every).sum()


def test_shrinking_keeps_what_lasts() -> None:
    start = replayed({**STURDY, "scale": np.array(Fraction(7, 3), dtype=object)})
    lasting = endurance(REMARK_7, WEIGHTED, start)
    assert lasting.lasts

    kept = shrink(REMARK_7, WEIGHTED, start, lambda one: endurance(REMARK_7, WEIGHTED, one).keeps(lasting))
    assert simplicity(kept) < simplicity(start)
    assert endurance(REMARK_7, WEIGHTED, kept).lasts
    simplest = shrink(REMARK_7, WEIGHTED, start)  # nothing asks for it
    assert simplicity(simplest) < simplicity(kept)
    assert endurance(REMARK_7, WEIGHTED, simplest).fragile


def test_a_longer_run_goes_on_with_the_last_weights() -> None:
    free = Shape(PAIR.counts, tuple({**dict(PAIR.flags), "weights": "rows"}.items())).but(T=2)
    batch = draw(genes_of(REMARK_7, WEIGHTED, free), 3, np.random.default_rng(0))
    for genome in (batch, {k: v[0] for k, v in rows(batch, slice(0, 1)).items()}):
        longer = list(sturdy._longer(REMARK_7, WEIGHTED, free, genome))
        assert [shape["T"] for shape, _ in longer] == [4, 8, 16]
        share, last = genome["share"], longer[-1][1]["share"]
        assert last.shape[-2] == 16
        assert np.array_equal(last[..., :2, :], share)
        assert np.array_equal(last[..., 2:, :], np.repeat(share[..., 1:, :], 14, axis=-2))
        assert all(np.array_equal(longer[-1][1][k], v) for k, v in genome.items() if k != "share")


def test_where_exact_numbers_or_paths_grow_too_long_the_row_says_so() -> None:
    genome = draw(genes_of(REMARK_7, WEIGHTED, PAIR), 1, np.random.default_rng(0))
    long = list(sturdy._longer(REMARK_7, WEIGHTED, PAIR.but(E=10, T=10), genome))
    assert [one if isinstance(one, str) else one[0]["T"] for one in long] == [20, 40, "exact numbers too long"]
    noisy = Shape(PAIR.counts, tuple({**dict(PAIR.flags), "noise": "independent"}.items()))
    genome = draw(genes_of(REMARK_7, WEIGHTED, noisy), 1, np.random.default_rng(0))
    paths = list(sturdy._longer(REMARK_7, WEIGHTED, noisy, genome))
    assert [one if isinstance(one, str) else one[0]["T"] for one in paths] == [2, 4, "too many paths of noise"]


@slow("a search, and replays of long runs")
def test_a_claim_about_every_round_has_to_fail_at_a_later_one() -> None:
    row = hunt(statement("benmansour/lem2"), seed=0, effort=EFFORT).row()
    assert row["certificate"]["instance"]["T"] == 1
    assert [one["T"] for one in row["persists"]] == [*ROUNDS]
    assert all(one["T"] // 2 <= one["t"] < one["T"] for one in row["persists"])


@slow("a long search")
def test_what_fails_in_the_first_round_alone_stays_fragile() -> None:
    """eta_t L <= t: at t = 0 it fails on every run, and never again. No search may call that lasting."""
    first_only = replace(statement("benmansour/lem2"), id="benmansour/first-round", then=Le(eta(t) * L, t))
    row = hunt(first_only, seed=0, effort=0.02).row()
    assert row["verdict"] == "refuted"
    assert row["certificate"]["at"]["t"] == 0
    assert row["persists"] == []
    assert row["persists_until"] == "holds again at T = 2"


@pytest.mark.parametrize(
    "identifier",
    some(["buttaci/prop3.2", "yuan/lem5", "yuan/eq1.5", "buttaci/appA-combination"], 2, "one search each"),
)
def test_what_is_not_about_a_run_says_no_run(identifier: str) -> None:
    """Nor has a path of growth a horizon, whatever its parameters are called."""
    row = hunt(statement(identifier), seed=0, effort=0.02).row()
    assert row["verdict"] == "refuted"
    assert (row["persists"], row["persists_until"]) == ([], "no run")


LONGER = [("fallah/eq99", "E"), ("yuan/thm1~inequality", "T")]


@pytest.mark.parametrize(("identifier", "size"), only(["yuan/thm1~inequality"], LONGER, "one long search each"))
@slow("long runs of every other setting")
def test_runs_of_other_settings_grow_longer_too(identifier: str, size: str) -> None:
    row = hunt(statement(identifier), seed=0, effort=0.05).row()
    sizes = [row["certificate"]["instance"][size], *(one[size] for one in row["persists"])]
    assert len(sizes) > 2
    assert sizes == sorted(set(sizes))
    assert row["persists_until"] == ""


def test_the_report_says_where_a_counterexample_goes_on_refuting(tmp_path: Path) -> None:
    row = judge(REMARK_7, WEIGHTED, Searched(1, tuple(both(STURDY)))).row()
    identifier = "benmansour/rem7"
    row = {"id": identifier, **row, "breaks_too": ["benmansour/<b>"], "persists_until": "holds & holds"}
    folder = Folder.open(tmp_path)
    Pages(folder, {"version": "0", "seed": 0, "budget": 1.0}, [identifier]).finish(
        [folder.keep("key", typed(row), None)]
    )
    text = (tmp_path / "pages" / "benmansour-rem7.html").read_text(encoding="utf-8")
    assert "refutes it on longer runs too: T = 2; T = 4; T = 8; T = 16." in text
    assert "On still longer runs it holds &amp; holds." in text
    assert "<bdi>benmansour/&lt;b&gt;</bdi> too" in text


def test_what_is_no_size_is_refused_and_not_shown() -> None:
    row = {"id": "benmansour/rem7", "verdict": "refuted", "persists": [{"T": "<b>"}]}
    with pytest.raises(UserError, match="whole number"):
        parse({"version": "0", "seed": 0, "budget": 1.0, "statements": [row]})


def test_siblings_are_other_readings_and_not_repairs() -> None:
    assert set(_siblings(statement("benmansour/eq13"))) == {"benmansour/eq13~likely"}
    assert set(_siblings(statement("benmansour/eq13~likely"))) == {"benmansour/eq13"}
    assert set(_siblings(statement("benmansour/cor4"))) == set()


@pytest.mark.parametrize(
    "identifier", some(["benmansour/eq13~likely", "benmansour/lem2~iterates"], 2, "one search each")
)
@slow("a search, and its replays in the other reading")
def test_a_counterexample_breaks_the_other_reading_too_and_says_so(identifier: str) -> None:
    """Of the readings that claim less: what breaks them breaks the other one, which claims more on the same problem.

    The other way round is luck: of eq13 a search ends with a few counterexamples, and with seed 0 all spare ~likely.
    """
    row = hunt(statement(identifier), seed=0, effort=EFFORT).row()
    (other,) = _siblings(statement(identifier))
    assert row["breaks_too"] == [other]
    assert fails(lower(statement(other)).claim, row["certificate"]["instance"], row["certificate"]["at"])
    assert row["persists"]


def test_a_sibling_that_stands_is_not_listed() -> None:
    one, claim = replayed(STURDY), lower(statement("benmansour/rem7~repaired")).claim
    below = {**REMARK_7.claim, "then": [["<", one.lhs, one.rhs]]}
    assert breaks({"repaired": claim, "same": REMARK_7.claim, "true": below}, one) == ["same"]


@slow("a long search, as for other seeds below")
def test_remark_7_falls_at_longer_horizons_too() -> None:
    row = hunt(statement("benmansour/rem7"), seed=0, effort=EFFORT).row()
    certificate = row["certificate"]
    kernel.check(certificate)
    assert [one["T"] for one in row["persists"]] == [*ROUNDS]
    assert row["persists_until"] == ""
    instance = certificate["instance"]
    assert instance["weights"]["kind"] == "largest"  # no row per round: the same file with another T
    for T in (2, 3, 5, 16):
        assert fails(certificate["claim"], {**instance, "T": T}, certificate["at"])


@slow("one long search each")
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", ["cor4", "rem7"])
def test_corollary_4_and_remark_7_fall_at_longer_horizons_whatever_the_seed(name: str, seed: int) -> None:
    row = hunt(statement(f"benmansour/{name}"), seed=seed, effort=EFFORT).row()
    kernel.check(row["certificate"])
    assert row["certificate"]["instance"]["C"] <= 3
    assert row["persists"][-1]["T"] >= 16
    assert row["persists_until"] == ""
    if name == "cor4":
        assert all(one["t"] >= one["T"] // 2 for one in row["persists"])
