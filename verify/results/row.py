# ruff: noqa: RUF009 -- `needed` and `optional` are `dataclasses.field` with a place in JSON
"""A row of an audit: the one form that it has between a worker and a page.

A worker makes it, the store keeps it, audit.json holds it, `certify`, `report` and `compare` read it. A row of `lint`,
`derive`, `verify` or `hunt` alone is a row with that part and no verdict of its own.

A certificate or a proof is the data itself as long as no folder keeps it, and the path of its file below the folder
from then on (`evidence.py` walks over all of them).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from .json_fields import (
    COUNT,
    DATA,
    FLAG,
    HELD,
    IDENTIFIER,
    NUMBER,
    PATH,
    TEXT,
    WHOLE,
    WORD,
    Codec,
    Json,
    JsonObject,
    listed,
    needed,
    never,
    optional,
    read,
    record,
    word,
    write,
)
from .json_node import NAME, Node
from .tried_sizes import TOLD, Size

__all__ = [
    "LITERALS",
    "VERDICTS",
    "DerivedGap",
    "DerivedPart",
    "DerivedStep",
    "DerivedTerm",
    "DerivedWay",
    "Ends",
    "Held",
    "Horizon",
    "LintLine",
    "LiteralReading",
    "Move",
    "Printed",
    "Row",
    "Words",
    "WrittenLine",
    "WrittenName",
    "WrittenProof",
    "read_printed",
    "read_row",
]

VERDICTS = ("refuted", "proved", "survived", "undecided", "reproduced", "reproduced-if", "not-reproduced")
OBSERVED = ("reproduced", "reproduced-if", "not-reproduced")  # of experiments
LITERALS = ("breaks", "survives", "undecided", "not-tried")
LETTERS = 50  # of the sizes of an instance, and characters of each
ORDINARY = ("kappa", "C", "E", "t")  # what an ordinary point is made of

Held: TypeAlias = str | Json | None  # evidence: the path of its file, the data itself, or none


@dataclass(frozen=True, slots=True)
class Words:
    """An assumption as the page prints it."""

    name: str = needed(TEXT)
    says: str = optional(TEXT, "")
    cite: str = optional(TEXT, "")


def _read_part(node: Node) -> tuple[str, tuple[str, ...]]:
    pair = node.items(lambda entry: entry)
    if len(pair) != 2:
        node.refuse("a name and a list of formulas")
    return pair[0].text(), pair[1].items(Node.text)


def _read_letters(node: Node) -> dict[str, str]:
    return {name: text for name, text in node.mapping().all(Node.text) if len(name) <= NAME}


PART = Codec(_read_part, lambda part: [part[0], list(part[1])])
LETTERS_AS_LATEX = Codec(_read_letters)


@dataclass(frozen=True, slots=True)
class Printed:
    """A statement as the page prints it: words, and formulas as LaTeX."""

    title: str = optional(TEXT, "")
    kind: str = optional(TEXT, "")
    where: str = optional(TEXT, "")
    method: str = optional(TEXT, "")
    let: tuple[Words, ...] = optional(listed(record(Words)), ())
    implicit: tuple[Words, ...] = optional(listed(record(Words)), ())
    parts: tuple[tuple[str, tuple[str, ...]], ...] = optional(listed(PART), ())
    reading: tuple[str, ...] = optional(listed(TEXT), ())
    repairs: str = optional(TEXT, "")
    letters: Mapping[str, str] = optional(LETTERS_AS_LATEX, {}, compare=False)
    as_printed: tuple[str, ...] = optional(listed(TEXT), (), when=never)  # where `then` is what it implies on a problem


@dataclass(frozen=True, slots=True)
class LintLine:
    """One line of lint."""

    rule: str = needed(TEXT)
    message: str = needed(TEXT)


@dataclass(frozen=True, slots=True)
class DerivedStep:
    """One step of a derivation."""

    claim: str = optional(TEXT, "")
    latex: str = optional(TEXT, "")
    where: str = optional(TEXT, "")
    note: str = optional(TEXT, "")
    status: str = optional(TEXT, "")
    how: str = optional(TEXT, "")
    because: tuple[str, ...] = optional(listed(TEXT), ())


def _read_factor(node: Node) -> float | str:
    return node.raw if isinstance(node.raw, str) else node.number()


FACTOR = Codec(_read_factor)


@dataclass(frozen=True, slots=True)
class DerivedTerm:
    """One term of a bound and the term that it is compared with; `factor` is what the proof gives over the claim."""

    relation: object = optional(Codec(lambda node: node.raw), None)
    term: str | None = optional(TEXT, None)
    against: str | None = optional(TEXT, None)
    factor: float | str | None = optional(FACTOR, None)
    says: str = optional(TEXT, "")

    def __str__(self) -> str:
        return self.says


@dataclass(frozen=True, slots=True)
class DerivedWay:
    """What becomes of a derivation other than a statement's first."""

    cites: tuple[str, ...] = optional(listed(IDENTIFIER), ())
    status: str = optional(TEXT, "")
    evidence: str = optional(TEXT, "")


@dataclass(frozen=True, slots=True)
class DerivedGap:
    """A gap of a printed proof, in words; of a step that is false itself, also its place and where it fails."""

    text: str = optional(TEXT, "")
    step: int | None = optional(COUNT, None)
    detail: str = optional(TEXT, "")


@dataclass(frozen=True, slots=True)
class WrittenName:
    """A name of a proof: its definition as LaTeX, or its meaning in words."""

    latex: str = needed(TEXT)
    formula: str = optional(TEXT, "", when=never)
    says: str = optional(TEXT, "", when=never)


@dataclass(frozen=True, slots=True)
class WrittenLine:
    """A line of a proof: its number, the claim, and why it holds, a sentence with formulas between dollar signs."""

    number: int = needed(COUNT)
    latex: str = needed(TEXT)
    by: str = optional(TEXT, "")
    under: tuple[str, ...] = optional(listed(TEXT), (), when=never)  # conditions under which alone it holds
    where: str = optional(TEXT, "", when=never)  # in the paper
    status: str = optional(TEXT, "", when=never)  # of one that does not hold: false, unknown, sampled
    why: str = optional(TEXT, "", when=never)


@dataclass(frozen=True, slots=True)
class WrittenProof:
    """A way to a statement, line by line: the one that decides it, or the printed one that does not."""

    role: str = needed(word("decides", "printed"))
    cites: tuple[str, ...] = optional(listed(IDENTIFIER), ())
    names: tuple[WrittenName, ...] = optional(listed(record(WrittenName)), ())
    lines: tuple[WrittenLine, ...] = optional(listed(record(WrittenLine)), ())


def _read_shaky(node: Node) -> dict[str, tuple[str, ...]]:
    return dict(node.mapping().all(lambda names: names.items(Node.identifier)))


def _write_shaky(shaky: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    return {verdict: list(names) for verdict, names in shaky.items()}


@dataclass(frozen=True, slots=True)
class DerivedPart:
    """What `derive` says."""

    status: str = needed(TEXT)
    factor: float | str | None = optional(FACTOR, None)
    terms: tuple[DerivedTerm, ...] = optional(listed(record(DerivedTerm)), ())
    evidence: str = optional(TEXT, "")
    proved: bool = optional(FLAG, False)
    cites: tuple[str, ...] = optional(listed(IDENTIFIER), ())
    proved_from: tuple[str, ...] = optional(listed(IDENTIFIER), ())  # of these, what the way that proves it cites
    trusted: tuple[str, ...] = optional(listed(TEXT), ())  # lines that a proof takes on z3's word
    shaky: Mapping[str, tuple[str, ...]] = optional(  # verdict -> what it cites that is refuted or undecided
        Codec(_read_shaky, _write_shaky), {}, when=never, key="from"
    )
    findings: tuple[str, ...] = optional(listed(TEXT), ())
    ways: tuple[DerivedWay, ...] | None = optional(  # None where an older fedaudit did not write them down
        listed(record(DerivedWay)), None, when=never
    )
    gaps: tuple[DerivedGap, ...] = optional(listed(record(DerivedGap)), ())
    premises: tuple[str, ...] = optional(listed(TEXT), ())
    shown: tuple[str, ...] = optional(listed(TEXT), ())  # premises that follow from the assumptions, with multipliers
    steps: tuple[DerivedStep, ...] = optional(listed(record(DerivedStep)), ())
    written: tuple[WrittenProof, ...] = optional(listed(record(WrittenProof)), (), when=never)


def _read_size(node: Node) -> Size:
    at = node.mapping()
    counts = tuple((name, at.need(name).count()) for name in at.raw if name not in TOLD)
    if len(counts) > LETTERS or not all(name.isprintable() and 0 < len(name) <= LETTERS for name, _ in counts):
        node.refuse(f"at most {LETTERS} sizes with short names")
    tightness = at.get("tightness")
    return Size(counts, at.need("instances").count(), None if tightness is None else tightness.number())


SIZES = listed(Codec(_read_size, Size.row))


@dataclass(frozen=True, slots=True)
class Horizon:
    """A longer run, by its sizes and its index, on which the problem of a counterexample refutes too."""

    places: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return ", ".join(f"{name} = {value}" for name, value in self.places)


HORIZONS = listed(Codec(lambda node: Horizon(node.mapping().all(Node.whole)), lambda one: dict(one.places)))


def _read_point(node: Node) -> tuple[tuple[str, str], ...]:
    point = node.mapping().all(Node.text)
    if len(point) > LETTERS or not all(name.isprintable() and 0 < len(name) <= LETTERS for name, _ in point):
        node.refuse(f"a point of at most {LETTERS} constants with short names")
    return point


def _read_ordinary(node: Node) -> tuple[tuple[str, int], ...]:
    ordinary = node.mapping().all(Node.count)
    if not {name for name, _ in ordinary} <= set(ORDINARY):
        node.refuse(f"an ordinary point of {', '.join(ORDINARY)} alone")
    return ordinary


@dataclass(frozen=True, slots=True)
class Ends:
    """The worst lhs/rhs at one point, between two numbers: over all functions of the class and all dimensions.

    Where it was met by a search, the largest that was met: a lower end alone.
    """

    point: tuple[tuple[str, str], ...] = needed(Codec(_read_point, dict))  # name, value
    lower: float | None = optional(NUMBER, None)
    upper: float | None = optional(NUMBER, None)
    name: str = optional(TEXT, "")  # of an ordinary point
    by: str = optional(TEXT, "")  # "search", or how both ends were proved
    ordinary: tuple[tuple[str, int], ...] = optional(Codec(_read_ordinary, dict), ())  # kappa, C, E and t of that point
    relation: int = optional(COUNT, 1, when=lambda ends: ends.relation != 1)  # of several, which one
    lower_exact: str | None = optional(TEXT, None)
    upper_exact: str | None = optional(TEXT, None)
    certificate: Held = optional(HELD, None)  # of the lower end
    proof: Held = optional(HELD, None)  # of the upper end

    @classmethod
    def of(cls, row: Json) -> Ends:
        """The ends that a row of ours says, whose evidence may still be data."""
        more = {name: value for name, value in row.items() if name not in ("point", "ordinary")}
        return cls(tuple(row["point"].items()), **more, ordinary=tuple(row.get("ordinary", {}).items()))


def _falls(move: Move | Row) -> bool:
    """Whether it carries a counterexample, of which is said how sturdy it is."""
    return move.verdict == "refuted" or move.counterexample is not None


def _is_observed(move: Move) -> bool:
    return move.verdict in OBSERVED


@dataclass(frozen=True, slots=True)
class Move:
    """What `verify` or `hunt` says."""

    verdict: str = needed(word(*VERDICTS))
    evidence: str = optional(TEXT, "")
    instances: int | None = optional(WHOLE, None)
    tightness: float | None = optional(NUMBER, None)
    certificate: Held = optional(HELD, None)
    reason: str = optional(TEXT, "")
    persists: tuple[Horizon, ...] = optional(HORIZONS, (), when=_falls)
    persists_until: str = optional(TEXT, "", when=_falls)
    breaks_too: tuple[str, ...] = optional(listed(IDENTIFIER), (), when=_falls)
    tightest: Json | None = optional(
        DATA, None, when=never
    )  # the instance that came closest, as the kernel replayed it
    counterexample: Json | None = optional(DATA, None, when=never)  # of a reading or a witness
    how: str = optional(TEXT, "", when=never)  # a claim about orders or limits was read
    statistical: Json | None = optional(DATA, None, when=never)  # what sampling saw besides
    untried: tuple[str, ...] = optional(
        listed(TEXT), (), when=never
    )  # sizes that fit neither in memory nor in the budget
    worst: tuple[Ends, ...] = optional(listed(record(Ends)), (), when=never)
    left_out: tuple[str, ...] = optional(listed(TEXT), (), when=never)  # ordinary points that are too large
    out_of_reach: str = optional(TEXT, "", when=never)  # why there is no exact worst case
    under: tuple[str, ...] = optional(listed(TEXT), (), when=_is_observed)  # readings that were settled after looking
    seen: tuple[Json, ...] = optional(listed(DATA), (), when=_is_observed)  # the table behind an observation
    sizes: tuple[Size, ...] = optional(SIZES, ())
    shapes: int = optional(COUNT, 0, when=never)  # kinds of runs that were tried,
    of_shapes: int = optional(COUNT, 0, when=never)  # of so many that there are
    seconds: float | None = optional(NUMBER, None)
    seed: int | None = optional(WHOLE, None)

    @property
    def more(self) -> JsonObject:
        """What a page shows as it is, for there is no better place for it."""
        return {name: value for name, value in write(self).items() if name in BESIDES and value not in (None, "")}


BESIDES = ("reason", "persists", "persists_until", "breaks_too", "tightest", "how", "statistical", "under", "seen")


@dataclass(frozen=True, slots=True)
class LiteralReading:
    """What becomes of a statement without one of its implicit assumptions."""

    name: str = needed(TEXT)
    literal: str = optional(word(*LITERALS), "")
    reason: str = optional(TEXT, "", when=never)
    tightness: float | None = optional(NUMBER, None, when=lambda one: one.literal != "not-tried")
    sizes: tuple[Size, ...] = optional(SIZES, (), when=lambda one: one.literal != "not-tried")
    certificate: Held = optional(HELD, None)
    says: str = optional(TEXT, "")


def _read_findings(node: Node) -> tuple[LintLine, ...]:
    findings = node.mapping().get("findings")
    return () if findings is None else FINDINGS.read(findings)


def _write_findings(findings: tuple[LintLine, ...]) -> JsonObject:
    return {"findings": FINDINGS.write(findings)}


FINDINGS = listed(record(LintLine))


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of one statement."""

    id: str = needed(IDENTIFIER)
    verdict: str = optional(word(*VERDICTS), "")  # none where one move was asked for
    title: str = optional(TEXT, "")
    kind: str = optional(TEXT, "")
    evidence: str = optional(TEXT, "")
    reason: str = optional(TEXT, "")
    how: str = optional(TEXT, "", when=never)
    tightness: float | None = optional(NUMBER, None)
    sizes: tuple[Size, ...] = optional(SIZES, ())  # of verify and hunt
    certificate: Held = optional(HELD, None)
    proof: Held = optional(HELD, None)
    trusted: int = optional(COUNT, 0)  # lines of the proof, and of what it rests on, that were taken on z3's word
    figure: str | None = optional(PATH, None, when=lambda row: row.is_drawn)  # absent as long as nobody drew it
    repaired: str | None = optional(IDENTIFIER, None)
    persists: tuple[Horizon, ...] = optional(HORIZONS, (), when=lambda row: row.verdict == "refuted")
    persists_until: str = optional(TEXT, "", when=lambda row: row.verdict == "refuted")
    breaks_too: tuple[str, ...] = optional(listed(IDENTIFIER), (), when=lambda row: row.verdict == "refuted")
    counterexample: Json | None = optional(DATA, None, when=never)  # of a reading or a witness: it refutes no print
    repair: str = optional(WORD, "")
    repair_why: str = optional(TEXT, "")
    rests_on: str = optional(WORD, "")  # what the kernel takes from us: a form derived by hand
    statement: Printed = optional(record(Printed), Printed())
    lint: tuple[LintLine, ...] = optional(Codec(_read_findings, _write_findings), ())
    derive: DerivedPart | None = optional(record(DerivedPart), None)
    verify: Move | None = optional(record(Move), None)
    hunt: Move | None = optional(record(Move), None)
    implicit: tuple[LiteralReading, ...] = optional(listed(record(LiteralReading)), ())
    is_drawn: bool = False  # whether a figure was asked for, be there one or not
    cited: Mapping[str, Json] = field(default_factory=dict[str, Json], compare=False)  # proofs that its own rests on,
    # by statement, until they are in files of their own

    @property
    def outcome(self) -> str:
        """The verdict, or that of the one move that was asked for."""
        return self.verdict or next((move.verdict for _, move in self.moves), "")

    @property
    def is_broken(self) -> bool:
        """Whether the statement, or the reading or witness that stands for it, fails somewhere."""
        examples = (self.counterexample, *(move.counterexample for _, move in self.moves))
        return self.outcome == "refuted" or any(example is not None for example in examples)

    @property
    def moves(self) -> tuple[tuple[str, Move], ...]:
        """The searches by name, as far as there are any."""
        return tuple((name, move) for name, move in (("verify", self.verify), ("hunt", self.hunt)) if move is not None)

    def to_json(self) -> JsonObject:
        """The row as audit.json and `--json` have it; of one move alone, the row of that move."""
        if self.verdict:
            return write(self)
        if self.moves:
            return {"id": self.id, **write(self.moves[0][1])}
        if self.derive:
            return {"id": self.id, **write(self.derive)}
        return {"id": self.id, **_write_findings(self.lint)}


def read_row(node: Node) -> Row:
    """A row of an audit, which has to have a verdict; raises `UserError` with the place of what is wrong."""
    at = node.mapping()
    for name in {"verdict", *({"trusted"} & set(at.raw))}:  # a number of lines that is withheld is not none
        at.need(name)
    return replace(read(Row, node), is_drawn="figure" in at.raw)


def read_printed(raw: object) -> Printed:
    """The words and formulas of one statement."""
    return read(Printed, Node(raw, "statement", ""))
