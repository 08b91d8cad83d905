"""`certify --explain` says what an accepted certificate must trust, part by part."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from places import TESTS

from fedaudit.cli import main

HERE = TESTS
RUN = HERE / "certificates" / "run" / "scaffold-descent.json"
SCAFFOLD = HERE.parent / "examples" / "scaffold.py"
PARTS = ["counterexample", "kernel", "method", "assumptions", "conditions", "both sides"]


def test_the_parts_of_a_run_are_printed_with_their_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", "--explain", str(RUN), str(SCAFFOLD)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines if line.split(":")[0] in PARTS] == PARTS
    data = json.loads(RUN.read_text())
    assert f"  holds: smooth(L = {data['instance']['constants']['L']})  [every f_i is L-smooth]" in lines
    assert "c_i <- c_i - c + (x - y)/(E*gamma(t))" in [line.strip() for line in lines]
    assert f"  left side: {data['lhs']}" in lines
    assert f"  right side: {data['rhs']}" in lines


def test_only_the_modules_that_are_used_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", "--explain", "--json", str(RUN), str(SCAFFOLD)]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    layers = [line.removeprefix("verify/kernel/").partition(": ") for line in row["explain"]["kernel"][:-1]]
    assert [layer for layer, _, _ in layers] == ["core"]
    named = {f"{layer}/{file.split()[0]}" for layer, _, files in layers for file in files.split(", ")}
    assert {"core/check.py", "core/run.py", "core/method.py", "core/loss.py", "core/expression.py"} <= named
    assert not {"worlds/meta.py", "worlds/network.py", "worlds/order.py"} & named
    folder = HERE.parent / "verify" / "kernel"
    total = sum(len((folder / name).read_text().splitlines()) for name in named)
    assert row["explain"]["kernel"][-1].startswith(f"together {total} lines")


def test_every_assumption_and_condition_of_the_claim_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    path = HERE / "certificates" / "run" / "buttaci-lemC.2.json"
    claim = json.loads(path.read_text())["claim"]
    assert main(["certify", "--explain", "--json", str(path)]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert len(row["explain"]["assumptions"]) == len(claim["let"]) + len(claim["implicit"])
    assert len(row["explain"]["conditions"]) == len(claim["when"])
    assert all(line.startswith(("holds", "not required")) for line in row["explain"]["assumptions"])


def test_what_is_not_accepted_is_not_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(RUN.read_text())
    data["lhs"] = "1"
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(data))
    assert main(["certify", "--explain", "--json", str(wrong), str(SCAFFOLD)]) == 1
    (row,) = json.loads(capsys.readouterr().out)
    assert "explain" not in row
