"""Command lines that nobody should write: exit status 0, 1 or 2, at most one line on stderr, never a traceback."""

import os
import re
import subprocess
import sys

import pytest
from faked import fake_moves
from marks import slow, some

from fedaudit import cli
from fedaudit.running import runner

SOME = "buttaci/lem4.1"
SAID = re.compile(r"fedaudit: ([\w-]+\.py:\d+: )?got ")  # in a file, with its line
LONG = "x" * 5000
RUNS = ("lint", "derive", "verify", "hunt", "audit")
FILES = {
    "syntax.py": "def\n",
    "raises.py": "1 / 0\n",
    "exits.py": "import sys\nsys.exit(3)\n",
    "exits-well.py": "raise SystemExit\n",
    "odd-exit.py": "raise SystemExit('bye\\nnow')\n",
    "generator-exit.py": "raise GeneratorExit\n",
    "mute.py": "class Mute(Exception):\n    def __str__(self):\n        raise RuntimeError('no')\nraise Mute\n",
    "deep.py": "def f():\n    return f()\nf()\n",
    "lines.py": "raise ValueError('one\\ntwo\\x1b[31m')\n",
    "long.py": "raise ValueError('x' * 100_000)\n",
    "nul.py": "x = 1\0\n",
    "latin.py": b"x = '\xff'\n",
    "nothing.py": "x = 1\n",
    "empty.py": "",
    "recursive.py": "import recursive_module_that_is_not_there\n",
    "twice.py": "from fedaudit.bounds.catalogue.discovery import statement\nSAME = statement('buttaci/lem4.1')\n",
    "long-id.py": "from dataclasses import replace\nfrom fedaudit.bounds.catalogue.discovery import statement\n"
    "MINE = replace(statement('buttaci/lem4.1'), id='mine/' + 'x' * 5000)\n",
    "odd-id.py": "from dataclasses import replace\nfrom fedaudit.bounds.catalogue.discovery import statement\n"
    "MINE = replace(statement('buttaci/lem4.1'), id='mine/\\n\\x00')\n",
    "no-id.py": "from dataclasses import replace\nfrom fedaudit.bounds.catalogue.discovery import statement\n"
    "MINE = replace(statement('buttaci/lem4.1'), id=7)\n",
    "file": "not a folder",
}
SELECTORS = [
    "", " ", "\n", "/", "//", "*/", "/*x", ".", "..", "-", "[", "]", "[z-a]", "[!", "**[", "?" * 50, "*a" * 50, "{a,b}",
    "buttaci/", "/lem4.1", "buttaci/lem4.1/", "BUTTACI", "buttaci\\lem4.1", "buttaci/lem4.1\n", "$(id)", "%s%n", "λ",
    "\udcff", "\udcff.py", "\0", "a\0.py", ".py", "..py", "folder.py", "fifo.py", "zero.py", "loop.py", "gone.py",
    "file/x.py", LONG, LONG + ".py", "x/" * 2000 + ".py", "[" * 5000, "/dev/zero", "/dev/null", "/", "'; rm -rf x",
    *(name for name in FILES if name.endswith(".py") and name != "twice.py"),
]  # fmt: skip
NUMBERS = [
    "",
    " ",
    "x",
    "nan",
    "inf",
    "-inf",
    "-1",
    "-0",
    "1e309",
    "0x10",
    "1_000",
    "٣",
    "²",
    "1;2",
    LONG,
    "\0",
    "\udcff",
]
OPTIONS = {
    "--seed": ["1e9", "1.5", "1" + "0" * 30, "9" * 5000, "-7", "9223372036854775808"],
    "--budget": ["0", "1e308", "1e7", "-5e-324", "1e-400", "infinity", "NaN"],
    "--jobs": ["0", "1000000000", "1025", "1e3", "9" * 5000],
    "--backend": ["torch", "numpy cupy", "NumPy"],
    "--fail-on": ["proved", "refuted,proved", "REFUTED"],
}
OUTS = [
    "",
    " ",
    "\0",
    "a\0b",
    LONG,
    "x/" * 3000,
    "file",
    "file/below",
    "/dev/null",
    "/dev/zero",
    "/proc/none",
    "fifo.py",
]
BAD = [
    [],
    [""],
    ["\0"],
    ["\udcff"],
    [LONG],
    ["--"],
    ["--", "--"],
    ["-"],
    ["--help=1"],
    ["--version=1"],
    ["-h", "\0"],
    ["audit", "--out"],
    ["audit", "--out", "--json"],
    ["audit", "--seed"],
    ["audit", "--json=yes", SOME],
    ["audit", "--" + LONG],
    ["audit", "-" + LONG],
    ["audit", "--\udcff"],
    ["verify", "--", "--json"],
    ["verify", SOME, "--", "--out"],
    ["show"],
    ["show", "--latex"],
    ["plot"],
    ["plot", SOME, SOME],
    ["plot", SOME, "--json"],
    ["report", "extra"],
    ["report", "--json"],
    *([command, selector] for command in ("list", "show", "verify", "plot") for selector in SELECTORS),
    *([command, selector] for command in ("lint", "derive", "hunt", "audit") for selector in SELECTORS[::4]),
    *([command, SOME, f"{option}={text}"] for command in RUNS for option in ("--seed", "--budget", "--jobs")
      for text in [*NUMBERS[:: 1 if command == "audit" else 4], *OPTIONS[option]]),
    *([command, SOME, f"{option}={text}"] for command in ("verify", "hunt", "audit")
      for option in ("--backend", "--fail-on") for text in ["", LONG, "\0", *OPTIONS[option]]),
    *([command, SOME, f"--out={out}"] for command in RUNS for out in OUTS),
    *(["plot", SOME, f"--out={out}"] for out in [*OUTS, "a.gif", ".png", "none/a.png", "folder.png", LONG + ".png"]),
    *(["plot", SOME, f"--seed={text}"] for text in [*NUMBERS, *OPTIONS["--seed"]]),
    *(["plot", name] for name in ["Crossover", "crossover.png", "table1 ", "pictures"]),
    *(["report", f"--out={out}"] for out in [*OUTS, "folder.py", "/", "loop.py", "zero.py", "\udcff"]),
]  # fmt: skip


def build(folder):
    """Things that are not what their names say."""
    for name, content in FILES.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "folder.py").mkdir()
    (folder / "folder.png").mkdir()
    os.mkfifo(folder / "fifo.py")
    (folder / "zero.py").symlink_to("/dev/zero")
    (folder / "loop.py").symlink_to("loop.py")
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """One folder for all command lines that must leave it as it is."""
    return build(tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def place(built, monkeypatch):
    monkeypatch.chdir(built)
    return built


@pytest.fixture
def no_work(monkeypatch):
    """Fails where a command line goes as far as working."""

    def work(*_, **__):
        pytest.fail("the work began")

    monkeypatch.setattr(runner, "perform", work)


def name(argv):
    return " ".join(ascii(a)[1:-1][:40] for a in argv)


def listing(folder):
    return sorted(p for p in folder.rglob("*") if "__pycache__" not in p.parts)


def test_there_are_many():
    assert len({tuple(argv) for argv in BAD}) >= 400


EACH = slow("more of its kind; each third is fast")


@pytest.mark.parametrize(
    "argv",
    [pytest.param(argv, id=f"{n} {name(argv)}", marks=EACH if n % 3 else ()) for n, argv in enumerate(BAD)],
)
@pytest.mark.usefixtures("no_work")
def test_bad_input_is_one_short_line_and_leaves_nothing(place, capsys, argv):
    before = listing(place)
    status = cli.main(argv)
    out, err = capsys.readouterr()
    assert (status, out) == (2, ""), err
    assert (err.count("\n"), err[-1]) == (1, "\n")
    assert SAID.match(err)
    assert ", expected " in err
    assert "; do: " in err
    assert len(err) < 1500
    assert err[:-1].isprintable()
    assert listing(place) == before


@pytest.fixture
def moves(monkeypatch):
    made = fake_moves()
    monkeypatch.setitem(sys.modules, made.__name__, made)
    monkeypatch.setattr("fedaudit.verify.moves.rows", made, raising=False)
    monkeypatch.setattr(runner, "figure_of", lambda *_: None)
    monkeypatch.setattr("fedaudit.progress.FIRST", 1e9)  # a slow machine says how far it is
    return made


GOOD = [
    ["verify", SOME, "--seed", "9223372036854775807"],
    ["verify", SOME, "--seed", "007"],
    ["verify", SOME, "--budget", "5e-324"],
    ["verify", SOME, "--budget", " 1e6 "],
    ["verify", SOME, "--jobs", "1024"],
    ["verify", SOME, SOME, "buttaci/lem4.1*", "--jobs", "1"],
    ["verify", "twice.py"],
    ["hunt", SOME, "--out", "caf\udce9"],
    ["hunt", SOME, "--out=-x"],
    ["hunt", SOME, "--out=--json"],
    ["hunt", SOME, "--out", "new\nline"],
    ["hunt", SOME, "--out", "folder.py/.."],
    ["audit", SOME, "--out", "caf\udce9", "--json"],
    ["audit", SOME, "--out", "a'b\"<script>&"],
    ["lint", SOME, "--out", "[bold]/x"],
    ["list", "*", "--json"],
    ["list", "[b]*"],
    ["--version"],
]


@pytest.mark.parametrize("argv", [pytest.param(argv, id=name(argv)) for argv in GOOD])
@pytest.mark.usefixtures("moves")
def test_odd_input_that_means_something_is_done(tmp_path, monkeypatch, capsys, argv):
    monkeypatch.chdir(build(tmp_path))
    assert cli.main(argv) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out


def fedaudit(*argv, cwd, **more):
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    return subprocess.run([sys.executable, "-m", "fedaudit", *argv], cwd=cwd, timeout=300, check=False, **more)


@pytest.mark.parametrize(
    "argv",
    some(
        [
            [b"verify", b"\xff\xfe.py"],
            [b"verify", b"raises.py"],
            [b"audit", SOME.encode(), b"--budget", b"1e308"],
            [b"audit", SOME.encode(), b"--out", b"/dev/null/\xff"],
            [b"verify", b"exits.py"],
            [b"report", b"--out", b"\xff"],
        ],
        3,
        "a new interpreter each; such input is tried in one process above",
    ),
)
def test_bad_input_of_real_processes_is_one_line(place, argv):
    done = fedaudit(*argv, cwd=place)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert SAID.match(done.stderr.decode(errors="replace"))


def test_an_output_that_is_full_is_one_line(place):
    with open("/dev/full", "wb") as full:
        done = fedaudit("list", cwd=place, stdout=full)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"No space left" in done.stderr


@pytest.mark.parametrize("closed", some(["stdout", "stderr"], 2, "the same with the other stream"))
def test_closed_streams_are_no_crash(place, closed):
    number = {"stdout": 1, "stderr": 2}[closed]
    done = fedaudit("list", "nobody", cwd=place, preexec_fn=lambda: os.close(number))
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert fedaudit("list", "buttaci", cwd=place, preexec_fn=lambda: os.close(number)).returncode == 0


def test_an_output_in_ascii_is_no_crash(place):
    for argv in (["show", SOME], ["list", "--json"]):
        done = fedaudit(*argv, cwd=place, env={**os.environ, "PYTHONIOENCODING": "ascii"})
        assert (done.returncode, done.stderr) == (0, b"")
