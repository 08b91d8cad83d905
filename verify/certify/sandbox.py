"""The kernel in a process of its own, with limits on time and memory: whatever a certificate says, it is answered."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Literal, Self

from fedaudit.errors import UserError

from ..kernel.core.rational import BYTES
from ..kernel.service.serve import READY, REPLY, REQUEST
from ..results.json_fields import JsonObject

__all__ = ["LIMIT", "Answer", "Checker", "Limit"]

START, GRACE = 60.0, 2.0  # seconds for the process to start, and beyond a limit that it should have kept itself
# -P: a module of the folder that we are called in must not stand for one of ours.
COMMAND = (sys.executable, "-P", "-m", "fedaudit.verify.kernel.service.serve")
MOST = 4 * BYTES  # of a certificate that is data already: numbers may be written shorter in its file
PROOF = 32 * BYTES  # of a proof with the claims that it cites


@dataclass(frozen=True, slots=True)
class Limit:
    """What one certificate may cost: seconds, and GB of memory beyond the interpreter's own."""

    seconds: float = 8.0  # leaves two of ten for starting and for reading the catalogue
    gigabytes: float = 1.0

    @classmethod
    def parse(cls, text: str) -> Limit:
        """SECONDS or SECONDS,GB."""
        parts = text.split(",")
        plain = all(part.isascii() and part.replace(".", "", 1).isdigit() for part in parts)
        numbers = [float(part) for part in parts] if plain else []
        if len(numbers) not in (1, 2) or not all(0 < x <= 1e6 for x in numbers):
            raise UserError(f"--limit {text[:100]}", "SECONDS or SECONDS,GB, above 0", "write it like --limit 60,4")
        return cls(*numbers)

    @property
    def memory(self) -> int:
        return round(self.gigabytes * 1e9)


LIMIT = Limit()


@dataclass(frozen=True, slots=True)
class Answer:
    """The kernel's word on a certificate; a `reason` for everything but "accepted"."""

    outcome: Literal["accepted", "rejected", "malformed"]
    reason: str = ""
    lhs: str | None = None
    rhs: str | None = None
    dropped: tuple[str, ...] = ()
    what: str | None = None  # of what is no counterexample: a proof or an identity
    rules: Mapping[str, int] = field(default_factory=dict[str, int])  # of a proof: how often each rule was used
    trusted: tuple[str, ...] = ()  # and its lines that were taken on a solver's word
    cites: tuple[str, ...] = ()


class Checker:
    """Asks the kernel, one certificate after the other. Its process starts with the first one, is started again after
    it had to be killed, and ends with the `with` block (or with this process, however that ends)."""

    def __init__(self, limit: Limit = LIMIT) -> None:
        self.limit = limit
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def prove(self, file: object, cited: Sequence[object]) -> Answer:
        """Check a proof, given as JSON data; `cited` are the claims of what it cites, whose proofs were accepted."""
        return self.ask([file, list(cited)], PROOF)

    def ask(self, data: object, most: int = MOST) -> Answer:
        """Check a certificate, given as JSON data."""
        try:
            text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
        except (TypeError, ValueError, RecursionError) as error:
            return Answer("malformed", f"certificate: got {type(error).__name__}, expected plain JSON data")
        if len(text) > most:
            return Answer("malformed", f"certificate: got {len(text)} bytes, expected at most {most}")
        try:
            raw = self._exchange(text)
        # A pipe that holds half a question or half an answer, as after Ctrl-C, cannot be used again.
        except BaseException:
            self.close()
            raise
        return self._understood(raw)

    def close(self) -> None:
        """End the process and whatever it started: it does so itself when its stdin ends, or else is killed."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            _stream(process.stdin).close()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            _kill(process)
        finally:
            _stream(process.stdout).close()

    def _exchange(self, text: bytes) -> JsonObject:
        process = self._process or self._started()
        seconds = self.limit.seconds
        try:
            _stream(process.stdin).write(REQUEST.pack(seconds, self.limit.memory, len(text)) + text)
            _stream(process.stdin).flush()
            return json.loads(_within(seconds + GRACE, lambda: _reply(process)))
        except queue.Empty:
            self._end()
            return {"outcome": "time"}
        except (OSError, EOFError, ValueError):
            self._end()
            return {"outcome": "crashed", "reason": "the kernel's process ended"}

    def _started(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is the asker's to answer
        )
        self._process = process
        with contextlib.suppress(queue.Empty):
            if _within(START, lambda: _stream(process.stdout).read(len(READY))) == READY:
                return process
        self._end()
        raise UserError("a kernel that does not start", "a working installation", "install fedaudit again")

    def _end(self) -> None:
        if self._process is not None:
            _kill(self._process)
        self.close()

    def _understood(self, raw: JsonObject) -> Answer:
        match raw["outcome"]:
            case "accepted":
                lists = {name: tuple(raw.get(name, ())) for name in ("trusted", "cites")}
                sides = raw["lhs"], raw["rhs"], tuple(raw["dropped"]), raw.get("what")
                return Answer("accepted", "", *sides, raw.get("rules", {}), **lists)
            case "rejected" | "malformed" as outcome:
                return Answer(outcome, raw["reason"])
            case "time" | "memory" as what:
                needs = f"{self.limit.seconds:g} s" if what == "time" else f"{self.limit.gigabytes:g} GB"
                return Answer(
                    "rejected",
                    f"too large to check: needs more than {needs}; do: certify --limit SECONDS[,GB]",
                )
            case _:
                return Answer("rejected", f"the check crashed, which accepts nothing: {raw['reason']}")


def _stream(pipe: IO[bytes] | None) -> IO[bytes]:
    """The pipe; raises `OSError` where the process has none."""
    if pipe is None:
        raise OSError("closed")
    return pipe


def _reply(process: subprocess.Popen[bytes]) -> bytes:
    head = _stream(process.stdout).read(REPLY.size)
    if len(head) < REPLY.size:
        raise EOFError
    return _stream(process.stdout).read(REPLY.unpack(head)[0])


def _within(seconds: float, read: Callable[[], bytes]) -> bytes:
    """What `read` gives; `queue.Empty` if that takes longer. By a thread: pipes cannot be waited for everywhere."""
    bytes_read: queue.SimpleQueue[bytes | BaseException] = queue.SimpleQueue()

    def put() -> None:
        try:
            bytes_read.put(read())
        except BaseException as error:
            bytes_read.put(error)

    # A daemon: a pipe that never ends must not keep this process from ending.
    threading.Thread(target=put, daemon=True).start()
    answer = bytes_read.get(timeout=seconds)
    if isinstance(answer, BaseException):
        raise answer
    return answer


def _kill(process: subprocess.Popen[bytes]) -> None:
    """The process and its child, which are a group of their own."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
