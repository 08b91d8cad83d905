"""What the index says of each paper: its title and authors, one sentence, and how many statements have which verdict.

A statement counts as printed unless it is a sibling (`id~…`); the textbook theorems of `classic/` calibrate the tool
and are counted apart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from fedaudit.bounds.catalogue.discovery import papers
from fedaudit.verify.results.file_names import is_calibration, is_printed

__all__ = ["ABOUT", "Card", "about", "cards", "is_theorem", "weight"]

ABOUT = re.compile(r'(?P<authors>.+?), "(?P<title>.+?)"(?P<where>.*)', re.DOTALL)
# A theorem or a part of it: `thm4.1-II`, `prop3.4-upper`; `thm4.5-sgd` is what the text says of it afterwards.
THEOREM = re.compile(r"(thm|cor|prop)[A-Z]?\.?\d+(\.\d+)?(-(I+|[a-z]|lower|upper))?")
SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class Card:
    """One paper on the index."""

    name: str
    title: str
    authors: str
    where: str
    sentence: str
    counted: tuple[tuple[str, int], ...]  # verdict, number of statements as printed
    calibration: bool


@cache
def about(name: str) -> str:
    """Returns who wrote a paper, as the catalogue says; nothing for papers that it does not hold."""
    if name not in papers():
        return ""
    text = import_module(f"fedaudit.bounds.papers.{name}").__doc__ or ""
    return " ".join(text.partition("\n\n")[0].split())


def cards(rows: Sequence[Mapping[str, object]], verdicts: Iterable[str]) -> list[Card]:
    """Papers in the order of their names, what calibrates the tool last."""
    names = sorted({str(row["paper"]) for row in rows}, key=lambda name: (is_calibration(name), name))
    order = tuple(verdicts)
    return [_card(name, [row for row in rows if row["paper"] == name], order) for name in names]


def _card(name: str, rows: Sequence[Mapping[str, object]], verdicts: Sequence[str]) -> Card:
    described = ABOUT.match(about(name))
    printed = [row for row in rows if is_printed(str(row["id"]))] or list(rows)
    by = Counter(str(row["verdict"]) for row in printed)
    title, authors, where = (
        (described["title"], described["authors"], described["where"].strip(" .,")) if described else ("", "", "")
    )
    if is_calibration(name):
        title, sentence = (
            "Calibration",
            f"{len(printed)} textbook theorems whose worst cases are known: the tool is tried on them.",
        )
    else:
        sentence = _sentence([(str(row["id"]), str(row["verdict"])) for row in printed])
    counted = tuple((verdict, by[verdict]) for verdict in verdicts if by[verdict])
    return Card(name, title, authors, where, sentence, counted, is_calibration(name))


def is_theorem(identifier: str) -> bool:
    """Whether it is a theorem, a corollary or a proposition, by its label."""
    return _class(identifier) == "theorem"


def _class(identifier: str) -> str:
    label = identifier.partition("/")[2]
    if THEOREM.fullmatch(label):
        return "theorem"
    return "lemma" if label.startswith("lem") else "display"


def _sentence(statements: Sequence[tuple[str, str]]) -> str:
    """What became of the theorems, each of which falls with any of its parts, then of what else is printed."""
    theorem: dict[str, list[str]] = {}
    fell = {"lemma": 0, "display": 0, "theorem": 0}
    for identifier, verdict in statements:
        if is_theorem(identifier):
            theorem.setdefault(identifier.partition("-")[0], []).append(verdict)
        else:
            fell[_class(identifier)] += verdict == "refuted"
    fell["theorem"] = sum("refuted" in verdicts for verdicts in theorem.values())
    proved = sum(set(verdicts) == {"proved"} for verdicts in theorem.values())
    theorems, others = len(theorem), [_many(fell[word], word) for word in ("lemma", "display") if fell[word]]
    if not theorems:
        falls = "falls" if sum(fell.values()) == 1 else "fall"
        return f"{' and '.join(others)} {falls} as printed.".capitalize() if others else ""
    if fell["theorem"] == theorems:
        first = f"{_every(theorems)} {'falls' if theorems == 1 else 'fall'} as printed"
    elif fell["theorem"]:
        first = (
            f"{_number(fell['theorem'])} of {_number(theorems)} theorems fall{'s' * (fell['theorem'] == 1)} as printed"
        )
    elif proved == theorems:
        first = f"{_every(theorems)} {'is' if theorems == 1 else 'are'} proved"
    else:
        some = f": {_number(proved)} of {_number(theorems)} {'is' if proved == 1 else 'are'} proved"
        first = f"No theorem falls{some if proved else ''}"
    first = first[:1].upper() + first[1:]
    if not others:
        return f"{first}."
    number = fell["lemma"] + fell["display"]
    if fell["theorem"]:
        return f"{first}, and so {'does' if number == 1 else 'do'} {' and '.join(others)}."
    return f"{first}, but {' and '.join(others)} of the proofs {'falls' if number == 1 else 'fall'} as printed."


def _every(theorems: int) -> str:
    return {1: "The theorem", 2: "Both theorems"}.get(theorems, f"All {_number(theorems)} theorems")


def _many(number: int, word: str) -> str:
    plural = {"lemma": "lemmas", "display": "displays"}[word]
    return f"{_number(number)} {word if number == 1 else plural}"


def _number(number: int) -> str:
    return SMALL[number] if number < len(SMALL) else str(number)


def weight(identifier: str, verdict: str) -> tuple[bool, int, bool]:
    """A key that puts findings before the rest, theorems before lemmas and displays, prints before readings."""
    place = ("theorem", "lemma", "display").index(_class(identifier))
    refuted = verdict == "refuted"
    calibration = is_calibration(identifier.partition("/")[0])
    return (calibration or not refuted, place if refuted else 0, refuted and not is_printed(identifier))
