"""Audits that die by SIGKILL at every kind of moment: files are whole or absent, and the next run ends the same."""

import json
import os
import signal
import subprocess
import sys
import time
from xml.etree import ElementTree

from marks import slow

from fedaudit.running.store import LEFT_BEHIND

CHEAP = ("buttaci/appA-peterpaul", "buttaci/sec4.4-optimal-E", "buttaci/appA-combination")  # the last one is refuted
KILLED = -signal.SIGKILL


def audit(*ids, jobs=1):
    return ["audit", *ids, "--budget", "0.1", "--jobs", str(jobs), "--json", "--out", "out"]


def timeless(value):
    """Without `seconds`, the one field that is measured by a clock."""
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if k != "seconds"}
    return [timeless(v) for v in value] if isinstance(value, list) else value


def audited(folder):
    return timeless(json.loads((folder / "audit.json").read_text(encoding="utf-8")))


def assert_whole(out):
    """Every file that has its name is complete; what was being written has a name of its own."""
    for path in (p for p in out.rglob("*") if p.is_file()):
        if LEFT_BEHIND.fullmatch(path.name) or path.name == ".lock":
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":
            json.loads(text)
        elif path.suffix == ".svg":
            ElementTree.fromstring(text)
        else:
            assert path.suffix == ".html"
            assert text.rstrip().endswith("</html>")
    for path in out.glob("rows/*.json"):
        assert all((out / name).is_file() for name in json.loads(path.read_text())["files"])


def kill_and_go_on(nursery, argv, folder, kill, whole):
    """Kill an audit, look at what it leaves, let it go on: the files that were left. Rows are not what it is about."""
    first = nursery(argv, folder, kill, shared=True)
    early = kill[0] == "clock" and first["status"] == 0  # on a machine that has become faster since the clock was set
    assert early or first["status"] == KILLED, first
    out = folder / "out"
    if out.exists():
        assert_whole(out)
    left = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    again = nursery(argv, folder, shared=True)
    assert again["status"] == 0, again["said"]
    assert "fedaudit:" not in again["said"]  # nothing was damaged, and no lock was left
    assert_whole(out)
    assert audited(out) == whole
    assert not [p for p in out.rglob("*") if p.suffix == ".part"]
    return left


def same_but_for_the_clock(one, other):
    """Two folders with the same files; certificates and figures to the byte."""
    names = [sorted(p.relative_to(f).as_posix() for p in f.rglob("*") if p.is_file()) for f in (one, other)]
    assert names[0] == names[1]
    for name in names[0]:
        if name.startswith(("certificates/", "figures/")):
            assert (one / name).read_bytes() == (other / name).read_bytes()


def test_three_kills(nursery, tmp_path):
    argv = audit(CHEAP[0])
    whole = nursery(argv, tmp_path / "whole", shared=True)
    assert whole["status"] == 0, whole["said"]
    rows = audited(tmp_path / "whole" / "out")
    last = whole["counts"]["moved"]  # index.html, figure, row, page, audit.json, page with its tree, paper, index.html
    left = [
        kill_and_go_on(nursery, argv, tmp_path / f"{moment}{n}", [moment, n], rows)
        for moment, n in (("part", last - 4), ("whole", last - 3), ("part", last - 1), ("part", last))
    ]
    assert ["audit.json" in names for names in left] == [False, False, True, True]
    assert all("index.html" in names for names in left)  # from the first minute
    assert all(any(name.endswith(".part") for name in names) for names in left)


@slow("an audit and its continuation for each of some forty kills")
def test_kills_at_every_write_and_between(nursery, tmp_path):
    """Every file of the audit, half written, written and moved, audit.json and index.html included; and the work."""
    argv = audit(*CHEAP)
    for name in ("made", "whole"):  # the second one takes rows and figures over: so long is an audit below
        whole = nursery(argv, tmp_path / name, shared=True)
        assert whole["status"] == 0, whole["said"]
    counts, reference = whole["counts"], tmp_path / "whole" / "out"
    same_but_for_the_clock(reference, tmp_path / "made" / "out")
    kills = [[moment, n] for moment in ("part", "whole", "moved", "work") for n in range(1, counts[moment] + 1)]
    assert len(kills) >= 30
    kills += [["clock", round(whole["seconds"] * 1000 * part / 8)] for part in range(8)]
    rows, ends = audited(reference), set()
    for number, kill in enumerate(kills):
        folder = tmp_path / str(number)
        left = kill_and_go_on(nursery, argv, folder, kill, rows)
        same_but_for_the_clock(folder / "out", reference)
        ends |= {name for name in left if name in ("audit.json", "index.html") or name.startswith((".audit", ".index"))}
    assert {name.split(".")[1] for name in ends if name.startswith(".")} >= {"audit", "index"}
    assert {"audit.json", "index.html"} <= ends


@slow("seven audits by real processes")
def test_kills_by_the_clock_of_an_audit_with_workers(nursery, tmp_path):
    """The whole process group at six moments of a real process with two workers; one process goes on from there."""
    argv = audit(*CHEAP, jobs=2)
    command = [sys.executable, "-m", "fedaudit", *argv]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    (tmp_path / "whole").mkdir()
    began = time.monotonic()
    subprocess.run(command, cwd=tmp_path / "whole", check=True, **quiet)
    seconds = time.monotonic() - began
    rows = audited(tmp_path / "whole" / "out")
    for part in range(1, 7):
        folder = tmp_path / str(part)
        folder.mkdir()
        process = subprocess.Popen(command, cwd=folder, start_new_session=True, **quiet)
        try:
            process.wait(seconds * part / 7)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        assert "Traceback" not in process.communicate()[1]
        if (folder / "out").exists():
            assert_whole(folder / "out")
        again = nursery(audit(*CHEAP), folder, shared=True)
        assert (again["status"], "fedaudit:" in again["said"]) == (0, False), again["said"]
        assert audited(folder / "out") == rows
        same_but_for_the_clock(folder / "out", tmp_path / "whole" / "out")
