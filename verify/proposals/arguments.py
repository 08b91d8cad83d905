"""An argument of `derive`, step by step, as judgements.

A step is a line from what it names and the conditions of the claim. Where an index of the claim is summed over or
induced over, its steps are written again for a letter of the proof that stands for it (`IndexValues`): what held for
the claim's own index by its conditions holds for the letter where it lies in the same range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from flint import fmpq
from sympy import Ge, Gt, Integer, Symbol, sympify
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, Or, true

from fedaudit.bounds.decide.facts import ExpNumber, Instance, sum_empty, sum_next, termwise
from fedaudit.bounds.formulas import lowering as trees
from fedaudit.bounds.language.derivation import NAMED, Given, Induction, Known, Step, put_in
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.premise_identity import Average, Definition

from ..kernel.core.claim import Claim
from ..kernel.core.expression import Op, Relation, Tree, parse_relation
from ..kernel.core.rational import Node, Rejected
from ..kernel.proofs.judgement import put
from ..kernel.proofs.rules.facts import FACTS
from .argument_formulas import ONE, Enlarged, Formulas, IndexValues, NotProposed, claim_of, relations_of
from .atom_trees import Json, relation_json, tree_json, tree_of
from .citations import NotCited, cited
from .earlier_step_sizes import by_cases, required_line, sign_before, value_before
from .inductions import at_value, inductively, termwise_sum
from .lines.atom_facts import fact
from .notebook import Hypotheses, speaks_of
from .premises import defined, picked, premise


def _no_steps() -> dict[tuple[Step | Induction | None, IndexValues], list[int]]:
    return {}


@dataclass(slots=True, kw_only=True)
class Proposer(Formulas):
    """One way of one statement, as it is written down."""

    catalogue: Mapping[str, Statement]
    steps: dict[tuple[Step | Induction | None, IndexValues], list[int]] = field(default_factory=_no_steps)
    cites: dict[str, None] = field(default_factory=dict[str, None])
    names: dict[str, Json] = field(default_factory=dict[str, Json])
    signs: Sequence[Step] = ()  # the steps of the argument, among which the signs of names are
    signed: list[int] = field(default_factory=list[int])  # the signs of names

    # --- conditions --------------------------------------------------------------------------------------------------

    def background(self, place: IndexValues) -> list[int]:
        """The claim's own conditions, at what stands for its indices, and the hypotheses."""
        key = (None, place)
        if key in self.steps:
            return self.steps[key]
        book, claim = self.book, self.book.context.claim
        values = {s.name: tree_of(v) for s, v in place.values if s.name in claim.for_all}
        places_of_conditions = [book.assumed(h) for h in place.under]
        ranges: dict[str, list[int]] = {}
        for index, (low, high) in claim.for_all.items():
            if index not in values:
                places_of_conditions += [
                    book.say("condition", relation, (), (), {"of": "range", "index": index, "end": end})
                    for end, relation in (("low", ("<=", low, index)), ("high", ("<=", index, high)))
                ]
        for index in values:
            low, high = (put(("=", end, end), values)[1] for end in claim.for_all[index])
            both: list[Relation] = [("<=", low, values[index]), ("<=", values[index], high)]
            places = [book.line(relation, tuple(places_of_conditions), place.under) for relation in both]
            ranges[index] = [n for n in places if n is not None]
            places_of_conditions += ranges[index]
        for n, condition in enumerate(claim.when):
            inside = [index for index in values if speaks_of(condition, index)]
            try:
                if inside:
                    data = {"of": "when", "n": n, "at": {index: tree_json(values[index]) for index in inside}}
                    by = [r for index in inside for r in ranges[index]]
                    says = put(condition, {index: values[index] for index in inside})
                    places_of_conditions.append(book.say("condition", says, place.under, by, data))
                else:
                    places_of_conditions.append(book.say("condition", condition, (), (), {"of": "when", "n": n}))
            except Rejected:
                continue
        self.steps[key] = list(dict.fromkeys(places_of_conditions))
        return self.steps[key]

    # --- steps -------------------------------------------------------------------------------------------------------

    def step(self, step: Step | Induction, place: IndexValues) -> list[int]:
        """The judgements that say the step, under its own hypotheses and those of the place."""
        key = (step, place)
        if key not in self.steps:
            judgements = inductively(self, step, place) if isinstance(step, Induction) else self._step(step, place)
            self.steps[key] = judgements
        return self.steps[key]

    def _step(self, step: Step, place: IndexValues) -> list[int]:
        under = (*place.under, *(self.relation(c, place) for c in relations_of(step.under)))
        if isinstance(step.claim, Or):
            return self._other(step, place, under)
        if (either := next((g for g in step.given if self._open(g, place)), None)) is not None:
            return self._either(step, either.claim, place)
        rests, splits = self.rests(step.given, place, under)
        return [n for part in relations_of((step.claim,)) for n in self.claimed(part, place, under, rests, splits)]

    def _open(self, item: Given, place: IndexValues) -> bool:
        """Whether a step says one of two things, and the hypotheses do not say which."""
        if not isinstance(item, Step) or not isinstance(item.claim, Or):
            return False
        first, _ = self._sides(item.claim, place)
        return not any(self.book.among(h, place.under) for h in (first, _denied(first)))

    def _sides(self, claim: Boolean, place: IndexValues) -> tuple[Relation, Any]:
        """The side by which cases are told apart, and the other one."""
        sides = list(claim.args)
        if len(sides) != 2 or not all(isinstance(side, Relational) for side in sides):
            raise NotProposed("formula", f"{claim}: expected one of two relations")
        first = next((s for s in sides if not s.atoms(AppliedUndef)), sides[0])  # of numbers, not of measures
        return self.relation(first, place), next(s for s in sides if s is not first)

    def _either(self, step: Step, claim: Boolean, place: IndexValues) -> list[int]:
        """The step in the case that one side holds, and in the case that it does not, where the other one does."""
        first, _ = self._sides(claim, place)
        one, other = (self._step(step, replace(place, under=(*place.under, h))) for h in (first, _denied(first)))
        under = (*place.under, *(self.relation(c, place) for c in relations_of(step.under)))
        return [
            self.book.say("case", self.book.judgements[a].says, under, (a, b)) for a, b in zip(one, other, strict=True)
        ]

    def _other(self, step: Step, place: IndexValues, under: Hypotheses) -> list[int]:
        """What is left of one of two things where the hypotheses deny the other; nothing where they do not."""
        first, other = self._sides(step.claim, place)
        if not self.book.among(_denied(first), place.under):
            return []
        rests, _ = self.rests(step.given, place, under)
        return [self.line(self.relation(other, place), rests, under, decided=True)]

    def claimed(
        self, part: Any, place: IndexValues, under: Hypotheses, rests: list[int], splits: Sequence[Known]
    ) -> list[int]:
        says = self.relation(part, place)
        if not splits:
            return [self.line(says, rests, under, decided=True)]
        return [by_cases(self, says, place, under, rests, splits[0])]

    def line(self, says: Relation, rests: Sequence[int], under: Hypotheses, *, decided: bool = False) -> int:
        """The place of a line. What has no certificate is trusted if `derive` asked z3 and got it."""
        place = self.book.line(says, tuple(rests), under, trust=decided)
        if place is None:
            raise NotProposed("line", f"{relation_json(says)}"[:300])
        return place

    def rests(self, given: Sequence[Given], place: IndexValues, under: Hypotheses) -> tuple[list[int], list[Known]]:
        """The judgements that a step may use, and what is so in one of two cases."""
        scope = [*self.background(place), *self.signed, *(self.book.assumed(h) for h in under)]
        free = [g for g in given if not (g.requires if isinstance(g, Known) else g.under)]
        splits = [g for g in given if isinstance(g, Known) and isinstance(g.claim, Or)]
        for item in (*free, *(g for g in given if g not in free)):
            if item in splits:
                continue
            scope += self.use(item, place, scope, under)
            if isinstance(item, Step):
                scope += sign_before(self, item, place, scope, under)
        return list(dict.fromkeys(scope)), splits

    def use(self, item: Given, place: IndexValues, scope: Sequence[int], under: Hypotheses) -> list[int]:
        """The judgements that an item gives, with what it needs proved from the scope."""
        if isinstance(item, Known):
            return self._known(item, place, list(scope), under)
        if isinstance(item, Induction):
            return at_value(self, item, dict(place.values).get(item.over, item.over.name), place, scope, under)
        judgements = self.step(item, place)
        if not item.under:
            return judgements
        shown = [self.line(self.relation(c, place), scope, under) for c in relations_of(item.under)]
        return [self.book.say("discharge", self.book.judgements[n].says, under, (n, *shown)) for n in judgements]

    # --- what is known -----------------------------------------------------------------------------------------------

    def _known(self, known: Known, place: IndexValues, scope: list[int], under: Hypotheses) -> list[int]:
        rule = known.rule
        if known.claim is true:
            return []
        if known.of is not None:
            value = tree_json(self.tree(rule, place))
            return at_value(self, known.of, value, place, scope, under)
        if known.kind == "cited":
            return self._cited(known, place, scope, under)
        if known.kind == "shown" or isinstance(rule, Average):
            try:
                return self._premise(known, place, scope, under)
            except (NotProposed, Rejected):
                return self._premise(known, place, scope, under, clients=False)
        if rule == NAMED:
            return self.named(known)
        if isinstance(rule, Instance) and rule.make is termwise:
            return termwise_sum(self, rule, place, scope, under)
        needed = self._required(known, place, scope, under)
        claims = [self.relation(c, place) for c in relations_of((known.claim,))]
        if isinstance(rule, ExpNumber):
            return [self.book.say("fact", c, (), (), {"name": "numbers", "at": []}) for c in claims]
        if isinstance(rule, Instance):
            instance = self._instance(rule, claims[0], place, [*scope, *needed], under)
            if instance is not None:
                return [instance]
        if (
            isinstance(rule, Definition)
            and isinstance(self.statement.method, str)
            and isinstance(known.claim.lhs, Symbol)
        ):
            definition = defined(known, self.spelling).judgement
            if (round_ := definition["with"]["at"][0]) not in self.book.context.forms.domains:
                self.letter(round_, "index")
            return [
                self.book.say(
                    "premise", parse_relation(Node(definition["says"], "premise")), under, (), definition["with"]
                )
            ]
        before = [n for c in claims for n in value_before(self, c, [*scope, *needed], under)]
        if before:
            return before
        lines = [self.book.line(c, (*scope, *needed), under) for c in claims]
        if None in lines and rule is None:
            return [n for n in lines if n is not None]  # a range that only a requirement speaks of
        if None in lines:
            kind = "definition" if isinstance(rule, Definition) else known.kind
            raise NotProposed("known", f"{kind} {known.because}: {known.claim}")
        return [n for n in lines if n is not None]

    def _premise(
        self, known: Known, place: IndexValues, scope: list[int], under: Hypotheses, *, clients: bool = True
    ) -> list[int]:
        """A shown premise; of a letter that is summed over, at a client and then at that letter."""
        book, frame = self.book, known.rule.frame
        letters, instance = dict[str, str](), dict[str, Json]()
        moved = place
        spoken = {s for part in _spoken(known.rule) for s in part.free_symbols}
        implied = {p for q in known.claim.atoms(AppliedUndef) for p in self.implied(q)}
        spoken |= {symbol for symbol in frame.letters[:2] if symbol.name in implied}
        first = getattr(frame.method, "counts_from", 0)
        for n, symbol in enumerate(frame.letters[:2]):
            if symbol not in spoken and not isinstance(known.rule, Average):  # of any round, before any step
                letters[symbol.name] = self.any(symbol, "count" if n == 0 and first else "index")
                moved = moved.put(symbol, letters[symbol.name], moved.under)
            elif symbol not in dict(place.values):
                name = self.spelling.letters.get(symbol.name, symbol.name)
                if name not in book.context.forms.domains:
                    self.letter(name, trees.domain_of(symbol) if symbol.is_integer else "index")
        for symbol, value in place.values:
            if symbol.name in letters:
                continue
            if clients and symbol in frame.letters[2:4] and book.context.letters.get(value) != "client":
                client = self.any(symbol, "client")
                moved = moved.put(symbol, client, moved.under)
                letters[symbol.name], instance[client] = client, value
            else:
                letters[symbol.name] = value
        for symbol in frame.letters[2:4]:
            name = self.spelling.letters.get(symbol.name, symbol.name)
            other = book.context.letters.get(name) not in (None, "client") and symbol not in known.claim.free_symbols
            if other and symbol.name not in letters:  # the letter stands for something else: any client will do
                letters[symbol.name] = self.any(symbol, "client")
        spelled = replace(self.spelling, letters={**self.spelling.letters, **letters})
        proposed = (picked if isinstance(known.rule, Average) else premise)(known, spelled)
        for name in proposed.clients:
            if name not in book.context.letters and name not in book.context.claim.for_all:
                self.letter(name, "client")
        needed = [
            self.line(self.relation(part, moved), scope, under)
            for claim in proposed.requires
            for part in relations_of((claim,))
        ]
        says = parse_relation(Node(proposed.judgement["says"], "premise"))
        needs = book.needs(says, (*scope, *needed), under)
        data = proposed.judgement["with"]
        # A proof is to rest on no more than it takes, so that the smallest offer which the kernel accepts is used.
        for by in (needed, [*needed, *(needs or ())], [*needed, *scope, *(needs or ())]):
            try:
                place_ = book.say(proposed.judgement["rule"], says, under, by, data)
                break
            except Rejected as error:
                why = str(error)
        else:
            raise NotProposed("premise", f"{known.because}: {why}")
        if not instance:
            return [place_]
        values = {name: tree_of(value) for name, value in instance.items()}
        ranges = [
            n
            for value in values.values()
            for r in (("<=", ONE, value), ("<=", value, book.context.size("C")))
            if (n := book.line(r, tuple(scope), under)) is not None
        ]
        return [book.say("instance", put(says, values), under, (place_, *ranges), {"values": instance})]

    def sign(self, tree: Tree) -> int | None:
        """That a measure is not negative, if its form shows it."""
        try:
            return self.book.say("sign", ("<=", fmpq(0), tree))
        except Rejected:
            return None

    def _required(self, known: Known, place: IndexValues, scope: list[int], under: Hypotheses) -> list[int]:
        lines: list[int] = []
        for needed in known.requires:
            more, _ = self.rests(needed.given, place, under) if needed.given else ([], [])
            parts = [self.relation(part, place) for part in relations_of((needed.claim,))]
            lines += [self.line(part, [*scope, *more], under, decided=True) for part in parts]
        return lines

    def _instance(
        self, rule: Instance, says: Relation, place: IndexValues, scope: Sequence[int], under: Hypotheses
    ) -> int | None:
        book = self.book
        if rule.fact is not None:
            name = rule.fact.name
            if name not in FACTS:
                return None
            values = {v.name: self.tree(x, place) for v, x in zip(rule.fact.variables, rule.arguments, strict=True)}
            return fact(book, name, [values[v] for v in FACTS[name].variables], tuple(scope), under)
        if rule.make not in (sum_next, sum_empty):
            return None
        term, index, low, *high = rule.arguments
        inner = IndexValues(tuple((s, v) for s, v in place.values if s != index), place.under)
        ends = [self.tree(low, place), self.tree(high[0], place) if high else self.tree(low - 1, place)]
        body = self.inside(term, index, inner)
        data = {"index": index.name, "low": tree_json(ends[0]), "high": tree_json(ends[1]), "body": tree_json(body)}
        if rule.make is sum_empty:
            return book.say("sum_empty", says, under if scope else (), (), data)
        data_relation = ("<=", ends[0], Op("+", (ends[1], ONE)))
        range_ = book.line(data_relation, tuple(scope), under)
        return book.say("sum_next", says, under, (*scope, *(() if range_ is None else (range_,))), data)

    def named(self, known: Known) -> list[int]:
        symbol, value = known.claim.args
        name = symbol.name
        context = self.book.context
        if name not in self.names:
            formula = tree_json(self.tree(value, IndexValues()))
            self.letter(name, "real") if name not in context.letters else None
            for part in (context.letters, context.forms.domains):
                cast("dict[str, str]", part)[name] = "real"
            self.names[name] = formula
            cast("dict[str, Tree]", context.names)[name] = tree_of(formula)
        says = ("=", name, context.names[name])
        needs = self.book.needs(says, tuple(self.background(IndexValues())), ()) or []
        definitions = [self.book.say("definition", says, (), needs, {"letter": name})]
        if symbol.is_nonnegative:
            sign = Gt(value, 0) if symbol.is_positive else Ge(value, 0)
            steps = [s for s in self.signs if s.claim == sign and not s.under]
            rests = [n for s in steps for n in self.step(s, IndexValues())]
            known_sign: Relation = ("<" if symbol.is_positive else "<=", fmpq(0), name)
            place = self.book.line(known_sign, (*definitions, *rests, *self.background(IndexValues())), ())
            self.signed += [] if place is None else [place]
        return definitions

    def _cited(self, known: Known, place: IndexValues, scope: list[int], under: Hypotheses) -> list[int]:
        book = self.book
        for needed in known.requires:
            scope += self.rests(needed.given, place, under)[0] if needed.given else []
        taken = [*book.context.forms.domains]
        citation = cited(self.statement, _moved(known, place), self.catalogue, book.context.letters, taken)
        if isinstance(citation, NotCited):
            raise NotProposed("citation", citation.reason)
        for name, domain in citation.letters.items():
            self.letter(name, domain)
        for part, values in (("measures", citation.measures), ("before", citation.before)):
            if new := {name: value for name, value in values.items() if name not in self.frame.get(part, {})}:
                raise Enlarged({part: new})
        self.cites[citation.of] = None
        cast("dict[str, Claim]", book.context.cited)[citation.of] = claim_of(self.catalogue[citation.of])
        by = list(scope)
        for required in citation.requires:
            more = tuple(parse_relation(Node(h, "citation")) for h in required.under)
            says = parse_relation(Node(required.says, "citation"))
            offered = [*scope, *(book.assumed(h) for h in more), *self._generic(more, under)]
            splits = [g for needed in known.requires for g in needed.given if isinstance(g.claim, Or)]
            by.append(required_line(self, says, offered, (*under, *more), splits))
        says = parse_relation(Node(citation.judgement["says"], "citation"))
        try:
            return [book.say("citation", says, under, by, citation.judgement["with"])]
        except Rejected as error:
            raise NotProposed("citation", str(error)) from None

    def _generic(self, more: Hypotheses, under: Hypotheses) -> list[int]:
        """The claim's own conditions at the letters that hypotheses speak of."""
        book, claim = self.book, self.book.context.claim
        conditions: list[int] = []
        letters = {str(side) for h in more for side in h[1:] if isinstance(side, str) and side in book.context.letters}
        for letter in letters:
            for index in claim.for_all:
                if letter.rsplit("_", 1)[0] == index:
                    conditions += self.background(IndexValues(((Symbol(index), letter),), (*under, *more)))
        return conditions

    # --- sums and induction ------------------------------------------------------------------------------------------


def _spoken(rule: Any) -> list[Any]:
    """The formulas of a shown premise that speak of its place."""
    if isinstance(rule, Average):
        return [rule.frame.letters[0]]
    return [rule.claim, *(sympify(x) for x in rule.at or ()), *(m for m, _ in rule.by)]


def _moved(known: Known, place: IndexValues) -> Known:
    """A cited statement at what stands for indices."""
    pairs = tuple(
        (s, Integer(int(v)) if v.lstrip("-").isdigit() else Symbol(v, integer=True, nonnegative=True))
        for s, v in place.values
    )
    if not pairs or known.citation is None:
        return known
    citation = replace(known.citation, values=(*known.citation.values, pairs))
    return replace(known, claim=put_in(known.claim, pairs), citation=citation)


def _denied(relation: Relation) -> Relation:
    """What holds where it does not."""
    name, left, right = relation
    other = {"<=": ">", "<": ">=", ">": "<=", ">=": "<", "=": "!=", "!=": "="}[name]
    return other, left, right
