"""What several test files share."""

from __future__ import annotations

from typing import Any

from fedaudit.verify import kernel


def free_claim(setting: str, quantity: str, index: int = 0, **domains: str) -> dict[str, Any]:
    """A claim of no statement, quantity(index) <= 1: with it the kernel reads any instance of the setting.

    `domains` are those of other names that the instance gives.
    """
    return {
        "id": "test/free", "kind": "inequality", "setting": setting, "let": [], "implicit": [], "choose": {},
        "when": [], "for_all": {}, "then": [["<=", ["at", quantity, index], 1]],
        "domains": {quantity: "real", **kernel.inputs(setting), **domains},
    }  # fmt: skip
