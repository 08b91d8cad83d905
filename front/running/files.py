"""Files of an audit's folder: written whole or not at all, read only where they are regular files of bounded size."""

from __future__ import annotations

import json
import math
import os
import tempfile
from pathlib import Path
from typing import cast

from fedaudit.verify.results.json_fields import Json
from fedaudit.verify.results.regular_file import regular_bytes

from ..errors import UserError

__all__ = ["MOST_BYTES", "compact", "contents", "dumps", "parsed", "proof_text", "unwritable", "write"]

MOST_BYTES = 64_000_000  # of one file that is read again; the largest row of the catalogue has one hundredth of it


def write(path: Path, content: str | bytes) -> None:
    """The whole file or none of it. Raises `UserError` where the place cannot be written."""
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise unwritable(path, error) from error
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            # Otherwise a crash of the system may leave the new name on a file that is still empty.
            os.fsync(file.fileno())
        # mkstemp lets nobody but the owner read its files; an audit's folder is made to be shared.
        part.chmod(0o644)
        part.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        part.unlink(missing_ok=True)


def dumps(value: object) -> str:
    """JSON for people and programs; a number that JSON does not have (NaN) is an error of ours, not a file."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def compact(value: object) -> str:
    """JSON on one line, for what is read by programs alone: several times as fast to write."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def proof_text(proof: Json) -> str:
    """A proof as JSON, with a line for each judgement."""
    fields = {name: compact(value) for name, value in proof.items() if name != "judgements"}
    fields["judgements"] = "\n".join(("[", ",\n".join(map(compact, cast("list[object]", proof["judgements"]))), "]"))
    return "{" + ",\n".join(f'"{name}": {text}' for name, text in fields.items()) + "}\n"


def unwritable(path: Path, error: OSError) -> UserError:
    """The one line for a place that cannot be written."""
    return UserError(
        f"{path} ({error.strerror or error})", "a place that can be written", "choose another one with --out"
    )


def contents(path: Path) -> bytes:
    """The bytes of one of our own files, never through a link; `Unreadable` where it is none."""
    return regular_bytes(path, MOST_BYTES, follow=False)


def parsed(data: bytes) -> dict[str, object]:
    """A JSON object; `ValueError` for anything else, NaN and numbers beyond all floats included."""

    def finite(text: str) -> float:
        if not math.isfinite(value := float(text)):
            raise ValueError(text)
        return value

    read: object = json.loads(data.decode(), parse_constant=finite, parse_float=finite)
    if not isinstance(read, dict):
        raise ValueError("not an object")
    return cast("dict[str, object]", read)
