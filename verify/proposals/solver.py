"""Whether z3 says that a line follows: over the atoms of the kernel's normal forms, with their signs, and nothing else.

Only such a line may be taken on the solver's word. It is asked about exactly what the kernel would be shown: the
relations that the line rests on and the signs that forms show, for all values of the atoms.
"""

# z3 is not annotated (2026-11).
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import z3

from ..kernel.claim import Claim
from ..kernel.claim import read as read_claim
from ..kernel.expression import Relation, parse_relation
from ..kernel.proofs.forms import AT_LEAST_ONE, WHOLE, Forms
from ..kernel.proofs.judgement import told
from ..kernel.proofs.line import Constraint, constraint, negations
from ..kernel.proofs.polynomials import Polynomial, atoms_of
from ..kernel.proofs.proof import Accepted, context_of
from ..kernel.rational import Node

WORK = 4_000_000  # z3's own count for one question, so that an answer does not depend on the machine
GLANCE = 1_000_000  # the same, where nothing is taken on its word
ENGINES: Sequence[Callable[[], Any]] = (
    lambda: z3.Tactic("qfnra-nlsat").solver(),
    lambda: z3.SolverFor("QF_NRA"),
    z3.Solver,
)


def doubtful(file: object, cited: Mapping[str, Claim]) -> str:
    """The first line of an accepted proof that is taken on z3's word and that z3 does not give; empty if there is none.

    A file may call any line trusted, and the kernel accepts it relative to that line: whoever calls the claim proved
    has to ask the solver himself.
    """
    given = Node(file, "proof").mapping()
    accepted = {name: Accepted(claim, {}, ()) for name, claim in cited.items()}
    forms = context_of(given, read_claim(given["claim"]), accepted).forms
    judgements = [node.mapping() for node in given["judgements"].items()]
    says = [parse_relation(fields["says"]) for fields in judgements]
    for n, fields in enumerate(judgements):
        if fields["rule"].raw == "trusted":
            rests = [says[place.integer(0, n - 1)] for place in (fields["by"].items() if "by" in fields else ())]
            if not follows(says[n], rests, forms):
                return told(says[n])
    return ""


def follows(says: Relation, rests: Sequence[Relation], forms: Forms) -> bool:
    """Whether z3 finds that no values of the atoms meet the rests and not the line."""
    premises = [constraint(rest, forms) for rest in rests]
    return all(_contradict(goal, premises, forms) for goal in negations(says, forms))


def needed_for_contradiction(goal: Constraint, premises: Sequence[Constraint], forms: Forms) -> frozenset[int] | None:
    """The places of premises without which z3 does not contradict the goal, and of all that say the sign of an atom.

    None where z3 finds no contradiction. Signs are kept because they cost a search nothing: z3 may do without them by
    an argument that is much longer.
    """
    engine = next((e for e in ENGINES if _refuted(goal, premises, forms, e(), GLANCE)), None)
    if engine is None:
        return None
    needed = set(range(len(premises)))
    for n, premise in enumerate(premises):
        fewer = [premises[k] for k in sorted(needed - {n})]
        if not _says_sign(premise) and _refuted(goal, fewer, forms, engine(), GLANCE):
            needed.discard(n)
    return frozenset(needed)


def _says_sign(premise: Constraint) -> bool:
    name, polynomial = premise
    terms = list(polynomial.items())
    return name in ("<", "<=") and len(terms) == 1 and terms[0][1] > 0 and [n for _, n in terms[0][0]] == [1]


def _contradict(goal: Constraint, premises: Sequence[Constraint], forms: Forms) -> bool:
    return any(_refuted(goal, premises, forms, engine(), WORK) for engine in ENGINES)


def _refuted(goal: Constraint, premises: Sequence[Constraint], forms: Forms, solver: Any, work: int) -> bool:
    solver.set("rlimit", work)
    names = atoms_of(goal[1], *(polynomial for _, polynomial in premises))
    atoms = {name: z3.Real(f"x{n}") for n, name in enumerate(names)}
    for name, x in atoms.items():
        sign, domain = forms.signs[name], forms.domain(name)
        if domain in WHOLE and domain in AT_LEAST_ONE:
            solver.add(x >= 1)
        elif sign in ("positive", "nonnegative"):
            solver.add(x > 0 if sign == "positive" else x >= 0)
    for name, polynomial in (goal, *premises):
        value = _value(polynomial, atoms)
        solver.add({"<": value > 0, "<=": value >= 0, "=": value == 0, "!=": value != 0}[name])
    return solver.check() == z3.unsat


def _value(polynomial: Polynomial, atoms: dict[str, Any]) -> Any:
    total: Any = z3.RealVal(0)
    for monomial, c in polynomial.items():
        term: Any = z3.Q(int(c.p), int(c.q))
        for name, n in monomial:
            for _ in range(n):
                term = term * atoms[name]
        total = total + term
    return total
