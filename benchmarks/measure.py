"""Sizes, folders, names and import cycles of the product, from its files alone: `make measure`."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOMS = ("bounds", "problems", "verify", "figures", "front")
ANYTHING = re.compile(r"\bAny\b")
LEFT_OVER = re.compile(r"^\s+(?:made|found|known|given|seen)(?::[^=]+)? =", re.MULTILINE)  # names that say nothing


def module_of(path: Path) -> str:
    """The dotted name under which a file of the repository installs."""
    parts = [part for part in path.with_suffix("").parts if part != "__init__"]
    return ".".join(["fedaudit", *(parts[1:] if parts[0] == "front" else parts)])


def imports(path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """Modules of the product that a file imports when it runs, in functions too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    package = module_of(path).split(".")
    package = package if path.name == "__init__.py" else package[:-1]
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        targets: list[str] = []
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            home = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*home, *([node.module] if node.module else [])])
            # `from package import module` is an import of the module alone
            inside = [f"{base}.{alias.name}" for alias in node.names if f"{base}.{alias.name}" in known]
            targets = inside if len(inside) == len(node.names) else [base, *inside]
        yield from (target for target in targets if target in known)


def cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """Some modules that import one another in a ring; none if there is no ring."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def main() -> None:
    files = [path for room in ROOMS for path in sorted(Path(room).rglob("*.py"))]
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    lengths = {path: len(text.splitlines()) for path, text in texts.items()}
    machinery = [path for path in files if "papers" not in path.parts]
    total = sum(lengths[path] for path in machinery)
    folders = Counter(path.parent for path in machinery if path.name not in ("__init__.py", "__main__.py"))
    rooms: defaultdict[str, list[str]] = defaultdict(list)
    for path in machinery:
        if path.stem not in ("__init__", "__main__"):
            rooms[path.stem].append("kernel" if "kernel" in path.parts else path.parts[0])
    twice = sorted(name for name, where in rooms.items() if len(where) > len(set(where)) or len(where) > 2)
    known = {module_of(path): path for path in files}
    ring = cycle({name: set(imports(path, known)) - {name} for name, path in known.items()})
    kernel = Counter(path.parts[2] for path in machinery if path.parts[:2] == ("verify", "kernel"))
    print(f"machinery             {total} lines, papers {sum(lengths.values()) - total}")
    for layer in kernel:
        inside = [lengths[path] for path in machinery if path.parts[:3] == ("verify", "kernel", layer)]
        print(f"  kernel {layer:14} {sum(inside)}")
    print(f"widest folders        {', '.join(f'{folder} {n}' for folder, n in folders.most_common(5))}")
    print(f"twice in a room, or in three: {' '.join(twice) or 'none'}")
    print(f"over 500 lines        {sum(lengths[path] > 500 for path in machinery)}")
    untyped = sum(len(ANYTHING.findall(texts[path])) for path in machinery)
    print(f"Any per 1,000 lines   {1000 * untyped / total:.1f}")
    comments = sum(line.strip().startswith("#") for path in machinery for line in texts[path].splitlines())
    print(f"comment lines         {100 * comments / total:.1f} %")
    left = sum(len(LEFT_OVER.findall(text)) for text in texts.values())
    print(f"made, found, known, given, seen as local names: {left}")
    print(f"a ring of imports     {' -> '.join(ring) or 'none'}")


if __name__ == "__main__":
    main()
