"""Pages in a real browser, without a display."""

import shutil
import subprocess

from marks import some

from fedaudit.figures.pages.page_text import digest

SCREENS = some(["1200,900", "420,900"], 2, "the same when narrow; tests/figures/test_keyboard.py looks at 400 pixels")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def browse(path, *options):
    """The page after its scripts ran, and what the browser complained about."""
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", *options]
    command += ["--virtual-time-budget=5000", "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def driven(text, script):
    """The page with one more script, which its policy has to name."""
    there, said = (
        ("script-src ", "script-src {} ") if "script-src " in text else ("default-src", "script-src {}; default-src")
    )
    allowed = text.replace(there, said.format(digest(script)), 1)
    return allowed.replace("</body>", f"<script>{script}</script></body>")
