"""Tables in a terminal: no word is broken at any width, columns are left out instead, and the table says which."""

import pytest

from fedaudit.commands import tables
from fedaudit.verify.results.json_node import Node
from fedaudit.verify.results.row import read_row

ROWS = [
    {"id": "buttaci/thm4.6-I~perturbed-points", "verdict": "proved", "evidence": "proof", "tightness": 0.27,
     "derive": {"status": "claims-more", "findings": ["step after B.5: false, fails at E = 8"]},
     "implicit": [{"name": "nonnegative_weights_of_clients", "literal": "breaks"}]},
    {"id": "zhang/thm3.5", "verdict": "survived", "evidence": "exact", "tightness": 0.3161},
]  # fmt: skip


@pytest.mark.parametrize("width", [80, 100, 120, 160])
def test_no_word_of_a_table_is_broken(width, monkeypatch, capsys):
    monkeypatch.setattr(tables, "console", lambda error=False: tables.Console(width=width, highlight=False))
    rows = [read_row(Node(row, "rows", "")) for row in ROWS]
    tables.table("audit", rows)
    shown = capsys.readouterr().out
    assert all(len(line) <= width for line in shown.splitlines() if not line.startswith("not shown"))
    whole = {"buttaci/thm4.6-I~perturbed-points", "zhang/thm3.5", "proved", "survived", "verdict", "tightness"}
    assert whole <= set(shown.split())
    fragments = {"nonnegative_weights_of_", "clients", "nonnegativ", "survi", "tightn"}
    assert not fragments & set(shown.split())


def test_what_is_left_out_is_said(monkeypatch, capsys):
    monkeypatch.setattr(tables, "console", lambda error=False: tables.Console(width=80, highlight=False))
    tables.table("audit", [read_row(Node(row, "rows", "")) for row in ROWS])
    assert "not shown at this width: " in capsys.readouterr().out
