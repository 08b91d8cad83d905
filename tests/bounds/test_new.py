"""`fedaudit new` writes files that pass lint and can be run."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from marks import some

import fedaudit as fa
from fedaudit.bounds.catalogue.discovery import methods
from fedaudit.cli import main
from fedaudit.commands.new import file_text
from fedaudit.errors import UserError


def loaded(text: str, folder: Path, when: int | None = None) -> Any:
    path = folder / "made.py"
    path.write_text(text)
    if when is not None:
        os.utime(path, (when, when))
    (statement,) = fa.load(path)
    return statement


@pytest.mark.parametrize(
    "name", some(["fedprox", "gd", "fedavg", "composite-compact", "composite-stationary"], 5, "a search each")
)
def test_the_file_of_a_method_is_clean_and_can_be_verified(name: str, tmp_path: Path) -> None:
    statement = loaded(file_text(name), tmp_path)
    assert not fa.lint(statement)
    assert isinstance(fa.verify(statement, budget=0.3), fa.Survived | fa.Refuted)


@pytest.mark.parametrize("name", [method.id for _, method in methods()])
def test_a_method_that_is_written_out_is_the_paper_s_own(name: str, tmp_path: Path) -> None:
    (own,) = [m for _, m in methods() if m.id == name]
    copied = loaded(file_text(name), tmp_path).method
    measures = {str(q).partition("(")[0] for q in own.measures}
    assert copied.data(str, measures) == own.data(str, measures)


def test_the_first_statements_hold(tmp_path: Path) -> None:
    for name in ("fedavg", "gd", "fedprox"):
        assert isinstance(fa.verify(loaded(file_text(name), tmp_path), budget=1), fa.Survived)


def test_a_rate_that_is_a_little_too_good_falls(tmp_path: Path) -> None:
    for constant, verdict in ((2, fa.Survived), (3, fa.Refuted)):
        statement = loaded(file_text("gd").replace("4 * T + 2", f"4 * T + {constant}"), tmp_path)
        assert isinstance(fa.hunt(statement, budget=3), verdict)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["there.py"], "which is there already, expected a new name"),
        (["notes.txt"], "expected one that ends in .py"),
        (["none/mine.py"], "expected a file in a folder that exists"),
        (["mine.py", "--method", "fedpro"], "do: did you mean fedprox?"),
    ],
)
def test_what_it_refuses_is_one_line_and_nothing_is_written(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.py").write_text("# mine\n")
    assert main(["new", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["there.py"]
    assert (tmp_path / "there.py").read_text() == "# mine\n"


def test_a_method_that_does_not_exist_is_a_user_error() -> None:
    with pytest.raises(UserError, match="one of fedavg, gd"):
        file_text("nothing")


def test_a_file_that_changes_within_a_second_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Same size, same second: a cache of compiled files would not notice."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    text = file_text("gd")
    texts = (text, text.replace("4 * T + 2", "4 * T + 3"))
    one, other = [loaded(text, tmp_path, when=1_000_000_000) for text in texts]
    assert one.then != other.then
