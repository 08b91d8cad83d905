"""`fedaudit new` writes files that pass lint and can be run; LaTeX is parsed, and what cannot be is one line."""

from __future__ import annotations

import os
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marks import some

import fedaudit as fa
from fedaudit.bounds.catalogue.discovery import methods
from fedaudit.bounds.formulas.latex_reader import Unread, parse, parts, source
from fedaudit.cli import main
from fedaudit.commands.new import made
from fedaudit.errors import UserError

READ = {
    r"E f(w_T) - f^* \le \frac{L \|w_0 - w^*\|^2}{2T}": ("Le", "gap(T)", "L * dist2(0) / (2 * T)"),
    r"\mathbb{E}[f(\bar{w}_T)] - f^\star \leq \left(1 - \eta\mu\right)^T (f(w_0) - f^*)": (
        "Le", "gap(T)", "(1 - eta * mu) ** T * gap(0)"),
    r"\mathbb{E}\|w_{t+1} - w^*\|^2 \le (1-\eta_t\mu) \mathbb{E}\|w_t - w^*\|^2 + \eta_t^2 B": (
        "Le", "dist2(t + 1)", "(1 - eta_t * mu) * dist2(t) + eta_t ** 2 * B"),
    r"\|\nabla f(w_T)\|^2 ≥ \frac12 L^{3/2}": (
        "Ge", "slope2(T)", "fa.Rational(1, 2) * L ** fa.Rational(3, 2)"),
    r"E[F(w_T) - F(w^*)] = \max\{8\kappa, E\} \sqrt{L/\mu}(E-1)^2": (
        "Eq", "gap(T)", "fa.Max(8 * kappa, E) * fa.sqrt(L / mu) * (E - 1) ** 2"),
    r"a \le 0.5 b - 2/(3\cdot 4)": ("Le", "a", 'fa.Rational("0.5") * b - fa.Rational(2) / (3 * 4)'),
    r"-a^2 \le -(b + c)": ("Le", "-(a ** 2)", "-(b + c)"),
}  # fmt: skip
UNREAD = {
    r"x \le \int_0^1 y": r"`\int` in column 7",
    r"f(w_T) \le 3": "f at a point without `- f^*`",
    r"a \le b \le c": "after the relation's right side",
    r"a + b": "the end where a relation is expected",
    r"(((a \le b": "is expected",
    r"\|w_T - y_T\|^2 \le 1": "something other than the optimum",
    r"\|w_T - w^*\| \le 1": "where `^` is expected",
    "a" * 3000: "3000 characters",
    "(" * 200 + "a" + ")" * 200 + " = 1": "brackets in one another",
    "": "the end where a formula is expected",
}


@pytest.mark.parametrize("latex", READ)
def test_latex_is_read_in_its_own_order(latex: str) -> None:
    found = parse(latex)
    assert (found.relation, source(found.left), source(found.right)) == READ[latex]


@pytest.mark.parametrize("latex", UNREAD, ids=lambda text: text[:20])
def test_what_is_not_read_is_said_with_its_place(latex: str) -> None:
    with pytest.raises(Unread) as said:
        parse(latex)
    assert UNREAD[latex] in str(said.value)


@given(st.text(alphabet="ab12+-*/^_{}()[]|\\fEw ,=.", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = parse(text)
    except Unread:
        return
    assert source(found.left)
    assert source(found.right)


@st.composite
def numbers(draw: st.DrawFn, depth: int = 3) -> tuple[str, Fraction]:
    """LaTeX of a number, and the number."""
    form = draw(st.sampled_from(["digit", "sum", "difference", "product", "fraction", "slash", "square"]))
    if depth == 0 or form == "digit":
        digit = draw(st.integers(1, 9))
        return str(digit), Fraction(digit)
    (left, a), (right, b) = draw(numbers(depth - 1)), draw(numbers(depth - 1))
    if form == "square":
        return f"({left})^2", a**2
    if form in ("fraction", "slash") and b != 0:
        return (rf"\frac{{{left}}}{{{right}}}" if form == "fraction" else f"({left} / {right})"), a / b
    if form == "difference":
        return rf"\left({left} - {right}\right)", a - b
    return (f"({left} + {right})", a + b) if form == "sum" else (rf"({left} \cdot {right})", a * b)


def value(tree: tuple[Any, ...]) -> Fraction:
    match tree:
        case ("number", text):
            return Fraction(text)
        case ("neg", x):
            return -value(x)
        case ("^", x, n):
            return value(x) ** int(value(n))
        case (op, x, y):
            a, b = value(x), value(y)
            return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}[op]()
    raise AssertionError(tree)


@given(numbers())
def test_a_formula_of_numbers_keeps_its_value_and_stays_exact(pair: tuple[str, Fraction]) -> None:
    latex, number = pair
    tree = parse(f"{latex} = 1").left
    assert value(tree) == number
    written = eval(source(tree), {"fa": fa})  # our own text, made of numbers and signs
    assert not isinstance(written, float)
    assert Fraction(int(fa.Rational(written).p), int(fa.Rational(written).q)) == number


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
    text, unread = made(name, None)
    statement = loaded(text, tmp_path)
    assert not unread
    assert not fa.lint(statement)
    assert isinstance(fa.verify(statement, budget=0.3), fa.Survived | fa.Refuted)


@pytest.mark.parametrize("name", [method.id for _, method in methods()])
def test_a_method_that_is_written_out_is_the_paper_s_own(name: str, tmp_path: Path) -> None:
    (own,) = [m for _, m in methods() if m.id == name]
    copied = loaded(made(name, None)[0], tmp_path).method
    measures = {str(q).partition("(")[0] for q in own.measures}
    assert copied.data(str, measures) == own.data(str, measures)


def test_the_first_statements_hold(tmp_path: Path) -> None:
    for name in ("fedavg", "gd", "fedprox"):
        assert isinstance(fa.verify(loaded(made(name, None)[0], tmp_path), budget=1), fa.Survived)


def test_a_theorem_in_latex_is_decided(tmp_path: Path) -> None:
    for constant, verdict in ((2, fa.Survived), (3, fa.Refuted)):
        text, unread = made("gd", rf"f(x_N) - f^* \le \frac{{L \|x_0 - x^*\|^2}}{{4N + {constant}}}")
        statement = loaded(text, tmp_path)
        assert not unread
        assert not fa.lint(statement)
        assert isinstance(fa.hunt(statement, budget=3), verdict)


def test_a_symbol_without_a_known_meaning_gets_the_dimension_that_fits(tmp_path: Path) -> None:
    text, note = made("fedavg", r"\mathbb{E}\|w_{t+1} - w^*\|^2 \le (1 - \eta_t \mu) \|w_t - w^*\|^2 + \eta_t^2 B")
    assert 'B = GLOSSARY.symbol("B", "F^2/W^2"' in text
    (finding,) = fa.lint(loaded(text, tmp_path))
    assert finding.message.startswith("got the letter B in `then`, which runs of fedavg do not know")
    assert note == f"the file is written, and `fedaudit lint` has something to say: {finding.message}"


def test_noise_gradients_and_heterogeneity_bring_their_assumptions(tmp_path: Path) -> None:
    latex = r"E f(w_T) - f^* \le \frac{\kappa}{T} (\frac{2 (E-1)^2 G^2}{\mu} + \Gamma + \frac{\sigma^2}{N L})"
    statement = loaded(made("fedavg", latex)[0], tmp_path)
    assumed = {a.name for a in statement.let}
    assert {"smooth", "strongly_convex", "bounded_variance", "gradients", "independent_noise"} <= assumed
    assert not fa.lint(statement)


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


def test_latex_that_is_not_read_is_one_line_and_the_file_still_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "mine.py", "--latex", r"x \le \int_0^1 y"]) == 0
    out, error = capsys.readouterr()
    assert out == "mine.py\n"
    assert error == (
        "fedaudit: got LaTeX with `\\int` in column 7, which is not read; the file has a first statement in its place\n"
    )
    assert r"\int_0^1" in (tmp_path / "mine.py").read_text()
    assert main(["lint", "mine.py", "--jobs", "1"]) == 0


def test_hostile_latex_stays_a_comment(tmp_path: Path) -> None:
    text, _ = made("fedavg", 'x\n"""\nimport os; os.abort()\n#')
    assert "import os" not in [line.strip()[:9] for line in text.splitlines()]
    assert loaded(text, tmp_path).id == "mine/thm1"


def test_a_tree_knows_its_parts() -> None:
    assert ("symbol", "b") in parts(parse("a + b = 1").left)


def test_a_method_that_does_not_exist_is_a_user_error() -> None:
    with pytest.raises(UserError, match="one of fedavg, gd"):
        made("nothing", None)


def test_a_file_that_changes_within_a_second_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Same size, same second: a cache of compiled files would not notice."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    rates = (rf"f(x_N) - f^* \le \frac{{L \|x_0 - x^*\|^2}}{{4N + {n}}}" for n in (2, 3))
    one, other = [loaded(made("gd", rate)[0], tmp_path, when=1_000_000_000) for rate in rates]
    assert one.then != other.then
