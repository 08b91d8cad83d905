"""The moves as a worker carries them out: each gives the row of one statement, with its evidence as data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fedaudit.bounds.catalogue.discovery import catalogue

from ..results.row import DerivedPart, Row
from .audit import MEMORY, audit, derived, hunt, linted, verify
from .kernel_proof import Proof, prove

if TYPE_CHECKING:
    from fedaudit.bounds.language.statement import Statement

__all__ = ["audit_row", "derive_row", "hunt_row", "lint_row", "proof_row", "verify_row"]


def lint_row(statement: Statement) -> Row:
    """The row of `lint`."""
    return Row(statement.id, lint=linted(statement).lines())


def derive_row(statement: Statement) -> Row:
    """The row of `derive`."""
    return Row(statement.id, derive=derived(statement).part())


def proof_row(statement: Statement, proofs: Path | None = None) -> Row:
    """The proof of a statement that others cite, and what it cites itself; none where the kernel accepts none."""
    proof = prove(statement, catalogue([statement]), proofs)
    if not isinstance(proof, Proof):
        return Row(statement.id)
    return Row(statement.id, proof=proof.file, derive=DerivedPart("follows", proved_from=proof.cites))


def verify_row(
    statement: Statement, seed: int, effort: float, backend: str = "numpy", memory: int = MEMORY, thorough: bool = False
) -> Row:
    """The row of `verify`."""
    return Row(statement.id, verify=verify(statement, seed, effort, backend, memory, thorough).move())


def hunt_row(
    statement: Statement, seed: int, effort: float, backend: str = "numpy", memory: int = MEMORY, thorough: bool = False
) -> Row:
    """The row of `hunt`."""
    return Row(statement.id, hunt=hunt(statement, seed, effort, backend, memory, thorough).move())


def audit_row(
    statement: Statement,
    seed: int,
    effort: float,
    backend: str = "numpy",
    memory: int = MEMORY,
    thorough: bool = False,
    proofs: Path | None = None,
) -> Row:
    """The row of an audit, with the proofs of all that its proof rests on; those in the folder are proposed first."""
    return audit(statement, seed, effort, backend, memory, thorough, proofs).record()
