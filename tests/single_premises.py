"""Premises by themselves before the kernel: files that hold nothing else, and why the kernel refuses one; for tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sympy import Symbol, sympify
from sympy.logic.boolalg import false, true

from fedaudit.bounds.formulas.lowering import domain_of
from fedaudit.bounds.language.derivation import Known
from fedaudit.bounds.language.statement import Statement
from fedaudit.bounds.proofs.premise_identity import Average
from fedaudit.verify.kernel.core.budget import metered
from fedaudit.verify.kernel.core.claim import read as read_claim
from fedaudit.verify.kernel.core.expression import parse_relation
from fedaudit.verify.kernel.core.rational import Malformed, Node, Rejected
from fedaudit.verify.kernel.proofs import proof
from fedaudit.verify.kernel.proofs.judgement import Context, Judgement
from fedaudit.verify.kernel.proofs.vectors import frame
from fedaudit.verify.proposals import premises
from fedaudit.verify.search.lowered_claim import lower

Json = Any
WORK = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Single:
    """A premise with the file that it stands in, and the relations that it rests on, which others prove."""

    id: str
    because: str
    file: dict[str, Json]
    judgement: dict[str, Json]
    rests: tuple[Json, ...]

    def context(self) -> Context:
        node = Node(self.file, "proof").fields("format statement claim judgements", "cites letters names frame")
        return proof.context_of(node, read_claim(node["claim"]), {})

    def refusal(self, context: Context | None = None) -> str:
        """Why the kernel does not accept it; nothing if it does."""
        try:
            with metered(WORK):
                rests = [Judgement(parse_relation(Node(relation, "rest"))) for relation in self.rests]
                stated = Judgement(parse_relation(Node(self.judgement["says"], "says")))
                rule = proof.RULES[self.judgement["rule"]]
                rule(stated, Node(self.judgement.get("with", {}), "with"), rests, context or self.context())
        except (Rejected, Malformed) as error:
            return str(error) or "no reason"
        return ""


def singles(statement: Statement, knowns: Sequence[Known]) -> Iterator[Single]:
    """Each of these premises in a file with the frame and the letters of all."""
    spelled = premises.spelling(statement, knowns)
    proposed = [(k, (premises.picked if isinstance(k.rule, Average) else premises.premise)(k, spelled)) for k in knowns]
    claim = lower(statement).claim
    sizes = {str(s) for s, n in getattr(statement.method, "names", {}).items() if n in premises.TAKEN}
    taken = {*claim["domains"], *claim["for_all"], *spelled.frame.get("measures", {}), *premises.TAKEN, *sizes}
    taken |= {*spelled.indices, *frame.known(read_claim(Node(claim, "claim")))}
    letters: dict[str, str] = {}
    clients = {name for _, p in proposed for name in p.clients}
    for known, p in proposed:
        spoken = [known.claim, *p.requires, *(m for m, _ in getattr(known.rule, "by", ()))]
        spoken += [*known.rule.frame.letters[:2], *(getattr(known.rule, "at", None) or ())]
        for symbol in {s for e in spoken for s in sympify(e).free_symbols if isinstance(s, Symbol)}:
            name = spelled.letters.get(symbol.name, symbol.name)
            if symbol.name not in taken and name not in taken:
                letters[name] = "client" if symbol in known.rule.frame.letters[2:] else domain_of(symbol)
        clients |= {str(s) for s in known.rule.frame.letters[2:] if str(s) in letters}
    letters |= {name: "client" for name in clients if name not in claim["for_all"]}
    file = {"format": proof.FORMAT, "statement": statement.id, "claim": claim, "frame": spelled.frame}
    file |= {"letters": letters, "judgements": []}
    for known, p in proposed:
        rests = tuple(spelled.tree(r) for r in p.requires if r not in (true, false))
        yield Single(statement.id, known.because, file, p.judgement, rests)
