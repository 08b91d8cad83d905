"""The same tasks on a Dask cluster that the user started: `--engine dask://host:port`, or `tls://host:port`.

Rows depend on versions and on the order of sums, so a worker has to be as this process is (`likeness`). A task whose
worker dies is carried out again by another one; Dask gives up when it has ended four.

A cluster is trusted as this process is: its rows are not decided again, and carry this user's mark. To check them would
protect nobody, for Dask sends pickles: whoever connects to the scheduler runs what he likes, at the workers and here.
So nobody else may be able to. TLS sees to that: everybody has to show a certificate of one authority, which should be
the cluster's own (Dask compares no names of hosts), and nobody on the way reads or changes a row.
"""

from __future__ import annotations

import logging
import os
import platform
import socket
import ssl
import time
import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import urlsplit

from ..errors import UserError
from .runner import Chosen, Outcome, Task, attempt, choose, ended, libraries
from .store import source_digest

__all__ = ["Cluster", "connected"]

CONNECT = 10.0  # seconds until a scheduler has to answer, and to have a worker
LOOK = 2.0  # seconds between looks at a cluster that says nothing
ALONE = 60.0  # seconds that a cluster may be without workers
LONGEST_GREETING = 1 << 20  # bytes
SCHEMES = {"dask": "tcp", "tls": "tls"}  # of our addresses -> of Dask's
OPTIONS = {
    "--tls-ca-file": "tls_ca_file",
    "--tls-cert": "tls_client_cert",
    "--tls-key": "tls_client_key",
}  # -> as Dask's `Security` calls them
NO_FILES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """Workers of a Dask scheduler."""

    address: str
    dask: Any  # the module `distributed`
    client: Any

    @property
    def jobs(self) -> int:
        return max(1, len(self.workers()))

    def workers(self) -> Mapping[str, Any]:
        return cast("Mapping[str, Any]", self.client.scheduler_info(n_workers=-1)["workers"])

    def check(self) -> None:
        """Refuse workers whose rows may differ from ours, before there is any work."""
        answers = cast("dict[str, object]", self.client.run(likeness, on_error="return"))
        for worker, answer in answers.items():
            if isinstance(answer, ImportError):
                raise UserError(f"the worker {worker} without fedaudit", "one with it", "install it there")
            if isinstance(answer, BaseException):
                raise UserError(f"the worker {worker} ({answer})", "one that answers", "look at its log")
            compare(worker, cast("dict[str, str]", answer), likeness(threads=1))

    def work(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Outcome]]:
        """Tasks with their results, as they finish."""
        ours = likeness(threads=1)
        sent = [replace(task, chosen=placed(task.chosen)) for task in tasks]
        futures = cast("list[Any]", self.client.map(carried_out, sent, [ours] * len(sent), pure=False))
        left = dict(zip(futures, tasks, strict=True))
        try:
            while left:
                for future in self.finished(list(left)):
                    task = left.pop(future)
                    yield task, self.outcome(future, task)
        finally:
            with suppress(Exception):
                self.client.cancel(list(left))

    def outcome(self, future: Any, task: Task) -> Outcome:
        try:
            return cast(Outcome, future.result())
        except cast("type[Exception]", self.dask.KilledWorker):
            return ended(task)

    def finished(self, futures: list[Any]) -> Sequence[Any]:
        """Those that are finished, at least one; raises `UserError` where nobody is left to finish them."""
        alone = time.monotonic() + ALONE
        while True:
            try:
                return list(self.dask.wait(futures, LOOK, "FIRST_COMPLETED").done)
            except cast("type[Exception]", self.dask.CancelledError):
                raise self.gone("the scheduler") from None
            except TimeoutError:
                alone = time.monotonic() + ALONE if self.present() else alone
                if time.monotonic() > alone:
                    raise self.gone("every worker") from None

    def present(self) -> bool:
        """Whether there are workers."""
        try:
            return bool(self.workers())
        except Exception as error:  # whatever Dask raises: it does not say
            raise self.gone("the scheduler") from error

    def gone(self, who: str) -> UserError:
        do = "start it again and run the same command: an audit goes on from there"
        return UserError(f"--engine {self.address}, where {who} has ended", "a cluster that lasts", do)


@contextmanager
def connected(address: str, files: Mapping[str, str] = NO_FILES) -> Generator[Cluster]:
    """The cluster at `address`, with the `files` of the options for TLS.

    Raises `UserError` unless it is there and its workers are as we are.
    """
    where = target(address)
    try:
        dask = cast(Any, import_module("distributed"))
    except ImportError:
        do = "pip install 'fedaudit[dask]', here and where the workers run"
        raise UserError(f"--engine {address} without Dask", "the package distributed", do) from None
    security = secured(address, files, dask)
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).disabled = True  # what goes wrong is said once, by us
    try:
        knock(where, None if security is None else _context(security))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Dask's, about versions that we compare ourselves
            client = dask.Client(where, timeout=CONNECT, security=security)
    except ssl.SSLError as error:
        expected = "a scheduler with TLS, its certificate and yours of one authority"
        do = f"start it with `dask scheduler --protocol tls` and its options {', '.join(OPTIONS)}"
        raise UserError(f"--engine {address}, where TLS fails ({_why(error)})", expected, do) from error
    except (OSError, ValueError) as error:
        do = "start one with `dask scheduler`, and workers with `dask worker HOST:PORT --nthreads 1`"
        do += "" if security else "; if it has TLS, write tls://HOST:PORT"
        raise UserError(f"--engine {address} where no scheduler answers", "a Dask scheduler", do) from error
    try:
        cluster = Cluster(address, dask, client)
        try:
            client.wait_for_workers(1, timeout=CONNECT)
        except TimeoutError:
            do = "start some with `dask worker HOST:PORT --nthreads 1`"
            raise UserError(f"--engine {address} without workers", "at least one", do) from None
        cluster.check()
        yield cluster
    finally:
        with suppress(Exception):
            client.close(timeout=LOOK)


def target(address: str) -> str:
    """The address as Dask writes it."""
    try:
        parts = urlsplit(address)
        scheme, netloc = SCHEMES.get(parts.scheme), parts.netloc
        if scheme and parts.hostname and parts.port and address == f"{parts.scheme}://{netloc}":
            return f"{scheme}://{netloc}"
    except ValueError:  # of a port that is none
        pass
    expected = "dask://HOST:PORT, or tls://HOST:PORT of a scheduler with TLS"
    raise UserError(f"--engine {address}", expected, "write it like --engine dask://127.0.0.1:8786")


def secured(address: str, files: Mapping[str, str], dask: Any) -> Any:
    """What Dask connects with, nothing for an address without TLS; raises `UserError` for files that are none.

    Options that are not given are taken from Dask's configuration.
    """
    if not address.startswith("tls://"):
        wants = [*files, *(["Dask's require-encryption"] if dask.Security().require_encryption else [])]
        if wants:
            do = f"write it like --engine tls://{urlsplit(address).netloc}"
            raise UserError(f"{wants[0]} beside --engine {address}", "an address with TLS", do)
        return None
    for option, file in files.items():
        if not os.path.isfile(file) or not os.access(file, os.R_OK):
            raise UserError(f"{option} {file}, which cannot be read", "a PEM file", "check the path")
    security = dask.Security(require_encryption=True, **{OPTIONS[option]: file for option, file in files.items()})
    named = ", ".join(f"{option} {file}" for option, file in files.items()) or "Dask's configuration"
    expected = "an authority, a certificate and its key as PEM files"
    try:
        context = _context(security)
    except OSError as error:
        raise UserError(f"{named} ({_why(error)})", expected, "give files that belong together") from error
    if context is None:
        raise UserError(f"--engine {address} with {named} alone", expected, f"give {', '.join(OPTIONS)}")
    return security


def _why(error: OSError) -> str:
    """In a few words: those of OpenSSL name a line of its source besides."""
    return str((isinstance(error, ssl.SSLError) and error.reason) or error.strerror or error)


def _context(security: Any) -> ssl.SSLContext | None:
    """How a client of Dask speaks TLS; None without an authority or a certificate."""
    return cast("ssl.SSLContext | None", security.get_connection_args("client").get("ssl_context"))


def knock(where: str, tls: ssl.SSLContext | None) -> None:
    """Raises `OSError` where no scheduler greets: Dask goes on trying, and waits for ever for one that is silent."""
    parts = urlsplit(where)
    with ExitStack() as stack:
        door = stack.enter_context(socket.create_connection((parts.hostname or "", parts.port or 0), CONNECT))
        greeting = (stack.enter_context(tls.wrap_socket(door)) if tls else door).recv(8)  # its length, little end first
    if not 0 < int.from_bytes(greeting, "little") < LONGEST_GREETING:
        raise OSError("no scheduler")


def carried_out(task: Task, ours: dict[str, str]) -> Outcome:
    """One task, in a worker."""
    worker = cast(Any, import_module("distributed")).get_worker()
    compare(worker.address, likeness(worker), ours)
    if task.chosen.origin != task.chosen.id and task.chosen not in choose([task.chosen.origin]):
        what = f"{task.chosen.origin}, which differs at the worker {worker.address}"
        raise UserError(what, "the same file everywhere", "copy it there")
    return attempt(task)


def placed(chosen: Chosen) -> Chosen:
    """With the whole path of a user's own file: a worker runs in a folder of its own."""
    return chosen if chosen.origin == chosen.id else replace(chosen, origin=os.path.abspath(chosen.origin))


def likeness(dask_worker: Any = None, threads: int = 0) -> dict[str, str]:
    """All that the rows of this process depend on; a worker says how many threads it has."""
    each = threads or int(dask_worker.state.nthreads)  # two statements in one process would disturb each other
    return {**_installed(), "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "unset"), "nthreads": str(each)}


@cache
def _installed() -> dict[str, str]:
    return {
        "Python": ".".join(platform.python_version_tuple()[:2]),
        **libraries(),
        "the source of fedaudit": source_digest()[:8],
    }


def compare(worker: str, theirs: Mapping[str, str], ours: Mapping[str, str]) -> None:
    """Raises `UserError` with the first difference."""
    for name, version in ours.items():
        if theirs.get(name) != version:
            got = f"the worker {worker} with {name} {theirs.get(name)}"
            do = "install the same there, or start it with `dask worker HOST:PORT --nthreads 1`"
            raise UserError(got, f"{name} {version}", do)
