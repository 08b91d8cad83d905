"""Where things lie: the root of the repository and the folder of its tests."""

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
