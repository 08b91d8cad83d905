"""`--engine dask://host:port`: a real scheduler and two real worker processes on loopback, one of which is killed.

The same with TLS, whose certificates are made here.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import dask
import distributed
import pytest
from marks import only, slow

from fedaudit.cli import main
from fedaudit.errors import UserError
from fedaudit.running import cluster, runner

CHEAP = ("buttaci/appA-peterpaul", "buttaci/sec4.4-optimal-E", "buttaci/appA-combination")  # the last one is refuted
IDS = ("buttaci/lemB.1-kappa", "buttaci/lemB.7", "buttaci/lem4.1", "buttaci/prop3.3-upper")
OWN = """
from dataclasses import replace
from fedaudit.bounds.catalogue.discovery import statement

MINE = replace(statement("buttaci/lemB.1-kappa"), id="mine/kappa")
"""


def timeless(value):
    """Without `seconds`, the one field that is measured by a clock."""
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if k != "seconds"}
    return [timeless(v) for v in value] if isinstance(value, list) else value


def forked(nursery, *argv, cwd):
    """The rows of a command that costs no imports."""
    done = nursery([*argv], cwd)
    assert done["status"] == 0, done["said"]
    return timeless(json.loads(done["shown"]))


class Forked:
    """A process that the nursery started."""

    def __init__(self, nursery, *command):
        self.nursery, self.pid, self.status = nursery, nursery.start(*command), None

    def kill(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, _=None):
        if self.status is None:
            self.status = self.nursery.ended(self.pid)
        return self.status


class Machines:
    """A scheduler and its workers, each in a process of its own, forked from the nursery if there is one."""

    def __init__(self, folder, nursery=None, tls=()):
        self.folder, self.file, self.nursery, self.started = folder, folder / "scheduler.json", nursery, []
        self.tls = tls

    def start(self, what, *options, **env):
        argv = ["--no-dashboard", "--host", "127.0.0.1", *options, *self.tls, "--scheduler-file", str(self.file)]
        path, env = self.folder / f"{what}{len(self.started)}.log", {"OMP_NUM_THREADS": "1", **env}
        if self.nursery:
            process = Forked(self.nursery, argv, self.folder, f"dask_{what}", path, env)
        else:
            command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *argv]
            with path.open("w") as log:
                output = {"stdout": log, "stderr": subprocess.STDOUT}
                process = subprocess.Popen(command, cwd=self.folder, env={**os.environ, **env}, **output)
        self.started.append(process)

    def worker(self, threads=1, **env):
        self.start("worker", "--nthreads", str(threads), "--no-nanny", "--local-directory", ".", **env)

    @property
    def address(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.file.is_file() and (text := self.file.read_text()):
                return json.loads(text)["address"].replace("tcp://", "dask://")
            time.sleep(0.05)
        raise AssertionError("no scheduler")

    def stop(self):
        for process in self.started:
            process.kill()
            process.wait()


@contextmanager
def machines(folder, workers, nursery=None, tls=()):
    made = Machines(folder, nursery, tls)
    made.start("scheduler", "--port", "0")
    try:
        for _ in range(workers):
            made.worker()
        yield made
    finally:
        made.stop()


@contextmanager
def two_machines(folder, nursery=None):
    with machines(folder, 2, nursery) as made:
        with distributed.Client(made.address.replace("dask", "tcp")) as client:
            client.wait_for_workers(2, timeout=60)
        yield made


@pytest.fixture(scope="module")
def two(nursery, tmp_path_factory):
    with two_machines(tmp_path_factory.mktemp("machines"), nursery) as made:
        yield made


def killed_at_work(made, ended):
    """Kill the first worker that is seen twice with the same tasks; appends its process and these tasks."""
    pids = {process.pid: process for process in made.started}
    with distributed.Client(made.address.replace("dask", "tcp")) as client:
        client.wait_for_workers(2, timeout=60)
        own = client.run(os.getpid)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not ended:
            busy = {worker: tasks for worker, tasks in client.processing().items() if tasks}
            time.sleep(0.1)
            still = [w for w, tasks in client.processing().items() if tasks and tasks == busy.get(w)]
            if still:
                os.kill(own[still[0]], signal.SIGKILL)
                ended.append((pids[own[still[0]]], busy[still[0]]))


def assert_the_audit_survives(made, nursery, tmp_path):
    asked = ("audit", *CHEAP, "--budget", "0.1", "--json")
    whole = forked(nursery, *asked, "--jobs", "1", "--out", "one", cwd=tmp_path)
    ended = []
    killer = threading.Thread(target=killed_at_work, args=(made, ended))
    killer.start()
    many = forked(nursery, *asked, "--out", "many", "--engine", made.address, cwd=tmp_path)
    killer.join()
    made.worker()  # in the place of the killed one, for other tests
    ((process, had),) = ended
    assert process.wait(10) == -signal.SIGKILL
    assert had, "it was at work"
    assert many == whole
    for kind in ("certificates", "figures"):
        files = {p.name: p.read_bytes() for p in (tmp_path / "one" / kind).iterdir()}
        assert files == {p.name: p.read_bytes() for p in (tmp_path / "many" / kind).iterdir()}
        assert files


def test_an_audit_survives_a_worker_that_is_killed_in_the_middle(two, nursery, tmp_path):
    assert_the_audit_survives(two, nursery, tmp_path)


@slow("the same on workers that import everything, and with other hash seeds")
def test_an_audit_on_new_interpreters_survives_it_too(nursery, tmp_path):
    with two_machines(tmp_path) as made:
        assert_the_audit_survives(made, nursery, tmp_path)


@slow("two more commands for each; the audit above compares its rows too")
@pytest.mark.parametrize("move", ["verify", "hunt"])
def test_rows_are_the_same_as_with_one_process(two, nursery, tmp_path, move):
    """Of the catalogue, and of a user's own file that is named from the folder where the command runs."""
    (tmp_path / "mine.py").write_text(OWN)
    asked = (move, IDS[0], "mine.py", "--budget", "0.1", "--json")
    there = forked(nursery, *asked, "--engine", two.address, cwd=tmp_path)
    assert there == forked(nursery, *asked, "--jobs", "1", cwd=tmp_path)
    assert [row["id"] for row in there] == [IDS[0], "mine/kappa"]


def complaint(capsys, *argv):
    """The one line that is said, with exit status 2."""
    assert main([*argv]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    return line


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.mark.parametrize(
    "address",
    ["", "127.0.0.1:8786", "tcp://127.0.0.1:8786", "dask://", "dask://host", "dask://host:", "dask://host:port",
     "dask://:8786", "tls://host", "TLS://host:1", "dask://host:99999", "dask://host:8786/", "dask://host:8786?x", "dask://[::1"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused(capsys, address):
    assert "expected dask://HOST:PORT, or tls://HOST:PORT of a sched" in complaint(
        capsys, "hunt", IDS[0], "--engine", address
    )


# --- with TLS --------------------------------------------------------------------------------------------------------

KEYS = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def authority(folder, name):
    """An authority, and a certificate of it with its key: the options that name them."""

    def openssl(*argv):
        subprocess.run(["openssl", *argv], cwd=folder, check=True, capture_output=True)

    openssl("req", "-x509", *KEYS, "-days", "2", "-subj", f"/CN={name}", "-keyout", "ca.key", "-out", f"{name}-ca.pem")
    openssl("req", *KEYS, "-subj", "/CN=node", "-keyout", f"{name}.key", "-out", "node.csr")
    signed = ("-CA", f"{name}-ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2")
    openssl("x509", "-req", "-in", "node.csr", *signed, "-out", f"{name}.pem")
    files = (folder / f"{name}-ca.pem", folder / f"{name}.pem", folder / f"{name}.key")
    return dict(zip(cluster.OPTIONS, map(str, files), strict=True))


def flat(files):
    return [word for option, file in files.items() for word in (option, file)]


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make certificates with")
    return authority(tmp_path_factory.mktemp("ours"), "ours")


@pytest.fixture(scope="module")
def theirs(ours, tmp_path_factory):
    return authority(tmp_path_factory.mktemp("theirs"), "theirs")


@pytest.fixture(scope="module")
def guarded(ours, nursery, tmp_path_factory):
    """A scheduler and a worker with TLS."""
    with machines(tmp_path_factory.mktemp("guarded"), 1, nursery, ("--protocol", "tls", *flat(ours))) as made:
        assert made.address.startswith("tls://")
        yield made


def test_rows_of_a_cluster_with_tls_are_the_same(guarded, ours, nursery, tmp_path):
    asked = ("hunt", IDS[0], "--budget", "0.1", "--json")
    there = forked(nursery, *asked, "--engine", guarded.address, *flat(ours), cwd=tmp_path)
    assert there == forked(nursery, *asked, "--jobs", "1", cwd=tmp_path)


def test_what_is_not_given_is_in_the_configuration_of_dask(guarded, ours):
    authority, certificate, key = ours.values()
    named = {"ca-file": authority, "client.cert": certificate, "client.key": key}
    named = {f"distributed.comm.tls.{name}": file for name, file in named.items()}
    with dask.config.set(named), cluster.connected(guarded.address) as there:
        assert there.jobs == 1


BELONGS = "expected an authority, a certificate and its key as PEM files; do: give files that belong together"
ONE = "expected a scheduler with TLS, its certificate and yours of one authority; do: start it with `dask scheduler"
REFUSED = {  # whose authority, certificate and key -> what is said
    "another authority": ("theirs ours ours", f"where TLS fails (CERTIFICATE_VERIFY_FAILED), {ONE}"),
    "a certificate of another": ("ours theirs theirs", f"where TLS fails (TLSV1_ALERT_UNKNOWN_CA), {ONE}"),
    "a key of another": ("ours ours theirs", f"(KEY_VALUES_MISMATCH), {BELONGS}"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_certificates_of_strangers_are_refused(guarded, ours, theirs, capsys, kind):
    whose, said = REFUSED[kind]
    held = {"ours": ours, "theirs": theirs}
    files = {option: held[who][option] for option, who in zip(ours, whose.split(), strict=True)}
    assert said in complaint(capsys, "hunt", IDS[0], "--engine", guarded.address, *flat(files))


def test_an_address_with_tls_and_one_without_are_not_confused(guarded, two, ours, capsys, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT", 2.0)
    plain = guarded.address.replace("tls", "dask")
    line = complaint(capsys, "hunt", IDS[0], "--engine", plain)
    assert "where no scheduler answers, expected a Dask scheduler" in line
    assert "if it has TLS, write tls://HOST:PORT" in line
    line = complaint(capsys, "hunt", IDS[0], "--engine", plain, *flat(ours))
    assert f"got --tls-ca-file beside --engine {plain}, expected an address with TLS; do: write it like --eng" in line
    line = complaint(capsys, "hunt", IDS[0], "--engine", two.address.replace("dask", "tls"), *flat(ours))
    assert f"where TLS fails (WRONG_VERSION_NUMBER), {ONE}" in line


def test_tls_without_its_files_is_one_line(ours, capsys, tmp_path):
    where = ("hunt", IDS[0], "--engine", "tls://127.0.0.1:8786")
    needs = "expected an authority, a certificate and its key as PEM files"
    do = "do: give --tls-ca-file, --tls-cert, --tls-key"
    assert f"with Dask's configuration alone, {needs}; {do}" in complaint(capsys, *where)
    (option, file), *_ = ours.items()
    assert f"with {option} {file} alone, {needs}; {do}" in complaint(capsys, *where, option, file)
    line = complaint(capsys, *where, "--tls-key", str(tmp_path))
    assert f"got --tls-key {tmp_path}, which cannot be read, expected a PEM file; do: check the path" in line
    (tmp_path / "none.pem").write_text("none")
    assert BELONGS in complaint(capsys, *where, *flat({**ours, "--tls-ca-file": str(tmp_path / "none.pem")}))
    line = complaint(capsys, "hunt", IDS[0], option, file)
    assert "got --tls-ca-file without --engine, expected --engine tls://HOST:PORT beside it; do: name the sched" in line


def test_a_configuration_that_wants_tls_refuses_an_address_without(two, capsys):
    with dask.config.set({"distributed.comm.require-encryption": True}):
        line = complaint(capsys, "hunt", IDS[0], "--engine", two.address)
    assert (
        f"got Dask's require-encryption beside --engine {two.address}, expected an address with TLS; do: write" in line
    )


def test_jobs_and_engine_do_not_go_together(capsys):
    line = complaint(capsys, "verify", IDS[0], "--engine", "dask://127.0.0.1:8786", "--jobs", "2")
    assert "got --jobs 2 beside --engine, expected one of them" in line


@pytest.mark.parametrize("move", ["lint", "derive"])
def test_moves_that_need_no_cluster_have_no_engine(capsys, move):
    assert "--engine" in complaint(capsys, move, IDS[0], "--engine", "dask://127.0.0.1:8786")


def test_without_dask(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    line = complaint(capsys, "hunt", IDS[0], "--engine", "dask://127.0.0.1:8786")
    assert "without Dask, expected the package distributed; do: pip install 'fedaudit[dask]'" in line


def test_nobody_listens(capsys):
    line = complaint(capsys, "hunt", IDS[0], "--engine", f"dask://127.0.0.1:{free_port()}")
    assert "where no scheduler answers, expected a Dask scheduler; do: start one" in line


@pytest.mark.parametrize("greeting", [b"", b"SSH-2.0-OpenSSH"])
def test_somebody_else_listens(capsys, monkeypatch, greeting):
    monkeypatch.setattr(cluster, "CONNECT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        guests = []

        def greet():
            guests.append(server.accept()[0])
            guests[0].sendall(greeting)

        host = threading.Thread(target=greet)
        host.start()
        line = complaint(capsys, "hunt", IDS[0], "--engine", f"dask://127.0.0.1:{server.getsockname()[1]}")
        host.join()
        guests[0].close()
    assert "where no scheduler answers" in line


def test_a_scheduler_without_workers(nursery, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(cluster, "CONNECT", 3.0)
    with machines(tmp_path, 0, nursery) as made:
        line = complaint(capsys, "hunt", IDS[0], "--engine", made.address)
    assert "without workers, expected at least one; do: start some" in line


def test_another_version_here_than_at_the_workers_is_named(two, capsys, monkeypatch):
    for name, there in (("fedaudit", "0.0.9"), ("numpy", "1.0")):
        monkeypatch.setattr(cluster, "libraries", lambda name=name, there=there: {**runner.libraries(), name: there})
        cluster._installed.cache_clear()
        line = complaint(capsys, "hunt", IDS[0], "--engine", two.address)
        assert f"with {name} {runner.libraries()[name]}, expected {name} {there}; do: install the same there" in line
    cluster._installed.cache_clear()


ALONE = [(2, "1", "nthreads 2"), (1, "4", "OMP_NUM_THREADS 4")]


@pytest.mark.parametrize(("threads", "blas", "said"), only([1], ALONE, "starts a cluster for each"))
def test_workers_that_would_disturb_each_other_or_sum_in_another_order(nursery, capsys, tmp_path, threads, blas, said):
    with machines(tmp_path, 0, nursery) as made:
        made.worker(threads, OMP_NUM_THREADS=blas)
        line = complaint(capsys, "hunt", IDS[0], "--engine", made.address)
    assert f"with {said}, expected {said.split()[0]} 1" in line


def tasks(monkeypatch, *ids):
    """Tasks as an audit would send them, from a process like those of the workers."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return [runner.Task("hunt", chosen, 0, 0.05, "numpy", False) for chosen in runner.choose(ids)]


def test_a_file_that_differs_at_the_worker_is_refused(two, monkeypatch, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    (task,) = tasks(monkeypatch, str(path))
    path.write_text(OWN + "\n")
    with cluster.connected(two.address) as there, pytest.raises(UserError, match="which differs at the worker"):
        list(there.work([task]))


def test_a_cluster_that_ends_is_said_and_not_waited_for(nursery, monkeypatch, tmp_path):
    monkeypatch.setattr(cluster, "ALONE", 1.0)
    long = [runner.replace(task, effort=60.0) for task in tasks(monkeypatch, *IDS[:2])]
    for which, said in ((1, "every worker has ended"), (0, "the scheduler has ended")):
        folder = tmp_path / str(which)
        folder.mkdir()
        with machines(folder, 1, nursery) as made, cluster.connected(made.address) as there:
            threading.Timer(1.0, made.started[which].kill).start()
            with pytest.raises(UserError, match=said):
                list(there.work(long))


def test_a_task_that_ends_its_worker_every_time_is_the_one_that_failed(monkeypatch):
    (task,) = tasks(monkeypatch, IDS[0])

    class Future:
        def result(self):
            raise distributed.KilledWorker("task", None, 3)

    outcome = cluster.Cluster("", distributed, None).outcome(Future(), task)
    assert outcome == runner.ended(task)
    assert outcome.row.hunt.reason == "the tool failed: its worker process ended"
