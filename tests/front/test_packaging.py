"""The five folders install as one package, whole, and nothing generic reaches site-packages."""

import ast
import os
import re
import shlex
import subprocess
import sys
import tomllib
import zipfile
from functools import cache

import pytest
from marks import slow
from pages import blocks, commands, shows
from places import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS = ("front", "bounds", "problems", "verify", "figures")


def packages():
    inits = [path.parent for folder in FOLDERS for path in (ROOT / folder).rglob("__init__.py")]
    return sorted(installed(path).replace("/", ".") for path in inits)


def installed(path):
    """Where a file or folder of the repository lies once it is installed: front is the package itself."""
    parts = path.relative_to(ROOT).parts
    return "/".join(("fedaudit", *(parts[1:] if parts[0] == "front" else parts)))


def test_every_folder_with_code_is_listed():
    assert sorted(PROJECT["tool"]["setuptools"]["packages"]) == packages()


def test_every_module_lies_in_a_package():
    folders = {p.parent for folder in FOLDERS for p in (ROOT / folder).rglob("*.py")}
    assert all((folder / "__init__.py").is_file() for folder in folders)


def test_constraints_are_names_and_versions():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line) for line in pins)
    pinned = {re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in pins}
    wanted = {re.match(r"[A-Za-z0-9._-]+", need)[0] for need in PROJECT["project"]["dependencies"]}
    assert {re.sub(r"[-_.]+", "-", name).lower() for name in wanted} <= pinned


PROVIDES = {  # a module that is not called like its distribution
    "PIL": "pillow",
    "flint": "python-flint",
    "z3": "z3-solver",
    "sklearn": "scikit-learn",
    "cupy": "cupy-cuda12x",
}
OPTIONAL = {
    "data": "scikit-learn",
    "gpu": "cupy-cuda12x",
    "flower": "flwr",
    "torch": "torch",
    "solvers": "cvxpy",
}  # extra -> what the code asks for by name
OF_TESTS = {"pytest", "hypothesis"}  # of the pytest plugin, which somebody has who runs it


def normal(name):
    return re.sub(r"[-_.]+", "-", re.match(r"[A-Za-z0-9._-]+", name)[0]).lower()


@cache
def imported():
    """Distributions whose modules the runtime imports, also inside functions and by name."""
    found = set()
    for path in (p for folder in FOLDERS for p in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                called = getattr(node.func, "id", getattr(node.func, "attr", ""))
                names = [node.args[0].value] if called in ("import_module", "_load") else []
            else:
                names = []
            found |= {str(name).partition(".")[0] for name in names}
    outside = {name for name in found if name and name not in sys.stdlib_module_names and name != "fedaudit"}
    return {normal(PROVIDES.get(name, name)) for name in outside}


def test_runtime_dependencies_are_what_the_runtime_imports():
    declared = {normal(need) for need in PROJECT["project"]["dependencies"]}
    elsewhere = {"jax", "array-api-strict"}  # array libraries of the tests and of `bench`, by name
    assert imported() - OF_TESTS - set(OPTIONAL.values()) - elsewhere == declared


def test_every_extra_is_used():
    extras = PROJECT["project"]["optional-dependencies"]
    assert set(extras) == {*OPTIONAL, "bench", "conform", "docs", "test", "dev"}
    for extra, wanted in OPTIONAL.items():
        assert wanted in {normal(need) for need in extras[extra]}
        assert wanted in imported()
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(f"dev,{extra}]" in makefile for extra in ("bench", "docs"))


def loaded_by(code):
    probe = f"{code}\nimport sys\nprint(*sorted(m for m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


HEAVY = {"numpy", "scipy", "matplotlib", "cvxpy", "z3", "rich", "jinja2", "latex2mathml"}


def test_help_loads_nothing_heavy():
    assert not loaded_by("from fedaudit.cli import parser; parser().format_help()") & (HEAVY | {"sympy"})


def test_list_and_show_load_the_statements_once_and_nothing_heavier(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    commands = (["list"], ["list", "--json"], ["show", "buttaci/lem4.1"])
    asked = f"from fedaudit.cli import main\nfor command in {commands!r}: main(command)"
    loaded = loaded_by(asked)
    assert "sympy" in loaded
    assert not loaded & HEAVY
    assert not loaded_by(asked) & (HEAVY | {"sympy"})


def test_figures_never_load_pyplot():
    modules = "fedaudit.figures.pages.report, fedaudit.figures.kinds.two_group"
    probe = f"import sys, {modules}; print('matplotlib.pyplot' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True)
    (made,) = folder.glob("*.whl")
    return made


@slow("builds a wheel")
def test_the_wheel_holds_the_packages_the_templates_and_says_that_it_is_typed(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"fedaudit", "fedaudit-0.1.0.dist-info"}
    code = {n for n in names if n.endswith(".py")}
    assert code == {installed(p) for f in FOLDERS for p in (ROOT / f).rglob("*.py")}
    templates = {f"fedaudit/figures/templates/{p.name}" for p in (ROOT / "figures" / "templates").iterdir()}
    assert templates
    assert templates <= set(names)
    assert {"fedaudit/py.typed", *(f"fedaudit/{f}/py.typed" for f in FOLDERS[1:])} <= set(names)


@slow("installs everything into an empty environment: minutes")
def test_an_empty_environment_and_the_wheel_are_enough_for_a_theorem_of_one_s_own(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    bin = tmp_path / "venv" / "bin"
    pip = [sys.executable, "-m", "pip", "--python", bin / "python", "--quiet", "--disable-pip-version-check"]
    install = [*pip, "install", "--no-compile"]  # of all that is installed the commands read a part
    subprocess.run([*install, "--constraint", ROOT / "constraints.txt", wheel], check=True)
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state")}
    ran = []
    for block in blocks(ROOT / "docs" / "transcript.md"):
        if block.file:
            (tmp_path / block.file).write_text(block.text)
            continue
        for command, shown in commands(block.text):
            program, *arguments = shlex.split(command)
            if program != "fedaudit":  # the environment and pip, which were done above
                continue
            done = subprocess.run(
                [bin / program, *arguments], cwd=tmp_path, env={**os.environ, **home}, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{command}: {done.stderr}"
            missing = shows(shown, done.stdout)
            assert not missing, f"{command}: {missing!r} is not in\n{done.stdout}"
            ran.append(arguments[0])
    assert ran == ["new", "methods", "lint", "bound", "audit", "certify"]
