"""`fedaudit certify`: is that really a counterexample, and to what the catalogue says?

The kernel replays the instance against the claim in the file; here that claim is compared with the statement of the
catalogue (or of a user's own .py file), because a certificate is data from strangers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from .errors import UserError
from .kernel import Malformed, Rejected, check, claimed, load
from .store import Row

__all__ = ["certify", "certify_files"]


def certify_files(names: Sequence[str]) -> list[Row]:
    """One row a certificate. A folder stands for the certificates below it, a .py file for statements of one's own."""
    sources = [name for name in names if name.endswith(".py")]
    paths = [path for name in names if not name.endswith(".py") for path in _expand(Path(name))]
    if not paths:
        raise UserError(f"{', '.join(names)} without certificates", "certificate files", "name a .json file as well")
    read = [(path, _read(path)) for path in paths]  # all of them first: a bad file must not cost half an answer
    return [certify(data, str(path), sources) for path, data in read]


def certify(data: object, name: str, sources: Sequence[str] = ()) -> Row:
    """The kernel's answer on one certificate; raises `UserError` if it is not one."""
    identifier = _identifier(data, name)
    row: Row = {"id": identifier, "file": name, "accepted": False, "reason": None, "lhs": None, "rhs": None}
    try:
        found = check(data)
        if cast("dict[str, object]", data)["claim"] != _claim_of(identifier, name, sources):
            raise Rejected(f"claim: got another claim than {identifier} makes, expected the catalogue's")
    except Malformed as error:
        raise _malformed(name, str(error)) from error
    except Rejected as error:
        return {**row, "reason": str(error)}
    sides = {"lhs": claimed(found.lhs), "rhs": claimed(found.rhs)}
    return {**row, "accepted": True, **sides, "dropped": list(found.dropped)}


def _expand(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted((path / "certificates").glob("*.json")) or sorted(path.glob("*.json"))
    if not found:
        raise UserError(
            f"{path} without certificates", "a folder that holds some", "nothing: there is nothing to check"
        )
    return found


def _read(path: Path) -> object:
    try:
        return load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise UserError(f"{path} ({why})", "a certificate file", "check the path") from error
    except Malformed as error:
        raise _malformed(str(path), str(error)) from error


def _identifier(data: object, name: str) -> str:
    found = cast("dict[str, object]", data).get("statement") if isinstance(data, dict) else None
    if not isinstance(found, str):
        raise _malformed(name, "certificate.statement: got nothing, expected an id")
    return found


def _claim_of(identifier: str, name: str, sources: Sequence[str]) -> object:
    """What the statement claims, as a certificate carries it."""
    from .lower import lower
    from .runner import find

    own = {s.id: s for source in sources for s in find([source])}
    known = {s.id: s for s in find([])} | own
    if identifier not in known:
        import difflib

        near = difflib.get_close_matches(identifier, list(known), n=3)
        do = f"did you mean {', '.join(near)}?" if near else "name the .py file that defines it as well"
        raise UserError(f"{name}: the statement {identifier!r}", "one that the catalogue holds", do)
    return json.loads(json.dumps(lower(known[identifier]).claim))


def _malformed(name: str, why: str) -> UserError:
    return UserError(
        f"{name}, {' '.join(why.split())[:300]}", "a certificate", "write it again with `fedaudit hunt --out`"
    )
