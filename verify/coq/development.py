"""A folder that Coq checks: the library, one file per statement with a theorem for each certificate, and a Makefile."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from ..kernel.gram.point_proof import is_proof
from ..kernel.proofs.proof import is_one
from . import statements, upper_ends
from .terms import comment, identifier

__all__ = ["LIBRARY", "STANDARD", "Answer", "Theorem", "compiled", "compiler", "development", "theorem"]

LIBRARY = "Fedaudit.v"
HEAD = """\
From Coq Require Import Reals QArith Qreals List Lra Lia.
Require Import Fedaudit.
Import ListNotations.
Open Scope R_scope.
"""
MAKEFILE = """\
# `make` checks every file; `make -j` several at a time. Needs coqc: Debian's package coq, 8.16 or later.
COQC ?= coqc
FILES := $(filter-out Fedaudit.v,$(wildcard *.v))
all: $(FILES:.v=.vo)
Fedaudit.vo: Fedaudit.v
\t$(COQC) -q Fedaudit.v
s_%.vo: s_%.v Fedaudit.vo
\t$(COQC) -q $<
clean:
\trm -f *.vo *.vok *.vos *.glob .*.aux
.PHONY: all clean
"""
STANDARD = {  # axioms of Coq's standard library, on which its real numbers rest
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
CLOSED = "Closed under the global context"


@dataclass(frozen=True, slots=True)
class Theorem:
    """A certificate as a theorem: of which statement, in which module of its file, and Coq's text of that module."""

    statement: str
    module: str
    text: str

    @property
    def file(self) -> str:
        return f"{identifier(self.statement)}.v"

    @property
    def name(self) -> str:
        return f"{self.module}.holds"


@dataclass(frozen=True, slots=True)
class Answer:
    """What Coq says of a file: None if it accepts it, or its first complaint; and the axioms that each theorem uses."""

    complaint: str | None
    axioms: Mapping[str, tuple[str, ...]]
    seconds: float


def theorem(certificate: Mapping[str, object], module: str) -> Theorem | None:
    """What an accepted certificate says, as a theorem; None where no translation is known."""
    statement = str(certificate["statement"])
    if is_proof(certificate):
        return Theorem(statement, module, upper_ends.theorem(certificate, module))
    if is_one(certificate):
        text = statements.theorem(certificate, module)
    else:
        text = statements.refutation(certificate, module) if "instance" in certificate else None
    return None if text is None else Theorem(statement, module, text)


def development(theorems: Sequence[Theorem]) -> dict[str, str]:
    """File names and their texts."""
    library = files("fedaudit.verify.coq").joinpath(LIBRARY).read_text(encoding="utf-8")
    texts = {LIBRARY: library, "Makefile": MAKEFILE}
    for name in sorted({one.file for one in theorems}):
        own = [one for one in theorems if one.file == name]
        asked = (f"Print Assumptions {one.name}." for one in own)
        texts[name] = (
            "\n\n".join([f"{comment(own[0].statement)}\n{HEAD}", *(one.text for one in own), "\n".join(asked)]) + "\n"
        )
    return texts


def compiler() -> tuple[list[str], str] | None:
    """The command that checks a file and its version, if one is installed: Coq's, or that of Rocq."""
    for command in (["coqc"], ["rocq", "compile"]):
        if shutil.which(command[0]):
            said = subprocess.run(
                [*command, "--version"], capture_output=True, text=True, check=False, timeout=60
            ).stdout
            if found := re.search(r"version (\d+\.\d+(?:\.\d+)?)", said):
                return command, f"{'Coq' if command == ['coqc'] else 'Rocq'} {found[1]}"
    return None


def compiled(command: Sequence[str], folder: Path, name: str, theorems: Sequence[Theorem], limit: float) -> Answer:
    """Let Coq check one file of the folder. It is refused if it takes longer than `limit` seconds, or if a theorem uses
    an axiom that is not the standard library's.
    """
    began = time.monotonic()
    try:
        done = subprocess.run(
            [*command, "-q", name], cwd=folder, capture_output=True, text=True, check=False, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return Answer(f"got no answer in {limit:g} s", {}, time.monotonic() - began)
    seconds = time.monotonic() - began
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        return Answer(" ".join(said)[:300] or f"exit status {done.returncode}", {}, seconds)
    told = axioms(done.stdout)
    # Every theorem asks for its axioms once; with another number nobody knows which axioms are whose.
    if len(told) != len(theorems):
        return Answer(f"got the axioms of {len(told)} theorems, expected those of {len(theorems)}", {}, seconds)
    used = dict(zip((one.name for one in theorems), told, strict=True))
    strange = sorted({axiom for some in told for axiom in some} - STANDARD)
    return Answer(
        f"got the axioms {', '.join(strange)}, expected the standard library's" if strange else None, used, seconds
    )


def axioms(output: str) -> list[tuple[str, ...]]:
    """The axioms of each theorem, in the order in which Coq printed them."""
    every: list[list[str]] = []
    for line in output.splitlines():
        if line.startswith((CLOSED, "Axioms:", "Section Variables:")):
            every.append([])
        elif every and (found := re.match(r"([A-Za-z_][\w.']*)(?=\s|$)", line)):
            # Releases of Coq and Rocq print more or less of the path that leads to their library's axioms.
            every[-1].append(re.sub(r"^(Coq|Stdlib|Corelib)\.([A-Z]\w*\.)*(?=[A-Z]\w*\.\w+$)", "", found[1]))
    return [tuple(some) for some in every]
