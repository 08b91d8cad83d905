"""A folder from a stranger: nothing in it runs, nothing is fetched, and no verdict in it is believed unseen."""

import base64
import copy
import json
import os
import re
import threading
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from browser import BROWSER, browse, driven
from marks import slow, some
from places import TESTS
from test_document import MOVE, ROW, STEP, places
from test_report_page import Reader, everything

from fedaudit.bounds.catalogue.discovery import statements
from fedaudit.bounds.formulas.statement_text import printed
from fedaudit.cli import main
from fedaudit.figures.pages import row_view
from fedaudit.figures.pages.report import pages
from fedaudit.figures.words import typesetter
from fedaudit.figures.words.mathml import ATTRIBUTES, ELEMENTS, mathml
from fedaudit.figures.words.typesetter import Typesetter
from fedaudit.running.files import write
from fedaudit.running.store import Folder
from fedaudit.verify.certify import standing as recheck
from fedaudit.verify.results.audit_json import parse, read

RUN = "document.title='PWNED',document.documentElement.dataset.pwned=1,new Image().src='HOST/run'"
PAYLOADS = [
    "<script>RUN</script>",
    "</script><script>RUN</script>",
    "</style><script>RUN</script>",
    "</title><script>RUN</script>",
    "--><script>RUN</script>",
    "]]><script>RUN</script>",
    '"><img src=x onerror="RUN">',
    "'><svg onload='RUN'>",
    '" autofocus onfocus="RUN" tabindex="1" x="',
    "' onmouseover='RUN' x='",
    "javascript:RUN",
    '<iframe srcdoc="<script>RUN</script>"></iframe>',
    '<a href="javascript:RUN">x</a>',
    "<meta http-equiv=refresh content='0;url=HOST/meta'>",
    "<link rel=stylesheet href=HOST/css><base href=HOST/>",
    "<img src=HOST/img><object data=HOST/object></object><embed src=HOST/embed>",
    "<style>@import 'HOST/import'; .verdict { display: none }</style>",
    "<form action=HOST/form><button autofocus>x</button></form>",
    "&lt;script&gt;RUN&lt;/script&gt;",
    "{{ 7 * 7 }}{% raw %}{{ cycler.__init__.__globals__ }}",
    r"\text{<script>RUN</script>}",
    r"\text{</math><script>RUN</script>}",
    r"\text{<img src=x onerror=RUN>}",
    r'\text{<img src="x" onerror="RUN"/>}',
    r"\href{javascript:RUN}{x}",
    r"\href{HOST/href}{x}",
    r"\tag{<script>RUN</script>}",
    r"\fbox{<img src=x onerror=RUN>}",
    r"\mbox{<style>@import 'HOST/import'</style>}",
    r"\operatorname{<script>RUN</script>}",
    r'\text{<mi href="javascript:RUN">x</mi>}',
    r'\text{<mi onclick="RUN" style="position:fixed;inset:0;background:red">x</mi>}',
    r'\text{<mi xmlns="http://www.w3.org/1999/xhtml" onclick="RUN">x</mi>}',
    r'\text{<annotation-xml encoding="text/html"><script>RUN</script></annotation-xml>}',
    r"\text{<mglyph><style></math><img src onerror=RUN></style></mglyph>}",
    r'\text{<maction actiontype="statusline#HOST/m" xlink:href="javascript:RUN">x</maction>}',
    r'\text{<!DOCTYPE x [<!ENTITY a "b">]>&a;}',
    r"\text{<![CDATA[<script>RUN</script>]]>}",
    r"\style{background:url(HOST/bg)}{x}",
    r"\class{verdict proved}{proved}",
    r'\color{red" onmouseover="RUN}{x}',
    r"\unicode{x3c}script\unicode{x3e}RUN",
    r"\hspace{99999em}x\raisebox{99em}{y}\rule{99em}{99em}",
    "\\frac{" * 300,
    "$\\frac{$ \u202e \u2028 \ufffe",
]
FIGURE = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="64"
height="40" onload="RUN">
<script>RUN</script><image href="HOST/image" width="9" height="9"/><use xlink:href="HOST/use#x"/>
<style>@import url(HOST/style);</style><foreignObject width="9" height="9"><iframe xmlns="http://www.w3.org/1999/xhtml"
src="HOST/frame"/></foreignObject><a href="javascript:RUN"><text y="20">x</text></a></svg>"""
KEPT = ("verdict", "literal", "figure")  # fields of a closed set, or that must lead to the hostile figure
PAGE = """html head meta title style body a header h1 h2 h3 p ul ol li span b main section form label input select
option fieldset legend output div table thead tbody tr th td figure img figcaption button script code dl dt dd details
summary bdi math nav svg path circle h4 h5 article ins del defs marker rect text tspan"""
TAGS = ELEMENTS.union(re.findall(r"\w+", PAGE))
DRIVE = """
for (const e of document.querySelectorAll("*")) {
  for (const name of ["load", "error", "focus", "mouseover", "click", "toggle", "animationend", "beforeprint"])
    if (name !== "click" || !e.matches("a, summary, input, button")) e.dispatchEvent(new Event(name, {bubbles: true}));
}
for (const e of document.querySelectorAll("a"))
  if (!/^(\\.\\.\\/)?(index|(pages|papers)\\/[^?#]*)\\.html$/.test(e.getAttribute("href"))) e.click();
const all = Array.from(document.querySelectorAll("*"));
const box = (e) => e.getBoundingClientRect();
document.body.dataset.said = JSON.stringify({
  title: document.title, pwned: document.documentElement.dataset.pwned ?? null,
  tags: Array.from(new Set(all.map((e) => e.localName))),
  handlers: all.flatMap((e) => e.getAttributeNames().filter((n) => n.startsWith("on") || n === "style")),
  links: all.flatMap((e) => ["href", "xlink:href", "action"].map((n) => e.getAttribute(n)).filter((v) => v !== null)),
  images: Array.from(document.images).map((i) => i.src.slice(0, 5)), frames: window.frames.length,
  wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
});
"""


@pytest.fixture(scope="module")
def server():
    """An address that notes every request."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.server_port}", asked
    listening.shutdown()
    thread.join()
    listening.server_close()


def armed(text, host):
    return text.replace("RUN", RUN).replace("HOST", host)


def poisoned(value, payload, name=None):
    """A JSON value whose every text is the payload, names too where they are free."""
    if isinstance(value, str):
        return value if name in KEPT else payload
    if isinstance(value, list):
        return [poisoned(v, payload, name) for v in value]
    if isinstance(value, dict):
        free = {payload: payload} if name in ("tightest", "instance", "at") else {}
        return {k: poisoned(v, payload, k) for k, v in value.items()} | free
    return value


def hostile_row(number, payload, verdict):
    row = poisoned(copy.deepcopy(ROW), payload)
    row["id"] = f"{payload[:150].replace('/', '|')}{number}" if payload[:150].isprintable() else f"a/{number}"
    row |= {"verdict": verdict, "certificate": f"certificates/{number}.json", "repaired": row["id"]}
    row["implicit"][0]["certificate"] = row["certificate"]
    row["verify"] |= {"verdict": verdict, "certificate": row["certificate"]}
    row["hunt"]["certificate"] = None
    for way in row["derive"]["ways"]:  # ids are no longer than 200 characters
        way["cites"] = [row["id"]]
    return row


def hostile(folder, host):
    """An audit folder with every payload in every field."""
    (folder / "certificates").mkdir(parents=True)
    (folder / "figures").mkdir()
    (folder / "figures/a.svg").write_text(armed(FIGURE, host))
    rows = []
    for number, raw in enumerate(PAYLOADS):
        payload = armed(raw, host)
        rows.append(hostile_row(number, payload, "refuted" if number % 2 else "proved"))
        shape = {
            "statement": "",
            "claim": {},
            "dropped": [""],
            "instance": {"a": ["b"]},
            "at": {"t": ""},
            "lhs": "",
            "rhs": "",
        }
        certificate = {**poisoned(shape, payload), "statement": rows[-1]["id"], "format": "fedaudit-certificate/1"}
        (folder / f"certificates/{number}.json").write_text(json.dumps(certificate))
    whole = {"version": armed(PAYLOADS[0], host), "seed": 0, "budget": 1.0, "statements": rows}
    (folder / "audit.json").write_text(json.dumps(whole))
    return whole


def opened(path):
    dom, complaints = browse(path)
    said = re.search(r'data-said="([^"]*)"', dom)
    return json.loads(unescape(said[1])) if said else None, complaints


def test_the_payloads_stand_in_every_text_of_a_row():
    row = hostile_row(1, "PAYLOAD", "refuted")
    for path in places(row):
        value = row
        for name in path:
            value = value[name]
        if isinstance(value, str) and not {"certificate", *KEPT} & set(path):
            assert "PAYLOAD" in value, path


EACH = slow("a browser for each page")


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on this machine")
@pytest.mark.parametrize(
    ("believed", "every"),
    [(False, 18), pytest.param(False, 6, marks=EACH), pytest.param(True, 6, marks=EACH)],
    ids=["read", "more-read", "believed"],
)
def test_a_real_browser_runs_nothing_of_a_hostile_folder(tmp_path, server, believed, every):
    host, asked = server
    asked.clear()
    whole = hostile(tmp_path / "audit", host)
    folder = Folder(tmp_path / "audit")
    own = [row["id"] for row in whole["statements"]] if believed else []  # believed: certificates are shown as they are
    for name, text in pages(read(folder.path), folder.path, own):
        Reader(text)
        assert text.count("<script>") == (name == "index.html")
        write(folder.path / name, driven(text, DRIVE))
    leaves = sorted(folder.path.glob("pages/*.html"))
    assert len(leaves) == len(PAYLOADS)
    shown = [leaves[number] for number in range(believed, len(leaves), every)]  # each page starts a browser
    papers = sorted(folder.path.glob("papers/*.html"))
    for path in (folder.path / "index.html", papers[0], *shown):
        said, complaints = opened(path)
        assert complaints == []
        assert asked == []
        assert said["title"] != "PWNED"
        assert said["pwned"] is None
        assert set(said["tags"]) <= TAGS
        assert said["handlers"] == []
        assert all(
            re.fullmatch(r"#\w+|(\.\./)?(index|(pages|papers)/[\w.~%+-]+)\.html", link) for link in said["links"]
        )
        assert said["images"] == (["data:"] if path.parent.name == "pages" else [])
        assert said["frames"] == 0
        assert said["wide"] <= 0


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on this machine")
def test_the_browser_test_would_notice_and_the_policy_stops_what_escaping_would_miss(tmp_path, server):
    host, asked = server
    text = everything(parse({"version": "0", "seed": 0, "budget": 1, "statements": []}), tmp_path)
    raw = armed("<script>RUN</script><img src=x onerror=RUN><svg onload=RUN></svg><img src=HOST/img>", host)
    vulnerable = text.replace("</header>", raw + "</header>")
    path = tmp_path / "index.html"

    path.write_text(driven(vulnerable, DRIVE), encoding="utf-8")
    asked.clear()
    said, complaints = opened(path)
    assert complaints  # the policy says what it stopped
    assert (said["title"], said["pwned"], asked) == ("fedaudit: 0 statements", None, [])

    path.write_text(re.sub("<meta http-equiv[^>]*>", "", driven(vulnerable, DRIVE)), encoding="utf-8")
    asked.clear()
    said, _ = opened(path)
    assert (said["title"], said["pwned"]) == ("PWNED", "1")
    assert {"/run", "/img"} <= set(asked)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_formula_is_listed_mathml_or_escaped_latex(payload):
    shown = mathml(armed(payload, "http://127.0.0.1:1"), "block")
    read = Reader(shown)
    if shown.startswith("<code>"):
        assert [tag for tag, _ in read.tags] == ["code"]
    else:
        assert {tag for tag, _ in read.tags} <= TAGS
        assert not {name for tag, attrs in read.tags if tag != "math" for name in attrs} - set(ATTRIBUTES)


@pytest.mark.parametrize("every", some([6, 1], 2, "every statement; each sixth is fast"))
def test_every_formula_of_the_catalogue_comes_out_as_mathml(every):
    latex = [line for s in statements()[::every] for _, lines in printed(s)["parts"] for line in lines]
    assert len(latex) > 500 / every
    assert [line for line in latex if not mathml(line, "block").startswith("<math ")] == []


def test_what_people_write_in_their_own_formulas_comes_out_as_mathml():
    for latex in (
        r"\begin{cases} a & b \\ c & d \end{cases}",
        r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
        r"\begin{align} a &= b \\ c &= d \end{align}",
        r"x \quad y \, \; \! z \bigl( x \Big| \overline{x} \widehat{x}",
        r"\binom{n}{k} \underbrace{x + y}_{z} \text{ if } a < b",
    ):
        assert mathml(latex).startswith("<math "), latex


def test_a_page_full_of_long_formulas_stops_converting_them(monkeypatch):
    monkeypatch.setattr(typesetter, "FORMULAS", 1000)
    made = Typesetter()
    assert made.math("x" * 20).startswith("<math ")
    assert made.marked("x" * 25, "y") == (f"<code>{'x' * 25}</code>", "<code>y</code>")
    assert made.math("y" * 30) == f"<code>{'y' * 30}</code>"


def test_figures_of_a_page_are_bounded_together(tmp_path, monkeypatch):
    monkeypatch.setattr(row_view, "FIGURES", 150)
    (tmp_path / "a.svg").write_bytes(b"x" * 100)
    rows = [{"id": f"a/{n}", "verdict": "survived", "figure": "a.svg"} for n in range(3)]
    text = everything(parse({"version": "0", "seed": 0, "budget": 1, "statements": rows}), tmp_path)
    assert text.count(base64.b64encode(b"x" * 100).decode()) == 1
    assert text.count("Figure not shown") == 2


@pytest.mark.parametrize("value", [1.7e308, -1.7e308, 5e-324, 0, -0.0, 1e101])
def test_a_number_that_no_axis_holds_is_in_the_table_all_the_same(tmp_path, value):
    rows = [{"id": f"a/{n}", "verdict": "survived", "tightness": x} for n, x in enumerate((value, 0.5, -value))]
    text = everything(parse({"version": "0", "seed": 0, "budget": 1, "statements": rows}), tmp_path)
    assert f'data-value="{float(value)}"' in text


# What a verdict from a file is worth


@pytest.fixture(scope="module")
def refutation():
    """A refuted statement of the catalogue, with its certificate."""
    statement = next(s for s in statements() if s.id == "benmansour/eq13")
    golden = TESTS / "certificates" / "run" / "benmansour-eq13.json"
    return statement, json.loads(golden.read_text())


def folder_of(tmp_path, about, certificate, **fields):
    """An audit folder of one row that is said to be refuted."""
    folder = Folder.open(tmp_path / "audit")
    row = {"id": about.id, "verdict": "refuted", "evidence": "exact", "statement": printed(about)} | fields
    if certificate is not None:
        (folder.path / "certificates").mkdir()
        text = certificate if isinstance(certificate, str) else json.dumps(certificate)
        (folder.path / "certificates/a.json").write_text(text)
        row |= {"certificate": "certificates/a.json"}
    folder.finish({"version": "0.1.0", "seed": 0, "budget": 1.0, "statements": [row]})
    return folder


def reported(folder):
    assert main(["report", "--out", str(folder.path)]) == 0
    written = [folder.path / "index.html", *sorted(folder.path.glob("pages/*.html"))]
    return re.sub(r"\s+", " ", unescape("".join(path.read_text() for path in written)))


def test_a_refutation_whose_certificate_replays_says_so(tmp_path, refutation):
    text = reported(folder_of(tmp_path, *refutation))
    assert "Read from audit.json: 1 refutation replayed and accepted." in text
    assert '<span class="verdict refuted">refuted</span> <span class="mark">(replayed)</span>' in text
    assert "Counterexample, in exact numbers" in text
    assert 'class="verdict unverified"' not in text


FORGED = {
    "no-certificate": (lambda c: None, "the file names no certificate"),
    "another-claim": (lambda c: c | {"claim": c["claim"] | {"let": []}}, "another claim than benmansour/eq13 makes"),
    "another-statement": (lambda c: c | {"statement": "benmansour/eq14"}, "about another statement"),
    "another-instance": (lambda c: c | {"instance": {}}, "Unverified: its certificate"),
    "another-side": (lambda c: c | {"lhs": "123456"}, "its certificate is rejected"),
    "dropped": (lambda c: c | {"dropped": ["nonnegative_weights"]}, "its certificate drops nonnegative_weights"),
    "empty": (lambda c: "", "its certificate is none"),
    "truncated": (lambda c: json.dumps(c)[:-20], "its certificate is none"),
    "a-list": (lambda c: [c], "about another statement"),
    "twice": (lambda c: '{"statement": 1, "statement": 2}', "its certificate is none"),
    "large": (lambda c: " " * 1_000_001, "more than 1,000,000 bytes"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_refutation_that_does_not_replay_is_unverified_and_says_why(tmp_path, refutation, name):
    statement, certificate = refutation
    forge, why = FORGED[name]
    text = reported(folder_of(tmp_path, statement, forge(certificate)))
    assert "0 refutations replayed and accepted, 1 not verified" in text
    assert why in text
    assert 'class="verdict unverified"' in text
    assert 'class="verdict refuted' not in text
    assert "that the exact kernel accepts" not in text
    assert "Counterexample, in exact numbers" not in text


@pytest.mark.parametrize(
    "name", ["../a.json", "/etc/hostname", "certificates/link.json", "certificates/fifo", "certificates"]
)
def test_a_certificate_outside_the_folder_or_no_file_at_all_is_unverified(tmp_path, refutation, name):
    statement, certificate = refutation
    folder = folder_of(tmp_path, statement, certificate)
    os.mkfifo(folder.path / "certificates/fifo")
    (tmp_path / "a.json").write_text(json.dumps(certificate))
    (folder.path / "certificates/link.json").symlink_to(tmp_path / "a.json")
    whole = json.loads((folder.path / "audit.json").read_text())
    whole["statements"][0]["certificate"] = name
    folder.finish(whole)
    assert "0 refutations replayed and accepted, 1 not verified" in reported(folder)


@pytest.mark.parametrize("verdict", ["survived", "undecided", "reproduced", "reproduced-if", "not-reproduced"])
def test_other_verdicts_are_what_the_file_says(tmp_path, refutation, verdict):
    text = reported(folder_of(tmp_path, *refutation, verdict=verdict))
    assert f'<span class="verdict {verdict} filed">{verdict}</span> <span class="mark">(not rechecked)</span>' in text
    assert "As the file says; this verdict was not checked again." in text
    assert "Counterexample, in exact numbers" not in text


def test_a_claim_of_no_catalogue_is_replayed_and_not_compared(tmp_path, refutation):
    statement, certificate = refutation
    mine = certificate | {"statement": "mine/eq13", "claim": certificate["claim"] | {"id": "mine/eq13"}}
    text = reported(folder_of(tmp_path, statement, mine, id="mine/eq13"))
    assert "(replayed, claim not compared)" in text
    assert "the claim was not compared with any catalogue" in text
    assert "1 refutation replayed and accepted (1 of claims that no catalogue holds)" in text
    wrong = reported(folder_of(tmp_path / "b", statement, mine | {"lhs": "9"}, id="mine/eq13"))
    assert "0 refutations replayed and accepted, 1 not verified" in wrong


def test_the_text_of_a_statement_is_the_catalogues(tmp_path, refutation):
    statement, certificate = refutation
    other = printed(statement) | {"title": "Fermat's last theorem"}
    text = reported(folder_of(tmp_path, statement, certificate, statement=other))
    assert "Fermat" not in text
    assert statement.title in text
    assert "The file prints another text of this statement; the catalogue's is shown." in text


def test_verdicts_of_moves_literal_readings_and_counterexamples_are_replayed_too(tmp_path, refutation):
    statement, certificate = refutation
    name = statement.implicit[0].name
    refuted = MOVE | {"verdict": "refuted", "tightest": None}
    held, bare = "certificates/a.json", None
    for file, example, marks in ((held, certificate, "(replayed)"), (bare, certificate | {"lhs": "9"}, "unverified")):
        fields = {
            "verify": refuted | {"certificate": file},
            "hunt": MOVE | {"verdict": "undecided", "counterexample": example},
            "implicit": [{"name": name, "literal": "breaks", "certificate": file}],
        }
        text = reported(folder_of(tmp_path / marks, statement, certificate, **fields))
        section = text.split("</html>")[1].split("<main>")[1]
        if file:
            assert section.count("(replayed)") == 4
            assert "1 of 1 broken literal readings replayed and accepted" in text
            assert "unverified" not in section
        else:
            assert (
                '<b class="unverified">unverified</b> (the file says that it breaks; the file names no certificate)'
                in text
            )
            assert '<td>unverified <span class="mark">(the file names no certificate)</span></td>' in text
            assert "its certificate is rejected" in text
            assert "(unverified)</td>" in text  # in the column `breaks without`
            assert "0 of 1 broken literal readings replayed and accepted" in text


def test_replays_end_when_their_time_is_spent(tmp_path, refutation, monkeypatch):
    monkeypatch.setattr(recheck, "SECONDS", -1.0)
    text = reported(folder_of(tmp_path, *refutation))
    assert "not replayed: the time for replays is spent" in text


def test_rows_that_were_just_computed_are_their_own(tmp_path, refutation):
    folder = folder_of(tmp_path, *refutation)
    text = everything(read(folder.path), folder.path, [refutation[0].id])
    assert 'class="banner' not in text
    assert 'class="mark"' not in text
    assert '<span class="verdict refuted">refuted</span>' in text


def test_steps_of_a_derivation_are_text(tmp_path):
    row = {
        "id": "a/b",
        "verdict": "survived",
        "derive": {"status": "<b>", "steps": [STEP | {"latex": "", "claim": "<i>"}]},
    }
    text = everything(parse({"version": "0", "seed": 0, "budget": 1, "statements": [row]}), tmp_path)
    assert "&lt;b&gt;" in text
    assert "<code>&lt;i&gt;</code>" in text
