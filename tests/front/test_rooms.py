"""The rooms of the package: imports point one way, wherever in a file they stand."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from marks import some
from places import ROOT

ROOMS = ("front", "figures", "verify", "problems", "bounds")
MAY = {
    "front": {"front", "figures", "verify", "problems", "bounds"},
    "figures": {"figures", "verify", "problems", "bounds"},
    "verify": {"verify", "problems", "bounds"},
    "problems": {"problems"},
    "bounds": {"bounds"},
}
LEAVES = {
    "fedaudit.errors",
    "fedaudit.progress",
}  # modules of the front that every room but the kernel may import; they import no room
NEVER = {"bounds": {"numpy", "scipy"}, "problems": {"sympy"}}
EXACT = {"flint"}  # besides the standard library, all that the kernel may import


def name_of(path: Path) -> str:
    """The module that a file of the repository installs as."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    parts = [part for part in parts if part != "__init__"]
    return ".".join(["fedaudit", *(parts[1:] if parts[0] == "front" else parts)])


def room_of(module: str) -> str:
    """The room that a module of the package lies in."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ROOMS[1:] else "front"


def imports(source: str, module: str, *, package: bool) -> Iterator[str]:
    """Everything that a module imports anywhere: at its top, in functions, for type checkers, and by name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            home = module.split(".")[: None if package else -1]
            home = home[: len(home) - node.level + 1] if node.level else []
            base = ".".join([*home, *([node.module] if node.module else [])])
            # `from fedaudit import bounds` imports a room, `from fedaudit.errors import UserError` a module
            yield from (f"{base}.{alias.name}" if base == "fedaudit" else base for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in (
            "import_module",
            "__import__",
        ):
            if node.args and isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value)
            elif node.args and isinstance(node.args[0], ast.JoinedStr):
                yield ast.unparse(node.args[0])[2:-1].replace("{__name__}", module).partition("{")[0].rstrip(".")


def files() -> list[Path]:
    return sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


@cache
def of(path: Path) -> frozenset[str]:
    return frozenset(imports(path.read_text(encoding="utf-8"), name_of(path), package=path.name == "__init__.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_lies_below_it(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files()
        if room_of(name_of(path)) == room
        for name in sorted(of(path))
        if name.split(".")[0] == "fedaudit" and name not in LEAVES and room_of(name) not in MAY[room]
    ]
    assert wrong == []


def test_leaves_import_nothing_but_the_standard_library_and_rich() -> None:
    used = {name.split(".")[0] for leaf in LEAVES for name in of(ROOT / "front" / f"{leaf.partition('.')[2]}.py")}
    assert used <= {*sys.stdlib_module_names, "rich"}


@pytest.mark.parametrize(("room", "forbidden"), NEVER.items())
def test_what_a_room_never_imports(room: str, forbidden: set[str]) -> None:
    for path in (ROOT / room).rglob("*.py"):
        assert not {name.split(".")[0] for name in of(path)} & forbidden, path


def test_the_kernel_imports_itself_the_standard_library_and_flint() -> None:
    for path in (ROOT / "verify" / "kernel").rglob("*.py"):
        for name in of(path):
            ours = name == "fedaudit.verify.kernel" or name.startswith("fedaudit.verify.kernel.")
            assert ours or name.split(".")[0] in sys.stdlib_module_names | EXACT, f"{path} imports {name}"


LAYERS = ("core", "losses", "runs", "worlds", "gram", "proofs", "service")


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_of_the_kernel_imports_only_those_below_it(layer: str) -> None:
    """What a reader of one layer has to believe is that layer and those before it, and worlds that are asked for."""
    above = {f"fedaudit.verify.kernel.{other}" for other in LAYERS[LAYERS.index(layer) + 1 :]}
    files = list((ROOT / "verify" / "kernel" / layer).rglob("*.py"))
    assert files
    for path in files:
        wrong = {name for name in of(path) if any(name == room or name.startswith(f"{room}.") for room in above)}
        assert not wrong, f"{path} imports {wrong}"


SIZES = {"core": 2_500, "losses": 1_310, "runs": 1_130, "worlds": 1_460, "gram": 1_200, "proofs": 4_150, "service": 330}


@pytest.mark.parametrize(("layer", "lines"), SIZES.items())
def test_a_layer_of_the_kernel_does_not_grow(layer: str, lines: int) -> None:
    """What has to be believed is short: a plain refutation rests on the core alone."""
    assert [*SIZES] == [*LAYERS]
    files = (ROOT / "verify" / "kernel" / layer).rglob("*.py")
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) <= lines


def test_the_core_of_the_kernel_is_read_in_the_order_of_its_page() -> None:
    folder = ROOT / "verify" / "kernel"
    page = (folder / "README.md").read_text(encoding="utf-8")
    order = re.findall(
        r"`core/(\w+\.py)`", page.partition("## The core, in the order of reading")[2].partition("## ")[0]
    )
    modules = {path.name: path for path in (folder / "core").glob("*.py") if path.name != "__init__.py"}
    assert sorted(order) == sorted(modules)


def test_the_core_of_the_kernel_loads_nothing_above_it_for_a_plain_refutation() -> None:
    from fedaudit.verify import kernel
    from fedaudit.verify.kernel.core.layers import recorded

    path = ROOT / "tests" / "certificates" / "run" / "scaffold-descent.json"
    with recorded() as loaded:
        assert kernel.check(kernel.load(path.read_text(encoding="utf-8")))
    assert {name.removeprefix(f"{kernel.__name__}.") for name in loaded} == {"core.run"}


def test_nothing_in_the_kernel_is_looked_up_by_the_identity_of_an_object() -> None:
    for path in (ROOT / "verify" / "kernel").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id"
            assert not called, path


def test_a_folder_says_what_it_holds_and_has_at_most_16_modules() -> None:
    for room in ROOMS:
        for init in (ROOT / room).rglob("__init__.py"):
            inside = [path for path in init.parent.glob("*.py") if path.name not in ("__init__.py", "__main__.py")]
            if "papers" in init.parts:  # a paper has as many as it needs
                continue
            assert len(inside) <= 16, f"{init.parent} has {len(inside)} modules"
            if init.parent != ROOT / room:
                assert ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))), f"{init.parent} says nothing"


def test_what_the_architecture_names_is_there() -> None:
    """ARCHITECTURE.md, docs/encoding.md and the kernel's README name files and folders; each of them exists."""
    for page in (ROOT / "ARCHITECTURE.md", ROOT / "docs" / "encoding.md", ROOT / "verify" / "kernel" / "README.md"):
        homes = (ROOT, ROOT / "verify" / "kernel", ROOT / "verify" / "kernel" / "proofs")
        named = re.findall(r"`((?:[\w.-]+/)+(?:[\w.-]+\.\w+)?)`", page.read_text(encoding="utf-8"))
        assert len(named) > 5
        missing = [name for name in named if not any((home / name).exists() for home in homes)]
        assert missing == [], page


def test_no_class_of_the_kernel_inherits_but_from_tuples_protocols_and_errors() -> None:
    """Records are composed: what a class does is in its own lines."""
    errors: set[str] = {"Exception"}
    classes = [
        (path.name, node)
        for path in sorted((ROOT / "verify" / "kernel").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    for _ in classes:  # errors of errors
        errors |= {node.name for _, node in classes if node.bases and {*map(ast.unparse, node.bases)} <= errors}
    assert len(classes) > 20
    for name, node in classes:
        bases = {ast.unparse(base).partition("[")[0] for base in node.bases}  # `Generic[V]` adds no line of its own
        assert bases <= {"NamedTuple", "Protocol", "Generic", *errors}, f"{name}: class {node.name}"
        frozen = any("frozen=True" in ast.unparse(decorator) for decorator in node.decorator_list)
        assert frozen or bases - {"Generic"} or node.name == "Work", f"{name}: class {node.name} is not frozen"


@pytest.mark.parametrize(
    ("module", "source", "seen"),
    [
        ("fedaudit.bounds.lint.checks", "def f():\n    import numpy.linalg", "numpy.linalg"),
        ("fedaudit.bounds.papers.yuan.run", "from ...language.algebra import Le", "fedaudit.bounds.language.algebra"),
        ("fedaudit.verify.search.score", "from fedaudit import figures", "fedaudit.figures"),
        ("fedaudit.verify.search.score", "if TYPE_CHECKING:\n    from ...figures import draw", "fedaudit.figures"),
        ("fedaudit.verify.search.score", "import_module('fedaudit.figures.race')", "fedaudit.figures.race"),
        ("fedaudit.figures", "import_module(f'{__name__}.{a}')", "fedaudit.figures"),
        ("fedaudit.verify.search.score", "from ... import cli", "fedaudit.cli"),
    ],
)
def test_the_reader_of_imports_sees_every_kind(module: str, source: str, seen: str) -> None:
    assert seen in set(imports(source, module, package=module == "fedaudit.figures"))


def run(code: str, cwd: Path, *more: str) -> Any:
    return subprocess.run([sys.executable, *more, "-c", code], cwd=cwd, capture_output=True, text=True, check=True)


def test_a_folder_of_the_same_name_does_not_shadow_the_package(tmp_path: Path) -> None:
    for name in ("bounds", "verify", "front"):
        (tmp_path / "fedaudit" / name).mkdir(parents=True)
        (tmp_path / "fedaudit" / name / "__init__.py").write_text("raise SystemExit('shadowed')")
    code = "import fedaudit, fedaudit.bounds, fedaudit.verify; print(fedaudit.__version__, fedaudit.__file__)"
    version, file = run(code, tmp_path).stdout.split()
    assert not Path(file).is_relative_to(tmp_path)
    command = [sys.executable, "-m", "fedaudit", "--version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == f"fedaudit {version}\n"


def test_importing_the_package_loads_nothing_but_the_sentence_of_a_room(tmp_path: Path) -> None:
    code = "import sys, fedaudit; print(*[m for m in sys.modules if m.startswith('fedaudit.')])"
    assert run(code, tmp_path).stdout.strip() == "fedaudit.verify"
    assert len((ROOT / "verify" / "__init__.py").read_text().splitlines()) == 1


def test_every_public_name_is_there() -> None:
    import fedaudit

    assert all(getattr(fedaudit, name) is not None for name in fedaudit.__all__)
    assert set(fedaudit.__all__) <= set(dir(fedaudit))
    assert fedaudit.__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = fedaudit.nothing


def test_statements_are_found_from_python(tmp_path: Path) -> None:
    import fedaudit as fa

    claim = fa.statement("buttaci/lem4.1")
    assert isinstance(claim, fa.Statement)
    assert claim in fa.statements("buttaci/lem4.*")
    assert not fa.lint(claim)
    assert fa.lint(claim) == fa.lint("buttaci/lem4.1")
    assert fa.derive("buttaci/lemB.1-kappa").status == "follows"
    with pytest.raises(fa.UserError, match="names 2 statements"):
        fa.statement("buttaci/lem4.[12]")
    own = tmp_path / "own.py"
    own.write_text("from dataclasses import replace\nfrom fedaudit import statement\n")
    with own.open("a") as file:
        file.write("MINE = replace(statement('buttaci/lem4.1'), id='mine/first')\n")
    assert [s.id for s in fa.load(own)] == ["mine/first"]
    with pytest.raises(fa.UserError, match=r"a file that ends in \.py"):
        fa.load("own.txt")


def test_certificates_are_checked_from_python() -> None:
    import json

    import fedaudit as fa

    path = ROOT / "tests" / "certificates" / "run" / "buttaci-lemC.2.json"
    assert fa.certify(path).accepted
    assert fa.certify(json.loads(path.read_text())).what == "refutation"


def test_verdicts_are_types_and_their_rows_are_the_contracts() -> None:
    import fedaudit as fa

    found = fa.hunt("buttaci/appA-strong-second", budget=0.1)
    match found:
        case fa.Refuted(certificate=certificate, tightness=ratio):
            assert ratio is not None
            assert ratio > 1
            assert fa.certify(certificate).accepted
        case _:
            raise AssertionError(found)
    row = found.row()
    assert (row["id"], row["verdict"], row["certificate"]) == (found.id, "refuted", certificate)
    assert list(row)[:4] == ["id", "verdict", "evidence", "instances"]
    survived = fa.verify("buttaci/appA-strong-second~repaired", budget=0.1, seed=3)
    assert isinstance(survived, fa.Survived)
    assert (survived.row()["seed"], survived.row()["verdict"]) == (3, "survived")
    with pytest.raises(AttributeError):
        survived.tightness = 2.0  # type: ignore[misc]


@pytest.mark.parametrize(
    "first", some(["import fedaudit.verify.kernel.service", "import fedaudit"], 2, "the other way")
)
def test_a_room_that_shares_the_name_of_a_move_is_imported_before_and_after(tmp_path: Path, first: str) -> None:
    code = f"""{first}
import fedaudit as fa
named = fa.verify
import fedaudit.verify.kernel.service as service
import fedaudit.verify.results
from fedaudit.verify import kernel
from fedaudit.verify.kernel import core
assert fa.verify is named and fedaudit.verify.kernel is kernel and kernel.service is service and kernel.core is core
print(fa.verify.__name__, fa.verify("buttaci/appA-strong-second~repaired", budget=0.01).verdict)"""
    assert run(code, tmp_path).stdout.split() == ["verify", "survived"]


def test_a_move_and_a_room_share_a_name() -> None:
    import fedaudit as fa
    import fedaudit.verify.results as results

    assert isinstance(fa.verify, FunctionType)
    assert fa.verify.results is results
    quoted = next(s for s in fa.statements("yuan") if s.quoted)
    assert isinstance(fa.verify(quoted), fa.Undecided)
    assert fa.verify(quoted).row()["reason"].startswith("quoted")


def test_an_audit_from_python_has_the_row_of_audit_json() -> None:
    import fedaudit as fa

    audited = fa.audit("buttaci/lemB.1-kappa", budget=0.3)
    assert isinstance(audited, fa.Audited)
    assert isinstance(audited.verdict, fa.Proved)
    row = audited.row()
    assert (row["verdict"], row["evidence"], row["certificate"]) == ("proved", "proof", None)
    assert {"lint", "derive", "verify", "hunt", "implicit", "repaired"} <= set(row)


def test_every_experiment_lies_with_its_paper_and_so_does_its_picture() -> None:
    from importlib import import_module

    from fedaudit.bounds.catalogue.discovery import papers, statement
    from fedaudit.verify.experiments import experiments

    for identifier, experiment in experiments().items():
        paper = identifier.partition("/")[0]
        assert paper in papers()
        assert statement(identifier).kind == "experiment"
        assert experiment.run.__module__.split(".")[4] == paper
    for room in ("verify/experiments/papers", "figures/papers"):
        assert {p.parent.name for p in (ROOT / room).glob("*/__init__.py")} <= set(papers())
    for path in (ROOT / "figures" / "papers").glob("*/[a-z]*.py"):
        assert any(name.startswith("plot") for name in dir(import_module(name_of(path)))) or path.stem == "rates"
