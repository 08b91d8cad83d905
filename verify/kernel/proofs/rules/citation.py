"""Another claim, proved before, at values of its symbols: what it says of every instance, it says of ours.

Fix an instance of this claim. It is one of the cited claim too if that is about the same setting (of a run: the same
method, rule by rule) or about numbers alone; if sizes, what is measured and all that the rules read stay what they are;
if every other symbol has a value in its domain; if its assumptions, with these values in, are among ours, its step
sizes are ours, and its conditions hold at every value of its indices. Then so do its relations, at indices in their
ranges. Another horizon is allowed where nothing but ranges speaks of it: a run is the beginning of a longer one.

Not claimed: anything where the cited relation is no number; that instances exist, so that a claim which says so is
cited by one of its kind about the same setting alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ...core.claim import Claim
from ...core.expression import Op, Relation, Tree, free, parse
from ...core.method import Method
from ...core.rational import Node, Rejected
from ..forms import substituted
from ..judgement import Context, Judgement, among, defined, in_domain, put, require, yields

EVERY = ("inequality", "identity")  # kinds of claims about every instance
SIZES = ("C", "E", "T", "D")  # counts that every run has
OWN = (*SIZES, "m", "b", "Gamma", "p")  # what only the run itself says
WITHIN = {
    "real": ("real", "nonnegative", "positive", "count", "index"), "index": ("index", "count"), "count": ("count",),
    "nonnegative": ("nonnegative", "positive", "count", "index"), "positive": ("positive", "count"),
}  # fmt: skip
Values = Mapping[str, Tree]


def check(stated: Judgement, data: Node, rests: Sequence[Judgement], context: Context) -> None:
    """`data`: {"of": id, "part": n, "at": {name: tree}, "fresh": {index: letter}}: letters for all its indices."""
    fields = data.fields("of part", "at fresh")
    name = fields["of"].identifier()
    if name not in context.cited or name == context.claim.id:
        raise Rejected(f"got {name!r}, expected a statement that is cited and was accepted before")
    cited = context.cited[name]
    at = {key: parse(node) for key, node in fields["at"].mapping().items()} if "at" in fields else {}
    fresh = {key: node.name() for key, node in fields["fresh"].mapping().items()} if "fresh" in fields else {}
    if unknown := set(at) - {*cited.domains, *cited.for_all}:
        raise Rejected(f"got values for {sorted(unknown)}, expected symbols of {name}")
    own = ({*cited.domains, *cited.for_all} - set(at)) | set(context.names)  # what has no value stands for itself
    _fresh([*fresh.values()], [*at.values(), *own], stated, context)
    _about(cited, context)
    plain = [rest for rest in rests if all(among(h, stated.under, context.forms) for h in rest.under)]
    _names(cited, at, plain, context)
    _assumptions(cited, at, context.claim)
    ranges: list[Relation] = []
    for index, (low, high) in cited.for_all.items():
        in_domain(at.get(index, index), "index", plain, context)
        for relation in (("<=", low, index), ("<=", index, high)):
            require(put(relation, at), plain, context)
            ranges.append(put(relation, {**at, index: _letter(index, fresh, context)}))
    hypotheses = (*stated.under, *ranges)
    generic = [rest for rest in rests if all(among(h, hypotheses, context.forms) for h in rest.under)]
    for condition in cited.when:
        require(put(condition, {**at, **{n: _letter(n, fresh, context) for n in cited.for_all}}), generic, context)
    for quantity, (indices, value) in cited.choose.items():
        letters = {index: _letter(index, fresh, context) for index in indices}
        own = Op("at", (quantity, *letters.values())) if indices else quantity
        require(("=", own, substituted(value, {**at, **letters})), plain, context)
    relation = put(cited.then[fields["part"].integer(0, len(cited.then) - 1)], at)
    defined(relation, plain, context)
    yields(relation, stated, plain, context)


def _letter(index: str, fresh: Mapping[str, str], context: Context) -> str:
    """What stands for every value of an index: a letter of the proof, or one that only the kernel can write."""
    return fresh[index] if index in fresh else context.forms.letter(f"{index}_")


def _fresh(letters: Sequence[str], values: Sequence[Tree], stated: Judgement, context: Context) -> None:
    spoken = [*values, *(side for _, *sides in stated.under for side in sides)]
    taken = {name for tree in spoken for name, _ in free(tree)}
    for letter in letters:
        if context.letters.get(letter) != "index" or letter in taken or letters.count(letter) > 1:
            raise Rejected(f"got {letter!r} for every value of an index, expected a letter that nothing else speaks of")


def _about(cited: Claim, context: Context) -> None:
    """Reject unless the cited claim is about every instance of ours, or of numbers alone."""
    claim = context.claim
    if cited.kind not in EVERY and not (cited.kind == claim.kind == "exists" and cited.setting == claim.setting):
        raise Rejected(f"got a claim of the kind {cited.kind}, expected one about every instance")
    if cited.setting not in ("scalar", claim.setting):
        raise Rejected(f"got a claim about {cited.setting!r}, expected one about {claim.setting!r} or numbers alone")
    if cited.setting == "run":
        theirs, ours = (cast("dict[str, object]", one.method) for one in (cited, claim))
        if any(theirs.get(part) != ours.get(part) for part in {*theirs, *ours} - {"measures", "before"}):
            raise Rejected(f"got the method of {cited.id}, which has other rules than ours")
        for part in ("measures", "before"):
            own = declared(context, part)
            if other := [n for n, x in cast("dict[str, object]", theirs.get(part, {})).items() if own.get(n) != x]:
                raise Rejected(f"got {other}, which {cited.id} measures, expected the same among ours or in the frame")


def declared(context: Context, part: str) -> dict[str, object]:
    """What is measured, or was the step size before: by the claim, or by the proof alone under other names."""
    method = cast("dict[str, dict[str, object]]", context.claim.method or {})
    framed = context.frame.mapping() if context.frame is not None else {}
    return {**({n: x.raw for n, x in framed[part].mapping().items()} if part in framed else {}), **method.get(part, {})}


def _names(cited: Claim, at: Values, rests: Sequence[Judgement], context: Context) -> None:
    """Reject unless what a run says or its rules read is the same, and every other symbol has a value in its domain."""
    domains, method = context.claim.domains, cited.algorithm if cited.setting == "run" else None
    read = {*cited.needs, *(method.needs if method is not None else ())}
    if undeclared := {name for name, _ in read} - set(cited.domains):
        raise Rejected(f"got {cited.id}, which declares no {sorted(undeclared)}, expected a claim that some run meets")
    quantities = {name for name, arity in read if arity >= 0}
    symbols = {name for name, arity in read if arity < 0} | (set(cited.domains) - quantities)
    measured, fixed = set[str](), set(cited.domains) if cited.setting != "scalar" else set[str]()
    if method is not None:
        ends, measured = _ends(method), {*method.measures, *method.before}
        own = {name for name in symbols if (size := _size(name, method)) in OWN and (ends or size != "T")}
        fixed = measured | own | {name for name, arity in method.needs if arity < 0}
    if wrong := {name for name, value in at.items() if name in fixed - set(cited.for_all) and value != name}:
        raise Rejected(f"got values for {sorted(wrong)}, expected that what {cited.id} says of a run stays as it is")
    ours = {*declared(context, "measures"), *declared(context, "before")}
    for name in (quantities | fixed) - measured:
        absent = name not in domains and (name in quantities or name not in sizes(context.claim))
        if name in ours or absent:
            raise Rejected(f"got {name!r}, which {cited.id} reads of its run, expected it in this claim too")
        if name in quantities and domains[name] not in WITHIN[cited.domains[name]]:
            raise Rejected(f"got {name!r}, which is {domains[name]} here, expected it {cited.domains[name]}")
    for name, arity in read if method is None else ():  # any numbers of the domain: so are ours, at every index
        if arity >= 0:
            generic = Op("at", (name, *(context.forms.letter(f"place {n}") for n in range(arity))))
            in_domain(generic, cited.domains[name], rests, context)
    for name in symbols - measured - set(cited.for_all):
        in_domain(at.get(name, name), cited.domains[name], rests, context)


def sizes(claim: Claim) -> dict[str, str]:
    """The counts that every run has, under the letters of the claim, with their domain."""
    method = claim.algorithm if claim.setting == "run" else None
    letters = {size: letter for letter, size in method.names.items()} if method is not None else {}
    names = [letters.get(size, size) for size in SIZES] if method is not None else []
    return {name: "count" for name in names if name not in claim.for_all}


def _size(name: str, method: Method) -> str:
    """What every run calls it; of a letter that a run has another one for, nothing."""
    return method.names.get(name, "" if name in method.names.values() else name)


def _ends(method: Method) -> bool:
    """Whether anything but ranges may depend on where a run ends."""
    measures = method.measures.values()
    reads = any(arity > 0 or _size(name, method) == "T" for name, arity in method.needs)
    return bool(reads or method.before or method.steps) or any(m.law or m.extreme or "T" in m.at for m in measures)


def _assumptions(cited: Claim, at: Values, claim: Claim) -> None:
    """Reject unless each assumption of the cited claim, with the values in, is one of ours."""
    for name, args in cited.assumptions:
        meant = cited.means.get(name)
        if meant is not None:
            relation, ranges = meant
            if any({n for n, _ in free(value)} & set(ranges) for key, value in at.items() if key not in ranges):
                raise Rejected(f"got a value that speaks of {sorted(ranges)}, over which {name} holds")
            inside = {key: value for key, value in at.items() if key not in ranges}
            ends = {n: (substituted(low, inside), substituted(high, inside)) for n, (low, high) in ranges.items()}
            meant = put(relation, inside), ends
        said = name, tuple(at.get(arg, arg) for arg in args)
        if said not in claim.assumptions or meant != claim.means.get(name) or cited.setting == "scalar":
            raise Rejected(f"got {name} of {said[1]}, which {cited.id} assumes, expected the same among ours")
