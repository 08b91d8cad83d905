"""What a refuted row has to say to its authors, in two sentences, from the row and the certificate alone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedaudit.verify.certify.side_terms import Part, Rank, Sides, sides

from .claim_terms import in_order, term_latex
from .instances import UNTELLABLE, growing, told
from .letters import APPROX, DIGITS, Inline, Letters, Said, apart, enough, number
from .losses import Data
from .numbers import short

if TYPE_CHECKING:
    from fedaudit.verify.certify.standing import Checked
    from fedaudit.verify.results.audit_json import Row

__all__ = ["CHANGES", "Story", "Teller", "joined", "repair", "standing"]

SECONDS = 60.0  # for the numbers behind all counterexamples of one report
STEPS = 200  # local steps in all of a run whose numbers are shown
LONG = 600  # characters of a formula that is shown with its numbers
CHANGES = {  # what a repair changes, the least first
    "hypothesis": "a hypothesis has to change: what is assumed, or what a symbol stands for",
    "constant": "a constant has to change, the order stays",
    "rate": "the rate has to change",
    "undecided": "a repair is known; whether it changes a constant or the rate is open",
    "none known": "no repair is known",
}
SENTENCES = {
    "hypothesis": "The repair changes a hypothesis",
    "constant": "The repair changes a constant",
    "rate": "The repair changes the rate",
    "undecided": "A repair is known, and whether it changes a constant or the rate is open",
}
WORSE = {"<=": "more than", "<": "not less than", ">=": "less than", ">": "not more than"}


@dataclass(frozen=True, slots=True)
class Story:
    """A counterexample: the problem, what both sides are there, and the numbers that lead to them."""

    problem: tuple[Said, ...]
    outcome: Said
    read: tuple[Inline, ...] = ()
    sums: tuple[Inline, ...] = ()
    replay: tuple[Said, ...] = ()  # one of the runs that a form derived by hand was compared with
    replays: int = 0
    grows: bool = False  # it is about what the parameters tend to


class Teller:
    """Tells counterexamples, as long as there is time for their numbers."""

    def __init__(self) -> None:
        self.left = SECONDS
        self.known: dict[int, tuple[Data, Sides | None]] = {}  # a page and its paper's tell the same one

    def story(self, certificate: Data | None, letters: Letters) -> Story | None:
        """None where there is no certificate, or one that no words fit."""
        if certificate is None:
            return None
        try:
            return self._told(certificate, letters)
        except UNTELLABLE:
            return None

    def _told(self, certificate: Data, letters: Letters) -> Story:
        claim, instance = certificate["claim"], certificate["instance"]
        problem = tuple(told(certificate, letters))
        parts = self._parts(certificate)
        index = {name: n for name, n in certificate["at"].items() if name != "relation"}
        outcome: Said
        at: Said = ["at ", *joined([[letters.equal(name, str(n))] for name, n in index.items()]), " "] if index else []
        if "paths" in instance:
            n = growing(instance["paths"], letters)
            replay, replays = _replayed(certificate, letters)
            outcome = _growth(certificate, parts.ranks if parts else None, n)
            return Story(problem, outcome, replay=replay, replays=replays, grows=True)
        relation = claim["then"][certificate["at"]["relation"]][0]
        left, right = apart(certificate["lhs"], certificate["rhs"])
        between = f", {WORSE[relation]} the right side, " if relation in WORSE else " and the right side "
        outcome = [*at, "the left side is ", Inline(left), between, Inline(right)]
        small = int(instance.get("E", 1)) * int(instance.get("T", 1)) <= STEPS
        if parts is None or not small:
            return Story(problem, outcome)
        read = _read(parts.read, letters, enough(certificate["lhs"], certificate["rhs"]))
        return Story(problem, outcome, read, tuple(x for x in _sums(parts, letters, certificate) if x not in read))

    def _parts(self, certificate: Data) -> Sides | None:
        read_before = self.known.get(id(certificate))  # which stays this one's as long as it is held here
        if read_before is not None:
            return read_before[1]
        if self.left <= 0:
            return None
        began = time.monotonic()
        terms = sides(certificate)
        self.left -= time.monotonic() - began
        self.known[id(certificate)] = certificate, terms
        return terms


def joined(clauses: Sequence[Said], between: str = ", ") -> Said:
    said: Said = []
    for n, clause in enumerate(clauses):
        said += [between, *clause] if n else clause
    return said


def _growth(certificate: Data, ranks: tuple[Rank, Rank] | None, n: str) -> Said:
    grows: Said = ["as ", Inline(rf"{n} \to \infty"), " the left side "]
    if certificate["claim"]["setting"] != "order":
        left, right = apart(certificate["lhs"], certificate["rhs"])
        return [*grows, "tends to ", Inline(left), " and the right side to ", Inline(right)]
    if ranks is None:
        return [*grows, "is of another order than the right side"]
    left, right = (_order(rank, n) for rank in ranks)
    return [*grows, *left, " and the right side ", *right]


def _order(rank: Rank, n: str) -> Said:
    if rank.level:
        return [{-2: "is 0", -1: "falls faster than every power"}.get(rank.level, "grows faster than every power")]
    parts = [f"{n}^{{{rank.power}}}"] if rank.power != "0" else []
    parts += [rf"(\log {n})^{{{rank.log}}}"] if rank.log != "0" else []
    return ["is of the order ", Inline(" ".join(parts) or "1")]


def _replayed(certificate: Data, letters: Letters) -> tuple[tuple[Said, ...], int]:
    """A run that the form of an order claim was compared with, and how many there are."""
    replays, form = certificate.get("replays"), certificate["claim"].get("form")
    if not replays or not form:
        return (), 0
    return tuple(told({"claim": form, "instance": replays[0]["instance"]}, letters)), len(replays)


def _read(parts: Sequence[Part], letters: Letters, digits: int) -> tuple[Inline, ...]:
    return tuple(_equal([term_latex(part.tree, letters)], part.value, digits) for part in parts)


def _sums(parts: Sides, letters: Letters, certificate: Data) -> tuple[Inline, ...]:
    """Each side as the sum of its terms, then as the sum of their numbers."""
    sums: list[Inline] = []
    digits = enough(certificate["lhs"], certificate["rhs"])
    for terms, value in ((parts.left, certificate["lhs"]), (parts.right, certificate["rhs"])):
        order = [terms[place] for place in in_order([part.tree for part in terms])]
        formula = " + ".join(term_latex(part.tree, letters) for part in order).replace("+ -", "-")
        if len(formula) > LONG:
            continue
        numbers = " + ".join(number(part.value, value, digits) for part in order) if len(terms) > 1 else ""
        if formula != value:  # 1 = 1 says nothing
            sums.append(_equal([formula, *([numbers] if numbers else [])], value, digits))
    return tuple(sums)


def _equal(formulas: Sequence[str], value: str, digits: int = DIGITS) -> Inline:
    """Formulas, then the sum of numbers that they are: one sign of approximation for each of these."""

    def sign(about: bool) -> str:
        return APPROX.strip() if about else "="

    said = ""
    for one in (*formulas, number(value, digits=digits)):
        about = APPROX in one and one is not formulas[0]
        plain = one.replace(APPROX, "").replace("+ -", "- ") if one is not formulas[0] else one
        said += f" {sign(about)} {plain}" if said else plain
    return Inline(said)


def repair(row: Row, repaired: Checked | None, notes: str, beside: Checked | None = None) -> str:
    """The second sentence: what the repair has to change, and what became of the repaired statement.

    `beside`: the printed statement of which a row without a repair is a reading, where that one stands.
    """
    if repaired is None and beside is not None:
        return f"As {beside.row.id} reads it, it is {standing(beside)}."
    if repaired is None or row.repair not in SENTENCES:
        return "No repair is known."
    what = f": {notes.rstrip('.')}" if notes else ""
    return f"{SENTENCES[row.repair]}{what}; as repaired, it is {standing(repaired)}."


def standing(checked: Checked) -> str:
    """A verdict in a few words."""
    row = checked.row
    filed = " (as the file says)" if checked.standing.kind == "filed" else ""
    if checked.verdict != "survived":
        return f"{checked.verdict}{filed}"
    tried = sum(move.instances or 0 for move in (row.verify, row.hunt) if move is not None)
    tight = f" (tightness {short(row.tightness)})" if row.tightness is not None and row.tightness > 0 else ""
    return f"not broken by {tried:,} instances{tight}{filed}"
