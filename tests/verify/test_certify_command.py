"""`fedaudit certify`: whatever it is given, it answers within its limits, in one line per certificate, and goes on."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import hostile
import pytest
from marks import slow, some

from fedaudit import cli
from fedaudit.bounds.catalogue.discovery import catalogue
from fedaudit.errors import UserError
from fedaudit.verify.certify import command as certificates
from fedaudit.verify.certify import sandbox as child
from fedaudit.verify.certify.command import certify
from fedaudit.verify.certify.sandbox import Answer, Checker, Limit
from fedaudit.verify.kernel.__main__ import main as kernel

GOOD = hostile.golden("yuan-thm1")
WEAK = hostile.golden("benmansour-eq15~same-iterates.without-nonnegative_weights")
OWN_KERNEL = True  # how it starts, ends, and is killed
SECONDS = 10  # within which a certificate has to be answered


def fedaudit(*argv: object) -> list[str]:
    return [sys.executable, "-P", "-m", "fedaudit", *map(str, argv)]


def save(path: Path, data: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, separators=(",", ":")), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def checker():
    with Checker() as made:
        yield made


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The command line in this process and an empty folder: status, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def called(*argv: object) -> tuple[int, str, str]:
        status = cli.main(["certify", *map(str, argv)])
        out, err = capsys.readouterr()
        return status, out, err

    return called


@pytest.fixture
def one_kernel(checker: Checker, monkeypatch: pytest.MonkeyPatch) -> None:
    """All commands ask one process, where only the answers matter."""
    monkeypatch.setattr(certificates, "Checker", lambda *_: nullcontext(checker))


@pytest.fixture
def accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that accepts everything."""
    monkeypatch.setattr(Checker, "ask", lambda *_: Answer("accepted", "", "2", "1"))


# --- limits ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def impatient():
    """With limits far below the real ones, which a loaded machine is held to as well."""
    with Checker(Limit(1, 0.5)) as made:
        made.ask(GOOD)  # start it
        yield made


@pytest.mark.parametrize("name", hostile.EXPENSIVE)
def test_an_expensive_certificate_is_answered(name: str, impatient: Checker) -> None:
    data = hostile.EXPENSIVE[name]()
    assert len(json.dumps(data, separators=(",", ":"))) < 1_000_000
    began = time.monotonic()
    answer = impatient.ask(data)
    assert time.monotonic() - began < SECONDS
    assert answer.outcome in ("rejected", "malformed")
    assert impatient.ask(GOOD).outcome == "accepted"  # it goes on


# Linux counts what a process held before `exec` as its own: a large one that starts the command would be measured too.
MEASURED = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([done.returncode, done.stdout, done.stderr, used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""


@slow("each takes what the limits of the command allow")
@pytest.mark.parametrize("name", hostile.EXPENSIVE)
def test_an_expensive_certificate_is_answered_by_the_command(name: str, tmp_path: Path) -> None:
    """The whole command: processor time, which other programs do not add to, and memory of the largest process."""
    (tmp_path / "mine.py").write_text(hostile.OWN)
    save(tmp_path / "one.json", hostile.EXPENSIVE[name]())
    argv = [sys.executable, "-c", MEASURED, *fedaudit("certify", "mine.py", "one.json", "--json")]
    measured = subprocess.run(argv, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True)
    status, out, err, seconds, memory = json.loads(measured.stdout)
    (row,) = json.loads(out)
    misspelt = name == "a left side of 100,000 digits and an x"  # no certificate at all
    assert (status, row["accepted"], row["malformed"]) == (2 if misspelt else 1, False, misspelt)
    assert bool(err) is misspelt
    assert seconds < SECONDS
    assert memory < 1.1e6  # kB


def test_too_long_says_how_to_go_on(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import time\nfrom fedaudit.verify.kernel.service import serve\n"
    code += "serve.check = lambda *_: time.sleep(9)\nserve.main()"
    monkeypatch.setattr(child, "COMMAND", (sys.executable, "-P", "-c", code))
    save(tmp_path / "long.json", GOOD)
    status, out, err = run("long.json", "--limit", "0.5", "--json")
    assert (status, err) == (1, "")
    said = "too large to check: needs more than 0.5 s; do: certify --limit SECONDS[,GB]"
    assert json.loads(out)[0]["reason"] == said


NO_MEMORY = "too large to check: needs more than 0.1 GB; do: certify --limit SECONDS[,GB]"
EATER = "x = []\nwhile True: x.append(bytearray(1 << 20))"
CRASHES = {  # what a check may do instead of answering -> what is said
    "EATER": NO_MEMORY,
    "while True: pass": "too large to check: needs more than 1 s; do: certify --limit SECONDS[,GB]",
    "os.abort()": "the check crashed, which accepts nothing: SIGABRT",
    "os.kill(os.getpid(), signal.SIGSEGV)": "the check crashed, which accepts nothing: SIGSEGV",
    "os.kill(os.getpid(), signal.SIGKILL)": NO_MEMORY,
    "os._exit(0)": "the check crashed, which accepts nothing: status 0",
    "os._exit(5)": "the check crashed, which accepts nothing: status 5",
    "from flint import fmpz; fmpz(2) ** (1 << 36)": NO_MEMORY,  # FLINT aborts
    "os.kill(os.getppid(), signal.SIGKILL)": "the check crashed, which accepts nothing: the kernel's process ended",
    "raise RecursionError": "the check crashed, which accepts nothing: RecursionError: nested too deeply",
    "raise MemoryError": NO_MEMORY,
    "raise KeyError('x')": "the check crashed, which accepts nothing: KeyError: \"'x'\"",
    "1 / 0": "the check crashed, which accepts nothing: ZeroDivisionError: 'division by zero'",
    "os.write(1, b'accepted'); os.abort()": "the check crashed, which accepts nothing: SIGABRT (accepted)",
}


@pytest.mark.parametrize("does", CRASHES)
def test_a_crash_is_a_rejection_that_says_so(does: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = EATER if does == "EATER" else does
    code = "import os, signal, sys\nfrom fedaudit.verify.kernel.service import serve\ndef check(*_):\n"
    code += "".join(f"    {line}\n" for line in body.splitlines())
    code += "serve.check = check\nsys.exit(serve.main())\n"
    monkeypatch.setattr(child, "COMMAND", (sys.executable, "-P", "-c", code))
    with Checker(Limit(1, 0.1)) as asked:
        answers = [asked.ask(GOOD), asked.ask(GOOD)]  # the second by a process of its own, whatever befell the first
    assert {answer.outcome for answer in answers} == {"rejected"}
    for answer in answers:
        assert answer.reason.startswith(CRASHES[does])


def test_answers_do_not_depend_on_what_was_asked_before(checker: Checker) -> None:
    first = checker.ask(GOOD)
    assert checker.ask({**GOOD, "lhs": "2"}).outcome == "rejected"
    assert checker.ask([]).outcome == "malformed"
    assert checker.ask(GOOD) == first


def test_data_that_is_no_json_is_malformed(checker: Checker) -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for data in (deep, {"a": {1, 2}}, object(), "x" * 5_000_000):
        assert checker.ask(data).outcome == "malformed"
    assert checker.ask("\ud800").outcome == "malformed"
    assert checker.ask(float("nan")).outcome == "malformed"


def below(process: int) -> set[int]:
    """All processes that a process has started, and those that they have."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            after = entry.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents.setdefault(int(after[1]), []).append(int(entry.parent.name))
    found, todo = set[int](), [process]
    while todo:
        fresh = [one for one in parents.get(todo.pop(), []) if one not in found]
        found.update(fresh)
        todo += fresh
    return found


def alive(process: int) -> bool:
    return Path(f"/proc/{process}").exists()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    "how", some([signal.SIGINT, signal.SIGTERM, signal.SIGKILL], 3, "the same with another signal")
)
def test_no_process_is_left_behind(how: signal.Signals, tmp_path: Path) -> None:
    slow = "import time\nfrom fedaudit.verify.kernel.service import serve\n"
    slow += "serve.check = lambda *_: time.sleep(600)\nserve.main()"
    code = "import sys\nfrom fedaudit import cli\nfrom fedaudit.verify.certify import sandbox as child\n"
    code += f"child.COMMAND = (sys.executable, '-c', {slow!r})\n"
    code += "sys.exit(cli.main(sys.argv[1:]))"
    save(tmp_path / "one.json", GOOD)
    argv = [sys.executable, "-P", "-c", code, "certify", "one.json", "--limit", "300"]
    process = subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while len(started := below(process.pid)) < 2:  # the kernel's process and its child
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)
    time.sleep(0.2)
    process.send_signal(how)
    out, err = process.communicate(timeout=30)
    if how == signal.SIGINT:
        assert (process.returncode, out) == (130, "")
        assert err.startswith("fedaudit: interrupted")
        assert err.count("\n") == 1
    until = time.monotonic() + 10
    while any(map(alive, started)):
        assert time.monotonic() < until, "processes are left behind"
        time.sleep(0.05)


def test_the_kernels_process_ends_with_its_block() -> None:
    with Checker() as asked:
        asked.ask(GOOD)
        process = asked._process
        assert process is not None
        assert process.poll() is None
    assert process.poll() == 0


def test_modules_of_the_current_folder_are_not_imported(run, tmp_path: Path) -> None:
    """A stranger's folder with a flint.py in it."""
    for name in ("flint.py", "json.py", "resource.py"):
        (tmp_path / name).write_text("open('ran', 'w').close()\n")
    save(tmp_path / "one.json", GOOD)
    assert run("one.json")[0] == 0
    assert not (tmp_path / "ran").exists()


# --- what a counterexample says --------------------------------------------------------------------------------------


def test_a_refutation_and_a_literal_reading_are_told_apart(checker: Checker) -> None:
    row = certify(GOOD, "here", checker=checker)
    assert (row["accepted"], row["what"], row["dropped"]) == (True, "refutation", [])
    assert {"id", "file", "accepted", "reason", "lhs", "rhs", "dropped"} <= set(row)
    row = certify(WEAK, "here", checker=checker)
    assert (row["accepted"], row["what"]) == (True, "literal reading without nonnegative_weights")


EXPERIMENTS = [s.id for s in catalogue().values() if s.kind == "experiment"]
NO_RATE = [s.id for s in catalogue().values() if s.kind == "order" and s.method not in ("order", "network_limit")]
EXISTS = [s.id for s in catalogue().values() if s.kind == "exists"]


@pytest.mark.usefixtures("accepts")
@pytest.mark.parametrize("identifier", EXPERIMENTS)
def test_an_experiment_is_not_refuted_by_an_instance(identifier: str) -> None:
    row = certify(hostile.of(identifier, {}), "here")
    assert not row["accepted"]
    assert "claim: got a counterexample to an experiment, expected" in row["reason"]


@pytest.mark.usefixtures("accepts")
@pytest.mark.parametrize("identifier", NO_RATE)
def test_a_claim_without_a_rate_is_not_refuted_by_a_reading(identifier: str) -> None:
    row = certify(hostile.of(identifier, {}), "here")
    assert (row["accepted"], row["what"]) == (False, "explicit rate of a reading")
    assert "rejected as a refutation" in row["reason"]


@pytest.mark.usefixtures("accepts")
@pytest.mark.parametrize("identifier", EXISTS)
def test_a_witness_that_fails_refutes_nothing(identifier: str) -> None:
    row = certify(hostile.of(identifier, {}), "here")
    assert (row["accepted"], row["what"]) == (False, "witness fails")


@pytest.mark.usefixtures("accepts")
@pytest.mark.parametrize("identifier", ["buttaci/lemB.1-kappa", "buttaci/lemC.1-kappa", "buttaci/def3.2-identity"])
def test_a_counterexample_to_what_is_proved_is_said_to_be_a_contradiction(identifier: str, run, tmp_path: Path) -> None:
    save(tmp_path / "one.json", hostile.of(identifier, {}))
    status, out, _ = run("one.json", "--json")
    (row,) = json.loads(out)
    assert (status, row["accepted"], row["what"]) == (1, False, "contradiction")
    assert "one of them is wrong; report this" in row["reason"]


@pytest.mark.usefixtures("accepts")
def test_what_only_follows_from_premises_is_no_contradiction() -> None:
    assert certify(hostile.of("buttaci/prop3.2~repaired", {}), "here")["what"] == "refutation"


@pytest.mark.usefixtures("one_kernel")
def test_step_sizes_below_zero_refute_no_proved_lemma(run, tmp_path: Path) -> None:
    """gamma = -1 once made 5 <= 2 out of lemma B.1's kappa."""
    for name in ("lemB.1-kappa", "lemC.1-kappa"):
        values = {"alpha": "1", "beta": "1", "mu": "1", "L": "1", "E": "2", "T": "1"}
        made = hostile.of(
            f"buttaci/{name}", {"values": values, "quantities": {"gamma": ["-1"]}}, {"relation": 0, "t": 0}
        )
        save(tmp_path / f"{name}.json", {**made, "lhs": "5", "rhs": "2"})
        assert run(f"{name}.json")[0] != 0


def test_the_claim_is_compared_before_the_kernel_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> Answer:
        raise AssertionError

    monkeypatch.setattr(Checker, "ask", never)
    claim = GOOD["claim"]
    for other in ({**claim, "when": []}, {**claim, "then": claim["then"] * 1000}, {**claim, "more": [[[1.0]]]}):
        row = certify({**GOOD, "claim": other}, "here")
        assert (row["accepted"], row["malformed"]) == (False, False)
        assert "the catalogue's" in row["reason"]


# --- batches ---------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("one_kernel")
def test_one_bad_file_does_not_end_a_batch(run, tmp_path: Path) -> None:
    save(tmp_path / "good.json", GOOD)
    save(tmp_path / "false.json", {**GOOD, "lhs": "2"})
    (tmp_path / "bad.json").write_text("{")
    status, out, err = run("bad.json", "good.json", "none.json", "false.json", "--json")
    rows = json.loads(out)
    assert status == 2
    assert [row["accepted"] for row in rows] == [False, True, False, False]
    assert [row["malformed"] for row in rows] == [True, False, True, False]
    assert all(row["accepted"] or row["reason"] for row in rows)
    assert err.count("\n") == 2
    status, out, _ = run("bad.json", "good.json", "none.json", "false.json")
    assert status == 2
    assert "1 accepted, 1 rejected, 2 malformed" in out
    assert run("good.json", "false.json")[0] == 1
    assert run("good.json")[0] == 0


def test_a_folder_of_certificates_goes_on_after_a_bad_one(run, tmp_path: Path) -> None:
    save(tmp_path / "found/certificates/a.json", GOOD)
    (tmp_path / "found/certificates/b.json").write_text("nothing")
    (tmp_path / "found/certificates/c.json").mkdir()
    (tmp_path / "found/certificates/.d.json.part").write_text("half")
    save(tmp_path / "found/certificates/e.json", WEAK)
    status, out, err = run("found", "--json")
    assert status == 2
    assert [row["accepted"] for row in json.loads(out)] == [True, False, False, True]
    assert err.count("\n") == 2


# --- the folder of an audit ------------------------------------------------------------------------------------------


def audited(folder: Path, **change: Any) -> dict[str, Any]:
    """An audit's folder with one refutation and one finding, both true; returns its audit.json, with changes."""
    save(folder / "certificates/yuan-thm1.json", GOOD)
    save(folder / "certificates/benmansour-eq15~same-iterates.without-nonnegative_weights.json", WEAK)
    first = {"id": "yuan/thm1", "verdict": "refuted", "certificate": "certificates/yuan-thm1.json"}
    first["hunt"] = {"verdict": "refuted", "certificate": "certificates/yuan-thm1.json"}
    first |= {"verify": {"verdict": "survived", "certificate": None}, "implicit": []}
    breaks = {"name": "nonnegative_weights", "literal": "breaks"}
    breaks["certificate"] = "certificates/benmansour-eq15~same-iterates.without-nonnegative_weights.json"
    second = {"id": "benmansour/eq15~same-iterates", "verdict": "survived", "certificate": None, "implicit": [breaks]}
    document = {"version": "0", "seed": 0, "budget": 1, "statements": [{**first, **change}, second]}
    save(folder / "audit.json", document)
    return document


def test_an_audit_whose_certificates_are_all_there_is_accepted(run, tmp_path: Path) -> None:
    audited(tmp_path / "audit")
    status, out, err = run("audit", "--json")
    assert (status, err) == (0, "")
    *held, survived = json.loads(out)
    assert [row["what"] for row in held] == ["literal reading without nonnegative_weights", "refutation"]
    assert (survived["id"], survived["accepted"], survived["unchecked"]) == (WEAK["statement"], False, True)


def test_an_audit_without_rows_succeeds_in_one_line(run, tmp_path: Path) -> None:
    save(tmp_path / "audit/audit.json", {"statements": []})
    status, out, err = run("audit")
    assert (status, out.count("\n"), err) == (0, 1, "")
    assert run("audit", "--json") == (0, "[]\n", "")


OTHER = "certificates/benmansour-eq15~same-iterates.without-nonnegative_weights.json"
WRONG = {  # a change to the refuted row -> what is said
    "no certificate": ({"certificate": None}, "expected its file in certificates/"),
    "none at all": ({"certificate": None, "hunt": None}, "orphaned"),
    "another's": (
        {"certificate": OTHER},
        "got a certificate of benmansour/eq15~same-iterates, expected one of yuan/thm1",
    ),
    "not there": ({"certificate": "certificates/none.json"}, "expected a file in certificates/ that exists"),
    "outside": ({"certificate": "certificates/../audit.json"}, "expected a file in certificates/ that exists"),
    "absolute": ({"certificate": "/etc/passwd"}, "expected a file in certificates/ that exists"),
    "hidden": ({"verdict": "survived"}, "expected"),
    "hidden well": ({"verdict": "survived", "certificate": None}, "expected refuted"),
    "hidden better": ({"verdict": "survived", "certificate": None, "hunt": {"verdict": "survived"}}, "orphaned"),
    "missing in hunt": ({"hunt": {"verdict": "refuted", "certificate": None}}, "expected its file"),
    "as a reading": ({"implicit": [{"name": "x", "literal": "breaks", "certificate": None}]}, "expected its file"),
    "survives": ({"implicit": [{"name": "x", "literal": "survives", "certificate": OTHER}]}, "got a certificate of"),
    "held": (
        {"hunt": {"verdict": "undecided", "counterexample": WEAK}},
        "got a certificate of benmansour/eq15~same-iterates",
    ),
    "held nonsense": ({"hunt": {"verdict": "undecided", "counterexample": {}}}, "expected an id"),
    "other statement": ({"id": "yuan/thm3"}, "got a certificate of yuan/thm1, expected one of yuan/thm3"),
}


@pytest.mark.usefixtures("one_kernel")
@pytest.mark.parametrize("name", WRONG)
def test_what_audit_json_says_and_what_is_there_are_compared(name: str, run, tmp_path: Path) -> None:
    change, says = WRONG[name]
    audited(tmp_path / "audit", **change)
    status, out, _ = run("audit", "--json")
    assert status == (2 if name == "held nonsense" else 1)
    assert any(says in (row["reason"] or "") for row in json.loads(out)), out


def test_an_explicit_rate_that_falls_is_no_failure_of_the_audit(run, tmp_path: Path, monkeypatch) -> None:
    """What the audit calls undecided, with the counterexample beside it, is what certify says too."""
    monkeypatch.setattr(Checker, "ask", lambda *_: Answer("accepted", "", "2", "1"))
    held = hostile.of("buttaci/prop3.3-largeC", {})
    row = {"id": "buttaci/prop3.3-largeC", "verdict": "undecided", "certificate": None}
    row["hunt"] = {"verdict": "undecided", "certificate": None, "counterexample": held}
    save(tmp_path / "audit/audit.json", {"statements": [row]})
    status, out, _ = run("audit", "--json")
    assert (status, json.loads(out)[0]["accepted"], json.loads(out)[0]["agrees"]) == (0, False, True)
    row |= {"verdict": "refuted", "hunt": {"verdict": "refuted", "certificate": "certificates/a.json"}}
    row["certificate"] = "certificates/a.json"
    save(tmp_path / "audit/certificates/a.json", held)
    save(tmp_path / "audit/audit.json", {"statements": [row]})
    assert run("audit")[0] == 1


ODD = [
    "", "{", "[]", "1", "null", '"x"', "NaN", "{}", "[" * 100_000, '{"statements": null}', '{"statements": {}}',
    '{"statements": [1]}', '{"statements": [[]]}', '{"statements": [{}]}', '{"statements": [{"id": 1}]}',
    '{"statements": [{"id": "a"}]}', '{"statements": [{"id": "a", "verdict": 1}]}',
    '{"statements": [{"id": "a", "verdict": "x"}, {"id": "a", "verdict": "x"}]}',
    '{"statements": [{"id": "a", "verdict": "x", "hunt": []}]}',
    '{"statements": [{"id": "a", "verdict": "x", "hunt": {"certificate": 1}}]}',
    '{"statements": [{"id": "a", "verdict": "x", "hunt": {"counterexample": 1}}]}',
    '{"statements": [{"id": "a", "verdict": "x", "implicit": 1}]}',
    '{"statements": [{"id": "a", "verdict": "x", "implicit": [1]}]}',
    '{"statements": [{"id": "a", "verdict": "x", "implicit": [{"name": 1}]}]}',
    '{"statements": [{"id": "a", "verdict": "x", "certificate": {}}]}',
    '{"statements": [{"id": "a", "verdict": "x", "certificate": true}]}',
]  # fmt: skip


@pytest.mark.usefixtures("one_kernel")
@pytest.mark.parametrize("text", ODD)
def test_an_odd_audit_json_is_one_line_and_the_certificates_are_checked_all_the_same(text, run, tmp_path) -> None:
    save(tmp_path / "audit/certificates/a.json", {**GOOD, "lhs": 0.5})
    (tmp_path / "audit/audit.json").write_text(text)
    status, out, err = run("audit", "--json")
    rows = json.loads(out)
    assert (status, len(rows), err.count("\n")) == (2, 2, 2)
    assert "audit.json" in rows[0]["reason"]
    assert "; do: " in rows[0]["reason"]


@pytest.mark.parametrize("kind", ["folder", "fifo", "dangling", "device", "binary", "large"])
def test_an_audit_json_that_is_no_file_is_one_line(kind: str, run, tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    folder.mkdir()
    odd(folder / "audit.json", kind)
    status, out, err = run("audit")
    assert (status, out, err.count("\n")) == (2, "", 1)


# --- hostile command lines -------------------------------------------------------------------------------------------


def odd(path: Path, kind: str) -> None:
    """Something at `path` that is not a file to read."""
    match kind:
        case "folder":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case "dangling":
            path.symlink_to("nowhere")
        case "loop":
            path.symlink_to(path.name)
        case "device":
            path.symlink_to("/dev/zero")
        case "large":
            with path.open("wb") as file:
                file.truncate(20_000_000)
        case "socket":
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(str(path))
        case "unreadable":
            path.write_text("{}")
            path.chmod(0)
        case _:
            path.write_bytes(b"\xff\x00\xfe")


LINES: dict[str, list[str]] = {
    "nothing": [],
    "an empty name": [""],
    "a blank name": [" "],
    "no such file": ["none.json"],
    "no such folder": ["none/"],
    "a file as a folder": ["bad.json/x.json"],
    "a name of 5,000 characters": ["x" * 5000],
    "a path of 5,000 characters": ["x/" * 2500 + "y.json"],
    "a name of 5,000 characters that ends in .py": ["x" * 5000 + ".py"],
    "a name that is no text": [os.fsdecode(b"\xff\xfe.json")],
    "a name of two lines": ["a\nb.json"],
    "a name that colours a terminal": ["\x1b[31mred.json"],
    "a name like markup": ["[bold]x[/bold].json"],
    "an empty folder": ["empty"],
    "a folder named x.json": ["folder.json"],
    "a folder of other things": ["others"],
    "a FIFO": ["fifo.json"],
    "a link to nowhere": ["dangling.json"],
    "a link to itself": ["loop.json"],
    "a link to a device": ["device.json"],
    "a device": ["/dev/zero"],
    "the terminal": ["/dev/stdin"],
    "a socket": ["socket.json"],
    "20 MB of zeros": ["large.json"],
    "bytes that are no text": ["binary.json"],
    "an empty file": ["blank.json"],
    "half a file": ["half.json"],
    "a list": ["list.json"],
    "a number": ["number.json"],
    "null": ["null.json"],
    "NaN": ["nan.json"],
    "a name twice": ["twice.json"],
    "nested too deeply": ["deep.json"],
    "a number of 5,000 digits": ["digits.json"],
    "no id": ["no-id.json"],
    "an id that is a list": ["id-list.json"],
    "an id of 100,000 characters": ["id-long.json"],
    "an id with half a character": ["id-half.json"],
    "an id of two lines": ["id-lines.json"],
    "an unknown id": ["id-unknown.json"],
    "a certificate with a field more": ["more.json"],
    "a certificate with a field less": ["less.json"],
    "a claim of another statement": ["claim.json"],
    "a claim that is a list": ["claim-list.json"],
    "an instance of null": ["instance.json"],
    "a dropped that is a number": ["dropped.json"],
    "statements alone": ["good.py"],
    "statements that fail": ["fails.py", "good.json"],
    "statements that exit": ["exits.py", "good.json"],
    "statements that are not there": ["none.py", "good.json"],
    "a folder named x.py": ["folder.py", "good.json"],
    "statements in a name of 5,000 characters": ["x" * 5000 + ".py", "good.json"],
    "a limit of nothing": ["good.json", "--limit", ""],
    "a limit of zero": ["good.json", "--limit", "0"],
    "a limit below zero": ["good.json", "--limit=-1"],
    "a limit that is no number": ["good.json", "--limit", "soon"],
    "a limit that is nan": ["good.json", "--limit", "nan"],
    "a limit that is infinite": ["good.json", "--limit", "inf"],
    "a limit with an exponent": ["good.json", "--limit", "1e3"],
    "a limit in other digits": ["good.json", "--limit", "６０"],
    "a limit of three": ["good.json", "--limit", "1,2,3"],
    "a limit with a comma": ["good.json", "--limit", "60,"],
    "a limit without seconds": ["good.json", "--limit", ",4"],
    "a limit of no memory": ["good.json", "--limit", "60,0"],
    "a limit of ages": ["good.json", "--limit", "9" * 400],
    "an unknown option": ["good.json", "--limits", "60"],
    "a limit without a value": ["good.json", "--limit"],
}
FILES: dict[str, object] = {
    "list.json": [1, 2], "number.json": 1, "null.json": None, "no-id.json": {}, "id-list.json": {"statement": []},
    "id-long.json": {"statement": "x" * 100_000}, "id-half.json": {"statement": "\ud800"},
    "id-lines.json": {"statement": "a\nb\x1b[2J"}, "id-unknown.json": {**GOOD, "statement": "yuan/thm1x"},
    "more.json": {**GOOD, "more": 1}, "less.json": {k: v for k, v in GOOD.items() if k != "at"},
    "claim.json": {**GOOD, "claim": WEAK["claim"]}, "claim-list.json": {**GOOD, "claim": []},
    "instance.json": {**GOOD, "instance": None}, "dropped.json": {**GOOD, "dropped": 1}, "good.json": GOOD,
    "others/text.txt": 1,
}  # fmt: skip
TEXTS = {
    "blank.json": "", "bad.json": "x", "half.json": json.dumps(GOOD)[:500], "nan.json": "NaN",
    "twice.json": '{"statement": "a", "statement": "b"}', "deep.json": "[" * 200_000, "digits.json": "9" * 5000,
    "good.py": "x = 1\n", "fails.py": "1 / 0\n", "exits.py": "import sys\nsys.exit(0)\n",
}  # fmt: skip


@pytest.mark.usefixtures("one_kernel")
@pytest.mark.parametrize("name", LINES)
def test_a_hostile_command_line_is_one_line(name: str, run, tmp_path: Path) -> None:
    for file, data in FILES.items():
        save(tmp_path / file, data)
    for file, text in TEXTS.items():
        (tmp_path / file).write_text(text)
    for file in ("empty", "folder.json", "folder.py"):
        (tmp_path / file).mkdir()
    for kind in ("fifo", "dangling", "loop", "device", "socket", "large", "binary"):
        odd(tmp_path / f"{kind}.json", kind)
    before = sorted(tmp_path.rglob("*"))
    status, out, err = run(*LINES[name])
    assert (status, out, err.count("\n")) == (2, "", 1), err
    assert re.match(r"fedaudit: (\w+\.py:\d+: )?got ", err)
    assert "expected" in err
    assert "; do: " in err
    assert err.rstrip("\n").isprintable()
    assert len(err) < 1000
    assert [path for path in sorted(tmp_path.rglob("*")) if "__pycache__" not in path.parts] == before


def test_rows_of_hostile_files_can_be_printed(run, tmp_path: Path) -> None:
    """Under --json too: one array, whatever the names are."""
    names = [LINES[name][0] for name in LINES if LINES[name] and not LINES[name][0].endswith(".py")]
    for file, data in FILES.items():
        save(tmp_path / file, data)
    status, out, _ = run(*[name for name in names if name != "good.json"], "--json")
    rows = json.loads(out)
    out.encode("utf-8")
    assert status == 2
    assert all(row["malformed"] and not row["accepted"] and row["reason"] for row in rows)


def test_a_good_limit_is_taken(run, tmp_path: Path) -> None:
    save(tmp_path / "one.json", GOOD)
    for limit in ("60", "60,4", "7.5,0.25"):
        assert run("one.json", "--limit", limit)[0] == 0
    assert (Limit.parse("60,4").seconds, Limit.parse("60,4").memory) == (60, 4_000_000_000)
    assert Limit.parse("60") == Limit(60)
    with pytest.raises(UserError, match="--limit"):
        Limit.parse("x" * 5000)


# --- the kernel's own command ----------------------------------------------------------------------------------------


def test_the_kernel_says_what_it_checked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = [save(tmp_path / "good.json", GOOD), save(tmp_path / "false.json", {**GOOD, "lhs": "2"})]
    assert [kernel([str(file)]) for file in files] == [0, 1]
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert "not compared with any catalogue" in line
        assert "yuan/thm1" in line
        assert f"in {GOOD['claim']['setting']}" in line
        assert "<=" in line


@pytest.mark.parametrize("kind", ["folder", "fifo", "dangling", "loop", "device", "socket", "large", "binary"])
def test_the_kernel_reads_regular_files_only(kind: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    odd(tmp_path / "odd.json", kind)
    assert kernel([str(tmp_path / "odd.json")]) == 2
    assert kernel(["x" * 5000]) == 2
    assert kernel(["\ud800\n"]) == 2
    out = capsys.readouterr().out
    assert (out.count("\n"), "malformed" in out) == (3, True)
    assert len(out) < 1500


def test_a_crash_of_the_kernel_is_no_answer(monkeypatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    monkeypatch.setattr("fedaudit.verify.kernel.__main__.check", lambda _: {}["x"])
    assert kernel([str(save(tmp_path / "good.json", GOOD))]) == 3
    assert capsys.readouterr().out.count("\n") == 1


def test_words_of_strangers_become_one_line() -> None:
    assert certificates.line("a\n\tb\x1b[0m\ud800") == "a b\\x1b[0m\\ud800"
    assert len(certificates.line("x" * 5000)) == 300


def test_statements_that_cite_one_another_in_a_circle_prove_nothing() -> None:
    known = catalogue()
    one, other = known["buttaci/thm4.1-I"], known["buttaci/lemB.2"]
    (way,) = other.follows_from
    proof: Any = way.proof
    more = replace(way, cites=(*way.cites, one.id), proof=lambda goal, *cited: proof(goal, *cited[:-1]))
    circle = replace(other, follows_from=(more,))
    assert certificates._may_prove(one, known)
    assert not certificates._may_prove(one, {**known, other.id: circle})
