"""`python -m fedaudit.verify.kernel FILE ...`: exit 0 all accepted, 1 one rejected, 2 one malformed."""

from __future__ import annotations

import sys
from pathlib import Path

from .check import check
from .rational import Malformed, Rejected, load, shown


def main(files: list[str]) -> int:
    worst = 0 if files else 2
    if not files:
        print("got no file, expected certificates; do: python -m fedaudit.verify.kernel FILE ...", file=sys.stderr)
    for file in files:
        try:
            found = check(load(Path(file).read_text(encoding="utf-8")))
            print(f"{file}: accepted: lhs = {shown(found.lhs)}, rhs = {shown(found.rhs)}")
        except Rejected as error:
            print(f"{file}: rejected: {error}")
            worst = max(worst, 1)
        except (Malformed, OSError, UnicodeDecodeError) as error:
            print(f"{file}: malformed: {error}")
            worst = 2
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
