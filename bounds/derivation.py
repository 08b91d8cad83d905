"""How a statement follows from what it cites, as data (the engine is `derive`)."""

from __future__ import annotations
