"""Pages by keyboard, on a screen of 400 pixels and on paper, in a real browser."""

import pytest
from browser import BROWSER
from devtools import Tab
from test_paper_pages import row_of
from test_report_page import HEADER

from fedaudit.bounds.catalogue.discovery import statements
from fedaudit.commands.report import Pages
from fedaudit.figures.pages.report import file_of, file_of_paper
from fedaudit.running.store import Folder

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on this machine")

PAPER = 718  # pixels of a sheet of A4 between margins of 1 cm
SHOWN = """Array.from(document.querySelectorAll("#table tbody tr")).filter((row) => !row.hidden)
  .map((row) => row.cells[0].innerText)"""
WHERE = """(() => { const e = document.activeElement;
  return e.id || e.name && `${e.name} ${e.value}` || e.getAttribute("aria-label") || e.textContent.trim(); })()"""
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = Folder.open(tmp_path_factory.mktemp("audit"))
    rows = [made.keep("key", row_of(one), None) for one in statements(["zhang"])]
    Pages(made, HEADER, [row.id for row in rows]).finish(rows)
    return made.path


def to(tab, name, most=60):
    """Tab until this has the focus, which has to be seen."""
    for _ in range(most):
        tab.press("Tab")
        if tab.run(WHERE) == name:
            assert tab.run("getComputedStyle(document.activeElement).outlineStyle") != "none", name
            return
    raise AssertionError(f"no way to {name!r}")


def test_the_index_is_used_without_a_mouse(folder):
    with Tab() as tab:
        tab.open(folder / "index.html")
        every = tab.run(SHOWN)
        tab.press("Tab")
        assert tab.run(WHERE) == "Skip to the verdicts"
        tab.press("Enter")
        tab.press("Tab")
        assert tab.run(WHERE) == "find"
        tab.type("eqa.33")
        assert tab.run(SHOWN) == ["zhang/eqA.33", "zhang/eqA.33~repaired"]
        tab.press("Escape")
        assert tab.run(SHOWN) == every
        to(tab, "verdict refuted", 3)
        tab.press(" ")
        assert tab.run(SHOWN) == [name for name in every if name not in ("zhang/eqA.33", "zhang/eqA.38")]
        assert tab.run('document.getElementById("shown").textContent') == f"{len(every) - 2} of {len(every)} shown"
        to(tab, "Show all", 4)
        tab.press("Enter")
        tab.run("new Promise((done) => setTimeout(done, 50))")  # the form is empty after its event
        assert tab.run(SHOWN) == every
        to(tab, "statement", 3)
        tab.press("Enter")
        order = 'document.querySelector("th[aria-sort]").ariaSort'
        assert tab.run(order) == "ascending"
        assert tab.run(SHOWN)[0] == min(every)
        tab.press(" ")
        assert tab.run(order) == "descending"
        assert tab.run(WHERE) == "statement"  # the focus stays
        assert tab.complaints() == []


NAMELESS = """Array.from(document.querySelectorAll("a, button, input, select, summary, [tabindex]")).filter((e) =>
  !(e.ariaLabel || e.textContent.trim() || (e.labels && e.labels[0] && e.labels[0].textContent.trim()))).length"""


def test_all_that_takes_the_focus_has_a_name(folder):
    with Tab() as tab:
        for page in ("index.html", file_of_paper("zhang"), file_of("zhang/eqA.33")):
            tab.open(folder / page)
            assert tab.run(NAMELESS) == 0, page
            tab.press("Tab")
            assert tab.run(WHERE).startswith("Skip to "), page


def test_the_map_is_followed_without_a_mouse(folder):
    with Tab() as tab:
        tab.open(folder / file_of_paper("zhang"))
        tab.run('document.querySelector(".map").focus()')
        tab.press("Tab")
        name = tab.run('document.activeElement.getAttribute("aria-label")').partition(":")[0]
        there = tab.run("document.activeElement.href.baseVal")
        tab.press("Enter")
        tab.arrive(f'location.pathname.endsWith("{there[3:]}")')
        assert tab.run("document.querySelector('h1 bdi').textContent") == name


def test_a_screen_of_400_pixels_shows_everything(folder):
    labels = """Array.from(document.querySelectorAll("#table tbody tr")[0].cells).slice(3).map((cell) =>
      getComputedStyle(cell, "::before").content.replace(/[":]/g, "").trim())"""
    heads = 'Array.from(document.querySelectorAll("#table thead th")).slice(3).map((th) => th.textContent.trim())'
    with Tab(400) as tab:
        for page in ("index.html", file_of_paper("zhang"), file_of("zhang/eqA.33"), file_of("zhang/thm3.5")):
            tab.open(folder / page)
            assert tab.run("innerWidth") == 400
            assert tab.run(WIDE) <= 0, page
        tab.open(folder / "index.html")
        assert tab.run(labels) == tab.run(heads)
        assert tab.complaints() == []


def test_paper_shows_what_a_screen_folds_away(folder, tmp_path):
    folded = """Array.from(document.querySelectorAll(".finding details")).map((d) =>
      d.lastElementChild.checkVisibility() && d.lastElementChild.getBoundingClientRect().height > 0)"""
    apart = """Array.from(document.querySelectorAll(".pair math")).every((m) =>
      m.getBoundingClientRect().right <= m.closest(".pair").getBoundingClientRect().right + 1)"""
    with Tab(PAPER) as tab:
        tab.send("Emulation.setEmulatedMedia", media="print")
        for page in ("index.html", file_of_paper("zhang"), file_of("zhang/eqA.33")):
            tab.open(folder / page)
            assert tab.run(WIDE) <= 0, page
        tab.open(folder / file_of_paper("zhang"))
        assert tab.run(folded)
        assert all(tab.run(folded))
        assert tab.run(apart)
        tab.printed(tmp_path / "paper.pdf")
        assert (tmp_path / "paper.pdf").read_bytes().startswith(b"%PDF")
