"""A run written down while it goes on, for loops that would rather not keep arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from .recording import Array

__all__ = ["RunLog"]


@dataclass(slots=True)
class RunLog:
    """What a training loop tells of itself; `arrays()` is the recorded run. Rounds, steps and clients count from 0.

    >>> import fedaudit as fa
    >>> log = fa.RunLog(clients=2)
    >>> log.server(0, x=[1.0])
    >>> log.drawn(0, [1])
    >>> log.client(0, 1, 0, y=[1.0])
    >>> log.client(0, 1, 1, y=[0.5])
    >>> log.server(1, x=[0.5])
    >>> log.arrays()["y"][0, :, 1].tolist()
    [[1.0], [0.5]]
    """

    clients: int
    _server: dict[str, dict[int, Array]] = field(default_factory=dict[str, dict[int, Array]])
    _steps: dict[str, dict[tuple[int, int, int], Array]] = field(
        default_factory=dict[str, dict[tuple[int, int, int], Array]]
    )
    _ends: dict[str, dict[tuple[int, int], Array]] = field(default_factory=dict[str, dict[tuple[int, int], Array]])
    _drawn: dict[int, list[int]] = field(default_factory=dict[int, list[int]])

    def server(self, t: int, **vectors: ArrayLike) -> None:
        """The server's vectors before round t; after the last round, t is the number of rounds."""
        for name, value in vectors.items():
            self._server.setdefault(name, {})[t] = _flat(value)

    def client(self, t: int, i: int, k: int, **vectors: ArrayLike) -> None:
        """A client's vectors after k local steps of round t; k = 0 is when the round has reached it."""
        for name, value in vectors.items():
            self._steps.setdefault(name, {})[t, k, i] = _flat(value)

    def ended(self, t: int, i: int, **vectors: ArrayLike) -> None:
        """A client's vectors at the end of round t."""
        for name, value in vectors.items():
            self._ends.setdefault(name, {})[t, i] = _flat(value)

    def drawn(self, t: int, clients: Iterable[int]) -> None:
        """Who takes part in round t, in the order in which they are added up."""
        self._drawn[t] = list(clients)

    def arrays(self) -> dict[str, Array]:
        """The run as `conform` reads it."""
        T = max((t for times in self._server.values() for t in times), default=0)
        whole: dict[str, Array] = {}
        for name, times in self._server.items():
            whole[name] = _filled((T + 1,), {(t,): x for t, x in times.items()})
        for name, at in self._steps.items():
            whole[name] = _filled((T, 1 + max(k for _, k, _ in at), self.clients), at)
        for name, at in self._ends.items():
            whole[name] = _filled((T, self.clients), at)
        if self._drawn:
            whole["sampled"] = np.zeros((T, self.clients))
            whole["first"] = np.zeros(T)
            for t, clients in self._drawn.items():
                np.add.at(whole["sampled"][t], clients, 1)
                whole["first"][t] = clients[0] if clients else 0
        return whole


def _flat(value: ArrayLike) -> Array:
    """One vector of numbers from one array, or from several in their order."""
    parts = cast("list[ArrayLike]", value) if isinstance(value, list | tuple) else []
    if any(np.ndim(part) for part in parts):
        return np.concatenate([np.ravel(np.asarray(part, dtype=float)) for part in parts])
    # A copy, for the loop may go on in the same array.
    return np.ravel(np.asarray(value, dtype=float)).copy()


def _filled(shape: tuple[int, ...], entries: Mapping[tuple[int, ...], Array]) -> Array:
    size = len(next(iter(entries.values())))
    array = np.full((*shape, size), np.nan)
    for at, value in entries.items():
        array[at] = value
    return array
