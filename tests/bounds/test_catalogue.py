"""One contract over everything that is discovered, and the ways to ask for it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from chain import CHAIN
from places import TESTS
from sympy import Symbol
from sympy.core.function import AppliedUndef

from fedaudit.bounds.catalogue.discovery import catalogue, papers, statement, statements
from fedaudit.bounds.formulas.latex_sections import section
from fedaudit.bounds.formulas.statement_text import parts, show
from fedaudit.bounds.language.statement import Statement
from fedaudit.errors import UserError
from fedaudit.overview import table
from fedaudit.verify.experiments import experiments
from fedaudit.verify.moves.audit import read
from fedaudit.verify.search.genome import draw
from fedaudit.verify.search.score import genes_of, score
from fedaudit.verify.settings import settings

ALL = statements()


def test_the_chain_is_there() -> None:
    assert set(CHAIN) <= set(catalogue())


@pytest.mark.parametrize("made", ALL, ids=lambda s: s.id)
def test_contract(made: Statement) -> None:
    """Citation, glossary, a setting, conditions that instances can meet, and claims that are JSON."""
    assert made.paper in papers()
    assert made.title
    assert made.cite
    assert made.setting in settings()
    exprs = [e for pair in (*made.where.items(), *made.choose.items()) for e in pair]
    exprs += [*made.relations, *made.when]
    assert {s for e in exprs for s in e.free_symbols if isinstance(s, Symbol)} <= set(made.glossary)
    assert {f.func for e in exprs for f in e.atoms(AppliedUndef)} <= set(made.glossary)
    for cited in (c for d in made.follows_from for c in d.cites):
        assert cited in catalogue()
    if made.kind == "experiment":
        assert made.id in experiments()
        return
    reading, world = read(made)
    assert json.loads(json.dumps(reading.claim)) == reading.claim
    if made.quoted:  # no assumptions are encoded that an instance could meet
        return
    rng = np.random.default_rng(0)
    shapes = world.shapes(reading)[:6]
    tried = (score(reading, world, s, draw(genes_of(reading, world, s), 40, rng)) for s in shapes)
    assert any(s.admissible for s in tried)


@pytest.mark.parametrize("made", ALL, ids=lambda s: s.id)
def test_shows_every_part(made: Statement) -> None:
    text, tex = show(made), section(made)
    assert made.id in text
    assert made.cite in text
    assert "\\" in tex
    assert dict(parts(made))["then"]


def test_selectors() -> None:
    assert [s.id for s in statements(["buttaci/lem4.1"])] == ["buttaci/lem4.1"]
    assert {s.id for s in statements(["buttaci/thm4.1-*"])} == {"buttaci/thm4.1-I", "buttaci/thm4.1-II"}
    assert statements(["buttaci"]) == statements(["buttaci/*"])
    assert statements(["buttaci/lem4.1", "buttaci"])[0].id == "buttaci/lem4.1"
    assert len({s.id for s in statements(["buttaci", "buttaci"])}) == len(statements(["buttaci", "buttaci"]))


def test_unknown_ids_suggest_the_nearest() -> None:
    with pytest.raises(UserError, match=r"did you mean buttaci/thm4\.1-I"):
        statements(["buttaci/thm4.1"])
    with pytest.raises(UserError, match="names 2 statements"):
        statement("buttaci/thm4.1-*")


USER_FILE = """
from sympy import Le, Symbol
from fedaudit.bounds.language.statement import Glossary, Statement
GLOSSARY = Glossary()
x = GLOSSARY.symbol("x", "1", "a number")
CLAIM = Statement(id="mine/amgm", kind="inequality", title="2x <= 1 + x^2", cite="folklore", method="scalar",
                  glossary=GLOSSARY, then=Le(2 * x, 1 + x**2))
"""


def test_a_users_own_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(USER_FILE)
    assert [s.id for s in statements([str(path)])] == ["mine/amgm"]
    (tmp_path / "empty.py").write_text("x = 1\n")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    for name in ("empty.py", "broken.py", "missing.py"):
        with pytest.raises(UserError, match=r"expected .* do: "):
            statements([str(tmp_path / name)])


def test_every_id_of_the_contract_is_there() -> None:
    wanted = (TESTS / "catalogue_ids.txt").read_text().split()
    assert len(wanted) == len(set(wanted)) == 202
    assert not set(wanted) - set(catalogue())


def test_the_overview_counts_statements_as_they_are_printed_by_verdict() -> None:
    verdicts = {"yuan/thm1": "refuted", "yuan/thm1~repaired": "survived", "yuan/thm2": "refuted"}
    rows = [{"id": k, "verdict": v} for k, v in {**verdicts, "zhang/sec4.1-exact": "reproduced-if"}.items()]
    made = table({"statements": rows, "seed": 0, "budget": 120.0})
    head, _, *lines = made.splitlines()
    assert head == "| paper | as printed | refuted | reproduced-if |"
    assert next(line for line in lines if "Yuan" in line).endswith("| 2 | 2 |  |")
    assert next(line for line in lines if "Zhang" in line).endswith("| 1 |  | 1 |")
