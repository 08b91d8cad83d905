"""The listing that saves building the catalogue: the same as the catalogue, never of other sources, never another's."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from marks import slow

import fedaudit
from fedaudit.bounds.catalogue import discovery as catalogue
from fedaudit.bounds.catalogue.fingerprints import fingerprints, named_papers
from fedaudit.bounds.formulas.latex_sections import section
from fedaudit.bounds.formulas.statement_text import show, shown_row
from fedaudit.commands import listing
from fedaudit.errors import UserError

OTHER_ROOMS = {"problems", "verify", "figures"}
IMPORTING = ("benmansour",)  # papers that take lines from buttaci
PROBE = """
import json
from fedaudit.bounds.catalogue.fingerprints import fingerprints
print(json.dumps(fingerprints()))
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    listing._entries.cache_clear()
    yield tmp_path / "fedaudit"
    listing._entries.cache_clear()


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The listing's file, made once."""
    folder = tmp_path_factory.mktemp("kept")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(folder))
        listing._entries.cache_clear()
        listing.listed([])
    (path,) = folder.glob("*/list-*.json")
    return path


@pytest.fixture
def filled(cache, kept):
    """A cache that holds the listing."""
    cache.mkdir()
    shutil.copy(kept, cache)
    return cache


def again():
    listing._entries.cache_clear()
    return listing.listed([])


@pytest.mark.parametrize("selectors", [[], ["yuan"], ["buttaci/lem4.1"], ["fallah/thm*", "fallah/thm4.5", "zhang"]])
def test_it_lists_what_the_catalogue_holds(filled, selectors):
    entries = listing.listed(selectors)
    assert [{name: e[name] for name in listing.LISTED} for e in entries] == [
        listing.row_of(s) for s in catalogue.statements(selectors)
    ]


@pytest.mark.parametrize("unknown", ["nothing", "buttaci/thm", "buttaci/zzz*", ""])
def test_what_is_unknown_is_said_as_the_catalogue_says_it(filled, unknown):
    with pytest.raises(UserError) as said:
        catalogue.find([unknown])
    with pytest.raises(UserError) as caught:
        listing.listed(["yuan", unknown])
    assert str(caught.value) == str(said.value)


def test_every_statement_is_found_in_the_module_that_is_named(filled):
    names = [s.id for s in catalogue.statements()]
    assert [listing.find([name])[0] for name in names] == catalogue.statements()


def test_every_id_is_found_without_the_listing():
    assert [catalogue.alone(s.id) for s in catalogue.statements()] == catalogue.statements()
    assert [catalogue.alone(name) for name in ("yuan", "yuan/", "yuan/thm*", "nobody/thm1", "yuan/none", "")] == [
        None
    ] * 6


def test_single_ids_are_shown_without_a_listing_and_others_as_listed(cache, monkeypatch):
    names = ["yuan/thm1", "zhang/thm3.6", "yuan/thm1"]
    with monkeypatch.context() as patched:
        patched.setattr(listing, "_made", lambda: pytest.fail("listed"))
        shown = listing.shown(names, "text")
        assert shown == [show(catalogue.statement(name)) for name in names[:2]]
        assert listing.shown(names[:1], "text") == shown[:1]
    assert [path.name[:5] for path in cache.glob("*.json")] == ["text-"]
    assert listing.shown(["yuan/thm1", "yuan/thm4*"], "text")[0] == shown[0]
    with pytest.raises(UserError, match="yuan/none"):
        listing.shown(["yuan/none"], "text")


@pytest.mark.parametrize(("form", "made"), [("text", show), ("latex", section), ("rows", shown_row)])
def test_what_is_shown_is_the_same_when_it_is_kept(filled, form, made):
    wanted = [made(catalogue.statement("buttaci/lem4.1"))]
    assert listing.shown(["buttaci/lem4.1"], form) == wanted
    assert len(list(filled.glob("*.json"))) == 2
    assert listing.shown(["buttaci/lem4.1"], form) == wanted


def test_it_is_kept_and_what_somebody_wrote_there_is_not_read(cache, monkeypatch):
    first = again()
    (path,) = cache.glob("list-*.json")
    with monkeypatch.context() as patched:
        patched.setattr(listing, "_made", lambda: pytest.fail("made again"))
        assert again() == first
    text, made = path.read_text(), []
    monkeypatch.setattr(listing, "_made", lambda: made.append("again") or list(first))
    for other in ("", "x", text.replace("buttaci/lem4.1", "buttaci/lem9.9"), f"{'0' * 64}\n[]", text + " "):
        path.write_text(other)
        made.clear()
        assert again() == first
        assert made == ["again"]
        assert path.read_text() == text


def test_a_listing_of_other_sources_is_never_found(cache, monkeypatch):
    first = again()
    monkeypatch.setattr(listing, "_key", lambda: "0" * 64)
    (path,) = cache.glob("list-*.json")
    shutil.copy(path, cache / f"list-{'0' * 64}.json")  # not even under its name
    monkeypatch.setattr(listing, "_made", lambda: [*first, "made"])
    assert again() == [*first, "made"]


def test_few_are_kept(cache, monkeypatch):
    for number in range(listing.MOST + 3):
        monkeypatch.setattr(listing, "_key", lambda key=f"{number:064}": key)
        listing._keep("list", [])
    assert len(list(cache.glob("list-*.json"))) == listing.MOST


def test_without_a_place_to_keep_it_it_is_made_each_time(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    listing._entries.cache_clear()
    assert len(listing.listed([])) == len(catalogue.statements())
    listing._entries.cache_clear()


# Fingerprints: which rows must be made again when a source changes


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Which fingerprints change in a copy of the package, with its bytecode, in which some texts are replaced."""
    installed, root = Path(fedaudit.__file__).parent, tmp_path_factory.mktemp("copy") / "fedaudit"
    shutil.copytree(installed, root, ignore=lambda folder, names: OTHER_ROOMS if Path(folder) == installed else ())
    if not (root / "verify").exists():  # of which importing the package takes the sentence alone
        (root / "verify").mkdir()
        shutil.copy(installed / "verify" / "__init__.py", root / "verify")

    def changed(*edits):
        texts = {name: (root / name).read_text() for name, _, _ in edits}
        for name, old, new in edits:
            assert texts[name].count(old) == 1
            (root / name).write_text(texts[name].replace(old, new))
        try:
            command = [sys.executable, "-c", PROBE]
            done = subprocess.run(command, cwd=root.parent, capture_output=True, text=True, check=True)
        finally:
            for name, text in texts.items():
                (root / name).write_text(text)
        after, before = json.loads(done.stdout), fingerprints()
        return {name for name in before if after.get(name) != before[name]}

    return changed


def of_paper(name):
    return {s.id for s in catalogue.statements([name])}


def test_a_line_changed_is_its_paper_and_those_that_name_it(copy):
    """Of two papers at once, one of which another paper takes lines from."""
    title = catalogue.statement("buttaci/lemB.2").title
    again = copy(
        ("bounds/papers/buttaci/fedprox.py", f'"{title}"', '"another title"'),
        ("bounds/papers/yuan/symbols.py", '"number of devices")', '"how many devices")'),
    )
    assert again == set[str]().union(*(of_paper(paper) for paper in ("buttaci", "yuan", *IMPORTING)))


@slow("reads the whole catalogue again; the test above does it for one statement")
def test_a_range_of_an_index_is_everywhere(copy):
    """Premises look in the whole catalogue for the ranges of a method's indices."""
    again = copy(("bounds/papers/yuan/lemmas.py", "for_all={j: (1, D)}", "for_all={j: (1, D + 1)}"))
    assert again == {s.id for s in catalogue.statements()}


@pytest.mark.parametrize(
    "line",
    [
        "import a.buttaci.c",
        "from ..buttaci import c",
        "from .. import buttaci",
        'Derivation(cites=("buttaci/lem4.1",))',
    ],
)
def test_a_paper_that_is_named_anywhere_counts(line):
    assert named_papers(line) == {"buttaci"}
