"""`fedaudit certify --coq DIR`: what the kernel accepted as theorems, which Coq checks where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import cast

from fedaudit.output import JsonObject
from fedaudit.verify.coq.development import LIBRARY, Theorem, compiled, compiler, development, theorem
from fedaudit.verify.kernel import load
from fedaudit.verify.kernel.service.files import read_text
from fedaudit.verify.results.file_names import CERTIFICATES, PROOFS, WORST

from ..errors import UserError
from ..progress import progress
from ..running.files import write

__all__ = ["evidence", "exported", "summary"]

MOST_BYTES = 16_000_000  # of one certificate
SECONDS = 600.0  # that Coq may take for one file
Row = JsonObject


def evidence(names: Sequence[str]) -> list[str]:
    """The files that are asked for. Ids, and globs of them, choose among those of the folders; without a folder, of
    `audit`. Lower ends are no theorems and are left out.
    """
    paths = [name for name in names if Path(name).exists()]
    wanted = [name for name in names if name not in paths]
    if odd := [name for name in wanted if "/" not in name or name.endswith((".json", ".py"))]:
        raise UserError(f"no file {odd[0]!r}", "certificates, the folder of an audit, or ids", "check the path")
    if not any(Path(name).suffix != ".py" for name in paths):
        paths.append("audit")
    files: list[str] = []
    for name in paths:
        files += [name] if Path(name).is_file() else _inside(Path(name), wanted)
    if not files:
        raise UserError(
            f"no certificates in {', '.join(paths)}", "those of an audit", "write them with `fedaudit audit --out`"
        )
    return files


def _inside(folder: Path, wanted: Sequence[str]) -> list[str]:
    files = [file for part in (CERTIFICATES, PROOFS, WORST) for file in sorted((folder / part).glob("*.json"))]
    chosen = [file for file in files or sorted(folder.glob("*.json")) if not file.name.endswith(".lower.json")]
    return [str(file) for file in chosen if not wanted or _is_wanted(file, wanted)]


def _is_wanted(file: Path, wanted: Sequence[str]) -> bool:
    statement = _read(str(file)).get("statement")
    return isinstance(statement, str) and any(fnmatchcase(statement, one) for one in wanted)


def _read(name: str) -> Mapping[str, object]:
    data = load(read_text(name, MOST_BYTES), MOST_BYTES)
    return cast("Mapping[str, object]", data) if isinstance(data, dict) else {}


def exported(rows: Sequence[Row], folder: Path) -> list[Row]:
    """The rows of certificates, those that became theorems with `coq`: their file, theorem, and Coq's word on it.

    Every file of the folder that is written is checked, one at a time, with progress.
    """
    theorems: dict[int, Theorem] = {}
    for n, row in enumerate(rows):
        if row["accepted"]:
            data = _read(row["file"])
            own = sum(one.statement == data["statement"] for one in theorems.values())
            if (one := theorem(data, f"part_{own}")) is not None:
                theorems[n] = one
    texts = development(list(theorems.values()))
    for name, text in texts.items():
        write(folder / name, text)
    answers = _checked(folder, list(theorems.values()))
    return [{**row, "coq": answers(theorems[n]) if n in theorems else None} for n, row in enumerate(rows)]


def _checked(folder: Path, theorems: Sequence[Theorem]) -> Callable[[Theorem], Row]:
    """Coq's word on each theorem, or that Coq is not installed."""
    installed = compiler()
    # The library first: every other file imports it.
    names = [LIBRARY, *sorted({one.file for one in theorems})]
    if installed is None:
        return lambda one: {
            "file": one.file,
            "theorem": one.name,
            "checked_by": None,
            "reason": "coqc is not installed",
        }
    command, version = installed
    said: dict[str, Row] = {}
    with progress("coq", names, 1) as step:
        for name in names:
            own = [one for one in theorems if one.file == name]
            answer = compiled(command, folder, name, own, SECONDS)
            for one in own:
                said[one.file + one.name] = {
                    "file": one.file,
                    "theorem": one.name,
                    "checked_by": version if answer.complaint is None else None,
                    "reason": answer.complaint,
                    "axioms": list(answer.axioms.get(one.name, ())),
                    "seconds": round(answer.seconds, 2),
                }
            step(name, len(said), len(names))
            if name == LIBRARY and answer.complaint is not None:
                raise UserError(f"{version} refuses {LIBRARY}: {answer.complaint}", "Coq 8.16 or later", "install it")
    return lambda one: said[one.file + one.name]


def summary(rows: Sequence[Row], folder: Path) -> list[str]:
    """Lines for people: files, theorems and who checked them, their axioms, and each refusal."""
    told = [row["coq"] for row in rows if row["coq"] is not None]
    checked = [one for one in told if one["checked_by"]]
    lines = [f"{len(told)} theorems in {len({one['file'] for one in told})} files of {folder}"]
    if checked:
        axioms = sorted({axiom for one in checked for axiom in one["axioms"]})
        lines.append(f"{len(checked)} checked by {checked[0]['checked_by']}")
        lines.append(f"axioms, all of its standard library: {', '.join(axioms)}")
    lines += sorted({f"{one['file']}: {one['reason']}" for one in told if one["reason"]})
    if left := sum(row["accepted"] and row["coq"] is None for row in rows):
        lines.append(f"{left} accepted certificates of kinds that are not translated")
    return lines
