"""The command line as processes, on real statements with small budgets: rows, workers, kills, certificates.

Where only the answer matters, the process is forked from one that has imported everything (`forked`).
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from marks import slow

from fedaudit.verify.results.file_names import slug

QUICK = ("buttaci/appA-peterpaul", "buttaci/sec4.4-optimal-E", "buttaci/appA-combination")  # the last one is refuted
SAME = slow("the same with one process; tests/front/test_kills.py kills one at other moments")
TRIED = {"id", "verdict", "evidence", "instances", "tightness", "sizes", "certificate", "seconds", "seed"}
AUDITED = TRIED - {"instances", "seconds", "seed"} | {"lint", "derive", "verify", "hunt", "implicit"}
OWN = """
from dataclasses import replace
from sympy import Le
from fedaudit.bounds.catalogue.discovery import statement


def weakened(identifier):
    printed = statement(identifier)
    (relation,) = printed.relations
    return replace(printed, id="mine/broken", then=Le(relation.lhs, relation.rhs * 9 / 10))


BROKEN = weakened("buttaci/lem4.1")
"""


PROGRESS = re.compile(r"\w+: \d+ of \d+ done(, about \d+ (s|min) left)?(, running .+)?")


def command(*argv):
    return [sys.executable, "-m", "fedaudit", *map(str, argv)]


def fedaudit(*argv, cwd, **env):
    done = subprocess.run(
        command(*argv), cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def forked(nursery):
    def run(*argv, cwd, shared=False):
        done = nursery([*map(str, argv)], cwd, shared=shared)
        assert "Traceback" not in done["said"]
        return subprocess.CompletedProcess(argv, done["status"], done["shown"], done["said"])

    return run


def complaints(stderr):
    """Without the lines that say how far the work is."""
    return [line for line in stderr.splitlines() if not PROGRESS.fullmatch(line)]


def timeless(value):
    """Without `seconds`, the one field that is measured by a clock."""
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if k != "seconds"}
    return [timeless(v) for v in value] if isinstance(value, list) else value


def audited(folder):
    return timeless(json.loads((folder / "audit.json").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def whole(nursery, tmp_path_factory):
    """An audit that nothing disturbed, by one process; every interpreter has a hash seed of its own.

    Its rows are what `shared` takes over for the statements that a disturbed audit had not finished.
    """
    folder = tmp_path_factory.mktemp("whole")
    argv = ["audit", *QUICK, "--budget", "0.1", "--jobs", "1", "--json", "--out", "out"]
    done = nursery(argv, folder, shared=True)
    assert done["status"] == 0, done["said"]
    return folder / "out", json.loads(done["shown"])


@pytest.mark.parametrize("move", ["verify", "hunt"])
def test_tried_rows_have_the_fields_of_the_contract(forked, tmp_path, move):
    done = forked(move, "buttaci/lemB.1-kappa", "--budget", 0.1, "--seed", 5, "--json", cwd=tmp_path)
    (row,) = json.loads(done.stdout)
    assert set(row) >= TRIED
    assert row["verdict"] in ("survived", "proved", "refuted", "undecided")
    assert row["evidence"] in ("proof", "exact", "statistical", "numerical")
    assert row["instances"] > 0
    assert row["seed"] == 5
    assert (done.returncode, complaints(done.stderr)) == (0, [])


def test_lint_and_derive_rows_have_the_fields_of_the_contract(forked, tmp_path):
    (row,) = json.loads(forked("lint", "buttaci/lemB.1-kappa", "--json", cwd=tmp_path).stdout)
    assert set(row) >= {"id", "findings"}
    (row,) = json.loads(forked("derive", "buttaci/lemB.1-kappa", "--json", cwd=tmp_path).stdout)
    assert set(row) >= {"id", "status", "factor"}
    assert row["status"] in ("follows", "claims-more", "claims-less", "not-derived")


def test_an_audit_writes_rows_figures_and_the_page(whole):
    folder, rows = whole
    assert [row["id"] for row in rows] == list(QUICK)
    assert all(set(row) >= AUDITED | {"repaired"} for row in rows)
    assert audited(folder)["statements"] == timeless(rows)
    assert (folder / "index.html").stat().st_size > 10_000
    assert {p.stem for p in folder.glob("pages/*.html")} == {slug(row["id"]) for row in rows}
    assert all((folder / row["figure"]).read_text().startswith("<?xml") for row in rows if row["figure"])
    assert any(row["figure"] for row in rows)
    assert list(folder.rglob("*.part")) == []


@slow("the same as the killed audit of two workers below, which has another hash seed too; and its figures")
def test_jobs_and_hash_seeds_never_change_the_output(whole, tmp_path):
    fedaudit("audit", *QUICK, "--budget", 0.1, "--jobs", 2, "--out", "out", cwd=tmp_path, PYTHONHASHSEED="2")
    assert audited(tmp_path / "out") == audited(whole[0])
    for row in whole[1]:
        if row["figure"]:
            assert (tmp_path / "out" / row["figure"]).read_bytes() == (whole[0] / row["figure"]).read_bytes()


def wait_for_rows(folder, process, count=1):
    """Until the audit has kept `count` rows. Fails if it ends before."""
    while len(list(Path(folder).glob("rows/*.json"))) < count:
        assert process.poll() is None, "the audit ended before it could be disturbed"
        time.sleep(0.01)


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=SAME), 2])
def test_a_killed_audit_goes_on_and_ends_the_same(whole, forked, tmp_path, jobs):
    """By one process where two workers were killed, and by two where it was one."""
    argv = ("audit", *QUICK, "--budget", 0.1, "--out", "out")
    held, ours = os.pipe()  # closed by the last process that inherits it
    quiet = {"stdout": subprocess.DEVNULL, "stderr": ours}
    process = subprocess.Popen(command(*argv, "--jobs", jobs), cwd=tmp_path, **quiet)
    os.close(ours)
    wait_for_rows(tmp_path / "out", process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with open(held) as stderr:
        assert "Traceback" not in stderr.read()  # ends when the workers have ended as well
    assert not (tmp_path / "out" / "audit.json").exists()
    kept = {p: p.stat().st_mtime_ns for p in (tmp_path / "out" / "rows").glob("*.json")}
    done = forked(*argv, "--jobs", 3 - jobs, cwd=tmp_path, shared=True)
    assert (done.returncode, complaints(done.stderr)) == (0, [])
    assert audited(tmp_path / "out") == audited(whole[0])
    assert all(p.stat().st_mtime_ns == before for p, before in kept.items())  # taken over, not done again


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=slow("two workers that import everything"))])
def test_ctrl_c_keeps_what_is_finished(whole, forked, tmp_path, jobs):
    argv = command("audit", *QUICK, "--budget", 0.1, "--jobs", jobs, "--out", "out")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(argv, cwd=tmp_path, start_new_session=True, **pipes)
    wait_for_rows(tmp_path / "out", process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to workers as well
    out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    (line,) = complaints(err)
    assert line.startswith("fedaudit: interrupted")
    assert "do: run the same command again" in line
    argv = ("audit", *QUICK, "--budget", 0.1, "--jobs", jobs, "--out", "out")
    assert forked(*argv, cwd=tmp_path, shared=True).returncode == 0
    assert audited(tmp_path / "out") == audited(whole[0])


@pytest.fixture(scope="module")
def broken(nursery, tmp_path_factory):
    """A user's own file with lemma 4.1 made 10 % too strong, and what hunt says about it."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "mine.py").write_text(OWN)
    argv = ["hunt", "mine.py", "--budget", "1", "--out", "found", "--json", "--fail-on", "refuted"]
    done = nursery(argv, folder)
    return folder, subprocess.CompletedProcess(argv, done["status"], done["shown"], done["said"])


def test_a_broken_statement_of_ones_own_is_refuted_and_certified(broken, forked):
    folder, done = broken
    (row,) = json.loads(done.stdout)
    assert (row["id"], row["verdict"], done.returncode) == ("mine/broken", "refuted", 1)
    again = forked("certify", "mine.py", f"found/{row['certificate']}", "--json", cwd=folder)
    (checked,) = json.loads(again.stdout)
    assert (again.returncode, checked["accepted"], checked["id"]) == (0, True, "mine/broken")
    assert forked("certify", "mine.py", "found", cwd=folder).returncode == 0
    unknown = forked("certify", "found", cwd=folder)
    assert unknown.returncode == 2
    assert "mine/broken" in unknown.stderr


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"lhs": "0"}, 1),  # not the value that the replay finds
        ({"statement": "buttaci/lem4.1"}, 2),  # not the statement of its claim
        ({"lhs": 0.5}, 2),  # not a rational
        ({"lhs": "1/0"}, 2),
        ({"instance": {}}, 2),
        ({"instance": None}, 2),
        ({"at": {"relation": 10**9}}, 2),
        ({"format": "fedaudit-certificate/99"}, 2),
        ({"more": 1}, 2),
    ],
)
def test_a_changed_certificate_is_rejected_or_malformed(broken, forked, tmp_path, change, status):
    folder, done = broken
    good = json.loads((folder / "found" / json.loads(done.stdout)[0]["certificate"]).read_text())
    (tmp_path / "changed.json").write_text(json.dumps({**good, **change}))
    again = forked("certify", folder / "mine.py", "changed.json", cwd=tmp_path)
    assert again.returncode == status
    assert (again.stderr.count("\n"), again.stdout == "") == ((1, True) if status == 2 else (0, False))


def test_a_certificate_for_a_weaker_claim_is_rejected(broken, forked, tmp_path):
    """Whoever writes the claim into the file does not get to choose what the statement says."""
    folder, done = broken
    good = json.loads((folder / "found" / json.loads(done.stdout)[0]["certificate"]).read_text())
    forged = {**good, "statement": "buttaci/lem4.1", "claim": {**good["claim"], "id": "buttaci/lem4.1"}}
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    again = forked("certify", "forged.json", "--json", cwd=tmp_path)
    assert again.returncode == 1
    assert json.loads(again.stdout)[0]["accepted"] is False
    assert "catalogue" in json.loads(again.stdout)[0]["reason"]


def test_cupy_without_a_device_is_one_line(tmp_path):
    done = fedaudit("verify", "buttaci/lem4.1", "--backend", "cupy", cwd=tmp_path)
    if done.returncode == 0:
        pytest.skip("this machine has a CUDA device")
    assert (done.returncode, len(complaints(done.stderr))) == (2, 1)
    assert "cupy" in done.stderr


DRAWN = [("buttaci/lemB.1-kappa", suffix) for suffix in ("svg", "pdf", "png")]
MORE = [(f"buttaci/{label}", suffix) for label in ("thm4.1-I", "thm4.2") for suffix in ("png", "svg", "pdf")]


@pytest.mark.parametrize(
    ("name", "suffix"),
    [*DRAWN, *(pytest.param(*case, marks=slow("the same again")) for case in MORE)],
)
def test_plot_writes_a_picture(forked, tmp_path, name, suffix):
    done = forked("plot", name, "--out", f"a.{suffix}", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    written, drawn = done.stdout.splitlines()
    assert written == f"a.{suffix}"
    assert " = " in drawn  # what was drawn, with its constants
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]
    assert (tmp_path / f"a.{suffix}").read_bytes().startswith(start)


DEADLY = """
import multiprocessing
import os
import signal

if multiprocessing.parent_process() is not None:
    os.kill(os.getpid(), signal.SIGKILL)

from dataclasses import replace

from fedaudit.bounds.catalogue.discovery import statement

MINE = replace(statement("buttaci/lem4.1"), id="mine/deadly")
"""


def test_a_worker_that_dies_costs_its_statement_and_no_other(forked, tmp_path):
    (tmp_path / "deadly.py").write_text(DEADLY)
    done = forked("lint", "deadly.py", *QUICK[:2], "--jobs", 2, "--json", cwd=tmp_path)
    rows = json.loads(done.stdout)
    assert (done.returncode, [row["id"] for row in rows]) == (1, ["mine/deadly", *QUICK[:2]])
    assert len(complaints(done.stderr)) == 1
    assert "the tool failed on mine/deadly: its worker process ended" in done.stderr
    assert [row["findings"] for row in rows[1:]] == [[], []]
