"""The pages that nobody types: command line, Python, a page for each paper, a gallery. mkdocs asks for them (`hooks`).

`python docs/generated.py` writes rate.svg again, the picture of README and of the first page: plain lines from the data
of `fedaudit plot buttaci/thm4.1-I`, so small that it can stand in the repository. A test compares it by its data.
"""

from __future__ import annotations

import inspect
import io
import os
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from pathlib import Path
from unittest.mock import patch

import numpy as np

import fedaudit as fa
from fedaudit.bounds.catalogue.discovery import papers, statements
from fedaudit.figures.drawing import draw, svg
from fedaudit.figures.kinds import named_pictures, rate
from fedaudit.figures.pages.paper_cards import ABOUT, about, is_theorem
from fedaudit.grammar import HELP, PICTURES, parser
from fedaudit.verify.pictures.curves import Rate, picture
from fedaudit.verify.results.file_names import is_printed

DRAWN = "buttaci/thm4.1-I"
GALLERY = {  # one statement for each kind of figure
    DRAWN: "A rate that falls by a factor in every round, on a linear axis of rounds",
    "buttaci/thm4.3-I": "A rate that falls like a power of the rounds, on logarithmic axes",
    "buttaci/thm4.2": "A lower bound, the exact value and an upper bound on one problem",
    "buttaci/lemB.1": "Both sides on thousands of instances, against each other",
    "benmansour/rem5": "A counterexample, replayed by the kernel in every round",
    "buttaci/prop3.3-upper": "A statement and its relatives along one axis",
    "buttaci/sec4.4-optimal-E": "A bound over two of its choices, and where it is least",
    "fallah/cor4.6~formula": "An order of growth, along random paths of all parameters",
}
NAMED = ("crossover", "table1")  # of the pictures by name, those that need no data
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 300, 56, 150, 14, 34
SHOWN, EVERY = 48, 1000  # points of a line; rounds between two numbers of the axis
DARK = '[data-md-color-scheme="slate"] img[src*="gallery/"] { filter: invert(0.92) hue-rotate(180deg); }'


def on_files(files, config):
    """What mkdocs calls with the pages that it has found."""
    from mkdocs.structure.files import File

    for name, content in generated():
        files.append(File.generated(config, name, content=content))
    return files


def generated() -> Iterator[tuple[str, str]]:
    """Pages and pictures by their names."""
    yield "reference/command-line.md", command_line()
    yield "reference/python.md", python()
    for name in papers():
        yield f"papers/{name}.md", paper(name)
    yield from gallery()
    yield "figures.css", DARK


def command_line() -> str:
    """Every command as `--help` prints it."""
    parts = ["# Command line", "What `fedaudit COMMAND --help` prints.", _verbatim(_help())]
    for name in sorted(HELP):
        parts += [
            f"## fedaudit {name}",
            f"{HELP[name][:1].upper()}{HELP[name][1:].rstrip('?')}.",
            _verbatim(_help(name)),
        ]
    return "\n\n".join(parts)


def _help(*command: str) -> str:
    said = io.StringIO()
    with patch.dict(os.environ, COLUMNS="100"), redirect_stdout(said), suppress(SystemExit):
        parser().parse_args([*command, "--help"])
    return said.getvalue()


def python() -> str:
    """Every public name of `import fedaudit as fa` with its signature and docstring."""
    parts = [
        "# Python",
        "What `import fedaudit as fa` offers; [Add a method](../method.md) has a table of the words of rules.",
    ]
    for name in sorted(fa.__all__, key=str.lower):
        value = getattr(fa, name)
        said = inspect.getdoc(value) if callable(value) else None
        if said is None or not value.__module__.startswith("fedaudit"):  # sympy explains its own
            continue
        try:
            signature = str(inspect.signature(value))
        except (TypeError, ValueError):
            signature = ""
        parts += [f"## fa.{name}", _verbatim(f"{name}{signature}"), *_docstring(said)]
    return "\n\n".join(parts)


def _docstring(said: str) -> list[str]:
    """Prose as it is, examples as code."""
    return [_verbatim(part) if part.startswith(">>>") else part for part in said.split("\n\n")]


def _verbatim(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"


def paper(name: str) -> str:
    """One paper: who wrote it, and all its statements as they are printed."""
    known = ABOUT.match(about(name))
    title, authors = (known["title"], f"{known['authors']}{known['where']}") if known else (name, about(name))
    printed = sorted((s for s in statements([name]) if is_printed(s.id)), key=lambda s: not is_theorem(s.id))
    lines = [f"| `{s.id}` | {_cell(s.title)} | {s.kind} | {_cell(s.cite)} |" for s in printed]
    told = f"{len(printed)} statements as they are printed. `fedaudit audit '{name}/*'` says what becomes of them."
    return "\n\n".join(
        [
            f"# {title}",
            authors,
            told,
            "\n".join(["| id | title | kind | printed |", "| --- | --- | --- | --- |", *lines]),
        ]
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def gallery() -> Iterator[tuple[str, str]]:
    """One figure of every kind, with the command that draws it."""
    parts = ["# Gallery", "One figure of every kind, and the command that draws it."]
    for name, said in GALLERY.items():
        figure = draw(picture(fa.statement(name)))
        file = f"{name.replace('/', '-').replace('~', '-')}.svg"
        title, _, conclusion = str(figure.get_label()).partition("\n")
        parts += [
            f"## {said}",
            conclusion or title,
            f"![{conclusion or title}](gallery/{file})",
            _verbatim(f"fedaudit plot {name} --out figure.svg"),
        ]
        yield f"gallery/{file}", svg(figure)
    for name in NAMED:
        yield f"gallery/{name}.svg", svg(getattr(named_pictures, name)(0))
        parts += [
            f"## {PICTURES[name].capitalize()}",
            f"![{PICTURES[name]}](gallery/{name}.svg)",
            _verbatim(f"fedaudit plot {name} --out figure.svg"),
        ]
    yield "gallery.md", "\n\n".join(parts)


def sketch() -> str:
    """A bound with its parts, the run below it, and the gap, as an SVG of plain lines."""
    made = picture(fa.statement(DRAWN))
    assert isinstance(made, Rate)
    lines = {part.name: part.values for part in made.parts} | {"bound": made.bound, "expectation": made.expectation}
    places = np.unique(np.linspace(0, len(made.x) - 1, SHOWN).astype(int))
    logs = {name: np.log10(values[places]) for name, values in lines.items()}
    low, high = min(v.min() for v in logs.values()), max(v.max() for v in logs.values())
    x = LEFT + (WIDTH - LEFT - RIGHT) * made.x[places] / made.x[-1]
    across = {name: TOP + (HEIGHT - TOP - BOTTOM) * (high - v) / (high - low) for name, v in logs.items()}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="13">'
    ]
    parts += [f"<title>{made.title}</title>", f"<desc>{rate.conclusion(made)}</desc>"]
    parts += ["<style>.b{fill:none;stroke:#d55e00}.r{fill:none;stroke:#2b8fd0}.t{fill:#808890;stroke:none}</style>"]
    for name, y in across.items():
        look = (
            'class="r" stroke-width="2.4"'
            if name == "expectation"
            else 'class="b" stroke-width="2.4"'
            if name == "bound"
            else 'class="b" stroke-dasharray="5 4"'
        )
        points = " ".join(f"{a:.0f},{b:.1f}" for a, b in zip(x, y, strict=True))
        parts.append(f'<polyline id="{name}" {look} points="{points}"/>')
    previous = -np.inf
    for name, y in sorted(across.items(), key=lambda one: one[1][-1]):
        previous = max(previous + 15, float(y[-1]) + 4)
        parts.append(f'<text class="t" x="{WIDTH - RIGHT + 8}" y="{previous:.0f}">{name}</text>')
    for power in range(int(np.ceil(low)), int(np.floor(high)) + 1, 2):
        y = TOP + (HEIGHT - TOP - BOTTOM) * (high - power) / (high - low)
        parts.append(
            f'<text class="t" x="{LEFT - 8}" y="{y + 4:.0f}" text-anchor="end">10'
            f'<tspan dy="-5" font-size="9">{power}</tspan></text>'
        )
    for at in range(0, int(made.x[-1]) + 1, EVERY):
        place = LEFT + (WIDTH - LEFT - RIGHT) * at / made.x[-1]
        parts.append(f'<text class="t" x="{place:.0f}" y="{HEIGHT - 16}" text-anchor="middle">{at}</text>')
    parts.append(
        f'<text class="t" x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 1}" text-anchor="middle">round t</text>'
    )
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    (Path(__file__).parent / "rate.svg").write_text(sketch(), encoding="utf-8")
