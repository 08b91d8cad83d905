"""The page of a paper: findings in words that say what the kernel reads, the proof map, the change of a repair."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from html import unescape
from itertools import pairwise, product
from types import SimpleNamespace
from urllib.parse import unquote

import pytest
from browser import BROWSER, SCREENS, browse, driven
from faked import typed
from places import TESTS
from test_report_page import HEADER, Reader

from fedaudit.bounds.catalogue.discovery import statement, statements
from fedaudit.bounds.formulas.statement_text import letters, printed
from fedaudit.commands.report import Pages
from fedaudit.figures.kinds.proof_map import proof_map
from fedaudit.figures.pages.paper_cards import cards
from fedaudit.figures.pages.report import file_of, file_of_paper, pages
from fedaudit.figures.pages.row_view import change_needed
from fedaudit.figures.words.changes import changes
from fedaudit.figures.words.claim_terms import term_latex
from fedaudit.figures.words.findings import Teller, repair
from fedaudit.figures.words.instances import told
from fedaudit.figures.words.letters import Inline, Letters, apart, number, polynomial
from fedaudit.figures.words.losses import inside, loss
from fedaudit.figures.words.mathml import marked
from fedaudit.figures.words.typesetter import Typesetter
from fedaudit.running.store import Folder
from fedaudit.verify.certify.side_terms import sides
from fedaudit.verify.kernel.core.rational import Node
from fedaudit.verify.kernel.core.run import read_loss
from fedaudit.verify.results.audit_json import parse, parse_printed

CERTIFICATES = sorted(TESTS.glob("certificates/**/*.json"))
HELD = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in CERTIFICATES}
KNOWN = {s.id for s in statements()}
CLIENTS = [
    (name, n)
    for name, held in HELD.items()
    for n, client in enumerate(held["instance"].get("clients", ()))
    if client not in held["instance"]["clients"][:n]
]


def plain(said):
    """A sentence as text, formulas as LaTeX."""
    return "".join(piece.latex if isinstance(piece, Inline) else piece for piece in said)


# Words


def letters_of(held):
    return Letters(letters(statement(held["statement"])) if held["statement"] in KNOWN else {})


@pytest.mark.parametrize("name", HELD)
def test_every_counterexample_is_told_with_both_its_sides(name):
    held = HELD[name]
    story = Teller().story(held, letters_of(held))
    assert story is not None
    said = "; ".join(map(plain, story.problem))
    assert said
    assert "{'" not in said
    if "paths" not in held["instance"]:
        left, right = apart(held["lhs"], held["rhs"])
        assert left != right
        assert left in plain(story.outcome)
        assert right in plain(story.outcome)
        for value in held["instance"].get("constants", {}).values():
            assert number(str(value)) in said


def test_the_example_of_the_issue_is_told_as_people_would():
    story = Teller().story(HELD["zhang-eqA.33"], letters_of(HELD["zhang-eqA.33"]))
    said = ", ".join(map(plain, story.problem))
    assert said.startswith(
        r"15 clients with f_{i}(x) = \frac{1}{2} x^2, g(x) = 0, start x = 0, noise \pm 1, independent"
    )
    for part in (r"\tau = 1", "b = 1", r"\tilde\eta = 1/10", r"\eta_g = 3/2"):
        assert part in said
    assert plain(story.outcome) == "at r = 1 the left side is 1129/27000, more than the right side, 1/25"
    left, right = (line.latex for line in story.sums)
    assert left.endswith(" = 28/675 + 1/3000 = 1129/27000")
    assert right.endswith(" = 0 + 0 + 1/25 + 0 + 0 = 1/25")


def value(latex, w):
    """A formula of one variable, read by Python: an independent reader of what the page says."""
    text = latex.replace("^2", "**two").replace("^3", "**three").replace(r"\left", "").replace(r"\right", "")
    text = re.sub(r"\d+", r"F(\g<0>)", text).replace(r"\mathrm{clip}", "clip")
    text = re.sub(r"\\frac\{(F\(\d+\))\}\{(F\(\d+\))\}", r"(\1/\2)", text)
    text = re.sub(r"\(([^()]*(?:\((?:[^()]|\([^()]*\))*\)[^()]*)*)\)_\+", r"plus(\1)", text)
    text = re.sub(r"\) (?=[(wpc])", r")*", text)
    names = {"F": Fraction, "w": w, "two": 2, "three": 3, "plus": lambda x: max(x, 0)}
    names["clip"] = lambda x, low, high: max(low, min(high, x))
    return eval(text, {"__builtins__": {}}, names)


def kernel_loss(name, n):
    instance = HELD[name]["instance"]
    client = instance["clients"][n]
    read = read_loss(Node(client, "client"), instance["d"])
    return client, instance, read


@pytest.mark.parametrize(("name", "n"), CLIENTS)
def test_the_loss_in_words_is_the_one_that_the_kernel_reads(name, n):
    client, instance, read = kernel_loss(name, n)
    if instance["d"] > 1:
        assert "w_{1}" in loss(client, instance["d"]).latex
        return
    said = loss(client, 1)
    if len(said.latex) > 400 or "cdot" in said.latex:
        return
    for w in (Fraction(-7, 3), Fraction(0), Fraction(1, 2), Fraction(5, 4), Fraction(9)):
        point = (Node(str(w), "w").rational(),)
        kernel = read.gradient(point)[0] if said.mark else read.value(point)
        assert Fraction(str(kernel)) == value(said.latex, w)


@pytest.mark.parametrize("name", [name for name, held in HELD.items() if "box" in held["instance"]])
def test_the_polynomial_inside_the_box_is_the_loss_there(name):
    instance = HELD[name]["instance"]
    low, high = (Fraction(instance["box"][end][0]) for end in ("low", "high"))
    for n in range(len(instance["clients"])):
        client, _, read = kernel_loss(name, n)
        said = inside(client, low, high, "w")
        assert said is not None
        at = [low + (high - low) * k / 4 for k in range(5)]
        values = [Fraction(str(read.value((Node(str(w), "w").rational(),)))) for w in at]
        steps = [y - x for x, y in pairwise(values)]
        assert steps == [value(said, y) - value(said, x) for x, y in pairwise(at)]


@pytest.mark.parametrize(
    "name", [n for n, held in HELD.items() if "paths" not in held["instance"] and "large" not in n]
)
def test_the_terms_of_a_side_add_up_to_it(name):
    held = HELD[name]
    found = sides(held)
    assert found is not None
    for terms, side in ((found.left, held["lhs"]), (found.right, held["rhs"])):
        values = [part.value for part in terms]
        if not any("+/-" in x for x in (*values, side)):
            assert sum(map(Fraction, values)) == Fraction(side)


def test_what_no_words_fit_has_no_story():
    assert Teller().story({"claim": {}, "instance": {}, "at": {}}, Letters()) is None
    assert Teller().story(None, Letters()) is None


def test_an_unknown_field_of_an_instance_is_said_by_its_name():
    held = {"claim": {"setting": "other"}, "instance": {"strange": [["1", "2"]], "M": 3, "constants": {"L": "1/2"}}}
    assert [plain(clause) for clause in told(held, Letters())] == ["L = 1/2", "strange [[1, 2]]", "M = 3"]


@pytest.mark.parametrize(
    ("tree", "latex"),
    [
        (["+", "1", "t"], "t + 1"),
        (["+", "-1", "C"], "C - 1"),
        (["+", "1", ["*", "-1", "beta", "mu"]], r"1 - \beta \mu"),
        (["*", "2", ["^", "L", "-1"], ["+", "a", "b"]], r"\frac{2 \left(a + b\right)}{L}"),
        (["*", "3/8", "L"], r"\frac{3 L}{8}"),
        (["^", ["+", "a", "b"], "1/2"], r"\sqrt{a + b}"),
        (["^", "L", "-2"], r"\frac{1}{L^{2}}"),
        (["sum", "i", "1", "C", ["at", "p", "i"]], r"\sum_{i=1}^{C} p(i)"),
        (["*", "2", ["at", "gap", "t"]], r"2 \left(f(w_t) - f^*\right)"),
    ],
)
def test_trees_are_written_as_people_write_them(tree, latex):
    assert term_latex(tree, Letters({"gap": "f(w_{0}) - f^*"})) == latex


def test_a_template_is_never_a_format_string():
    bad = Letters({"x": "{0:>99999999}{0.__class__}{{{0}}}"})
    assert bad.quantity("x", ["t"]) == "{0:>99999999}{0.__class__}{t}"


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        ("1/3", "1/4", ("1/3", "1/4")),
        ("0.5000012 +/- 1e-9", "0.5000011 +/- 1e-9", (r"\approx 0.5000012", r"\approx 0.5000011")),
        ("1" * 30, "2", (r"\approx 1.111 \cdot 10^{29}", "2")),
    ],
)
def test_two_sides_are_told_apart(left, right, said):
    assert apart(left, right) == said


def test_polynomials_have_signs_and_no_ones():
    assert polynomial([(Fraction(1), "w^2"), (Fraction(-1), "w"), (Fraction(0), "x"), (Fraction(-1, 2), "")]) == (
        r"w^2 - w - \frac{1}{2}"
    )
    assert polynomial([]) == "0"


# The change of a repair


def test_only_what_differs_is_marked():
    old, new = marked(r"\eta_g^2 \geq \frac{n}{8}", r"\eta_g^2 \geq n")
    assert re.findall(r'class="changed"[^>]*>', old)
    assert old.count("changed") == 1
    assert '<mfrac class="changed">' in old
    assert '<mi class="changed">n</mi>' in new
    assert "changed" not in marked("x + y", "x + y")[0]
    one, other = marked(r"\frac{a + b}{c}", r"\frac{a + d}{c}")
    assert re.findall(r"changed\">(\w)<", one) == ["b"]
    assert re.findall(r"changed\">(\w)<", other) == ["d"]


def test_a_repair_shows_the_assumptions_that_it_adds():
    pair = [
        parse_printed(printed(statement(name)))
        for name in ("buttaci/appA-combination", "buttaci/appA-combination~repaired")
    ]
    made = {part.name: part for part in changes(*pair, Typesetter())}
    assert made["let"].old == ()
    assert [str(line) for line in made["let"].new] == ["<ins>λᵢ ≥ 0</ins>"]
    assert not made["then"].differs
    other = changes(pair[0], replace(pair[1], kind="order"), Typesetter())
    assert all("changed" not in line for part in other for line in (*part.old, *part.new))


# The proof map


def test_what_cites_stands_to_the_right_and_nothing_overlaps():
    names = [f"p/{n}" for n in range(12)]
    cites = {f"p/{n}": [f"p/{m}" for m in range(n) if (n * 7 + m) % 3 == 0] for n in range(12)}
    made = proof_map(names, cites, ["p/0"])
    at = {place.id: place for place in made.places}
    for edge in made.edges:
        assert at[edge.cited].x + at[edge.cited].width < at[edge.citing].x
        assert edge.fallen == (edge.cited == "p/0")
        assert edge.path.startswith(f"M{at[edge.cited].x + at[edge.cited].width:g} {at[edge.cited].y:g}")
    for one, other in product(made.places, repeat=2):
        if one.id != other.id and one.x == other.x:
            assert abs(one.y - other.y) >= 26
    assert all(0 < p.y < made.height and p.x + p.width < made.width for p in made.places)
    assert {*at, *made.alone} == set(names)


def test_circles_loops_and_strangers_do_no_harm():
    made = proof_map(["a", "b", "c"], {"a": ["b", "a"], "b": ["a"], "c": ["elsewhere"]}, [])
    assert {place.id for place in made.places} <= {"a", "b"}
    assert "c" in made.alone
    names = [f"n{k}" for k in range(300)]
    assert proof_map(names, {name: names[:n] for n, name in enumerate(names)}, []).places == ()  # too many to read


def test_parts_that_nothing_joins_stand_below_each_other():
    made = proof_map(list("abcd"), {"b": ["a"], "d": ["c"]}, [])
    heights = {place.id: place.y for place in made.places}
    assert heights["a"] == heights["b"] != heights["c"] == heights["d"]


# Pages


FOUND = {"zhang/eqA.33": ("hypothesis", "zhang/eqA.33~repaired"), "zhang/eqA.38": ("", None)}
STEP = {"claim": "a(t) <= b_1", "latex": r"a_{t} \leq b_1", "where": "(A.9)", "status": "false"}
GAPS = {
    "zhang/thm3.5": {"gaps": [{"text": "step (A.9): false, ...", "step": 0, "detail": "fails at b_1 = 2"}]},
    "zhang/eqA.25": {"ways": [{"cites": ["zhang/lemA.1"], "status": "follows", "evidence": "proof"}]},
}


def row_of(one):
    refuted = one.id in FOUND
    cites = [name for d in one.follows_from[:1] for name in d.cites]
    repair, repaired = FOUND.get(one.id, ("", None))
    row = {
        "id": one.id,
        "verdict": "refuted" if refuted else "survived",
        "evidence": "exact",
        "tightness": 0.5,
        "certificate": HELD[one.id.replace("/", "-")] if refuted else None,
        "derive": {
            "status": "follows",
            "cites": cites,
            "findings": [],
            **GAPS.get(one.id, {}),
            "steps": [STEP],
        },
        "implicit": [{"name": a.name, "literal": "breaks"} for a in one.implicit],
        "repair": repair,
        "repaired": repaired,
        "statement": printed(one),
        "verify": {"verdict": "survived", "instances": 1200},
    }
    return typed(row)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = Folder.open(tmp_path_factory.mktemp("audit"))
    rows = [made.keep("key", row_of(one), None) for one in statements(["zhang"])]
    site = Pages(made, HEADER, [row.id for row in rows])
    site.finish(rows)
    return made


@pytest.fixture(scope="module")
def page(folder):
    return (folder.path / file_of_paper("zhang")).read_text(encoding="utf-8")


def test_a_paper_page_says_what_fell_what_it_needs_and_which_proofs_have_gaps(page):
    text = unescape(re.sub(r"<[^>]+>", "", page))
    assert "A hypothesis has to change" in text
    assert text.index("A hypothesis has to change") < text.index("No repair is known")
    assert "fedaudit certify certificates/zhang-eqA.33.json" in text
    assert "as repaired, it is not broken by 1,200 instances (tightness 0.5)." in text
    assert "its proof uses zhang/eqA.33, which is refuted" in text
    gaps = page.partition('id="gaps"')[2].partition("</section>")[0]
    assert re.search(r"the step \(A.9\), <math .*</math>, fails at b₁ = 2", gaps)
    assert re.findall(r'class="gap"><p><a [^>]*>([^<]*)<', gaps) == ["zhang/eqA.32", "zhang/thm3.5", "zhang/thm3.6"]
    assert "without it these break: " in text
    read = Reader(page)
    assert len(read.ids) == len(set(read.ids))
    assert all(later - earlier <= 1 for earlier, later in pairwise(read.headings))


def test_the_map_leads_to_every_statement_and_marks_what_rests_on_the_fallen(folder, page):
    nodes = re.findall(r'<a href="([^"]+)" class="node (\w+)" aria-label="([^"]+)"', page)
    assert len(nodes) > 10
    for target, verdict, label in nodes:
        assert (folder.path / "papers" / unquote(target)).resolve().is_file()
        assert f": {verdict}." in label
    fallen = re.findall(r'class="edge fallen".*?<title>([^<]*)</title>', page)
    assert sorted(fallen) == [
        "zhang/eqA.32 cites zhang/eqA.33, which is refuted",
        "zhang/thm3.5 cites zhang/eqA.33, which is refuted",
        "zhang/thm3.6 cites zhang/eqA.38, which is refuted",
    ]


def test_every_link_of_a_paper_page_lands(folder, page):
    for target in (attrs["href"] for attrs in Reader(page).all("a")):
        path, _, part = unquote(target).partition("#")
        assert not path or (folder.path / "papers" / path).resolve().is_file()
        assert path or f'id="{part}"' in page


def test_a_paper_page_is_written_again_only_if_something_changed(folder):
    path = folder.path / file_of_paper("zhang")
    before = path.stat().st_mtime_ns
    rows = [folder.keep("key", row_of(one), None) for one in statements(["zhang"])]
    Pages(folder, HEADER, [row.id for row in rows]).finish(rows)
    assert path.stat().st_mtime_ns == before


def test_a_file_of_ones_own_has_its_paper_page_too(tmp_path):
    rows = [
        {"id": "mine/lem1", "verdict": "proved"},
        {"id": "mine/thm1", "verdict": "survived", "derive": {"status": "follows", "cites": ["mine/lem1"]}},
        {"id": "mine/thm2", "verdict": "undecided", "reason": "nobody knows"},
    ]
    document = parse({"version": "0", "seed": 0, "budget": 1, "statements": rows})
    made = dict(pages(document, tmp_path, [row["id"] for row in rows]))
    text = made[file_of_paper("mine")]
    Reader(text)
    assert "mine: what stands and what fell" in unescape(text)
    assert "nobody knows" in text
    assert text.count('class="node ') == 2
    assert file_of_paper("mine") in made["index.html"]
    assert file_of("mine/lem1") in text


LOOK = """
const shown = (q) => Array.from(document.querySelectorAll(q)).filter((e) => e.checkVisibility());
const boxes = (q) => shown(q).map((m) => m.getBoundingClientRect());
for (const d of document.querySelectorAll("details")) d.open = true;
const nodes = Array.from(document.querySelectorAll(".map a.node"));
nodes[0].focus();
document.body.dataset.said = JSON.stringify({
  math: boxes("math").map((b) => Math.min(b.height, b.width)), nodes: boxes(".map a.node rect").map((b) => b.width),
  focused: document.activeElement === nodes[0], wide: document.documentElement.scrollWidth
    - document.documentElement.clientWidth,
  named: nodes.every((n) => n.getAttribute("aria-label") && n.querySelector("title")),
});
"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on this machine")
@pytest.mark.parametrize("size", SCREENS)
def test_a_real_browser_shows_the_map_and_all_formulas_of_a_paper(page, tmp_path, size):
    path = tmp_path / "paper.html"
    path.write_text(driven(page, LOOK), encoding="utf-8")
    dom, complaints = browse(path, f"--window-size={size}")
    assert complaints == []
    said = json.loads(re.search(r'data-said="([^"]*)"', dom)[1].replace("&quot;", '"'))
    assert len(said["math"]) > 20
    assert min(said["math"]) > 0
    assert min(said["nodes"]) > 30
    assert said["focused"]
    assert said["named"]
    assert said["wide"] <= 0


FILTER = """
const repair = document.getElementById("repair"), table = document.getElementById("table");
const seen = () => Array.from(table.tBodies[0].rows).filter((r) => !r.hidden).map((r) => r.cells[0].textContent.trim());
const said = {all: seen().length};
repair.value = "hypothesis"; repair.dispatchEvent(new Event("input", {bubbles: true})); said.hypothesis = seen();
repair.value = "none known"; repair.dispatchEvent(new Event("input", {bubbles: true})); said.none = seen();
said.names = Array.from(document.querySelectorAll(".papers a")).map((a) => a.getAttribute("href"));
document.querySelector("button[type=reset]").click();
setTimeout(() => { said.again = seen().length; document.body.dataset.said = JSON.stringify(said); }, 50);
"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on this machine")
def test_a_real_browser_filters_by_what_the_repair_changes(folder, tmp_path):
    path = tmp_path / "index.html"
    path.write_text(driven((folder.path / "index.html").read_text(encoding="utf-8"), FILTER), encoding="utf-8")
    dom, complaints = browse(path)
    assert complaints == []
    said = json.loads(re.search(r'data-said="([^"]*)"', dom)[1].replace("&quot;", '"'))
    assert said["hypothesis"] == ["zhang/eqA.33"]
    assert said["none"] == ["zhang/eqA.38"]
    assert said["names"] == [file_of_paper("zhang")]
    assert said["all"] == said["again"] == len(statements(["zhang"]))


def test_terms_that_nearly_cancel_show_as_many_digits_as_their_sum() -> None:
    from fedaudit.figures.words.letters import number

    long = "36364312345678901234567/1000000000000000000"
    assert number(long) == r"\approx 36360"
    assert number(long, "-294.6 +/- 1e-9") == r"\approx 36364.3"
    assert number("1/3", "-294.6") == "1/3"


@pytest.mark.parametrize(
    ("oracle", "says"),
    [
        ({"step": [["0"]], "shift": [[["0"]]]}, "returns the point that it starts from"),
        ({"step": [["0"]], "shift": [[["2/3"]]]}, "returns the point that it starts from, moved by 2/3"),
        ({"step": [["1"]], "shift": [[["0"]]]}, "is exact"),
        ({"step": [["1/2"]], "shift": [[["0"]]]}, "goes the share 1/2 of the way to the exact answer"),
    ],
)
def test_what_the_local_solver_does_is_said_as_it_is(oracle, says):
    from fedaudit.figures.words import instances

    assert instances._oracle(oracle) == f"the local solver {says}"


def test_weights_that_a_method_puts_on_the_largest_are_said() -> None:
    from fedaudit.figures.words.instances import told
    from fedaudit.figures.words.letters import Letters

    rule = ["weighted", ["largest", [["1", ["f_i", "w"]], ["-1", ["f_i_star"]]]], "w_i"]
    client = {"kind": "quadratic", "A": [["1"]], "b": ["0"]}
    instance = {"C": 1, "d": 1, "p": ["1"], "clients": [client], "w0": ["1"], "noise": {"kind": "none"}, "E": 1, "T": 1}
    claim = {"setting": "run", "method": {"server": {"w": None}, "update": {"w": rule}}}
    words = " ".join(
        p if isinstance(p, str) else p.latex for c in told({"instance": instance, "claim": claim}, Letters()) for p in c
    )
    assert "all weight shared equally by the clients  with the largest  f_i(w) - f_i" in words
    claim["method"]["update"] = {"w": ["mean", "w_i"]}
    words = str(told({"instance": instance, "claim": claim}, Letters()))
    assert "weight" not in words


def test_along_a_path_only_what_the_refuted_relation_names_is_told() -> None:
    from fedaudit.figures.words.instances import told
    from fedaudit.figures.words.letters import Letters

    paths = {name: [["1", power]] for name, power in (("m", "1"), ("C", "0"), ("L", "0"))}
    claim = {"setting": "order", "then": [["<=", "m", "1"], ["<=", ["*", "L", "m"], "1"]], "when": [[">=", "C", "2"]]}
    for relation, names in ((0, {"m", "C"}), (1, {"m", "C", "L"})):
        certificate = {"instance": {"paths": paths}, "claim": claim, "at": {"relation": relation}}
        assert {c[0].latex.split(" ")[0] for c in told(certificate, Letters())} == names


def test_a_length_whose_square_is_measured_keeps_its_letters() -> None:
    from fedaudit.figures.words.letters import Letters

    letters = Letters({"residual": r"\|r\|"})
    assert term_latex("residual2", letters) == r"\|r\|^2"
    assert term_latex(["^", "residual2", "1/2"], letters) == r"\|r\|"
    assert term_latex("spread2", letters) == r"\mathrm{spread2}"


def test_a_letter_takes_a_power_without_brackets() -> None:
    from fedaudit.figures.words.letters import Letters

    letters = Letters({"gamma": r"\gamma", "eta": r"\eta_{{{0}}}", "gap": "f(w_{0}) - f"})
    assert term_latex(["^", ["at", "gamma", "t"], "2"], letters) == r"\gamma^{2}"
    assert term_latex(["^", ["at", "eta", "t"], "2"], letters) == r"\eta_{t}^{2}"
    assert term_latex(["^", ["at", "gap", "t"], "2"], letters).startswith(r"\left(")


def test_what_a_claim_counts_by_keeps_its_letter() -> None:
    """Lemma 10 is about the device m; the method's own m is what the paper calls I."""
    known = letters(statement("yuan/lem10-variance"))
    assert Letters(known).symbol("m") == "m"
    assert known["C"] == "M"


def test_a_reading_that_falls_beside_a_print_that_stands_says_so() -> None:
    row = SimpleNamespace(id="a/b~literal", repair="none known")
    stands = SimpleNamespace(row=SimpleNamespace(id="a/b"), verdict="proved", standing=SimpleNamespace(kind="own"))
    assert repair(row, None, "", stands) == "As a/b reads it, it is proved."
    assert repair(row, None, "") == "No repair is known."


@pytest.mark.parametrize(
    ("name", "verdict", "repair", "said"),
    [
        ("a/b", "refuted", "", "none known"),
        ("a/b", "refuted", "rate", "rate"),
        ("a/b~literal", "refuted", "none known", ""),
        ("a/b~literal", "refuted", "constant", "constant"),
        ("a/b", "survived", "", ""),
    ],
)
def test_the_index_says_of_prints_alone_that_no_repair_is_known(name, verdict, repair, said) -> None:
    checked = SimpleNamespace(row=SimpleNamespace(id=name, repair=repair), verdict=verdict)
    assert change_needed(checked) == said


def test_a_card_says_in_one_sentence_what_became_of_the_theorems():
    def sentence(parts=None, **verdicts):
        labels = {**verdicts, **(parts or {})}
        rows = [{"id": f"mine/{label}", "paper": "mine", "verdict": verdict} for label, verdict in labels.items()]
        return cards(rows, ("refuted", "proved"))[0].sentence

    assert sentence(thm1="proved", thm2="proved", thm3="proved", lem1="refuted") == (
        "All three theorems are proved, but one lemma of the proofs falls as printed."
    )
    assert sentence(thm1="refuted", thm2="survived", eq1="refuted") == (
        "One of two theorems falls as printed, and so does one display."
    )
    assert sentence(eq1="refuted") == "One display falls as printed."
    assert sentence(thm1="refuted", cor2="refuted") == "Both theorems fall as printed."
    two_parts = {"thm4.1-I": "proved", "thm4.1-II": "refuted", "thm4.2": "proved"}
    assert sentence(two_parts) == "One of two theorems falls as printed."
    assert sentence({"thm4.5": "proved", "thm4.5-sgd": "refuted"}) == (
        "The theorem is proved, but one display of the proofs falls as printed."
    )


def test_what_is_printed_is_counted_apart_from_readings_and_calibration():
    rows = [
        {"id": name, "paper": name.partition("/")[0], "verdict": "proved"}
        for name in ("yuan/thm1", "yuan/thm1~repaired", "classic/gd-fall", "classic/gd-grad")
    ]
    yuan, classic = cards(rows, ("proved",))
    assert (yuan.counted, yuan.authors, yuan.calibration) == ((("proved", 1),), "X.-T. Yuan and P. Li", False)
    assert (classic.name, classic.counted, classic.calibration) == ("classic", (("proved", 2),), True)
