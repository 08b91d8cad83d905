"""Mutated certificates and instances: accepted or refused in time, never another exception, never a proof refuted."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from fuzz import GOLDEN, MEMORY, SECONDS, Log, Start, by_id, evaluated, mutants, pool, runs, start
from marks import slow, some

from fedaudit.bounds.catalogue.discovery import catalogue
from fedaudit.bounds.formulas.lowering import tree
from fedaudit.bounds.papers.buttaci.methods import FEDPROX
from fedaudit.bounds.proofs.derivation_check import derive
from fedaudit.verify import kernel

Record = Callable[[str, object], None]
CATALOGUE = [s.id for s in by_id().values() if runs(s)]
FIRST = list({by_id()[name].method: name for name in reversed(CATALOGUE)}.values())  # one statement per setting
REFUTABLE = {raw["statement"] for raw in GOLDEN.values()}
UNDRAWN = {"buttaci/prop3.2~repaired", "buttaci/cor4.1~formula"}  # their parameters are irrational
PLACES = 3  # other indices at which a mutated instance is looked at


def fuzz_certificate(raw: Any, seed: str, count: int) -> Log:
    log = Log()
    for what, changed in mutants(raw, count, seed, pool()):
        log.ask(what, lambda changed=changed: kernel.check(changed))
    return log


def fuzz_instance(identifier: str, begin: Start, seed: str, count: int) -> Log:
    """Under the catalogue's own claim; a counterexample must pass as a certificate, and none may break a proof."""
    log, rng = Log(), Random(f"at {seed}")
    for what, changed in mutants(begin.instance, count, seed, pool()):
        indices = [name for name in begin.at if name != "relation"]
        elsewhere = [{"relation": 0, **{name: rng.randrange(5) for name in indices}} for _ in range(PLACES)]
        first = log.ask(what, lambda changed=changed: evaluated(begin.claim, changed, begin.at))
        if first is None:
            continue
        answers = [(begin.at, first)]
        for at in elsewhere:
            if at not in [place for place, _ in answers]:  # few rounds have few places
                said = log.ask(f"{what} at {at}", lambda at=at, changed=changed: evaluated(begin.claim, changed, at))
                answers.append((at, said))
                log.count -= 1  # the same mutant
        for at, said in answers:
            if said is not None and not said[2] and not begin.refutes(at):
                found = Start(begin.claim, changed, at, *said)
                assert log.ask(what, lambda found=found: kernel.check(found.certificate())), "evaluate, but not check"
                log.refutations.append(f"{identifier}: {what} at {at}")
    if log.refutations:
        made = derive(by_id()[identifier], catalogue(), slack=False)
        proved = made.proved and not made.premises
        assert not proved, f"derive proves {identifier}, and the kernel accepts {log.refutations[:5]}"
    if identifier in REFUTABLE:
        log.refutations.clear()  # nothing to look at: it falls anyway
    return log


def begun(identifier: str, number: int = 0) -> Start:
    begin = start(identifier, number)
    if begin is None and identifier in UNDRAWN:
        pytest.skip(f"no exact instance of {identifier} was drawn")
    assert begin is not None, "an exact instance of every other statement is drawn"
    return begin


@pytest.mark.parametrize("name", some(GOLDEN, 4, "more of each below"))
def test_golden_certificates_mutated(name: str, record_property: Record) -> None:
    fuzz_certificate(GOLDEN[name], f"fast {name}", 10).judge(record_property)


@pytest.mark.parametrize("identifier", FIRST)
def test_instances_mutated(identifier: str, record_property: Record) -> None:
    fuzz_instance(identifier, begun(identifier), f"fast {identifier}", 20).judge(record_property)


@slow("many mutants of each")
@pytest.mark.parametrize("name", list(GOLDEN))
def test_golden_certificates_mutated_often(name: str, record_property: Record) -> None:
    fuzz_certificate(GOLDEN[name], f"slow {name}", 300).judge(record_property)


@slow("many mutants of the whole catalogue")
@pytest.mark.parametrize("identifier", CATALOGUE)
def test_certificates_mutated_often(identifier: str, record_property: Record) -> None:
    """Of an instance on which the claim may hold: then the certificate lies, and so do its mutants."""
    fuzz_certificate(begun(identifier).certificate(), f"slow {identifier}", 130).judge(record_property)


@slow("many mutants of the whole catalogue")
@pytest.mark.parametrize("identifier", CATALOGUE)
@pytest.mark.parametrize("number", range(3))
def test_instances_mutated_often(identifier: str, number: int, record_property: Record) -> None:
    """Of three drawings: their sizes differ."""
    fuzz_instance(identifier, begun(identifier, number), f"slow {identifier} {number}", 75).judge(record_property)


def test_mutants_are_the_same_on_every_run() -> None:
    raw = GOLDEN["lemB.2-terms-lost"]
    first, second = ([what for what, _ in mutants(raw, 50, "again", pool())] for _ in range(2))
    assert first == second
    assert len(set(first)) > 45


# --- replays against a second opinion --------------------------------------------------------------------------------


def slope(loss: Any, w: list[Fraction]) -> list[Fraction]:
    """A client's gradient, by its definition."""
    if loss["kind"] == "quadratic":
        rows = zip(loss["A"], loss["b"], strict=True)
        return [sum((Fraction(a) * x for a, x in zip(row, w, strict=True)), -Fraction(b)) for row, b in rows]
    parts = zip(*([Fraction(x) for x in loss[name]] for name in ("a", "m", "lo", "hi", "c")), w, strict=True)
    return [m * (x - c) + (a - m) * max(-lo, min(hi, x - c)) for a, m, lo, hi, c, x in parts]


def distances(instance: Any) -> list[Fraction]:
    """|w_t - w*|^2 of FedProx without noise, rule (4.3), step by step."""
    w, alpha = [Fraction(x) for x in instance["w0"]], Fraction(instance["parameters"]["alpha"])
    found: list[Fraction] = []
    for t in range(instance["T"] + 1):
        found.append(sum(((x - Fraction(y)) ** 2 for x, y in zip(w, instance["w_star"], strict=True)), Fraction(0)))
        if t == instance["T"]:
            return found
        gamma, ends = Fraction(instance["steps"]["gamma"][t]), list[list[Fraction]]()
        for loss in instance["clients"]:
            own = list(w)
            for _ in range(instance["E"]):
                moved = zip(own, slope(loss, own), w, strict=True)
                own = [x - gamma * (g + alpha * (x - start)) for x, g, start in moved]
            ends.append(own)
        weights = [Fraction(p) for p in instance["p"]]
        w = [sum((p * x for p, x in zip(weights, xs, strict=True)), Fraction(0)) for xs in zip(*ends, strict=True)]
    return found


FREE: dict[str, Any] = {
    "id": "test/free", "kind": "inequality", "setting": "run", "let": [], "implicit": [], "choose": {}, "when": [],
    "for_all": {"t": [0, "T"]}, "then": [["<=", ["at", "dist2", "t"], 0]], "means": {},
    "domains": {"dist2": "real", "T": "count", "alpha": "nonnegative", "gamma": "positive"},
    "method": FEDPROX.data(tree, ["dist2"]),
}  # fmt: skip


def without_noise(instance: Any) -> Any:
    steps = {"gamma": ["1/7"] * instance["T"]} if "steps" not in instance else instance["steps"]
    kept = {k: v for k, v in instance.items() if k != "minimisers"}
    alpha = {"alpha": instance["parameters"]["alpha"]}
    return {**kept, "constants": {}, "parameters": alpha, "noise": {"kind": "none"}, "steps": steps}


GAPS = ("gap", "dist2")
MEASURED = [s.id for s in by_id().values() if s.method_id == "fedprox" and any(q in str(s.then) for q in GAPS)]


@pytest.mark.parametrize("identifier", MEASURED)
def test_mutated_runs_agree_with_their_definition(identifier: str, record_property: Record) -> None:
    plain, log, compared = without_noise(begun(identifier).instance), Log(), 0
    for what, changed in [("", plain), *mutants(plain, 40, f"replay {identifier}", pool())]:
        last = {"relation": 0, "t": changed.get("T") if isinstance(changed, dict) else 0}
        said = log.ask(what, lambda changed=changed, last=last: kernel.evaluate(FREE, changed, [], last))
        if said is not None and changed["noise"]["kind"] == "none" and changed["E"] * changed["T"] <= 100:
            compared += 1
            assert Fraction(str(said[0])) == distances(changed)[-1], what
    assert compared > 1
    log.judge(record_property)


# --- cases that once hung, crashed or killed the process -------------------------------------------------------------

RICH = "lemB.2-terms-lost"


def nested(depth: int) -> str:
    """As text: too deep for `json.dumps`."""
    text = json.dumps({**GOLDEN[RICH], "instance": {**GOLDEN[RICH]["instance"], "w0": "HERE"}})
    return text.replace('"HERE"', "[" * depth + "]" * depth)


def claiming(**changes: Any) -> Any:
    return {**GOLDEN[RICH], "claim": {**GOLDEN[RICH]["claim"], **changes}, "lhs": "1 +/- 1e-3"}


def instead(identifier: str, fits: Callable[[Any], bool] = lambda _: True, **changes: Any) -> Any:
    """A drawn certificate of the statement with other fields in its instance; a function changes what is there."""
    drawings = (start(identifier, number) for number in range(8))
    begin = next(b for b in drawings if b is not None and fits(b.instance))
    told = {k: change(begin.instance) if callable(change) else change for k, change in changes.items()}
    return {**begin.certificate(), "instance": {**begin.instance, **told}}


def boxed(**changes: Any) -> Any:
    """The golden run of which only moments are followed, with other fields in its instance."""
    golden = GOLDEN["yuan-thm3-exact"]
    return {**golden, "instance": {**golden["instance"], **changes}}


def unmoved(identifier: str) -> Any:
    """A run whose moments are followed, with steps of length 0."""
    return instead(identifier, lambda i: "box" in i, parameters=lambda i: {**i["parameters"], "beta": "0"})


def measuring(raw: Any, **measures: Any) -> Any:
    """A certificate whose method measures more."""
    method = raw["claim"]["method"]
    return {**raw, "claim": {**raw["claim"], "method": {**method, "measures": {**method["measures"], **measures}}}}


def noisy(steps: int) -> Any:
    """One client with a regulariser: two outcomes in every step."""
    return instead(
        "zhang/eq2-compact", lambda i: i["noise"]["kind"] == "signs", E=steps, T=1, C=1, p=["1"],
        clients=lambda i: i["clients"][:1], noise=lambda i: {**i["noise"], "v": i["noise"]["v"][:1]},
        regulariser={"kind": "l1", "theta": "1"},
    )  # fmt: skip


def prolonged(identifier: str, T: int, digits: int = 0) -> Any:
    """A drawn certificate with so many rounds (of one step each), and step sizes that are all different and long."""
    drawn = instead(identifier, lambda i: "steps" in i and i.get("weights", {"kind": "largest"})["kind"] == "largest")
    instance, (name, steps) = drawn["instance"], next(iter(drawn["instance"]["steps"].items()))
    longer = [str(Fraction(steps[t % len(steps)]) / (1 + Fraction(t + 1, 10**digits + t))) for t in range(T)]
    return {**drawn, "instance": {**instance, "E": 1, "T": T, "steps": {name: longer if digits else longer[:1] * T}}}


LONG, REST = f"{10**400 + 7}/{10**401 + 9}", f"{9 * 10**400 + 2}/{10**401 + 9}"  # of sum 1


def one_round(raw: Any) -> Any:
    return {**raw, "instance": {**raw["instance"], "E": raw["instance"]["T"]}}


def unconditional(raw: Any) -> Any:
    return {**raw, "claim": {**raw["claim"], "when": []}}


def grown(depth: int) -> Any:
    """An order claim whose left side is a power of a power of a power ..."""
    raw = next(raw for raw in GOLDEN.values() if raw["claim"]["setting"] == "order" and "form" not in raw["claim"])
    relation, left, right = raw["claim"]["then"][raw["at"]["relation"]]
    for _ in range(depth):
        left = ["^", ["+", 3, left], 16]
    return {**raw, "claim": {**raw["claim"], "then": [[relation, left, right]]}, "at": {**raw["at"], "relation": 0}}


HOSTILE: dict[str, Callable[[], Any]] = {
    "a tower of powers": lambda: claiming(then=[["<=", ["exp", ["exp", 100]], 0]]),
    "a number with more digits than memory": lambda: claiming(then=[["<=", ["exp", ["exp", 30]], 0]]),
    "a number as small": lambda: claiming(then=[["<=", ["exp", ["*", "-1", ["exp", 30]]], 0]]),
    "digits and a letter": lambda: {**GOLDEN[RICH], "lhs": "1/" + "1" * 100_000 + "x"},
    "a long sum": lambda: claiming(then=[["<=", ["sum", "a", 1, 10**9, 1], 0]]),
    "long sums as step sizes": lambda: {
        **claiming(choose={"gamma": {"index": ["t"], "value": ["^", ["sum", "a", 1, 190_000, "1"], -1]}}),
        "instance": {**GOLDEN[RICH]["instance"], "T": 1000},
    },
    "conditions at many points": lambda: claiming(
        for_all={"t": [0, "T"], "a": [0, 300], "b": [0, 300]},
        when=[["<=", ["*", "a", "b", ["exp", ["sum", "c", 1, 50, ["exp", "c"]]]], ["exp", ["exp", 10]]]],
    ),
    "ends that are swapped": lambda: boxed(box={"low": ["1"], "high": ["0"]}),
    "ends that meet": lambda: boxed(box={"low": ["1"], "high": ["1"]}),
    "many rounds": lambda: instead("yuan/thm1~inequality", lambda i: "box" not in i, T=10**9),
    "no step, all rounds": lambda: unmoved("fallah/thm4.5~explicit"),
    "no step, one round": lambda: unmoved("fallah/eq109~repaired"),
    "rounds without end": lambda: instead(
        "fallah/thm4.5~explicit", lambda i: "box" not in i, T=10**9, noise={"kind": "none"},
        participation=lambda i: {**i["participation"], "m": i["C"]},
    ),
    "the largest of rounds without end": lambda: measuring(
        boxed(T=10**9),
        largest={"at": [], "terms": [["1", ["f", ["start"]]]], "over": ["most", "steps"]},
        later={"at": ["t"], "terms": [["1", ["f", ["start"]]]]},  # asked for round by round
    ),
    "many draws": lambda: instead(
        "fallah/sec4.1-sample-rate~on-a-line", x=[str(k) for k in range(20)], q=["1/20"] * 20, m=200
    ),
    "ten noisy steps": lambda: noisy(10),
    "forty noisy steps": lambda: noisy(40),
    "a minimiser too many": lambda: instead("buttaci/lemC.1", minimisers=lambda i: [*i["minimisers"], i["w_star"]]),
    "no minimisers": lambda: instead("buttaci/lemC.1", minimisers=[]),
    "a domain of nobody": lambda: {
        **GOLDEN["yuan-eq1.5"],
        "claim": {**GOLDEN["yuan-eq1.5"]["claim"], "domains": {"nobody": "real"}},
    },
    "a dense graph": lambda: instead(
        next(s.id for s in by_id().values() if s.method == "graph"),
        C=40, weights=[f"{10**300 + 7 * k}/{10**299 + k * k}" for k in range(780)],
    ),
    **{
        f"{T} rounds of {digits} digits, {identifier}": partial(prolonged, identifier, T, digits)
        for identifier in ("buttaci/lem4.2", "buttaci/lem4.4", "buttaci/lemC.4", "buttaci/lemB.4", "benmansour/lem2")
        for T, digits in ((400, 0), (1000, 0), (400, 30), (1000, 300))
    },
    "moments of many rounds": lambda: unconditional(
        boxed(T=1000, parameters={"eta": f"{10**400 + 7}/{10**401 + 9}"})
    ),
    "many rounds that never rest": lambda: unconditional(
        instead(
            "yuan/thm1~inequality", lambda i: "box" not in i, T=10**9,
            parameters={"eta": f"{10**400 + 7}/{10**401 + 9}"},
        )
    ),
    "one round of many long steps": lambda: one_round(prolonged("benmansour/lem2", 1000, 200)),
    "long probabilities of many draws": lambda: instead(
        "fallah/sec4.1-sample-rate~on-a-line", x=["0", "1"], q=[LONG, REST], b=200, C=1
    ),
    "long probabilities in large minibatches": lambda: unconditional(
        instead(
            "yuan/thm1~inequality", lambda i: "box" not in i, minibatch={"b": 900, "shared": False},
            clients=lambda i: [{**d, "q": [LONG, REST], "points": d["points"][:1] * 2} for d in i["clients"]],
        )
    ),
    "a large network": lambda: instead(next(s.id for s in by_id().values() if s.method == "network"), C=200),
    "a power of a power": lambda: grown(12),
    **{f"nested {depth} deep": partial(nested, depth) for depth in (64, 500, 900, *range(960, 1000, 4), 5000)},
}  # fmt: skip


def checked(folder: Path, names: Sequence[str], seconds: int) -> None:
    """In a process of its own, with little memory: FLINT may end it, or never return."""
    files: list[str] = []
    for number, name in enumerate(names):
        made = HOSTILE[name]()
        files.append(str(folder / f"{number}.json"))
        Path(files[-1]).write_text(made if isinstance(made, str) else json.dumps(made))

    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    command = [sys.executable, "-m", "fedaudit.verify.kernel", *files]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limits)
    answers = done.stdout.splitlines()
    wrong = f"exit {done.returncode} after {answers[-2:]}: {done.stderr[-500:]}"
    assert [line.partition(": ")[0] for line in answers] == files, wrong
    assert done.returncode in (0, 1, 2), wrong
    assert not done.stderr
    assert max(map(len, answers)) < 400 + 300 + len(files[-1])  # and the formula that was checked


def test_hostile_certificates_are_answered(tmp_path: Path) -> None:
    checked(tmp_path, list(HOSTILE)[::8], 60)


@slow("what the fast tests leave out of it takes most of a minute")
def test_all_hostile_certificates_are_answered_by_one_process(tmp_path: Path) -> None:
    checked(tmp_path, list(HOSTILE), 60)


@slow("each takes what the kernel's limits allow")
@pytest.mark.parametrize("name", list(HOSTILE))
def test_each_hostile_certificate_is_answered_in_time(name: str, tmp_path: Path) -> None:
    checked(tmp_path, [name], int(SECONDS))
