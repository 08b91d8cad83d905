"""`python -m fedaudit.verify.kernel FILE ...`: exit 0 all accepted, 1 one rejected, 2 one malformed, 3 a crash of ours.

What is checked is the claim that the file states. Whether a paper makes that claim is for `fedaudit certify` to say,
which also sets limits on time and memory. A proof of a statement finds what it cites among the files before it.
"""

from __future__ import annotations

import sys
from typing import cast

from .core.check import check
from .core.claim import read
from .core.rational import Malformed, Node, Rejected, load, shown
from .gram.lower_end import attains, is_instance
from .gram.point_proof import is_proof, prove
from .proofs import proof as proofs
from .proofs.formula_text import told
from .service.files import read_text

MOST = 300
PROOF = 16_000_000  # characters of a file


def about(certificate: object) -> str:
    """Which claim a certificate states: its id, its setting and the relation that should fail."""
    fields = cast("dict[str, object]", certificate) if isinstance(certificate, dict) else {}
    claim = read(Node(fields.get("claim"), "claim"))
    at = fields.get("at")
    n = cast("dict[str, object]", at).get("relation") if isinstance(at, dict) else None
    name, left, right = claim.then[n if isinstance(n, int) and 0 <= n < len(claim.then) else 0]
    formula = f"{told(left)} {name} {told(right)}"
    formula = formula if len(formula) <= MOST else f"{formula[:MOST]}…"
    return f"the claim {claim.id} as the file states it, in {claim.setting}: {formula}; not compared with any catalogue"


def judge(file: str, before: dict[str, proofs.Accepted]) -> tuple[int, str]:
    """The exit status of one file and the line about it; `before`: what was proved by those before it."""
    said = "no claim was read"
    try:
        certificate = load(read_text(file, PROOF), PROOF)
        said = about(certificate)
        if proofs.is_one(certificate):
            proved = proofs.check(certificate, before)
            before[proved.claim.id] = proved
            trusted = f", {len(proved.trusted)} lines on a solver's word" if proved.trusted else ""
            return 0, f"accepted: a proof of {sum(proved.rules.values())} judgements{trusted}; {said}"
        if is_proof(certificate):
            return 0, f"accepted: {prove(certificate).what}, for all functions and dimensions; {said}"
        accepted = attains(certificate) if is_instance(certificate) else check(certificate)
        return 0, f"accepted: lhs = {shown(accepted.lhs)}, rhs = {shown(accepted.rhs)}; {said}"
    except Rejected as error:
        return 1, f"rejected: {error}; {said}"
    except Malformed as error:
        return 2, f"malformed: {error}"
    except Exception as error:
        return 3, f"crashed, which accepts nothing: {type(error).__name__}: {shown(str(error))}; {said}"


def main(files: list[str]) -> int:
    worst = 0 if files else 2
    if not files:
        print("got no file, expected certificates; do: python -m fedaudit.verify.kernel FILE ...", file=sys.stderr)
    proved: dict[str, proofs.Accepted] = {}
    for file in files:
        status, line = judge(file, proved)
        name = file if file.isprintable() and len(file) <= MOST else shown(file)
        print(f"{name}: {' '.join(line.split())}".encode("utf-8", "backslashreplace").decode())
        worst = max(worst, status)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
