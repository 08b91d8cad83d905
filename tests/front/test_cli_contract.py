"""The command line as design.md fixes it: rows, exit statuses, one line for bad input. Moves are faked here."""

import io
import json
import os
import re
import signal
import sys

import pytest
from faked import REFUTED, fake_moves

from fedaudit import cli
from fedaudit.bounds.catalogue import discovery as catalogue
from fedaudit.bounds.catalogue.discovery import statements
from fedaudit.commands import listing
from fedaudit.running import runner, selection
from fedaudit.running.store import Folder
from fedaudit.verify.results.file_names import slug

LEMMAS = "buttaci/lem[4C]*"
IDS = [s.id for s in statements([LEMMAS])]
SOME = "buttaci/lem4.1"
LIST_FIELDS = {"id", "paper", "kind", "title", "where", "relation", "method", "follows_from"}


@pytest.fixture
def moves(monkeypatch):
    made = fake_moves()
    monkeypatch.setitem(sys.modules, made.__name__, made)
    monkeypatch.setattr("fedaudit.verify.moves.rows", made, raising=False)
    monkeypatch.setattr(runner, "figure_of", lambda *_: None)
    return made


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run a command line in an empty folder: (status, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)  # an interrupt changes it for good
    monkeypatch.setattr("fedaudit.progress.FIRST", 3600.0)  # silent, however slow the machine is

    def call(*argv):
        status = cli.main([str(a) for a in argv])
        out = capsys.readouterr()
        return status, out.out, out.err

    return call


def test_list_prints_every_id_of_the_catalogue(run):
    status, out, err = run("list", "--json")
    rows = json.loads(out)
    assert (status, err) == (0, "")
    assert [row["id"] for row in rows] == [s.id for s in statements()]
    assert all(set(row) == LIST_FIELDS for row in rows)
    status, out, _ = run("list", LEMMAS)
    assert status == 0
    assert all(i in out for i in IDS)


def test_list_takes_globs_and_ids(run):
    assert [r["id"] for r in json.loads(run("list", "buttaci/lemB.1*", "--json")[1])] == [
        "buttaci/lemB.1",
        "buttaci/lemB.1-kappa",
    ]
    assert [r["id"] for r in json.loads(run("list", SOME, SOME, "--json")[1])] == [SOME]


@pytest.mark.parametrize("latex", [(), ("--latex",)])
def test_show_prints_the_statement(run, latex):
    status, out, _ = run("show", SOME, *latex)
    assert status == 0
    assert out.startswith(r"\documentclass" if latex else SOME)
    assert (r"\leq" in out) == bool(latex)
    assert ("≤" in out) != bool(latex)


@pytest.mark.parametrize("command", ["lint", "derive", "verify", "hunt", "audit"])
@pytest.mark.usefixtures("moves")
def test_json_is_one_array_and_nothing_else(run, command):
    status, out, err = run(command, LEMMAS, "--json", "--jobs", "1")
    rows = json.loads(out)
    assert (status, err) == (0, "")
    assert [row["id"] for row in rows] == IDS


@pytest.mark.parametrize("command", ["lint", "derive", "verify", "hunt", "audit"])
@pytest.mark.usefixtures("moves")
def test_tables_name_every_statement_in_full(run, command):
    status, out, err = run(command, LEMMAS, "--jobs", "1")
    assert (status, err) == (0, "")
    assert all(i in out for i in IDS)


@pytest.mark.usefixtures("moves")
def test_markup_in_messages_is_shown_and_not_obeyed(run):
    assert "[F] is not [W]" in run("lint", SOME)[1]


@pytest.mark.usefixtures("moves")
def test_seed_and_budget_reach_every_row(run):
    rows = json.loads(run("verify", LEMMAS, "--json", "--seed", "7", "--budget", "22", "--jobs", "1")[1])
    assert {row["seed"] for row in rows} == {7}
    assert {row["statistical"]["effort"] for row in rows} == {22 / len(IDS)}


@pytest.mark.parametrize(
    ("move", "count", "effort"), [("audit", 12, 10), ("audit", 1, 120), ("hunt", 1, 10), ("hunt", 60, 2)]
)
def test_default_budgets(move, count, effort):
    assert runner.Settings(0).effort(move, count) == effort


@pytest.mark.parametrize("command", ["hunt", "audit"])
@pytest.mark.usefixtures("moves")
def test_fail_on_refuted(run, command):
    assert run(command, LEMMAS, "--jobs", "1", "--fail-on", "refuted")[0] == 1
    assert run(command, SOME, "--jobs", "1", "--fail-on", "refuted")[0] == 0
    assert run(command, LEMMAS, "--jobs", "1")[0] == 0


@pytest.mark.usefixtures("moves")
def test_hunt_writes_certificates_where_it_is_told(run, tmp_path):
    (row,) = json.loads(run("hunt", REFUTED, "--json", "--out", "found")[1])
    assert json.loads((tmp_path / "found" / row["certificate"]).read_text())["statement"] == REFUTED
    assert json.loads((tmp_path / "found" / "hunt.json").read_text()) == [row]
    (row,) = json.loads(run("hunt", REFUTED, "--json")[1])
    assert row["certificate"]["statement"] == REFUTED


@pytest.mark.usefixtures("moves")
def test_audit_writes_its_folder(run, tmp_path):
    status, out, _ = run("audit", LEMMAS, "--seed", "3", "--jobs", "1", "--json")
    document = json.loads((tmp_path / "audit" / "audit.json").read_text())
    assert status == 0
    assert set(document) == {"version", "seed", "budget", "statements"}
    assert (document["seed"], document["budget"]) == (3, 120.0)
    assert document["statements"] == json.loads(out)
    assert [row["id"] for row in document["statements"]] == IDS
    row = document["statements"][IDS.index(REFUTED)]
    wanted = {"id", "verdict", "evidence", "tightness", "certificate", "lint", "derive", "verify", "hunt"}
    assert wanted | {"implicit", "repaired"} <= set(row)
    assert (tmp_path / "audit" / row["certificate"]).is_file()
    assert (tmp_path / "audit" / "index.html").is_file()
    assert not list(tmp_path.rglob("*.part"))


def test_an_audit_goes_on_where_it_was_stopped(run, moves, monkeypatch, tmp_path):
    whole = json.loads(run("audit", LEMMAS, "--jobs", "1", "--json", "--out", "whole")[1])
    moves.calls.clear()
    finished = moves.audit_row

    def stop(statement, *asked):
        if len(moves.calls) == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return finished(statement, *asked)

    monkeypatch.setattr(moves, "audit_row", stop)
    status, out, err = run("audit", LEMMAS, "--jobs", "1", "--json", "--out", "stopped")
    assert (status, out) == (130, "")
    assert err.count("\n") == 1
    assert f"4 of {len(IDS)} statements are kept in stopped/rows" in err.replace(os.sep, "/")
    assert "run the same command again" in err
    assert not (tmp_path / "stopped" / "audit.json").exists()
    monkeypatch.setattr(moves, "audit_row", finished)
    moves.calls.clear()
    assert json.loads(run("audit", LEMMAS, "--jobs", "1", "--json", "--out", "stopped")[1]) == whole
    assert moves.calls == IDS[4:]
    moves.calls.clear()
    run("audit", LEMMAS, "--jobs", "1", "--out", "stopped", "--seed", "1")
    assert sorted(moves.calls) == sorted(IDS)  # another seed, nothing to take over


def test_a_spoilt_row_is_named_and_done_again(run, moves, tmp_path):
    run("audit", SOME, "--jobs", "1")
    (tmp_path / "audit" / "rows" / f"{slug(SOME)}.json").write_text('{"format": ')
    moves.calls.clear()
    status, _, err = run("audit", SOME, "--jobs", "1")
    assert (status, moves.calls) == (0, [SOME])
    assert err == f"fedaudit: {SOME} is done again: rows/{slug(SOME)}.json is not a row that an audit finished\n"


def test_interrupted_moves_say_so(run, moves, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(moves, "verify_row", stop)
    status, out, err = run("verify", SOME)
    assert (status, out, err.count("\n")) == (130, "", 1)


@pytest.mark.usefixtures("moves")
def test_report_is_written_again_from_audit_json(run, tmp_path):
    run("audit", SOME, "--jobs", "1", "--out", "here")
    page = tmp_path / "here" / "index.html"
    page.unlink()
    run("report", "--out", "here")
    first = page.read_text()
    assert SOME in first
    page.unlink()
    status, out, _ = run("report", "--out", "here")
    assert (status, out.strip()) == (0, os.path.join("here", "index.html"))
    assert page.read_text() == first


BAD = {
    "no command": [],
    "unknown command": ["lnit"],
    "unknown option": ["list", "--colour"],
    "abbreviated option": ["list", "--js"],
    "unknown id": ["verify", "buttaci/thm4.1-i"],
    "unknown paper": ["audit", "nobody"],
    "glob without match": ["lint", "buttaci/zzz*"],
    "budget zero": ["audit", "--budget", "0"],
    "budget negative": ["hunt", "--budget=-3"],
    "budget nan": ["verify", "--budget", "nan"],
    "budget infinite": ["verify", "--budget", "inf"],
    "budget text": ["verify", "--budget", "soon"],
    "jobs zero": ["audit", "--jobs", "0"],
    "jobs text": ["audit", "--jobs", "all"],
    "jobs odd digit": ["audit", "--jobs", "²"],
    "seed text": ["hunt", "--seed", "lucky"],
    "seed fraction": ["hunt", "--seed", "1.5"],
    "fail on": ["audit", "--fail-on", "monday"],
    "backend": ["verify", "--backend", "torch"],
    "out is a file": ["audit", SOME, "--out", "file/audit"],
    "out of a move is a file": ["hunt", SOME, "--out", "file"],
    "certificate missing": ["certify", "none.json"],
    "certificate is no JSON": ["certify", "file"],
    "certificate is a list": ["certify", "list.json"],
    "certificate is binary": ["certify", "binary.json"],
    "certificate of nothing": ["certify", "strange.json"],
    "folder without certificates": ["certify", "empty"],
    "certify without a certificate": ["certify", "good.py"],
    "file missing": ["verify", "none.py"],
    "file fails": ["verify", "bad.py"],
    "listed file exits": ["list", "exits.py"],
    "certified file exits": ["certify", "exits.py", "strange.json"],
    "file does not parse": ["verify", "syntax.py"],
    "file exits": ["verify", "exits.py"],
    "file without statements": ["verify", "good.py"],
    "plot of many": ["plot", "buttaci"],
    "plot to an odd suffix": ["plot", SOME, "--out", "a.gif"],
    "plot into nowhere": ["plot", SOME, "--out", "nowhere/a.png"],
    "plot over a folder": ["plot", SOME, "--out", "folder.png"],
    "report of nothing": ["report", "--out", "empty"],
    "report of no folder": ["report", "--out", "nowhere"],
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.usefixtures("moves")
def test_bad_input_is_one_line_and_writes_nothing(run, tmp_path, name):
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "binary.json").write_bytes(b"\xff\x00\xfe")
    (tmp_path / "strange.json").write_text('{"format": "fedaudit-certificate/1", "statement": "x/y"}')
    (tmp_path / "good.py").write_text("x = 1\n")
    (tmp_path / "bad.py").write_text("1 / 0\n")
    (tmp_path / "syntax.py").write_text("def\n")
    (tmp_path / "exits.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "folder.png").mkdir()
    before = sorted(p for p in tmp_path.rglob("*") if "__pycache__" not in p.parts)
    status, out, err = run(*BAD[name])
    assert (status, out) == (2, "")
    assert re.match(r"fedaudit: (\w+\.py:\d+: )?got ", err)  # in a file, with its line
    assert "expected" in err
    assert "; do: " in err
    assert err.count("\n") == 1
    assert sorted(p for p in tmp_path.rglob("*") if "__pycache__" not in p.parts) == before


def test_the_nearest_id_is_suggested(run):
    assert "buttaci/thm4.1-I" in run("verify", "buttaci/thm4.1-i")[2]
    assert "lint" in run("lnit")[2]


def test_help_teaches(run, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["--help"])
    out = capsys.readouterr().out
    assert caught.value.code == 0
    assert all(word in out for word in ("refuted", "survived", "undecided", "fedaudit audit", "exit status", *cli.HELP))


@pytest.mark.parametrize("command", cli.HELP)
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main([command, "--help"])
    assert caught.value.code == 0
    assert cli.HELP[command] in capsys.readouterr().out


def test_version(run):
    status, out, _ = run("--version")
    assert status == 0
    assert out.startswith("fedaudit 0.")


REPORT = "fedaudit: the tool failed on buttaci/lem4.1: KeyError: 'prox' (front/test_cli_contract.py:"


def failing_on(statement, row):
    def fails(asked, *more):
        if asked.id == statement:
            raise KeyError("prox")
        return row(asked, *more)

    return fails


@pytest.mark.parametrize("command", ["lint", "derive", "verify", "hunt"])
def test_a_move_that_fails_on_one_statement_does_the_others(run, moves, monkeypatch, command):
    monkeypatch.setattr(moves, f"{command}_row", failing_on(SOME, getattr(moves, f"{command}_row")))
    status, out, err = run(command, LEMMAS, "--jobs", "1", "--json")
    rows = json.loads(out)
    assert (status, err.count("\n"), [row["id"] for row in rows]) == (1, 1, IDS)
    assert err.startswith(REPORT)
    assert "do: report it" in err
    failed = [row for row in rows if "the tool failed: KeyError: 'prox'" in json.dumps(row)]
    assert [row["id"] for row in failed] == [SOME]
    assert failed[0].get("verdict", "undecided") == "undecided"
    assert run(command, LEMMAS, "--jobs", "1")[0] == 1  # and as a table


def test_what_fell_before_and_theorems_are_worked_on_first(run, moves):
    mixed = ("buttaci/lem4.1", "buttaci/def3.2-identity", "buttaci/thm4.1-I", REFUTED, "buttaci/prop3.2")
    status, out, _ = run("audit", *mixed, "--jobs", "1", "--json")
    assert status == 0
    assert [row["id"] for row in json.loads(out)] == list(mixed)  # rows in the order that was asked for
    theorem, proposition = "buttaci/thm4.1-I", "buttaci/prop3.2"
    assert moves.calls == [theorem, proposition, "buttaci/lem4.1", REFUTED, "buttaci/def3.2-identity"]
    moves.calls.clear()
    assert run("audit", *mixed, "--jobs", "1", "--seed", "1")[0] == 0
    assert moves.calls == [REFUTED, theorem, proposition, "buttaci/lem4.1", "buttaci/def3.2-identity"]


def test_what_depends_on_a_change_is_done_again_and_nothing_else(run, moves, monkeypatch):
    rows = run("audit", LEMMAS, "--jobs", "1", "--json")[1]
    entries, changed = listing._entries(), {SOME, IDS[-1]}
    other = [{**e, "fingerprint": "another"} if e["id"] in changed else e for e in entries]
    monkeypatch.setattr(listing, "_entries", lambda: other)
    moves.calls.clear()
    assert run("audit", LEMMAS, "--jobs", "1", "--json")[1] == rows
    assert set(moves.calls) == changed
    moves.calls.clear()
    monkeypatch.setattr(selection, "source_digest", lambda *, papers=True: "other code")
    assert run("audit", LEMMAS, "--jobs", "1", "--json")[1] == rows
    assert set(moves.calls) == set(IDS)


def test_no_figures_draws_none_and_a_later_run_draws_what_is_missing(run, moves, monkeypatch, tmp_path):
    drawn = []

    def draw(statement, _, row):
        assert row.id == statement.id  # figures show what the row found, also where it was found earlier
        drawn.append(statement.id)
        return "<svg/>" if statement.id != SOME else None

    monkeypatch.setattr(runner, "figure_of", draw)
    rows = json.loads(run("audit", LEMMAS, "--jobs", "1", "--json", "--no-figures")[1])
    assert (drawn, sorted(moves.calls)) == ([], sorted(IDS))
    assert not list(tmp_path.glob("audit/figures/*"))
    moves.calls.clear()
    again = json.loads(run("audit", LEMMAS, "--jobs", "1", "--json")[1])
    assert (moves.calls, sorted(drawn)) == ([], sorted(IDS))
    assert [{k: v for k, v in row.items() if k != "figure"} for row in again] == rows
    assert len(list(tmp_path.glob("audit/figures/*.svg"))) == len(IDS) - 1
    assert again[IDS.index(SOME)]["figure"] is None
    drawn.clear()
    assert json.loads(run("audit", LEMMAS, "--jobs", "1", "--json", "--no-figures")[1]) == again
    assert json.loads(run("audit", LEMMAS, "--jobs", "1", "--json")[1]) == again
    assert (moves.calls, drawn) == ([], [])


def test_a_figure_that_fails_takes_no_row_with_it_and_is_drawn_by_a_later_run(run, moves, monkeypatch, tmp_path):
    def draw(statement, *_):
        if statement.id == SOME:
            raise KeyError("prox")
        return "<svg/>"

    monkeypatch.setattr(runner, "figure_of", draw)
    status, out, err = run("audit", LEMMAS, "--jobs", "1", "--json")
    rows = json.loads(out)
    assert (status, err.count("\n")) == (1, 1)
    assert err.startswith(f"fedaudit: the tool failed on {SOME}: its figure: KeyError: 'prox' (")
    assert "the tool failed" not in out
    assert "figure" not in rows[IDS.index(SOME)]
    monkeypatch.setattr(runner, "figure_of", lambda *_: "<svg/>")
    moves.calls.clear()
    status, out, _ = run("audit", LEMMAS, "--jobs", "1", "--json")
    assert (status, moves.calls) == (0, [])
    assert json.loads(out)[IDS.index(SOME)]["figure"]


def test_an_interrupted_audit_leaves_an_index_of_what_is_finished(run, moves, monkeypatch, tmp_path):
    good = moves.audit_row

    def stopped(statement, *rest):
        if statement.id == "buttaci/lem4.2":
            raise KeyboardInterrupt
        return good(statement, *rest)

    monkeypatch.setattr(moves, "audit_row", stopped)
    assert run("audit", LEMMAS, "--jobs", "1")[0] == 130
    index = (tmp_path / "audit" / "index.html").read_text()
    assert f"of {len(IDS)} statements are finished" in index
    assert f"{SOME}</a>" in index
    assert (tmp_path / "audit" / "pages" / f"{slug(SOME)}.html").is_file()
    assert not (tmp_path / "audit" / "audit.json").exists()


def test_an_audit_that_fails_on_one_statement_keeps_the_others(run, moves, monkeypatch, tmp_path):
    good = moves.audit_row
    monkeypatch.setattr(moves, "audit_row", failing_on(SOME, good))
    status, out, err = run("audit", LEMMAS, "--jobs", "1", "--json")
    rows = json.loads(out)
    failed = rows[IDS.index(SOME)]
    assert (status, err.count("\n"), [row["id"] for row in rows]) == (1, 1, IDS)
    assert err.startswith(REPORT)
    assert (failed["verdict"], failed["reason"]) == ("undecided", "the tool failed: KeyError: 'prox'")
    assert json.loads((tmp_path / "audit" / "audit.json").read_text())["statements"] == rows
    assert "the tool failed" in (tmp_path / "audit" / "pages" / f"{slug(SOME)}.html").read_text()
    assert not (tmp_path / "audit" / "rows" / f"{slug(SOME)}.json").exists()
    monkeypatch.setattr(moves, "audit_row", good)
    moves.calls.clear()
    status, out, err = run("audit", LEMMAS, "--jobs", "1", "--json")
    assert (status, err, moves.calls) == (0, "", [SOME])
    assert json.loads(out)[IDS.index(SOME)]["verdict"] == "survived"


@pytest.mark.parametrize("says", ["math\ndomain error", "got x, expected y; do: z"])  # not recognised by its words
def test_a_failure_of_our_own_is_one_line_with_a_status_of_its_own(run, monkeypatch, says):
    def broken(*_):
        raise ValueError(says)

    monkeypatch.setattr(catalogue, "find_methods", broken)
    status, out, err = run("methods")
    assert (status, out, err.count("\n")) == (70, "", 1)
    line = " ".join(says.split())
    assert err.startswith(f"fedaudit: the tool failed: ValueError: {line} (front/test_cli_contract.py:")


@pytest.mark.parametrize("command", ["lint", "derive", "verify", "hunt", "audit"])
@pytest.mark.usefixtures("moves")
def test_a_folder_that_another_process_writes_to_is_left_alone(run, tmp_path, command):
    with Folder.open(tmp_path / "out").held():
        before = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")}
        status, out, err = run(command, SOME, "--out", "out")
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert f"got out, where process {os.getpid()} is writing, expected" in err
        assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")} == before
    assert run(command, SOME, "--out", "out")[0] == 0


@pytest.mark.usefixtures("moves")
def test_a_report_waits_for_nobody_either(run, tmp_path):
    run("audit", SOME, "--jobs", "1", "--out", "out")
    with Folder.open(tmp_path / "out").held():
        status, out, err = run("report", "--out", "out")
        assert (status, out, err.count("\n")) == (2, "", 1)
    assert run("report", "--out", "out")[0] == 0


def test_settings_may_change_from_one_audit_to_the_next(run, moves):
    for seed in ("1", "2", "1"):
        moves.calls.clear()
        assert run("audit", SOME, "--jobs", "1", "--seed", seed, "--out", "out")[::2] == (0, "")
        assert moves.calls == [SOME]


def test_a_reader_that_leaves_early_is_no_error(monkeypatch):
    read, written = os.pipe()
    os.close(read)
    with io.TextIOWrapper(io.FileIO(written, "w"), write_through=True) as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        assert cli.main(["list"]) == 0
