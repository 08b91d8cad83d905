"""Every block of docs/ is run: `console` blocks as commands whose output is compared, `python` blocks as code."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from marks import slow
from pages import blocks, commands, shows
from places import ROOT

from fedaudit.cli import RUNS, main
from fedaudit.verify.certify.command import certify

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
OF_THE_WHEEL = "transcript.md"  # tests/front/test_packaging.py runs it in an environment of its own
GOLDEN = ROOT / "tests" / "certificates"


@pytest.mark.parametrize("page", [p for p in PAGES if p.name != OF_THE_WHEEL], ids=lambda p: p.stem)
def test_what_a_page_shows_is_what_happens(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("examples", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    space: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page):
        if block.file:
            (tmp_path / block.file).write_text(block.text)
        elif block.language == "python":
            exec(compile(block.text, f"{page.name}", "exec"), space)
            capsys.readouterr()
        else:
            assert block.language == "console", f"{page.name}: nobody runs {block.language}"
            for command, shown in commands(block.text):
                program, *arguments = shlex.split(command)
                assert program == "fedaudit", command
                arguments += ["--jobs", "1"] if arguments[0] in RUNS else []
                status = main(arguments)
                out, err = capsys.readouterr()
                differs = any("DIFFERS" in line or "EXCEEDS" in line for line in shown)
                assert status == int(differs), f"{command}: {err}"
                missing = shows(shown, out)
                assert not missing, f"{command}: {missing!r} is not in\n{out}"


def test_the_comparison_sees_a_line_that_is_not_printed() -> None:
    assert not shows(["a  b", "…", "c …"], "a b\nx\nc 3\n")
    assert shows(["a", "c"], "c\na\n") == "c"
    assert shows(["refuted"], "survived\n") == "refuted"
    assert not shows(["x[1] * 2"], "x[1] * 2\n")


def test_what_is_said_to_have_fallen_has_a_certificate_that_the_kernel_accepts() -> None:
    said = re.findall(r"^\| `(\S+)` \|", (DOCS / "papers.md").read_text(), re.MULTILINE)
    held: dict[str, list[Any]] = {}
    for path in GOLDEN.rglob("*.json"):
        found = json.loads(path.read_text())
        held.setdefault(found["statement"], []).append(found)
    assert len(said) == len(set(said))
    assert {name.split("/")[0] for name in said} == {"benmansour", "buttaci", "fallah", "yuan", "zhang"}
    for name in said:
        judged = [certify(found, "golden", []) for found in held[name] if not found["dropped"]]
        assert any(row["accepted"] and row["what"] == "refutation" for row in judged), name


def test_a_theorem_of_one_s_own_takes_at_most_thirty_lines() -> None:
    (own,) = [block for block in blocks(DOCS / OF_THE_WHEEL) if block.file]
    assert len(own.text.splitlines()) <= 30


def test_every_page_is_in_the_menu_and_links_lead_somewhere() -> None:
    menu = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    listed = [part for entry in menu for part in entry.values()]
    folded = [[part] if isinstance(part, str) else [page for one in part for page in one.values()] for part in listed]
    pages = [page for part in folded for page in part]
    made = {page for page in pages if not (DOCS / page).is_file()}  # from the code, when the pages are built
    assert sorted(set(pages) - made) == [page.name for page in PAGES]
    for page in PAGES:
        for target in re.findall(r"\]\(([\w-]+\.md)\)", page.read_text()):
            assert (DOCS / target).is_file(), f"{page.name}: {target}"


@slow("a kernel of Jupyter that runs all of it")
def test_the_notebook_of_the_tour_runs_and_holds_no_outputs(tmp_path: Path) -> None:
    import nbclient
    import nbformat

    path = ROOT / "examples" / "tour.ipynb"
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)
    nbformat.validate(notebook)
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env={**os.environ, "OMP_NUM_THREADS": "1"})
    outputs = json.dumps([cell.get("outputs") for cell in notebook.cells])
    assert "Refuted" in outputs
    assert "Survived" in outputs
