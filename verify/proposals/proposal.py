"""The proof of a statement as a file for the kernel: the first of its ways that can be written as judgements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from fedaudit.bounds.language.derivation import NAMED, Induction, Step
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.argument import argued, knowns_of
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.bounds.proofs.premise_identity import Average

from ..kernel.core.budget import metered
from ..kernel.core.rational import Malformed, Node, Rejected
from ..kernel.proofs.proof import FORMAT, context_of
from ..search.lowered_claim import lower
from .argument_formulas import Enlarged, IndexValues, NotProposed, claim_of
from .arguments import Proposer
from .notebook import Notebook
from .orders import NoProof, order_proof
from .premises import premise, spelling

WORK = 4_000_000_000
Kind = Literal["not derived", "order", "formula", "line", "known", "premise", "citation", "induction", "rejected"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why there is no file."""

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A file that the kernel may accept, or why there is none."""

    file: Mapping[str, Any] | None
    reasons: tuple[Reason, ...] = ()
    trusted: int = 0
    refused: Mapping[str, int] = field(default_factory=dict[str, int])  # what the kernel said of judgements on the way


def propose(statement: Statement, catalogue: Mapping[str, Statement]) -> Proposal:
    """The whole file of the first way that goes through; an order of growth between formulas needs none."""
    if lower(statement).claim["setting"] == "order":
        try:
            return Proposal(order_proof(lower(statement).claim))
        except NoProof as error:
            return Proposal(None, (Reason("order", str(error)),))
    reasons: list[Reason] = []
    refused: Counter[str] = Counter()
    for way in statement.follows_from:
        one = replace(statement, follows_from=(way,))
        if not all(c in catalogue for c in way.cites) or not derive(one, catalogue, slack=False).proved:
            continue
        try:
            return _proposed(one, catalogue, refused)
        except NotProposed as error:
            reasons.append(Reason(error.kind, error.detail))
        except (Rejected, Malformed) as error:
            reasons.append(Reason("rejected", str(error)))
    return Proposal(None, tuple(reasons) or (Reason("not derived", statement.id),), refused=refused)


def _proposed(statement: Statement, catalogue: Mapping[str, Statement], refused: Counter[str]) -> Proposal:
    frame: dict[str, Any] = {}
    for _ in range(8):
        try:
            return _written(statement, catalogue, frame, refused)
        except Enlarged as error:
            for part, values in error.more.items():
                frame.setdefault(part, {}).update(values)
    raise NotProposed("citation", "measures without end")


def _written(
    statement: Statement, catalogue: Mapping[str, Statement], more: Mapping[str, Any], refused: Counter[str]
) -> Proposal:
    goal, argument = argued(statement, catalogue)
    claim = lower(statement).claim
    knowns = [k for k in dict.fromkeys(knowns_of(argument)) if k.kind == "shown" or isinstance(k.rule, Average)]
    spelled = spelling(statement, knowns)
    frame = {**spelled.frame}
    for part, values in more.items():
        frame[part] = {**values, **frame.get(part, {})}
    file: dict[str, Any] = {"format": FORMAT, "statement": statement.id, "claim": claim}
    file |= {"frame": frame} if frame else {}
    context = context_of(Node(file, "proof").mapping(), claim_of(statement), {})
    proposer = Proposer(
        statement=statement,
        claim=claim,
        catalogue=catalogue,
        book=Notebook(context, refused=refused),
        frame=frame,
        spelling=spelled,
    )
    proposer.book.signs = proposer.sign
    for known in knowns:
        for name in premise(known, spelled).clients if known.kind == "shown" else ():
            if name not in context.forms.domains:
                proposer.letter(name, "client")
    proposer.signs = [step for step in argument.steps if isinstance(step, Step)]
    with metered(WORK):
        for known in dict.fromkeys(k for k in knowns_of(argument) if k.rule == NAMED):
            proposer.named(known)
        reached: list[int] = []
        own = {*context.claim.domains, *context.claim.for_all}
        for step in argument.steps:
            try:
                reached += proposer.step(step, IndexValues())
                if isinstance(step, Induction) and step.over.name in own:  # it is over a letter: here at that symbol
                    reached += proposer.use(step, IndexValues(), proposer.background(IndexValues()), ())
            except NotProposed:
                # A step on the way may turn out not to be needed; without what is claimed there is no proof.
                if step.claim in goal.relations:
                    raise
        for relation in context.claim.then:
            if not proposer.book.said(relation):  # what a step says may be written with other fractions
                free = [n for n in reached if not proposer.book.judgements[n].under]
                proposer.line(relation, [*proposer.background(IndexValues()), *free], ())
    file["cites"] = list(proposer.cites)
    file["letters"] = dict(context.letters)
    file["names"] = proposer.names
    file["judgements"] = proposer.book.entries
    trusted = proposer.book.rules()["trusted"]
    return Proposal({k: v for k, v in file.items() if v}, trusted=trusted, refused=refused)
