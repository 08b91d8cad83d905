"""What an audit leaves on disk: whole files, rows that are taken over only where nothing has changed."""

import json
import math
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedaudit.verify import store
from fedaudit.verify.errors import UserError, said
from fedaudit.verify.store import Folder, key_of, slug, source_digest, write

ROW = {"id": "paper/thm1", "verdict": "survived", "certificate": None}


@pytest.fixture
def folder(tmp_path):
    return Folder.open(tmp_path / "audit")


def test_a_row_comes_back_under_its_key_only(folder):
    kept = folder.keep("key", ROW, "<svg/>")
    assert folder.row("paper/thm1", "key") == kept
    assert kept == {**ROW, "figure": "figures/paper-thm1.svg"}
    assert folder.row("paper/thm1", "another key") is None
    assert folder.row("paper/thm2", "key") is None
    assert folder.ignored == []


def test_certificates_become_files_and_go_when_there_is_none_any_more(folder):
    kept = folder.keep("key", {**ROW, "certificate": {"lhs": "1/2"}}, None)
    path = folder.path / kept["certificate"]
    assert json.loads(path.read_text()) == {"lhs": "1/2"}
    folder.keep("key", ROW, None)
    assert not path.exists()


def test_a_row_whose_certificate_is_gone_is_not_finished(folder):
    kept = folder.keep("key", {**ROW, "certificate": {"lhs": "1/2"}}, None)
    (folder.path / kept["certificate"]).unlink()
    assert folder.row("paper/thm1", "key") is None


@pytest.mark.parametrize(
    "text", ["", "{", '{"format": "fedaudit-ro', "[]", "7", '{"format": "other", "row": {}}', "\x00"]
)
def test_half_written_and_foreign_rows_are_named_and_ignored(folder, text):
    path = folder.path / "rows" / "paper-thm1.json"
    path.parent.mkdir()
    path.write_text(text)
    assert folder.row("paper/thm1", "key") is None
    assert folder.ignored == [str(path)]


def test_rows_that_are_not_text_are_ignored(folder):
    path = folder.path / "rows" / "paper-thm1.json"
    path.parent.mkdir()
    path.write_bytes(b"\xff\xfe\x00")
    assert folder.row("paper/thm1", "key") is None
    assert folder.ignored == [str(path)]


@pytest.mark.parametrize("fails", ["replace", "fsync"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, fails):
    path = tmp_path / "audit.json"
    write(path, "old")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((store.Path, "replace") if fails == "replace" else (os, "fsync")), full)
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
    assert said(caught.value).startswith("got ")
    assert "--out" in said(caught.value)


@pytest.mark.parametrize("text", [None, "{", "[]", '{"statements": 1}', '{"statements": [{}]}'])
def test_a_report_needs_an_audit(folder, text):
    if text is not None:
        (folder.path / "audit.json").write_text(text)
    with pytest.raises(UserError, match="fedaudit audit --out"):
        folder.read()


def test_keys_tell_statements_settings_and_sources_apart(monkeypatch):
    keys = {
        key_of("a", "content", seed=0),
        key_of("b", "content", seed=0),
        key_of("a", "other", seed=0),
        key_of("a", "content", seed=1),
    }
    monkeypatch.setattr(store, "source_digest", lambda: "another version")
    keys.add(key_of("a", "content", seed=0))
    assert len(keys) == 5


def test_the_source_digest_covers_all_four_packages():
    source_digest.cache_clear()
    root = store.Path(store.__file__).parent.parent
    assert all(any((root / package).rglob("*.py")) for package in store.PACKAGES)
    assert len(source_digest()) == 64


@given(st.lists(st.text(max_size=20) | st.text("ab/-.", max_size=6), min_size=2, max_size=5, unique=True))
def test_slugs_are_plain_names_and_never_clash(ids):
    slugs = [slug(i) for i in ids]
    assert len(set(slugs)) == len(ids)
    assert all(s.isascii() and "/" not in s and s.strip("-.") for s in slugs)
    assert slug("buttaci/thm4.1-I~repaired") == "buttaci-thm4.1-I~repaired"


def test_errors_for_the_user_are_told_from_ours():
    assert said(UserError("a", "b", "c")) == "got a, expected b; do: c"
    assert said(UserError("one\nline")) == "one line"
    assert said(ValueError("got x, expected y; do: z")) == "got x, expected y; do: z"
    assert said(ValueError("math domain error")) is None
