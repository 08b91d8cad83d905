"""Verdicts in words and signs, and what stands behind those that were read from files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fedaudit.verify.certify.standing import Checked

__all__ = ["MARKS", "MEANING", "SIGNS", "banner", "doubtful", "trusting"]

MEANING = {
    "refuted": "an admissible counterexample that the exact kernel accepts",
    "unverified": "the file says refuted or proved, and no certificate of it holds here",
    "proved": "the exact kernel accepts a proof, for all parameters",
    "survived": "attacked and not broken; it proves nothing",
    "undecided": "none of these, and the row says why",
    "reproduced": "the observed claim was seen again",
    "reproduced-if": "the observed claim was seen again only under readings that were settled after looking",
    "not-reproduced": "the observed claim was not seen again",
}
SIGNS = {  # of verdicts, for eyes that tell colours badly
    "refuted": "✗",
    "unverified": "!",
    "proved": "✓",
    "survived": "○",
    "undecided": "?",
    "reproduced": "✓",
    "reproduced-if": "≈",
    "not-reproduced": "✗",
}
MARKS = {
    "own": ("", ""),
    "filed": ("not rechecked", "As the file says; this verdict was not checked again."),
    "replayed": (
        "replayed",
        "Replayed: the exact kernel accepts its certificate, and the claim is the catalogue's.",
    ),
    "uncompared": (
        "replayed, claim not compared",
        "Replayed by the exact kernel alone: the claim was not compared with any catalogue.",
    ),
    "unverified": ("", "The file says {}. Unverified:"),
}


def banner(rows: Sequence[Checked]) -> str:
    """What the verdicts on a page rest on that was not computed just now; nothing where all was."""
    filed = [row for row in rows if row.standing.kind != "own"]
    if not filed:
        return ""
    kinds = Counter(row.standing.kind for row in filed)
    source = "Read from audit.json" if len(filed) == len(rows) else f"{len(filed)} of {len(rows)} rows read from files"
    proofs = sum(row.row.verdict == "proved" and row.standing.kind == "replayed" for row in filed)
    accepted = kinds["replayed"] + kinds["uncompared"] - proofs
    said = [f"{accepted} {'refutation' if accepted == 1 else 'refutations'} replayed and accepted"]
    if kinds["uncompared"]:
        said[0] += f" ({kinds['uncompared']} of claims that no catalogue holds)"
    if proofs:
        said.append(f"{proofs} {'proof' if proofs == 1 else 'proofs'} checked and accepted")
    if kinds["unverified"]:
        said.append(f"{kinds['unverified']} not verified")
    readings = Counter(tried.standing.kind for row in filed for tried in row.literals)
    if breaks := readings["replayed"] + readings["uncompared"] + readings["unverified"]:
        said.append(f"{breaks - readings['unverified']} of {breaks} broken literal readings replayed and accepted")
    end = "Other verdicts, numbers, words and figures are what the file says; they were not checked again."
    return f"{source}: {', '.join(said)}. {end}"


def doubtful(row: Checked) -> bool:
    """Whether a verdict on a page is no longer what its file says."""
    standings = [row.standing, *row.moves.values(), *row.counterexamples.values(), *(t.standing for t in row.literals)]
    return any(standing.kind == "unverified" for standing in standings)


def trusting(rows: Sequence[Mapping[str, object]]) -> str:
    """How many of the proved rows take lines on z3's word."""
    count = sum(bool(row["trusting"]) for row in rows)
    return f"; {count} of them trusting z3 for some lines" if count else ""
