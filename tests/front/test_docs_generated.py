"""Pages of the documentation that are made from the code: nothing is left out, and the picture is what is drawn."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
import yaml
from places import ROOT

import fedaudit as fa
from fedaudit.bounds.catalogue.discovery import papers, statement
from fedaudit.grammar import HELP
from fedaudit.verify.pictures.curves import Cloud, Crossing, Curves, Landscape, Profile, Rate, curves

sys.path.insert(0, str(ROOT / "docs"))
import generated

LARGEST = 4096  # bytes of a picture that stands in the repository


def test_every_command_has_its_help() -> None:
    text = generated.command_line()
    assert re.findall(r"^## fedaudit (\S+)$", text, re.MULTILINE) == sorted(HELP)
    assert "--style {page,paper}" in text


def test_every_name_of_our_own_has_its_docstring() -> None:
    named = set(re.findall(r"^## fa\.(\S+)$", generated.python(), re.MULTILINE))
    ours = {n for n in fa.__all__ if callable(getattr(fa, n)) and getattr(fa, n).__module__.startswith("fedaudit")}
    assert named == ours
    assert {"plot", "audit", "Method", "simulate"} <= named


@pytest.mark.parametrize("name", papers())
def test_every_paper_has_a_page_that_is_in_the_menu(name: str) -> None:
    text = generated.paper(name)
    assert text.startswith("# ")
    assert f"`{name}/" in text
    assert f"papers/{name}.md" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


def test_the_gallery_has_every_kind_of_figure() -> None:
    kinds = {type(curves(statement(name))) for name in generated.GALLERY}
    assert kinds == {Cloud, Crossing, Curves, Landscape, Profile, Rate}


def test_the_picture_in_the_repository_is_small_and_is_what_is_drawn() -> None:
    """Compared by its data: another processor may round the last digit otherwise."""
    kept, made = (ROOT / "docs" / "rate.svg").read_text(encoding="utf-8"), generated.sketch()
    assert len(kept.encode()) < LARGEST
    old, new = (re.findall(r'<polyline id="(\w+)" [^>]*points="([^"]+)"', text) for text in (kept, made))
    assert [name for name, _ in old] == [name for name, _ in new] == ["floor", "transient", "bound", "expectation"]
    for (_, one), (_, other) in zip(old, new, strict=True):
        a, b = (np.array([[float(x) for x in p.split(",")] for p in points.split()]) for points in (one, other))
        np.testing.assert_allclose(a, b, atol=0.2)  # a fifth of a pixel
    assert re.sub(r'points="[^"]*"', "", kept) == re.sub(r'points="[^"]*"', "", made)


def test_the_menu_is_a_file_that_can_be_read() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "docs/generated.py" in yaml.safe_load(text)["hooks"]
