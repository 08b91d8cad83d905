"""The five folders install as one package, whole, and nothing generic reaches site-packages."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from marks import slow

ROOT = Path(__file__).parent.parent
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


def loaded_by(code):
    probe = f"{code}\nimport sys\nprint(*sorted(m for m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}


HEAVY = {"numpy", "scipy", "matplotlib", "cvxpy", "z3", "rich", "joblib", "jinja2", "latex2mathml"}


def test_help_loads_nothing_heavy():
    assert not loaded_by("from fedaudit.cli import parser; parser().format_help()") & (HEAVY | {"sympy"})


@pytest.mark.parametrize("options", ["['list']", "['list', '--json']", "['show', 'buttaci/lem4.1']"])
def test_list_and_show_load_the_statements_once_and_nothing_heavier(options, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    loaded = loaded_by(f"from fedaudit.cli import main; main({options})")
    assert "sympy" in loaded
    assert not loaded & HEAVY
    assert not loaded_by(f"from fedaudit.cli import main; main({options})") & (HEAVY | {"sympy"})


def test_figures_never_load_pyplot():
    probe = "import fedaudit.figures.report, fedaudit.figures.two_group, sys; print('matplotlib.pyplot' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@slow("builds a wheel")
def test_the_wheel_holds_the_packages_and_the_templates(tmp_path):
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"fedaudit", "fedaudit-0.1.0.dist-info"}
    code = {n for n in names if n.endswith(".py")}
    assert code == {installed(p) for f in FOLDERS for p in (ROOT / f).rglob("*.py")}
    templates = {f"fedaudit/figures/templates/{p.name}" for p in (ROOT / "figures" / "templates").iterdir()}
    assert templates
    assert templates <= set(names)
