"""Runs command lines in forked children, which may die by SIGKILL at a chosen moment. Not a test: see conftest.py.

A line on stdin is a request: {"argv": […], "cwd": …, "kill": null | [moment, n], "program": "fedaudit" | "pytest",
"shared": false | true}; the answer on stdout is the child's exit status, its standard output and error, how often it
came by each moment, and its seconds. Children are forked from a process that has imported everything, so that a
command costs its work and no imports. With "shared", rows and figures that an earlier such child made are taken over,
so that an audit that is killed again and again costs its files alone.

Moments, each counted from 1:
    part    a file's content is half written beside its place
    whole   a file's content is written, but not yet moved to its place
    moved   a file has just been moved to its place
    work    a statement's row is computed, nothing of it is written
    clock   n thousandths of a second after the start
"""

import gc
import json
import os
import pickle
import pkgutil
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from importlib import import_module

import pytest

from fedaudit import cli, commands
from fedaudit.bounds.catalogue import discovery as catalogue
from fedaudit.commands import listing
from fedaudit.running import files, runner
from fedaudit.verify.moves import rows as audit

LATER = ("fedaudit.verify.pictures.curves", "fedaudit.figures.pages.report")  # what commands import when they run
MOMENTS = ("part", "whole", "moved", "work")
WORKED = {}  # rows and figures that a child of a shared request made before it ended


def patched(kill, counts):
    """Put the kill where it belongs. Files reach the disk by os.fsync and Path.replace in `files.write` alone."""

    def reached(moment, *before):
        counts[moment] += 1
        os.pwrite(counts["file"], json.dumps({m: counts[m] for m in MOMENTS}).encode().ljust(200), 0)
        if kill == [moment, counts[moment]]:
            for act in before:
                act()
            os.killpg(0, signal.SIGKILL)

    sync, replace, figure = os.fsync, files.Path.replace, runner.figure_of

    def fsync(handle):
        reached("part", lambda: os.ftruncate(handle, os.fstat(handle).st_size // 2))
        sync(handle)

    def move(path, target):
        reached("whole")
        replace(path, target)
        reached("moved")

    def draw(*arguments):
        reached("work")
        return figure(*arguments)

    os.fsync, files.Path.replace, runner.figure_of = fsync, move, draw


def sharing():
    """Take rows and figures from WORKED, and put them there."""

    def once(kind, make, key):
        def made(*arguments):
            asked = (kind, *key(*arguments))
            if asked not in WORKED:
                WORKED[asked] = make(*arguments)
            return WORKED[asked]

        return made

    audit.audit_row = once("row", audit.audit_row, lambda statement, *rest: (statement.id, *rest[:4]))
    runner.figure_of = once("figure", runner.figure_of, lambda statement, seed, row: (statement.id, seed))


def child(request, out, err, counted, worked):
    os.setsid()
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.chdir(request["cwd"])
    if request["shared"]:
        sharing()
    patched(request["kill"], {"file": counted, **dict.fromkeys(MOMENTS, 0)})
    status = {"fedaudit": cli.main, "pytest": pytest.main}[request["program"]](request["argv"])
    sys.stdout.flush()
    if request["shared"]:
        os.pwrite(worked, pickle.dumps(WORKED), 0)
    os._exit(status)


def answer(request):
    with ExitStack() as stack:
        files = out, err, counted, worked = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(4)]
        began = time.monotonic()
        pid = os.fork()
        if pid == 0:
            child(request, *(file.fileno() for file in files))
        kill = request["kill"]
        if kill and kill[0] == "clock":
            time.sleep(kill[1] / 1000)
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        seconds = time.monotonic() - began
        for file in files:
            file.seek(0)
        if status == 0 and request["shared"]:
            WORKED.update(pickle.load(worked))
        return {
            "status": os.waitstatus_to_exitcode(status),
            "shown": out.read().decode(),
            "said": err.read().decode(),
            "counts": json.loads(counted.read() or "{}"),
            "seconds": seconds,
        }


def main():
    runner.one_thread()
    catalogue.find([])
    listing.listed([])  # here and now, so that no child has to write it
    for module in (*(f"fedaudit.commands.{m.name}" for m in pkgutil.iter_modules(commands.__path__)), *LATER):
        import_module(module)
    sys.modules["fedaudit.commands.report"].EVERY = 1e9  # how often the index is written must not depend on the clock
    gc.collect()
    gc.freeze()  # what is here stays: a child that collects garbage would write to every page of it, which copies them
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
