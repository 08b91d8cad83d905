"""A TeX engine, where one is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ENGINE = next(filter(None, map(shutil.which, ("pdflatex", "xelatex", "lualatex", "tectonic"))), None)


def compiled(engine: str, source: str, folder: Path) -> str:
    """What the engine says of a document when it has read its own references."""
    (folder / "a.tex").write_text(source)
    command = [engine, *([] if "tectonic" in engine else ["-interaction=nonstopmode", "-halt-on-error"]), "a.tex"]
    for _ in range(2):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
    assert (folder / "a.pdf").is_file()
    return done.stdout
