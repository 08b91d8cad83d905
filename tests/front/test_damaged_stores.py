"""Stores that were edited, cut short or built by a stranger: what does not match is done again and said."""

import copy
import json
import os
import sys
from dataclasses import replace

import pytest
from faked import CERTIFICATE, REFUTED, fake_moves

from fedaudit.errors import UserError
from fedaudit.running import files, runner, selection, store
from fedaudit.running import own_marks as own
from fedaudit.running.local import Local
from fedaudit.running.store import Folder, Foreign
from fedaudit.verify.results.file_names import slug
from fedaudit.verify.results.row import Row

ROW = f"rows/{slug(REFUTED)}.json"
HELD = f"certificates/{slug(REFUTED)}.json"
FIGURE = f"figures/{slug(REFUTED)}.svg"
STRANGE = f"{ROW} is not a row that an audit finished"
CHANGED = "its row was changed"
FOREIGN = "1 finished row in {} without this user's mark: decided again"
SETTINGS = runner.Settings(0)


@pytest.fixture(scope="module")
def chosen():
    return selection.choose([REFUTED])


@pytest.fixture
def moves(monkeypatch):
    made = fake_moves()
    monkeypatch.setitem(sys.modules, made.__name__, made)
    monkeypatch.setattr("fedaudit.verify.moves.rows", made, raising=False)
    monkeypatch.setattr(runner, "figure_of", lambda *_: "<svg/>")
    return made


@pytest.fixture
def audit(chosen, moves, tmp_path):
    """Audit one refuted statement in a folder: its rows, the calls that it took, what was said."""

    def call():
        moves.calls.clear()
        said = []
        with Folder.open(tmp_path / "out").held() as folder:
            done = runner.audit(chosen, SETTINGS, Local(1), folder, notice=said.append)
        return done.rows, list(moves.calls), said

    return call


def in_row(change, *, forged=False):
    """Change the stored row; a forger computes the digests again."""

    def damage(out):
        path = out / ROW
        stored = json.loads(path.read_text())
        change(stored["row"])
        if forged:
            names = list(named(stored["row"]))
            stored["files"] = {n: stored["files"].get(n) or digest(out, n) for n in names}
            stored["digest"] = store._row_digest(stored["key"], stored["row"], stored["files"])
        path.write_text(json.dumps(stored))

    return damage


def named(row):
    """Every file that a row names, whatever a forger wrote into it."""
    parts = [
        row,
        row.get("verify"),
        row.get("hunt"),
        *(row["implicit"] if isinstance(row.get("implicit"), list) else []),
    ]
    held = [part.get(key) for part in parts if isinstance(part, dict) for key in ("certificate", "proof", "figure")]
    return dict.fromkeys(name for name in held if isinstance(name, str))


def digest(out, name):
    try:
        return store.hashlib.sha256((out / name).read_bytes()).hexdigest()
    except OSError:
        return "0" * 64


def put(**fields):
    return lambda row: row.update(copy.deepcopy(fields))


def text(name, content):
    return lambda out: (out / name).write_bytes(content)


def instead(name, make):
    """Something else where a file was."""

    def damage(out):
        (out / name).unlink()
        make(out / name)

    return damage


def certificate(**fields):
    """Another certificate, with digests that match it."""

    def damage(out):
        (out / HELD).write_text(json.dumps({**CERTIFICATE, **fields}))
        stored = json.loads((out / ROW).read_text())
        stored["files"][HELD] = digest(out, HELD)
        stored["digest"] = store._row_digest(stored["key"], stored["row"], stored["files"])
        (out / ROW).write_text(json.dumps(stored))

    return damage


def loop(path):
    path.symlink_to(path.name)


def outside(path):
    elsewhere = path.parent.parent.parent / "elsewhere"
    elsewhere.write_text(json.dumps(CERTIFICATE))
    path.symlink_to(elsewhere)


def huge(path):
    with path.open("wb") as file:
        file.truncate(files.MOST_BYTES + 1)


def stored_field(name, value):
    def damage(out):
        path = out / ROW
        path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))

    return damage


def without(name):
    return lambda row: row.pop(name)


def raw(old, new):
    """Exchange bytes of the stored row, which stays JSON as far as Python's reader is concerned."""

    def damage(out):
        data = (out / ROW).read_bytes()
        assert old in data
        (out / ROW).write_bytes(data.replace(old, new, 1))

    return damage


DAMAGE = {
    "an edited verdict": (in_row(put(verdict="proved")), CHANGED),
    "an edited number": (in_row(put(tightness=0.25)), CHANGED),
    "a field removed": (in_row(without("evidence")), CHANGED),
    "a field more": (in_row(put(note="trust me")), CHANGED),
    "a row without verdict": (in_row(without("verdict")), CHANGED),
    "a certificate outside": (in_row(put(certificate="/etc/passwd")), CHANGED),
    "no digest": (stored_field("digest", None), CHANGED),
    "no digests of files": (stored_field("files", {}), CHANGED),
    "digests of files as a list": (stored_field("files", [HELD]), CHANGED),
    "a row that is a list": (stored_field("row", [1, 2]), STRANGE),
    "a row that is nothing": (stored_field("row", None), STRANGE),
    "a format that is a number": (stored_field("format", 2), STRANGE),
    "an empty file": (text(ROW, b""), STRANGE),
    "half a file": (text(ROW, b'{"format": "fedaudit-row/2", "key'), STRANGE),
    "a list": (text(ROW, b"[]"), STRANGE),
    "binary junk": (text(ROW, bytes(range(256))), STRANGE),
    "deep nesting": (text(ROW, b"[" * 100_000 + b"]" * 100_000), STRANGE),
    "deep objects": (text(ROW, b'{"row":' * 100_000 + b"1" + b"}" * 100_000), STRANGE),
    "NaN": (raw(b'"tightness": 0.5', b'"tightness": NaN'), STRANGE),
    "a number beyond floats": (raw(b'"tightness": 0.5', b'"tightness": 1e999'), STRANGE),
    "an endless number": (raw(b'"tightness": 0.5', b'"tightness": ' + b"9" * 5000), STRANGE),
    "half a pair of surrogates": (raw(b'"evidence": "exact"', b'"evidence": "\\ud800"'), STRANGE),
    "a FIFO": (instead(ROW, os.mkfifo), STRANGE),
    "a link to nothing": (instead(ROW, lambda p: p.symlink_to("nowhere")), STRANGE),
    "a link to itself": (instead(ROW, loop), STRANGE),
    "a link to a device": (instead(ROW, lambda p: p.symlink_to("/dev/zero")), STRANGE),
    "more than can be read": (instead(ROW, huge), STRANGE),
    "a cut certificate": (lambda out: os.truncate(out / HELD, 100), "its certificate was changed"),
    "an empty certificate": (text(HELD, b""), "its certificate was changed"),
    "a certificate that is gone": (lambda out: (out / HELD).unlink(), "its certificate is missing"),
    "a certificate that is a link": (instead(HELD, outside), "its certificate cannot be read"),
    "a certificate that is a FIFO": (instead(HELD, os.mkfifo), "its certificate cannot be read"),
    "an empty figure": (text(FIGURE, b""), "its figure was changed"),
    "a figure that is gone": (lambda out: (out / FIGURE).unlink(), "its figure is missing"),
    "a figure that is a link to itself": (instead(FIGURE, loop), "its figure cannot be read"),
    "forged: an absolute path": (in_row(put(certificate="/etc/passwd"), forged=True), "its certificate is none of its"),
    "forged: a path upwards": (in_row(put(certificate="certificates/../../x.json"), forged=True), "none of its own"),
    "forged: another's file": (in_row(put(certificate="certificates/a-b.json"), forged=True), "none of its own"),
    "forged: a figure elsewhere": (
        in_row(put(figure="index.html"), forged=True),
        "its figure is none of its own files",
    ),
    "forged: a list as certificate": (in_row(put(certificate=[1]), forged=True), FOREIGN),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_row_is_done_again_and_named(audit, tmp_path, kind):
    rows, calls, said = audit()
    assert (calls, said) == ([REFUTED], [])
    damage, why = DAMAGE[kind]
    damage(tmp_path / "out")
    again, calls, said = audit()
    assert (again, calls, len(said)) == (rows, [REFUTED], 1)
    if why == FOREIGN:
        assert said == [FOREIGN.format(tmp_path / "out")]
    else:
        assert said[0].startswith(f"{REFUTED} is done again: ")
        assert why in said[0]
    assert audit() == (rows, [], [])  # mended for good
    assert json.loads((tmp_path / "out" / "audit.json").read_text())["statements"] == [row.to_json() for row in rows]


def test_a_row_that_may_not_be_read_is_done_again(audit, monkeypatch):
    rows, _, _ = audit()
    reads = os.open

    def refuse(path, flags, *more, **named):
        if str(path).endswith(ROW) and not flags & os.O_CREAT:
            raise PermissionError(13, "Permission denied")
        return reads(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", refuse)
    assert audit() == (rows, [REFUTED], [f"{REFUTED} is done again: {STRANGE}"])


def inner(move, **fields):
    return lambda row: row[move].update(copy.deepcopy(fields))


LITERAL = [{"name": "kind", "says": "", "literal": "survives", "certificate": None}]
ENDS = [{"point": {"L": "1"}, "lower": 0.999, "upper": 1.0, "name": "ordinary", "by": ""}]
FORGED = {  # whatever a stranger writes into a whole row, with its digest computed again
    "proved": put(verdict="proved", evidence="proof", certificate=None, derive={"status": "follows", "proved": True}),
    "survived": put(verdict="survived", certificate=None),
    "undecided": put(verdict="undecided", certificate=None, reason="nobody knows"),
    "reproduced": put(verdict="reproduced", certificate=None),
    "an unknown verdict": put(verdict="certain"),
    "no verdict": without("verdict"),
    "refuted without a certificate": put(certificate=None),
    "evidence": put(evidence="proof"),
    "tightness": put(tightness=0.999),
    "text as a number": put(tightness="large"),
    "a number too large": put(tightness=10**400),
    "a status of derive": inner("derive", status="claims-less", factor=2.0),
    "a proof of derive": inner("derive", proved=True, proved_from=[]),
    "other sources of derive": inner("derive", cites=["buttaci/lem4.1"]),
    "findings of lint": put(lint={"findings": [{"rule": "dimension", "message": "all wrong"}]}),
    "findings as numbers": put(lint={"findings": [1]}),
    "a literal reading": put(implicit=LITERAL),
    "a literal reading that breaks": put(implicit=[LITERAL[0] | {"literal": "breaks", "certificate": HELD}]),
    "implicit as text": put(implicit="none"),
    "a move's verdict": inner("verify", verdict="undecided"),
    "a move's instances": inner("verify", instances=10**9),
    "a move as a list": put(hunt=[]),
    "worst cases": inner("hunt", worst=ENDS),
    "a repair": put(repaired="buttaci/lem4.1", repair="constant"),
    "no figure": put(figure=None),
    "a figure not drawn yet": without("figure"),
    "the words": put(statement={"title": "Fermat's last theorem"}),
    "nothing at all": put(),
}


@pytest.mark.parametrize("kind", FORGED)
def test_a_row_without_this_users_mark_is_decided_again_whatever_it_says(audit, tmp_path, kind):
    rows, _, _ = audit()
    out = tmp_path / "out"
    in_row(FORGED[kind], forged=True)(out)
    stored_field("mark", own.mark("row", "another row") if kind != "nothing at all" else "")(out)
    (out / FIGURE).write_text("<svg>a stranger's</svg>")
    if (held := json.loads((out / ROW).read_text()))["files"].get(FIGURE):
        held["files"][FIGURE] = digest(out, FIGURE)
        held["digest"] = store._row_digest(held["key"], held["row"], held["files"])
        (out / ROW).write_text(json.dumps(held))
    assert audit() == (rows, [REFUTED], [FOREIGN.format(out)])
    assert (out / FIGURE).read_text() == "<svg/>"
    assert audit() == (rows, [], [])


@pytest.mark.parametrize("wrong", [None, "", "0" * 64, 7, [], "ä"])
def test_a_mark_that_is_none_makes_a_true_row_a_strangers(audit, tmp_path, wrong):
    rows, _, _ = audit()
    assert audit() == (rows, [], [])
    stored_field("mark", wrong)(tmp_path / "out")
    assert audit() == (rows, [REFUTED], [FOREIGN.format(tmp_path / "out")])


def test_a_mark_binds_id_key_content_and_files(tmp_path):
    """Copied to another row, to the same row of another run or to other files it is none; a moved folder keeps its."""
    folder = Folder.open(tmp_path / "one")
    mine = Row("a/1", "survived", certificate={"lhs": "1"})
    kept = folder.keep("key", mine, "<svg/>")
    folder.keep("key", replace(mine, id="a/2"), "<svg/>")
    assert folder.row("a/1", "key") == kept
    mark = json.loads((folder.path / "rows/a-1.json").read_text())["mark"]

    def with_mark(folder, name, **change):
        stored = json.loads((folder.path / f"rows/{name}.json").read_text()) | {"mark": mark} | change
        stored["digest"] = store._row_digest(stored["key"], stored["row"], stored["files"])
        (folder.path / f"rows/{name}.json").write_text(json.dumps(stored))

    with_mark(folder, "a-2")
    with pytest.raises(Foreign):  # of another row
        folder.row("a/2", "key")
    with_mark(folder, "a-1", key="longer")
    with pytest.raises(Foreign):  # of another run
        folder.row("a/1", "longer")
    for content, figure, file in (({"lhs": "2"}, "<svg/>", "certificate"), ({"lhs": "1"}, "<svg>2</svg>", "figure")):
        other = Folder.open(tmp_path / file)
        other.keep("key", replace(mine, certificate=content), figure)
        with_mark(other, "a-1")
        with pytest.raises(Foreign):  # of the same row with another file
            other.row("a/1", "key")
    moved = Folder.open(tmp_path / "moved")
    moved.keep("key", mine, "<svg/>")
    moved.path.rename(tmp_path / "elsewhere")
    assert Folder(tmp_path / "elsewhere").row("a/1", "key") == kept


def test_a_mark_of_one_kind_is_none_of_another():
    assert own.is_own("row", "text", own.mark("row", "text"))
    assert not own.is_own("page", "text", own.mark("row", "text"))
    assert not own.is_own("row", "other", own.mark("row", "text"))


def test_another_users_mark_is_none(audit, tmp_path, monkeypatch):
    monkeypatch.setattr(own, "_key", lambda: b"k" * own.LENGTH)
    rows, _, _ = audit()
    monkeypatch.setattr(own, "_key", lambda: b"l" * own.LENGTH)
    assert audit() == (rows, [REFUTED], [FOREIGN.format(tmp_path / "out")])
    assert audit() == (rows, [], [])


def test_without_a_key_there_are_no_marks_and_every_row_is_decided_again(audit, tmp_path, monkeypatch):
    monkeypatch.setattr(own, "_key", lambda: None)
    rows, _, _ = audit()
    assert json.loads((tmp_path / "out" / ROW).read_text())["mark"] == ""
    again, calls, (said,) = audit()
    assert (again, calls) == (rows, [REFUTED])
    assert said.startswith(FOREIGN.format(tmp_path / "out") + "; no key of this user's alone can be kept (")
    assert store.own_rows(tmp_path / "out" / "audit.json") == frozenset()


@pytest.mark.parametrize("kind", ["empty", "readable by others", "read-only", "a file where the folder is"])
def test_a_place_that_keeps_no_key_gives_no_marks(tmp_path, monkeypatch, kind):
    state = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    path = state / "fedaudit" / "key"
    path.parent.mkdir(parents=True)
    if kind == "empty":
        path.touch(mode=0o600)
    elif kind == "readable by others":
        path.write_bytes(b"k" * own.LENGTH)
        path.chmod(0o644)
    elif kind == "read-only":
        monkeypatch.setattr(os, "link", refused)
    else:
        path.parent.rmdir()
        path.parent.write_text("")
    own._key.cache_clear()
    try:
        assert own.mark("row", "text") == ""
        assert str(path) in own.no_key()
        assert not own.is_own("row", "text", "")
    finally:
        own._key.cache_clear()


def refused(*_):
    raise OSError(30, "Read-only file system")


def test_without_a_home_there_is_no_key(monkeypatch):
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(own.Path, "home", homeless)
    own._key.cache_clear()
    try:
        assert own.mark("row", "text") == ""
        assert "(no home directory)" in own.no_key()
    finally:
        own._key.cache_clear()


def homeless():
    raise RuntimeError("Could not determine home directory.")


@pytest.mark.parametrize("kind", ["short", "readable by others", "a link", "a folder"])
def test_a_key_that_is_not_the_users_alone_is_none(tmp_path, kind):
    path = tmp_path / "state" / "key"
    key = own._kept(path)
    assert len(key) == own.LENGTH
    assert own._kept(path) == key
    assert path.stat().st_mode & 0o077 == 0
    if kind == "short":
        path.write_bytes(b"x")
    elif kind == "readable by others":
        path.chmod(0o644)
    else:
        path.rename(tmp_path / "other")
        path.symlink_to(tmp_path / "other") if kind == "a link" else path.mkdir()
    try:
        assert own._kept(path) is None
    except OSError:
        assert kind in ("a link", "a folder")


def file_instead(path):
    path.write_text("x")


def links_out(path):
    elsewhere = path.parent.parent / "elsewhere"
    elsewhere.mkdir()
    path.symlink_to(elsewhere)


UNUSABLE = {
    "rows is a file": ("rows", file_instead),
    "certificates is a file": ("certificates", file_instead),
    "figures leads elsewhere": ("figures", links_out),
    "rows is a link to nothing": ("rows", lambda p: p.symlink_to("nowhere")),
    "certificates is a FIFO": ("certificates", os.mkfifo),
    "a row is a folder": (ROW, lambda p: p.mkdir(parents=True)),
    "a certificate is a folder": (HELD, lambda p: p.mkdir(parents=True)),
    "a figure is a folder": (FIGURE, lambda p: p.mkdir(parents=True)),
    "audit.json is a folder": ("audit.json", lambda p: p.mkdir()),
    "index.html is a folder": ("index.html", lambda p: p.mkdir()),
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_place_that_cannot_be_used_is_said_before_any_work(audit, moves, tmp_path, kind):
    name, make = UNUSABLE[kind]
    out = tmp_path / "out"
    out.mkdir()
    make(out / name)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UserError, match=r"got .*, expected .*; do: "):
        audit()
    assert moves.calls == []
    assert sorted(tmp_path.rglob("*")) == before
