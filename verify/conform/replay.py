"""A recorded run read along a method's rules: what each rule gives from what was recorded before it, and by how much
the record differs.

Wherever a vector was recorded, it takes the place of the computed one, so that a difference does not spread to later
rules. What was not recorded (a server's momentum, say) is what the rules make of it from its first value on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .evaluation import Place, Unknown, local_scalars, scalar, server_scalars, vector
from .recording import Array, Recording

__all__ = ["STEPS", "Comparison", "Difference", "Rule", "compare", "places", "whole_phases"]

Data = Mapping[str, Any]  # a method as `Method.data` has it, and "everyone", "loop"
Rule = tuple[str, str]  # phase and vector
STEPS: Rule = ("local", "steps")  # how many there are
TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where a run leaves the rules; clients and local steps count from 0."""

    phase: str
    vector: str
    t: int
    k: int | None
    client: int | None
    residual: float  # the largest coordinate of recorded - computed
    scale: float  # the largest coordinate of the vector in the run

    @property
    def rule(self) -> Rule:
        return self.phase, self.vector


@dataclass(slots=True)
class Comparison:
    """What the rules say of a run: residuals by rule, relative to the vector's size, and the first difference."""

    first: Difference | None = None
    residuals: dict[Rule, float] = field(default_factory=dict[Rule, float])
    unknown: dict[Rule, str] = field(default_factory=dict[Rule, str])  # what a rule reads that is not there

    @property
    def failing(self) -> frozenset[Rule]:
        return frozenset(rule for rule, size in self.residuals.items() if size > 1)


def compare(data: Data, run: Recording, *, stop: bool = False, sure: frozenset[str] = frozenset()) -> Comparison:
    """The run against the rules; with `stop` only up to the first difference.

    Phases that are `sure` were compared before: their vectors are taken as they were recorded.
    """
    reader = _Reader(data, run, stop, sure)
    with np.errstate(all="ignore"):
        try:
            reader.walk()
        except _Stopped:
            pass
        except Unknown as error:  # of the number of local steps
            reader.result.unknown[STEPS] = str(error)
            reader.result.residuals[STEPS] = np.inf
    return reader.result


def whole_phases(data: Data, run: Recording) -> frozenset[str]:
    """The phases whose vectors were all recorded, step by step, so that nothing has to be computed to go on."""
    stepped = {name for name, array in run.vectors.items() if array.ndim == 4}
    return frozenset(p for p in ("begin", "local") if data[p] and stepped.issuperset(data[p]))


def places(data: Data, run: Recording, rule: Rule) -> Iterator[tuple[Place, Array, Array]]:
    """Every place at which a rule's result was recorded: where it is read, the record, and which rows of it count."""
    reader = _Reader(data, run, stop=False, sure=frozenset())
    reader.watched = rule
    with np.errstate(all="ignore"):
        reader.walk()
    yield from reader.seen


class _Stopped(Exception):
    pass


class _Reader:
    def __init__(self, data: Data, run: Recording, stop: bool, sure: frozenset[str]) -> None:
        self.data, self.run, self.stop, self.sure = data, run, stop, sure
        self.result = Comparison()
        self.scales = {name: max(float(np.nanmax(np.abs(a), initial=0.0)), TINY) for name, a in run.vectors.items()}
        self.moving = {*data["local"], *data["begin"]}
        self.stepping = next(iter(data["begin"]), "")
        self.last = np.zeros(run.clients)
        self.watched: Rule | None = None
        self.seen: list[tuple[Place, Array, Array]] = []

    def walk(self) -> None:
        run = self.run
        state = self.begun()
        for t in range(run.rounds):
            drawn = run.drawn[t]
            active = np.ones(run.clients, dtype=bool) if self.data.get("everyone") else drawn > 0
            values = server_scalars(run, t, drawn)
            held = dict(state)
            state = self.phase("begin", Place(run, t, 0, state, {}, local_scalars(values, run, t, 0), drawn), active)
            lengths = self.lengths(Place(run, t, 0, state, {}, local_scalars(values, run, t, 0), drawn))
            before: dict[str, Array] = {}
            if "local" in self.sure:
                state |= {name: self.ended(name, t, state[name]) for name in self.data["local"]}
            for k in range(0 if "local" in self.sure else int(lengths[active].max(initial=0))):
                here = local_scalars(values, run, t, k)
                place = Place(run, t, k, state, before or dict(state), here, drawn, self.stepping)
                before = dict(state)
                state = self.phase("local", place, active & (lengths > k), k + 1)
            last = Place(run, t, int(lengths.max(initial=0)), state, before, local_scalars(values, run, t, 0), drawn)
            state = self.phase("end", last, active)
            for name in self.data["client"]:  # who did not take part keeps what it had
                if name in held:
                    state[name] = np.where(active[:, None], state[name], held[name]) if name in state else held[name]
            self.idle(held, state, t, active)
            state = self.phase("update", Place(run, t, 0, state, {}, values, drawn), active)

    def ended(self, name: str, t: int, held: Array) -> Array:
        """A client's vector after its last local step, as it was recorded; what it was where it was idle."""
        whole = self.run.vectors[name][t]
        last = whole[self.last.astype(int).clip(0, len(whole) - 1), np.arange(self.run.clients)]
        return np.where(np.isfinite(last), last, held)

    def begun(self) -> dict[str, Array]:
        """The vectors before the first round."""
        run, state = self.run, dict[str, Array]()
        for side in ("server", "client"):
            place = Place(run, 0, 0, dict(state), {}, server_scalars(run, 0, run.drawn[0]), run.drawn[0])
            for name, rule in self.data[side].items():
                shape = (run.dim,) if side == "server" else (run.clients, run.dim)
                try:
                    computed = np.broadcast_to(vector(rule, place), shape).copy()
                except Unknown as error:
                    self.result.unknown["start", name] = str(error)
                    continue
                recorded = self.recorded_between(name, 0)
                # A vector that begins at `start` is compared with nothing, for `start` is read from the record itself.
                if recorded is not None and rule != ["start"] and side == "server":
                    self.check(("start", name), computed, recorded, 0, None, None)
                elif recorded is not None and side == "client" and name not in self.moving:
                    self.check(("start", name), computed, recorded, 0, None, np.ones(run.clients, dtype=bool))
                state[name] = computed if recorded is None else np.where(np.isfinite(recorded), recorded, computed)
        return state

    def lengths(self, place: Place) -> Array:
        """How many local steps each client takes: as recorded, or as the method says."""
        run, t = self.run, place.t
        asked = np.broadcast_to(np.ravel(scalar(self.data.get("loop", "E"), place)), (run.clients,))
        self.last = asked if run.taken is None else run.taken[t]
        if run.taken is not None:
            self.result.residuals.setdefault(STEPS, 0.0)
            differs = (place.drawn > 0) & (self.last != asked)
            if differs.any():
                i = int(np.argmax(differs))
                step, apart = int(min(self.last[i], asked[i])), abs(float(self.last[i] - asked[i]))
                self.differ(STEPS, t, step, i, apart, float(asked[i]))
        return self.last

    def phase(self, phase: str, place: Place, active: Array, step: int = 0) -> dict[str, Array]:
        """The state after a phase: computed from the state before it, then replaced by what was recorded."""
        after = dict(place.state)
        new: dict[str, Array | None] = {}
        for name, rule in self.data[phase].items():
            if phase in self.sure:
                new[name] = None
                continue
            try:
                value = vector(rule, place)
                new[name] = value
                if phase == "update" and value.ndim > 1:
                    # The server has one vector: what a rule gives for each client is no value of it.
                    raise Unknown("one vector for all clients")
            except Unknown as error:
                self.result.unknown.setdefault((phase, name), str(error))
                new[name] = None
        for name, value in new.items():
            recorded = self.recorded(phase, name, place.t, step)
            if phase == "update":
                computed = None if value is None else np.broadcast_to(value, (self.run.dim,))
                mask = None
            else:
                computed = None if value is None else np.broadcast_to(value, (self.run.clients, self.run.dim))
                mask = active
            if computed is not None and recorded is not None:
                k = step - 1 if phase == "local" else None
                self.check((phase, name), computed, recorded, place.t, k, mask)
            if recorded is not None and self.watched == (phase, name):
                rows = np.ones(len(recorded), dtype=bool) if mask is None else mask & np.isfinite(recorded).all(axis=-1)
                self.seen.append((place, recorded, rows))
            base = computed if computed is not None else place.state.get(name)
            if base is None and recorded is None:
                after.pop(name, None)
                continue
            if base is None:
                base = recorded
            assert base is not None
            merged = base if recorded is None else np.where(np.isfinite(recorded), recorded, base)
            after[name] = (
                merged
                if mask is None or name not in place.state
                else np.where(mask[:, None], merged, place.state[name])
            )
            if computed is None and recorded is None:
                after.pop(name, None)
        return after

    def idle(self, held: Mapping[str, Array], state: dict[str, Array], t: int, active: Array) -> None:
        """Clients that take no part keep their vectors; compared where they were recorded."""
        if active.all():
            return
        for name in self.data["client"]:
            recorded = self.recorded("end", name, t, 0)
            if recorded is None or name not in held or name in self.data["begin"]:
                continue
            idle = np.isfinite(recorded).all(axis=-1) & ~active
            if idle.any():
                self.check(("idle", name), held[name], recorded, t, None, idle)
                state[name] = np.where(idle[:, None], recorded, state[name])

    def recorded_between(self, name: str, t: int) -> Array | None:
        """A vector before round t, where it was recorded there."""
        array = self.run.vectors.get(name)
        if array is None or array.ndim == 4 or len(array) != self.run.rounds + 1:
            return None
        return array[t]

    def recorded(self, phase: str, name: str, t: int, step: int) -> Array | None:
        """A vector after a phase, where it was recorded there."""
        array = self.run.vectors.get(name)
        if array is None:
            return None
        if array.ndim == 4:
            return array[t, step] if phase in ("begin", "local") and step < array.shape[1] else None
        if phase == "update":
            return array[t + 1] if name in self.data["server"] else None
        inside = phase == "end" or (phase == "local" and name not in self.data["end"])
        if not inside or name in self.data["server"]:
            return None
        ended = array[t + 1] if len(array) == self.run.rounds + 1 else array[t]
        if phase == "end":
            return ended
        # A client's vector at the end of a round is what it was after its last local step, and after no other.
        return np.where((self.last == step)[:, None], ended, np.nan)

    def check(self, rule: Rule, computed: Array, recorded: Array, t: int, k: int | None, mask: Array | None) -> None:
        compared = np.isfinite(recorded)
        if mask is not None:
            compared &= mask[:, None]
        if not compared.any():
            return
        apart = np.where(compared, np.abs(np.where(compared, recorded, 0) - computed), 0)
        # A value that the rules cannot give as a number agrees with nothing.
        apart = np.where(np.isnan(apart), np.inf, apart)
        scale = self.scales[rule[1]]
        worst = float(apart.max())
        relative = worst / (self.run.tolerance * scale)
        self.result.residuals[rule] = max(self.result.residuals.get(rule, 0.0), relative)
        if relative > 1:
            rows = apart.max(axis=-1)
            i = None if mask is None else int(np.argmax(rows > self.run.tolerance * scale))
            size = worst if i is None else float(rows[i])
            self.differ(rule, t, k, i, size, scale)

    def differ(self, rule: Rule, t: int, k: int | None, client: int | None, size: float, scale: float) -> None:
        self.result.residuals[rule] = max(self.result.residuals.get(rule, 0.0), size / (self.run.tolerance * scale))
        if self.result.first is None:
            self.result.first = Difference(*rule, t, k, client, size, scale)
        if self.stop:
            raise _Stopped
