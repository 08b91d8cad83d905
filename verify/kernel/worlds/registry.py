"""Which module reads the instances of which setting; it is loaded when a certificate asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from ..core.world import Reader

HOMES = {  # setting -> module
    "run": "..runs.run", "function": ".function", "scalar": ".scalar", "noise_sum": ".noise_sum",
    "network": ".network", "graph": ".network", "messages": ".network", "network_limit": ".limit", "order": ".order",
    "meta": ".meta", "samples": ".samples", "erm": ".minibatch", "table": ".minibatch", "algorithm": ".minibatch",
    "subset": ".minibatch", "prox": ".envelope", "devices": ".envelope",
}  # fmt: skip


def reader(setting: str) -> Reader:
    """How instances of a setting are read."""
    return import_module(HOMES[setting], __package__).WORLDS[setting]


def inputs(setting: str) -> Mapping[str, str]:
    """Symbols that a world reads whatever the claim says, with the domain that it asks of each."""
    return reader(setting).inputs if setting in HOMES else {}
