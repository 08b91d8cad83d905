"""`python -m fedaudit.verify.kernel.service.serve`: checks certificates that come in on stdin, each within limits.

Every certificate is checked in a process of its own, forked from this one, so that no answer depends on what was asked
before. Whatever happens there (no memory, FLINT aborting, a loop without end) is an answer here. The process ends, and
its child with it, when stdin does. Without `fork` and `resource` (Windows) the asker's clock is the only limit.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import struct
import sys
import time
from typing import cast

from ..core.budget import MOST
from ..core.check import check, claimed
from ..core.claim import read as read_claim
from ..core.rational import Malformed, Node, Rejected, shown
from ..gram.lower_end import attains, is_instance
from ..gram.point_proof import PROOF, is_proof, prove
from ..proofs import proof as proofs

READY = b"fedaudit"
REQUEST = struct.Struct(">dQQ")  # seconds, bytes of memory beyond the interpreter's own, length of what follows
REPLY = struct.Struct(">Q")
IN, OUT, ERR = 0, 1, 2
MOST_SAID = 10_000
USUAL = 8.0  # seconds
Answer = dict[str, object]
OTHER: Answer = {"outcome": "accepted", "lhs": None, "rhs": None, "dropped": []}  # of what is no counterexample


def judged(text: bytes, seconds: float) -> Answer:
    """The kernel's word on a certificate as JSON data. Nothing that it raises gets out. Who has more time than usual
    allows more work."""
    try:
        more, file = max(1.0, seconds / USUAL), cast(object, json.loads(text.decode("utf-8", "surrogatepass")))
        if is_proof(file):
            return {**OTHER, "what": prove(file, round(PROOF * more)).what}
        if isinstance(file, list):
            return _proved(cast("list[object]", file), more)
        accepted = (attains if is_instance(file) else check)(file, round(MOST * more))
        sides = {"lhs": claimed(accepted.lhs), "rhs": claimed(accepted.rhs)}
        return {"outcome": "accepted", **sides, "dropped": list(accepted.dropped)}
    except Malformed as error:
        return {"outcome": "malformed", "reason": str(error)}
    except Rejected as error:
        return {"outcome": "rejected", "reason": str(error)}
    except MemoryError:
        return {"outcome": "memory"}
    except RecursionError:
        return {"outcome": "crashed", "reason": "RecursionError: nested too deeply"}
    except Exception as error:
        return {"outcome": "crashed", "reason": f"{type(error).__name__}: {shown(str(error))}"}


def _proved(request: list[object], more: float) -> Answer:
    """A proof, and the claims of what it cites, whose proofs were accepted before: the asker answers for that."""
    file, cited = Node(request, "request").items(2)
    claims = [read_claim(claim) for claim in cited.items()]
    before = {claim.id: proofs.Accepted(claim, {}, ()) for claim in claims}
    accepted = proofs.check(file.raw, before, round(proofs.WORK * more))
    n = sum(accepted.rules.values())
    used = {"rules": dict(accepted.rules), "trusted": list(accepted.trusted), "cites": list(accepted.cites)}
    return {**OTHER, "what": f"proof of the statement, {n} judgement{'s' if n > 1 else ''}", **used}


def limited(text: bytes, seconds: float, memory: int) -> Answer:
    """The kernel's word on a certificate, found in a child with limits on time and memory."""
    answers, said = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        _be_the_child(text, seconds, memory, answers[1], said[1])
    for written in (answers[1], said[1]):
        os.close(written)
    try:
        raw = _until(answers[0], time.monotonic() + seconds, child)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if raw is None:
            return {"outcome": "time"}
        if status == 0 and raw:
            return json.loads(raw)
        return _died(status, os.read(said[0], MOST_SAID))
    finally:
        for read in (answers[0], said[0]):
            os.close(read)


def _be_the_child(text: bytes, seconds: float, memory: int, answer: int, said: int) -> None:
    """Never returns."""
    status = 1
    try:
        for stream in (OUT, ERR):  # what FLINT prints before it aborts
            os.dup2(said, stream)
        _limit(seconds, memory)
        _write(answer, json.dumps(judged(text, seconds)).encode())
        status = 0
    except MemoryError:
        status = NO_MEMORY
    finally:
        os._exit(status)


NO_MEMORY = 77  # exit status of a child that had none left even to say so


def _limit(seconds: float, memory: int) -> None:
    try:
        import resource
    except ImportError:
        return

    def lower(what: int, to: int) -> None:
        hard = resource.getrlimit(what)[1]
        most = to if hard == resource.RLIM_INFINITY else min(to, hard)
        resource.setrlimit(what, (most, most))

    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_CPU, math.ceil(seconds) + 1)
    lower(resource.RLIMIT_AS, _size() + memory)


def _size() -> int:
    """Bytes of address space in use."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 1 << 29  # no /proc: leave room for an interpreter


def _until(source: int, deadline: float, child: int) -> bytes | None:
    """All that the child says; None (and it is killed) if that takes too long. Ends here if nobody listens any more."""
    raw = b""
    while True:
        ready, _, _ = select.select([source, IN], [], [], max(deadline - time.monotonic(), 0))
        if source in ready:
            part = os.read(source, 1 << 16)
            if not part:
                return raw
            raw += part
        else:
            os.kill(child, signal.SIGKILL)
            if IN in ready:  # stdin has ended: nobody asks before an answer
                os.waitpid(child, 0)
                os._exit(0)
            return None


def _died(status: int, said: bytes) -> Answer:
    if status == NO_MEMORY or b"allocate" in said or b"memory" in said or -status == signal.SIGKILL:
        return {"outcome": "memory"}
    if -status == signal.SIGXCPU:
        return {"outcome": "time"}
    how = signal.Signals(-status).name if status < 0 else f"status {status}"
    words = " ".join(said.decode("utf-8", "replace").split())[:100]
    return {"outcome": "crashed", "reason": f"{how}{f' ({words})' if words else ''}"}


def _read(count: int) -> bytes:
    """Exactly `count` bytes of stdin; fewer when it ends."""
    raw = bytearray()
    while len(raw) < count and (part := os.read(IN, min(count - len(raw), 1 << 16))):
        raw += part
    return bytes(raw)


def _write(to: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(to, view) :]


def main() -> int:
    with contextlib.suppress(BrokenPipeError):
        _write(OUT, READY)
        while len(head := _read(REQUEST.size)) == REQUEST.size:
            seconds, memory, length = REQUEST.unpack(head)
            if len(text := _read(length)) < length:
                break
            answer = limited(text, seconds, memory) if hasattr(os, "fork") else judged(text, seconds)
            reply = json.dumps(answer).encode()
            _write(OUT, REPLY.pack(len(reply)) + reply)
    return 0


if __name__ == "__main__":
    sys.exit(main())
