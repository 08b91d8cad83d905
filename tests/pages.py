"""Pages of docs/ as the tests read them: fenced blocks, commands, and what is shown of their output."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([\w.]+)"')


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; with a title it is a file."""

    language: str
    options: str
    text: str

    @property
    def file(self) -> str:
        named = TITLE.search(self.options)
        return named[1] if named else ""


def blocks(page: Path) -> list[Block]:
    return [Block(*found.groups()) for found in FENCE.finditer(page.read_text())]


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each `$ ` line with the output that is shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        yield command, [line for line in shown if line.strip()]


def words(line: str) -> str:
    return " ".join(line.split())


def shows(shown: list[str], out: str) -> str:
    """The first line that is shown and not printed, in order; nothing if all are. `…` stands for anything."""
    printed = [words(line) for line in out.splitlines()]
    for line in map(words, shown):
        if line == "…":
            continue
        pattern = re.sub(r"([\[\]?*])", r"[\1]", line).replace("…", "*")
        at = next((n for n, other in enumerate(printed) if fnmatch.fnmatchcase(other, pattern.rstrip())), None)
        if at is None:
            return line
        printed = printed[at + 1 :]
    return ""
