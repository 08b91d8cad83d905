"""A proof from a file: judgements in order, each by a rule from those before it, and the claim itself among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from ..core.budget import metered
from ..core.claim import Claim
from ..core.claim import read as read_claim
from ..core.expression import DOMAINS, Relation, Tree, free, parse, parse_relation
from ..core.rational import Malformed, Node, Rejected
from ..worlds.registry import SETTINGS
from .forms import Forms
from .judgement import KINDS, ZERO, Context, Judgement, among, offers_of, same, told
from .polynomials import ONE, Form
from .rules import citation, conditions, facts, growth, line, logic, premise, sums
from .vectors import frame, reading

FORMAT = "fedaudit-proof/2"
WORK = 400_000_000
GROWTH = "order"  # the rule, and the setting of claims whose relations no other rule judges
FROM_ZERO = ("positive", "nonnegative")
Rule = Callable[[Judgement, Node, Sequence[Judgement], Context], None]
RULES: Mapping[str, Rule] = {
    "line": line.check, "condition": conditions.condition, "fact": facts.fact,
    "citation": citation.check, "premise": premise.check, "sign": premise.check_sign, "picked": premise.check_picked,
    "hypothesis": logic.hypothesis, "discharge": logic.discharge, "case": logic.case, "instance": logic.instance,
    "definition": logic.definition, "congruence": logic.congruence, "trusted": logic.trusted,
    "sum_next": sums.sum_next, "sum_empty": sums.sum_empty, "termwise": sums.termwise, "induction": sums.induction,
    GROWTH: growth.check,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Accepted:
    """A claim that was proved, what was used, and the lines that were taken on a solver's word."""

    claim: Claim
    rules: Mapping[str, int]
    trusted: tuple[str, ...]
    cites: tuple[str, ...] = ()


def is_one(file: object) -> bool:
    """Whether it says of itself that it is a proof of a statement."""
    return isinstance(file, dict) and cast("dict[str, object]", file).get("format") == FORMAT


def check(file: object, accepted: Mapping[str, Accepted], most: int = WORK) -> Accepted:
    """Accept the proof of one claim, or raise `Malformed` or `Rejected` with the first thing that is wrong.

    `accepted`: the proofs of what it cites, checked before.
    """
    try:
        with metered(most):
            return _checked(file, accepted)
    except RecursionError:
        raise Malformed("proof: got formulas nested too deeply, expected a few levels") from None


def _checked(file: object, accepted: Mapping[str, Accepted]) -> Accepted:
    fields = Node(file, "proof").fields("format statement claim judgements", "cites letters names frame")
    fields["format"].one_of((FORMAT,))
    claim = read_claim(fields["claim"])
    if not claim.then or claim.kind == "experiment" or claim.setting not in SETTINGS:
        raise Rejected("claim: got nothing that holds for all instances of a setting, expected relations")
    if fields["statement"].identifier() != claim.id:
        raise fields["statement"].malformed("the id of the claim")
    context = context_of(fields, claim, accepted)
    used: Counter[str] = Counter()
    judgements: list[Judgement] = []
    growths: dict[int, Relation] = {}  # orders of growth: no relations between numbers
    for node in fields["judgements"].items():
        name, stated = _judged(node, judgements, growths, context)
        used[name] += 1
        if name == GROWTH:
            growths[len(judgements)] = stated.says
        judgements.append(stated)
    for relation in claim.then:
        # An order of growth is no relation between numbers: no other rule may say it, and nothing may rest on it.
        if claim.setting != GROWTH:
            _ends_with(relation, judgements, context)
        elif relation not in growths.values():
            raise Rejected(f"proof: got no order of growth {told(relation)}, expected one by the rule {GROWTH!r}")
    return Accepted(claim, dict(used), tuple(context.trusted), tuple(context.cited))


def context_of(fields: Mapping[str, Node], claim: Claim, accepted: Mapping[str, Accepted]) -> Context:
    cites = [node.identifier() for node in fields["cites"].items()] if "cites" in fields else []
    if missing := [name for name in cites if name not in accepted]:
        raise Rejected(f"proof.cites: got {missing}, expected statements whose proofs were accepted before")
    method = claim.algorithm if claim.method is not None else None
    measures = set(method.measures) if method is not None else set[str]()
    entries = fields["letters"].mapping() if "letters" in fields else {}
    letters = {name: entry.one_of((*DOMAINS, "client")) for name, entry in entries.items()}
    own = _framed(fields)
    sizes = citation.sizes(claim) | frame.known(claim)
    taken = {*claim.domains, *claim.for_all, *measures, *sizes, *(citation.OWN if method is not None else ())}
    fixed = {*claim.domains, *measures, *(() if method is not None else frame.known(claim))}  # what no index is called
    if clash := (set(letters) & (taken | own)) | (own & taken) | (set(claim.for_all) & fixed):
        raise Rejected(f"proof: got {sorted(clash)} twice, expected letters and measures that the claim does not have")
    domains = {**sizes, **claim.domains}
    # A file may declare any domain for what is measured; taking its word would give |x|^2 > 0 for nothing.
    domains |= dict.fromkeys(measures | own, "real")  # what is measured has the sign that a rule shows
    before = method.before if method is not None else {}
    unread = {"p"} if method is not None else frame.indexed(claim)  # no instance has to inhabit these domains
    domains |= {n: "nonnegative" for n in before if domains.get(n, "real") != "real"}  # 0 in round 0
    domains |= {n: "real" for n in unread if n in domains}
    _check_choices(claim, domains)
    signs = Forms(domains, claim.choose)
    domains |= {index: _index_domain(index, low, signs) for index, (low, _) in claim.for_all.items()}
    names = _names(fields.get("names"), letters, set(domains))
    cited = {name: accepted[name].claim for name in cites}
    forms = Forms(domains | letters, claim.choose)
    vectors = frame.read(fields.get("frame"), claim, forms, letters)
    if vectors is not None:
        reading.check_kept(vectors)
    return Context(claim, forms, letters, names, cited, fields.get("frame"), vectors)


def _check_choices(claim: Claim, domains: Mapping[str, str]) -> None:
    """Reject a step size whose value speaks of a chosen step size or of anything that the claim does not declare.

    A step size gamma(t) may be the number gamma: the one has indices and the other none.
    """
    plain = {name for name, (letters, _) in claim.choose.items() if not letters}
    for name, (letters, value) in claim.choose.items():
        names = {(n, arity) for n, arity in free(value) if n not in letters}
        if wrong := [n for n, arity in names if n not in domains or n in (plain if arity < 0 else claim.choose)]:
            raise Rejected(f"claim.choose.{name}: got {sorted(wrong)}, expected symbols of the claim")


def _index_domain(index: str, low: Tree, forms: Forms) -> str:
    """The domain of an index from the form of the least value that it has."""
    least = forms.form(low)
    if forms.sign(least) not in FROM_ZERO or any(forms.needs(low)):
        raise Rejected(f"claim.for_all: got {index!r}, expected an index whose least value is not negative by its form")
    return "count" if forms.sign(least - Form(ONE)) in FROM_ZERO else "index"


def _names(node: Node | None, letters: Mapping[str, str], fixed: set[str]) -> dict[str, Tree]:
    """Letters that stand for a formula of what is the same throughout the claim, and of such letters before them."""
    names: dict[str, Tree] = {}
    for name, formula in node.mapping().items() if node is not None else ():
        tree = parse(formula)
        if letters.get(name) != "real":
            raise Rejected(f"proof.names: got {name!r}, expected a letter that is declared real: signs are proved")
        if wrong := {name for name, _ in free(tree)} - fixed - set(names):
            raise Rejected(f"proof.names.{name}: got {sorted(wrong)}, expected symbols of the claim or names before it")
        names[name] = tree
    return names


def _framed(fields: Mapping[str, Node]) -> set[str]:
    """What the proof alone measures, or calls the step size of the round before, under names of its own."""
    frame = fields["frame"].mapping() if "frame" in fields else {}
    names = [name for part in ("measures", "before") if part in frame for name in frame[part].mapping()]
    names += [frame["shares"].name()] if "shares" in frame else []
    names += [x.name() for x in frame["groups"].mapping().values()] if "groups" in frame else []
    if clash := {name for name in names if names.count(name) > 1}:
        raise Rejected(f"proof.frame: got {sorted(clash)}, expected names that nothing else has")
    return set(names)


def _judged(
    node: Node, before: Sequence[Judgement], growths: Mapping[int, Relation], context: Context
) -> tuple[str, Judgement]:
    fields = node.fields("rule says", "under by with")
    name = fields["rule"].one_of(RULES)
    under = tuple(parse_relation(entry) for entry in fields["under"].items()) if "under" in fields else ()
    stated = Judgement(parse_relation(fields["says"]), under)
    # Hypotheses cost nothing to write, so that they are read at once, like everything else that a judgement says.
    for _, low, high in under:  # what cannot be read is refused here, not only where it is discharged
        context.forms.difference(low, high)
    places = [entry.integer(0, len(before) - 1) for entry in fields["by"].items()] if "by" in fields else []
    if not growths.keys().isdisjoint(places):
        raise Rejected(f"{node.where}: got an order of growth to rest on, expected relations between numbers")
    rests = [before[place] for place in places]
    try:
        RULES[name](stated, fields.get("with", Node({}, f"{node.where}.with")), rests, context)
    except Rejected as error:
        raise type(error)(f"{node.where}, {name}, {told(stated.says)}: {error}") from None
    return name, stated


def _ends_with(relation: Relation, judgements: Sequence[Judgement], context: Context) -> None:
    """Reject unless a judgement says what the claim says, under nothing but that its sides are numbers."""
    forms = context.forms
    own: list[Relation] = []
    for need in offers_of(relation, forms):
        if need.instead is None and not need.ranges and not isinstance(need.formula, Form):
            own += [(name, ZERO, need.formula) for name, kind in KINDS.items() if kind == need.kind]
    for j in judgements:
        if same(relation, j.says, forms) and all(among(h, own, forms) for h in j.under):
            return
    raise Rejected(f"proof: got no judgement that says {told(relation)}, expected one without hypotheses")
