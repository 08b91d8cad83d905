"""An argument of `derive`, step by step, as judgements.

A step is a line from what it names and the conditions of the claim. Where an index of the claim is summed over or
induced over, its steps are written again for a letter of the proof that stands for it (`Place`): what held for the
claim's own index by its conditions holds for the letter where it lies in the same range.
"""

# sympy is annotated only in part.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportAttributeAccessIssue=false
# pyright: reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from flint import fmpq
from sympy import Basic, Eq, Ge, Gt, Integer, Sum, Symbol, sympify
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import And, Boolean, Or, true

from fedaudit.bounds.decide.facts import ExpNumber, Instance, sum_empty, sum_next, sum_splits, termwise
from fedaudit.bounds.formulas import lowering as trees
from fedaudit.bounds.language.derivation import NAMED, Given, Induction, Known, Step, put_in
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.premise_identity import Average, Definition
from fedaudit.errors import UserError

from ..kernel.core.expression import Op, Relation, Tree, parse_relation
from ..kernel.core.rational import Malformed, Node, Rejected
from ..kernel.proofs.forms import names_of
from ..kernel.proofs.judgement import put
from ..kernel.proofs.rules.citation import OWN
from ..kernel.proofs.rules.facts import FACTS
from .atom_trees import Json, relation_json, tree_json, tree_of
from .citations import NotCited, cited
from .lines.atom_facts import fact
from .notebook import Hypotheses, Notebook, speaks_of
from .premises import Spelling, defined, picked, premise

ONE = fmpq(1)


class NotProposed(Exception):
    """What keeps an argument from being written as judgements: a kind of the closed list, and where."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind, self.detail = kind, detail


class Enlarged(Exception):
    """The frame needs more than it has: the proof is written again with that in it."""

    def __init__(self, more: dict[str, dict[str, Any]]) -> None:
        super().__init__(str(more))
        self.more = more


@dataclass(frozen=True, slots=True)
class Place:
    """What stands for indices, and the hypotheses about it."""

    values: tuple[tuple[Symbol, Any], ...] = ()
    under: Hypotheses = ()

    def put(self, symbol: Symbol, value: Any, under: Hypotheses) -> Place:
        kept = tuple((s, v) for s, v in self.values if s != symbol)
        return Place((*kept, (symbol, value)), under)


@dataclass(slots=True)
class Proposer:
    """One way of one statement."""

    statement: Statement
    claim: Mapping[str, Any]
    catalogue: Mapping[str, Statement]
    book: Notebook
    steps: dict[Any, list[int]] = field(default_factory=dict[Any, list[int]])
    cites: dict[str, None] = field(default_factory=dict[str, None])
    names: dict[str, Any] = field(default_factory=dict[str, Any])
    frame: dict[str, Any] = field(default_factory=dict[str, Any])
    spelled: Spelling | None = None
    signs: Sequence[Any] = ()  # the steps of the argument, among which the signs of names are
    signed: list[int] = field(default_factory=list[int])  # the signs of names
    clients: dict[Symbol, str] = field(default_factory=dict[Symbol, str])

    # --- formulas ----------------------------------------------------------------------------------------------------

    def relation(self, formula: Any, place: Place) -> Relation:
        expr = formula.func(*(self.spelling.written(side) for side in formula.args), evaluate=False)
        names = cast("dict[Basic, str]", dict(place.values))
        self._declare(expr, names)
        try:
            raw = trees.tree(expr, names)
            return parse_relation(Node(_respelled(raw, self.spelling, {s.name: v for s, v in place.values}), "step"))
        except (UserError, Malformed) as error:  # what has no tree
            raise NotProposed("formula", f"{formula}: {error}") from None

    @property
    def spelling(self) -> Spelling:
        return self.spelled or Spelling(self.statement)

    def tree(self, formula: Any, place: Place) -> Tree:
        return self.relation(Eq(formula, 0, evaluate=False), place)[1]

    def _declare(self, expr: Any, names: Mapping[Basic, str]) -> None:
        """Symbols that the claim does not have are letters of the proof."""
        domains = self.book.context.forms.domains
        bound = {v for total in expr.atoms(Sum) for v in total.variables}
        for symbol in expr.free_symbols:
            if (
                isinstance(symbol, Symbol)
                and symbol not in names
                and symbol.name not in domains
                and symbol not in bound
            ):
                self.letter(symbol.name, trees.domain_of(symbol))
        for quantity in expr.atoms(AppliedUndef):
            name = trees.name_of(quantity)
            if name not in domains:
                cast("dict[str, str]", domains)[name] = "real"

    def letter(self, name: str, domain: str) -> str:
        context = self.book.context
        taken = {*context.claim.domains, *context.claim.for_all, *OWN, *context.forms.domains}
        if name in taken:
            n = 1
            while f"{name}_{n}" in taken:
                n += 1
            name = f"{name}_{n}"
        cast("dict[str, str]", context.letters)[name] = domain
        cast("dict[str, str]", context.forms.domains)[name] = domain
        return name

    # --- conditions --------------------------------------------------------------------------------------------------

    def background(self, place: Place) -> list[int]:
        """The claim's own conditions, at what stands for its indices, and the hypotheses."""
        key = ("background", place)
        if key in self.steps:
            return self.steps[key]
        book, claim = self.book, self.book.context.claim
        values = {s.name: tree_of(v) for s, v in place.values if s.name in claim.for_all}
        found = [book.assumed(h) for h in place.under]
        ranges: dict[str, list[int]] = {}
        for index, (low, high) in claim.for_all.items():
            if index not in values:
                found += [
                    book.say("condition", relation, (), (), {"of": "range", "index": index, "end": end})
                    for end, relation in (("low", ("<=", low, index)), ("high", ("<=", index, high)))
                ]
        for index in values:
            low, high = (put(("=", end, end), values)[1] for end in claim.for_all[index])
            both: list[Relation] = [("<=", low, values[index]), ("<=", values[index], high)]
            places = [book.line(relation, tuple(found), place.under) for relation in both]
            ranges[index] = [n for n in places if n is not None]
            found += ranges[index]
        for n, condition in enumerate(claim.when):
            inside = [index for index in values if speaks_of(condition, index)]
            try:
                if inside:
                    data = {"of": "when", "n": n, "at": {index: tree_json(values[index]) for index in inside}}
                    by = [r for index in inside for r in ranges[index]]
                    says = put(condition, {index: values[index] for index in inside})
                    found.append(book.say("condition", says, place.under, by, data))
                else:
                    found.append(book.say("condition", condition, (), (), {"of": "when", "n": n}))
            except Rejected:
                continue
        self.steps[key] = list(dict.fromkeys(found))
        return self.steps[key]

    # --- steps -------------------------------------------------------------------------------------------------------

    def step(self, step: Step | Induction, place: Place) -> list[int]:
        """The judgements that say the step, under its own hypotheses and those of the place."""
        key = (step, place)
        if key not in self.steps:
            made = self._inductively(step, place) if isinstance(step, Induction) else self._step(step, place)
            self.steps[key] = made
        return self.steps[key]

    def _step(self, step: Step, place: Place) -> list[int]:
        under = (*place.under, *(self.relation(c, place) for c in _parts(step.under)))
        if isinstance(step.claim, Or):
            return self._other(step, place, under)
        if (either := next((g for g in step.given if self._open(g, place)), None)) is not None:
            return self._either(step, either.claim, place)
        rests, splits = self.rests(step.given, place, under)
        return [n for part in _parts((step.claim,)) for n in self._claimed(part, place, under, rests, splits)]

    def _open(self, item: Given, place: Place) -> bool:
        """Whether a step says one of two things, and the hypotheses do not say which."""
        if not isinstance(item, Step) or not isinstance(item.claim, Or):
            return False
        first, _ = self._sides(item.claim, place)
        return not any(self.book.among(h, place.under) for h in (first, _denied(first)))

    def _sides(self, claim: Or, place: Place) -> tuple[Relation, Any]:
        """The side by which cases are told apart, and the other one."""
        sides = list(claim.args)
        if len(sides) != 2 or not all(isinstance(side, Relational) for side in sides):
            raise NotProposed("formula", f"{claim}: expected one of two relations")
        first = next((s for s in sides if not s.atoms(AppliedUndef)), sides[0])  # of numbers, not of measures
        return self.relation(first, place), next(s for s in sides if s is not first)

    def _either(self, step: Step, claim: Or, place: Place) -> list[int]:
        """The step in the case that one side holds, and in the case that it does not, where the other one does."""
        first, _ = self._sides(claim, place)
        both = [self._step(step, replace(place, under=(*place.under, h))) for h in (first, _denied(first))]
        under = (*place.under, *(self.relation(c, place) for c in _parts(step.under)))
        return [self.book.say("case", self.book.judgements[a].says, under, (a, b)) for a, b in zip(*both, strict=True)]

    def _other(self, step: Step, place: Place, under: Hypotheses) -> list[int]:
        """What is left of one of two things where the hypotheses deny the other; nothing where they do not."""
        first, other = self._sides(cast("Or", step.claim), place)
        if not self.book.among(_denied(first), place.under):
            return []
        rests, _ = self.rests(step.given, place, under)
        return [self.line(self.relation(other, place), rests, under, decided=True)]

    def _claimed(
        self, part: Any, place: Place, under: Hypotheses, rests: list[int], splits: Sequence[Known]
    ) -> list[int]:
        says = self.relation(part, place)
        if not splits:
            return [self.line(says, rests, under, decided=True)]
        return [self._by_cases(says, place, under, rests, splits[0])]

    def line(self, says: Relation, rests: Sequence[int], under: Hypotheses, *, decided: bool = False) -> int:
        """The place of a line. What has no certificate is trusted if `derive` asked z3 and got it."""
        found = self.book.line(says, tuple(rests), under, trust=decided)
        if found is None:
            raise NotProposed("line", f"{relation_json(says)}"[:300])
        return found

    def rests(self, given: Sequence[Given], place: Place, under: Hypotheses) -> tuple[list[int], list[Known]]:
        """The judgements that a step may use, and what is so in one of two cases."""
        scope = [*self.background(place), *self.signed, *(self.book.assumed(h) for h in under)]
        free = [g for g in given if not (g.requires if isinstance(g, Known) else g.under)]
        splits = [g for g in given if isinstance(g, Known) and isinstance(g.claim, Or)]
        for item in (*free, *(g for g in given if g not in free)):
            if item in splits:
                continue
            scope += self.use(item, place, scope, under)
            if isinstance(item, Step):
                scope += self._sign_before(item, place, scope, under)
        return list(dict.fromkeys(scope)), splits

    def _sign_before(self, step: Step, place: Place, scope: Sequence[int], under: Hypotheses) -> list[int]:
        """That the step size of the round before, of which the step speaks, is not negative."""
        split = next((g for g in step.given if isinstance(g, Known) and isinstance(g.claim, Or)), None)
        if split is None:
            return []
        later = next(p for case in split.claim.args for p in case.args if isinstance(p, Eq) and p.lhs.args)
        try:
            says: Relation = ("<=", fmpq(0), self.tree(later.lhs, place))
            return [self._by_cases(says, place, under, scope, split)]
        except (NotProposed, Rejected):
            return []

    def use(self, item: Given, place: Place, scope: Sequence[int], under: Hypotheses) -> list[int]:
        """The judgements that an item gives, with what it needs proved from the scope."""
        if isinstance(item, Known):
            return self._known(item, place, list(scope), under)
        if isinstance(item, Induction):
            return self._at(item, dict(place.values).get(item.over, item.over.name), place, scope, under)
        made = self.step(item, place)
        if not item.under:
            return made
        shown = [self.line(self.relation(c, place), scope, under) for c in _parts(item.under)]
        return [self.book.say("discharge", self.book.judgements[n].says, under, (n, *shown)) for n in made]

    # --- what is known -----------------------------------------------------------------------------------------------

    def _known(self, known: Known, place: Place, scope: list[int], under: Hypotheses) -> list[int]:
        rule = known.rule
        if known.claim is true:
            return []
        if known.of is not None:
            value = tree_json(self.tree(rule, place))
            return self._at(known.of, value, place, scope, under)
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
            return self._termwise(rule, place, scope, under)
        needed = self._required(known, place, scope, under)
        claims = [self.relation(c, place) for c in _parts((known.claim,))]
        if isinstance(rule, ExpNumber):
            return [self.book.say("fact", c, (), (), {"name": "numbers", "at": []}) for c in claims]
        if isinstance(rule, Instance):
            made = self._instance(rule, claims[0], place, [*scope, *needed], under)
            if made is not None:
                return [made]
        if (
            isinstance(rule, Definition)
            and isinstance(self.statement.method, str)
            and isinstance(known.claim.lhs, Symbol)
        ):
            made = defined(known, self.spelling).judgement
            if (round_ := made["with"]["at"][0]) not in self.book.context.forms.domains:
                self.letter(round_, "index")
            return [self.book.say("premise", parse_relation(Node(made["says"], "premise")), under, (), made["with"])]
        before = [n for c in claims for n in self._before(c, [*scope, *needed], under)]
        if before:
            return before
        found = [self.book.line(c, (*scope, *needed), under) for c in claims]
        if None in found and rule is None:
            return [n for n in found if n is not None]  # a range that only a requirement speaks of
        if None in found:
            kind = "definition" if isinstance(rule, Definition) else known.kind
            raise NotProposed("known", f"{kind} {known.because}: {known.claim}")
        return [n for n in found if n is not None]

    def _premise(
        self, known: Known, place: Place, scope: list[int], under: Hypotheses, *, clients: bool = True
    ) -> list[int]:
        """A shown premise; of a letter that is summed over, at a client and then at that letter."""
        book, frame = self.book, known.rule.frame
        letters, instance = dict[str, str](), dict[str, Json]()
        moved = place
        spoken = {s for part in _spoken(known.rule) for s in part.free_symbols}
        implied = {p for q in known.claim.atoms(AppliedUndef) for p in self._implied(q)}
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
        made = (picked if isinstance(known.rule, Average) else premise)(known, spelled)
        for name in made.clients:
            if name not in book.context.letters and name not in book.context.claim.for_all:
                self.letter(name, "client")
        needed = [
            self.line(self.relation(part, moved), scope, under) for claim in made.requires for part in _parts((claim,))
        ]
        says = parse_relation(Node(made.judgement["says"], "premise"))
        needs = book.needs(says, (*scope, *needed), under)
        data = made.judgement["with"]
        for by in (needed, [*needed, *(needs or ())], [*needed, *scope, *(needs or ())]):
            try:
                place_ = book.say(made.judgement["rule"], says, under, by, data)
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

    def _implied(self, quantity: Any) -> list[str]:
        _, places = self.spelling.indices.get(trees.name_of(quantity), ("", ()))
        return [place for place in places if isinstance(place, str)]

    def any(self, symbol: Symbol, domain: str) -> str:
        """A letter for any round, step or client."""
        if symbol not in self.clients:
            self.clients[symbol] = self.letter(f"{symbol.name}_any", domain)
        return self.clients[symbol]

    def sign(self, tree: Tree) -> int | None:
        """That a measure is not negative, if its form shows it."""
        try:
            return self.book.say("sign", ("<=", fmpq(0), tree))
        except Rejected:
            return None

    def _required(self, known: Known, place: Place, scope: list[int], under: Hypotheses) -> list[int]:
        found: list[int] = []
        for needed in known.requires:
            more, _ = self.rests(needed.given, place, under) if needed.given else ([], [])
            parts = [self.relation(part, place) for part in _parts((needed.claim,))]
            found += [self.line(part, [*scope, *more], under, decided=True) for part in parts]
        return found

    def _instance(
        self, rule: Instance, says: Relation, place: Place, scope: Sequence[int], under: Hypotheses
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
        inner = Place(tuple((s, v) for s, v in place.values if s != index), place.under)
        ends = [self.tree(low, place), self.tree(high[0], place) if high else self.tree(low - 1, place)]
        body = self._inside(term, index, inner)
        data = {"index": index.name, "low": tree_json(ends[0]), "high": tree_json(ends[1]), "body": tree_json(body)}
        if rule.make is sum_empty:
            return book.say("sum_empty", says, under if scope else (), (), data)
        data_relation = ("<=", ends[0], Op("+", (ends[1], ONE)))
        range_ = book.line(data_relation, tuple(scope), under)
        return book.say("sum_next", says, under, (*scope, *(() if range_ is None else (range_,))), data)

    def _inside(self, term: Any, index: Symbol, place: Place) -> Tree:
        """A term with its index as a name."""
        domains = cast("dict[str, str]", self.book.context.forms.domains)
        strange = index.name not in domains
        if strange:
            domains[index.name] = "index"
        body = self.tree(term, place)
        if strange:
            del domains[index.name]
        return body

    def _before(self, says: Relation, scope: Sequence[int], under: Hypotheses) -> list[int]:
        """Step sizes of the round before."""
        _, left, _ = says
        if says[0] != "=" or not isinstance(left, Op) or left.name != "at" or not self._earlier(str(left.args[0])):
            return []
        place = left.args[1]
        forms = self.book.context.forms
        by: list[int] = []
        if forms.form(place).top:
            wanted: list[Relation] = [("<=", ONE, place), ("<=", place, self.book.context.size("T"))]
            by = [n for n in (self.book.line(r, tuple(scope), under) for r in wanted) if n is not None]
        data = {"of": "before", "name": left.args[0], "at": tree_json(place)}
        try:
            return [self.book.say("condition", says, under, by, data)]
        except Rejected as error:
            raise NotProposed("known", f"before: {error}") from None

    def _earlier(self, name: str) -> bool:
        """Whether it is the step size of the round before; the frame says so where the claim does not speak of it."""
        method = self.statement.method
        steps = (
            {} if isinstance(method, str) else {trees.name_of(q): trees.name_of(s) for q, s in method.before.items()}
        )
        own = (self.claim.get("method") or {}).get("before", {})
        if name in steps and name not in own and name not in self.frame.get("before", {}):
            raise Enlarged({"before": {name: steps[name]}})
        return name in steps

    def _cases(self, known: Known, place: Place) -> Iterator[Any]:
        """Round 0, where the step of the round before is 0, and the others."""
        book = self.book
        first, later = sorted(known.claim.args, key=lambda c: not any(isinstance(p, Eq) and p.rhs == 0 for p in c.args))
        earlier = next(p for p in later.args if isinstance(p, Eq))
        at = self.tree(earlier.lhs.args[0], place)
        says = self.relation(earlier, place)
        name = str(cast("Op", says[1]).args[0])
        self._earlier(name)
        _ = first

        def none(known: list[int], scope: Hypotheses) -> list[int]:
            zero = book.line(("=", at, fmpq(0)), tuple(known), scope)
            start = book.say(
                "condition",
                ("=", Op("at", (name, fmpq(0))), fmpq(0)),
                (),
                (),
                {"of": "before", "name": name, "at": "0"},
            )
            assert zero is not None
            equal: Relation = ("=", Op("at", (name, at)), Op("at", (name, fmpq(0))))
            data = {"letter": "_x", "formula": ["at", name, "_x"]}
            return [zero, start, book.say("congruence", equal, scope, (zero,), data)]

        def some(known: list[int], scope: Hypotheses) -> list[int]:
            return self._before(says, [*known, *self.background(place)], scope)

        yield ("<=", at, fmpq(0)), none
        yield ("<=", ONE, at), some

    def named(self, known: Known) -> list[int]:
        symbol, value = known.claim.args
        name = symbol.name
        context = self.book.context
        if name not in self.names:
            formula = tree_json(self.tree(value, Place()))
            self.letter(name, "real") if name not in context.letters else None
            for part in (context.letters, context.forms.domains):
                cast("dict[str, str]", part)[name] = "real"
            self.names[name] = formula
            cast("dict[str, Tree]", context.names)[name] = tree_of(formula)
        says = ("=", name, context.names[name])
        needs = self.book.needs(says, tuple(self.background(Place())), ()) or []
        made = [self.book.say("definition", says, (), needs, {"letter": name})]
        if symbol.is_nonnegative:
            sign = Gt(value, 0) if symbol.is_positive else Ge(value, 0)
            steps = [s for s in self.signs if s.claim == sign and not s.under]
            rests = [n for s in steps for n in self.step(s, Place())]
            known_sign: Relation = ("<" if symbol.is_positive else "<=", fmpq(0), name)
            place = self.book.line(known_sign, (*made, *rests, *self.background(Place())), ())
            self.signed += [] if place is None else [place]
        return made

    def _cited(self, known: Known, place: Place, scope: list[int], under: Hypotheses) -> list[int]:
        book = self.book
        for needed in known.requires:
            scope += self.rests(needed.given, place, under)[0] if needed.given else []
        taken = [*book.context.forms.domains]
        made = cited(self.statement, _moved(known, place), self.catalogue, book.context.letters, taken)
        if isinstance(made, NotCited):
            raise NotProposed("citation", made.reason)
        for name, domain in made.letters.items():
            self.letter(name, domain)
        for part, values in (("measures", made.measures), ("before", made.before)):
            if new := {name: value for name, value in values.items() if name not in self.frame.get(part, {})}:
                raise Enlarged({part: new})
        self.cites[made.of] = None
        from .proposal import claim_of

        cast("dict[str, Any]", book.context.cited)[made.of] = claim_of(self.catalogue[made.of])
        by = list(scope)
        for required in made.requires:
            more = tuple(parse_relation(Node(h, "citation")) for h in required.under)
            says = parse_relation(Node(required.says, "citation"))
            offered = [*scope, *(book.assumed(h) for h in more), *self._generic(more, under)]
            splits = [g for needed in known.requires for g in needed.given if isinstance(g.claim, Or)]
            by.append(self._shown(says, offered, (*under, *more), splits))
        says = parse_relation(Node(made.judgement["says"], "citation"))
        try:
            return [book.say("citation", says, under, by, made.judgement["with"])]
        except Rejected as error:
            raise NotProposed("citation", str(error)) from None

    def _shown(self, says: Relation, offered: list[int], under: Hypotheses, splits: Sequence[Any]) -> int:
        """A line, in two cases where it takes them: at the letter for every value of the index."""
        book = self.book
        found = book.line(says, tuple(offered), under)
        for split in splits if found is None else ():
            index = next(q for q in split.claim.atoms(AppliedUndef) if self._earlier(trees.name_of(q))).args[0]
            letter = next((n for n in names_of(*says[1:]) if n.rsplit("_", 1)[0] == str(index)), str(index))
            place = Place(((index, letter),), under)
            return self._by_cases(says, place, under, offered, split)
        if found is None:
            raise NotProposed("line", f"{relation_json(says)}"[:300])
        return found

    def _by_cases(self, says: Relation, place: Place, under: Hypotheses, rests: Sequence[int], split: Known) -> int:
        both: list[int] = []
        for hypothesis, more in self._cases(split, place):
            scope = (*under, hypothesis)
            known = self.book.assumed(hypothesis)
            both.append(self.line(says, [*rests, known, *more([known], scope)], scope, decided=True))
        return self.book.say("case", says, under, both)

    def _generic(self, more: Hypotheses, under: Hypotheses) -> list[int]:
        """The claim's own conditions at the letters that hypotheses speak of."""
        book, claim = self.book, self.book.context.claim
        found: list[int] = []
        letters = {str(side) for h in more for side in h[1:] if isinstance(side, str) and side in book.context.letters}
        for letter in letters:
            for index in claim.for_all:
                if letter.rsplit("_", 1)[0] == index:
                    found += self.background(Place(((Symbol(index), letter),), (*under, *more)))
        return found

    # --- sums and induction ------------------------------------------------------------------------------------------

    def _own_letter(self, symbol: Symbol, place: Place, domain: str = "") -> str:
        """A letter for all values of an index: its own name, if nothing else speaks of that."""
        context = self.book.context
        spoken = any(speaks_of(h, symbol.name) for h in place.under)
        domain = domain or trees.domain_of(symbol)
        if context.letters.get(symbol.name) in (domain, "count" if domain == "index" else domain) and not spoken:
            return symbol.name
        return self.letter(symbol.name, domain)

    def _termwise(self, rule: Instance, place: Place, scope: list[int], under: Hypotheses) -> list[int]:
        relation, index, low, high, *given = rule.arguments
        letter = self._own_letter(index, place)
        ends = [self.tree(end, place) for end in (low, high)]
        range_: Hypotheses = (("<=", ends[0], letter), ("<=", letter, ends[1]))
        inner = place.put(index, letter, (*under, *range_))
        rests, splits = self.rests(list(given), inner, inner.under)
        (first,) = self._claimed(relation, inner, inner.under, [*rests, *scope], splits)
        name, left, right = self.book.judgements[first].says
        says: Relation = (
            name,
            Op("sum", (letter, ends[0], ends[1], left)),
            Op("sum", (letter, ends[0], ends[1], right)),
        )
        needs = self.book.needs(says, tuple(scope), under) or []
        data = {"letter": letter, "low": tree_json(ends[0]), "high": tree_json(ends[1])}
        return [self.book.say("termwise", says, under, (first, *scope, *needs), data)]

    def _inductively(self, step: Induction, place: Place) -> list[int]:
        """Over all rounds of the run, if it does not go beyond them."""
        try:
            return self._induction(step, place)
        except NotProposed:
            if step.over.name in self.book.context.claim.for_all or "method" not in self.claim:
                raise
            return self._induction(step, place, within=True)

    def _induction(self, step: Induction, place: Place, *, within: bool = False) -> list[int]:
        book = self.book
        parts = _parts((step.claim,))
        letter = self._own_letter(step.over, place, "count" if step.start >= 1 else "")
        start = tree_of(str(step.start))
        at = place.put(step.over, letter, ())
        claim = book.context.claim
        hypotheses: list[Relation] = list(place.under)
        if step.over.name in claim.for_all:
            low, high = claim.for_all[step.over.name]
            hypotheses += [("<=", low, letter), ("<=", letter, high)]
        if within:
            hypotheses.append(("<=", letter, book.context.size("T")))
        hypotheses += [self.relation(c, at) for c in _parts(step.under)]
        reached: Relation = ("<=", start, letter)
        if step.start > (1 if book.context.letters[letter] == "count" else 0):
            hypotheses.append(reached)
        under = tuple(dict.fromkeys(hypotheses))
        claims = [self.relation(part, at) for part in parts]
        first = {letter: start}
        begin = Place(at.values, tuple(dict.fromkeys(put(h, first) for h in under))).put(
            step.over, str(step.start), tuple(dict.fromkeys(put(h, first) for h in under))
        )
        rests, _ = self.rests(step.base, begin, begin.under)
        bases = [self.line(put(says, first), rests, begin.under, decided=True) for says in claims]
        after = {letter: Op("+", (letter, ONE))}
        later = tuple(put(h, after) for h in under)
        onward = Place(at.values, tuple(dict.fromkeys((*later, *under, *claims, reached))))
        here = Place(at.values, onward.under)
        rests, splits = self.rests(step.step, here, onward.under)
        if splits:
            raise NotProposed("induction", "a case inside an induction")
        forth = [self.line(put(says, after), rests, onward.under, decided=True) for says in claims]
        begun = tuple(dict.fromkeys((*later, reached)))
        known = [book.assumed(h) for h in begun]
        waiting = [h for h in under if speaks_of(h, letter) and not book.among(h, begun)]
        down = [self.line(h, known, begun) for h in waiting]
        made: list[int] = []
        for n, says in enumerate(claims):
            others = [m for m in range(len(claims)) if m != n]
            data: dict[str, Any] = {"over": letter, "from": str(step.start)}
            if others:
                data["also"] = [relation_json(claims[m]) for m in others]
            by = [place for m in (n, *others) for place in (bases[m], forth[m])]
            made.append(book.say("induction", says, under, (*by, *down), data))
        return made

    def _at(self, step: Induction, value: Any, place: Place, scope: Sequence[int], under: Hypotheses) -> list[int]:
        """An induction at a value of its index, where its hypotheses hold."""
        outer = Place(tuple((s, v) for s, v in place.values if s != step.over))
        if any(s not in (step.over,) and s.name in str(step.claim.free_symbols) for s, _ in place.values):
            outer = Place(
                outer.values, tuple(h for h in place.under if not speaks_of(h, str(dict(place.values).get(step.over))))
            )
        return [n for made in self.step(step, outer) for n in self._at_value(made, value, scope, under)]

    def _at_value(self, made: int, value: Any, scope: Sequence[int], under: Hypotheses) -> list[int]:
        book = self.book
        judgement = book.judgements[made]
        letter = book.entries[made]["with"]["over"]
        values = {letter: tree_of(value)}
        said = put(judgement.says, values)
        needed = tuple(put(h, values) for h in judgement.under)
        shown = [self.line(h, scope, under) for h in needed]
        if value != letter:
            least = [book.line(("<=", fmpq(n), values[letter]), tuple(scope), under) for n in (0, 1)]
            by = [made, *(n for n in least if n is not None)]
            made = book.say("instance", said, tuple(dict.fromkeys((*under, *needed))), by, {"values": {letter: value}})
        if not needed:
            return [made]
        return [book.say("discharge", said, under, (made, *shown))]


def _respelled(node: Json, spelled: Spelling, values: Mapping[str, str]) -> Json:
    """A tree with the file's names: those of measures that only the proof has may lack the round."""
    if isinstance(node, str):
        if node in spelled.indices and not spelled.indices[node][1]:
            return spelled.indices[node][0]
        return spelled.letters.get(node, node)
    if node[0] == "at" and node[1] in spelled.indices:
        name, places = spelled.indices[node[1]]
        old = [_respelled(arg, spelled, values) for arg in node[2:]]
        return ["at", name, *(old[p] if isinstance(p, int) else _implied(p, spelled, values) for p in places)]
    if node[0] == "sum":
        values = {name: value for name, value in values.items() if name != node[1]}
        first = spelled.letters.get(node[1], node[1])
        return ["sum", first, *(_respelled(arg, spelled, values) for arg in node[2:])]
    if node[0] == "at":
        return ["at", node[1], *(_respelled(arg, spelled, values) for arg in node[2:])]
    return [node[0], *(_respelled(arg, spelled, values) for arg in node[1:])]


def _implied(letter: str, spelled: Spelling, values: Mapping[str, str]) -> str:
    return values.get(letter, spelled.letters.get(letter, letter))


def _spoken(rule: Any) -> list[Any]:
    """The formulas of a shown premise that speak of its place."""
    if isinstance(rule, Average):
        return [rule.frame.letters[0]]
    return [rule.claim, *(sympify(x) for x in rule.at or ()), *(m for m, _ in rule.by)]


def _moved(known: Known, place: Place) -> Known:
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


def _parts(claims: Sequence[Boolean]) -> list[Relational]:
    """The relations of conjunctions; what is true as written is none."""
    return [p for claim in claims for p in And.make_args(claim) if p is not true and p != true]  # type: ignore[misc]


__all__ = ["NotProposed", "Place", "Proposer", "replace", "sum_splits"]
