"""`fedaudit compare`: what changed between two audits, what of it is worse, and the exit status."""

import json

import pytest

from fedaudit.cli import main
from fedaudit.commands.compare import VERDICTS, compare
from fedaudit.verify.results.audit_json import VERDICTS as ALL
from fedaudit.verify.results.audit_json import parse


def row(name="a/1", **fields):
    hunt = {"verdict": "survived", "instances": 1000, "seconds": 2.0}
    given = {"id": name, "verdict": "survived", "tightness": 0.5, "derive": {"status": "follows"}, "hunt": hunt}
    return given | {"implicit": [{"name": "kind", "literal": "survives"}]} | fields


def audit(*rows, **fields):
    return {"version": "1", "seed": 0, "budget": 120.0, "statements": list(rows)} | fields


def changes(before, after):
    found = compare(parse(audit(before)), parse(audit(after)))
    return [(c.what, c.before, c.after, c.worse) for c in found.get("a/1", ())]


def hunted(**fields):
    return {"hunt": {"verdict": "survived", "instances": 1000, "seconds": 2.0} | fields}


def literal(word):
    return {"implicit": [{"name": "kind", "literal": word}]}


def derived(*ways, **fields):
    others = [{"cites": list(cites), "status": status, "evidence": evidence} for cites, status, evidence in ways]
    return {"derive": {"status": "follows", "evidence": "proof", "ways": others} | fields}


SIZES = [{"C": n, "instances": 500, "tightness": 0.5 * n} for n in (1, 2)]
CASES = {
    "nothing": ({}, {}, []),
    "broken now": ({}, {"verdict": "refuted"}, [("verdict", "survived", "refuted", False)]),
    "no longer broken": ({"verdict": "refuted"}, {}, [("verdict", "refuted", "survived", True)]),
    "proved now": ({}, {"verdict": "proved"}, [("verdict", "survived", "proved", False)]),
    "no longer proved": ({"verdict": "proved"}, {}, [("verdict", "proved", "survived", True)]),
    "one of two is wrong": (
        {"verdict": "proved"},
        {"verdict": "refuted"},
        [("verdict", "proved", "refuted", True)],
    ),
    "open now": ({}, {"verdict": "undecided"}, [("verdict", "survived", "undecided", True)]),
    "seen again no more": (
        {"verdict": "reproduced"},
        {"verdict": "reproduced-if"},
        [("verdict", "reproduced", "reproduced-if", True)],
    ),
    "no derivation": ({}, {"derive": {"status": "not-derived"}}, [("derive", "follows", "not-derived", True)]),
    "a derivation": ({"derive": None}, {}, [("derive", "", "follows", False)]),
    "another way is lost": (
        derived((("a/2", "a/3"), "follows", "proof"), ((), "claims-less", "numerical")),
        derived((("a/2", "a/3"), "not-derived", "numerical"), ((), "claims-less", "numerical")),
        [("derive, another way, from a/2, a/3", "follows", "not-derived", True)],
    ),
    "another way is gone": (
        derived((("a/2",), "follows", "proof"), (("a/2",), "not-derived", "numerical")),
        derived((("a/2",), "follows", "proof")),
        [("derive, another way, from a/2 (2)", "not-derived", "", True)],
    ),
    "a way more": (
        derived(),
        derived(((), "follows", "proof")),
        [("derive, another way, from the assumptions", "", "follows", False)],
    ),
    "steps that only numbers support": (
        derived(((), "follows", "proof")),
        derived(((), "follows", "numerical"), evidence="numerical"),
        [
            ("derive: evidence", "proof", "numerical", True),
            ("derive, another way, from the assumptions: evidence", "proof", "numerical", True),
        ],
    ),
    "a literal reading falls": ({}, literal("breaks"), [("without kind", "survives", "breaks", False)]),
    "a reading is open": (
        literal("breaks"),
        literal("undecided"),
        [("without kind", "breaks", "undecided", True)],
    ),
    "an assumption less": ({}, {"implicit": []}, [("without kind", "survives", "", True)]),
    "nearer": ({}, {"tightness": 0.6}, [("tightness", 0.5, 0.6, False)]),
    "less near": ({}, {"tightness": 0.49}, [("tightness", 0.5, 0.49, True)]),
    "as near as before": ({}, {"tightness": 0.4951}, []),
    "no tightness": ({}, {"tightness": None}, [("tightness", 0.5, None, True)]),
    "of a counterexample": ({"verdict": "refuted"}, {"verdict": "refuted", "tightness": 0.1}, []),
    "fewer instances": ({}, hunted(instances=600), [("instances", 1000, 600, True)]),
    "hardly fewer": ({}, hunted(instances=800), []),
    "more instances": ({}, hunted(instances=5000), [("instances", 1000, 5000, False)]),
    "other sizes": ({"sizes": SIZES[:1]}, {"sizes": SIZES} | hunted(sizes=SIZES), []),
    "slower": ({}, hunted(seconds=9.0), [("seconds", 2.0, 9.0, False)]),
    "hardly slower": ({}, hunted(seconds=2.9), []),
}


@pytest.mark.parametrize("name", CASES)
def test_what_changed_and_whether_it_is_worse(name):
    before, after, said = CASES[name]
    assert changes(row(**before), row(**after)) == said


def test_every_verdict_has_its_rank():
    assert set(VERDICTS) == set(ALL)


def test_statements_that_come_and_go():
    found = compare(parse(audit(row("a/1"), row("a/2"))), parse(audit(row("a/2"), row("a/3"))))
    assert {name: [(c.what, c.worse) for c in said] for name, said in found.items()} == {
        "a/3": [("statement", False)],
        "a/1": [("statement", True)],
    }


@pytest.fixture
def two(tmp_path, monkeypatch):
    def write(before, after):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "old").mkdir(exist_ok=True)
        (tmp_path / "old" / "audit.json").write_text(json.dumps(before))
        (tmp_path / "new.json").write_text(json.dumps(after))
        return ["compare", "old", "new.json"]

    return write


@pytest.mark.parametrize(("verdict", "status"), [("survived", 0), ("refuted", 0), ("undecided", 1)])
def test_the_exit_status_and_the_rows(two, capsys, verdict, status):
    argv = two(audit(row()), audit(row(verdict=verdict)))
    assert main([*argv, "--json"]) == status
    rows = json.loads(capsys.readouterr().out)
    assert [(r["id"], r["worse"], [c["what"] for c in r["changes"]]) for r in rows] == (
        [] if verdict == "survived" else [("a/1", status == 1, ["verdict"])]
    )


def test_the_table_says_what_is_worse_first_and_what_else_differs(two, capsys):
    before = audit(row("a/1"), row("a/2[b]"))
    after = audit(row("a/1", tightness=0.6), row("a/2[b]", verdict="undecided"), seed=1)
    assert main(two(before, after)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["a/2[b]", "verdict", "survived", "undecided", "worse"]
    assert lines[2].split() == ["a/1", "tightness", "0.5", "0.6"]
    assert "2 changes in 2 statements, 1 for the worse" in lines
    assert "seed: 0 → 1, so that other changes are no surprise" in lines
    assert "searches of the 2 statements in both: 4 s → 4 s" in lines


BAD = {
    "not there": lambda p: p.unlink(),
    "no JSON": lambda p: p.write_text("{"),
    "no audit": lambda p: p.write_text("[]"),
    "rows that are none": lambda p: p.write_text(json.dumps(audit({"id": "a/1"}))),
    "a folder without one": lambda p: (p.unlink(), p.mkdir()),
    "bytes": lambda p: p.write_bytes(b"\xff"),
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_bad_input_is_one_line(two, tmp_path, capsys, kind, options):
    argv = two(audit(row()), audit(row()))
    BAD[kind](tmp_path / "new.json")
    assert main([*argv, *options]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert all(word in err for word in ("fedaudit: got ", ", expected ", "; do: "))


@pytest.mark.parametrize("argv", [["compare"], ["compare", "a"], ["compare", "", ""], ["compare", "a" * 5000, "b"]])
def test_names_that_are_none_are_one_line(argv, capsys):
    assert main(argv) == 2
    assert capsys.readouterr().err.count("\n") == 1
