"""index.html: everything an audit found, in one file, for people with and without scripts, eyes and colours."""

import base64
import json
import re
import shutil
import subprocess
from html import unescape
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from fedaudit.bounds.catalogue import statements
from fedaudit.bounds.show import printed
from fedaudit.figures.formulas import mathml
from fedaudit.figures.report import digest, page, short
from fedaudit.report import write_report
from fedaudit.store import Folder
from fedaudit.verify.document import parse
from fedaudit.verify.names import slug

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
VERDICTS = ("survived", "proved", "undecided")
CERTIFICATE = {
    "format": "fedaudit-certificate/1",
    "statement": "buttaci/lem4.2",
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
VOID = {"meta", "link", "img", "input", "br", "hr"}


def row_of(number, statement):
    refuted = statement.id == CERTIFICATE["statement"]
    tried = {"verdict": "survived", "evidence": "exact", "instances": 12345, "tightness": 0.5, "seconds": 1.5}
    return {
        "id": statement.id,
        "verdict": "refuted" if refuted else VERDICTS[number % 3],
        "evidence": "exact",
        "tightness": None if number == 3 else (number * 37 % 11) / 11,
        "certificate": CERTIFICATE if refuted else None,
        "lint": {"findings": [{"rule": "dimension", "message": "<script>alert(1)</script> & F"}] if refuted else []},
        "derive": {"status": "follows", "factor": 1.0, "steps": [STEP, {**STEP, "because": [STEP["claim"]]}]},
        "verify": {**tried, "tightest": {"C": 2, "p": ["1/2", "1/2"]}},
        "hunt": tried,
        "implicit": [{"name": a.name, "literal": "breaks", "certificate": CERTIFICATE} for a in statement.implicit],
        "repaired": None,
        "statement": printed(statement),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = Folder.open(tmp_path_factory.mktemp("audit"))
    picture = '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="40"><text y="20">figure</text></svg>'
    rows = [made.keep("key", row_of(n, s), picture if n == 0 else None) for n, s in enumerate(statements(["buttaci"]))]
    write_report(made, {"version": "0.1.0", "seed": 3, "budget": 120.0, "statements": rows})
    return made


@pytest.fixture(scope="module")
def text(folder):
    return (folder.path / "index.html").read_text(encoding="utf-8")


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


def test_the_page_is_well_formed_and_every_link_lands(text):
    read = Reader(text)
    assert len(read.ids) == len(set(read.ids))
    targets = [a["href"] for a in read.all("a")]
    assert targets
    assert all(t.startswith("#") and unquote(t[1:]) in read.ids for t in targets)


def test_every_statement_has_its_section_with_what_was_printed(text):
    for s in statements(["buttaci"]):
        section = unescape(text.split(f'id="s-{slug(s.id)}"')[1].split("</section>")[0])
        assert s.title in section
        assert section.count("<math ") >= len(s.relations) + len(s.when)
        assert all(line.split(",")[0] in section for line in s.reading)


def test_nothing_is_fetched_from_anywhere(text):
    read = Reader(text)
    assert "default-src 'none'" in unescape(text)
    assert "unsafe" not in unescape(text).split("Content-Security-Policy")[1].split(">")[0]
    assert not [attrs for _, attrs in read.tags if "style" in attrs]  # the policy would drop it
    assert not read.all("link")
    assert all("src" not in attrs for attrs in read.all("script"))
    assert all(attrs["src"].startswith("data:") for attrs in read.all("img"))
    addresses = set(re.findall(r"https?://[^\"'\s<)]+", text))
    assert addresses <= {"http://www.w3.org/1998/Math/MathML"}


def test_pictures_have_texts_and_headings_have_order(text):
    read = Reader(text)
    assert all(attrs.get("alt") for attrs in read.all("img"))
    assert read.all("html") == [{"lang": "en"}]
    assert read.headings[0] == 1
    assert read.headings.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in zip(read.headings, read.headings[1:], strict=False))


def test_findings_are_text_and_never_markup(text):
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; F" in text


def test_a_counterexample_is_shown_by_its_numbers(text):
    section = text.split('id="s-buttaci-lem4.2"')[1].split("</section>")[0]
    for said in (
        "355/113",
        "9/10",
        "22/7",
        "t = 4",
        "nonnegative_weights",
        "<b>breaks</b>",
        "certificates/buttaci-lem4.2.json",
    ):
        assert said in section


def test_derivation_steps_say_how_they_were_decided(text):
    assert "gamma(t) &lt;= 1/(2*L)" in text
    assert "proved by z3; because choose; printed [(B.3)]" in text
    assert "proved by z3; because step 1; printed [(B.3)]" in text


def test_the_figure_is_inside_the_page(text):
    pictures = [base64.b64decode(a["src"].partition(",")[2]).decode() for a in Reader(text).all("img")]
    assert any(">figure<" in picture for picture in pictures)


def document_of(*rows):
    return parse({"version": "0", "seed": 0, "budget": 1, "statements": list(rows)})


@pytest.mark.parametrize("name", ["../secret.svg", "/etc/hostname", "figures/../../secret.svg", "figures/link.svg"])
def test_files_outside_the_folder_are_never_read(tmp_path, name):
    (tmp_path / "secret.svg").write_text("secret")
    root = tmp_path / "audit"
    (root / "figures").mkdir(parents=True)
    (root / "figures/link.svg").symlink_to(tmp_path / "secret.svg")
    made = page(document_of({"id": "a/b", "verdict": "survived", "figure": name}), root)
    assert base64.b64encode(b"secret").decode() not in made
    assert made.count("<img") == 1  # the overview only
    assert "Figure not shown: outside the folder." in made


def test_a_bare_row_is_enough(tmp_path):
    made = page(document_of({"id": "a/b", "verdict": "survived"}), tmp_path)
    Reader(made)
    assert "a/b" in made
    Reader(page(document_of(), tmp_path))


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


def browse(path, *options):
    """The page after its scripts ran, and what the browser complained about."""
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", *options]
    command += ["--virtual-time-budget=5000", "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


DRIVE = """
const said = {}, table = document.getElementById("table");
const seen = () => Array.from(table.tBodies[0].rows).filter((r) => !r.hidden);
const column = (n) => seen().map((r) => r.cells[n].textContent.trim());
said.start = column(0);
const button = table.tHead.rows[0].cells[4].querySelector("button");
button.click(); said.up = column(4); said.sort = table.tHead.rows[0].cells[4].getAttribute("aria-sort");
button.click(); said.down = column(4);
const find = document.getElementById("find"), event = () => new Event("input", {bubbles: true});
find.value = "lemb two"; find.dispatchEvent(event()); said.none = column(0).length;
find.value = "LEMB"; find.dispatchEvent(event()); said.some = column(0);
find.value = "";
for (const box of document.querySelectorAll("input[name=verdict]")) box.checked = box.value === "refuted";
find.dispatchEvent(event()); said.refuted = column(2); said.shown = document.getElementById("shown").textContent;
said.math = document.querySelector("math mfrac").getBoundingClientRect().height;
said.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
said.images = Array.from(document.images).every((i) => i.complete && i.naturalWidth > 0);
document.body.dataset.said = JSON.stringify(said);
"""


def driven(text, script):
    """The page with one more script, which its policy has to name."""
    allowed = text.replace("script-src ", f"script-src {digest(script)} ", 1)
    return allowed.replace("</body>", f"<script>{script}</script></body>")


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on this machine")
@pytest.mark.parametrize("size", ["1200,900", "420,900"])
def test_a_real_browser_sorts_and_filters(folder, text, tmp_path, size):
    path = tmp_path / "index.html"
    path.write_text(driven(text, DRIVE), encoding="utf-8")
    dom, complaints = browse(path, f"--window-size={size}")
    assert complaints == []
    said = json.loads(re.search(r'data-said="([^"]*)"', dom)[1].replace("&quot;", '"'))
    ids = [s.id for s in statements(["buttaci"])]
    numbers = sorted(float(x) for x in said["up"] if x)
    assert said["start"] == ids
    assert said["up"] == [*(f"{x:.4g}" for x in numbers), ""]
    assert said["down"] == [*(f"{x:.4g}" for x in reversed(numbers)), ""]
    assert said["sort"] == "ascending"
    assert said["none"] == 0
    assert set(said["some"]) == {i for i in ids if "/lemB" in i}
    assert said["refuted"] == ["refuted"]
    assert said["shown"] == f"1 of {len(ids)} shown"
    assert said["math"] > 15  # a fraction is set as one
    assert said["wide"] <= 0  # no sideways scrolling of the page
    assert said["images"]
