"""A shown premise as a judgement of a proof file: its atoms and vectors in the method's own JSON.

Quantities that only the proof names get names of their own, with the round among their indices: a `Spelling` says how
formulas of an argument are written with them.
"""

# A tree of JSON is a list of anything to a type checker.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from sympy import Ge, Lambda, Mul, Symbol, sympify
from sympy.core.function import AppliedUndef

from fedaudit.bounds.formulas.lowering import tree, written
from fedaudit.bounds.language.derivation import Known
from fedaudit.bounds.language.method import INDICES, quantity_name
from fedaudit.bounds.language.rule_expressions import norm2
from fedaudit.bounds.language.rule_parts import Number, Vector, vector_tree, vectors_of, zero
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.atom import Atom, Client, Field
from fedaudit.bounds.proofs.frame import HETEROGENEITY, Frame
from fedaudit.bounds.proofs.premise_identity import Average, Shown, check, is_number, reader_of
from fedaudit.bounds.proofs.proximal_atoms import Largest
from fedaudit.verify.kernel.proofs.vectors.settings import SETTINGS
from fedaudit.verify.search.lowered_claim import lower

Json = Any
OWN = "own_"  # how names of the proof alone begin
TAKEN = ("C", "E", "T", "D", "m", "b", "Gamma", "p")  # names that no letter of a proof about a run has
ORDER = "tkijn"


@dataclass(frozen=True, slots=True)
class Premise:
    """A judgement without what it rests on, the relations that it requires, and the clients that it speaks of."""

    judgement: dict[str, Json]
    requires: tuple[Any, ...] = ()
    clients: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spelling:
    """How an argument's formulas are written in a file: its own names, and the frame that says what they are."""

    statement: Statement
    frame: dict[str, Json] = field(default_factory=dict[str, Json])
    indices: Mapping[str, tuple[str, tuple[int | str, ...]]] = field(
        default_factory=dict[str, "tuple[str, tuple[int | str, ...]]"]
    )  # own name -> its name in the file, and its indices: places among the old ones, or the round's letter
    letters: Mapping[str, str] = field(default_factory=dict[str, str])  # renamed
    formulas: Mapping[Any, Any] = field(default_factory=dict[Any, Any])  # of a setting's frame

    def tree(self, expr: Any) -> Json:
        """The tree of a formula or relation, everything written out."""
        return self.renamed(tree(self.written(expr)))

    def written(self, expr: Any) -> Any:
        expr = written(self.statement, sympify(expr))
        for quantity, formula in self.formulas.items():
            expr = expr.replace(quantity.func, Lambda(quantity.args, formula))
        return expr

    def renamed(self, node: Json, values: Mapping[str, str] | None = None) -> Json:
        """A tree with the file's names; measures that only the proof has may lack the round, whose value is added."""
        values = values or {}
        if isinstance(node, str):
            if node in self.indices and not self.indices[node][1]:
                return self.indices[node][0]
            return self.letters.get(node, node)
        if not isinstance(node, list):
            return node
        operation, *args = cast("list[Json]", node)
        if operation == "sum":
            values = {name: value for name, value in values.items() if name != args[0]}
            return ["sum", self.letters.get(args[0], args[0]), *(self.renamed(arg, values) for arg in args[1:])]
        if operation != "at":
            return [operation, *(self.renamed(arg, values) for arg in args)]
        name, *places = args
        written_places = [self.renamed(place, values) for place in places]
        if name not in self.indices:
            return ["at", name, *written_places]
        own, order = self.indices[name]
        every = {**self.letters, **values}
        return ["at", own, *(every.get(p, p) if isinstance(p, str) else written_places[p] for p in order)]


def spelling(statement: Statement, knowns: Iterable[Known]) -> Spelling:
    """The names of all frames that the premises of one argument use."""
    knowns = list(knowns)
    frames = list({id(f): f for k in knowns if (f := _frame_of(k)) is not None}.values())
    letters = {str(s): f"{OWN}{s}" for f in frames for s in f.letters if str(s) in TAKEN and s not in statement.for_all}
    frame_json: dict[str, Json] = {}
    indices: dict[str, tuple[str, tuple[int | str, ...]]] = {}
    for frame in frames:
        named = dict(frame.names)
        if isinstance(statement.method, str):  # names of the setting's world are the kernel's
            setting = SETTINGS[statement.method].known if statement.method in SETTINGS else {}
            own = {
                q: n for q, n in frame.method.measures.items() if quantity_name(q) not in {*setting, "f_at", "f_mean"}
            }
            named |= own
        for key, number in named.items():
            if number == HETEROGENEITY and str(key) == "Gamma":
                continue
            name, places, measure = _measure(key, number, frame, statement)
            indices[name] = OWN + name, places
            frame_json.setdefault("measures", {})[OWN + name] = measure
        if frame.ghosts:
            frame_json.setdefault("ghosts", {}).update(
                {x.name: [_rule(rule, frame, statement) for rule in rules] for x, rules in frame.ghosts.items()}
            )
        if frame.kept:
            k = frame.letters[1]
            kept = {x.name: _rule(form(k), frame, statement) for x, form in frame.kept.items()}
            frame_json.setdefault("kept", {}).update(kept)
        if frame.sent:
            frame_json.setdefault("kept", {}).update(
                {x.name: _rule(y, frame, statement) for x, y in frame.sent.items()}
            )
        if frame.shares is not None:
            name = frame.shares.__name__
            indices[name] = OWN + name, (0, 1)
            frame_json["shares"] = OWN + name
        if frame.alone:
            frame_json["alone"] = True
        if frame.single:
            frame_json["single"] = True
        if frame.groups is not None:
            both = {"idle": str(frame.groups.idle), "begins": str(frame.groups.begins)}
            indices |= {name: (OWN + name, ()) for name in both.values()}
            frame_json["groups"] = {part: OWN + name for part, name in both.items()}
    if not isinstance(statement.method, str):
        spoken = [written(statement, sympify(k.claim)) for k in knowns]
        heads = {quantity_name(q) for e in spoken for q in e.atoms(AppliedUndef, Symbol)}
        every = statement.method.data(tree, {quantity_name(q) for q in statement.method.measures})["measures"]
        read = statement.method.data(tree, set(lower(statement).claim["domains"]))["measures"]
        more = {name: every[name] for name in every if name in heads and name not in read}
        frame_json.setdefault("measures", {}).update(more)
    formulas = {q: e for f in frames for q, e in f.method.formulas.items() if isinstance(q, AppliedUndef)}
    return Spelling(statement, frame_json, indices, letters, formulas if isinstance(statement.method, str) else {})


def _frame_of(known: Known) -> Frame | None:
    return known.rule.frame if isinstance(known.rule, Shown | Average) else None


def _run_letters(frame: Frame) -> dict[Any, Any]:
    names = [*zip(frame.letters, "tkij", strict=True)]
    names += [(s, name) for s, name in frame.method.names.items() if name in INDICES]
    return {s: Symbol(name) for s, name in names}


def _rule(x: Any, frame: Frame, statement: Statement) -> Json:
    letters = _run_letters(frame)

    def scalar(e: Any) -> Json:
        return tree(written(statement, sympify(e)).xreplace(letters))

    return vector_tree(x, scalar)


def _measure(key: Any, number: Number, frame: Frame, statement: Statement) -> tuple[str, tuple[int | str, ...], Json]:
    letters = {s: str(name) for s, name in _run_letters(frame).items()}
    args = key.args if isinstance(key, AppliedUndef) else ()
    at = {letters.get(s, str(s)): n for n, s in enumerate(args)}
    places: dict[str, int | str] = dict(at)
    if "t" not in at and ("k" in at or any(x.op == "name" for x in vectors_of(number))):
        places["t"] = str(frame.letters[0])
    order = sorted(places, key=ORDER.index)
    name = key.func.__name__ if isinstance(key, AppliedUndef) else str(key)
    groups = [x.args[0] for x in vectors_of(number) if x.op == "group"]
    terms = _ungrouped(_rule(Number(number.terms), frame, statement))
    more = {"group": groups[0]} if groups else {}
    return name, tuple(places[index] for index in order), {"at": order, "terms": terms, **more}


def _ungrouped(node: Json) -> Json:
    """Means over a group as the vectors themselves: the measure says which group reads them."""
    if not isinstance(node, list):
        return node
    parts = cast("list[Json]", node)
    return _ungrouped(parts[2]) if parts[0] == "group" else [_ungrouped(part) for part in parts]


# --- premises ---------------------------------------------------------------------------------------------------------


def premise(known: Known, spelled: Spelling) -> Premise:
    """The judgement that a shown premise becomes."""
    rule: Shown = known.rule
    frame, clients = rule.frame, dict[str, None]()
    data: dict[str, Json] = {}
    t, k = rule.at or (frame.letters[0], frame.letters[1])
    if (not isinstance(spelled.statement.method, str) or frame.method.local) and not rule.pathwise:
        data["at"] = [spelled.tree(t), spelled.tree(k)]
    atoms = _Atoms(spelled, frame, clients, rule.pathwise or frame.one)
    if rule.by:
        data["by"] = [[spelled.tree(m), atoms.atom(a)] for m, a in rule.by]
    if rule.times is not None:
        data["times"] = atoms.vector(rule.times)
    if rule.pathwise:
        data["pathwise"] = True
    if rule.schwarz:
        data["schwarz"] = _schwarz(rule, atoms)
    claim = rule.claim
    requires = [] if rule.schwarz and not rule.by else list(check(rule).requires)
    if frame.method.counts_from and "at" in data:
        requires.append(Ge(t, frame.method.counts_from))
    if any(isinstance(atom, Largest) for _, atom in rule.by):  # over the rounds of the run
        letters = {name: s for s, name in frame.method.names.items()}
        last = letters.get("T", Symbol("T", integer=True, positive=True)) + frame.method.counts_from - 1
        requires.append(Ge(last, t))
    judgement = {"rule": "premise", "says": spelled.tree(claim), "with": data}
    return Premise(judgement, tuple(requires), tuple(clients))


def picked(known: Known, spelled: Spelling) -> Premise:
    """That a quantity in a round that is picked is the mean over the rounds of what the frame calls by name."""
    claim = known.claim
    each = next(q for q in claim.rhs.atoms(AppliedUndef) if q != claim.lhs and q in known.rule.frame.names)
    name = spelled.indices[each.func.__name__][0]
    return Premise({"rule": "picked", "says": spelled.tree(claim), "with": {"each": name}})


def sign(quantity: Any, spelled: Spelling) -> Premise:
    """That a measured quantity is not negative, by its form."""
    return Premise({"rule": "sign", "says": [">=", spelled.tree(quantity), "0"]})


def defined(known: Known, spelled: Spelling) -> Premise:
    """What a formula of the method or of a setting says that a quantity is: a line, or of a setting's sum a premise."""
    claim = known.claim
    says = spelled.tree(claim)
    if isinstance(spelled.statement.method, str) and isinstance(claim.lhs, Symbol):
        (measured,) = claim.rhs.atoms(AppliedUndef)
        at: list[Json] = [spelled.renamed("t"), spelled.tree(measured.args[-1])]
        return Premise({"rule": "premise", "says": says, "with": {"at": at}})
    certificate: Json = {"products": [["1", ["goal"]]], "equations": []}
    return Premise({"rule": "line", "says": says, "with": [certificate, certificate]})


def _schwarz(rule: Shown, atoms: _Atoms) -> Json:
    x, y = rule.schwarz or (zero, zero)
    claim, reader = rule.claim, reader_of(rule)
    one, two = claim.rhs.args if isinstance(claim.rhs, Mul) else (claim.rhs, claim.rhs)

    a, b = (one, two) if is_number(reader, one, norm2(x)) else (two, one)
    tree = atoms.spelled.tree
    return {
        "x": atoms.vector(x),
        "y": atoms.vector(y),
        "root": tree(claim.lhs.base),
        "sides": [tree(a), tree(b)],
        **atoms.clients_of("one", [x, y]),
    }


@dataclass(frozen=True, slots=True)
class _Atoms:
    spelled: Spelling
    frame: Frame
    clients: dict[str, None]
    anyone: bool  # whether atoms name no clients: of any, or of the only one

    def vector(self, x: Any) -> Json:
        return _pointed(vector_tree(x, self.spelled.tree), self.points)

    @property
    def points(self) -> list[str]:
        """The vectors of a setting that all share: points to the kernel."""
        setting = isinstance(self.spelled.statement.method, str)
        return [x.name for x in self.frame.method.server] if setting else []

    def clients_of(self, over: str, vectors: list[Any], own: bool = False) -> dict[str, Json]:
        """The clients whose vectors an atom reads."""
        if over != "one" or self.anyone:
            return {}
        _, _, i, j = self.frame.letters
        named: dict[str, Json] = {}
        if own or any(_reads_client(x, self.frame) for x in vectors):
            named["client"] = self._client(i)
        if any(x.uses("other") for x in vectors):
            named["other"] = self._client(j)
        return named

    def _client(self, letter: Any) -> str:
        name = self.spelled.letters.get(str(letter), str(letter))
        if letter not in self.spelled.statement.for_all:
            self.clients[name] = None
        return name

    def atom(self, atom: Atom) -> Json:
        """An atom as a proof file has it: its kind, its fields, and the clients whose vectors it reads."""
        fields = atom.fields(self.frame)
        over = {"over": atom.over} if atom.over != "one" else {}
        vectors = [part for part in fields.values() if isinstance(part, Vector)]
        clients = {} if "client" in fields else self.clients_of(atom.over, vectors, atom.of_client())
        return {"atom": atom.kind} | over | {name: self._field(part) for name, part in fields.items()} | clients

    def _field(self, part: Field) -> Json:
        match part:
            case Vector():
                return self.vector(part)
            case Client(letter=letter):
                return self._client(letter)
            case dict():
                return {name: self._field(inside) for name, inside in part.items()}
            case str() | bool():
                return part
            case _:
                return self.spelled.tree(part)


def _pointed(node: Json, points: list[str]) -> Json:
    if isinstance(node, str):
        return ["point", node] if node in points else node
    first = 2 if node[0] in ("*", "prox", "oracle", "full_prox") else 1
    return [*node[:first], *(_pointed(arg, points) for arg in node[first:])] if node[0] != "point" else node


def _reads_client(x: Any, frame: Frame) -> bool:
    """Whether a vector is one of a client: it reads one outside of means."""
    if not isinstance(x, Vector):
        return False
    if x.op == "name":
        return x in frame.method.client or x in frame.ghosts
    if x.op in ("mean", "sampled"):
        return False
    return x.op in ("grad", "noisy", "neighbours", "oracle") or any(_reads_client(arg, frame) for arg in x.args)
