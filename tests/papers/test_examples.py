"""The examples as a user runs them: short, lint-clean, the true statement survives, the false one is refuted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from marks import slow, some
from places import ROOT

from fedaudit.bounds.catalogue.discovery import find
from fedaudit.cli import main

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BY_NAME = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
MOST_LINES = 80


def rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@BY_NAME
def test_an_example_is_short_and_has_a_true_and_a_false_statement(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES
    assert "fedaudit." not in path.read_text().replace("fedaudit.py", "").replace("fedaudit hunt", "")
    assert {"(false" in s.title for s in find([str(path)])} == {False, True}


def test_lint_finds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert not any(row["findings"] for row in rows(capsys, "lint", *map(str, EXAMPLES), "--jobs", "1"))


def test_verify_plot_and_certify_work_as_on_a_paper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = next(p for p in EXAMPLES if p.stem == "fedlin")
    selected = [f"{path}::fedlin/twice", "--budget", "1", "--jobs", "1", "--out", str(tmp_path)]
    (row,) = rows(capsys, "verify", *selected)
    assert row["verdict"] == "refuted"
    (judged,) = rows(capsys, "certify", str(path), str(tmp_path / str(row["certificate"])))
    assert judged["what"] == "refutation"
    assert main(["plot", f"{path}::fedlin/rate", "--out", str(tmp_path / "rate.svg")]) == 0
    assert (tmp_path / "rate.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    "path", some(EXAMPLES, 12, "a search for each example, and a longer one below"), ids=lambda path: path.stem
)
def test_verify_decides_as_the_titles_say(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(capsys, "verify", str(path), "--budget", "4", "--jobs", "1", "--out", str(tmp_path))
    titles = {s.id: s.title for s in find([str(path)])}
    expected = {id: "refuted" if "(false" in title else "survived" for id, title in titles.items()}
    assert {row["id"]: row["verdict"] for row in found} == expected


@slow("a long search for each example")
@BY_NAME
def test_hunt_decides_both(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(capsys, "hunt", str(path), "--budget", "20", "--out", str(tmp_path))
    titles = {s.id: s.title for s in find([str(path)])}
    for row in found:
        assert row["verdict"] == ("refuted" if "(false" in titles[str(row["id"])] else "survived")
        if row["certificate"]:
            (judged,) = rows(capsys, "certify", str(path), str(tmp_path / str(row["certificate"])))
            assert judged["accepted"]
