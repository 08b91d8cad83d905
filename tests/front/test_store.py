"""What an audit leaves on disk: whole files, rows that are taken over only where nothing has changed."""

import hashlib
import json
import math
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedaudit.errors import UserError, one_line
from fedaudit.running import files, store
from fedaudit.running.files import write
from fedaudit.running.store import Damaged, Folder, key_of, source_digest
from fedaudit.verify.results.file_names import slug
from fedaudit.verify.results.row import LiteralReading, Move, Row

ROW = Row("paper/thm1", "survived")


@pytest.fixture
def folder(tmp_path):
    return Folder.open(tmp_path / "audit")


def test_a_row_comes_back_under_its_key_only(folder):
    kept = folder.keep("key", ROW, "<svg/>")
    assert folder.row("paper/thm1", "key") == kept
    assert kept == replace(ROW, figure="figures/paper-thm1.svg", is_drawn=True)
    assert folder.row("paper/thm1", "another key") is None
    assert folder.row("paper/thm2", "key") is None


def test_certificates_become_files_and_go_when_there_is_none_any_more(folder):
    kept = folder.keep("key", replace(ROW, certificate={"lhs": "1/2"}), None)
    path = folder.path / kept.certificate
    assert json.loads(path.read_text()) == {"lhs": "1/2"}
    folder.keep("key", ROW, None)
    assert not path.exists()


def test_a_row_whose_certificate_is_gone_is_not_finished(folder):
    kept = folder.keep("key", replace(ROW, certificate={"lhs": "1/2"}), None)
    (folder.path / kept.certificate).unlink()
    with pytest.raises(Damaged, match="its certificate is missing"):
        folder.row("paper/thm1", "key")


@pytest.mark.parametrize(
    "text", ["", "{", '{"format": "fedaudit-ro', "[]", "7", '{"format": "other", "row": {}}', "\x00"]
)
def test_half_written_and_foreign_rows_are_named(folder, text):
    path = folder.path / "rows" / "paper-thm1.json"
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(Damaged, match=r"rows/paper-thm1\.json is not a row"):
        folder.row("paper/thm1", "key")


def test_rows_of_an_older_version_are_no_news(folder):
    path = folder.path / "rows" / "paper-thm1.json"
    path.parent.mkdir()
    path.write_text('{"format": "fedaudit-row/1", "key": "key", "row": {"id": "paper/thm1"}}')
    assert folder.row("paper/thm1", "key") is None


def test_a_row_carries_a_digest_of_every_file_it_names(folder):
    verified, hunted = (Move("refuted", certificate={"lhs": lhs}) for lhs in ("2", "3"))
    implicit = (LiteralReading("kind clients", "breaks", certificate={"lhs": "4"}),)
    row = replace(ROW, certificate={"lhs": "1"}, verify=verified, hunt=hunted, implicit=implicit)
    folder.keep("key", row, "<svg/>")
    files = json.loads((folder.path / "rows" / "paper-thm1.json").read_text())["files"]
    assert files == {
        p.relative_to(folder.path).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in folder.path.rglob("*.*")
        if p.parent.name in ("certificates", "figures")
    }
    assert len(files) == 5
    for name in files:
        path = folder.path / name
        before = path.read_bytes()
        path.write_bytes(before[:-1])
        with pytest.raises(Damaged, match="was changed"):
            folder.row("paper/thm1", "key")
        path.write_bytes(before)
    assert folder.row("paper/thm1", "key") is not None


def holder(tmp_path):
    """A process that holds the lock of a folder until it is killed."""
    code = "import time; from pathlib import Path; from fedaudit.running.store import Folder\n"
    code += f"with Folder.open(Path({str(tmp_path)!r})).held(): print(flush=True); time.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    process.stdout.readline()
    return process


def test_a_killed_process_leaves_no_lock_behind(tmp_path):
    process = holder(tmp_path)
    try:
        with pytest.raises(UserError, match=f"where process {process.pid} is writing"), Folder.open(tmp_path).held():
            pass
    finally:
        process.kill()
        process.communicate()
    with Folder.open(tmp_path).held():
        pass


@pytest.mark.parametrize("kind", ["link", "folder", "fifo", "second name"])
def test_a_lock_that_no_audit_made_is_left_alone(tmp_path, kind):
    precious = tmp_path / "precious"
    precious.write_text("keep me")
    out = tmp_path / "out"
    out.mkdir()
    lock = out / ".lock"
    make = {"link": lock.symlink_to, "second name": lock.hardlink_to, "folder": lambda _: lock.mkdir()}
    make.get(kind, lambda _: os.mkfifo(lock))(precious)
    with pytest.raises(UserError, match=r"expected .*; do: "), Folder.open(out).held():
        pass
    assert precious.read_text() == "keep me"


def test_what_a_killed_write_left_is_removed_and_nothing_else(folder):
    folder.keep("key", ROW, "<svg/>")
    ours = ["rows/.paper-thm1.json.a1b2c3d4.part", ".audit.json.abcd_123.part", "figures/.x.svg.zzzzzzzz.part"]
    others = [
        "thesis.part",
        ".audit.json.part",
        "rows/notes.txt",
        ".x.json.ABCDEFGH.part",
        "deep/.x.json.aaaaaaaa.part",
    ]
    (folder.path / "deep").mkdir()
    for name in ours + others:
        (folder.path / name).write_text("x")
    before = {p for p in folder.path.rglob("*") if p.is_file()}
    with folder.held():
        pass
    after = {p for p in folder.path.rglob("*") if p.is_file()}
    assert after == before - {folder.path / name for name in ours} | {folder.path / ".lock"}


def test_parts_are_left_to_the_process_that_holds_the_lock(folder):
    with folder.held():
        part = folder.path / ".audit.json.a1b2c3d4.part"
        part.write_text("x")
        with pytest.raises(UserError), Folder.open(folder.path).held():
            pass
        assert part.exists()


@pytest.mark.parametrize("fails", ["replace", "fsync"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, fails):
    path = tmp_path / "audit.json"
    write(path, "old")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((files.Path, "replace") if fails == "replace" else (os, "fsync")), full)
    with pytest.raises(UserError, match="No space left"):
        write(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["audit.json"]


def test_a_number_that_json_lacks_is_never_written(folder):
    with pytest.raises(ValueError, match="JSON"):
        folder.finish({"statements": [], "budget": math.nan})
    assert not (folder.path / "audit.json").exists()


def test_unwritable_folder_is_bad_input(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError) as caught:
        Folder.open(tmp_path / "file" / "audit")
    assert str(caught.value).startswith("got ")
    assert "--out" in str(caught.value)


def test_keys_tell_statements_and_settings_apart():
    keys = {
        key_of("a", "content", seed=0),
        key_of("b", "content", seed=0),
        key_of("a", "other", seed=0),
        key_of("a", "content", seed=1),
    }
    assert len(keys) == 4


def test_a_row_that_nobody_drew_says_so_and_takes_its_figure_later(tmp_path):
    folder = Folder.open(tmp_path)
    bare = folder.keep("key", ROW, None, drawn=False)
    assert "figure" not in bare.to_json()
    assert folder.row("paper/thm1", "key") == bare
    drawn = folder.illustrate("key", bare, "<svg/>")
    assert drawn == replace(bare, figure="figures/paper-thm1.svg", is_drawn=True)
    assert folder.row("paper/thm1", "key") == drawn
    assert folder.verdict("paper/thm1") == "survived"
    assert folder.verdict("paper/thm2") == ""


@pytest.mark.parametrize("place", ["new.py", "bounds/new.py", "verify/kernel/new.py"])
def test_the_source_digest_covers_every_room(tmp_path, monkeypatch, place):
    for name in ("running/store.py", "bounds/a.py", "verify/kernel/b.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(store, "__file__", str(tmp_path / "running" / "store.py"))
    before = source_digest.__wrapped__()
    (tmp_path / place).write_text("2")
    assert source_digest.__wrapped__() != before
    assert len(before) == 64
    code = source_digest.__wrapped__(papers=False)
    (tmp_path / "bounds/papers/mine").mkdir(parents=True)
    (tmp_path / "bounds/papers/mine/claims.py").write_text("3")
    assert source_digest.__wrapped__(papers=False) == code


@given(st.lists(st.text(max_size=20) | st.text("ab/-.", max_size=6), min_size=2, max_size=5, unique=True))
def test_slugs_are_plain_names_and_never_clash(ids):
    slugs = [slug(i) for i in ids]
    assert len(set(slugs)) == len(ids)
    assert all(s.isascii() and "/" not in s and s.strip("-.") for s in slugs)
    assert slug("buttaci/thm4.1-I~repaired") == "buttaci-thm4.1-I~repaired"


def test_an_error_of_the_user_is_one_line():
    assert str(UserError("a", "b", "c")) == "got a, expected b; do: c"
    assert one_line(str(UserError("one\nline"))) == "one line"
    assert len(str(UserError("x" * 10_000, "b", "c"))) < 400


def test_an_error_of_the_user_keeps_its_line_between_processes():
    import pickle

    assert str(pickle.loads(pickle.dumps(UserError("a", "b", "c")))) == "got a, expected b; do: c"
