"""audit.json from strangers: read into typed data, or refused in one line; never a traceback, never a half page."""

import contextlib
import copy
import json
import os
import re
import subprocess
import sys
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from marks import examples

from fedaudit.cli import main
from fedaudit.errors import UserError
from fedaudit.figures.pages.verdict_words import MEANING
from fedaudit.verify.moves.audit import STRENGTH
from fedaudit.verify.results import audit_json as document
from fedaudit.verify.results.audit_json import VERDICTS, Unreadable, inside, parse, read
from fedaudit.verify.results.tried_sizes import Size

ONE_LINE = re.compile(r"fedaudit: got .+, expected .+; do: .+\n")
STEP = {
    "claim": "x <= 1",
    "latex": r"x \leq 1",
    "where": "",
    "note": "n",
    "status": "true",
    "how": "smt",
    "because": ["a"],
}
MOVE = {
    "verdict": "survived",
    "evidence": "exact",
    "instances": 12,
    "tightness": 0.5,
    "seconds": 1.5,
    "seed": 0,
    "sizes": [{"C": 1, "T": 1, "instances": 5, "tightness": None}, {"C": 2, "T": 1, "instances": 7, "tightness": 0.5}],
    "worst": [
        {"point": {"L": "2", "t": "1"}, "lower": 0.15, "upper": 0.16, "lower_exact": "3/20", "upper_exact": "4/25"}
    ],
    "certificate": None,
    "reason": "",
    "tightest": {"instance": {"p": ["1/2", "1/2"]}, "at": {"t": 1}, "lhs": "1", "rhs": "2"},
}
ROW = {
    "id": "mine/thm1",
    "title": "a title",
    "kind": "inequality",
    "verdict": "survived",
    "evidence": "exact",
    "reason": "",
    "tightness": 0.5,
    "sizes": MOVE["sizes"],
    "certificate": None,
    "lint": {"findings": [{"rule": "dimension", "message": "F"}]},
    "derive": {
        "status": "follows",
        "factor": 1.0,
        "evidence": "proof",
        "proved": False,
        "findings": ["f"],
        "ways": [{"cites": ["mine/lem1"], "status": "follows", "evidence": "proof"}],
        "gaps": [{"text": "f", "step": 0, "detail": "d"}],
        "premises": ["p"],
        "steps": [STEP],
    },
    "verify": MOVE,
    "hunt": {**MOVE, "counterexample": {"statement": "mine/thm1"}},
    "implicit": [
        {
            "name": "positive",
            "says": "s",
            "literal": "breaks",
            "tightness": 2.0,
            "certificate": "certificates/a.json",
            "sizes": [{"C": 2, "instances": 3, "tightness": 2}],
        }
    ],
    "repaired": "mine/thm1~repaired",
    "figure": "figures/a.svg",
    "statement": {
        "title": "a title",
        "kind": "inequality",
        "where": "Theorem 1",
        "method": "scalar",
        "let": [{"name": "smooth", "says": "smooth", "cite": "A1"}],
        "implicit": [{"name": "positive", "says": "positive", "cite": ""}],
        "parts": [["then", [r"x \leq 1"]]],
        "reading": ["a reading"],
        "repairs": "",
    },
}
WHOLE = {"version": "0.1.0", "seed": 0, "budget": 120.0, "statements": [ROW]}
GONE = object()


def changed(value, *path):
    """`WHOLE` with one piece replaced, or removed."""
    whole = copy.deepcopy(WHOLE)
    at = whole
    for name in path[:-1]:
        at = at[name]
    if value is GONE:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return whole


def deep(levels):
    return "[" * levels + "]" * levels


R = ("statements", 0)
MALFORMED = {
    "empty": "",
    "not-json": "{",
    "not-utf8": b'{"version": "\xff"}',
    "utf16": json.dumps(WHOLE).encode("utf-16"),
    "zeros": b"\0" * 1000,
    "null": "null",
    "a-list": "[]",
    "a-number": "7",
    "a-text": '"audit"',
    "trailing": json.dumps(WHOLE) + "}",
    "a-name-twice": '{"version": "0", "version": "1", "seed": 0, "budget": 1, "statements": []}',
    "deep": deep(100_000),
    "deep-beyond-the-parser": '{"version": "0", "seed": 0, "budget": 1, "statements": [], "x": ' + deep(60) + "}",
    "nan": json.dumps(changed(float("nan"), *R, "tightness")),
    "infinity": json.dumps(changed(float("inf"), "budget")),
    "minus-infinity": json.dumps(changed(float("-inf"), *R, "hunt", "tightest")),
    "1e999": json.dumps(WHOLE).replace("120.0", "1e999"),
    "huge-integer": json.dumps(WHOLE).replace("120.0", "1" * 400),
    "integer-of-5000-digits": json.dumps(WHOLE).replace("120.0", "1" * 5000),
    "half-pair": json.dumps(WHOLE).replace("a reading", "\\ud800"),
    "half-pair-in-a-name": json.dumps(changed({"\ud800": 1}, *R, "verify", "tightest")),
    "zero-character": json.dumps(WHOLE).replace("a reading", "\\u0000"),
    "escape-character": json.dumps(WHOLE).replace("a reading", "\\u001b[31m"),
    "long-text": json.dumps(changed("x" * 200_000, *R, "reason")),
    "no-statements": changed(GONE, "statements"),
    "no-version": changed(GONE, "version"),
    "no-seed": changed(GONE, "seed"),
    "no-budget": changed(GONE, "budget"),
    "statements-null": changed(None, "statements"),
    "statements-an-object": changed({"a": ROW}, "statements"),
    "too-many-statements": changed([{"id": f"a/{n}", "verdict": "survived"} for n in range(5001)], "statements"),
    "version-a-number": changed(1, "version"),
    "seed-a-text": changed("0", "seed"),
    "seed-a-flag": changed(True, "seed"),
    "seed-a-fraction": changed(0.5, "seed"),
    "budget-a-list": changed([], "budget"),
    "row-null": changed(None, "statements", 0),
    "row-a-text": changed("row", "statements", 0),
    "row-a-list": changed([ROW], "statements", 0),
    "row-empty": changed({}, "statements", 0),
    "id-twice": changed([ROW, ROW], "statements"),
    "id-null": changed(None, *R, "id"),
    "id-a-number": changed(3, *R, "id"),
    "id-empty": changed("", *R, "id"),
    "id-blank": changed("  ", *R, "id"),
    "id-long": changed("a/" + "b" * 5000, *R, "id"),
    "id-with-a-line-break": changed("a/b\nc", *R, "id"),
    "id-right-to-left": changed("a/\u202eb", *R, "id"),
    "verdict-missing": changed(GONE, *R, "verdict"),
    "verdict-unknown": changed("accepted", *R, "verdict"),
    "verdict-replayed": changed("refuted (replayed)", *R, "verdict"),
    "verdict-unverified": changed("unverified", *R, "verdict"),
    "verdict-a-list": changed(["refuted"], *R, "verdict"),
    "evidence-an-object": changed({}, *R, "evidence"),
    "reason-a-list": changed(["r"], *R, "reason"),
    "tightness-a-text": changed("0.5", *R, "tightness"),
    "tightness-a-flag": changed(True, *R, "tightness"),
    "tightness-huge": json.dumps(changed(10**400, *R, "tightness")),
    "certificate-an-object": changed({"statement": "a/b"}, *R, "certificate"),
    "certificate-a-number": changed(7, *R, "certificate"),
    "certificate-long": changed("c" * 5000, *R, "certificate"),
    "figure-a-number": changed(7, *R, "figure"),
    "figure-empty": changed("", *R, "figure"),
    "repaired-a-flag": changed(True, *R, "repaired"),
    "statement-a-text": changed("x <= 1", *R, "statement"),
    "title-null-in-a-list": changed([None], *R, "statement", "title"),
    "let-a-text": changed("smooth", *R, "statement", "let"),
    "let-of-texts": changed(["smooth"], *R, "statement", "let"),
    "let-without-a-name": changed([{"says": "s"}], *R, "statement", "let"),
    "parts-of-one": changed([["then"]], *R, "statement", "parts"),
    "parts-of-numbers": changed([[1, 2]], *R, "statement", "parts"),
    "parts-an-object": changed({"then": []}, *R, "statement", "parts"),
    "formula-a-number": changed([["then", [1]]], *R, "statement", "parts"),
    "reading-a-text": changed("a reading", *R, "statement", "reading"),
    "lint-a-list": changed([], *R, "lint"),
    "findings-an-object": changed({"findings": {}}, *R, "lint"),
    "finding-a-text": changed({"findings": ["f"]}, *R, "lint"),
    "finding-without-a-rule": changed({"findings": [{"message": "m"}]}, *R, "lint"),
    "derive-a-text": changed("follows", *R, "derive"),
    "derive-without-status": changed(GONE, *R, "derive", "status"),
    "factor-a-list": changed([1], *R, "derive", "factor"),
    "ways-an-object": changed({}, *R, "derive", "ways"),
    "gap-at-a-half": changed(0.5, *R, "derive", "gaps", 0, "step"),
    "steps-an-object": changed({}, *R, "derive", "steps"),
    "step-a-text": changed(["x <= 1"], *R, "derive", "steps"),
    "because-a-text": changed("a", *R, "derive", "steps", 0, "because"),
    "latex-a-number": changed(1, *R, "derive", "steps", 0, "latex"),
    "verify-a-list": changed([], *R, "verify"),
    "verify-without-verdict": changed(GONE, *R, "verify", "verdict"),
    "hunt-verdict-unknown": changed("broken", *R, "hunt", "verdict"),
    "instances-a-fraction": changed(0.5, *R, "verify", "instances"),
    "seconds-a-text": changed("1 s", *R, "hunt", "seconds"),
    "counterexample-a-text": changed("c.json", *R, "hunt", "counterexample"),
    "implicit-an-object": changed({}, *R, "implicit"),
    "implicit-of-texts": changed(["positive"], *R, "implicit"),
    "implicit-without-a-name": changed([{"literal": "breaks"}], *R, "implicit"),
    "worst-an-object": changed({"lower": 1}, *R, "hunt", "worst"),
    "worst-without-a-point": changed([{"lower": 0.5, "upper": 1}], *R, "hunt", "worst"),
    "worst-a-text": changed([{"point": {}, "lower": "1/2", "upper": 1}], *R, "hunt", "worst"),
    "worst-of-numbers": changed([{"point": {"L": 2}, "lower": 0.5, "upper": 1}], *R, "hunt", "worst"),
    "sizes-an-object": changed({"C": 1}, *R, "sizes"),
    "sizes-a-text": changed("C = 1", *R, "verify", "sizes"),
    "sizes-of-numbers": changed([1, 2], *R, "hunt", "sizes"),
    "size-without-instances": changed([{"C": 1, "tightness": 0.5}], *R, "sizes"),
    "size-null": changed([{"C": None, "instances": 1}], *R, "sizes"),
    "size-a-fraction": changed([{"C": 1.5, "instances": 1}], *R, "sizes"),
    "size-a-flag": changed([{"C": True, "instances": 1}], *R, "sizes"),
    "size-a-text": changed([{"C": "2", "instances": 1}], *R, "sizes"),
    "size-negative": changed([{"C": -1, "instances": 1}], *R, "sizes"),
    "size-huge": json.dumps(changed([{"C": 10**400, "instances": 1}], *R, "sizes")),
    "size-with-an-odd-letter": changed([{"a\u202eb": 1, "instances": 1}], *R, "sizes"),
    "size-with-no-letter": changed([{"": 1, "instances": 1}], *R, "sizes"),
    "size-with-a-long-letter": changed([{"C" * 99: 1, "instances": 1}], *R, "sizes"),
    "size-of-many-letters": changed([{f"C{n}": 1 for n in range(51)} | {"instances": 1}], *R, "sizes"),
    "size-tried-less-than-never": changed([{"C": 1, "instances": -1}], *R, "verify", "sizes"),
    "size-tight-as-a-text": changed([{"C": 1, "instances": 1, "tightness": "0.5"}], *R, "hunt", "sizes"),
    "size-tight-as-nan": json.dumps(changed([{"C": 1, "instances": 1, "tightness": float("nan")}], *R, "sizes")),
    "size-of-a-literal-reading-a-list": changed([[1]], *R, "implicit", 0, "sizes"),
    "literal-unknown": changed("crashes", *R, "implicit", 0, "literal"),
}  # fmt: skip


def written(folder, content):
    data = (
        content
        if isinstance(content, bytes)
        else (content if isinstance(content, str) else json.dumps(content)).encode()
    )
    (folder / "audit.json").write_bytes(data)
    return folder


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_audit_is_refused_in_one_line_and_the_page_is_not_touched(tmp_path, capsys, name):
    (tmp_path / "index.html").write_text("the old page")
    assert main(["report", "--out", str(written(tmp_path, MALFORMED[name]))]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert ONE_LINE.fullmatch(err)
    assert len(err) < 1000
    assert (tmp_path / "index.html").read_text() == "the old page"
    assert sorted(p.name for p in tmp_path.iterdir()) == [".lock", "audit.json", "index.html"]


def test_the_document_that_the_malformed_ones_differ_from_is_fine(tmp_path, capsys):
    assert main(["report", "--out", str(written(tmp_path, WHOLE))]) == 0
    assert capsys.readouterr().err == ""


def test_what_is_missing_beyond_id_and_verdict_is_blank():
    row = parse(
        {"version": "0", "seed": 0, "budget": 1, "statements": [{"id": "a/b", "verdict": "proved"}]}
    ).statements[0]
    assert (row.id, row.verdict, row.lint, row.derive, row.certificate) == ("a/b", "proved", (), None, None)


def test_sizes_are_read_as_they_were_written():
    row = parse(WHOLE).statements[0]
    assert row.sizes == row.verify.sizes == (Size((("C", 1), ("T", 1)), 5, None), Size((("C", 2), ("T", 1)), 7, 0.5))
    assert row.implicit[0].sizes == (Size((("C", 2),), 3, 2.0),)
    assert "sizes" not in row.verify.more
    assert parse(changed(GONE, *R, "sizes")).statements[0].sizes == ()


def test_worst_cases_are_read_as_they_were_written():
    (row,) = document.parse(WHOLE).statements
    assert row.hunt.worst == (
        document.Ends((("L", "2"), ("t", "1")), 0.15, 0.16, lower_exact="3/20", upper_exact="4/25"),
    )


def test_fields_of_a_later_version_are_let_be():
    later = changed({"sha256": ["x"]}, *R, "digests")
    assert parse({**later, "lock": {}}) == parse(WHOLE)


def test_a_document_is_frozen_all_the_way_down():
    def frozen(value):
        if is_dataclass(value):
            return value.__dataclass_params__.frozen and all(frozen(getattr(value, f.name)) for f in fields(value))
        return all(map(frozen, value)) if isinstance(value, tuple) else not isinstance(value, list)

    assert frozen(parse(WHOLE))


def test_every_verdict_of_an_audit_is_known_to_the_reader_and_to_the_page():
    assert set(STRENGTH) == set(VERDICTS) == set(MEANING) - {"unverified"}


@pytest.mark.parametrize("make", ["fifo", "directory", "link-to-a-device", "link-to-itself", "missing", "too-large"])
def test_an_audit_that_is_no_regular_file_is_refused_at_once(tmp_path, capsys, monkeypatch, make):
    path = tmp_path / "audit.json"
    if make == "fifo":
        os.mkfifo(path)
    elif make == "directory":
        path.mkdir()
    elif make == "link-to-a-device":
        path.symlink_to("/dev/zero")
    elif make == "link-to-itself":
        path.symlink_to(path)
    elif make == "too-large":
        monkeypatch.setattr(document, "BYTES", 10)
        path.write_text(json.dumps(WHOLE))
    assert main(["report", "--out", str(tmp_path)]) == 2
    assert ONE_LINE.fullmatch(capsys.readouterr().err)
    assert not (tmp_path / "index.html").exists()


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "nowhere", "/dev/null", "/proc/self/mem"])
def test_a_folder_that_is_none_is_refused_in_one_line(capsys, name):
    assert main(["report", "--out", name]) == 2
    assert ONE_LINE.fullmatch(capsys.readouterr().err)


@pytest.mark.parametrize(
    "name",
    ["../secret", "link", "folder/../../secret", "linked-folder/secret", "fifo", "device", "folder", "large", "none",
     "x" * 5000, "a\0b", "loop", "/proc/self/environ", "."],
)  # fmt: skip
def test_a_file_that_a_row_names_is_a_regular_one_below_the_folder_or_not_read(tmp_path, name):
    (tmp_path / "secret").write_text("secret")
    root = tmp_path / "audit"
    (root / "folder").mkdir(parents=True)
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "linked-folder").symlink_to(tmp_path)
    (root / "device").symlink_to("/dev/zero")
    (root / "loop").symlink_to(root / "loop")
    (root / "large").write_bytes(b"x" * 101)
    os.mkfifo(root / "fifo")
    with pytest.raises(Unreadable):
        inside(root, name, 100)
    (root / "folder/fine").write_bytes(b"x" * 100)
    assert inside(root, "folder/fine", 100) == b"x" * 100


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
NAMES = st.text(max_size=5) | st.sampled_from(sorted(ROW))
JSON = st.recursive(
    LEAVES | st.sampled_from([*VERDICTS, "$", "$\\frac$", "\ud800"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)


def places(value, path=()):
    """Every place of a JSON value, deepest last."""
    yield path
    if isinstance(value, dict | list):
        for name in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[name], (*path, name))


PLACES = [path for path in places(WHOLE) if path]


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(PLACES), JSON | st.just(GONE)), min_size=1, max_size=3))
def test_any_change_of_an_audit_is_shown_or_refused(tmp_path, capsys, changes):
    whole = copy.deepcopy(WHOLE)
    for path, value in changes:
        at = whole
        with contextlib.suppress(KeyError, IndexError, TypeError):
            for name in path[:-1]:
                at = at[name]
            if value is GONE:
                del at[path[-1]]
            else:
                at[path[-1]] = copy.deepcopy(value)
    (tmp_path / "index.html").unlink(missing_ok=True)
    status = main(["report", "--out", str(written(tmp_path, json.dumps(whole)))])
    out, err = capsys.readouterr()
    assert status in (0, 2)
    assert (tmp_path / "index.html").exists() == (status == 0)
    assert ONE_LINE.fullmatch(err) if status else out


@settings(max_examples=examples(300), deadline=None)
@given(st.data())
def test_any_cut_or_flip_of_the_bytes_is_read_or_refused(tmp_path_factory, data):
    text = json.dumps(WHOLE).encode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 30)))
    folder = tmp_path_factory.mktemp("cut")
    written(folder, text[:start] + data.draw(st.binary(max_size=4)) + text[end:])
    with contextlib.suppress(UserError):
        read(folder)


def test_the_command_itself_says_one_line_and_exits_with_2(tmp_path):
    written(tmp_path, MALFORMED["deep"])
    done = subprocess.run(
        [sys.executable, "-m", "fedaudit", "report", "--out", tmp_path],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2
    assert ONE_LINE.fullmatch(done.stderr)
