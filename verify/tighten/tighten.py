"""The smallest constants for which the proof of a bound goes through, as a statement of its own.

What a statement cites is tightened first. Then its lines, one after the other: terms of their larger sides are scaled
down as far as the line still follows from the scaled lines before it, and from premises whose identities leave
something over (lines.py). The terms of the printed bound come last. `derive` decides the new statement like any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sympy import Expr, Integer, Le, Rational
from sympy.core.function import AppliedUndef
from sympy.logic.boolalg import Boolean

from fedaudit.bounds.decide.decision import decide
from fedaudit.bounds.language.derivation import Argument, Derivation, Known, Step, View
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.argument import argued, cited_views
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.bounds.proofs.statement_view import view
from fedaudit.bounds.proofs.step_decisions import settle
from fedaudit.errors import UserError

from ..search.claim_identity import TIGHTENED
from .bound_terms import BoundTerm, Path, places, simplest, stated, summands
from .proof_lines import AND, Tighter, lines, tightened
from .rescaled_proof import Carried, CarriedLines, Change, ProofLine, loose, relaxed

PARTS = 100  # a factor is looked for among the hundredths


@dataclass(frozen=True, slots=True)
class Least:
    """A term of the bound: the least factor that was accepted, the next smaller one that was refused, and by what."""

    place: BoundTerm
    factor: Any
    refused: Any | None
    stopped: str

    def row(self) -> dict[str, Any]:
        return {
            "term": str(self.place.term),
            "in": f"relation {self.place.key + 1}" if isinstance(self.place.key, int) else str(self.place.key),
            "factor": str(self.factor),
            "tightened": self.place.at(self.factor),
            "refused": None if self.refused is None else str(self.refused),
            "stopped_by": self.stopped,
        }


@dataclass(frozen=True, slots=True)
class Tightened:
    """A statement with smaller constants, all that it rests on, and how it came about.

    `statement` is the printed one where nothing was found.
    """

    statement: Statement
    known: Mapping[str, Statement]  # the catalogue, and what was tightened
    terms: tuple[Least, ...] = ()
    lines: tuple[Tighter, ...] = ()
    used: frozenset[Known] = frozenset()  # premises of `lines` that its proof takes

    @property
    def smaller(self) -> bool:
        return any(term.factor != 1 for term in self.terms)

    @property
    def hints(self) -> list[Hint]:
        """Which symbols have a smaller factor here."""
        terms = [least.place.term for least in self.terms]
        return [Hint(own(x.place.term, terms), x.factor) for x in self.terms if x.factor != 1]


def tighten(statement: Statement, known: Mapping[str, Statement]) -> Tightened:
    """The tightened statement; raises `UserError` for one that is not proved, or that is no upper bound."""
    if not derive(statement, known, slack=False).proved:
        raise UserError(f"got {statement.id}, which is not proved, expected a proved statement; do: `fedaudit derive`")
    if not statement.follows_from or not all(isinstance(r, Le) for r in statement.relations):
        raise UserError(f"got {statement.id}, expected upper bounds (<=) with a derivation; do: pick another statement")
    return _tighten(statement, known, {})


def _tighten(statement: Statement, known: Mapping[str, Statement], done: dict[str, Tightened]) -> Tightened:
    if statement.id not in done:
        done[statement.id] = Tightened(statement, known)  # until there is something better
        ways = [replace(statement, follows_from=(way,)) for way in statement.follows_from]
        way = next((w for w in ways if derive(w, known, slack=False).proved), None)
        if way is not None and all(isinstance(r, Le) for r in way.relations):
            done[statement.id] = _search(way, known, done)
    return done[statement.id]


def _search(way: Statement, known: Mapping[str, Statement], done: dict[str, Tightened]) -> Tightened:
    wider = dict(known)
    (derivation,) = way.follows_from
    lemmas = [_tighten(known[name], known, done) for name in derivation.cites]
    for lemma in lemmas:
        wider |= lemma.known
    cites = tuple(lemma.statement.id for lemma in lemmas)
    for named in dict.fromkeys((cites, derivation.cites)):
        hints = [hint for lemma in lemmas for hint in lemma.hints] if named == cites else []
        tightened = Search(replace(way, follows_from=(replace(derivation, cites=named),)), wider, hints=hints).run()
        if tightened is not None:
            return tightened
    return Tightened(way, known)


@dataclass(frozen=True, slots=True)
class Hint:
    """Terms with these symbols may have this factor: so they have in something that is used."""

    names: frozenset[str]
    factor: Any

    def fits(self, term: Expr) -> bool:
        return bool(self.names) and self.names <= _names(term)


@dataclass(frozen=True, slots=True)
class Tight:
    """A line, one of its terms, and the least factor of that, with premises that were taken for it."""

    line: ProofLine
    term: Any
    factor: Any
    extra: tuple[Known, ...]

    def told(self, symbols: frozenset[str]) -> str:
        """The line, and what it rests on that speaks of these symbols."""
        line = self.line
        rests_on = line.given if isinstance(line, Step) else (*line.base, *line.step)
        names = [
            g.because if isinstance(g, Known) else g.where or g.note for g in rests_on if symbols & _names(g.claim)
        ]
        rests = "; ".join(name for name in (*names, *(known.because for known in self.extra)) if name)
        return f"{line.where or line.note or line.claim}{f' (from {rests})' if rests else ''}"


@dataclass(slots=True)
class Search:
    """The search for one way of proving one statement."""

    way: Statement
    known: Mapping[str, Statement]
    changes: dict[int, Change] = field(default_factory=dict[int, Change])
    hints: list[Hint] = field(default_factory=list[Hint])
    tight: list[Tight] = field(default_factory=list["Tight"])
    premises: list[Tighter] = field(default_factory=list[Tighter])

    @property
    def derivation(self) -> Derivation:
        return self.way.follows_from[0]

    def run(self) -> Tightened | None:
        """None if the printed bound does not go through with what is cited."""
        try:
            goal, printed = argued(self.way, self.known)
            cited = cited_views(self.way, self.known)
            equations = loose(self.derivation.proof, printed, goal, cited)
        except UserError:
            return None
        if not self._lines(goal, printed, equations, _moving(self.derivation, printed, goal, cited)):
            return None
        terms = self._terms()
        if terms is None:
            return None
        if not any(term.factor != 1 for term in terms):
            return Tightened(self.way, self.known, terms, tuple(self.premises))
        statement = self._stated({term.place: term.factor for term in terms})
        statement = replace(statement, id=f"{self.way.id}{TIGHTENED}", title=f"{self.way.title}, tightened")
        statement = replace(statement, limits=(), order=None, repairs="")
        wider = {**self.known, statement.id: statement}
        if not derive(statement, wider, slack=False).proved:
            return Tightened(self.way, self.known)
        used = frozenset(known for change in self.changes.values() for known in change.extra)
        return Tightened(statement, wider, terms, tuple(self.premises), used)

    # --- the lines ---------------------------------------------------------------------------------------------------

    def _lines(self, goal: View, printed: Argument, equations: Mapping[int, bool], moving: set[int]) -> bool:
        now, extra = CarriedLines(), self._extra(printed, goal)
        for n, line in enumerate(printed.steps):
            start = relaxed(line, equations[n], now) if n in equations else line
            free = isinstance(line.claim, Le) and n not in moving
            options = [*([self._hinted(start.claim.rhs)] if free else []), Change(), Change(plain=True)]
            # a line that changes with the claim is decided with the claim
            change = next((c for c in options if n in moving or _goes(now.changed(start, c), goal.requires)), None)
            if change is None:
                return False
            if free:
                change = self._scaled(start, change, now, goal.requires, extra.get(n, ()))
            if change != Change():
                self.changes[n] = change
            now.now[line] = now.changed(start, change)
            terms = [term for _, term in summands(line.claim.rhs)] if free else []
            paths = dict(change.scales)
            self.hints += (
                [Hint(own(term, terms), paths[path]) for path, term in summands(line.claim.rhs) if path in paths]
                if free
                else []
            )
        return True

    def _hinted(self, side: Expr) -> Change:
        """The factors that hints say, the last of those that fit."""
        factors = {path: h.factor for path, term in summands(side) for h in self.hints if h.fits(term)}
        return Change(scales=tuple(factors.items()))

    def _scaled(
        self, line: ProofLine, change: Change, now: CarriedLines, conditions: Sequence[Boolean], extra: Sequence[Known]
    ) -> Change:
        """With each term of the line as small as it may be, given what the terms before it are.

        A premise of `extra` is taken where it makes a term smaller; all of them at once are too much for the solver.
        """

        def goes(changed: Change) -> bool:
            return _goes(now.changed(line, changed), conditions)

        def put(changed: Change, path: Path, factor: Any) -> Change:
            return replace(changed, scales=tuple({**dict(changed.scales), path: factor}.items()))

        for path, term in summands(line.claim.rhs):
            half = now.changed(line, Change(scales=((path, Rational(1, 2)),), plain=change.plain))
            if not _smaller(half.claim, line.claim, conditions):
                continue
            best, number = change, term.as_coeff_Mul()[0]
            start = smallest = dict(change.scales).get(path, Integer(1))
            for more in ((), *((premise,) for premise in extra if premise not in change.extra)):
                wider = replace(change, extra=(*change.extra, *more))
                factor, _ = least(lambda c, w=wider, p=path: goes(put(w, p, c)), number, start)
                if factor < smallest:
                    smallest, best = factor, put(wider, path, factor)
            self.tight.append(Tight(line, term, smallest, best.extra))
            change = best
        return change

    def _extra(self, printed: Argument, goal: View) -> dict[int, tuple[Known, ...]]:
        """Tightened premises for the lines that may use them: those that add such lines up, or cite one."""
        by_line: dict[str, list[Tighter]] = {}
        for line in lines(printed):
            for tighter in tightened(line, goal.requires, self.way):
                by_line.setdefault(line.where, []).append(tighter)
                self.premises.append(tighter)
        extra: dict[int, tuple[Known, ...]] = {}
        for n, step in enumerate(printed.steps):
            lines_given = [g for g in step.given if isinstance(g, Step)] if isinstance(step, Step) else []
            names = [g.where or g.note for g in lines_given]
            own = [t.premise for where, some in by_line.items() for t in some if {*where.split(AND)} <= {*names}]
            if own:
                extra[n] = tuple(dict.fromkeys(own))
        return extra

    # --- the bound ---------------------------------------------------------------------------------------------------

    def _stated(self, scales: Mapping[BoundTerm, Expr]) -> Statement:
        proof = Carried(self.derivation.proof, tuple(self.changes.items()))
        return stated(replace(self.way, follows_from=(replace(self.derivation, proof=proof),)), scales)

    def _fails(self, scales: Mapping[BoundTerm, Expr]) -> str:
        """The first line that does not go through with these factors; empty if all do."""
        try:
            goal, argument = argued(self._stated(scales), self.known)
        except UserError as error:
            return str(error)
        for step in argument.steps:
            decided = settle(step, goal.requires)
            if not decided.proved:
                return f"{decided.where or decided.note or decided.claim}"
        return ""

    def _terms(self) -> tuple[Least, ...] | None:
        """The terms of the bound, each as small as it may be; None if not even the printed bound goes through."""
        everything = places(self.way)
        hinted = {p: h.factor for p in everything for h in self.hints if h.fits(p.term)}
        start = next((start for start in (hinted, dict[BoundTerm, Expr]()) if not self._fails(start)), None)
        return None if start is None else tuple(self._smallest(everything, start))

    def _smallest(self, everything: Sequence[BoundTerm], start: Mapping[BoundTerm, Any]) -> Iterator[Least]:
        printed, found = view(self.way), dict(start)
        for place in everything:
            half = view(stated(self.way, {place: Rational(1, 2)}))
            pairs = zip(half.relations, printed.relations, strict=True)
            if not all(_smaller(a, b, printed.requires) for a, b in pairs):
                continue  # not a matter of size alone

            def goes(factor: Any, place: BoundTerm = place) -> bool:
                return not self._fails({**found, place: factor})

            factor, refused = least(goes, place.term.as_coeff_Mul()[0], found.get(place, Integer(1)))
            if factor != 1:
                found[place] = factor
            failed = "" if refused is None else self._fails({**found, place: refused})
            yield Least(place, factor, refused, self._stopped(place, factor, everything, failed))

    def _stopped(self, place: BoundTerm, factor: Any, everything: Sequence[BoundTerm], failed: str) -> str:
        """The first line of the proof where a term with this one's symbols stops at this factor, and why."""
        if not failed:
            return ""
        symbols = own(place.term, [p.term for p in everything])
        for at in self.tight:
            if symbols and symbols <= _names(at.term) and at.factor == factor:
                return at.told(symbols)
        return failed


def least(goes: Callable[[Any], bool], number: Any = 1, start: Any = 1) -> tuple[Any, Any | None]:
    """The least factor that is accepted, among `start` and the hundredths below it; the next one, which is refused.

    Where a factor between the two makes the term's `number` simpler and is accepted, it is that one.
    """
    accepted = math.ceil(start * PARTS) - 1
    if start == 0:
        return start, None
    if not goes(Rational(accepted, PARTS)):
        return start, Rational(accepted, PARTS)
    if goes(Integer(0)):
        return Integer(0), None
    refused = 0
    while accepted - refused > 1:
        middle = (refused + accepted) // 2
        if goes(Rational(middle, PARTS)):
            accepted = middle
        else:
            refused = middle
    below, above = Rational(refused, PARTS), Rational(accepted, PARTS)
    plain = simplest(below * number, above * number) / number
    return (plain if plain == above or goes(plain) else above), below


def own(term: Any, terms: Sequence[Any]) -> frozenset[str]:
    """The symbols that this term has and the others have not."""
    return frozenset(_names(term) - {name for other in terms if other != term for name in _names(other)})


def _goes(line: ProofLine, conditions: Sequence[Boolean]) -> bool:
    return settle(line, conditions).proved


def _smaller(new: Boolean, old: Boolean, conditions: Sequence[Boolean]) -> bool:
    """Whether one right-hand side is at most another, as far as one can see."""
    return new.rhs != old.rhs and decide(Le(new.rhs, old.rhs, evaluate=False), conditions).status == "true"


def _moving(derivation: Derivation, printed: Argument, goal: View, cited: Sequence[View]) -> set[int]:
    """The lines that depend on what is claimed."""
    twice = tuple(r.func(r.lhs, 2 * r.rhs, evaluate=False) for r in goal.relations)
    other = derivation.proof(replace(goal, relations=twice), *cited)
    return {n for n, (a, b) in enumerate(zip(printed.steps, other.steps, strict=False)) if a.claim != b.claim}


def _names(expr: Any) -> set[str]:
    return {str(getattr(a, "func", a)) for a in expr.atoms(AppliedUndef)} | {str(s) for s in expr.free_symbols}
