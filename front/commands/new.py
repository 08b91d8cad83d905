"""`fedaudit new`: a complete file with a method and a statement about it, to be changed; from LaTeX where it can."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fedaudit.bounds.catalogue.discovery import find, find_methods
from fedaudit.bounds.catalogue.method_source import formula, glossary_lines, method_lines
from fedaudit.bounds.formulas.latex_reader import Parsed, Unread, parse, parts, renamed, source
from fedaudit.bounds.formulas.number_length import MOST_DIGITS, long_in_code
from fedaudit.bounds.language.method import Method, quantity_name
from fedaudit.bounds.language.method_interface import ranges
from fedaudit.bounds.language.starter_methods import STARTERS, starter
from fedaudit.bounds.lint.checks import Finding, lint

from ..errors import UserError, cut, one_line

STEPS = ("eta", "gamma", "alpha")  # letters of step sizes, the likeliest first
CLIENTS = ("N", "n", "M", "K")  # letters for the number of clients, where they are not the horizon
KNOWN = {  # symbol -> how the glossary makes it, and the assumption that it belongs to
    "L": ('"F/W^2", "smoothness"', 'fa.Assumption("smooth", (L,), "every f_i is L-smooth")'),
    "mu": ('"F/W^2", "strong convexity", r"\\mu"',
           'fa.Assumption("strongly_convex", (mu,), "every f_i is mu-strongly convex")'),
    "sigma": ('"F/W", "noise of a stochastic gradient", r"\\sigma", nonnegative=True',
              'fa.Assumption("bounded_variance", (sigma,), "the noise has variance at most sigma^2")'),
    "G": ('"F/W", "bound on the gradients of the run", nonnegative=True',
           'fa.Assumption("gradients", (G,), "E |g_i|^2 <= G^2", means=fa.Le(grad2(t, k, i), G**2), '
           "for_all=((t, 0, T - 1), (k, 0, E - 1), (i, 1, C)))"),
    "Gamma": ('"F", "f* - sum_i p_i f_i*: heterogeneity", r"\\Gamma", nonnegative=True', ""),
    "kappa": ('"1", "L / mu", r"\\kappa"', ""),
}  # fmt: skip
DIMENSIONS = ("1", "W^2", "F", "F/W", "F^2/W^2", "F/W^2", "W^2/F", "W", "F/W^3")
MOST_UNKNOWN = 2
INDEPENDENT = 'fa.Assumption("independent_noise", (), "clients draw their noise on their own")'
WEIGHTS = ('fa.Assumption("weights_sum_to_one", (), "sum p_i = 1")',
           'fa.Assumption("nonnegative_weights", (), "p_i >= 0")')  # fmt: skip


@dataclass(frozen=True, slots=True)
class Draft:
    """What the file says about one method: symbols, assumptions, and the statement's fields as text."""

    method: Method
    constants: tuple[str, ...] = ()  # of KNOWN
    others: tuple[tuple[str, str], ...] = ()  # symbols that nothing is known of, with dimensions
    fields: dict[str, str] = field(default_factory=dict[str, str])
    title: str = "A first statement, to be replaced by your own"
    comment: str = ""


def written(name: str, method: str, latex: str | None) -> str:
    """Write the file; returns a line about what could not be read, or nothing."""
    path = Path(name)
    if path.suffix != ".py":
        raise UserError(f"the name {name!r}", "one that ends in .py", "write it like my_paper.py")
    if os.path.lexists(path):
        raise UserError(f"{name}, which is there already", "a new name", "nothing was written; pick another name")
    if not path.resolve().parent.is_dir():
        raise UserError(name, "a file in a folder that exists", "make the folder first")
    text, unread = made(method, latex, path.stem)
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UserError(f"{name} ({error.strerror})", "a file that can be written", "pick another name") from error
    return unread


def made(name: str, latex: str | None, paper: str = "mine") -> tuple[str, str]:
    """The file's text, and a line about what could not be read of the LaTeX."""
    label = "".join(c if c.isalnum() or c in "-_" else "-" for c in paper) or "mine"
    draft = _draft(name)
    if latex is None:
        return _text(draft, label), ""
    try:
        parsed = parse(latex)
        _short_numbers(parsed)
        read = _read(draft, name, parsed, latex)
    except Unread as error:
        reason = f"got LaTeX with {error}, which is not read; the file has a first statement in its place"
        note = f"# Not read ({one_line(str(error))}), to be written by hand in `then`: {cut(one_line(latex), 300)}"
        return _text(replace(draft, comment=note), label), reason
    return _fitted(read, label)


def _short_numbers(parsed: Parsed) -> None:
    """`UserError` for a number that nobody could write out, before anything computes it."""
    long = long_in_code(f"{source(parsed.left)}, {source(parsed.right)}")
    if long is not None:
        got = f"LaTeX with {long.code}, a number of more than {MOST_DIGITS} digits"
        raise UserError(got, f"at most {MOST_DIGITS}", "write a shorter number; nothing was written")


def _draft(name: str) -> Draft:
    if name == "fedavg":
        fields = {
            "when": "(fa.Eq(E, 1),)",
            "then": "fa.Le(gap(t + 1), (1 - gamma(t) * mu) * gap(t))",
            "for_all": "{t: (0, T - 1)}",
            "sweep": '{gamma(t): fa.unit("step") / L}',
        }
        return Draft(starter("fedavg"), ("L", "mu"), (), fields)
    if name == "gd":
        fields = {
            "when": "(fa.Eq(E, 1), fa.Eq(C, 1))",
            "choose": "{gamma(t): 1 / L}",
            "then": "fa.Le(gap(T), L * dist2(0) / (4 * T + 2))",
        }
        return Draft(starter("gd"), ("L",), (), fields)
    method = _of_catalogue(name)
    at_rounds = [str(q) for q in method.measures if list(map(str, q.args)) == ["t"]]
    if not at_rounds:
        return _never_negative(method)
    first = method.counts_from
    if {"gap(t)", "dist2(t)"} <= set(at_rounds):
        fields = {
            "then": "fa.Le(gap(t), L / 2 * dist2(t))",
            "for_all": f"{{t: ({first}, {f'T + {first}' if first else 'T'})}}",
        }
        return Draft(method, ("L",), (), fields)
    measure = at_rounds[0].removesuffix("(t)")
    last = f"T + {first - 1}" if first > 1 else "T" if first else "T - 1"
    return Draft(
        method, ("L",), (), {"then": f"fa.Le({measure}(t + 1), {measure}(t))", "for_all": f"{{t: ({first}, {last})}}"},
        "A first guess: does it fall in every round?",
    )  # fmt: skip


def _never_negative(method: Method) -> Draft:
    """A first statement about a method that measures nothing at a round alone."""
    measure = next(iter(method.measures))
    over = [one for one in ranges(method, method.glossary, getattr(measure, "args", ())) if one is not None]
    fields = {"then": f"fa.Ge({formula(measure)}, 0)"}
    if over:
        ends = (f"{formula(one.index)}: ({one.first}, {formula(one.last)})" for one in over)
        fields["for_all"] = f"{{{', '.join(ends)}}}"
    return Draft(method, ("L",), (), fields, comment="# A first guess: it is never negative.")


def _of_catalogue(name: str) -> Method:
    encoded = [m for _, m in find_methods([])]
    named = [m for m in encoded if m.id == name]
    if not named:
        import difflib

        near = difflib.get_close_matches(name, [*STARTERS, *(m.id for m in encoded)], n=1)
        do = f"did you mean {near[0]}?" if near else "`fedaudit methods` lists more"
        raise UserError(f"--method {name}", f"one of {', '.join(STARTERS)}, or a method of the papers", do)
    method_lines(named[0])  # says what cannot be written
    return named[0]


def _read(draft: Draft, name: str, parsed: Parsed, latex: str) -> Draft:
    """The statement that was parsed, about this method."""
    sides = [parsed.left, parsed.right]
    measured = [part for side in sides for part in parts(side) if part[0] == "call"]
    offered = {quantity_name(q) for q in draft.method.measures if len(q.args) == 1}
    for _, measure, _ in measured:
        if measure not in offered:
            raise Unread(f"{measure}, which {draft.method.id} does not measure at a round,")
    inside = {part for _, _, at in measured for part in parts(at) if part[0] == "symbol"}
    names: dict[Any, Any] = {}
    for letter in inside:
        names[letter] = ("symbol", "T" if letter[1].isupper() else "t")
    plain = {part[1] for side in sides for part in parts(side) if part[0] == "symbol"}
    for clients in CLIENTS:
        if clients in plain and ("symbol", clients) not in names:
            names["symbol", clients] = ("symbol", "C")
            break
    indexed = [p for side in sides for p in parts(side) if p[0] == "below" and p[1] in STEPS and p[2][0] == "symbol"]
    for part in indexed:
        names[part] = ("call", part[1], ("symbol", "t"))
    for part in (p for side in sides for p in parts(side) if p[0] == "below" and p not in names):
        names[part] = ("symbol", f"{part[1]}_{part[2][1]}")
    if "lambda" in plain:
        names["symbol", "lambda"] = ("symbol", "lambda_")
    left, right = (renamed(side, names) for side in sides)
    used = {part[1] for side in (left, right) for part in parts(side) if part[0] == "symbol"}
    return _about(draft, name, parsed.relation, left, right, used, {p[1] for p in indexed}, latex, _said(names))


def _said(names: dict[Any, Any]) -> str:
    """Letters that were renamed."""
    changed = [f"{old[1]} is {new[1]}" for old, new in names.items() if old[0] == new[0] and old[1] != new[1]]
    return f"  ({', '.join(sorted(changed))} here)" if changed else ""


def _about(
    draft: Draft,
    name: str,
    relation: str,
    left: Any,
    right: Any,
    used: set[str],
    indexed: set[str],
    latex: str,
    said: str,
) -> Draft:
    own = name in STARTERS
    if len(indexed) > 1 or (indexed and not own and not indexed <= _steps(draft.method)):
        raise Unread(f"the step sizes {', '.join(sorted(indexed))}, which are not those of {draft.method.id},")
    step = next(iter(indexed), "") or next((s for s in STEPS if own and s in used), "")
    method = draft.method
    if own and step:
        method = starter(name, step if indexed else f"{step}_t")
    size = next(iter(_steps(method)), "")
    constants = [c for c in KNOWN if c in used or c == "L" or (c == "mu" and "kappa" in used)]
    if "sigma" in used and not method.uses("noisy"):
        raise Unread(f"sigma, where {method.id} has no noise,")
    taken = {*constants, "T", "E", "C", "t", "k", "i", *([] if indexed or not step else [step])}
    taken |= {formula(s) for s in method.glossary}
    others = tuple((symbol, "1") for symbol in sorted(used - taken))
    if len(others) > MOST_UNKNOWN:
        raise Unread(
            f"the symbols {', '.join(s for s, _ in others)}, more than {MOST_UNKNOWN} without a known meaning,"
        )
    later = any(part[0] == "call" and part[2][0] == "+" for side in (left, right) for part in parts(side))
    kept = ("when",) if step else ("when", "choose")
    fields = {key: value for key, value in draft.fields.items() if key in kept and name == "gd"}
    if step and not indexed:
        fields["choose"] = f"{{{size}(t): {step}}}"
        fields["sweep"] = f'{{{step}: fa.unit("step") / L}}'
    elif own and "choose" not in fields:
        fields["sweep"] = f'{{{size}(t): fa.unit("step") / L}}'
    fields["then"] = f"fa.{relation}({source(left)}, {source(right)})"
    if "kappa" in used:
        fields["where"] = "{kappa: L / mu}"
    if "t" in used:
        fields["for_all"] = "{t: (0, T - 1)}" if later else "{t: (0, T)}"
    if step and not indexed:
        constants = [*constants, step]
    comment = f"# From: {cut(one_line(latex), 300)}{said}"
    return replace(
        draft, method=method, constants=tuple(constants), others=others, fields=fields, comment=comment,
        title="As it was printed",
    )  # fmt: skip


def _steps(method: Method) -> set[str]:
    return {x.func.__name__ for x in method.steps()}


def _fitted(draft: Draft, label: str) -> tuple[str, str]:
    """The file with the first dimensions of unknown symbols that agree, if any do."""
    names = [symbol for symbol, _ in draft.others]
    for dims in product(DIMENSIONS, repeat=len(names)):
        text = _text(replace(draft, others=tuple(zip(names, dims, strict=True))), label)
        if not names or all(finding.rule == "form" for finding in _findings(text)):  # what they are, nobody knows yet
            break
    else:
        text = _text(draft, label)
    findings = _findings(text)
    if findings:
        return text, f"the file is written, and `fedaudit lint` has something to say: {findings[0].message}"
    return text, ""


def _findings(text: str) -> list[Finding]:
    """What lint finds in the file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "draft.py"
        path.write_text(text, encoding="utf-8")
        return [finding for s in find([str(path)]) for finding in lint(s)]


def _text(draft: Draft, label: str) -> str:
    method, has_noise = draft.method, "sigma" in draft.constants
    mu = [] if "mu" in draft.constants else ['fa.Assumption("convex", (), "every f_i is convex")']
    named = [KNOWN[c][1] for c in draft.constants if c in KNOWN and KNOWN[c][1]]
    let = [*named, *mu, *WEIGHTS, *([INDEPENDENT] if has_noise else [])]
    taken = {str(key) for key in method.glossary}
    symbols = [_symbol(c) for c in draft.constants if c not in taken]
    symbols += [f'{s} = GLOSSARY.symbol("{s}", "{dim}", "what is it?")' for s, dim in draft.others]
    own = [key for key in method.glossary if str(key) in draft.constants]
    lines = [
        f'"""{label}: a method and a statement about it. Change what you like; then',
        "",
        f"    fedaudit lint {label}.py      # does it make sense?",
        f"    fedaudit verify {label}.py    # does it hold on thousands of runs?",
        f"    fedaudit hunt {label}.py      # can it be broken?",
        f"    fedaudit audit {label}.py     # all of these, with a page: audit/index.html",
        "",
        f"`fedaudit methods {label}.py` prints the algorithm, its measures and the assumptions that runs understand.",
        '"""',
        "",
        "import fedaudit as fa",
        "",
        "# Symbols, with dimensions in F (a value of the objective) and W (a length): lint compares both sides.",
        "GLOSSARY = fa.Glossary()",
        *glossary_lines(method, own),
        *symbols,
        "",
        "# The method, as an algorithm box. Rules of one line are carried out at once.",
        *method_lines(method),
        "",
        "# What the theorem assumes: instances are drawn so that they meet it. `fedaudit assumptions` lists more.",
        "LET = (",
        *(f"    {one}," for one in let),
        ")",
        "",
        "# The theorem, in the order let, choose, when, then, where. Numbers are exact: fa.Rational(1, 2), not 0.5.",
        *([draft.comment] if draft.comment else []),
        "THEOREM = fa.Statement(",
        f'    id="{label}/thm1",',
        '    kind="inequality",' if "fa.Eq(" not in draft.fields["then"] else '    kind="identity",',
        f'    title="{draft.title}",',
        '    cite="theorem 1",',
        "    method=METHOD,",
        "    glossary=GLOSSARY,",
        "    let=LET,",
        *(f"    {name}={draft.fields[name]},{_REMARKS[name]}" for name in _REMARKS if name in draft.fields),
        ")",
        "",
    ]
    return "\n".join(lines)


_REMARKS = {
    "choose": "  # step sizes that the theorem chooses",
    "when": "  # conditions on sizes and constants",
    "then": "",
    "where": "  # abbreviations",
    "for_all": "  # where the index goes",
    "sweep": "  # what is tried for a free step size: unit(…) is in (0, 1]",
}


def _symbol(name: str) -> str:
    if name in KNOWN:
        return f'{name} = GLOSSARY.symbol("{name}", {KNOWN[name][0]})'
    return f'{name} = GLOSSARY.symbol("{name}", "W^2/F", "step size", r"\\{name}")'
