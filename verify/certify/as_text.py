"""An instance in words: what fails or is closest, where, and on which problem. Numbers are the certificate's own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, cast

from fedaudit.bounds.language.statement import Statement

__all__ = ["words"]

SIZES = {
    "C": "clients",
    "m": "sampled clients",
    "d": "dimensions",
    "E": "local steps",
    "T": "rounds",
    "b": "batch size",
}
LONGEST = 160  # characters of one value
MOST_CLIENTS = 8


def words(certificate: Mapping[str, Any], statement: Statement, holds: bool = False) -> list[str]:
    """The lines: the claim, the index, whether it holds there, both sides, the instance."""
    at = {name: n for name, n in certificate["at"].items() if name != "relation"}
    claim = str(cast("Any", statement.relations)[certificate["at"]["relation"]])
    where = f" at {', '.join(f'{name} = {n}' for name, n in at.items())}" if at else ""
    word = "comes closest" if holds else "fails"
    lines = [f"claimed: {claim}", f"{word}{where}: {certificate['lhs']} against {certificate['rhs']}"]
    steps = not isinstance(statement.method, str) and statement.method.clock == "steps"
    return lines + list(_instance(dict(certificate["instance"]), SIZES | ({"T": "steps"} if steps else {})))


def _instance(instance: dict[str, Any], meanings: Mapping[str, str]) -> Iterator[str]:
    named = list(meanings) if "clients" in instance else []
    sizes = {name: instance.pop(name) for name in named if isinstance(instance.get(name), int)}
    if sizes:
        yield "sizes: " + ", ".join(f"{name} = {n} ({meanings[name]})" for name, n in sizes.items())
    for name in ("constants", "parameters", "values"):
        if held := instance.pop(name, None):
            yield f"{name}: " + ", ".join(f"{symbol} = {_short(x)}" for symbol, x in held.items())
    clients: list[Any] = instance.pop("clients", [])
    weights: list[str] = instance.pop("p", []) if clients else []
    for n, client in enumerate(clients[:MOST_CLIENTS]):
        weight = f" (weight {weights[n]})" if n < len(weights) else ""
        yield f"client {n + 1}{weight}: {_loss(dict(client))}"
    if len(clients) > MOST_CLIENTS:
        yield f"and {len(clients) - MOST_CLIENTS} clients more"
    if "w0" in instance:
        yield f"start: {_vector(instance.pop('w0'))}"
    if "w_star" in instance:
        yield f"minimiser: {_vector(instance.pop('w_star'))}"
    if instance.get("noise") == {"kind": "none"}:
        instance.pop("noise")
    yield from (f"{name}: {_short(x)}" for name, x in instance.items())


def _loss(client: dict[str, Any]) -> str:
    kind = client.pop("kind", "loss")
    if kind == "quadratic" and len(client["b"]) == 1:
        a, b = Fraction(client["A"][0][0]) / 2, -Fraction(client["b"][0])
        parts = [_times(x, power) for x, power in ((a, "w^2"), (b, "w")) if x] or ["0"]
        return f"f(w) = {' + '.join(parts).replace('+ -', '- ')}"
    if kind == "quadratic":
        return f"f(w) = w'Aw/2 - b'w, A = {_short(client['A'])}, b = {_short(client['b'])}"
    return f"{kind}, " + ", ".join(f"{name} = {_short(x)}" for name, x in client.items())


def _times(x: Fraction, power: str) -> str:
    return power if x == 1 else f"-{power}" if x == -1 else f"{x} {power}"


def _vector(x: Any) -> str:
    return f"w = {x[0]}" if len(x) == 1 else f"w = ({', '.join(x)})"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value).replace('"', "")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
