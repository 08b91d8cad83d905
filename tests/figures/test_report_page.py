"""The pages of an audit: everything that it found, for people with and without scripts, eyes and colours."""

import base64
import json
import re
from html import unescape
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from browser import BROWSER, SCREENS, browse, driven
from faked import typed

from fedaudit.bounds.catalogue.discovery import statements
from fedaudit.bounds.formulas.statement_text import printed
from fedaudit.commands.report import Pages
from fedaudit.figures.pages.page_text import scale, short
from fedaudit.figures.pages.report import file_of, pages
from fedaudit.figures.words.letters import pretty
from fedaudit.figures.words.mathml import mathml
from fedaudit.running.store import Folder
from fedaudit.verify.results.audit_json import parse

VERDICTS = ("survived", "proved", "undecided")
CERTIFICATE = {
    "format": "fedaudit-certificate/1",
    "statement": "buttaci/lem4.2~any-weights",
    "claim": {},
    "dropped": ["nonnegative_weights"],
    "instance": {"C": 2, "p": ["1/2", "1/2"], "clients": [{"kind": "quadratic", "A": [["22/7"]], "b": ["1"]}]},
    "at": {"relation": 0, "t": 4, "k": 1},
    "lhs": "355/113",
    "rhs": "9/10",
}
STEP = {
    "claim": "gamma(t) <= 1/(2*L)",
    "where": "(B.3)",
    "note": "printed",
    "status": "proved",
    "how": "z3",
    "because": ["choose"],
}
SIZES = [{"C": 1, "T": 1, "instances": 400, "tightness": None}]
SIZES += [{"C": n, "T": 10**6, "instances": 1200 + n, "tightness": 0.5 + n / 100} for n in range(2, 21)]
HEADER = {"version": "0.1.0", "seed": 3, "budget": 120.0}
VOID = {"wbr", "meta", "link", "img", "input", "br", "hr"}


def row_of(number, statement):
    refuted = statement.id == CERTIFICATE["statement"]
    tried = {"verdict": "survived", "evidence": "exact", "instances": 12345, "tightness": 0.5, "seconds": 1.5}
    row = {
        "id": statement.id,
        "verdict": "refuted" if refuted else VERDICTS[number % 3],
        "evidence": "exact",
        "tightness": None if number == 3 else (number * 37 % 11) / 11,
        "sizes": SIZES[: 20 * number],
        "certificate": CERTIFICATE if refuted else None,
        "proof": {"judgements": []},
        "lint": {"findings": [{"rule": "dimension", "message": "<script>alert(1)</script> & F"}] if refuted else []},
        "derive": {
            "status": "follows",
            "factor": 1.0,
            "cites": [statements(["buttaci"])[1].id] if number == 0 else [],
            "steps": [STEP, {**STEP, "because": [STEP["claim"]]}],
        },
        "verify": {**tried, "tightest": {"C": 2, "p": ["1/2", "1/2"]}},
        "hunt": tried,
        "implicit": [{"name": a.name, "literal": "breaks", "certificate": CERTIFICATE} for a in statement.implicit],
        "repaired": None,
        "statement": printed(statement),
    }
    return typed(row)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = Folder.open(tmp_path_factory.mktemp("audit"))
    picture = '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="40"><text y="20">figure</text></svg>'
    rows = [made.keep("key", row_of(n, s), picture if n == 0 else None) for n, s in enumerate(statements(["buttaci"]))]
    site = Pages(made, HEADER, [row.id for row in rows])
    for row in rows:
        site.add(row)
    site.finish(rows)
    return made


@pytest.fixture(scope="module")
def text(folder):
    return (folder.path / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def leaves(folder):
    """Id -> the page of a statement."""
    return {s.id: (folder.path / file_of(s.id)).read_text(encoding="utf-8") for s in statements(["buttaci"])}


def everything(document, root, own=()):
    """All pages as one text."""
    return "".join(text for _, text in pages(document, root, own))


class Reader(HTMLParser):
    """Collects what the tests ask about, and checks that elements are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.tags, self.headings = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append((tag, found))
        self.ids += [found["id"]] if "id" in found else []
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def test_the_pages_are_well_formed_and_every_link_lands(folder, text, leaves):
    places = {"index.html": text} | {file_of(name): leaf for name, leaf in leaves.items()}
    read = {name: Reader(page) for name, page in places.items()}
    for name, page in read.items():
        assert len(page.ids) == len(set(page.ids))
        targets = [a["href"] for a in page.all("a")]
        assert targets
        for target in targets:
            path, _, part = unquote(target).partition("#")
            other = (folder.path / name).parent.joinpath(path).resolve() if path else folder.path / name
            assert other.is_file()
            assert not part or part in read[other.relative_to(folder.path).as_posix()].ids
    assert {a["href"] for a in read["index.html"].all("a")} >= {file_of(s) for s in leaves}
    assert all("../index.html" in [a["href"] for a in read[file_of(s)].all("a")] for s in leaves)


def test_every_statement_has_its_page_with_what_was_printed(text, leaves):
    for s in statements(["buttaci"]):
        leaf = unescape(leaves[s.id])
        assert pretty(s.title) in leaf
        assert pretty(s.title) in unescape(text)
        assert leaf.count("<math ") >= len(s.relations) + len(s.when)
        assert all(pretty(line).split(",")[0] in leaf for line in s.reading)


def test_a_page_leads_to_siblings_to_what_it_cites_and_to_what_cites_it(leaves):
    def named(word, leaf):
        found = re.search(rf"<p class=\"note\">{word}: (.*?)</p>", leaf)
        return re.findall(r">([^<>]+)</a>", found[1]) if found else []

    known = [s.id for s in statements(["buttaci"])]
    assert named("Cites", leaves[known[0]]) == [known[1]]
    assert named("Cited by", leaves[known[1]]) == [known[0]]
    repaired = next(name for name in known if name.endswith("~repaired"))
    assert repaired in named("Siblings", leaves[repaired.partition("~")[0]])
    assert "<span>before: " not in leaves[known[0]]
    assert "<span>after: " not in leaves[known[-1]]


def test_the_index_is_small(text):
    assert len(text) < 700 * len(statements(["buttaci"])) + 20_000


def test_nothing_is_fetched_from_anywhere(text, leaves):
    for page in (text, *leaves.values()):
        read = Reader(page)
        assert "default-src 'none'" in unescape(page)
        assert "unsafe" not in unescape(page).split("Content-Security-Policy")[1].split(">")[0]
        assert not [attrs for _, attrs in read.tags if "style" in attrs]  # the policy would drop it
        assert not read.all("link")
        assert all("src" not in attrs for attrs in read.all("script"))
        assert all(attrs["src"].startswith("data:") for attrs in read.all("img"))
        addresses = set(re.findall(r"https?://[^\"'\s<)]+", page))
        assert addresses <= {"http://www.w3.org/1998/Math/MathML"}
    assert not any("<script" in leaf for leaf in leaves.values())


def test_pictures_have_texts_and_headings_have_order(text, leaves):
    for page in (text, *leaves.values()):
        read = Reader(page)
        assert all(attrs.get("alt") for attrs in read.all("img"))
        assert read.all("html") == [{"lang": "en"}]
        assert read.headings[0] == 1
        assert read.headings.count(1) == 1
        assert all(later - earlier <= 1 for earlier, later in zip(read.headings, read.headings[1:], strict=False))


def test_findings_are_text_and_never_markup(leaves):
    leaf = leaves[CERTIFICATE["statement"]]
    assert "<script>alert" not in leaf
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; F" in leaf


def test_a_counterexample_is_shown_by_its_numbers(leaves):
    for said in (
        "355/113",
        "9/10",
        "22/7",
        "t = 4",
        "nonnegative_weights",
        "<b>breaks</b>",
        "certificates/buttaci-lem4.2~any-weights.json",
    ):
        assert said in leaves[CERTIFICATE["statement"]]


def test_derivation_steps_say_how_they_were_decided(leaves):
    leaf = leaves[CERTIFICATE["statement"]]
    assert "gamma(t) &lt;= 1/(2*L)" in leaf
    assert "proved by z3; because choose; printed [(B.3)]" in leaf
    assert "proved by z3; because step 1; printed [(B.3)]" in leaf


def test_the_figure_is_inside_the_page(leaves):
    first = statements(["buttaci"])[0].id
    pictures = [base64.b64decode(a["src"].partition(",")[2]).decode() for a in Reader(leaves[first]).all("img")]
    assert [">figure<" in picture for picture in pictures] == [True]


@pytest.mark.parametrize(
    ("tightness", "place"), [(None, None), (0, None), (-1, None), (1e-9, 4), (1, 58), (10, 76), (1e300, 76)]
)
def test_the_scale_beside_a_tightness(tightness, place):
    assert scale(tightness) == place


# Pages of an audit that is under way


def bare(name, **fields):
    return typed({"id": name, "verdict": "survived", "tightness": 0.5} | fields)


def test_the_index_exists_before_the_first_row_and_says_how_far_it_is(tmp_path):
    site = Pages(Folder.open(tmp_path), HEADER, ["a/1", "a/2"])
    index = tmp_path / "index.html"
    assert "0 of 2 statements are finished" in index.read_text()
    site.next = 0
    site.add(bare("a/2"))
    assert "1 of 2 statements are finished" in index.read_text()
    assert "a/2</a>" in index.read_text()
    before = index.read_text()
    site.add(bare("a/1"))  # too soon after the last one
    assert index.read_text() == before
    site.finish([bare("a/1"), bare("a/2")])
    assert "are finished" not in index.read_text()
    assert index.read_text().index("a/1</a>") < index.read_text().index("a/2</a>")


def written(path):
    return path.stat().st_mtime_ns, path.read_text(encoding="utf-8")


def finished(folder, *rows):
    site = Pages(folder, HEADER, [row.id for row in rows])
    for row in rows:
        site.add(row, fresh=False)
    site.finish(rows)
    return {row.id: written(folder.path / file_of(row.id)) for row in rows}


def test_a_page_is_written_again_only_if_what_it_shows_has_changed(tmp_path):
    folder = Folder.open(tmp_path)
    cites = {"derive": {"status": "follows", "cites": ["a/2"]}}
    first = finished(folder, bare("a/1", **cites), bare("a/2"), bare("a/3"))
    assert finished(folder, bare("a/1", **cites), bare("a/2"), bare("a/3")) == first
    second = finished(folder, bare("a/1", **cites), bare("a/2"), bare("a/3", reason="other"))
    assert [second[name] == first[name] for name in first] == [True, True, False]
    third = finished(folder, bare("a/1"), bare("a/2"), bare("a/3", reason="other"))
    assert [third[name] == second[name] for name in first] == [False, False, True]  # a/2 is cited no more


def test_a_page_of_a_row_that_nothing_cites_is_written_once(tmp_path):
    folder = Folder.open(tmp_path)
    rows = [bare("a/1", derive={"status": "follows", "cites": ["a/2"]}), bare("a/2"), bare("a/3")]
    site = Pages(folder, HEADER, [row.id for row in rows])
    for row in rows:
        site.add(row)
    first = {row.id: written(tmp_path / file_of(row.id)) for row in rows}
    site.finish(rows)
    again = {row.id: written(tmp_path / file_of(row.id)) for row in rows}
    assert [again[name] == first[name] for name in first] == [False, False, True]


def test_a_line_of_the_index_follows_its_row(tmp_path):
    site = Pages(Folder.open(tmp_path), HEADER, ["a/1", "a/2"])
    rows = [bare("a/1"), bare("a/2")]
    for row in rows:
        site.add(row)
    text = site.index().read_text()
    assert text.count('data-verdict="survived"') == 2
    text = site.finish([rows[0], bare("a/2", verdict="undecided", tightness=0.25)]).read_text()
    assert text.count('data-verdict="survived"') == text.count('data-verdict="undecided"') == 1
    assert 'data-value="0.25"' in text


def test_a_page_that_somebody_changed_is_written_again(tmp_path):
    folder = Folder.open(tmp_path)
    first = finished(folder, bare("a/1"), bare("a/2"))
    path = tmp_path / file_of("a/1")
    forged = path.read_text().replace("survived</span>", "proved</span>", 1)
    path.write_text(forged)
    assert finished(folder, bare("a/1"), bare("a/2"))["a/1"][1] == first["a/1"][1]
    path.unlink()
    assert finished(folder, bare("a/1"), bare("a/2"))["a/1"][1] == first["a/1"][1]


def document_of(*rows):
    return parse({"version": "0", "seed": 0, "budget": 1, "statements": list(rows)})


def sized(tmp_path, count):
    """The table of sizes in the page of a row with so many of them, and all that stands around it."""
    text = everything(document_of({"id": "a/b", "verdict": "survived", "sizes": SIZES[:count]}), tmp_path, ["a/b"])
    Reader(text)
    return text, re.findall(r"<tr>.*?</tr>", text.partition('<table class="sizes">')[2].partition("</table>")[0], re.S)


def test_a_page_says_which_sizes_were_tried_and_how_tight_each_was(tmp_path):
    text, rows = sized(tmp_path, 3)
    assert "3 tried, C 1-3, T 1-1000000; tightest at C=3 T=1000000: 0.53. These are floats" in text
    assert [re.findall(r"<t[hd][^>]*>([^<]*)<", row) for row in rows] == [
        ["C", "T", "instances", "tightness"],
        ["1", "1", "400", ""],
        ["2", "1,000,000", "1,202", "0.52"],
        ["3", "1,000,000", "1,203", "0.53"],
    ]


@pytest.mark.parametrize(("count", "folded"), [(12, False), (13, True)])
def test_many_sizes_are_folded(tmp_path, count, folded):
    text, rows = sized(tmp_path, count)
    assert len(rows) == count + 1
    assert (f"<details><summary>All {count} sizes</summary>" in text) == folded


def test_a_page_says_how_much_more_than_can_happen_a_bound_allows(tmp_path):
    points = [({"L": "2", "E": "1"}, 5 / 32, 5 / 32), ({"L": "3"}, 1.0, 1.0), ({"L": "4"}, None, 0.5)]
    worst = [{"point": point, "lower": low, "upper": high} for point, low, high in points]
    hunt = {"verdict": "survived", "worst": worst}
    text = everything(document_of({"id": "a/b", "verdict": "survived", "hunt": hunt}), tmp_path, ["a/b"])
    rows = re.findall(r"<tr>.*?</tr>", text.partition('<table class="worst">')[2].partition("</table>")[0], re.S)[1:]
    assert ["L = 2, E = 1" in rows[0], "6.4 times what can happen" in rows[0]] == [True, True]
    assert "attained" in rows[1]
    assert "2 times what can happen" in rows[2]


def test_a_page_of_a_refutation_counts_nothing_that_is_promised(tmp_path):
    ends = {"point": {"L": "10"}, "name": "kappa 10", "ordinary": {"kappa": 10}, "lower": 0.0, "upper": 1.0008e-9}
    worst = [ends, {**ends, "upper": 0.0125}, {**ends, "name": "kappa 2", "lower": 3.0, "upper": None}]
    hunt = {"verdict": "refuted", "worst": worst}
    text = everything(document_of({"id": "a/b", "verdict": "refuted", "hunt": hunt}), tmp_path, ["a/b"])
    assert "times what can happen" not in text
    assert " × at" not in text
    assert "<td>fails at kappa 2</td>" in text
    assert "too little: it fails" in text


@pytest.mark.parametrize(("own", "mark"), [(["a/b"], ""), ([], " (not rechecked)")])
def test_the_index_leads_with_an_ordinary_point_and_says_where_it_comes_from(tmp_path, own, mark):
    ends = {"point": {"L": "10"}, "name": "kappa 10, E 4", "ordinary": {"kappa": 10}, "lower": 0.0125, "upper": 0.0125}
    hunt = {"verdict": "survived", "worst": [ends]}
    text = everything(document_of({"id": "a/b", "verdict": "survived", "hunt": hunt}), tmp_path, own)
    assert f"<td>80 × at kappa 10, E 4{mark}</td>" in text


def test_a_row_without_sizes_has_no_table_of_them(tmp_path):
    text, rows = sized(tmp_path, 0)
    assert "Sizes" not in text
    assert rows == []


def test_a_letter_is_text(tmp_path):
    sizes = [{"<i>": 2, "instances": 1, "tightness": 0.5}]
    text = everything(document_of({"id": "a/b", "verdict": "survived", "sizes": sizes}), tmp_path, ["a/b"])
    assert "<i>" not in text
    assert text.count("&lt;i&gt;") == 3  # in the line twice, and above its column


def test_letters_of_different_sizes_stand_in_their_own_columns(tmp_path):
    sizes = [{"C": 2, "instances": 1, "tightness": 0.5}, {"C": 2, "m": 1, "instances": 1, "tightness": 0.5}]
    text = everything(document_of({"id": "a/b", "verdict": "survived", "sizes": sizes}), tmp_path, ["a/b"])
    assert '<td class="n">2</td><td class="n"></td><td class="n">1</td>' in text


@pytest.mark.parametrize("name", ["../secret.svg", "/etc/hostname", "figures/../../secret.svg", "figures/link.svg"])
def test_files_outside_the_folder_are_never_read(tmp_path, name):
    (tmp_path / "secret.svg").write_text("secret")
    root = tmp_path / "audit"
    (root / "figures").mkdir(parents=True)
    (root / "figures/link.svg").symlink_to(tmp_path / "secret.svg")
    made = everything(document_of({"id": "a/b", "verdict": "survived", "figure": name}), root)
    assert base64.b64encode(b"secret").decode() not in made
    assert "<img" not in made
    assert "Figure not shown: outside the folder." in made


def test_a_bare_row_is_enough(tmp_path):
    for row in ([], [{"id": "a/b", "verdict": "survived"}]):
        for _, text in pages(document_of(*row), tmp_path):
            Reader(text)
            assert not row or "a/b" in text


def test_formulas_become_mathml_and_keep_their_latex():
    made = mathml(r"\|\mathbf w_{t}\|^2 \leq \frac{1}{\mu}")
    assert made.startswith("<math ")
    assert 'mathvariant="bold"' in made or "𝐰" in made or "&#x1D430;" in made
    assert r"\frac{1}{\mu}" in made
    assert mathml(r"\frac{").startswith("<code>")
    assert "&lt;b&gt;" in mathml(r"\frac{<b>")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, ""),
        (True, "yes"),
        (12345, "12,345"),
        (0.123456, "0.1235"),
        (0.99999, "0.9999"),
        (1.00001, "1.0001"),
        (1.0, "1"),
        ("1/3", "1/3"),
    ],
)
def test_numbers_are_short(value, said):
    assert short(value) == said


DRIVE = """
const said = {}, table = document.getElementById("table");
const seen = () => Array.from(table.tBodies[0].rows).filter((r) => !r.hidden);
const column = (n) => seen().map((r) => r.cells[n].textContent.trim());
said.start = column(0); said.first = column(2)[0];
const button = table.tHead.rows[0].cells[5].querySelector("button");
button.click(); said.up = column(5); said.sort = table.tHead.rows[0].cells[5].getAttribute("aria-sort");
button.click(); said.down = column(5);
const find = document.getElementById("find"), event = () => new Event("input", {bubbles: true});
find.value = "lemb two"; find.dispatchEvent(event()); said.none = column(0).length;
find.value = "LEMB"; find.dispatchEvent(event()); said.some = column(0);
find.value = "l_alpha"; find.dispatchEvent(event()); said.name = column(0);
find.value = "L_α"; find.dispatchEvent(event()); said.letter = column(0);
find.value = "";
for (const box of document.querySelectorAll("input[name=verdict]")) box.checked = box.value === "refuted";
find.dispatchEvent(event()); said.refuted = column(2); said.shown = document.getElementById("shown").textContent;
said.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
document.body.dataset.said = JSON.stringify(said);
"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on this machine")
@pytest.mark.parametrize("size", SCREENS)
def test_a_real_browser_sorts_and_filters(folder, text, tmp_path, size):
    path = tmp_path / "index.html"
    path.write_text(driven(text, DRIVE), encoding="utf-8")
    dom, complaints = browse(path, f"--window-size={size}")
    assert complaints == []
    said = json.loads(re.search(r'data-said="([^"]*)"', dom)[1].replace("&quot;", '"'))
    ids = [s.id for s in statements(["buttaci"])]
    numbers = sorted(float(x) for x in said["up"] if x)
    assert sorted(said["start"]) == sorted(ids)
    assert said["first"].startswith("refuted")  # findings first
    assert said["up"] == [*(f"{x:.4g}" for x in numbers), ""]
    assert said["down"] == [*(f"{x:.4g}" for x in reversed(numbers)), ""]
    assert said["sort"] == "ascending"
    assert said["none"] == 0
    assert "buttaci/thm4.1-I" in said["name"]  # whose title shows L_α
    assert said["name"] == said["letter"]
    assert set(said["some"]) == {i for i in ids if "/lemB" in i}
    assert said["refuted"] == ["refuted"]
    assert said["shown"] == f"1 of {len(ids)} shown"
    assert said["wide"] <= 0  # no sideways scrolling of the page


LOOK = """
document.body.dataset.said = JSON.stringify({
  math: Array.from(document.querySelectorAll("math")).map((m) => Math.min(m.getBoundingClientRect().height,
    m.getBoundingClientRect().width)),
  fraction: document.querySelector("math mfrac").getBoundingClientRect().height,
  wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  images: Array.from(document.images).map((i) => i.complete && i.naturalWidth > 0),
});
"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on this machine")
@pytest.mark.parametrize("size", SCREENS)
def test_a_real_browser_shows_the_formulas_and_the_figure_of_a_statement(leaves, tmp_path, size):
    first = statements(["buttaci"])[0].id
    path = tmp_path / "leaf.html"
    path.write_text(driven(leaves[first], LOOK), encoding="utf-8")
    dom, complaints = browse(path, f"--window-size={size}")
    assert complaints == []
    said = json.loads(re.search(r'data-said="([^"]*)"', dom)[1].replace("&quot;", '"'))
    assert said["math"]
    assert min(said["math"]) > 0
    assert said["fraction"] > 15  # a fraction is set as one
    assert said["wide"] <= 0
    assert said["images"] == [True]


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        ("f_i(y) <= <grad f_i(x), y - x> + L/2 |x - y|^2", "fᵢ(y) ≤ ⟨∇fᵢ(x), y − x⟩ + L/2 ‖x − y‖²"),
        ("variance <= sigma^2/b", "variance ≤ σ²/b"),
        ("T^(1/2), n^1/2 and |x| of bounded_variance", "T^(1/2), n^1/2 and |x| of bounded_variance"),
        ("E|grad R(w_t*)|^2 at x_10", "E‖∇R(wₜ*)‖² at x₁₀"),
    ],
)
def test_prose_is_set_as_people_write_it(plain, said):
    assert pretty(plain) == said
