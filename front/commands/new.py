"""`fedaudit new`: a complete file with a method and a statement about it, to be changed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from fedaudit.bounds.catalogue.discovery import find_methods
from fedaudit.bounds.catalogue.method_source import formula, glossary_lines, method_lines
from fedaudit.bounds.language.method import Method
from fedaudit.bounds.language.method_interface import ranges
from fedaudit.bounds.language.starter_methods import STARTERS, starter

from ..errors import UserError

KNOWN = {  # symbol -> how the glossary makes it, and the assumption that it belongs to
    "L": ('"F/W^2", "smoothness"', 'fa.Assumption("smooth", (L,), "every f_i is L-smooth")'),
    "mu": ('"F/W^2", "strong convexity", r"\\mu"',
           'fa.Assumption("strongly_convex", (mu,), "every f_i is mu-strongly convex")'),
}  # fmt: skip
WEIGHTS = ('fa.Assumption("weights_sum_to_one", (), "sum p_i = 1")',
           'fa.Assumption("nonnegative_weights", (), "p_i >= 0")')  # fmt: skip


@dataclass(frozen=True, slots=True)
class Draft:
    """What the file says about one method: symbols, assumptions, and the statement's fields as text."""

    method: Method
    constants: tuple[str, ...] = ()  # of KNOWN
    fields: dict[str, str] = field(default_factory=dict[str, str])
    title: str = "A first statement, to be replaced by your own"
    comment: str = ""


def written(name: str, method: str) -> None:
    """Write the file of this name about this method; raises `UserError` where there is one, or no such method."""
    path = Path(name)
    if path.suffix != ".py":
        raise UserError(f"the name {name!r}", "one that ends in .py", "write it like my_paper.py")
    if os.path.lexists(path):
        raise UserError(f"{name}, which is there already", "a new name", "nothing was written; pick another name")
    if not path.resolve().parent.is_dir():
        raise UserError(name, "a file in a folder that exists", "make the folder first")
    text = file_text(method, path.stem)
    try:
        # Never over a file that somebody made since it was looked for.
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UserError(f"{name} ({error.strerror})", "a file that can be written", "pick another name") from error


def file_text(name: str, paper: str = "mine") -> str:
    """The text of a file about the method of this name, whose statement belongs to this paper."""
    label = "".join(c if c.isalnum() or c in "-_" else "-" for c in paper) or "mine"
    return _text(_draft(name), label)


def _draft(name: str) -> Draft:
    if name == "fedavg":
        fields = {
            "when": "(fa.Eq(E, 1),)",
            "then": "fa.Le(gap(t + 1), (1 - gamma(t) * mu) * gap(t))",
            "for_all": "{t: (0, T - 1)}",
            "sweep": '{gamma(t): fa.unit("step") / L}',
        }
        return Draft(starter("fedavg"), ("L", "mu"), fields)
    if name == "gd":
        fields = {
            "when": "(fa.Eq(E, 1), fa.Eq(C, 1))",
            "choose": "{gamma(t): 1 / L}",
            "then": "fa.Le(gap(T), L * dist2(0) / (4 * T + 2))",
        }
        return Draft(starter("gd"), ("L",), fields)
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
        return Draft(method, ("L",), fields)
    measure = at_rounds[0].removesuffix("(t)")
    last = f"T + {first - 1}" if first > 1 else "T" if first else "T - 1"
    return Draft(
        method, ("L",), {"then": f"fa.Le({measure}(t + 1), {measure}(t))", "for_all": f"{{t: ({first}, {last})}}"},
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
    return Draft(method, ("L",), fields, comment="# A first guess: it is never negative.")


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


def _text(draft: Draft, label: str) -> str:
    method = draft.method
    mu = [] if "mu" in draft.constants else ['fa.Assumption("convex", (), "every f_i is convex")']
    named = [KNOWN[c][1] for c in draft.constants]
    let = [*named, *mu, *WEIGHTS]
    taken = {str(key) for key in method.glossary}
    symbols = [f'{c} = GLOSSARY.symbol("{c}", {KNOWN[c][0]})' for c in draft.constants if c not in taken]
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
        '    kind="inequality",',
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
    "for_all": "  # where the index goes",
    "sweep": "  # what is tried for a free step size: unit(…) is in (0, 1]",
}
