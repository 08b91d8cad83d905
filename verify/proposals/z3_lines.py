"""Whether z3 says that a line follows: over the atoms of the kernel's normal forms, with their signs, and nothing else.

Only such a line may be taken on the solver's word. It is asked about exactly what the kernel would be shown: the
relations that the line rests on and the signs that forms show, for all values of the atoms.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import z3
from flint import fmpq

from ..kernel.core.claim import Claim
from ..kernel.core.claim import read as read_claim
from ..kernel.core.expression import Relation, parse_relation
from ..kernel.core.rational import Node
from ..kernel.proofs.forms import AT_LEAST_ONE, WHOLE, Forms
from ..kernel.proofs.judgement import told
from ..kernel.proofs.polynomials import Polynomial, atoms_of
from ..kernel.proofs.proof import Accepted, context_of
from ..kernel.proofs.rules.line import Constraint, constraint, negations
from .atom_trees import atom_tree

WORK = 4_000_000  # z3's own count for one question, so that an answer does not depend on the machine
GLANCE = 1_000_000  # the same, where nothing is taken on its word
# The solver for polynomials is asked first: setting up all engines of the logic costs three times as much.
ENGINES: Sequence[Callable[[], Any]] = (
    lambda: z3.Tactic("qfnra-nlsat").solver(),
    lambda: z3.SolverFor("QF_NRA"),
    z3.Solver,
)
COMPARED: Mapping[str, Callable[[Any], Any]] = {
    "<": lambda x: x > 0,
    "<=": lambda x: x >= 0,
    "=": lambda x: x == 0,
    "!=": lambda x: x != 0,
}  # a constraint with everything on its right


def doubtful(file: object, cited: Mapping[str, Claim]) -> str:
    """The first line of an accepted proof that is taken on z3's word and that z3 does not give; empty if there is none.

    A file may call any line trusted, and the kernel accepts it relative to that line: whoever calls the claim proved
    has to ask the solver himself.
    """
    fields_of_file = Node(file, "proof").mapping()
    accepted = {name: Accepted(claim, {}, ()) for name, claim in cited.items()}
    forms = context_of(fields_of_file, read_claim(fields_of_file["claim"]), accepted).forms
    judgements = [node.mapping() for node in fields_of_file["judgements"].items()]
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
    goals = negations(says, forms)
    atoms = atoms_of(*(polynomial for _, polynomial in (*goals, *premises)))
    signs = {atom: sign_of(atom, forms) for atom in atoms}
    questions = [_Question.of(goal, premises, signs) for goal in goals]
    # A countermodel counts as true in Python, so that only `is True` means that there is none.
    return all(any(one.asked(range(len(premises)), e, WORK) is True for e in ENGINES) for one in questions)


class AtomSign(NamedTuple):
    """What every value of an atom meets: its sign, and whether it is at least 1; and whether the atom is a letter."""

    sign: str
    from_one: bool
    letter: bool


def sign_of(atom: str, forms: Forms) -> AtomSign:
    from_one = forms.domain(atom) in WHOLE and forms.domain(atom) in AT_LEAST_ONE
    return AtomSign(forms.signs[atom], from_one, isinstance(atom_tree(atom), str))


@dataclass(frozen=True, slots=True)
class Countermodel:
    """That there are values which meet a negated goal and all premises; the values, where they are rational."""

    values: Mapping[str, fmpq] | None

    def holds(self, constraints: Iterable[Constraint], sign_of_atom: Callable[[str], AtomSign]) -> bool:
        """Whether its values meet other constraints and signs too; atoms that it does not speak of are 1."""
        values = self.values
        return (
            values is not None
            and all(COMPARED[name](_at(polynomial, values)) for name, polynomial in constraints)
            and all(
                _meets_sign(sign_of_atom(atom), values[atom])
                for atom in atoms_of(*(polynomial for _, polynomial in constraints))
                if atom in values
            )
        )


def _at(polynomial: Polynomial, values: Mapping[str, fmpq]) -> fmpq:
    total = fmpq(0)
    for monomial, c in polynomial.items():
        for name, n in monomial:
            if name in values:
                c = c * values[name] ** n
        total += c
    return total


def _meets_sign(sign: AtomSign, x: fmpq) -> bool:
    if sign.from_one:
        return bool(x >= 1)
    return bool(x > 0) if sign.sign == "positive" else bool(x >= 0) or sign.sign != "nonnegative"


def needed_for_contradiction(
    goal: Constraint, premises: Sequence[Constraint], signs: Mapping[str, AtomSign]
) -> frozenset[int] | Countermodel:
    """The places of premises without which z3 does not contradict the goal, and of all that say the sign of an atom.

    All places where z3 cannot tell. Signs are kept because they cost a search nothing: z3 may do without them by an
    argument that is much longer.
    """
    everything = frozenset(range(len(premises)))
    question = _Question.of(goal, premises, signs)
    for engine in ENGINES:
        answer = question.asked(everything, engine)
        if isinstance(answer, Countermodel):
            return answer
        if answer:
            break
    else:
        return everything
    doubted = [n for n, premise in enumerate(premises) if not _says_sign(premise)]
    needed, against = everything, list[Countermodel]()
    for size in (4, 1):  # most of many premises are not needed: several at once first
        for start in range(0, len(doubted), size):
            fewer = needed - set(doubted[start : start + size])
            met = [premises[n] for n in fewer]
            # Where a countermodel of another choice meets this one too, the solver need not be asked.
            if fewer == needed or any(one.holds(met, signs.__getitem__) for one in against):
                continue
            answer = question.asked(fewer, engine)
            if isinstance(answer, Countermodel):
                against.append(answer)
            elif answer:
                needed = fewer
    return needed


def _says_sign(premise: Constraint) -> bool:
    name, polynomial = premise
    terms = list(polynomial.items())
    return name in ("<", "<=") and len(terms) == 1 and terms[0][1] > 0 and [n for _, n in terms[0][0]] == [1]


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """A negated goal and premises as z3 reads them, made once for all choices of premises that it is asked about."""

    formulas: Sequence[Any]  # of the goal, then of every premise
    atoms: Sequence[frozenset[str]]  # that each of them speaks of
    reals: Mapping[str, Any]
    signs: Mapping[str, Any]  # of atoms that have one

    @classmethod
    def of(cls, goal: Constraint, premises: Sequence[Constraint], signs: Mapping[str, AtomSign]) -> _Question:
        constraints = (goal, *premises)
        reals = {name: z3.Real(f"x{n}") for n, name in enumerate(atoms_of(*(p for _, p in constraints)))}
        formulas = [COMPARED[name](_value(polynomial, reals)) for name, polynomial in constraints]
        atoms = [frozenset(atoms_of(polynomial)) for _, polynomial in constraints]
        sign_formulas = {name: sign for name, x in reals.items() if (sign := _sign_formula(signs[name], x)) is not None}
        return cls(formulas, atoms, reals, sign_formulas)

    def asked(self, premises: Collection[int], engine: Callable[[], Any], work: int = GLANCE) -> Countermodel | bool:
        """Values that meet these premises and the negated goal; or whether z3 says that there are none."""
        places = (0, *(n + 1 for n in sorted(premises)))
        spoken = frozenset[str]().union(*(self.atoms[n] for n in places))
        solver = engine()
        solver.set("rlimit", work)
        solver.add(*(sign for name, sign in self.signs.items() if name in spoken))
        solver.add(*(self.formulas[n] for n in places))
        answer = solver.check()
        return Countermodel(_rational(solver.model(), self.reals)) if answer == z3.sat else answer == z3.unsat


def _rational(model: Any, reals: Mapping[str, Any]) -> dict[str, fmpq] | None:
    """The values of a model; None where one of them is irrational."""
    values = {name: model.eval(x, model_completion=True) for name, x in reals.items()}
    if not all(z3.is_rational_value(x) for x in values.values()):
        return None
    return {name: fmpq(x.numerator_as_long(), x.denominator_as_long()) for name, x in values.items()}


def _sign_formula(sign: AtomSign, x: Any) -> Any:
    """What z3 is told of an atom; None where nothing is known."""
    if sign.from_one:
        return x >= 1
    if sign.sign == "positive":
        return x > 0
    return x >= 0 if sign.sign == "nonnegative" else None


def _value(polynomial: Polynomial, atoms: dict[str, Any]) -> Any:
    terms = [(z3.RealVal(str(c)), *(atoms[name] for name, n in m for _ in range(n))) for m, c in polynomial.items()]
    return z3.Sum([z3.Product(term) if len(term) > 1 else term[0] for term in terms]) if terms else z3.RealVal(0)
