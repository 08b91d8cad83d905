"""Hostile data, derandomised: pure functions that change JSON, admissible instances to start from, and an oracle.

Whatever a stranger writes, the kernel accepts it or raises `Malformed` or `Rejected`, soon and in little memory.
"""

from __future__ import annotations

import json
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fedaudit.bounds.catalogue.discovery import statements
from fedaudit.bounds.language.statement import Statement
from fedaudit.verify import kernel
from fedaudit.verify.moves.audit import read
from fedaudit.verify.search.genome import draw, exactly
from fedaudit.verify.search.lowered_claim import lower
from fedaudit.verify.search.rationalise import FORMAT, replay
from fedaudit.verify.search.score import genes_of

SECONDS = 10.0  # a certificate is answered within
ENTRIES = 50_000  # of a mutant, about: a certificate has at most a million characters
LINE = 400  # characters of a refusal, at most
MEMORY = 1 << 30  # what an answer may need beyond the process itself
FOLDER = Path(__file__).parent / "certificates"
GOLDEN: dict[str, Any] = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}

Place = tuple[Any, ...]
Change = Callable[["Chart", Random], "tuple[str, Any] | None"]

# --- places in JSON data ---------------------------------------------------------------------------------------------


def entries(raw: Any) -> list[tuple[Place, Any]]:
    """Every place below the top and what is there, outer ones first; no recursion, as data may be nested deeply."""
    pending: list[tuple[Place, Any]] = [((), raw)]
    for place, here in pending:
        if isinstance(here, dict):
            pending += [((*place, key), entry) for key, entry in here.items()]
        elif isinstance(here, list):
            pending += [((*place, n), entry) for n, entry in enumerate(here)]
    return pending[1:]


def places(raw: Any) -> list[Place]:
    """Every place below the top, outer ones first."""
    return [place for place, _ in entries(raw)]


def get(raw: Any, place: Place) -> Any:
    for key in place:
        raw = raw[key]
    return raw


def put(raw: Any, place: Place, value: Any) -> Any:
    """A copy with another value at one place; what lies beside the way there is shared."""
    if not place:
        return value
    copied = dict(raw) if isinstance(raw, dict) else list(raw)
    copied[place[0]] = put(raw[place[0]], place[1:], value)
    return copied


def without(raw: Any, place: Place) -> Any:
    *outer, last = place
    holder = get(raw, tuple(outer))
    if isinstance(holder, dict):
        return put(raw, tuple(outer), {key: entry for key, entry in holder.items() if key != last})
    return put(raw, tuple(outer), [entry for n, entry in enumerate(holder) if n != last])


def text_of(place: Place) -> str:
    return ".".join(map(str, place))


def short(raw: Any) -> str:
    """A value for the eye; numbers too long to print by their size."""
    return f"{raw.bit_length()} bits" if type(raw) is int and raw.bit_length() > 400 else repr(raw)[:40]


# --- values ----------------------------------------------------------------------------------------------------------

MILD: tuple[Any, ...] = (
    "0", "1", "-1", "1/2", "-1/2", "2", "3", "1/3", "10", "1/1000", "1000", "999/1000", "1001/1000", 0, 1, -1, 2, 3, 5,
)  # fmt: skip
HUGE: tuple[Any, ...] = (
    10**9, 10**15, -(10**15), 2**31, 2**63, 2**64, 10**100, "1" + "0" * 300, "1/1" + "0" * 300, "9" * 999,
    "-" + "7" * 900 + "/3", "123456789/987654321", "9" * 490 + "/" + "7" * 490, "1/" + "1" * 990, 10**15 + 1,
    100, 200, 1000, 9999, 10000, 10001, 99999,
)  # fmt: skip
WRONG: tuple[Any, ...] = (
    None, True, False, 0.5, -0.0, 1e300, float("nan"), float("inf"), float("-inf"), "", " ", "nan", "NaN", "inf", "1e9",
    "1.5", "1/0", "0/0", "0/5", "-0", "00", "1/01", "0x1", "+1", " 1", "1 ", "1\n", "1/-2", "1//2", "\u0661", "²", "１",
    "\u0967/\u0968", "\x00", "\ud800", "__import__('os')", "9" * 2000, "9" * 200_000, 10**2000, 10**5000, "x" * 500,
    "T", "E", "L", "gamma", "relation", "t", "kind", "1/" + "1" * 100_000 + "x", {}, [], [[]], {"a": 1}, {"": ""},
    {"kind": "none"}, [1, [2, [3, [4]]]], ["^", 9], ["at"], ["sum", "t", 0, 10**9, 1], ["^", "2", 10**9],
    ["exp", 10**9], ["exp", ["exp", 30]], ["exp", ["*", "-1", ["exp", 100]]], ["log", 0], ["log", -1],
    ["^", ["log", ["log", "1/2"]], 0], ["^", ["log", 2], -1], ["^", 0, 0], ["^", 0, -1], ["pi"], ["at", "gamma", -1],
    ["at", "gap", 10**9], ["+", "1"], ["*", "T", "T"], ["abs", -3], ["min", 1, 2],
)  # fmt: skip
RELATIONS = ("<=", "<", ">=", ">", "=", "!=")
DOMAINS = ("real", "nonnegative", "positive", "count", "index", "integer", "")
KINDS = (
    "none", "signs", "quadratic", "piecewise", "well", "given", "fedmax", "vectors", "points", "mean", "combination",
    "full", "sampled", "paths", "moments", "average", "sum", "broadcast", "equal", "same", "own",
)  # fmt: skip
WORDS = (
    "surplus",
    "kind",
    "T",
    "E",
    "C",
    "mu",
    "L",
    "gamma",
    "steps",
    "constants",
    "parameters",
    "domains",
    "\u03b3",
    "x" * 200,
)


def is_number(raw: Any) -> bool:
    if type(raw) is int:
        return True
    if not isinstance(raw, str) or not raw.isascii():
        return False
    top, _, bottom = raw.removeprefix("-").partition("/")
    return top.isdigit() and len(raw) < 1000 and (not bottom or (bottom.isdigit() and set(bottom) != {"0"}))


def moved(raw: Any, rng: Random) -> Any:
    """A number near another one, of the same JSON type."""
    x = Fraction(raw)
    y = rng.choice(
        [
            -x,
            x + 1,
            x - 1,
            x / 2,
            2 * x,
            3 * x,
            x * Fraction(11, 10),
            x * Fraction(9, 10),
            1 / x if x else x + 2,
            x * x,
            100 * x,
        ]
    )
    return int(y) if type(raw) is int else str(y)


@dataclass(frozen=True, slots=True)
class Pool:
    """Parts of other certificates, by the name of their field."""

    by_key: Mapping[str, Sequence[Any]]

    @classmethod
    def of(cls, certificates: Sequence[Any]) -> Pool:
        by_key: dict[str, list[Any]] = {}
        seen: set[tuple[str, str]] = set()
        for raw in certificates:
            for place, part in entries(raw):
                if isinstance(place[-1], str):
                    mark = place[-1], json.dumps(part)
                    if mark not in seen:
                        seen.add(mark)
                        by_key.setdefault(place[-1], []).append(part)
        return cls(by_key)


@cache
def pool() -> Pool:
    return Pool.of(list(GOLDEN.values()))


# --- changes ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """Data, and where in it is what: all mutants of one certificate look at the same chart first."""

    raw: Any
    pool: Pool
    seen: dict[str, Any] = field(default_factory=dict)

    def entries(self) -> list[tuple[Place, Any]]:
        return self._once("entries", lambda: entries(self.raw))

    def places(self) -> list[Place]:
        return self._once("places", lambda: [place for place, _ in self.entries()])

    def words(self) -> list[str]:
        return self._once("words", lambda: [here for _, here in self.entries() if is_word(here)])

    def pick(self, rng: Random, kind: str) -> Place | None:
        """A place of one kind, if there is any."""
        fits = FITS[kind]
        fitting = self._once(kind, lambda: [place for place, here in self.entries() if fits(place, here, self.pool)])
        return rng.choice(fitting) if fitting else None

    def _once(self, name: str, made: Callable[[], Any]) -> Any:
        if name not in self.seen:
            self.seen[name] = made()
        return self.seen[name]


def is_word(here: Any) -> bool:
    return isinstance(here, str) and not is_number(here)


FITS: dict[str, Callable[[Place, Any, Pool], bool]] = {
    "field": lambda place, here, pool: isinstance(place[-1], str),
    "object": lambda place, here, pool: isinstance(here, dict),
    "list": lambda place, here, pool: isinstance(here, list),
    "number": lambda place, here, pool: is_number(here),
    "word": lambda place, here, pool: is_word(here) and bool(here),
    "several": lambda place, here, pool: isinstance(here, dict | list) and len(here) > 1,
    "known": lambda place, here, pool: place[-1] in pool.by_key,
    "size": lambda place, here, pool: type(here) is int and 1 <= here <= 10_000 and "claim" not in place,
}


def drop(chart: Chart, rng: Random) -> tuple[str, Any] | None:
    place = chart.pick(rng, "field")
    return (f"drop {text_of(place)}", without(chart.raw, place)) if place else None


def add(chart: Chart, rng: Random) -> tuple[str, Any] | None:
    place = chart.pick(rng, "object") or ()
    name = rng.choice([*WORDS, *chart.pool.by_key])
    value = rng.choice([*MILD, *chart.pool.by_key.get(name, ())])
    holder = get(chart.raw, place)
    return (
        (f"add {text_of(place)}.{name}", put(chart.raw, place, {**holder, name: value}))
        if isinstance(holder, dict)
        else None
    )


def rename(chart: Chart, rng: Random) -> tuple[str, Any] | None:
    place = chart.pick(rng, "field")
    if not place:
        return None
    name, holder = rng.choice([*WORDS, *chart.pool.by_key]), get(chart.raw, place[:-1])
    renamed = {name if key == place[-1] else key: entry for key, entry in holder.items()}
    return f"rename {text_of(place)} to {name}", put(chart.raw, place[:-1], renamed)


def garbage(chart: Chart, rng: Random) -> tuple[str, Any] | None:
    place, value = rng.choice(chart.places() or [()]), rng.choice(WRONG)
    return f"garbage {text_of(place)} = {short(value)}", put(chart.raw, place, value)


def number(chart: Chart, rng: Random) -> tuple[str, Any] | None:
    """Another number: mild, huge, or near the old one."""
    place = chart.pick(rng, "number")
    if not place:
        return None
    old = get(chart.raw, place)
    value = rng.choice([rng.choice(MILD), moved(old, rng), moved(old, rng), rng.choice(HUGE)])
    if rng.random() < 0.6 and type(value) is not type(old) and is_number(value):
        value = str(value) if isinstance(old, str) else int(Fraction(value))
    return f"number {text_of(place)} = {short(value)}", put(chart.raw, place, value)


def listed(chart: Chart, rng: Random) -> tuple[str, Any] | None:
    """A list that is shorter, longer, nested, reversed or empty."""
    place = chart.pick(rng, "list")
    if not place:
        return None
    old = get(chart.raw, place)
    how = rng.choice(["shorter", "longer", "nested", "reversed", "empty", "repeated", "flat", "swapped"])
    if how == "shorter":
        n = rng.randrange(len(old)) if old else 0
        new = old[:n] + old[n + 1 :]
    elif how == "longer":
        new = [*old, rng.choice(old) if old and rng.random() < 0.7 else rng.choice(MILD)]
    elif how == "nested":
        new = [old] if rng.random() < 0.5 else [[entry] for entry in old]
    elif how == "flat":
        new = [part for entry in old for part in (entry if isinstance(entry, list) else [entry])]
    elif how == "swapped":
        new = rng.sample(old, len(old))
    else:
        new = {"reversed": old[::-1], "empty": [], "repeated": old * rng.choice([2, 3, 50])}[how]
    return f"{how} {text_of(place)}", put(chart.raw, place, new)


def word(chart: Chart, rng: Random) -> tuple[str, Any] | None:
    """Another kind, relation, domain or name in place of a word."""
    place = chart.pick(rng, "word")
    if not place:
        return None
    old = get(chart.raw, place)
    known = next((group for group in (RELATIONS, DOMAINS, KINDS) if old in group), None)
    value = rng.choice(list(known)) if known and rng.random() < 0.8 else rng.choice([*chart.words(), *WORDS])
    return f"word {text_of(place)} = {value[:30]}", put(chart.raw, place, value)


def domain(chart: Chart, rng: Random) -> tuple[str, Any] | None:
    """A domain removed, changed or added."""
    holder = chart.raw.get("claim", chart.raw) if isinstance(chart.raw, dict) else {}
    domains = holder.get("domains") if isinstance(holder, dict) else None
    if not isinstance(domains, dict):
        return None
    at: Place = ("claim", "domains") if "claim" in chart.raw else ("domains",)
    name = rng.choice([*domains, rng.choice(WORDS)])
    value = rng.choice(DOMAINS)
    new = {k: v for k, v in domains.items() if k != name} if rng.random() < 0.4 else {**domains, name: value}
    return f"domain {name[:30]} = {value if name in new else 'none'}", put(chart.raw, at, new)


def swap(chart: Chart, rng: Random) -> tuple[str, Any] | None:
    """Two fields of one object (low and high, say), or two entries of a list, change places."""
    place = chart.pick(rng, "several")
    if not place:
        return None
    holder = get(chart.raw, place)
    a, b = rng.sample(list(holder) if isinstance(holder, dict) else range(len(holder)), 2)
    changed = put(put(chart.raw, (*place, a), holder[b]), (*place, b), holder[a])
    return f"swap {text_of(place)}: {a} and {b}", changed


def graft(chart: Chart, rng: Random) -> tuple[str, Any] | None:
    """A field's value from another certificate."""
    place = chart.pick(rng, "known")
    if not place:
        return None
    return f"graft {text_of(place)}", put(chart.raw, place, rng.choice(chart.pool.by_key[place[-1]]))


def within(chart: Chart, rng: Random) -> tuple[str, Any] | None:
    """One part in the place of another."""
    inside = chart.places()
    if not inside:
        return None
    place, other = rng.choice(inside), rng.choice(inside)
    return f"copy {text_of(other)} to {text_of(place)}", put(chart.raw, place, get(chart.raw, other))


def nest(raw: Any, rng: Random) -> tuple[str, Any]:
    place, depth = rng.choice(places(raw) or [()]), rng.choice([3, 64, 70, 300, *range(800, 1000, 10), 20_000])
    wraps: list[Callable[[Any], Any]] = [lambda x: [x], lambda x: {"a": x}, lambda x: ["abs", x], lambda x: ["+", x]]
    wrap = rng.choice(wraps)
    value = get(raw, place)
    for _ in range(depth):
        value = wrap(value)
    return f"nest {text_of(place)} {depth} deep", put(raw, place, value)


def resized(chart: Chart, rng: Random) -> tuple[str, Any] | None:
    """A count changed together with every list of that length, so that the sizes still agree."""
    place = chart.pick(rng, "size")
    if not place:
        return None
    old = get(chart.raw, place)
    new = max(0, rng.choice([old - 1, old + 1, 2 * old, old + 2, 10, 30, 100, 400]))
    outer = place[:1] if len(place) > 1 else ()

    def size(here: Any) -> int:
        if not isinstance(here, dict | list):
            return 1
        inner = 1 + sum(map(size, here.values() if isinstance(here, dict) else here))
        return inner * new // old if isinstance(here, list) and len(here) == old else inner

    if size(get(chart.raw, outer)) > ENTRIES:
        return None

    def fit(here: Any) -> Any:
        if isinstance(here, dict):
            return {key: fit(entry) for key, entry in here.items()}
        if not isinstance(here, list):
            return here
        inner = [fit(entry) for entry in here]
        return [inner[n % old] for n in range(new)] if len(inner) == old else inner

    changed = put(chart.raw, outer, fit(get(chart.raw, outer)))
    if place not in places(changed):  # it went with the list that held it
        return None
    return f"resize {text_of(place)} from {old} to {new}", put(changed, place, new)


CHANGES: tuple[tuple[Change, int], ...] = (
    (number, 10), (resized, 6), (garbage, 5), (listed, 5), (word, 4), (swap, 3), (within, 3), (graft, 4), (domain, 2),
    (drop, 2), (add, 2), (rename, 2),
)  # fmt: skip
DEEP = 0.02  # share of mutants that are nested deeply besides
_MENU: list[Change] = [change for change, weight in CHANGES for _ in range(weight)]


def mutants(raw: Any, count: int, seed: str, pool: Pool) -> Iterator[tuple[str, Any]]:
    """`count` descriptions and changed copies; one change in two cases of three, else two or three at once."""
    rng, whole = Random(seed), Chart(raw, pool)
    for _ in range(count):
        told: list[str] = []
        chart = whole
        wanted = rng.choice([1, 1, 1, 1, 2, 3])
        while len(told) < wanted:
            step = rng.choice(_MENU)(chart, rng)
            if step is not None:
                told.append(step[0])
                chart = Chart(step[1], pool)
        changed = chart.raw
        if rng.random() < DEEP:  # last: nothing else could find its way
            step = nest(changed, rng)
            told.append(step[0])
            changed = step[1]
        yield "; ".join(told), changed


# --- the oracle ------------------------------------------------------------------------------------------------------


class TooSlow(Exception):
    """The alarm rang."""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Ring after so much time on the processor: what other processes do does not count."""

    def ring(*_: Any) -> None:
        raise TooSlow(f"more than {seconds} s")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def little_memory(extra: int = MEMORY) -> Iterator[None]:
    """An allocation beyond what the process has now plus `extra` fails."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    if pages:
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + extra, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@dataclass(slots=True)
class Log:
    """What a run of mutants showed."""

    count: int = 0
    refutations: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    slowest: float = 0.0
    slowest_case: str = ""

    def ask(self, case: str, call: Callable[[], Any]) -> Any:
        """The call's answer, or None where it refuses; anything else that it raises is a crash."""
        self.count += 1
        used, answer = time.process_time(), None
        try:
            with little_memory(), alarm(SECONDS):
                answer = call()
        except (kernel.Malformed, kernel.Rejected) as refusal:
            if "\n" in (line := str(refusal)) or len(line) > LINE:
                self.crashes.append(f"{case}: a refusal of {len(line)} characters, expected one line of {LINE}")
        except TooSlow as slow:
            self.crashes.append(f"{case}: {slow}")
        except Exception as error:
            self.crashes.append(f"{case}: {type(error).__name__}: {str(error)[:100]} {_where(error)}")
        took = time.process_time() - used  # what other processes do does not count
        if took > SECONDS and not (
            self.crashes and self.crashes[-1].startswith(case)
        ):  # inside FLINT no alarm is heard
            self.crashes.append(f"{case}: {took:.1f} s, expected at most {SECONDS} s")
        if took > self.slowest:
            self.slowest, self.slowest_case = took, case
        return answer

    def judge(self, record: Callable[[str, object], None]) -> None:
        """Hand the figures to the summary; fail on anything that was neither answered nor refused in time."""
        shown = (self.count, round(self.slowest, 3), self.slowest_case, self.refutations)
        record("fuzz", shown)
        print(f"{shown[0]} mutants, slowest {shown[1]} s: {shown[2]}", *self.refutations, sep="\n")
        assert not self.crashes, f"{len(self.crashes)} of {self.count}:\n" + "\n".join(self.crashes[:40])


def _where(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "kernel" in f.filename]
    return " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in frames[-1:-5:-1])


# --- what to start from ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """One admissible instance of a statement and the kernel's word on it."""

    claim: dict[str, Any]
    instance: dict[str, Any]
    at: dict[str, int]
    lhs: str
    rhs: str
    holds: bool

    def refutes(self, at: dict[str, int]) -> bool:
        """Whether this start itself is a counterexample there: then mutants of it are no news."""
        return not self.holds and at == self.at

    def certificate(self) -> dict[str, Any]:
        """As a certificate, which the kernel refuses if the claim holds there."""
        identity = {"format": FORMAT, "statement": self.claim["id"], "claim": self.claim, "dropped": []}
        if "form" in self.claim:  # a closed form of runs, which are replayed
            identity["replays"] = list(lower(by_id()[self.claim["id"]]).replays)
        return {**identity, "instance": self.instance, "at": self.at, "lhs": self.lhs, "rhs": self.rhs}


@cache
def by_id() -> dict[str, Statement]:
    return {s.id: s for s in statements([])}


@cache
def claim_of(identifier: str) -> dict[str, Any]:
    """What the statement claims, as a certificate carries it."""
    return json.loads(json.dumps(lower(by_id()[identifier]).claim))


def runs(statement: Statement) -> bool:
    """Experiments are observed, not replayed, and of what is quoted nothing is tried."""
    return statement.kind != "experiment" and not statement.quoted


TRIES, SMALL = 400, 40


@cache
def start(identifier: str, number: int = 0) -> Start | None:
    """The `number`-th drawing of an admissible instance: small, exact, the same on every run."""
    reading, world = read(by_id()[identifier])
    rng = np.random.default_rng([number, *identifier.encode()])
    by_cost = sorted(world.shapes(reading), key=lambda s: s.cost)
    shapes = [s for s in by_cost if s.cost <= SMALL] or by_cost[:3]
    for attempt in range(TRIES):
        shape = shapes[int(rng.integers(len(shapes)))]
        genes = genes_of(reading, world, shape)
        genome = exactly(genes, draw(genes, 1, rng), 0, 1 + attempt % 3)
        found = replay(reading, world, shape, genome)
        if found is not None:
            instance = json.loads(json.dumps(found.instance))
            return Start(claim_of(identifier), instance, found.at, found.lhs, found.rhs, found.holds)
    return None


def evaluated(claim: Any, instance: Any, at: Any, dropped: Sequence[str] = ()) -> tuple[str, str, bool]:
    """Both sides as a certificate would state them, and whether the relation holds."""
    lhs, rhs, holds = kernel.evaluate(claim, instance, dropped, at)
    return kernel.claimed(lhs), kernel.claimed(rhs), holds
