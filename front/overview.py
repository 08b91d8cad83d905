"""`python -m fedaudit.overview AUDIT_FOLDER README`: the README's table, made from an audit.

Counts statements as they are printed, as the index and the papers' pages do, by paper and verdict, and writes the table
between two marks. Nothing in it is typed by hand.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from fedaudit.output import Json
from fedaudit.verify.results.file_names import is_printed

from .commands.compare import whose
from .running.store import own_rows

# Without `classic/`: its textbook theorems calibrate the tool, and the README counts them apart.
PAPERS = {
    "buttaci": "A. Buttaci, thesis: FedProx, a perturbed-gradient method, a network model",
    "yuan": "X.-T. Yuan and P. Li: FedProx and FedMSPP without dissimilarity",
    "zhang": "J. Zhang, J. Hu, M. Johansson: composite federated learning",
    "benmansour": "A. Ben Mansour, G. Carenini, A. Duplessis: weighted aggregation",
    "fallah": "A. Fallah, A. Mokhtari, A. Ozdaglar: Per-FedAvg",
}
ON_TRUST = "proved, trusting z3"  # counted apart: some of its lines are a solver's word
VERDICTS = ("proved", ON_TRUST, "survived", "refuted", "undecided", "reproduced", "reproduced-if", "not-reproduced")
BLOCK = re.compile(r"(<!-- overview -->\n).*?(<!-- /overview -->)", re.DOTALL)


def table(document: Json) -> str:
    """Markdown: one row per paper, one column per verdict that occurs, statements as printed alone."""
    rows = [row for row in document["statements"] if is_printed(row["id"])]
    counts = Counter((row["id"].partition("/")[0], ON_TRUST if row.get("trusted") else row["verdict"]) for row in rows)
    used = [verdict for verdict in VERDICTS if any(v == verdict for _, v in counts)]
    lines = [["paper", "as printed", *used], ["---"] * (2 + len(used))]
    for paper, title in PAPERS.items():
        ids = sum(row["id"].startswith(f"{paper}/") for row in rows)
        lines.append([title, str(ids), *(str(counts[paper, verdict] or "") for verdict in used)])
    settings = f"Made by `make readme` from one audit: seed {document['seed']}, budget {document['budget']:g}."
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + f"\n{settings}\n"


def main(arguments: Sequence[str]) -> int:
    folder, readme = map(Path, arguments)
    document = json.loads((folder / "audit.json").read_text(encoding="utf-8"))
    text = readme.read_text(encoding="utf-8")
    if line := whose(str(folder), [row["id"] for row in document["statements"]], own_rows(folder / "audit.json")):
        print(line, file=sys.stderr)
    written = table(document)
    readme.write_text(BLOCK.sub(lambda found: found[1] + written + found[2], text), encoding="utf-8")
    print(written, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
