"""Which module reads the instances of which setting, beside those of runs."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.world import reader

MODULES = {
    "function": "..worlds.function", "scalar": "..worlds.scalar", "noise_sum": "..worlds.noise_sum",
    "network": "..worlds.network", "graph": "..worlds.network", "messages": "..worlds.network",
    "network_limit": "..worlds.limit", "order": "..worlds.order", "meta": "..worlds.meta",
    "samples": "..worlds.samples",
    "erm": "..worlds.minibatch", "table": "..worlds.minibatch", "algorithm": "..worlds.minibatch",
    "subset": "..worlds.minibatch", "prox": "..worlds.envelope", "devices": "..worlds.envelope",
}  # fmt: skip
SETTINGS = ("run", *MODULES)


def inputs(setting: str) -> Mapping[str, str]:
    """Symbols that a world reads whatever the claim says, with the domain that it asks of each."""
    return reader(setting).inputs if setting in SETTINGS else {}
