"""Files that a person might write, with one slip each: the kinds of slips, and how each of them changes a good file.

A variant is either a change of the statement's fields, as text (`when=fa.Eq(E, 1)`), or pairs of text in the file and
what stands in its place. Kinds whose slip is no fault but a question of taste stay in: they end in a verdict.
"""

# ruff: noqa: E501  (a table: one variant after the other)

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

Pairs = tuple[tuple[str, str], ...]
Variant = str | Pairs

GOOD = '''"""A paper of mine."""

import fedaudit as fa
from fedaudit.bounds.language.rule_expressions import batch_grad, full_prox, hess, oracle, prox, point, training_prox

G = fa.Glossary()
T, E, C, m = G.count("T", "rounds"), G.count("E", "local steps"), G.count("C", "clients"), G.count("m", "sampled")
t, k, i, j = G.index("t", "round"), G.index("k", "step"), G.index("i", "client"), G.index("j", "client")
L = G.symbol("L", "F/W^2", "smoothness")
mu = G.symbol("mu", "F/W^2", "strong convexity")
sigma = G.symbol("sigma", "F/W", "noise", nonnegative=True)
B = G.symbol("B", "F/W", "a bound")
rho = G.symbol("rho", "F/W^3", "of Hessians")
a = G.symbol("a", "1", "any number")
s = G.symbol("s", "W^2/F", "a step size without index")
gamma = G.quantity("gamma", "W^2/F", "step size", positive=True)
eta = G.quantity("eta", "W^2/F", "a step size of another method", positive=True)
gap = G.quantity("gap", "F", "E f(x_t) - f*", nonnegative=True)
far = G.quantity("far", "W^2", "E |x_t - x*|^2", nonnegative=True)
p = G.quantity("p", "1", "weights")
x, y, z = fa.vector("x"), fa.vector("y", "y_i"), fa.vector("z", "z_i")
NAMES = {}
MEASURES = {gap(t): fa.expect(fa.f(x)) - fa.f_star, far(t): fa.expect(fa.norm2(x - fa.w_star))}
METHOD = fa.Method(
    id="fedavg", title="FedAvg", cite="McMahan et al. 2017", glossary=G, names=NAMES,
    server={x: fa.start},
    client={y: x},
    begin={y: x},
    local={y: y - gamma(t) * fa.noisy(fa.grad(y))},
    end={},
    update={x: fa.mean(y)},
    measures=MEASURES,
)
LET = (
    fa.Assumption("smooth", (L,)), fa.Assumption("strongly_convex", (mu,)),
    fa.Assumption("weights_sum_to_one"), fa.Assumption("nonnegative_weights"),
)
FIELDS = dict(
    id="mine/thm1", kind="inequality", title="One step", cite="made up", method=METHOD, glossary=G, let=LET,
    when=(fa.Eq(E, 1),), then=fa.Le(gap(t + 1), (1 - gamma(t) * mu) * gap(t)), for_all={t: (0, T - 1)},
    sweep={gamma(t): fa.unit("step") / L},
)
'''
END = "THM = fa.Statement(**FIELDS)\n"
NOISE = 'let=(*LET, fa.Assumption("bounded_variance", (sigma,)), fa.Assumption("independent_noise"))'
BASES: dict[str, Variant] = {  # good files that a slip is put into
    "plain": "",
    "noise": f"{NOISE}, then=fa.Le(gap(t + 1), gap(t) + L * gamma(t) ** 2 * sigma ** 2)",
    "sampled": (("x: fa.mean(y)}", 'x: fa.mean(y, over="sampled")}'),),
    "two steps": "when=(fa.Eq(E, 2),), then=fa.Le(gap(t + 1), gap(t))",
}

RULE = "local={y: y - gamma(t) * fa.noisy(fa.grad(y))}"
GAP = "fa.expect(fa.f(x)) - fa.f_star"
ORDER = 'kind="order", method="order", sweep={}, for_all={}, when=(), let=()'
SCALAR = 'method="scalar", sweep={}, for_all={}, let=()'


def measured(what: str, at: str) -> Pairs:
    """A measure of this at these indices, and a claim about it."""
    spans = {"t": "t: (0, T - 1)", "k": "k: (0, E)", "i": "i: (1, C)", "j": "j: (1, C)"}
    named = [letter for letter in spans if letter in at.replace("T", "").split(", ")]
    claim = f"FIELDS |= dict(then=fa.Le(new({at}), 1 / L**2), for_all={{{', '.join(spans[n] for n in named)}}})\n"
    quantity = 'new = G.quantity("new", "W^2", "a measure", nonnegative=True)\n'
    return (("METHOD = ", f"{quantity}MEASURES[new({at})] = {what}\nMETHOD = "), (END, claim + END))


def ruled(rule: str) -> Pairs:
    """Another rule of the local steps."""
    return ((RULE, f"local={{y: {rule}}}"),)


def assumed(name: str, *constants: str) -> str:
    given = f", ({', '.join(constants)},)" if constants else ""
    return f'let=(*LET, fa.Assumption("{name}"{given}))'


KINDS: dict[str, tuple[Variant, ...]] = {
    # --- names
    "a name in Greek": (
        (('"mu", "F/W^2"', '"μ", "F/W^2"'),), (('"gamma", "W^2/F"', '"γ", "W^2/F"'),), (('"L", "F', '"ℓ", "F'),),
        (('G.quantity("gap"', 'G.quantity("Δ"'),),
    ),
    "a name with blanks or signs": (
        (('"mu", "F', '"my mu", "F'),), (('"mu", "F', '"mu*", "F'),), (('"mu", "F', '"", "F'),),
        (('"mu", "F', '"1", "F'),), (('"mu", "F', '"mu-1", "F'),), (('G.quantity("gap"', 'G.quantity("E f"'),),
        (('"L", "F/W^2"', f'"{"L" * 300}", "F/W^2"'),),
    ),
    "a symbol named p": (
        'then=fa.Le(gap(t + 1), gap(t) + G.symbol("p", "F", "slack"))',
        'sweep={}, choose={gamma(t): 1 / (L * (1 + G.symbol("p", "1", "slack")))}',
    ),
    "a symbol with the name of a size": (
        (('a = G.symbol("a"', 'a = G.symbol("C"'), (END, "FIELDS |= dict(then=fa.Le(gap(t + 1), a * gap(t)))\n" + END)),
        (('a = G.symbol("a"', 'a = G.symbol("d"'), (END, "FIELDS |= dict(then=fa.Le(gap(t + 1), a * gap(t)))\n" + END)),
        (('a = G.symbol("a"', 'a = G.symbol("n"'), (END, "FIELDS |= dict(then=fa.Le(gap(t + 1), a * gap(t)))\n" + END)),
    ),
    "a symbol with the name of a quantity": (
        'then=fa.Le(gap(t + 1), G.symbol("gap", "F", "a number"))',
        'then=fa.Le(gap(t + 1), gap(t) * G.symbol("gamma", "1", "a number"))',
    ),
    "two symbols of one name": ('then=fa.Le(gap(t + 1), G.symbol("L", "F", "again", real=True))',),
    "a symbol that is in no glossary": (
        (("import fedaudit as fa\n", "import fedaudit as fa\nimport sympy\n"),
         (END, 'FIELDS |= dict(then=fa.Le(gap(t + 1), sympy.Symbol("c") * gap(t)))\n' + END)),
        (("import fedaudit as fa\n", "import fedaudit as fa\nimport sympy\n"),
         (END, 'FIELDS |= dict(then=fa.Le(gap(t + 1), sympy.Symbol("μ") * gap(t)))\n' + END)),
    ),
    "a letter without a role": ("then=fa.Le(gap(t + 1), a * gap(t))", "then=fa.Le(gap(t + 1), m * gap(t))"),
    "a name that Python does not know": ("then=fa.Le(gap(t + 1), kappa * gap(t))", "when=(fa.Less(E, 2),)"),
    "a vector named like another": (
        (('fa.vector("z", "z_i")', 'fa.vector("y")'), ("client={y: x}", "client={y: x, z: x}")),
        (('fa.vector("y", "y_i")', 'fa.vector("x")'),), (('fa.vector("x")', 'fa.vector("t")'),),
        (('fa.vector("x")', 'fa.vector("χ")'),), (('fa.vector("x")', 'fa.vector("")'),),
    ),
    # --- indices
    "an index named otherwise": (
        (('G.index("t", "round")', 'G.index("r", "round")'),), (('G.index("t", "round")', 'G.index("n", "round")'),),
        (('G.index("t", "round")', 'G.index("i", "round")'),),
    ),
    "an index named otherwise, with names": (
        (('G.index("t", "round")', 'G.index("r", "round")'), ("NAMES = {}", 'NAMES = {t: "t"}')),
        (('G.index("t", "round")', 'G.index("s", "round")'), ("NAMES = {}", 'NAMES = {t: "t"}')),
    ),
    "names that say nothing": (
        (("NAMES = {}", 'NAMES = {T: "rounds"}'),), (("NAMES = {}", 'NAMES = {"T": T}'),),
        (("NAMES = {}", 'NAMES = {E: "T", T: "E"}'),), (("NAMES = {}", "NAMES = (T, E)"),),
    ),
    "an index that leaves its range": (
        "then=fa.Le(gap(t + 2), gap(t))", "then=fa.Le(gap(t), gap(t - 1))", "then=fa.Le(gap(2 * t), gap(0))",
        "then=fa.Le(gap(T + 1), gap(0)), for_all={}", "then=fa.Le(gap(-1), gap(0)), for_all={}",
        "then=fa.Le(gap(t * t), gap(0))", "then=fa.Le(gap(T**2), gap(0)), for_all={}",
    ),
    "an index that is no whole number": (
        "then=fa.Le(gap(t / 2), gap(0))", "then=fa.Le(gap(L), gap(0))", "then=fa.Le(gap(fa.Rational(1, 2)), gap(0))",
        "then=fa.Le(gap(0.5), gap(0))",
    ),
    "too many indices": ("then=fa.Le(gap(t, 1), gap(t))", "then=fa.Le(gap(), gap(0))", "then=fa.Le(gap(t, t, t), 1)"),
    "a quantity without its index": ("then=fa.Le(gap, gap(0))", "then=fa.Le(gap(t + 1), gamma * gap(t))"),
    "an index with brackets": ("then=fa.Le(gap[t + 1], gap[t])",),
    "an index that is text": ('then=fa.Le(gap("t"), gap(0))',),
    # --- domains and numbers
    "a float": ("then=fa.Le(gap(t + 1), 0.9 * gap(t))", "when=(fa.Le(L, 1.5 * mu),)", "sweep={gamma(t): 0.5 / L}"),
    "no number": (
        'then=fa.Le(gap(t + 1), float("nan"))', 'then=fa.Le(gap(t + 1), float("inf"))',
        "then=fa.Le(gap(t + 1), 1j * gap(t))",
    ),
    "a division by zero": (
        "then=fa.Le(gap(t + 1), gap(t) / 0)", "then=fa.Le(gap(t + 1), L / (L - L))", "sweep={gamma(t): 1 / (L * (E - 1))}",
        "then=fa.Le(gap(t + 1), gap(t) / (E - 1))", "then=fa.Le(gap(t + 1), gap(t) / t)",
        "sweep={}, choose={gamma(t): 1 / (L - mu)}", "then=fa.Le(gap(t + 1), (0 * L) ** -1)",
    ),
    "a root of what is below zero": (
        "then=fa.Le(gap(t + 1), fa.sqrt(mu - L))", "then=fa.Le(gap(t + 1), gap(t) * fa.sqrt(-1))",
        "then=fa.Le(gap(t + 1), gap(t) * fa.log(mu - L))", "sweep={}, choose={gamma(t): fa.sqrt(mu - L)}",
    ),
    "a huge number": (
        "then=fa.Le(gap(t + 1), 10**400 * gap(t))", "then=fa.Le(gap(t + 1), gap(t) / 10**400)",
        "then=fa.Le(gap(t + 1), fa.exp(1000) * gap(t))",
    ),
    "a domain that does not fit": (
        (('"smoothness")', '"smoothness", real=True)'),), (('"smoothness")', '"smoothness", negative=True)'),),
        (('"smoothness")', '"smoothness", integer=True)'),), (('"smoothness")', '"smoothness", positve=True)'),),
        (('"E f(x_t) - f*", nonnegative=True)', '"E f(x_t) - f*", negative=True)'),),
        (('"step size", positive=True)', '"step size", negative=True)'),),
        (('"step size", positive=True)', '"step size", integer=True)'),),
    ),
    "a dimension that does not fit": (
        "then=fa.Le(gap(t + 1), L * gap(t))", "then=fa.Le(gap(t + 1), gap(t) + 1)",
        (('"F/W^2", "smoothness"', '"F/X^2", "smoothness"'),), (('"F/W^2", "smoothness"', '2, "smoothness"'),),
        (('"F/W^2", "smoothness"', '"", "smoothness"'),),
    ),
    # --- conditions
    "a condition without a comma": ("when=fa.Eq(E, 1)", "when=[fa.Eq(E, 1)]", "when={fa.Eq(E, 1)}"),
    "a condition that Python answers": (
        "when=(E == 1)", "when=(E == 1,)", "when=(E != 1,)", "when=(1 < 2,)", "when=True", "when=None", "when=(fa.true,)",
    ),
    "a condition that is none": ("when=(E,)", 'when=("E = 1",)', "when=(1,)", "when=(E - 1,)", "when=(None,)"),
    "a condition of an index": ("when=(fa.Ge(t, 3),)", "when=(fa.Le(gap(t), 1),)"),
    "conditions that cannot be met": (
        "when=(fa.Eq(E, 1), fa.Eq(E, 2))", "when=(fa.Lt(L, mu),)", "when=(fa.Lt(L, 0),)", "when=(fa.Eq(E, 0),)",
        "when=(fa.Ge(E, 3), fa.Le(E, 2))",
    ),
    "a condition of logic": (
        "when=(fa.Eq(E, 1) | fa.Eq(E, 2),)", "when=(~fa.Eq(E, 1),)", "when=(fa.Eq(E, 1) & fa.Le(mu, L),)",
    ),
    "a condition of a measure": ("when=(fa.Le(gap(0), L),)", "when=(fa.Ge(gap(T), gap(0)),)"),
    # --- choose, sweep, where
    "a step size without its index": (
        "sweep={}, choose={gamma: 1 / L}", 'sweep={}, choose={G.symbol("gamma", "W^2/F", "s"): 1 / L}',
        "sweep={gamma: 1 / L}", 'sweep={G.symbol("gamma", "W^2/F", "s"): 1 / L}',
    ),
    "a step size of another method": (
        "sweep={}, choose={eta(t): 1 / L}", "sweep={eta(t): 1 / L}", "sweep={}, choose={s: 1 / L}",
    ),
    "a step size at one round": (
        "sweep={}, choose={gamma(0): 1 / L}", "sweep={}, choose={gamma(t + 1): 1 / L}", "sweep={gamma(0): 1 / L}",
        "sweep={}, choose={gamma(t, k): 1 / L}", "sweep={}, choose={gamma(L): 1 / L}",
    ),
    "a choice that is no formula": (
        'sweep={}, choose={gamma(t): "1/L"}', "sweep={}, choose={gamma(t): None}", "sweep={}, choose={gamma(t): (1, L)}",
        "sweep={}, choose={gamma(t): fa.Le(1, L)}", "sweep={}, choose={gamma(t): x}",
    ),
    "a choice of what is no name": (
        'sweep={}, choose={"gamma": 1 / L}', "sweep={}, choose={2 * gamma(t): 1 / L}", "sweep={}, choose={1: L}",
        "sweep={}, choose=((gamma(t), 1 / L),)", "sweep={}, choose=[gamma(t)]", "sweep={}, choose=1 / L",
    ),
    "a choice of a measure": ("choose={gap(t): L}", "where={gap(t): L}", "sweep={gap(t): L}"),
    "a choice that is zero or below": (
        "sweep={}, choose={gamma(t): 0}", "sweep={}, choose={gamma(t): -1 / L}", "sweep={gamma(t): 0}",
    ),
    "a choice with an index of its own": (
        "sweep={}, choose={gamma(t): 1 / (L * (k + 1))}", "sweep={}, choose={gamma(k): 1 / (L * (k + 1))}",
        "sweep={}, choose={gamma(t): 1 / (L * t)}", "sweep={}, choose={gamma(t): gamma(t)}",
        "sweep={}, choose={gamma(t): gamma(t + 1)}", "sweep={}, choose={gamma(t): gap(t) / (L * gap(0))}",
    ),
    "chosen and swept": ("choose={gamma(t): 1 / L}", "choose={L: 2 * mu}, sweep={gamma(t): 1 / L, L: mu}"),
    "a definition in a circle": (
        "where={a: a}, then=fa.Le(gap(t + 1), a * gap(t))", "where={a: 2 * a}, then=fa.Le(gap(t + 1), a * gap(t))",
        "where={L: mu, mu: L}",
    ),
    "a definition that nothing uses": ("where={a: 2}", "where={B: L * 2}"),
    "a definition of what is assumed": ("where={L: 2 * mu}", "where={T: 5}", "where={t: 1}", "where={E: 1}"),
    "a definition that is none": ('where={a: "2"}', "where={a: None}", "where=a", 'where={"a": 2}', "where={a: [1]}"),
    # --- for_all
    "no range": ("for_all={}", "for_all=None", "for_all=()", "for_all=t"),
    "a range that is none": (
        "for_all={t: T}", "for_all={t: (0,)}", "for_all={t: (0, 1, 2)}", 'for_all={"t": (0, T - 1)}',
        'for_all={t: ("0", "T - 1")}', "for_all={t: (T, 0)}", "for_all={t: (0, -1)}", "for_all={t: (0, L)}",
        "for_all={t: (0, fa.oo)}", "for_all={t: (0, T / 2)}", "for_all={t: range(3)}", "for_all={t: (0, 0.5)}",
    ),
    "a range of what is no index": ("for_all={t: (0, T - 1), L: (1, 2)}", "for_all={gap(t): (0, 1)}", "for_all={1: (0, 1)}"),
    "a range that no run reaches": ("for_all={t: (10**9, 10**9 + T)}", "for_all={t: (T + 5, T + 9)}"),
    "ranges that need one another": (
        "for_all={t: (0, k), k: (0, t)}, then=fa.Le(gap(t), gap(k))", "for_all={t: (0, t)}",
        "for_all={t: (0, T - 1), k: (0, T - 1)}",
    ),
    # --- claims
    "a claim that Python answers": (
        "then=gap(t) == 0", "then=True", "then=None", "then=fa.Le(1, 2)", "then=fa.Le(gap(t), gap(t))", "then=1 <= 2",
    ),
    "a claim that is none": (
        "then=gap(t)", 'then="gap <= 0"', "then=()", "then=(1, 2)", "then=fa.Ne(gap(t), 0)", "then=[]",
        "then=(fa.Le(gap(t), gap(0)), None)", "then={}",
    ),
    "a claim of vectors": ("then=fa.Le(x, y)", "then=fa.Le(gap(t), x)", "then=fa.Le(fa.norm2(x), 1)"),
    "a chain of claims": (
        "then=[fa.Le(gap(t + 1), gap(t)), fa.Le(gap(t), gap(0))]", "then=gap(t + 1) <= gap(t)",
        "then=fa.Le(gap(t + 1), gap(t), gap(0))",
    ),
    "a claim with an operation that no run knows": (
        "then=fa.Le(gap(t + 1), fa.floor(L) * gap(t))", "then=fa.Le(gap(t + 1), fa.Integral(L, (L, 0, 1)))",
        (("import fedaudit as fa\n", "import fedaudit as fa\nimport sympy\n"),
         (END, "FIELDS |= dict(then=fa.Le(gap(t + 1), sympy.sin(a) * gap(t)))\n" + END)),
        (("import fedaudit as fa\n", "import fedaudit as fa\nimport sympy\n"),
         (END, "FIELDS |= dict(then=fa.Le(gap(t + 1), sympy.floor(a) * gap(t)))\n" + END)),
        (("import fedaudit as fa\n", "import fedaudit as fa\nimport sympy\n"),
         (END, "FIELDS |= dict(then=fa.Le(gap(t + 1), sympy.Product(a, (k, 1, T)) * gap(t)))\n" + END)),
        (("import fedaudit as fa\n", "import fedaudit as fa\nimport sympy\n"),
         (END, "FIELDS |= dict(then=fa.Le(gap(t + 1), sympy.Piecewise((a, a > 1), (1, True)) * gap(t)))\n" + END)),
        (("import fedaudit as fa\n", "import fedaudit as fa\nimport sympy\n"),
         (END, "FIELDS |= dict(then=fa.Le(gap(t + 1), sympy.factorial(E) * gap(t)))\n" + END)),
    ),
    "a sum that is none": (
        "then=fa.Le(fa.Sum(gap(k), (k, 0, T)), gap(0))", "then=fa.Le(fa.Sum(gap(k), k), gap(0))",
        "then=fa.Le(fa.Sum(gap(k), (k, 0, L)), gap(0))", "then=fa.Le(fa.Sum(gap(k), (k, 0, fa.oo)), gap(0))",
        "then=fa.Le(fa.Sum(gap(t), (t, 0, T)), gap(0))", "then=fa.Le(fa.Sum(gap(k), (k, T, 0)), gap(0))",
        "then=fa.Le(gap(t + 1), fa.Sum(p(i), (i, 0, C)) * gap(t))",
    ),
    "another kind": (
        'kind="lemma"', 'kind="identity"', 'kind="exists"', 'kind="order"', 'kind="experiment"', "kind=None",
        'kind="Inequality"',
    ),
    "a claim of what is not offered": ("then=fa.Le(eta(t), gap(t))", "then=fa.Le(gap(t + 1), p(t) * gap(t))"),
    # --- fields
    "an id that is none": ('id="thm1"', 'id=""', "id=7", "id=None", 'id="mine/"', 'id="/thm1"', 'id="mine/a b"', 'id="mine/ü"'),
    "a field that does not exist": ("them=fa.Le(gap(t), 1)", "assumptions=LET", "sweeps={}"),
    "a field that is missing": (
        (("glossary=G, let=LET", "let=LET"),), (('cite="made up", ', ""),), (("then=fa.Le(gap(t + 1), (1 - gamma(t) * mu) * gap(t)), ", ""),),
    ),
    "a field of another type": (
        "title=None", "cite=7", "glossary={}", "glossary=None", "reading=7", 'reading="so read"', "limits=(1,)",
        "follows_from=(1,)", 'follows_from="lemma 1"', "order=7", 'order="1/T"', "order=(1 / T,)", "repairs=None", "form=1",
        "implicit=(1,)",
    ),
    "a method that is none": (
        'method="fedavg"', "method=None", 'method="run"', "method=FIELDS", 'method="scalar"', 'method="order"', "method=x",
    ),
    "a limit that is none": (
        "limits=(fa.Limit(T, fa.oo, 0),)", "limits=(fa.Limit(L, 0, 0),)", "limits=(T, 0)", "limits=fa.Limit(t, 0, 1)",
    ),
    # --- citations
    "a citation that is none": (
        'follows_from=(fa.Derivation(None, cites=("mine/lem1",)),)', 'follows_from=(fa.Derivation(cites=("a",)),)',
        'follows_from=fa.Derivation(lambda s: (), cites=("mine/lem1",))',
        "follows_from=(fa.Derivation(lambda s: 1),)", "follows_from=(fa.Derivation(lambda s: 1 / 0),)",
        'follows_from=(fa.Derivation(lambda s: (), cites="buttaci/lem4.1"),)',
        'follows_from=(fa.Derivation(lambda s: (), cites=("buttaci/lem4.1",)),)',
    ),
    # --- assumptions
    "an assumption without a comma": (
        'let=(fa.Assumption("smooth", L),)', 'let=fa.Assumption("smooth", (L,))', 'let=(fa.Assumption("smooth", [L]),)',
        'let=[fa.Assumption("smooth", (L,))]',
    ),
    "an assumption that is none": (
        'let=("smooth",)', 'let="smooth"', "let=(L,)", "let=None", "let=(None,)", "let=7",
        'let=(fa.Assumption("smoth", (L,)),)', 'let=(fa.Assumption(None, (L,)),)', 'let=(fa.Assumption(("smooth",)),)',
    ),
    "constants that are none": (
        'let=(fa.Assumption("smooth"),)', 'let=(fa.Assumption("smooth", (L, mu)),)', 'let=(fa.Assumption("smooth", (1,)),)',
        'let=(fa.Assumption("smooth", ("L",)),)', 'let=(fa.Assumption("smooth", (2 * L,)),)',
        'let=(fa.Assumption("smooth", (gamma(t),)),)', 'let=(fa.Assumption("smooth", (T,)),)',
        'let=(fa.Assumption("smooth", (gap,)),)',
    ),
    "an assumption twice": (
        'let=(*LET, fa.Assumption("smooth", (L,)))', 'let=(*LET, fa.Assumption("smooth", (mu,)))',
        'let=(fa.Assumption("smooth", (L,)), fa.Assumption("strongly_convex", (L,)))',
    ),
    "assumptions that deny each other": (
        'let=(*LET, fa.Assumption("full_participation"), fa.Assumption("without_replacement"))',
        'let=(*LET, fa.Assumption("exact_oracle"), fa.Assumption("inexact", (B,)))',
    ),
    "an assumption without what it is about": (
        assumed("similar_gradients", "B"), assumed("similar_hessians", "L"), assumed("bounded_gradients", "B"),
        assumed("lipschitz", "B"), assumed("lgd", "B"), assumed("inexact", "B"), assumed("exact_oracle"),
        assumed("nonnegative_loss"), assumed("two_groups", "mu", "B"), assumed("meta_gap", "B", "a"),
        assumed("hessian_variance", "L"), assumed("minibatch_variance", "sigma", "a"), assumed("bounded_subgradients", "B"),
        assumed("broadcast"), assumed("similarity_weights"), assumed("fedavg_weights"), assumed("full_batch"),
        assumed("independent_minibatches"), assumed("prox_pl", "mu"), assumed("homogeneous"), assumed("subgradients"),
        assumed("lipschitz_hessian", "rho"), assumed("exact_variance", "sigma"), assumed("gradient_variance", "sigma"),
        assumed("bounded_below"), assumed("lower_bounded"), assumed("two_sided", "L"), assumed("weakly_convex", "L"),
        assumed("positive_weights"), assumed("equal_weights"), assumed("distribution"), assumed("convex"),
        assumed("mean_strongly_convex", "mu"), assumed("descent", "L"), assumed("with_replacement"),
    ),
    "an assumption whose meaning is none": (
        'let=(*LET, fa.Assumption("mine", (B,), means=fa.Le(gap(t), B)))',
        'let=(*LET, fa.Assumption("mine", (B,), means=fa.Le(gap(t), L), for_all=((t, 0, T),)))',
        'let=(*LET, fa.Assumption("mine", (B,), means=fa.Le(far(t), B), for_all=(t, 0, T)))',
        'let=(*LET, fa.Assumption("mine", (B,), means=True))', 'let=(*LET, fa.Assumption("mine", (B,), means="gap <= B"))',
        'let=(*LET, fa.Assumption("mine", (B,), means=fa.Le(eta(t), B), for_all=((t, 0, T),)))',
        'let=(*LET, fa.Assumption("mine", (B,), means=fa.Le(far(t), B**2), for_all=((t, 0, "T"),)))',
        'let=(*LET, fa.Assumption("mine", (B,), means=fa.Le(far(t), B**2), for_all=((t, 0),)))',
        'let=(*LET, fa.Assumption("mine", (B,), means=fa.Le(far(t), B**2), for_all={t: (0, T)}))',
        'let=(*LET, fa.Assumption("mine", (B,), means=fa.Le(far(t + 1), B**2), for_all=((t, 0, T),)))',
    ),
    # --- methods
    "noise twice": (
        ruled("y - gamma(t) * (fa.noisy(fa.grad(y)) + fa.noisy(fa.grad(x)))"),
        ruled("y - gamma(t) * fa.noisy(fa.noisy(fa.grad(y)))"),
        ruled("y - gamma(t) * fa.noisy(fa.grad(y) + fa.noisy(y))"),
    ),
    "noise where none is drawn": (
        (("x: fa.mean(y)}", "x: fa.mean(fa.noisy(y))}"),), (("begin={y: x}", "begin={y: fa.noisy(x)}"),),
        (("x: fa.mean(y)}", "x: fa.noisy(fa.mean(y))}"),), (("end={}", "end={y: fa.noisy(y)}"),),
        (("server={x: fa.start}", "server={x: fa.noisy(fa.start)}"),),
        measured("fa.expect(fa.norm2(fa.noisy(x, again=True)))", "t, k, i"),
    ),
    "`begin` that reads what is not kept": (
        (("begin={y: x}", "begin={y: y}"),), (("begin={y: x}", "begin={y: x - y}"),),
        (("client={y: x}", "client={y: x, z: x}"), ("begin={y: x}", "begin={y: z, z: y}")),
    ),
    "`begin` that reads what is kept": (
        (("client={y: x}", "client={y: x, z: x}"), ("begin={y: x}", "begin={y: z}"), ("end={}", "end={z: y}")),
        (("client={y: x}", "client={y: x, z: x}"), ("begin={y: x}", "begin={z: y}")),
    ),
    "an oracle": (
        ruled("oracle(x, gamma(t))"), ruled("oracle(x, 1)"), ruled("oracle(x, 2 * s)"), ruled("y - oracle(x, s)"),
    ),
    "a point that no instance gives": (
        ruled('y - gamma(t) * (y - point("q"))'), ruled("full_prox(y, s)"), ruled("training_prox(y, s)"),
        ruled("training_prox(oracle(y, s), s)"), ruled("full_prox(oracle(y, s), s)"),
    ),
    "an oracle under a full mean": (
        (*ruled("oracle(x, s)"), (END, "FIELDS |= dict(sweep={}, then=fa.Le(gap(t + 1), gap(t)))\n" + END)),
    ),
    "a batch": (
        ruled("y - gamma(t) * batch_grad(y)"), ruled("y - gamma(t) * fa.noisy(batch_grad(y))"),
    ),
    "another operation": (
        ruled("prox(y, gamma(t))"), ruled("y - gamma(t) * hess(y, y)"), ruled("y - gamma(t) * fa.neighbours(y)"),
        ruled("fa.prox(y, 1)"), ruled('point("here")'), ruled("fa.w_star"), ruled("fa.start"),
        ruled("y - gamma(t) * fa.full_grad(x)"),
    ),
    "a sample of nobody": (
        (("x: fa.mean(y)}", 'x: fa.mean(y, over="selected")}'),), (("x: fa.mean(y)}", 'x: fa.mean(y, "some")}'),),
        (("x: fa.mean(y)}", "x: fa.mean(y, over=m)}"),), (("x: fa.mean(y)}", "x: fa.mean(y, weights=p)}"),),
        (("x: fa.mean(y)}", 'x: fa.mean(y, weights="p")}'),),
    ),
    "a client's vector at the server": (
        (("x: fa.mean(y)}", "x: y}"),), (("x: fa.mean(y)}", "x: x + fa.grad(x)}"),), (("server={x: fa.start}", "server={x: y}"),),
        (("client={y: x}", "client={y: fa.grad(x)}"),), (("client={y: x}", "client={y: y}"),),
    ),
    "a vector that nobody declared": (
        ruled("z"), (("begin={y: x}", "begin={z: x}"),), (("x: fa.mean(y)}", "x: fa.mean(z)}"),),
        (("x: fa.mean(y)}", "y: fa.mean(y)}"),), (("begin={y: x}", "begin={x: x}"),),
    ),
    "a rule that is none": (
        ruled("gamma(t)"), ruled("0"), ruled("1"), ruled('"y"'), ruled("None"), ruled("y * y"), ruled("y + 1"), ruled("y - L"),
        ruled("fa.grad"), ruled("fa.grad(L)"), ruled("fa.grad(y, x)"), ruled("y / 0"), ruled("y ** 2"), ruled("fa.norm2(y)"),
        ruled("y - 0.1 * fa.grad(y)"), ruled("y - gamma * fa.grad(y)"), ruled("gamma(t) / y"), ruled("y - gamma(t)"),
    ),
    "rules that are none": (
        (("begin={y: x}", "begin={y, x}"),), (("begin={y: x}", "begin=None"),), (("begin={y: x}", 'begin={"y": x}'),),
        (("server={x: fa.start}", "server={}"),), (("server={x: fa.start}", "server=x"),), (("client={y: x}", "client={}"),),
        (("begin={y: x}", "begin={y - x: x}"),), (("x: fa.mean(y)}", "}"),), ((RULE, "local={}"),), ((RULE + ",", ""),),
    ),
    "a step size at other indices": (
        ruled("y - gamma(k) * fa.grad(y)"), ruled("y - gamma(i) * fa.grad(y)"), ruled("y - gamma(t, k) * fa.grad(y)"),
        ruled("y - gamma(t + 1) * fa.grad(y)"), ruled("y - gamma(0) * fa.grad(y)"), ruled("y - gamma() * fa.grad(y)"),
        ruled("y - gamma(t, k, i) * fa.grad(y)"), ruled("y - gamma(T) * fa.grad(y)"),
        ruled("y - gamma(t) * gamma(t, k) * L * fa.grad(y)"),
    ),
    "a factor that no rule knows": (
        ruled("y - p(i) * gamma(t) * fa.grad(y)"), ruled("y - gap(t) * fa.grad(y)"), ruled("y - t * fa.grad(y)"),
        ruled("y - i * gamma(t) * fa.grad(y)"), ruled("y - s * fa.grad(y)"), ruled("y - C * gamma(t) * fa.grad(y)"),
        ruled("y - gamma(t) / t * fa.grad(y)"),
    ),
    "another field of a method": (
        (("names=NAMES,", 'names=NAMES, clock="seconds",'),), (("names=NAMES,", 'names=NAMES, clock="steps",'),),
        (("names=NAMES,", "names=NAMES, counts_from=7,"),), (("names=NAMES,", "names=NAMES, counts_from=1,"),),
        (("names=NAMES,", "names=NAMES, first=L,"),), (("names=NAMES,", 'names=NAMES, first="E",'),),
        (("names=NAMES,", "names=NAMES, before={gamma(t): eta(t)},"),), (('id="fedavg"', 'id="my method"'),),
        (('id="fedavg"', "id=7"),), (('id="fedavg"', 'id="μ"'),), (("names=NAMES,", "names=NAMES, server=None,"),),
        (("names=NAMES,", "names=NAMES, formulas={gap(t): L},"),),
    ),
    # --- measures
    "a measure of what is not kept": (
        measured("fa.expect(fa.norm2(y - x))", "t, i"), measured("fa.expect(fa.norm2(fa.mean(y) - x))", "t"),
        measured("fa.picked(fa.norm2(y))", "T"), measured("fa.expect(fa.norm2(y - x))", "t"),
    ),
    "a measure of a client without the client": (
        measured("fa.expect(fa.norm2(y - x))", "t, k"), measured("fa.expect(fa.norm2(fa.grad(x)))", "t"),
        measured("fa.expect(fa.f_i(x))", "t"),
    ),
    "a measure at other indices": (
        measured(GAP, "k"), measured(GAP, "k, t"), measured(GAP, "t, t"), measured(GAP, "0"), measured(GAP, "L"),
        measured(GAP, "T"), measured(GAP, "t + 1"), measured(GAP, "t, j"), measured(GAP, "i, t"), measured(GAP, "t, i"),
        measured(GAP, "t, k"), measured(GAP, "t, k, i"), measured(GAP, "t, i, j"),
    ),
    "a measure that is none": (
        measured("fa.f(x)", "t"), measured("x", "t"), measured("1", "t"), measured("None", "t"), measured('"gap"', "t"),
        measured("fa.expect(x)", "t"), measured("fa.expect(fa.f(x)) - fa.f(x)", "t"), measured("fa.expect(fa.f(x)) - 1", "t"),
        measured("fa.expect(fa.f(1))", "t"), measured("fa.expect(fa.f(x) * fa.f(x))", "t"), measured("fa.expect(fa.f(z))", "t"),
        measured("fa.expect(fa.norm2(x, y))", "t"), measured("fa.expect(fa.inner(x))", "t"), measured("fa.expect(L)", "t"),
    ),
    "measures that are none": (
        (("measures=MEASURES", "measures=()"),), (("measures=MEASURES", "measures=None"),), (("gap(t): fa", "gap: fa"),),
        (("gap(t): fa", '"gap": fa'),), (("gap(t): fa", "L: fa"),), (("measures=MEASURES", "measures={}"),),
        (("gap(t): fa", "gamma(t): fa"),), (("gap(t): fa", "p(t): fa"),),
    ),
    "an extreme of other sorts": (
        measured("fa.least(fa.norm2(x))", "t"), measured("fa.most(fa.norm2(y))", "t"), measured("fa.picked(fa.norm2(x))", "t"),
        measured("fa.mean_norm2(x)", "t"), measured("fa.picked_step(fa.norm2(y))", "t"), measured("fa.expect(fa.expect(fa.f(x)))", "t"),
    ),
    # --- orders
    "an order that is none": (
        f"{ORDER}, then=fa.Le(gap(t), 1)", f"{ORDER}, then=fa.Le(x, y)", f'{ORDER}, then="O(1/T)"',
        f'{ORDER}, then=fa.Le(L, T), let=(fa.Assumption("fixed", L),)', f'{ORDER}, then=fa.Le(L, T), let=(fa.Assumption("groes", (T,)),)',
        f'{ORDER}, then=fa.Le(L, T), let=(fa.Assumption("fixed", (1,)),)', f'{ORDER}, then=fa.Le(L, T), when=(T == 1,)',
        f"{ORDER}, then=fa.Le(0.5 * L, T)", f"{ORDER}, then=fa.Ne(L, T)", f"{ORDER}, then=fa.Le(L / 0, T)",
        f"{ORDER}, then=fa.Le(fa.Sum(k, (k, 1, T)), T)", f'{ORDER}, then=fa.Le(L * T, T), let=(fa.Assumption("smooth", (L,)),)',
        f"{ORDER}, then=fa.Le(L, T), choose={{gamma(t): 1 / L}}", f"{ORDER}, then=fa.Le(L, T), method=METHOD",
    ),
    "an order with a power that shrinks": (f"{ORDER}, then=fa.Le((1 - a) ** T, 1 / T), when=(fa.Lt(a, 1),)",),
    "an order with exp": (f"{ORDER}, then=fa.Le(fa.exp(-a * T), 1 / T)", f"{ORDER}, then=fa.Le(fa.exp(T), T)"),
    "an order with a difference of roots": (f"{ORDER}, then=fa.Le(fa.sqrt(T + 1) - fa.sqrt(T), 1 / T)",),
    "an order with a right side of zero or below": (f"{ORDER}, then=fa.Le(1 / T, 0)", f"{ORDER}, then=fa.Le(1 / T, -T)"),
    # --- settings without a method
    "a setting that is none": (
        f"{SCALAR}, when=(), then=fa.Le(gap(t), 1)", f"{SCALAR}, when=(), then=fa.Le(L, mu)", f"{SCALAR}, when=(), then=fa.Le(x, y)",
        f"{SCALAR}, when=(), then=fa.Le(L, 0.5)", f"{SCALAR}, when=(T == 1,), then=fa.Le(L, mu)", f"{SCALAR}, when=(), then=fa.Le(L, 1 / (mu - mu))",
        f'{SCALAR}, when=(), then=fa.Le(L, mu), let=(fa.Assumption("smooth", (L,)),)', f"{SCALAR}, when=(), then=fa.Le(fa.log(mu - L), mu)",
        f"{SCALAR}, when=(), then=fa.Le(L, mu), choose={{a: 1}}", f'{SCALAR}, when=(), then=fa.Le(G.symbol("μ", "1", "m"), 1)',
    ),
    # --- the file
    "a file that Python cannot read": (
        ((END, "THM = fa.Statement(**FIELDS\n"),), (("LET = (", "LET = ("), (END, "  THM = fa.Statement(**FIELDS)\n")),
        ((END, "THM := fa.Statement(**FIELDS)\n"),), ((END, 'THM = "fa.Statement\n'),), (("G = fa", "G == fa"),),
        (("T, E, C, m =", "T, E, C ="),), ((END, "THM = fa.Statement(**FIELDS)\x00\n"),), ((END, "return 1\n"),),
    ),
    "a file that fails": (
        ((END, "1 / 0\n"),), ((END, "raise ValueError('one\\ntwo')\n"),), ((END, "import sys\nsys.exit(3)\n"),),
        ((END, "raise SystemExit\n"),), ((END, "assert False\n"),), ((END, "THM = fa.Statement(FIELDS)\n"),),
        ((END, "def f():\n    return f()\nf()\n"),), ((END, "class E(Exception):\n    def __str__(self):\n        return 1 / 0\nraise E\n"),),
    ),
    "an import that is not there": (
        (("import fedaudit as fa\n", "import fedaudit as fa\nimport fedaudits\n"),), (("import fedaudit as fa\n", "import fedaudit\n"),),
        (("hess, oracle, prox", "hess, oracles, prox"),), (("import fedaudit as fa\n", "from fedaudit import *\n"),),
        (("import fedaudit as fa\n", "from . import symbols\nimport fedaudit as fa\n"),),
    ),
    "a file without a statement": ((("THM = ", "THM = x\n"), (END[6:], "")), ((END, ""),), ((END, "THM = [fa.Statement(**FIELDS)]\n"),)),
    "two statements of one id": ((("THM = ", "THM = "), (END, END + "AGAIN = fa.Statement(**FIELDS | dict(title='again'))\n")),),
    "an id of the catalogue": ('id="buttaci/lem4.1"',),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class File:
    """One file with one slip: its kind, which variant of it, the good file that it was put into, and its text."""

    kind: str
    variant: int
    base: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.kind} {self.variant}, {self.base}"


def changed(text: str, variant: Variant) -> str:
    """The file with a change of the statement's fields, or with other text at some places."""
    if isinstance(variant, str):
        return text.replace(END, f"FIELDS |= dict({variant})\n{END}") if variant else text
    for old, new in variant:
        if text.count(old) != 1:
            raise ValueError(f"got {text.count(old)} places with {old!r}, expected one")
        text = text.replace(old, new)
    return text


def files(seed: int = 0) -> Iterator[File]:
    """Every variant of every kind in a good file, and once more in another one that chance picks."""
    rng = random.Random(seed)
    good = {base: changed(GOOD + END, variant) for base, variant in BASES.items()}
    for kind, variants in KINDS.items():
        for n, variant in enumerate(variants):
            for base in ("plain", rng.choice([base for base in BASES if base != "plain"])):
                try:
                    yield File(kind, n, base, changed(good[base], variant))
                except ValueError:  # the slip stands where this good file differs
                    if base == "plain":
                        raise
