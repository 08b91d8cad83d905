"""Every verdict keeps its evidence: an audit writes proofs and both ends of worst cases, and certify notices all that
becomes of them."""

import json
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest
from faked import PAUL, YOUNG, typed
from faked import proofs as files

from fedaudit.bounds.catalogue.discovery import catalogue, statement
from fedaudit.cli import main
from fedaudit.running import runner
from fedaudit.running.runner import Settings, attempt
from fedaudit.running.selection import choose
from fedaudit.running.store import Folder
from fedaudit.verify import kernel
from fedaudit.verify.certify.kept_evidence import End
from fedaudit.verify.kernel.core.rational import Rejected
from fedaudit.verify.kernel.proofs.proof import FORMAT
from fedaudit.verify.moves import kernel_proof as proved
from fedaudit.verify.moves.kernel_proof import Proof, Unproved, prove
from fedaudit.verify.proposals.proposal import Proposal, Reason
from fedaudit.verify.results.row import Ends, Row
from fedaudit.verify.search.lowered_claim import lower

FALLS, PROFILED = "buttaci/appA-strong-second", "classic/gd-rate"
PROOFS = {"young": "proofs/buttaci-appA-young.json", "paul": "proofs/buttaci-appA-peterpaul.json"}


def proposed(one, _):
    made = files().get(one.id)
    return NONE if made is None else Proposal(made)


NONE = Proposal(None, (Reason("line", "none is written here"),))


class Here:
    """Tasks in this process."""

    jobs = 1

    def work(self, tasks):
        return ((task, attempt(task)) for task in tasks)


def test_a_row_whose_witness_fails_is_drawn_by_a_later_run(tmp_path):
    chosen, out = choose(["buttaci/thm4.5~rule4.6"]), Folder.open(tmp_path / "audit")
    for figures in (False, True):
        done = runner.audit(chosen, Settings(0, budget=0.4, figures=figures), Here(), out)
        assert not done.failures
    (row,) = done.rows
    assert (row.verdict, (tmp_path / "audit" / row.figure).is_file()) == ("undecided", True)


@pytest.fixture
def no_proofs_kept(monkeypatch):
    monkeypatch.setattr(proved, "_KEPT", {})


@pytest.fixture
def proposing(monkeypatch, no_proofs_kept):
    monkeypatch.setattr("fedaudit.verify.proposals.proposal.propose", proposed)


def audited(folder, *names):
    with Folder.open(folder).held() as held:
        rows = runner.audit(choose(names), Settings(0, 0.4, figures=False), Here(), held).rows
        return [row.to_json() for row in rows]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of an audit: Peter and Paul proved (citing Young, which was not asked for), one refuted, one with
    worst cases."""
    folder = tmp_path_factory.mktemp("evidence") / "audit"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(proved, "_KEPT", {})
        patched.setattr("fedaudit.verify.proposals.proposal.propose", proposed)
        audited(folder, PAUL, FALLS, PROFILED)
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(made, tmp_path / "audit"))


def certified(capsys, *names):
    status = main(["certify", *(names or ("audit",)), "--json"])
    return status, json.loads(capsys.readouterr().out or "[]")


def wrong(rows):
    return [(row["id"], row["file"], row["reason"]) for row in rows if not row["accepted"]]


def change(path, **fields):
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def rows_of(folder):
    return {row["id"]: row for row in json.loads((folder / "audit.json").read_text())["statements"]}


# --- what an audit writes ---------------------------------------------------------------------------------------------


def test_an_audit_keeps_the_proof_of_every_proved_row_and_of_what_it_cites(folder):
    row = rows_of(folder)[PAUL]
    assert (row["verdict"], row["evidence"], row["proof"], row["trusted"]) == ("proved", "proof", PROOFS["paul"], 0)
    assert row["derive"]["proved_from"] == [YOUNG]
    for file in PROOFS.values():
        assert json.loads((folder / file).read_text())["format"] == "fedaudit-proof/2"
    assert {f"proofs/{file.name}" for file in (folder / "proofs").iterdir()} == set(PROOFS.values())


def test_an_audit_keeps_both_ends_of_every_worst_case_that_a_row_quotes(folder):
    quoted = [one for row in rows_of(folder).values() for one in row["hunt"].get("worst", ())]
    assert any(one["by"] == "programme" and one["upper"] is not None for one in quoted)
    ends = [(one[end], one[key]) for one in quoted for end, key in (("lower", "certificate"), ("upper", "proof"))]
    assert all((value is None) == (file is None) for value, file in ends)
    assert {file for _, file in ends if file} == {f"worst/{file.name}" for file in (folder / "worst").iterdir()}


def test_certify_accepts_all_of_it_and_says_how_many_there_are(folder, capsys, monkeypatch):
    status, rows = certified(capsys)
    assert (status, wrong(rows)) == (0, [])
    counted = Counter(row["kind"] for row in rows)
    assert counted["proof"] == 2
    assert counted["refutation"] >= 1
    assert counted["lower end"] >= counted["upper end"] > 0
    monkeypatch.setattr("fedaudit.commands.tables.MANY", 3)
    assert main(["certify", "audit"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == f"{len(rows)} accepted"
    assert [line.split() for line in said if line.startswith("proof")] == [["proof", "2"]]


def test_a_run_that_goes_on_takes_proofs_and_ends_over(folder, monkeypatch, no_proofs_kept):
    """Also the proof of what is cited, which no row keeps: the kernel checks it again, and nobody has to propose it."""

    def never(*_):
        raise AssertionError("it was proved before")

    monkeypatch.setattr("fedaudit.verify.moves.rows.audit", never)
    monkeypatch.setattr("fedaudit.verify.proposals.proposal.propose", never)
    before = rows_of(folder)
    audited(folder, PAUL, FALLS, PROFILED)
    assert rows_of(folder) == before


def test_proofs_of_another_run_go_when_a_statement_is_audited_again(folder, proposing):
    for file in ("proofs/other-thm1.json", PROOFS["young"]):
        (folder / file).write_text('{"judgements": []}')
    audited(folder, FALLS)
    assert [file.name for file in (folder / "proofs").iterdir()] == []


@pytest.mark.parametrize("damage", ["{", "[]", '{"cites": 1}', '{"cites": ["a"]}', '{"judgements": 1}'])
def test_what_lies_in_the_folder_is_only_proposed(tmp_path, proposing, damage):
    (tmp_path / "buttaci-appA-young.json").write_text(damage)
    found = prove(statement(PAUL), catalogue(), tmp_path)
    assert isinstance(found, Proof)
    assert found.cited[YOUNG].file == files()[YOUNG]


@pytest.mark.parametrize("file", ["paul", "lower", "upper"])
def test_a_row_whose_evidence_was_changed_is_done_again(folder, file):
    name = PROOFS.get(file) or f"worst/{next((folder / 'worst').glob(f'*.{file}.json')).name}"
    (folder / name).write_text((folder / name).read_text().replace("1/2", "1/3").replace("0", "1"))
    notices = []
    with Folder.open(folder).held() as held:
        for chosen in choose([PAUL, FALLS, PROFILED]):
            task = runner.Task("audit", chosen, 0, Settings(0, 0.4).effort("audit", 3), "numpy", False)
            try:
                held.row(chosen.id, runner._key(task))
            except Exception as error:
                notices.append(str(error))
    assert notices == [f"its {'proof' if file != 'lower' else 'certificate'} was changed"]


# --- proved is what the kernel accepts --------------------------------------------------------------------------------


def test_a_proof_is_what_the_kernel_accepts_with_what_it_cites(proposing):
    found = prove(statement(PAUL), catalogue())
    assert isinstance(found, Proof)
    assert (found.cites, set(found.cited), found.trusted) == ((YOUNG,), {YOUNG}, ())


def test_without_the_kernels_word_nothing_is_proved(proposing, monkeypatch, tmp_path):
    def refuse(*_):
        raise Rejected("a line: got nothing, expected a reason")

    monkeypatch.setattr(proved, "check", refuse)
    (row,) = audited(tmp_path / "audit", YOUNG)
    assert row["verdict"] != "proved"
    assert (row["proof"], row["derive"]["status"], row["derive"]["proved"]) == (None, "follows", False)
    assert row["derive"]["findings"][0].startswith("follows, not proved: the kernel does not accept it: a line: got")
    assert not (tmp_path / "audit" / "proofs").exists()


def test_a_proposal_for_another_claim_proves_nothing(proposing, monkeypatch):
    other = files()[YOUNG]
    monkeypatch.setattr("fedaudit.verify.proposals.proposal.propose", lambda *_: Proposal(other))
    assert isinstance(prove(statement(YOUNG), catalogue()), Proof)
    found = prove(statement(PAUL), catalogue())
    assert found == Unproved("the kernel accepts a proof of another claim")


def test_what_cites_the_unproved_is_not_proved(proposing, monkeypatch):
    only = {PAUL: files()[PAUL]}
    monkeypatch.setattr(
        "fedaudit.verify.proposals.proposal.propose",
        lambda one, _: Proposal(only[one.id]) if one.id in only else NONE,
    )
    assert prove(statement(PAUL), catalogue()) == Unproved(
        f"what it cites is not proved, {YOUNG}: line: none is written here"
    )


def test_a_proved_row_without_its_proof_cannot_be_written(tmp_path):
    with pytest.raises(ValueError, match="without a proof"):
        Folder.open(tmp_path).keep("key", Row(YOUNG, "proved"), None)


def test_a_row_is_not_proved_if_what_it_cites_fails_beside_it(proposing, monkeypatch, tmp_path):
    monkeypatch.setattr("fedaudit.verify.moves.rows.proof_row", lambda one, _: Row(one.id))
    (row,) = audited(tmp_path / "audit", PAUL)
    assert row["verdict"] == "survived"
    assert row["reason"].startswith(f"follows, but {YOUNG} is not proved")


def test_lines_on_z3s_word_are_said_and_counted_apart(proposing, monkeypatch, tmp_path, capsys):
    real = proved.check

    def trusting(file, accepted):
        found = real(file, accepted)
        return type(found)(found.claim, found.rules, ("a <= b", "b <= c"), found.cites)

    monkeypatch.setattr(proved, "check", trusting)
    rows = audited(tmp_path / "audit", YOUNG, PAUL)
    assert [(row["verdict"], row["trusted"]) for row in rows] == [("proved", 2), ("proved", 4)]
    assert rows[0]["reason"] == "trusting z3 for 2 lines"
    assert rows[0]["derive"]["trusted"] == ["a <= b", "b <= c"]
    from fedaudit.commands.tables import summary

    summary([typed(row) for row in rows], "page")
    said = capsys.readouterr().out
    assert "proved, trusting z3 for 4 lines" in said
    assert "2 proved (2 of them trusting z3 for some lines) of 2 statements" in said


@pytest.mark.parametrize(("before", "after", "worse"), [(0, 2, True), (3, 1, False), (2, 2, None)])
def test_a_proof_that_trusts_more_is_worse(before, after, worse):
    from fedaudit.commands.compare import compare
    from fedaudit.verify.results.audit_json import parse

    row = {"id": YOUNG, "verdict": "proved", "proof": PROOFS["young"]}
    head = {"version": "0", "seed": 0, "budget": 1}
    documents = [parse({**head, "statements": [{**row, "trusted": n}]}) for n in (before, after)]
    found = [change for changes in compare(*documents).values() for change in changes]
    assert [(one.what, one.worse) for one in found] == ([] if worse is None else [("lines on z3's word", worse)])


# --- what certify notices ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["young", "paul"])
def test_a_proof_that_is_gone_or_broken_is_noticed(folder, capsys, name):
    path = folder / PROOFS[name]
    whole = json.loads(path.read_text())
    path.unlink()
    status, rows = certified(capsys)
    assert status == 1
    assert PAUL in {one for one, *_ in wrong(rows)}
    path.write_text(json.dumps(whole | {"judgements": []}))
    status, rows = certified(capsys)
    assert (status, PAUL in {one for one, *_ in wrong(rows)}) == (1, True)
    path.write_text("{")
    status, rows = certified(capsys)
    assert (status, PAUL in {one for one, *_ in wrong(rows)}) == (2 if name == "paul" else 1, True)


def test_what_cites_a_rejected_proof_is_rejected(folder, capsys):
    change(folder / PROOFS["young"], judgements=[])
    status, (row,) = certified(capsys, f"audit/{PROOFS['paul']}")
    assert (status, row["accepted"]) == (1, False)
    assert row["reason"].startswith(f"proof.cites: got {YOUNG}, whose proof is not accepted: proof: got no judgement")


def test_proofs_that_cite_one_another_prove_nothing(folder, capsys):
    change(folder / PROOFS["young"], cites=[PAUL])
    status, (row,) = certified(capsys, f"audit/{PROOFS['paul']}")
    assert (status, row["accepted"]) == (1, False)
    assert "expected no circle" in row["reason"]


def test_a_proof_under_another_statements_name_is_refused(folder, capsys):
    shutil.copy(folder / PROOFS["young"], folder / PROOFS["paul"])
    status, rows = certified(capsys)
    assert status == 1
    name = Path(PROOFS["paul"]).name
    assert (PAUL, f"audit/{PROOFS['paul']}", f"{name}: got a proof of {YOUNG}, expected one of {PAUL}") in wrong(rows)


def test_a_proof_of_another_claim_is_refused(folder, capsys):
    file = json.loads((folder / PROOFS["young"]).read_text())
    file["claim"]["then"][0][2] = ["*", "2", file["claim"]["then"][0][2]]
    (folder / PROOFS["young"]).write_text(json.dumps(file))
    status, (row,) = certified(capsys, f"audit/{PROOFS['young']}")
    assert (status, row["reason"]) == (1, f"claim: got another claim than {YOUNG} makes, expected the catalogue's")


def test_a_single_proof_finds_what_it_cites_beside_it(folder, capsys, tmp_path):
    status, (row,) = certified(capsys, f"audit/{PROOFS['paul']}")
    assert (status, row["what"]) == (0, "proof of the statement, 1 judgement, with those of 1 that it rests on")
    (tmp_path / "alone").mkdir()
    shutil.copy(folder / PROOFS["paul"], tmp_path / "alone")
    status, (row,) = certified(capsys, "alone/buttaci-appA-peterpaul.json")
    assert status == 1
    assert "got no file buttaci-appA-young.json, expected the proof of" in row["reason"]


def test_rows_that_say_proved_need_their_proof(folder, capsys):
    document = json.loads((folder / "audit.json").read_text())
    for row in document["statements"]:
        row.update(verdict="proved", certificate=None, proof=row["proof"] if row["id"] == PAUL else None)
    (folder / "audit.json").write_text(json.dumps(document))
    status, rows = certified(capsys)
    assert status == 1
    expected = f"audit.json: got no proof, expected its proof in proofs/{PROFILED.replace('/', '-')}.json"
    assert expected in [reason for *_, reason in wrong(rows)]


def test_a_row_that_hides_what_it_trusts_is_rejected(folder, capsys):
    document = json.loads((folder / "audit.json").read_text())
    next(row for row in document["statements"] if row["id"] == PAUL)["trusted"] = 3
    (folder / "audit.json").write_text(json.dumps(document))
    status, rows = certified(capsys)
    assert (status, [reason for *_, reason in wrong(rows) if reason.startswith("audit.json")]) == (
        1, ["audit.json: got 3 lines on trust, expected 0"],
    )  # fmt: skip


def test_files_that_nothing_names_are_orphaned(folder, capsys):
    shutil.copy(folder / PROOFS["young"], folder / "proofs" / "more.json")
    shutil.copy(next((folder / "worst").glob("*.lower.json")), folder / "worst" / "more.json")
    status, rows = certified(capsys)
    assert status == 1
    assert [(file, reason.partition(":")[0]) for _, file, reason in wrong(rows)] == [
        ("audit/proofs/more.json", "orphaned"), ("audit/worst/more.json", "orphaned"),
    ]  # fmt: skip


def ends(folder, which):
    return sorted((folder / "worst").glob(f"classic-*.{which}.json"))


@pytest.mark.parametrize("which", ["lower", "upper"])
def test_an_end_that_is_gone_damaged_or_swapped_is_noticed(folder, capsys, which):
    one, other = ends(folder, which)[:2]
    first, second = one.read_text(), other.read_text()
    one.write_text(second)
    other.write_text(first)
    status, rows = certified(capsys)
    assert (status, {file for _, file, _ in wrong(rows)}) == (1, {f"audit/worst/{p.name}" for p in (one, other)})
    other.write_text(second)
    one.unlink()
    status, rows = certified(capsys)
    assert (status, len(wrong(rows))) == (1, 1)
    one.write_text(first)
    key = "lhs" if which == "lower" else "factor"
    change(one, **{key: "1/1000000"})
    status, rows = certified(capsys)
    assert (status, len(wrong(rows))) == (1, 1)
    one.write_text("[1]")
    status, rows = certified(capsys)
    assert (status, len(wrong(rows))) == (2, 1)


def test_an_end_that_the_row_tells_otherwise_is_noticed(folder, capsys):
    document = json.loads((folder / "audit.json").read_text())
    quoted = next(row for row in document["statements"] if row["id"] == PROFILED)["hunt"]["worst"][0]
    quoted["lower_exact"], quoted["upper_exact"] = "1/3", "1/7"
    (folder / "audit.json").write_text(json.dumps(document))
    status, rows = certified(capsys)
    assert (status, len([reason for *_, reason in wrong(rows) if "end 1/" in reason])) == (1, 0)
    assert len([reason for *_, reason in wrong(rows) if " end '1/" in reason]) == 2


def test_an_end_that_the_row_tells_otherwise_in_floats_is_noticed(folder, capsys):
    document = json.loads((folder / "audit.json").read_text())
    quoted = next(row for row in document["statements"] if row["id"] == PROFILED)["hunt"]["worst"][0]
    quoted["lower"], quoted["upper"] = 0.99, 0.1
    (folder / "audit.json").write_text(json.dumps(document))
    status, rows = certified(capsys)
    assert (status, len([reason for *_, reason in wrong(rows) if "end '" in reason])) == (1, 2)


@pytest.mark.parametrize(
    "told", [{"relation": 2}, {"name": "C 5, E 1, T 1"}, *({"point": {n: "1/3"}} for n in ("p", "h", "L", "T"))]
)
def test_ends_at_another_point_are_noticed(folder, capsys, told):
    document = json.loads((folder / "audit.json").read_text())
    quoted = next(row for row in document["statements"] if row["id"] == PROFILED)["hunt"]["worst"][0]
    quoted |= {key: {**quoted["point"], **value} if key == "point" else value for key, value in told.items()}
    (folder / "audit.json").write_text(json.dumps(document))
    status, rows = certified(capsys)
    assert (status, len([reason for *_, reason in wrong(rows) if "audit.json tells" in reason])) == (1, 2)


@pytest.mark.parametrize(("name", "said"), [("t", "7"), ("gamma", "1/9"), ("noise", "signs"), ("M", "3")])
def test_indices_steps_noise_and_letters_of_sizes_belong_to_the_point(name, said):
    held = {"statement": "a/b", "factor": "1", "at": {"relation": 0, "t": 0}}
    held["claim"] = {"method": {"names": {"M": "C"}}}
    held["point"] = {"C": 2, "E": 1, "T": 1, "steps": {"gamma": ["1/8", "1/8"]}, "noise": {"kind": "none"}}
    here = {"t": "0", "gamma": "1/8", "noise": "none", "M": "2", "G": "any"}

    def end(point):
        return End("a/b", "", "upper", Ends(tuple(point.items()), upper_exact="1"))

    assert end(here).differs(held, None, None) == ""
    assert "expected the point" in end({**here, name: said}).differs(held, None, None)


def test_a_lower_end_refutes_nothing_and_is_not_rejected(folder, capsys):
    path = ends(folder, "lower")[0]
    held = json.loads(path.read_text())
    assert held["format"] == "fedaudit-instance/1"
    status, (row,) = certified(capsys, str(path))
    assert (status, row["what"]) == (0, "lower end: an exact instance, which refutes nothing")
    change(path, format="fedaudit-certificate/1")  # said to be a counterexample, it is none
    status, (row,) = certified(capsys, str(path))
    assert (status, row["accepted"]) == (1, False)
    assert "which holds; expected it to fail" in row["reason"]
    with pytest.raises(kernel.Malformed):
        kernel.check(held)


def test_what_hunt_keeps_is_checked_too(folder, capsys, tmp_path):
    assert main(["hunt", PROFILED, "--out", "found", "--budget", "0.2", "--jobs", "1"]) == 0
    capsys.readouterr()
    status, rows = certified(capsys, "found")
    assert (status, wrong(rows)) == (0, [])
    assert {row["kind"] for row in rows} == {"lower end", "upper end"}


def test_the_kernel_alone_takes_proofs_in_the_order_of_citation(folder, capsys):
    from fedaudit.verify.kernel.__main__ import main as alone

    young, paul = (f"audit/{PROOFS[name]}" for name in ("young", "paul"))
    assert alone([young, paul]) == 0
    assert "accepted: a proof of 1 judgements" in capsys.readouterr().out
    assert alone([paul, young]) == 1
    assert "expected statements whose proofs were accepted before" in capsys.readouterr().out


# --- files from strangers, and what is trusted ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [
        {"cites": "buttaci/appA-young"},
        {"cites": [1]},
        {"judgements": {}},
        {"more": 1},
        {"letters": []},
        {"claim": None},
    ],
)
def test_malformed_proofs_are_one_line(folder, capsys, fields):
    change(folder / PROOFS["young"], **fields)
    status = main(["certify", f"audit/{PROOFS['young']}"])
    said = capsys.readouterr()
    assert status == (1 if "claim" in fields else 2)
    assert len(said.err.splitlines()) == (0 if "claim" in fields else 1)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("proof",), 1), (("proof",), {}), (("proof",), "../audit.json"), (("proof",), "proofs/none.json"),
        (("trusted",), "0"), (("trusted",), None), (("hunt", "worst"), {}), (("hunt", "worst"), [1]), (("hunt",), 7),
        (("hunt", "worst", 0, "point"), 1), (("hunt", "worst", 0, "point"), {"L": 1}),
        (("hunt", "worst", 0, "lower"), "1"), (("hunt", "worst", 0, "lower"), True),
        (("hunt", "worst", 0, "lower_exact"), 1), (("hunt", "worst", 0, "lower_exact"), "1/0"),
        (("hunt", "worst", 0, "lower_exact"), "9" * 5000), (("hunt", "worst", 0, "certificate"), 1),
        (("hunt", "worst", 0, "certificate"), "/etc/passwd"),
        (("hunt", "worst", 0, "certificate"), "worst/../audit.json"),
        (("hunt", "worst", 0, "proof"), "certificates/buttaci-appA-strong-second.json"),
    ],
)  # fmt: skip
def test_what_a_strangers_row_says_of_its_evidence_is_told_in_a_line(folder, capsys, place, value):
    document = json.loads((folder / "audit.json").read_text())
    at = next(row for row in document["statements"] if row["id"] == (PAUL if len(place) == 1 else PROFILED))
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    (folder / "audit.json").write_text(json.dumps(document))
    status = main(["certify", "audit"])
    said = capsys.readouterr()
    assert status in (1, 2)
    assert len(said.err.splitlines()) == (status == 2)


def paths(data, place=()):
    """Every place of JSON data but the whole."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inner:
        yield (*place, key)
        yield from paths(value, (*place, key))


ODD = (None, True, -1, 10**30, 1.5, "", "a", "goal", [], {}, ["square", "a"], YOUNG, ["^", "a", "9" * 50], ["*"] * 2000)


def test_a_proof_with_one_thing_changed_is_a_line_and_no_crash(folder, capsys):
    rng, path = random.Random(31), folder / PROOFS["paul"]
    whole = path.read_text()
    for _ in range(60):
        changed = json.loads(whole)
        place = rng.choice(list(paths(changed)))
        at = changed
        for key in place[:-1]:
            at = at[key]
        at[place[-1]] = rng.choice(ODD)
        path.write_text(json.dumps(changed))
        status = main(["certify", str(path)])
        said = capsys.readouterr()
        assert status in ((0,) if changed == json.loads(whole) else (1, 2)), place
        assert "crash" not in said.out
        assert len(said.err.splitlines()) == (status == 2)


def test_the_chain_of_trust_has_ten_lines(folder, capsys):
    assert main(["certify", f"audit/{PROOFS['paul']}", "--explain"]) == 0
    said = capsys.readouterr().out.splitlines()
    told = said[said.index("chain of trust:") :]
    assert len(told) <= 10
    assert told[1] == "  judgements by rule: line 1"
    assert f"rests on the proofs of: {YOUNG}" in told[5]
    assert told[6].startswith("  believed: python-flint")
    assert told[6].endswith("no solver")


def test_a_file_cannot_put_any_line_on_z3s_word(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    claim = lower(statement("buttaci/lem4.1")).claim
    trusted = [{"rule": "trusted", "says": relation, "with": {"solver": "z3"}} for relation in claim["then"]]
    file = {"format": FORMAT, "statement": claim["id"], "claim": claim, "judgements": trusted}
    Path("forged.json").write_text(json.dumps(file))
    status, (row,) = certified(capsys, "forged.json")
    assert (status, row["accepted"]) == (1, False)
    assert "got a line on z3's word that z3 does not give" in row["reason"]
