"""One outcome of a method, round by round: noise and participation are drawn by the caller, vectors are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..arrays.array_checks import Array, quiet
from .all_paths import AllPaths
from .recorder import RoundByRound, Values, lists
from .rule_values import Scope, scope_of
from .setup import Place, Setup
from .walk import Ends, Recorder, by_rounds

__all__ = ["Trajectory", "follow"]


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """Measures (n, T + 1), (n, T + 1, C), (n, T, E + 1) or (n, T, E + 1, C), and the server's vectors (n, T + 1, d)."""

    measures: Mapping[str, Array]
    vectors: Mapping[str, Array]


@dataclass(frozen=True, slots=True, eq=False)
class Drawn(AllPaths):
    """One outcome, whose noise, participants and coins are drawn by functions."""

    noise: Callable[[int, int], Array] = field(kw_only=True)
    participants: Callable[[int], Array] = field(kw_only=True)
    uniform: Callable[[int], Array] = field(kw_only=True)

    def drawn(self, place: Place) -> Place:
        scope = self.scope
        if place.t == scope.setup.T:
            return place.moved(counts=None)
        counts = self.participants(place.t)
        if scope.rules.coin < 0:
            return place.moved(counts=counts)
        chance = scope.here(scope.rules.coin, place)
        below = self.uniform(place.t) < (chance if isinstance(chance, float) else chance[..., 0])
        return place.moved(counts=counts, heads=scope.xp.astype(below, scope.xp.float64))

    def reached(self, place: Place) -> Place:
        return place.moved(kick=self.noise(place.t, place.k))


@dataclass(slots=True, eq=False)
class Vectors(Recorder):
    """Measures, and the vectors of the server."""

    scope: Scope
    each: RoundByRound
    tell: Callable[[int], None]
    kept: Values = field(init=False)

    def __post_init__(self) -> None:
        self.kept = lists(self.scope.rules.server)

    def between(self, place: Place) -> None:
        for name, vectors in self.kept.items():
            vectors.append(self.scope.xp.broadcast_to(place.state[name][0, :, 0, :], self.scope.setup.start.shape))
        self.each.between(place)

    def inside(self, place: Place) -> None:
        self.each.inside(place)

    def closed(self, place: Place) -> None:
        self.each.closed(place)
        self.tell(place.t + 1)


def follow(
    method: Mapping[str, object],
    setup: Setup,
    noise: Callable[[int, int], Array],
    participants: Callable[[int], Array],
    uniform: Callable[[int], Array],
    tell: Callable[[int], None],
) -> Trajectory:
    """A run whose noise (1, n, C, d), or None, is `noise(t, k)`; each client takes part `participants(t)` times.

    `participants` gives (1, n, C), or None where all take part; `uniform` numbers (1, n) from 0 to 1, below the chance
    of heads where a coin shows them; `tell` hears how many rounds are done.
    """
    scope = scope_of(method, setup)
    law, measures = Drawn(scope, noise=noise, participants=participants, uniform=uniform), scope.rules.measures
    ends = Ends.never(setup, measures)
    recorder = Vectors(scope, RoundByRound(measures, law.mean, ends, scope.xp), tell)
    with quiet(scope.xp):
        by_rounds(law, recorder, ends)
        vectors = {name: scope.xp.stack(values, axis=1) for name, values in recorder.kept.items()}
        return Trajectory(recorder.each.measured(), vectors)
