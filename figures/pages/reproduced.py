"""The page of `fedaudit reproduce`: what a paper says that a figure shows, beside the figure as it comes out here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from fedaudit.verify.experiments.displays import Display, Rebuilt
from fedaudit.verify.results.file_names import slug

from ..words.letters import pretty
from .page_text import begun, data_uri, digest, short
from .verdict_words import MEANING, SIGNS

__all__ = ["RebuiltDisplay", "page"]

POWER, RAISED = re.compile(r"\^(-?\d+|t)\b"), str.maketrans("-0123456789t", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹ᵗ")


@dataclass(frozen=True, slots=True, eq=False)
class RebuiltDisplay:
    """A display with what became of it: `rebuilt` and its picture, or the reason why there is none."""

    display: Display
    rebuilt: Rebuilt | None = None
    picture: bytes = b""
    reason: str = ""


def page(every: Sequence[RebuiltDisplay], seed: int, version: str) -> str:
    """All displays on one page that fetches nothing; nothing in it depends on the time that it took."""
    loader = PackageLoader("fedaudit.figures")
    environment = Environment(
        loader=loader, autoescape=select_autoescape(), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    filters: dict[str, Callable[..., object]] = {
        "short": short,
        "pretty": raised,
        "begun": begun,
        "anchor": slug,
        "columns": columns,
    }
    environment.filters.update(filters | {"sign": SIGNS.__getitem__})
    style = "".join(loader.get_source(environment, name)[0] for name in ("page.css", "rebuilt.css"))
    verdicts = [answer.verdict for one in every if one.rebuilt for answer in one.rebuilt.answers]
    return environment.get_template("reproduce.html").render(
        displays=[_display(one) for one in every],
        missing=[_display(one) for one in every if one.rebuilt is None],
        counted=Counter(verdicts),
        total=len(verdicts),
        meaning=MEANING,
        seed=seed,
        version=version,
        style=Markup(style),
        policy=f"default-src 'none'; style-src {digest(style)}; img-src data:; base-uri 'none'; form-action 'none'",
    )


def raised(text: str) -> str:
    """Words with Greek letters, and whole powers as they are written: beta^2, 10^-4, 0.99^t."""
    return POWER.sub(lambda power: power[1].translate(RAISED), pretty(text))


def columns(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """The names of all columns, in the order in which rows bring them."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _display(one: RebuiltDisplay) -> dict[str, object]:
    display = one.display
    return {
        **{name: getattr(display, name) for name in ("id", "paper", "name", "where", "shows", "differs")},
        "picture": data_uri(one.picture) if one.picture else "",
        "reason": one.reason,
        "answers": [
            {
                "id": answer.claim.id,
                "says": answer.claim.says,
                "where": answer.claim.where,
                "verdict": answer.verdict,
                "under": answer.outcome.under,
                "settled": answer.claim.settled_after,
                "reason": answer.outcome.reason,
                "rows": answer.outcome.rows,
            }
            for answer in (one.rebuilt.answers if one.rebuilt else ())
        ],
    }
