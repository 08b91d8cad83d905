"""An audit's folder from a stranger: what can be checked again is, and nothing else is called checked.

Rows that `audit` finds are in test_damaged_stores.py; here is who reads audit.json: certify, report, export, compare.
"""

import copy
import json
import shutil

import pytest
from faked import CERTIFICATE, PAUL, REFUTED, YOUNG, proofs, typed
from hostile import golden

import fedaudit as fa
from fedaudit import overview
from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.bounds.formulas.statement_text import printed
from fedaudit.cli import main
from fedaudit.errors import UserError
from fedaudit.running import own_marks as own
from fedaudit.running.store import Folder, own_rows
from fedaudit.verify.certify.standing import recheck
from fedaudit.verify.results.audit_json import read
from fedaudit.verify.results.file_names import proof_file, slug
from fedaudit.verify.search.claim_identity import claim_of

PROVED, SURVIVED, THEOREM = PAUL, "buttaci/prop3.3-lower", "yuan/thm1"
FILE = f"certificates/{slug(REFUTED)}.json"
WORST = [{"point": {"L": "10"}, "lower": None, "upper": None, "name": "kappa 10", "by": "", "ordinary": {"kappa": 10}}]


def row(name, verdict, **fields):
    move = {"verdict": "survived", "evidence": "exact", "instances": 7, "tightness": 0.5, "certificate": None}
    return {
        "id": name,
        "verdict": verdict,
        "evidence": "exact",
        "tightness": 0.5,
        "certificate": None,
        "lint": {"findings": []},
        "derive": {"status": "not-derived", "factor": None, "proved": False, "cites": [], "steps": []},
        "verify": move,
        "hunt": move | {"worst": WORST},
        "implicit": [],
        "repaired": None,
        "statement": printed(statement(name)),
    } | fields


def rows():
    derived = {"status": "follows", "factor": 1, "proved": True, "cites": [], "steps": []}
    literal = {"name": statement(SURVIVED).implicit[0].name, "literal": "survives", "certificate": None}
    return [
        row(REFUTED, "refuted", certificate=FILE),
        row(PROVED, "proved", evidence="proof", derive=derived, proof=proof_file(PROVED)),
        row(SURVIVED, "survived", implicit=[literal]),
    ]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An audit's folder that this user's fedaudit wrote; the current folder holds it."""
    monkeypatch.chdir(tmp_path)
    made = Folder.open(tmp_path / "audit")
    (made.path / "certificates").mkdir()
    (made.path / FILE).write_text(json.dumps(CERTIFICATE))
    (made.path / "rows").mkdir()
    for name, proof in proofs().items():
        made.prove(name, proof)
    made.finish({"version": "0", "seed": 0, "budget": 1.0, "statements": rows()})
    return made.path


def edit(folder, change):
    """Change the rows of audit.json, by id."""
    path = folder / "audit.json"
    document = json.loads(path.read_text())
    change({one["id"]: one for one in document["statements"]})
    path.write_text(json.dumps(document))


def stranger(folder):
    (folder / "marks.json").unlink()


def certified(capsys, *options):
    """The exit status, and what is judged how, by id."""
    status = main(["certify", "audit", "--json", *options])
    found = json.loads(capsys.readouterr().out)
    return status, {one["id"]: (one["accepted"], one["what"] or one["reason"]) for one in found}


SAYS = "is what audit.json says, not checked; do: decide it again with `fedaudit audit --out DIR`"


CHECKED = {  # whoever wrote the folder
    REFUTED: (True, "refutation"),
    YOUNG: (True, "proof of the statement, 1 judgement"),
    PROVED: (True, "proof of the statement, 1 judgement, with those of 1 that it rests on"),
}


def test_what_this_users_audit_came_to_is_not_decided_again(folder, capsys):
    assert own_rows(folder / "audit.json") == {REFUTED, PROVED, SURVIVED}
    assert certified(capsys) == (0, CHECKED)


def test_of_a_strangers_folder_what_has_a_certificate_is_checked_and_nothing_else(folder, capsys):
    stranger(folder)
    status, found = certified(capsys)
    assert status == 0
    assert found == {**CHECKED, SURVIVED: (False, f"survived {SAYS}")}
    assert main(["certify", "audit"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 accepted, 1 not checked"


def to_proved(row):
    """A refutation becomes a proof, with all traces of it removed."""
    row.update(verdict="proved", evidence="proof", certificate=None)
    row["derive"] = {"status": "follows", "factor": 1, "proved": True, "cites": []}


def test_refuted_made_proved_is_rejected(folder, capsys):
    edit(folder, lambda rows: to_proved(rows[REFUTED]))
    (folder / FILE).unlink()
    status, found = certified(capsys)
    assert status == 1
    why = f"audit.json: got no proof, expected its proof in {proof_file(REFUTED)}"
    assert found == {**CHECKED, REFUTED: (False, why)}
    assert main(["certify", "audit"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "2 accepted, 1 rejected"


def test_survived_made_proved_is_rejected(folder, capsys):
    edit(folder, lambda rows: to_proved(rows[SURVIVED]))
    status, found = certified(capsys)
    assert (status, found[SURVIVED][0]) == (1, False)
    assert found[SURVIVED][1] == f"audit.json: got no proof, expected its proof in {proof_file(SURVIVED)}"


def test_a_proof_from_a_form_that_is_written_by_hand_is_none(folder, capsys):
    edit(folder, lambda rows: (to_proved(rows[SURVIVED]), rows[SURVIVED].update(id=THEOREM)))
    Folder(folder).prove(THEOREM, {**proofs()[YOUNG], "statement": THEOREM, "claim": claim_of(statement(THEOREM))})
    edit(folder, lambda rows: rows[THEOREM].update(proof=proof_file(THEOREM)))
    status, found = certified(capsys)
    assert (status, found[THEOREM][0]) == (1, False)
    assert found[THEOREM][1].startswith("claim: got what rests on a form derived by hand")
    assert "rests on a form derived by hand" in rechecked(folder)[2].standing.reason


def test_refuted_made_survived_is_not_checked_and_never_accepted(folder, capsys):
    edit(folder, lambda rows: rows[REFUTED].update(verdict="survived", certificate=None))
    (folder / FILE).unlink()
    assert certified(capsys) == (0, {**CHECKED, REFUTED: (False, f"survived {SAYS}")})
    assert main(["certify", "audit"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 accepted, 1 not checked"


def test_a_proof_of_a_statement_that_nobody_holds_is_not_checked(folder, capsys):
    edit(folder, lambda rows: rows[PROVED].update(id="mine/thm1", proof=None))
    shutil.rmtree(folder / "proofs")
    status, found = certified(capsys)
    assert (status, found["mine/thm1"][0]) == (0, False)
    assert found["mine/thm1"][1].endswith("not checked; do: name the .py file that defines it as well")


def test_a_verdict_that_no_audit_has_is_refused(folder, capsys):
    edit(folder, lambda rows: rows[PROVED].update(verdict="certain", proof=None))
    status, rows = certified(capsys)
    assert (status, rows[REFUTED]) == (2, (True, "refutation"))
    assert "verdict = 'certain', expected one of refuted, proved" in rows[""][1]


@pytest.mark.parametrize("verdict", ["undecided", "reproduced", "reproduced-if", "not-reproduced"])
def test_other_verdicts_are_never_confirmed(folder, capsys, verdict):
    edit(folder, lambda rows: rows[PROVED].update(verdict=verdict, proof=None))
    shutil.rmtree(folder / "proofs")
    assert certified(capsys) == (0, {REFUTED: (True, "refutation"), PROVED: (False, f"{verdict} {SAYS}")})


def exchange(one, other):
    """Ids swapped: each row is about the other's statement."""

    def change(rows):
        rows[one]["id"], rows[other]["id"] = other, one

    return change


EDITED = {  # every field that a stranger may change makes the row his
    "verdict": lambda rows: rows[SURVIVED].update(verdict="undecided"),
    "evidence": lambda rows: rows[SURVIVED].update(evidence="proof"),
    "tightness": lambda rows: rows[SURVIVED].update(tightness=0.999),
    "a whole number for a float": lambda rows: rows[SURVIVED].update(tightness=1),
    "derive.status": lambda rows: rows[SURVIVED]["derive"].update(status="follows"),
    "derive.proved": lambda rows: rows[SURVIVED]["derive"].update(proved=True),
    "a finding more": lambda rows: rows[SURVIVED]["lint"]["findings"].append({"rule": "a", "message": "b"}),
    "a literal reading": lambda rows: rows[SURVIVED]["implicit"][0].update(literal="undecided"),
    "no literal readings": lambda rows: rows[SURVIVED].update(implicit=[]),
    "a worst case": lambda rows: rows[SURVIVED]["hunt"]["worst"][0].update(upper=0.999),
    "instances": lambda rows: rows[SURVIVED]["verify"].update(instances=10**9),
    "a repair": lambda rows: rows[SURVIVED].update(repaired=PROVED),
    "a figure": lambda rows: rows[SURVIVED].update(figure=f"figures/{slug(SURVIVED)}.svg"),
    "a field more": lambda rows: rows[SURVIVED].update(note="trust me"),
    "a field removed": lambda rows: rows[SURVIVED].pop("evidence"),
    "its words": lambda rows: rows[SURVIVED]["statement"].update(title="Fermat's last theorem"),
    "ids swapped": exchange(SURVIVED, PROVED),
}


@pytest.mark.parametrize("field", EDITED)
def test_a_row_of_audit_json_that_was_edited_is_nobodys(folder, field):
    edit(folder, EDITED[field])
    found = own_rows(folder / "audit.json")
    assert SURVIVED not in found
    assert REFUTED in found
    assert (PROVED in found) == (field != "ids swapped")


def copy_mark(folder):
    """The mark of one row for another."""
    marks = json.loads((folder / "marks.json").read_text())
    (folder / "marks.json").write_text(json.dumps(marks | {SURVIVED: marks[PROVED]}))


def whole(name, value):
    """Change what audit.json says of all rows."""

    def change(folder):
        path = folder / "audit.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))

    return change


def second(folder):
    """A row beside this user's own, with the same id."""
    path = folder / "audit.json"
    document = json.loads(path.read_text())
    document["statements"].append(row(SURVIVED, "proved"))
    path.write_text(json.dumps(document))


FOREIGN = {
    "no marks": stranger,
    "marks that are a list": lambda folder: (folder / "marks.json").write_text("[]"),
    "marks that are no JSON": lambda folder: (folder / "marks.json").write_text("{"),
    "marks that are numbers": lambda folder: (folder / "marks.json").write_text(json.dumps({SURVIVED: 1})),
    "empty marks": lambda folder: (folder / "marks.json").write_text(json.dumps({SURVIVED: ""})),
    "another row's mark": copy_mark,
    "another seed": whole("seed", 1),
    "another version": whole("version", "9"),
    "another budget": whole("budget", 120.0),
    "a second row of its id": second,
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_marks_that_are_none_of_this_row_are_none(folder, kind):
    FOREIGN[kind](folder)
    assert SURVIVED not in own_rows(folder / "audit.json")


def test_another_users_marks_are_none_and_a_moved_folder_keeps_its_own(folder, tmp_path, monkeypatch):
    shutil.move(folder, tmp_path / "elsewhere")
    assert own_rows(tmp_path / "elsewhere" / "audit.json") == {REFUTED, PROVED, SURVIVED}
    monkeypatch.setattr(own, "_key", lambda: b"k" * own.LENGTH)
    assert own_rows(tmp_path / "elsewhere" / "audit.json") == frozenset()


def test_a_mark_of_a_stored_row_is_none_of_audit_json(folder):
    kept = Folder(folder).keep("key", typed(row(SURVIVED, "survived")), None)
    stored = json.loads((folder / "rows" / f"{slug(SURVIVED)}.json").read_text())
    edit(folder, lambda rows: rows[SURVIVED].update(kept.to_json()))
    marks = json.loads((folder / "marks.json").read_text())
    (folder / "marks.json").write_text(json.dumps(marks | {SURVIVED: stored["mark"]}))
    assert SURVIVED not in own_rows(folder / "audit.json")


POINTS = {  # a certificate that is another's, or stands elsewhere in the row
    "of another statement": lambda rows: rows[SURVIVED].update(verdict="refuted", certificate=FILE),
    "in a move": lambda rows: rows[SURVIVED]["hunt"].update(verdict="refuted", certificate=FILE),
    "of a literal reading": lambda rows: rows[SURVIVED]["implicit"][0].update(literal="breaks", certificate=FILE),
}


@pytest.mark.parametrize("kind", POINTS)
def test_a_certificate_of_another_statement_is_rejected(folder, capsys, kind):
    edit(folder, POINTS[kind])
    assert main(["certify", "audit", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert any(f"got a certificate of {REFUTED}, expected one of {SURVIVED}" in (one["reason"] or "") for one in found)


def test_swapped_certificates_are_rejected(folder, capsys):
    other = f"certificates/{slug(THEOREM)}.json"
    (folder / other).write_text(json.dumps(golden("yuan-thm1")))

    def swap(rows):
        rows[SURVIVED].update(id=THEOREM, verdict="refuted", certificate=FILE, statement=printed(statement(THEOREM)))
        rows[REFUTED].update(certificate=other)

    edit(folder, swap)
    status, found = certified(capsys)
    assert (status, found[REFUTED][0], found[THEOREM][0]) == (1, False, False)
    again = rechecked(folder)
    assert {one.row.id: one.verdict for one in again} == {
        REFUTED: "unverified",
        PROVED: "proved",
        THEOREM: "unverified",
    }
    assert again[0].standing.reason == "its certificate is about another statement"


@pytest.fixture(scope="module")
def proof():
    """A proof of a statement, which the kernel accepts."""
    return {**proofs()[PROVED], "cites": []}


AS = {  # a proof of the row's own statement where a counterexample belongs
    "of the verdict": lambda row, _: row.update(verdict="refuted", certificate=FILE),
    "of a move": lambda row, _: row["hunt"].update(verdict="refuted", certificate=FILE),
    "of a reading": lambda row, _: row.update(implicit=[{"name": "", "literal": "breaks", "certificate": FILE}]),
    "beside an undecided move": lambda row, held: row["hunt"].update(verdict="undecided", counterexample=held),
}


@pytest.mark.parametrize("kind", AS)
def test_a_proof_is_no_counterexample(folder, capsys, proof, kind):
    """The kernel accepts it, and a stranger calls it the certificate of a refutation."""
    (folder / FILE).write_text(json.dumps(proof))
    edit(folder, lambda rows: (rows[REFUTED].update(row(REFUTED, "survived")), AS[kind](rows[PROVED], proof)))
    assert main(["certify", "audit", "--json"]) == 1
    reasons = [one["reason"] or "" for one in json.loads(capsys.readouterr().out)]
    assert any("got a proof of the statement" in one and "expected a counterexample" in one for one in reasons)
    checked = next(one for one in rechecked(folder) if one.row.id == PROVED)
    why = "its certificate is no counterexample: the kernel accepts it as a proof"
    literals = [one.standing for one in checked.literals]
    standings = [checked.standing, *checked.moves.values(), *checked.counterexamples.values(), *literals]
    assert [one.reason for one in standings if one.kind == "unverified"] == [why]
    assert not any(one.kind == "replayed" for one in standings[1:])


def test_a_proof_refutes_no_statement_that_nobody_holds(folder, proof):
    unknown = json.loads(json.dumps(proof).replace(PROVED, "mine/thm1"))
    (folder / FILE).write_text(json.dumps(unknown))
    edit(folder, lambda rows: rows[PROVED].update(id="mine/thm1", verdict="refuted", certificate=FILE))
    checked = next(one for one in rechecked(folder) if one.row.id == "mine/thm1")
    assert (checked.verdict, checked.standing.kind) == ("unverified", "unverified")


def test_a_proof_of_another_statement_proves_nothing(folder, capsys, proof):
    """Given another's name it is rejected; beside the row it makes no verdict of the row accepted."""
    stranger(folder)
    edit(folder, lambda rows: to_proved(rows[SURVIVED]))
    for said in (PROVED, SURVIVED):
        renamed = {**proof, "statement": said}
        (folder / f"certificates/{slug(SURVIVED)}.json").write_text(json.dumps(renamed))
        assert main(["certify", "audit", "--json"]) in (1, 2)
        about = [one for one in json.loads(capsys.readouterr().out) if one["id"] == SURVIVED]
        assert about
        assert not any(one["accepted"] for one in about)


def rechecked(folder):
    """The rows of a folder as the report and the document read them."""
    return recheck(read(folder), folder)


def page(folder, name):
    return (folder / "pages" / f"{slug(name)}.html").read_text()


def test_a_proof_that_the_kernel_does_not_accept_leaves_the_row_unverified(folder, capsys):
    (folder / proof_file(YOUNG)).unlink()
    assert main(["report", "--out", "audit"]) == 0
    capsys.readouterr()
    assert "The file says proved. Unverified: its proof is rejected" in page(folder, PROVED)
    edit(folder, lambda rows: rows[PROVED].update(proof=None))
    assert [one.standing.reason for one in rechecked(folder) if one.row.id == PROVED] == ["the file names no proof"]


def test_the_pages_of_a_file_say_what_was_not_checked(folder, capsys):
    lint = [{"rule": "dimension", "message": "F is not W"}]
    edit(folder, lambda rows: rows[REFUTED].update(lint={"findings": lint}, repaired=PROVED))
    assert main(["report", "--out", "audit"]) == 0
    capsys.readouterr()
    unchecked, mark = '<span class="mark">(as the file says)</span>', '<span class="mark">(not rechecked)</span>'
    for name in (REFUTED, PROVED, SURVIVED):
        text = page(folder, name)
        assert "worst cases, the repair and the figure are as the file says; none of them was checked again" in text
        for heading in ("<h3>Worst cases", "<h2>Lint"):
            assert f"{heading} {unchecked}</" in text
        assert f"{'The claim follows' if name == PROVED else 'Not derived'} {unchecked}" in text
    assert '<span class="verdict proved">proved</span> <span class="mark">(replayed)</span>' in page(folder, PROVED)
    assert f"<td>survived {mark}</td>" in page(folder, PROVED)
    assert f"without it: <b>survives</b> {mark}" in " ".join(page(folder, SURVIVED).split())
    assert "(replayed)" in page(folder, REFUTED)
    assert f"Repaired as <bdi>{REFUTED}~repaired</bdi>" in page(folder, REFUTED), "as the catalogue says, not the file"
    paper = (folder / "papers" / "paper-buttaci.html").read_text()
    assert "(1: for all parameters)" in paper
    assert "the tightest first, as the file says)" in paper
    assert f"{PROVED}: proved (replayed)." in paper or "No proof here cites another" in paper


def test_the_document_says_what_was_not_checked(folder, capsys):
    lint = [{"rule": "dimension", "message": "all is well"}]
    edit(folder, lambda rows: rows[SURVIVED].update(lint={"findings": lint}, reason="so it is", repair="rate"))
    assert main(["export", REFUTED, PROVED, SURVIVED, "--latex"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "proved (proof): its proof was checked by the exact kernel for this document" in text
    assert "survived (exact): as audit.json says, not checked again" in text
    assert "refuted (exact): its counterexample was replayed by the exact kernel for this document" in text
    assert text.count("as audit.json says, largest left side over right side") == 3
    for line in ("note: so it is", "a repair has to change: rate", "lint, dimension: all is well"):
        assert f"as audit.json says, {line}" in text


def test_compare_says_whose_word_it_is(folder, capsys):
    mine = copy.copy(folder)
    theirs = folder.with_name("theirs")
    shutil.copytree(mine, theirs)
    assert main(["compare", "audit", "audit/audit.json", "--json"]) == 0
    assert capsys.readouterr() == ("[]\n", "")
    edit(theirs, lambda rows: to_proved(rows[SURVIVED]))
    assert main(["compare", "audit", "theirs", "--json"]) == 0
    said = capsys.readouterr().err
    word = "without this user's mark; what they say is the file's word, not checked again"
    assert said == f"fedaudit: theirs: 1 of 3 rows {word}\n"
    shutil.copy(mine / "audit.json", "saved.json")  # without its marks
    assert main(["compare", "saved.json", "audit"]) == 0
    assert f"fedaudit: saved.json: 3 of 3 rows {word}" in capsys.readouterr().err


def test_the_table_of_the_readme_says_whose_word_it_is(folder, capsys):
    (folder / "README.md").write_text(f"{PROVED}\n")
    asked = [str(folder), str(folder / "README.md")]
    assert (overview.main(asked), capsys.readouterr().err) == (0, "")
    edit(folder, lambda rows: to_proved(rows[SURVIVED]))
    assert overview.main(asked) == 0
    assert f"{folder}: 1 of 3 rows without this user's mark; what they say" in capsys.readouterr().err


def test_from_python_the_one_certificate_of_ones_own_folder_is_judged(folder):
    with pytest.raises(UserError, match="got audit with 3 to judge, expected one certificate; do: name one file"):
        fa.certify("audit")
    assert fa.certify(folder / FILE).what == "refutation"
