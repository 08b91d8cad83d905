"""Names that tie to nothing, and words that nobody knows: one line before any move, never a verdict.

Every symbol of a claim is a size or an index of the run, a constant of an assumption, a parameter that the rules read,
a measure, or a definition. A count that is none of them was drawn as 1: a true theorem with H local steps came out
refuted, and a false one survived.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import fedaudit as fa
from fedaudit.bounds.formulas.algorithm_box import algorithm
from fedaudit.bounds.language.assumptions import ASSUMPTIONS
from fedaudit.cli import main

FILE = """
import fedaudit as fa
import sympy

G = fa.Glossary()
T, E, H, M = (G.count(*p) for p in (("T", "rounds"), ("E", "steps"), ("H", "local steps"), ("M", "clients")))
t, k, i = (G.index(*p) for p in (("t", "round"), ("k", "local step"), ("i", "client")))
L, mu = G.symbol("L", "F/W^2", "smoothness"), G.symbol("mu", "F/W^2", "strong convexity")
nu = G.symbol("nu", "F/W^2", "convexity", nonnegative=True)
q, B = G.symbol("q", "1", "a number"), G.symbol("B", "F/W", "largest slope")
gamma = G.quantity("gamma", "W^2/F", "step size", positive=True)
gap = G.quantity("gap", "F", "E f(x_t) - f*", nonnegative=True)
dist2 = G.quantity("dist2", "W^2", "E |x_t - w*|^2", nonnegative=True)
away = G.quantity("away", "W^2", "|y_i - x|^2", nonnegative=True)
x, y = fa.vector("x"), fa.vector("y", "y_i")
METHOD = dict(
    id="fedavg", title="FedAvg", cite="McMahan et al. 2017", glossary=G, server={x: fa.start}, client={y: x},
    begin={y: x}, local={y: y - gamma(t) * fa.grad(y)}, update={x: fa.mean(y)},
    measures={
        gap(t): fa.expect(fa.f(x)) - fa.f_star, dist2(t): fa.expect(fa.norm2(x - fa.w_star)),
        away(t, k, i): fa.expect(fa.norm2(y - x)),
    },
)
LET = (
    fa.Assumption("smooth", (L,)), fa.Assumption("strongly_convex", (mu,)), fa.Assumption("distribution"),
    fa.Assumption("homogeneous"),
)
FIELDS = dict(
    id="mine/thm1", kind="inequality", title="One round", cite="made up", glossary=G, let=LET,
    then=fa.Le(dist2(t + 1), (1 - gamma(t) * mu) ** 2 * dist2(t)), when=(fa.Eq(E, 1),), for_all={t: (0, T - 1)},
    sweep={gamma(t): fa.unit("step") / L},
)
"""
STATED = 'THM = fa.Statement(**{"method": fa.Method(**METHOD)} | FIELDS)\n'
ROUND = "then=fa.Le(dist2(t + 1), (1 - gamma(t) * mu) ** (2 * H) * dist2(t)), when=()"


def claim(change: str) -> str:
    return f"FIELDS |= dict({change})"


def rules(change: str) -> str:
    return f"METHOD |= dict({change})"


def written(folder: Path, *lines: str) -> str:
    path = folder / "mine.py"
    path.write_text("\n".join([FILE, *lines, STATED]))
    return str(path)


# a slip -> the first finding of lint, which is the line of every move
OF_CLAIMS = {  # a change of the statement
    "then=fa.Le(dist2(t + 1), (1 - gamma(t) * mu) ** (2 * H) * dist2(t)), when=()": (
        "got the letter H in `then`, which runs of fedavg do not know, expected a size of the run; do: write "
        "names={H: 'E'} in the method ('E' local steps, 'C' clients, 'D' the dimension), or define it in `where`"
    ),
    "then=fa.Le(dist2(t + 1), dist2(t) / M)": (
        "got the letter M in `then`, which runs of fedavg do not know, expected a size of the run; do: write "
        "names={M: 'C'} in the method ('C' clients, 'D' the dimension), or define it in `where`"
    ),
    "then=fa.Le(dist2(t + 1), (1 + q) * dist2(t))": (
        "got the letter q in `then`, which runs of fedavg do not know, expected a constant of an assumption, a "
        "parameter of the rules, or a definition; do: define it in `where`, or write sweep={q: fa.free('q')} if "
        "it may be anything"
    ),
    "when=(fa.Eq(E, 1), fa.Le(q, 1))": (
        "got the letter q in `when`, which runs of fedavg do not know, expected a constant of an assumption, a "
        "parameter of the rules, or a definition; do: define it in `where`, or write sweep={q: fa.free('q')} if "
        "it may be anything"
    ),
    "when=(fa.Eq(H, 1),)": (
        "got the letter H in `when`, which runs of fedavg do not know, expected a size of the run; do: write "
        "names={H: 'E'} in the method ('E' local steps, 'C' clients, 'D' the dimension), or define it in `where`"
    ),
    "for_all={t: (0, T - H)}": (
        "got the letter H in `for_all`, which runs of fedavg do not know, expected a size of the run; do: write "
        "names={H: 'C'} in the method ('C' clients, 'D' the dimension), or define it in `where`"
    ),
    "sweep={gamma(t): q / L}": (
        "got the letter q in `sweep`, which runs of fedavg do not know, expected a constant of an assumption, a "
        "parameter of the rules, or a definition; do: define it in `where`, or write sweep={q: fa.free('q')} if "
        "it may be anything"
    ),
    "choose={gamma(t): 1 / (L * H)}, sweep={}": (
        "got the letter H in `choose`, which runs of fedavg do not know, expected a size of the run; do: write "
        "names={H: 'C'} in the method ('C' clients, 'D' the dimension), or define it in `where`"
    ),
    'let=(fa.Assumption("smooth", (L,)), fa.Assumption("distribution"))': (
        "got the letter mu in `then`, which runs of fedavg do not know, expected a constant of an assumption, a "
        "parameter of the rules, or a definition; do: define it in `where`, or write sweep={mu: fa.free('mu')} if "
        "it may be anything"
    ),
    'then=fa.Le(dist2(t + 1), dist2(t) / G.count("m", "sampled"))': (
        "got the letter m in `then`, which runs of fedavg do not know, expected a rule that uses sampled; do: "
        "mend the rules, or define m in `where`"
    ),
    'then=fa.Le(dist2(t + 1), dist2(t) / G.count("b", "points"))': (
        "got the letter b in `then`, which runs of fedavg do not know, expected a rule that uses oracle or "
        "batch_grad; do: mend the rules, or define b in `where`"
    ),
    'then=fa.Le(dist2(t + 1), dist2(t) * G.symbol("C", "1", "a constant"))': (
        "got the letter C in `then`, where runs of fedavg have clients, expected a count; do: rename it, or make "
        "it one: count('C', …)"
    ),
    'let=(*LET, fa.Assumption("bounded_variance", (G.symbol("D", "F/W", "noise"),)))': (
        "got D in `let`, where runs have the dimension under this name, expected another letter; do: rename it"
    ),
    'let=(*LET, fa.Assumption("bounded_variance", (G.symbol("Gamma", "F/W", "noise"),)))': (
        "got Gamma in `let`, where runs have their heterogeneity under this name, expected another letter; do: "
        "rename it"
    ),
    "where={E: 3}": (
        "got E in `where`, which is local steps of the runs, expected a condition on them; do: write when=(Eq(E, "
        "…),), or rename it"
    ),
    "choose={T: 3}": (
        "got T in `choose`, which is rounds of the runs, expected a condition on them; do: write when=(Eq(T, "
        "…),), or rename it"
    ),
    'sweep={gamma(t): fa.unit("step") / L, E: 3}': (
        "got E in `sweep`, which is local steps of the runs, expected a condition on them; do: write when=(Eq(E, "
        "…),), or rename it"
    ),
    "for_all={}": (
        "got the letter t in `then`, which runs of fedavg do not know, expected a range of this index; do: write "
        "for_all={t: (first, last)}, within 0 and T"
    ),
    "for_all={k: (0, T - 1)}": (
        "got the letter t in `then`, which runs of fedavg do not know, expected a range of this index; do: write "
        "for_all={t: (first, last)}, within 0 and T"
    ),
    "then=fa.Le(away(t, k, i), dist2(0)), for_all={t: (0, T - 1), k: (0, E)}": (
        "got the letter i in `then`, which runs of fedavg do not know, expected a range of this index; do: write "
        "for_all={i: (first, last)}, within 1 and C"
    ),
    "choose={gamma(t): 1 / (L * (k + 1))}, sweep={}": (
        "got the letter k in `choose`, which runs of fedavg do not know, expected indices of what stands on the "
        "left alone; do: mend one of the two sides"
    ),
    "then=fa.Le(dist2(t + 1), dist2(t) * L / sympy.Symbol('L', real=True))": (
        "got two symbols named L (positive and real), expected one; do: take the glossary's symbol everywhere"
    ),
    "for_all={sympy.Symbol('t'): (0, T - 1)}": (
        "got two symbols named t (nonnegative integer and nothing said), expected one; do: take the glossary's "
        "symbol everywhere"
    ),
    "then=fa.Le(sympy.Function('dist2')(t + 1), dist2(t))": (
        "got two quantities named dist2, expected one; do: take the glossary's quantity everywhere"
    ),
    "choose={gamma(t): 1 / L}": (
        "got gamma(t) both in `choose` and in `sweep`, expected one of them; do: leave it out of `sweep`, or draw "
        "what its choice is made of"
    ),
    "choose={gamma(k): 1 / L}, sweep={}": (
        "got gamma(k) in `choose`, expected gamma(t), as the rules read it; do: write choose={gamma(t): …}"
    ),
    "choose={gamma(0): 1 / L}, sweep={}": (
        "got gamma(0) in `choose`, expected gamma(t), as the rules read it; do: write choose={gamma(t): …}"
    ),
    "let=(*LET, fa.Assumption('smooth', (L,)))": (
        "got the assumption 'smooth' twice, expected every assumption once; do: leave one out; one with `means` "
        "takes a name of its own"
    ),
    "let=(*LET, fa.Assumption('smooth', (q,)))": (
        "got the assumption 'smooth' twice, expected every assumption once; do: leave one out; one with `means` "
        "takes a name of its own"
    ),
    "implicit=(fa.Assumption('homogeneous'),)": (
        "got the assumption 'homogeneous' twice, expected every assumption once; do: leave one out; one with "
        "`means` takes a name of its own"
    ),
    "let=(*LET, fa.Assumption('bounded_gradients', (B,)))": (
        "got the assumptions 'strongly_convex' and 'bounded_gradients', which contradict each other, expected one "
        "of them; do: leave out the one that is not meant"
    ),
    "for_all={t: (T, T - 1)}": "got for_all={t: (T, T - 1)}, expected a range that is not empty; do: mend `for_all`",
    "for_all={t: (5, T - 1)}, when=(fa.Eq(E, 1), fa.Le(T, 3))": (
        "got for_all={t: (5, T - 1)}, expected a range that some size of the run reaches; do: mend it, or say in "
        "`when` how large the sizes are"
    ),
    "for_all={t: (10**7, T - 1)}": (
        "got for_all={t: (10000000, T - 1)}, expected a range that some size of the run reaches; do: mend it, or "
        "say in `when` how large the sizes are"
    ),
    "for_all={t: (fa.Rational(1, 2), T - 1)}": (
        "got for_all={t: (1/2, T - 1)}, expected whole numbers; do: mend `for_all`"
    ),
    "for_all={t: (0, E - 1)}, when=()": (
        "got dist2(t + 1), whose index t is 2 at E = 2, T = 1, t = 1, expected whole numbers from 0 to T; do: "
        "mend it, or say in `when` which sizes are meant"
    ),
    "then=fa.Le(dist2(5), dist2(0)), for_all={}": (
        "got dist2(5), whose index t is 5 at T = 1, expected whole numbers from 0 to T; do: mend it, or say in "
        "`when` which sizes are meant"
    ),
    "then=fa.Le(dist2(T / 2), dist2(0)), for_all={}": (
        "got dist2(T/2), whose index t is 1/2 at T = 1, expected whole numbers from 0 to T; do: mend it, or say "
        "in `when` which sizes are meant"
    ),
    "then=fa.Le(fa.Sum(dist2(t), (t, 0, T + 1)), dist2(0)), for_all={}": (
        "got dist2(t), whose index t goes from 0 to T + 1, expected 0 to T; do: mend `for_all`"
    ),
    "then=fa.Le(away(t, k, i), dist2(0)), for_all={t: (0, T - 1), k: (0, E), i: (0, T)}": (
        "got away(t, k, i), whose index i goes from 0 to T, expected 1 to C; do: mend `for_all`"
    ),
    "where={gamma(t): 1 / L}, sweep={}": (
        "got gamma(t) in `where`, which is a step size of fedavg, expected it in `choose`; do: write "
        "choose={gamma(t): …}"
    ),
    "where={dist2(t): L}": (
        "got dist2(t) in `where`, which fedavg measures, expected a name that is not taken; do: rename it"
    ),
    "where={L: 2 * mu}": (
        "got L in `where`, which is a constant of an assumption, expected a condition; do: write when=(Eq(L, …),)"
    ),
    "choose={q: 3}, then=fa.Le(dist2(t + 1), q * dist2(t))": (
        "got `choose` of 'q', expected a step size of fedavg (gamma(t)); do: use one of them. Or define it in `where`"
    ),
    "choose={sympy.Symbol('gamma', positive=True): 1 / L}, sweep={}": (
        "got `choose` of 'gamma', expected a step size of fedavg (gamma(t)); do: write choose={gamma(t): …}"
    ),
    "sweep={dist2(t): fa.free('dist2')}": (
        "got `sweep` of 'dist2', expected a step size of fedavg (gamma(t)); do: use one of them. Or define it in "
        "`where`"
    ),
    "sweep={gamma(t): fa.unit('step') / L, q: fa.free('q')}": (
        "got q in `sweep`, which nothing reads, expected a letter of the claim; do: leave it out, or mend its name"
    ),
    "method='scalar', let=(), when=(), for_all={}, sweep={}, then=fa.Le(sympy.Symbol('q', real=True), q)": (
        "got two symbols named q (positive and real), expected one; do: take the glossary's symbol everywhere"
    ),
}
OF_METHODS = {  # a change of the method
    'local={y: y - G.symbol("m", "1", "a factor") * gamma(t) * fa.grad(y)}': (
        "got m in `rules`, where runs have sampled clients under this name, expected another letter; do: rename it"
    ),
    "local={y: y - gamma(t) / H * fa.grad(y)}": (
        "got the letter H in `rules`, which runs of fedavg do not know, expected a size of the run; do: write "
        "names={H: 'C'} in the method ('C' clients, 'D' the dimension), or say what it is: sweep={H: 1}"
    ),
    "measures={dist2(t): fa.expect(fa.norm2(y - fa.w_star))}": (
        "got the measure dist2(t) of fedavg with 'y' of the clients, expected it inside a mean, or at one client; do: "
        "write mean(y)"
    ),
    "measures={dist2(t): fa.expect(fa.norm2(x - fa.w_star)), gap(t): fa.expect(fa.f_i(x))}": (
        "got the measure gap(t) of fedavg with 'f_i', expected it at a client, or inside a mean; do: write mean(…), or "
        "add the index i"
    ),
    "measures={dist2(t): fa.expect(fa.norm2(x - fa.w_star)), away(k, t): fa.expect(fa.norm2(x))}": (
        "got the measure away(k, t) of fedavg at (k, t), expected its indices among (), (i), (t), (t, i), (t, i, j), "
        "(t, n), (t, k), (t, k, i), (t, k, i, j), (t, k, n); do: mend its indices"
    ),
    "measures={dist2(t): fa.expect(fa.norm2(x - fa.w_star)), gap(q): fa.expect(fa.f(x)) - fa.f_star}": (
        "got the measure gap(q) of fedavg with the index q, expected one of t, k, i, j, n or a name for one; do: write "
        "names={q: 't'} in the method if it counts rounds"
    ),
}
# a slip that cannot be written down -> what loading the file says
NO_CLAIMS = {  # a change of the statement
    "choose={gamma: 1 / L}, sweep={}": (
        "got gamma in choose of mine/thm1, expected a symbol, or a quantity at its indices; do: write gamma(t)"
    ),
    "where={'q': 1}": (
        "got q in where of mine/thm1, expected a symbol, or a quantity at its indices; do: take it from the glossary"
    ),
    'let=fa.Assumption("smooth", (L,))': (
        "got let=Assumption(name='smooth', args=(L,), says='', cite='', means=None, for_all=()) of mine/thm1, "
        "which is no tuple, expected one; do: write let=(Assumption('smooth', (L,)),)"
    ),
    'let=("smooth", "distribution")': (
        "got smooth in let of mine/thm1, expected an assumption; do: write let=(Assumption('smooth', (L,)),)"
    ),
    'let=(fa.Assumption("smooth", L),)': (
        "got args=L of assumption smooth, which is no tuple, expected one; do: write args=(L,)"
    ),
    'let=(fa.Assumption("smooth", ("L",)),)': (
        "got L in args of assumption smooth, expected a symbol of the glossary; do: write args=(L,)"
    ),
    "when=fa.Eq(E, 1)": "got when=Eq(E, 1) of mine/thm1, which is no tuple, expected one; do: write when=(Eq(E, 1),)",
    "when=(E == 1,)": (
        "got when=(False,) of mine/thm1, which is decided as it is written, expected a condition; do: write "
        "Eq(left, right), Le or Ge: == compares at once"
    ),
    "when=(E == 1)": (
        "got when=False of mine/thm1, which is decided as it is written, expected a condition; do: write "
        "Eq(left, right), Le or Ge: == compares at once"
    ),
    'reading="all clients"': (
        "got reading=all clients of mine/thm1, which is no tuple, expected one; do: write reading=('…',)"
    ),
    "for_all={t: T}": (
        "got for_all={t: T} of mine/thm1, expected a first and a last value; do: write for_all={t: (first, last)}"
    ),
    "for_all={t: (0, T, 1)}": (
        "got for_all={t: (0, T, 1)} of mine/thm1, expected a first and a last value; do: write for_all={t: "
        "(first, last)}"
    ),
    "let=(*LET, fa.Assumption('small', (q,), means=fa.Le(dist2(t), q), for_all=(t, 0, T)))": (
        "got t in for_all of assumption small, expected an index with its first and last value; do: write "
        "for_all=((t, 0, T),)"
    ),
}
NO_METHODS = {  # a change of the method
    'update={x: fa.mean(y, over="selected")}': (
        "got mean(…, over='selected'), expected 'all' or 'sampled'; do: write over='sampled'"
    ),
    'update={x: fa.mean(y, weights="own")}': (
        "got mean(…, weights='own'), expected weights; do: write weights=own, largest(…), softmax(…)"
    ),
    'clock="step"': "fedavg: got clock='step', expected 'rounds' or 'steps'; do: write clock='steps'",
    "counts_from=2": "fedavg: got counts_from=2, expected 0 or 1; do: write counts_from=1",
    'names={H: "steps"}': (
        "fedavg: got names={H: 'steps'}, expected one of E, C, T, m, D, t, k, i, j, n; do: 'E' is local steps, "
        "'C' clients, 'T' rounds"
    ),
    'names={"H": "E"}': "fedavg: got names={H: 'E'}, expected a symbol of the glossary; do: write it without quotes",
    'names={H: "E", M: "E"}': "fedavg: got H, M in `names`, all for 'E', expected one letter; do: keep one",
    'measures={gap(t): fa.expect(fa.mean(fa.f_i(x), over="sampled"))}': (
        "got mean(…, over='sampled') of numbers or with weights, expected vectors there, which count the same; "
        "do: leave `over` out"
    ),
}
FINDINGS = {claim(slip): said for slip, said in OF_CLAIMS.items()} | {rules(slip): s for slip, s in OF_METHODS.items()}
REFUSALS = {claim(slip): said for slip, said in NO_CLAIMS.items()} | {rules(slip): s for slip, s in NO_METHODS.items()}


@pytest.mark.parametrize("slip", FINDINGS)
def test_a_name_that_ties_to_nothing_is_a_finding_and_no_move_begins(
    slip: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, slip)
    (statement,) = fa.load(path)
    assert [found.message for found in fa.lint(statement)][:1] == [FINDINGS[slip]]
    assert main(["hunt", path, "--jobs", "1"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.endswith(f"mine/thm1: {FINDINGS[slip]}\n")


@pytest.mark.parametrize("slip", REFUSALS)
def test_what_is_no_word_or_no_tuple_is_refused_where_it_is_written(
    slip: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, slip)
    for move in ("lint", "hunt", "list"):
        assert main([move, path]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert path in err
        assert REFUSALS[slip] in err


@pytest.mark.parametrize(
    "move",
    ["derive", "derive --tree", "prove", "verify", "hunt", "audit", "worst", "worst L=2 mu=1 T=1"],
)
def test_no_move_begins(move: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, claim(ROUND))
    name, *options = move.split()
    assert main([name, path, *options]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.splitlines()[-1].endswith(f"mine/thm1: {FINDINGS[claim(ROUND)]}")
    (statement,) = fa.load(path)
    for ask in ("derive", "verify", "hunt", "audit", "worst"):
        with pytest.raises(fa.UserError, match="the letter H in `then`"):
            getattr(fa, ask)(statement)


def test_what_is_not_changed_has_no_finding(tmp_path: Path) -> None:
    assert not [*fa.lint(fa.load(written(tmp_path))[0])]


def test_with_the_papers_own_letters_a_true_theorem_survives_and_a_false_one_falls(tmp_path: Path) -> None:
    letters = rules("names={H: 'E', M: 'C'}")
    (true,) = fa.load(written(tmp_path, letters, claim(ROUND)))
    assert not [*fa.lint(true)]
    assert isinstance(fa.hunt(true, budget=0.3), fa.Survived)
    (false,) = fa.load(written(tmp_path, letters, claim(ROUND.replace("2 * H", "2 * H + 1"))))
    assert isinstance(fa.hunt(false, budget=0.3), fa.Refuted)
    (clients,) = fa.load(written(tmp_path, letters, claim("then=fa.Le(dist2(t + 1), dist2(t) / M), when=()")))
    assert isinstance(fa.hunt(clients, budget=0.3), fa.Refuted)


@pytest.mark.parametrize(
    "change",
    [
        claim("then=fa.Le(dist2(t + 1), (1 + q) * dist2(t)), sweep={gamma(t): fa.unit('s') / L, q: fa.free('q')}"),
        claim("then=fa.Le(dist2(t + 1), q * dist2(t)), where={q: (1 - gamma(t) * mu) ** 2}"),
        claim("choose={gamma(t): q / (q + 1) / L}, sweep={}"),
        claim("for_all={t: (3, T - 1)}"),
        claim("then=fa.Le(dist2(5), dist2(0)), for_all={}, when=(fa.Eq(E, 1), fa.Ge(T, 5))"),
        claim("then=fa.Le(dist2(T), dist2(0)), for_all={}"),
        claim("then=fa.Le(fa.Sum(dist2(t), (t, 0, T)), (T + 1) * dist2(0)), for_all={}"),
        claim(
            "then=fa.Le(away(t, k, i), dist2(0)), for_all={t: (0, T - 1), k: (0, E), i: (1, G.count('C', 'clients'))}"
        ),
        claim("let=(*LET, fa.Assumption('convex'), fa.Assumption('lower_bounded'))"),
        claim("reading=['all clients'], let=list(LET)"),
    ],
)
def test_names_that_mean_something_are_free(change: str, tmp_path: Path) -> None:
    assert not [*fa.lint(fa.load(written(tmp_path, change))[0])]


def test_a_constant_that_may_be_0_contradicts_nothing(tmp_path: Path) -> None:
    flat = "let=(LET[0], LET[2], fa.Assumption('strongly_convex', (nu,)), fa.Assumption('bounded_gradients', (B,)))"
    (statement,) = fa.load(written(tmp_path, claim(f"{flat}, then=fa.Le(dist2(t + 1), 4 * dist2(t))")))
    assert not [found for found in fa.lint(statement) if "contradict" in found.message]


def test_assumptions_contradict_others_that_exist() -> None:
    assert {other for known in ASSUMPTIONS.values() for other in known.against} <= {*ASSUMPTIONS}


def test_the_box_of_a_method_has_the_letters_of_the_paper(tmp_path: Path) -> None:
    (statement,) = fa.load(written(tmp_path, claim(ROUND), rules("names={H: 'E'}")))
    assert "for k = 0, ..., H - 1" in "\n".join(algorithm(statement.method))
