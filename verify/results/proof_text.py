r"""A proof as a mathematician reads it: numbered lines that cite numbers, and a definition of every name.

It is written from the argument that the engine checks, of every way of a derivation: first the one that decides, then
the printed one if it is another. Formulas inside a sentence stand between dollar signs, as LaTeX, and \eqref{5} is the
line 5.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from sympy import Basic, Symbol
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import And, true

from fedaudit.bounds.decide.facts import Instance, sum_empty, sum_next, sum_splits, termwise
from fedaudit.bounds.formulas.latex_sections import aligned
from fedaudit.bounds.formulas.printer import latex_form, spelled
from fedaudit.bounds.formulas.statement_text import used_symbols
from fedaudit.bounds.language.derivation import NAMED, Argument, Given, Induction, Known, Step
from fedaudit.bounds.language.rule_parts import Number
from fedaudit.bounds.language.statement import Glossary, Statement
from fedaudit.bounds.proofs.argument import argued, walk
from fedaudit.bounds.proofs.frame import Frame, head_of
from fedaudit.bounds.proofs.hand_premises import premises
from fedaudit.bounds.proofs.premise_identity import Average, Definition, Shown
from fedaudit.bounds.proofs.step_decisions import Decided

from .atom_words import ProofPrinter, in_words, vector_words
from .row import WrittenLine, WrittenName, WrittenProof

__all__ = ["decided_lines", "written_ways"]

LONG = 150  # characters of LaTeX in one line of a display
SUMS = {sum_next: "one more term of the sum", sum_splits: "the sum of a sum", sum_empty: "an empty sum"}


def written_ways(
    statement: Statement, known: Mapping[str, Statement], decided: Sequence[Decided], proved_from: Sequence[str] | None
) -> tuple[WrittenProof, ...]:
    """The way whose proof was accepted, which cites `proved_from` (None: none was), and the printed one, `decided`.

    A way that is the printed one and the deciding one is told once.
    """
    ways = statement.follows_from
    if not ways:
        return (decided_lines(statement, decided),) if decided else ()
    accepted = [n for n, way in enumerate(ways) if proved_from is not None and set(way.cites) == set(proved_from)]
    deciding = accepted[0] if accepted else None
    told = [] if deciding is None else [_way(statement, known, deciding, None, "decides")]
    if deciding != 0 and all(cited in known for cited in ways[0].cites):
        told.append(_way(statement, known, 0, decided, "printed"))
    return tuple(told)


def decided_lines(statement: Statement, decided: Sequence[Decided]) -> WrittenProof:
    """Steps that were decided without an argument: orders of growth, term by term."""
    lines = [
        WrittenLine(n, latex_form(one.claim, statement.glossary), one.note, status=_status(one))
        for n, one in enumerate(decided, 1)
    ]
    return WrittenProof("decides" if all(one.proved for one in decided) else "printed", (), (), tuple(lines))


def _way(
    statement: Statement,
    known: Mapping[str, Statement],
    number: int,
    decided: Sequence[Decided] | None,
    role: str,
) -> WrittenProof:
    alone = replace(statement, follows_from=(statement.follows_from[number],))
    goal, argument = argued(alone, known)
    outcomes = dict(zip(argument.steps, decided, strict=True)) if decided else {}
    lines = tuple(_Writer(alone, known, tuple(goal.relations), outcomes).lines(argument))
    return WrittenProof(role, statement.follows_from[number].cites, tuple(_names(statement, argument)), lines)


def _status(outcome: Decided | None) -> str:
    """What became of a line; nothing where it holds."""
    if outcome is None or outcome.proved:
        return ""
    decisions = (outcome.decision, *(use.decision for use in outcome.uses))
    if any(one.status == "false" for one in decisions):
        return "false"
    return "unknown" if any(one.status == "unknown" for one in decisions) else "sampled"


def _why(outcome: Decided | None, glossary: Glossary) -> str:
    """Where a line that does not hold fails."""
    if outcome is None or outcome.proved:
        return ""
    for use in outcome.uses:
        if not use.decision.proved:
            return f"{use.what}: {use.decision.detail}" if use.decision.detail else use.what
    return outcome.decision.detail


class _Writer:
    """Lines of one argument, numbered in the order in which they are needed."""

    def __init__(
        self,
        statement: Statement,
        known: Mapping[str, Statement],
        goals: tuple[Basic, ...],
        outcomes: Mapping[Step | Induction, Decided],
    ) -> None:
        self.glossary, self.known, self.goals, self.outcomes = statement.glossary, known, goals, outcomes
        self.by_hand = set(premises(statement, known))
        self.numbers: dict[Given, int] = {}
        self.told: list[WrittenLine] = []

    def lines(self, argument: Argument) -> list[WrittenLine]:
        for step in argument.steps:
            if step.claim is not true:
                self.number(step)
        return self.told

    def display(self, claim: Basic) -> str:
        """A line's own formula, long ones over several rows."""
        told = self.formula(claim)
        return aligned(told) if len(told) > LONG else told

    def formula(self, claim: Basic) -> str:
        return latex_form(claim, self.glossary)

    def inline(self, claim: Basic) -> str:
        return f"${self.formula(claim)}$"

    def number(self, item: Given) -> int:
        """The number of its line, which is written now unless it was before; after all that it rests on."""
        if item not in self.numbers:
            by = self.of_known(item) if isinstance(item, Known) else self.of_step(item)
            self.numbers[item] = len(self.told) + 1
            step = None if isinstance(item, Known) else item
            outcome = self.outcomes.get(step) if step is not None else None
            self.told.append(
                WrittenLine(
                    self.numbers[item],
                    self.display(item.claim),
                    by,
                    tuple(self.formula(one) for one in step.under if one is not true) if step else (),
                    step.where if step else "",
                    _status(outcome),
                    _why(outcome, self.glossary),
                )
            )
        return self.numbers[item]

    def refs(self, given: Iterable[Given]) -> str:
        """(1), (2) and (5)."""
        items = [item for item in given if not _is_range(item) and item.claim is not true]
        numbers = [_ref(n) for n in sorted({self.number(item) for item in items})]
        return f"{', '.join(numbers[:-1])} and {numbers[-1]}" if len(numbers) > 1 else "".join(numbers)

    def of_step(self, step: Step | Induction) -> str:
        is_goal = "which is the claim" if step.claim in self.goals else ""
        if isinstance(step, Induction):
            base, onward = self.refs(step.base), self.refs(step.step)
            over, start = self.inline(step.over), str(step.start)
            begin = f"the start by {base}" if base else "the start at once"
            next_one = f"the step from {over} by {onward}" if onward else "the step from the line before"
            said = f"by induction over {over} from ${start}$: {begin}, {next_one}"
        else:
            refs = self.refs(step.given)
            said = f"from {refs}" if refs else "by algebra, from the conditions"
        return "; ".join(part for part in (said, step.note, is_goal) if part)

    def of_known(self, known: Known) -> str:
        """Why a premise, an instance of a fact or of an induction, or a cited statement holds."""
        rule = known.rule
        if known.kind == "shown" and isinstance(rule, Shown):
            said = self.shown(rule)
            return (said if said == known.because else f"{known.because}: {said}") + self.needed(known)
        if known.kind == "cited":
            return self.cited(known)
        if known.of is not None:
            return f"{_ref(self.number(known.of))} at ${self.formula(known.of.over)} = {self.formula(rule)}$"
        if rule == NAMED:
            return "a name for it"
        if isinstance(rule, Definition | Average):
            return "by definition"
        if isinstance(rule, Instance):
            return self.instance(rule, known)
        if known.kind == "premise":
            return f"{known.because} (taken by hand)" if known in self.by_hand else f"by definition: {known.because}"
        return known.because + self.needed(known)

    def shown(self, rule: Shown) -> str:
        method = rule.frame.method
        printer = ProofPrinter(method, as_latex=True)
        if rule.schwarz:
            x, y = (vector_words(v, printer) for v in rule.schwarz)
            return f"the Cauchy–Schwarz inequality for {x} and {y}"
        if not rule.by:
            return "both sides are equal on every run, by the rules of the method"
        return "; ".join(in_words(multiplier, atom, printer) for multiplier, atom in rule.by)

    def needed(self, known: Known) -> str:
        """What must hold before it may be used, as far as the statement does not say it word for word."""
        claims = [self.inline(r.claim) for r in known.requires if r.claim is not true and not r.given]
        refs = self.refs([item for r in known.requires for item in r.given])
        return (f", as {', '.join(dict.fromkeys(claims))}" if claims else "") + (f"; with {refs}" if refs else "")

    def cited(self, known: Known) -> str:
        statement = self.known.get(known.because)
        title = f", {statement.title}" if statement else ""
        values = [pair for pairs in (known.citation.values if known.citation else ()) for pair in pairs]
        at = ", ".join(f"{self.inline(old)} $\\to$ {self.inline(new)}" for old, new in values)
        refs = self.refs([item for r in known.requires for item in r.given])
        conditions = f"; its conditions hold by {refs}" if refs else ""
        return f"by {known.because}{title}" + (f", with {at}" if at else "") + conditions

    def instance(self, rule: Instance, known: Known) -> str:
        """An elementary fact and the values that it is used at, or a rule about finite sums."""
        if rule.make is termwise:
            _, index, low, high, *given = rule.arguments
            refs = self.refs(cast("list[Given]", given))
            over = f"${self.formula(index)} = {self.formula(low)}, \\ldots, {self.formula(high)}$"
            return f"summed over {over}" + (f", from {refs}" if refs else "")
        if rule.make in SUMS:
            return SUMS[rule.make]
        fact = rule.fact
        if fact is None:
            return known.because
        pairs = zip(fact.variables, rule.arguments, strict=True)
        at = ", ".join(f"${self.formula(name)} = {self.formula(value)}$" for name, value in pairs)
        refs = self.refs([item for r in known.requires for item in r.given])
        return f"{fact.says}; here {at}" + (f"; with {refs}" if refs else "")


def _ref(number: int) -> str:
    return rf"\eqref{{{number}}}"


def _is_range(item: Given) -> bool:
    """Whether it is the range of a sum, which its own line says."""
    return isinstance(item, Known) and item.kind == "fact" and item.rule is None and isinstance(item.claim, And)


def _names(statement: Statement, argument: Argument) -> Iterator[WrittenName]:
    """What the lines speak of and the statement does not define: names of the frames, measures, further symbols."""
    items = list(dict.fromkeys(walk((*argument.steps, *argument.bounds))))
    shown = [item.rule for item in items if isinstance(item, Known) and isinstance(item.rule, Shown)]
    frames = list({id(rule.frame): rule.frame for rule in shown}.values())
    stated = {symbol for symbol, _ in used_symbols(statement)}
    named = {item.claim.args[0] for item in items if isinstance(item, Known) and item.rule == NAMED}
    waiting = list(dict.fromkeys(head for item in items for head in _heads(item.claim)))
    reached, told = set[Basic](named), dict[str, WrittenName]()
    while waiting:
        head = waiting.pop(0)
        if head in reached:
            continue
        reached.add(head)
        meaning = next((found for frame in frames if (found := _meaning(frame, head, statement.glossary))), None)
        if meaning is not None:
            name, further = meaning
            waiting = [*further, *waiting]
            if _bare(name.latex) != _bare(name.formula):
                told.setdefault(name.latex, name)
        elif (entry := statement.glossary.get(head)) is not None and entry.meaning and head not in stated:
            letter = entry.latex or spelled(str(head))
            # The letter of a quantity has a place for each index; nine dots fill all that any has.
            letter = letter.format(*(r"\cdot" for _ in range(9))) if not isinstance(head, Symbol) else letter
            told.setdefault(letter, WrittenName(letter, says=entry.meaning))
    for frame in frames:
        printer = ProofPrinter(frame.method, as_latex=True)
        for ghost, (start, rule) in frame.ghosts.items():
            name = printer.vector(ghost)
            told.setdefault(name, WrittenName(name, says=_ghost(printer.vector(start), printer.vector(rule))))
    yield from told.values()


def _ghost(start: str, rule: str) -> str:
    return f"of the proof alone: ${start}$ when the round begins, then ${rule}$ after every local step"


def _meaning(frame: Frame, head: Basic, glossary: Glossary) -> tuple[WrittenName, list[Basic]] | None:
    """What a name means in a frame, and what its definition speaks of in turn."""
    for quantity, number in (*frame.names.items(), *frame.method.measures.items()):
        if head_of(quantity) == head:
            expected = Number(number.terms, "expect") if not number.law else number
            printer = ProofPrinter(frame.method, as_latex=True)
            return WrittenName(latex_form(quantity, glossary), printer.number(expected)), []
    for quantity, value in frame.method.formulas.items():
        if head_of(quantity) == head:
            return WrittenName(latex_form(quantity, glossary), latex_form(value, glossary)), _heads(value)
    return None


def _heads(claim: Basic) -> list[Basic]:
    """The symbols and quantities of a claim, in an order of their own: sets have none."""
    atoms = {head_of(q) for q in claim.atoms(AppliedUndef)} | set(claim.free_symbols)
    return sorted(atoms, key=str)


def _bare(latex: str) -> str:
    """A formula without indices, blanks and brackets, to tell a name that is its own definition."""
    plain = re.sub(r"\\left|\\right|\\,|[_^](\{[^{}]*\}|\\star|\w)", "", latex)
    return "".join(c for c in plain if c not in " (){}")
