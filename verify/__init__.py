"""What is true: searches, verdicts, certificates, the kernel. The module can be called: `fedaudit.verify(claim)`.

A name of the public interface and a folder are the same word here, so that the folder answers for both.

>>> import fedaudit as fa
>>> fa.verify("buttaci/appA-strong-second~repaired", budget=0.1).verdict
'survived'
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fedaudit.bounds.language.statement import Statement
    from fedaudit.progress import Wanted

    from .results.verdicts import Verdict


class _Verify(ModuleType):
    def __call__(
        self,
        claim: Statement | str,
        *,
        seed: int = 0,
        budget: float = 10.0,
        backend: str = "numpy",
        memory: str = "2GB",
        progress: Wanted = None,
    ) -> Verdict:
        """Does it hold on real trajectories? `budget` is nominal seconds; the same seed gives the same verdict.

        `memory`: what its arrays may take; sizes that need more are not tried, and the verdict's search says so.
        `progress`: False for silence, True for a line now and then, or a function of (what, done, total).
        """
        from fedaudit.bounds.catalogue.discovery import given
        from fedaudit.progress import watched

        from .moves.audit import verify
        from .settings.runs.limits import memory as in_bytes

        found = given(claim)
        with watched(f"verify {found.id}", progress):
            return verify(found, seed, budget, backend, in_bytes(memory))


sys.modules[__name__].__class__ = _Verify
