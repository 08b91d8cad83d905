"""Formulas as they are printed: in a usual order, equal to the statement's own, and without a slip."""

from __future__ import annotations

import ast
import json
import operator
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import sympy
from places import TESTS
from sympy import Symbol
from sympy.core.function import AppliedUndef, UndefinedFunction
from sympy.core.relational import Relational
from tex import ENGINE, compiled

from fedaudit.bounds.catalogue.discovery import catalogue, papers, statement, statements
from fedaudit.bounds.formulas.formula import CALLS, RELATIONS, SUMS, Form, form_of
from fedaudit.bounds.formulas.latex_document import document, escaped, prose
from fedaudit.bounds.formulas.latex_sections import CHAPTERS, LONGEST, broken, chapter, section, symbol_table
from fedaudit.bounds.formulas.printer import PYTHON, latex_form, text
from fedaudit.bounds.formulas.statement_text import as_printed, show, shown_row
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.cli import main
from fedaudit.verify.results.audit_result import Derivation

ALL = statements()
BY_ID = pytest.mark.parametrize("made", ALL, ids=lambda s: s.id)
SHOWN = {  # nearly as the papers print them
    "buttaci/thm4.1-I": "gap(t) ≤ L Δ/μ · (1 − μ/(3(L + α)))^t + L/L_α · (2 E^2 G^2/μ + 3 L Γ/(2 μ) + S σ^2/(4 μ))",
    "buttaci/lem4.1": "deviation(t, k, i) ≤ E^2 G^2 γ(t)^2",
    "zhang/thm3.6": "Ω(R + 1) ≤ (1 − η_t μ/3)^R Ω(1) + 168 B_g^2 L^2 η_t^2/(η_g^2 μ) + 18 σ^2/(C E b μ)",
    "yuan/lem5": "residual ≤ 2 L ε η",
    "buttaci/thm4.5": "A_B7 ≤ 1 − 1/e",
}


KEPT = (*RELATIONS.values(), sympy.Min, sympy.Max)  # are not decided as they are made (algebra.py)


def recomputed(form: Form) -> Any:
    """The value of a form by its operations alone."""
    if form.op == "leaf":
        return form.value
    args = [recomputed(arg) for arg in form.args]
    plain = {
        "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": pow, "neg": operator.neg,
        "sqrt": sympy.sqrt,
    }  # fmt: skip
    if form.op in plain:
        return plain[form.op](*args)
    if form.op in SUMS:
        body, variable, low, high = args
        return SUMS[form.op](body, (variable, low, high))
    if form.op == "at":
        return form.value.func(*args) if isinstance(form.value, AppliedUndef) else form.value.base[tuple(args)]
    head = RELATIONS.get(form.op) or CALLS[form.op]
    return head(*args, evaluate=False) if head in KEPT else head(*args)


def values(made: Statement) -> list[Any]:
    """What the statement's fields hold, place by place."""
    pairs = [*made.choose.items(), *made.where.items()]
    ranges = [(v, *both) for v, both in made.for_all.items()]
    limits = [(m.value, m.variable, m.point) for m in made.limits]
    several = [x for group in (*pairs, *ranges, *limits) for x in group]
    return [*made.relations, *made.when, *several, *([] if made.order is None else [made.order])]


@BY_ID
def test_what_is_printed_is_the_statement(made: Statement) -> None:
    for value in values(made):
        whole = sympy.sympify(value)
        again = recomputed(form_of(whole))
        assert again == whole or equal(again, whole)


def equal(one: Any, other: Any) -> bool:
    """Whether two formulas are the same: sympy multiplies a number into a bracket where it meets one."""
    if isinstance(one, Relational):
        return type(one) is type(other) and all(map(equal, one.args, other.args))
    return one == other or sympy.simplify(one - other) == 0


class Reader(ast.NodeTransformer):
    """Python's text of a formula, with whole numbers and names as sympy's."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.parse(f"Integer({node.value})", mode="eval").body

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        return ast.Call(ast.Name(f"call_{name}", ast.Load()), [self.visit(arg) for arg in node.args], [])


def read(said: str, names: Mapping[str, Any]) -> Any:
    tree = ast.fix_missing_locations(Reader().visit(ast.parse(said, mode="eval")))
    return eval(compile(tree, "formula", "eval"), {"__builtins__": {}, **names})


def names_in(expr: Any) -> dict[str, Any]:
    kept = {
        name: lambda *a, head=head: head(*a, evaluate=False) for name, head in (("Min", sympy.Min), ("Max", sympy.Max))
    }
    heads = {n: getattr(sympy, n) for n in ("Sum", "Product", "Abs", "sqrt", "exp", "log", "erf")} | kept
    quantities = {f.func.__name__: f.func for f in expr.atoms(AppliedUndef)}
    indexed = {str(x.base): x.base for x in expr.atoms(sympy.Indexed)}
    symbols = {s.name.replace("lambda", "lambda_"): s for s in expr.atoms(Symbol) if s.name not in indexed}
    calls = {f"call_{name}": head for name, head in {**heads, **quantities}.items()}
    return calls | indexed | symbols | {"Integer": sympy.Integer, "oo": sympy.oo, "pi": sympy.pi}


@BY_ID
def test_the_text_says_the_same_when_it_is_read_again(made: Statement) -> None:
    relations = {"<=", "<", ">=", ">", "=", "!="}
    for form in (form_of(sympy.sympify(value)) for value in values(made)):
        for side in form.args if form.op in relations else [form]:
            if side.op in ("and", "or", "not") or isinstance(side.value, UndefinedFunction):
                continue
            again = read(text(side, PYTHON).replace("lambda", "lambda_"), names_in(side.value))
            assert again == side.value or sympy.simplify(again - side.value) == 0


@pytest.mark.parametrize(("identifier", "wanted"), SHOWN.items())
def test_formulas_read_as_in_a_paper(identifier: str, wanted: str) -> None:
    assert f"  {wanted}" in show(statement(identifier)).splitlines()


def test_latex_keeps_the_fractions_of_the_paper() -> None:
    (then,) = statement("buttaci/thm4.1-I").relations
    said = latex_form(then, statement("buttaci/thm4.1-I").glossary)
    assert r"\frac{L \Delta}{\mu} \left(1 - \frac{\mu}{3 \left(L + \alpha\right)}\right)^{t}" in said


x, y, z = (Symbol(name, positive=True) for name in "xyz")


@pytest.mark.parametrize(
    ("expr", "wanted"),
    [
        (1 - x, "1 − x"),
        (-x - y, "−(x + y)"),
        (3 * x + 3 * y, "3(x + y)"),
        (x / (2 * y), "x/(2 y)"),
        (-x / y, "−x/y"),
        ((x - y) ** 2 / z, "(x − y)^2/z"),
        (sympy.sqrt(x) / y ** sympy.Rational(1, 3), "sqrt(x)/y^(1/3)"),
        (sympy.exp(-x), "exp(−x)"),
        (x**-y, "1/x^y"),
        (sympy.Rational(-1, 2), "−1/2"),
    ],
)
def test_expressions_stand_in_a_usual_order(expr: Any, wanted: str) -> None:
    assert text(expr) == wanted
    assert recomputed(form_of(expr)) == expr


def test_a_quantity_without_its_indices_is_called_by_its_name() -> None:
    assert text(sympy.Function("eta")) == "η"
    assert latex_form(sympy.Function("eta"), statement("buttaci/lem4.1").glossary) == r"\eta"


# --- LaTeX ------------------------------------------------------------------------------------------------------------


def balanced(source: str) -> bool:
    """Groups, brackets that grow, environments and formulas that are begun are ended, in their order."""
    opened: list[str] = []
    ends = {"}": "{", r"\]": r"\[", r"\right": r"\left"}
    for token in re.findall(r"\\(?:begin|end)\{\w+\*?\}|\\left(?![a-z])|\\right(?![a-z])|\\[\[\]]|\\.|[{}$]", source):
        if token.startswith(r"\begin"):
            opened.append(token[6:])
        elif token.startswith(r"\end"):
            if not opened or opened.pop() != token[4:]:
                return False
        elif token in ("{", r"\[", r"\left"):
            opened.append(token)
        elif token in ends:
            if not opened or opened.pop() != ends[token]:
                return False
        elif token == "$":
            opened.pop() if opened and opened[-1] == "$" else opened.append("$")
    return not opened


def test_the_check_of_balance_sees_a_slip() -> None:
    good = r"\begin{itemize}\[\left(\frac{1}{2}\right)\] $x$ \{ \end{itemize}"
    assert balanced(good)
    slips = (r"\right", "}", r"\]", r"\end{itemize}", "$x")
    assert not any(balanced(good.replace(slip, "x", 1)) for slip in slips)


@pytest.mark.parametrize("paper", papers())
def test_a_papers_document_compiles_or_is_balanced_where_there_is_no_tex(paper: str, tmp_path: Path) -> None:
    """A TeX engine is asked where one is installed; elsewhere groups, letters and commands are all that is checked."""
    every = [section(s, ["survived: é ≤ 100 % & $ # _ ^ ~ \\ { } γ²"], symbols=False) for s in statements([paper])]
    made = document(paper, [symbol_table(statements([paper])), *every], contents=True)
    assert balanced(made.partition(r"\begin{document}")[2].partition(r"\end{document}")[0])
    assert all(ord(c) < 0x180 for c in made)
    assert made.startswith(r"\documentclass")
    assert made.rstrip().endswith(r"\end{document}")
    if ENGINE:
        compiled(ENGINE, made, tmp_path)


def test_a_number_is_the_papers_and_symbols_are_told_once() -> None:
    chosen = [*statements(["zhang/thm3.8"]), *statements(["yuan/eq1.5"]), *statements(["zhang/sec4.1-stall"])]
    first, second, third = (section(s, symbols=False, found="proved") for s in chosen)
    assert r"\renewcommand{\thetheorem}{3.8}" in first
    assert r"\begin{theorem}[" in first
    assert r"\begin{display}[" in second
    assert r"\begin{observation}[" in third
    assert [chapter(s) for s in chosen] == [list(CHAPTERS)[n] for n in (0, 2, 3)]
    rows = [line for line in symbol_table(statements(["zhang"])).splitlines() if line.endswith(r"\\")]
    assert len(rows) == len(set(rows)) > 20


def test_a_long_formula_is_broken_between_terms_also_in_brackets() -> None:
    terms = " + ".join(rf"\frac{{a_{{{n}}} + 1}}{{b}}" for n in range(12))
    rows = broken(rf"x \leq c \left({terms}\right)^{{2}} - \left(y + z\right)")
    assert len(rows) > 2
    assert all(len(row) < LONGEST + 40 for row in rows)
    together = " ".join(rows)
    assert (together.count(r"\Bigl("), together.count(r"\Bigr)")) == (1, 1)
    assert (together.count(r"\left("), together.count(r"\right)")) == (1, 1)
    assert all(balanced(row) for row in rows)
    assert broken("a + b") == ["a + b"]


@pytest.mark.parametrize(
    ("words", "latex"),
    [
        ("eta eta_g tau (13)", r"$\eta$ $\eta_{g}$ $\tau$ (13)"),
        ("w^i_{t,k} <= gamma(t)", r"$w_{t,k}^{i}$ $\leq$ $\gamma$(t)"),
        ("O(T^(-1/2)), R_tau", r"O($T^{-1/2}$), $R_{\tau}$"),
        ("full_gradients, a Lipschitz f", r"full\_gradients, a Lipschitz f"),
        (r"a_{\input} $x$ f^*", r"a\_\{\textbackslash{}input\} \$x\$ $f^{*}$"),
    ],
)
def test_symbols_in_words_are_formulas(words: str, latex: str) -> None:
    assert prose(words) == latex


def test_words_are_no_commands() -> None:
    assert escaped(r"\input{x} 50 % a_b μ 𝔸") == r"\textbackslash{}input\{x\} 50 \% a\_b $\mu$ [U+1D538]"


# --- the commands -----------------------------------------------------------------------------------------------------


def test_show_as_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "buttaci/lem4.*", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[0] == json.loads(json.dumps(shown_row(statement("buttaci/lem4.1"))))
    (then,) = rows[0]["formulas"]["then"]
    assert then["python"] == "deviation(t, k, i) <= E**2*G**2*gamma(t)**2"


def test_the_terms_of_a_bound_stand_in_the_printed_order() -> None:
    made = statement("buttaci/lemB.1-kappa").bound(alpha=1, mu=1, E=2, gamma="1/10", L=1, t=0)
    assert [term.term for term in made.terms] == ["1", "-mu*gamma(t)"]
    values = {"L": 1, "mu": 1, "eta_t": "1/10", "eta_g": 2, "R": 3, "sigma": 1, "C": 2, "E": 2, "b": 1, "B_g": 1}
    side = statement("zhang/thm3.6").bound(**values, lam2=1, gap=1)
    assert [term.term for term in side.terms] == [
        "(1 - eta_t*mu/3)**R*Omega(1)",
        "168*B_g**2*L**2*eta_t**2/(eta_g**2*mu)",
        "18*sigma**2/(C*E*b*mu)",
    ]


CERTIFICATE = TESTS / "certificates" / "run" / "buttaci-lemC.2.json"


@pytest.fixture
def audited(tmp_path: Path) -> Path:
    """An audit that refuted one lemma, and says so falsely of another."""
    folder = tmp_path / "audit"
    (folder / "certificates").mkdir(parents=True)
    shutil.copy(CERTIFICATE, folder / "certificates" / "a.json")
    found = {"verdict": "refuted", "evidence": "exact", "certificate": "certificates/a.json"}
    rows = [
        {"id": "buttaci/lemC.2", **found, "repair": "constant", "repair_why": "a factor"},
        {"id": "buttaci/lem4.1", **found},
        {"id": "buttaci/lem4.2", "verdict": "survived", "tightness": 0.5},
    ]
    text = json.dumps({"version": "1", "seed": 0, "budget": 1.0, "statements": rows})
    (folder / "audit.json").write_text(text)
    return folder


def test_export_writes_statements_repairs_and_verdicts(audited: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = audited.parent / "a.tex"
    chosen = ["buttaci/lem4.1", "buttaci/lem4.2", "buttaci/lemC.2*"]
    assert main(["export", *chosen, "--latex", "--audit", str(audited), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    text = out.read_text()
    assert balanced(text)
    assert "refuted (exact): its counterexample was replayed by the exact kernel for this document" in text
    assert "unverified (exact): its counterexample could not be replayed" in text
    assert "survived: as audit.json says, not checked again" in text
    assert "a repair has to change: constant (a factor)" in text
    assert r"\texttt{buttaci/lemC.2\textasciitilde{}repaired}" in text


def test_export_without_an_audit_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["export", "buttaci/lem4.1", "--latex"]) == 0
    out = capsys.readouterr().out
    assert "1 statement. No audit of them was found." in out
    assert "Verdict" not in out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["buttaci"], "expected --latex"),
        (["buttaci", "--latex", "--out", "a.pdf"], "ends in .tex"),
        (["buttaci", "--latex", "--out", "nowhere/a.tex"], "a folder that exists"),
        (["buttaci", "--latex", "--out", "x" * 5000 + ".tex"], "ends in .tex"),
        (["buttaci", "--latex", "--audit", "nowhere"], "a folder that holds audit.json"),
        (["butaci", "--latex"], "did you mean"),
    ],
)
def test_what_cannot_be_exported_is_said_in_one_line(
    options: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", *options]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert expected in err


def test_steps_of_a_derivation_stand_in_a_usual_order() -> None:
    """sympy would print (-1/(2*t + 4) + 1)**2 and (-gamma*(alpha + mu) + 1)**E >= 1/4."""
    theorem = statement("buttaci/thm4.2")
    said = [s["claim"] for s in Derivation(theorem, derive(theorem, catalogue(), slack=False)).to_records()]
    assert "(1 - 1/(n_halved*(t + 2)))**n_halved >= (1 - 1/(2*(t + 2)))**2" in said
    assert "(1 - gamma*(alpha + mu))**E >= 1/4" in said


def test_what_is_printed_is_told_apart_from_what_it_implies_on_one_problem():
    (line,) = as_printed(catalogue()["yuan/thm1"])
    assert line.startswith(r"\mathbb{E} \|\nabla\bar R(w_{t^*})\|^2 = \mathcal{O}\left(\max")
    (line,) = as_printed(catalogue()["benmansour/rem5"])
    assert line.endswith(r"= \mathcal{O}\left(\frac{1}{t + 1}\right)")
    assert as_printed(catalogue()["buttaci/lem4.1"]) == []
