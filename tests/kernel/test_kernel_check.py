"""Certificates: golden ones are accepted, tampered and malformed ones are not, each with one line that says why."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq
from fuzz import get, put, without
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from marks import examples, only, slow, some
from places import TESTS

from fedaudit.bounds.catalogue.discovery import statement
from fedaudit.verify.kernel import Accepted, Malformed, Rejected, admissible, check, claimed, evaluate, load, world
from fedaudit.verify.kernel.__main__ import main
from fedaudit.verify.search.lowered_claim import lower

FOLDER = TESTS / "certificates"
GOLDEN = {path.name: load(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
BY_HAND = {  # file -> both sides, worked out on paper; None: not rational
    "lem4.1-shortened.json": ("1/4", "9/40"),  # |gamma g|^2 = (1/2)^2 against 9/10 of it
    "lem4.2-negative-weight.json": ("9", "1"),  # gamma^2 (p_2 (g_2 - g_1))^2 = (1/4) 36 against 4 (1/4)
    "lemB.8-without-e.json": ("335/8", "135/2"),  # (5/4)(9/4) + (5/4)25(5/4) against 2 25 5/4 + 4 5/4
    "lemB.1-kappa-shortened.json": ("1/2", "9/20"),  # (1 + (1 - 1))/2 against 9/10 (1 - 1/2)
    "thm4.2-half-of-A.json": ("1/2", None),
}
RICH = "lemB.2-terms-lost.json"  # generic numbers everywhere: nothing in it is idle
GARBAGE: list[Any] = [
    None, True, 0.5, float("nan"), float("inf"), {"a": 1}, [[1]], "", "nan", "NaN", "inf", "1e5",
    "1.5", "1/0", "0x1", "+1",
    " 1", "1 ", "1\n", "1/-2", "1//2", "\u0661", "__import__('os')", "9" * 2000, 10**2000, "x" * 500, ["^", 9], ["at"],
]  # fmt: skip


def leaves(raw: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(raw, dict | list) and raw:
        for key, entry in raw.items() if isinstance(raw, dict) else enumerate(raw):
            yield from leaves(entry, (*path, key))
    else:
        yield path


def some_leaves(name: str) -> list[tuple[Any, ...]]:
    """All leaves of a certificate; of one that carries replays of its run, evenly chosen ones."""
    every = list(leaves(GOLDEN[name]))
    return every[:: max(1, len(every) // 30)] if "replays" in GOLDEN[name] else every


def changed(raw: Any, path: tuple[Any, ...], to: Callable[[Any], Any]) -> Any:
    return put(raw, path, to(get(raw, path)))


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_is_accepted(name: str) -> None:
    found = check(GOLDEN[name])
    for side, expected in zip((found.lhs, found.rhs), BY_HAND.get(name, (None, None)), strict=True):
        assert expected is None or side == fmpq(*map(int, expected.split("/")))


def grown(raw: Any) -> Any:
    """A number plus one; a word with a letter more."""
    if isinstance(raw, int):
        return raw + 1
    try:
        top, _, bottom = raw.partition("/")
        return str(fmpq(int(top), int(bottom or 1)) + 1)
    except (ValueError, AttributeError):
        return "1" if raw in ([], {}) else raw + "x" if isinstance(raw, str) else [raw]


def accepted(raw: Any) -> bool:
    said = ""
    try:
        check(raw)
    except (Malformed, Rejected) as error:
        said = str(error)
    assert "\n" not in said
    assert len(said) < 400
    return not said


def assert_refused(name: str, path: tuple[Any, ...], garbage: Any) -> None:
    if ("index" in path and str(garbage).isidentifier()) or path[-2:] in (("form", "id"), ("method", "id")):
        return  # a bound index may have any name, and so may an identity and a method
    assert not accepted(changed(GOLDEN[name], path, lambda _: garbage)), (path, garbage)


@pytest.mark.parametrize("name", some(GOLDEN, 9, "the slow test below tries more kinds at each leaf"))
def test_garbage_at_any_leaf_is_refused(name: str) -> None:
    """Another kind of it at each leaf."""
    leaves = some_leaves(name)
    for number, path in enumerate(leaves[::3] if "replays" in GOLDEN[name] else leaves):
        assert_refused(name, path, GARBAGE[number * 5 % len(GARBAGE)])


@slow("seven to thirty kinds of garbage at each leaf")
@pytest.mark.parametrize("name", GOLDEN)
def test_all_garbage_at_any_leaf_is_refused(name: str) -> None:
    for path in some_leaves(name):
        for garbage in GARBAGE if name == RICH else GARBAGE[::4]:
            assert_refused(name, path, garbage)


SHORT = 1_000  # steps that are walked one by one


BRIEF = [name for name in GOLDEN if "replays" not in GOLDEN[name] or name == "yuan-eq1.5.json"]


@pytest.mark.parametrize(
    "name", only(BRIEF[::6], GOLDEN, "every field is a check from scratch, of one or several runs")
)
def test_any_field_lost_or_added_is_refused(name: str) -> None:
    paths = {path[: depth + 1] for path in some_leaves(name) for depth in range(len(path))}
    for *above, last in sorted(paths, key=str):
        place = get(GOLDEN[name], (*above,))
        if not isinstance(place, dict):
            continue
        if last == next(key for key in place if (*above, key) in paths):  # once for each place
            assert not accepted(put(GOLDEN[name], (*above,), {**place, "surplus": "1"})), (above, "added")
        walked = last == "box" and place["E"] * place["T"] <= SHORT
        if place[last] == {} or walked or last == "oracle" or "method" in above:
            continue  # no parameters, or none said; a run that can be walked without its box; another method
        assert not accepted(without(GOLDEN[name], (*above, last))), (*above, last, "lost")


@pytest.mark.parametrize("name", some(GOLDEN, 3, "the same of every certificate"))
@pytest.mark.parametrize("field", ["format", "statement", "claim.id", "lhs", "rhs", "at.relation"])
def test_what_a_certificate_says_must_be_so(name: str, field: str) -> None:
    alike = (
        name == "fallah-sec4.1-sample-rate.json" and field == "at.relation"
    )  # W_1, gamma_G, gamma_H: the same powers
    assert accepted(changed(GOLDEN[name], tuple(field.split(".")), grown)) is alike


def test_every_number_of_a_rich_instance_counts() -> None:
    """Only a longer run and a looser G leave the two sides and the verdict as they are."""
    raw = GOLDEN[RICH]
    numbers = [path for path in leaves(raw) if path[0] in ("instance", "at", "lhs", "rhs", "dropped")]
    slack = {".".join(map(str, path)) for path in numbers if accepted(changed(raw, path, grown))}
    assert slack == {"instance.T", "instance.constants.G"}


def edited(name: str, **changes: Any) -> Any:
    """A golden certificate with other values at the places named, "__" standing for a dot."""
    raw = copy.deepcopy(GOLDEN[name])
    for place, value in changes.items():
        *path, last = place.split("__")
        holder = raw
        for key in path:
            holder = holder[key]
        holder[last] = value
    return raw


DEEP: Any = "1"
for _ in range(200):
    DEEP = ["abs", DEEP]
WIDE = ["sum", "a", 1, 10**6, ["sum", "b", 1, 10**6, 1]]
LEM, TWO = "lem4.1-shortened.json", "thm4.2-half-of-A.json"
SMUGGLED: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    (LEM, {"instance__parameters": {"L": "9"}}, Malformed, "'L'"),
    (LEM, {"instance__parameters": {"C": "9"}}, Malformed, "'C'"),
    (LEM, {"instance__parameters": {"t": "0"}}, Malformed, "'t'"),
    (RICH, {"instance__parameters": {"gamma": "1/6", "Gamma": "9"}}, Malformed, "'Gamma'"),
    (RICH, {"instance__steps": {"gamma": ["1/6", "1/6"]}}, Malformed, "steps"),
    (RICH, {"instance__w_star": ["0", "0"]}, Rejected, "w_star"),
    (RICH, {"instance__minimisers": [["0", "0"], ["1", "0"]]}, Rejected, "minimisers[0]"),
    (RICH, {"instance__constants__L": "2"}, Rejected, "smooth"),
    (RICH, {"instance__constants__mu": "3/2"}, Rejected, "strongly_convex"),
    (RICH, {"instance__constants__sigma": "7"}, Rejected, "bounded_variance"),
    (RICH, {"instance__constants__G": "1"}, Rejected, "bounded_gradients"),
    (RICH, {"instance__constants__G": "-12"}, Malformed, "at least 0"),
    (RICH, {"instance__parameters__gamma": "1"}, Rejected, "claim.when[0]"),
    (RICH, {"instance__parameters__gamma": "-1"}, Rejected, "gamma: got -1"),
    (RICH, {"instance__noise__shared": True}, Rejected, "independent_noise"),
    (RICH, {"instance__parameters__alpha": "0"}, Rejected, "alpha"),
    (RICH, {"instance__C": 3}, Malformed, "clients"),
    (RICH, {"instance__E": 0}, Malformed, "instance.E"),
    (RICH, {"instance__E": 1000, "instance__T": 1000}, Rejected, "operations"),
    (RICH, {"at__t": 3}, Malformed, "at.t"),
    (RICH, {"dropped": ["smooth"]}, Malformed, "dropped"),
    (RICH, {"dropped": ["independent_noise"] * 2}, Malformed, "dropped"),
    (RICH, {"claim__for_all": {"t": [0, ["+", "T", 1]]}, "at__t": 3}, Rejected, "gap(3,)"),
    (RICH, {"claim__for_all": {"t": [0, "T"], "L": [1, 2]}}, Malformed, "for_all"),
    (RICH, {"claim__choose": {"gamma": {"index": ["t"], "value": ["at", "gap", "t"]}}}, Malformed, "choose.gamma"),
    (RICH, {"claim__choose": {"gamma": {"index": ["t"], "value": ["exp", "gamma"]}}}, Rejected, "bounded_gradients"),
    ("lemB.8-without-e.json", {"claim__setting": "chess"}, Malformed, "claim.setting"),
    (RICH, {"claim__let": [["smooth"]]}, Malformed, "smooth"),
    (RICH, {"claim__let": [["smooth", "L"], ["smooth", "L"]]}, Malformed, "once"),
    (RICH, {"claim__let": [["honest"]]}, Malformed, "honest"),
    (RICH, {"claim__domains__gamma": "count"}, Rejected, "gamma"),
    (RICH, {"claim__domains__nobody": "real"}, Malformed, "nobody"),
    (RICH, {"claim__domains": {"L": "positive"}}, Malformed, "none for ['C', 'E'"),
    (RICH, {"claim__kind": "experiment"}, Rejected, "experiment"),
    (RICH, {"instance__parameters__nobody": "1"}, Malformed, "nobody"),
    (RICH, {"claim__then": [["<=", ["^", ["log", ["+", 1, ["*", -1, ["exp", 1]]]], 0], 0]]}, Rejected, "positive"),
    (RICH, {"claim__then": [["<=", ["exp", ["exp", 100]], 0]], "lhs": "1 +/- 1e-3"}, Rejected, "2^100000"),
    (RICH, {"claim__then": [["<=", ["exp", ["exp", 30]], 0]], "lhs": "1 +/- 1e-3"}, Rejected, "2^100000"),
    (RICH, {"lhs": "1/" + "1" * 100_000 + "x"}, Malformed, "lhs"),
    (RICH, {"replays": []}, Accepted, ""),
    (RICH, {"replays": [{"instance": {}, "at": {}}]}, Rejected, "replays"),
    (RICH, {"claim__choose__eta": {"index": ["t"], "value": 1}}, Malformed, "eta"),
    ("lemB.8-without-e.json", {"claim__choose": {"gamma": {"index": ["t"], "value": 1}}}, Malformed, "choose"),
    (RICH, {"claim__then": []}, Malformed, "at.relation"),
    (RICH, {"claim__then": [["<=", DEEP, 0]]}, Malformed, "nested"),
    (RICH, {"claim__then": [["<=", WIDE, 0]]}, Rejected, "operations"),
    (RICH, {"claim__then": [["<=", ["^", ["^", 10, 10**9], 10**9], 0]]}, Rejected, "bits"),
    (RICH, {"claim__then": [["<=", ["^", 2, ["*", "1/3", ["exp", 10**6]]], 0]]}, Rejected, "undecided"),
    (RICH, {"claim__then": [["<=", ["log", 0], 0]]}, Rejected, "log"),
    (RICH, {"claim__then": [["<=", ["^", ["+", "E", -2], -1], 0]]}, Rejected, "0^"),
    (RICH, {"claim__then": [["<=", ["^", -2, "1/2"], 0]]}, Rejected, "negative"),
    (RICH, {"claim__then": [["<=", "nothing", 0]]}, Malformed, "nothing"),
    (RICH, {"claim__then": [["<=", ["at", "gap", "t", "t"], 0]]}, Malformed, "gap"),
    (RICH, {"claim__then": [["<=", ["at", "gap", "1/2"], 0]]}, Rejected, "integer"),
    (RICH, {"claim__then": [["<=", ["exp", 1], ["exp", 1]]]}, Rejected, "undecided"),
    (RICH, {"claim__then": [["<=", ["import", 1], ["exp", 1]]]}, Malformed, "one of"),
    (TWO, {"rhs": "0.3 +/- 1"}, Rejected, "rhs"),
    (TWO, {"rhs": "1/3"}, Malformed, "ball"),
    (TWO, {"rhs": "0.31606 +/- 0.00001"}, Accepted, ""),
    (TWO, {"lhs": "0.5 +/- 0.00001"}, Malformed, "lhs"),
    (TWO, {"instance__w0": ["-2"]}, Accepted, ""),
    (TWO, {"instance__w0": ["0"]}, Rejected, "two_groups"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "changes", "outcome", "says"), SMUGGLED)
def test_smuggling(name: str, changes: dict[str, Any], outcome: type, says: str) -> None:
    raw = edited(name, **changes)
    if outcome is Accepted:
        assert isinstance(check(raw), Accepted)
    else:
        with pytest.raises(outcome) as error:
            check(raw)
        assert says in str(error.value)
        assert len(str(error.value)) < 400


@pytest.mark.parametrize(
    "raw", [None, [], "x", 3, {}, {1: 2}, {"format": object()}, float("nan"), {"format": 10**5000}]
)
def test_not_a_certificate(raw: Any) -> None:
    with pytest.raises(Malformed):
        check(raw)


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"a": 1, "a": 2}', "[" * 100_000, "9" * 5000, " " * 2_000_000, '{"lhs": NaN}', '{"lhs": 1e400}', "\x00"],
)
def test_bad_files(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.json").write_text(text)
    assert main([str(tmp_path / "bad.json")]) == 2
    assert capsys.readouterr().out.count("\n") == 1


def test_command_line_says_one_line_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = [str(FOLDER / name) for name in list(GOLDEN)[::4]]  # all are accepted above
    (tmp_path / "false.json").write_text(json.dumps(edited(LEM, lhs="2")))
    (tmp_path / "latin.json").write_bytes(b"\xff\xfe\xff")
    assert main(good) == 0
    assert main([*good, str(tmp_path / "false.json")]) == 1
    assert main([str(tmp_path / "false.json"), str(tmp_path / "latin.json"), str(tmp_path / "none.json")]) == 2
    assert main([]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 * len(good) + 4
    assert "rejected: certificate.lhs: got '2', expected 1/4" in "\n".join(lines)


def test_the_kernel_imports_no_more_than_flint() -> None:
    """A fresh interpreter that re-checks a certificate has loaded none of the packages that make them."""
    code = (
        "import sys; from fedaudit.verify.kernel.__main__ import main; status = main(sys.argv[1:])\n"
        "print(*sorted({m.split('.')[0] for m in sys.modules} - set(sys.stdlib_module_names)))\n"
        "print(*sorted(m for m in sys.modules if m.startswith('fedaudit.') and '.kernel' not in m)); sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(FOLDER / LEM)], capture_output=True, text=True, check=True)
    _, packages, ours = done.stdout.splitlines()
    assert {"flint", "fedaudit"} <= set(packages.split())
    assert not {"sympy", "numpy", "scipy", "z3", "cvxpy"} & set(packages.split())
    assert not {"fedaudit.problems", "fedaudit.bounds", "fedaudit.figures"} & set(ours.split())


def test_search_interface() -> None:
    raw = GOLDEN[RICH]
    claim, instance = raw["claim"], raw["instance"]
    assert admissible(claim, instance)
    lhs, rhs, holds = evaluate(claim, instance, [], raw["at"])
    assert (claimed(lhs), claimed(rhs), holds) == (raw["lhs"], raw["rhs"], False)
    assert evaluate(claim, instance, [], {"relation": 0, "t": 0})[2]
    made = world(claim, instance)
    assert made is world(copy.deepcopy(claim), copy.deepcopy(instance))
    assert made.value("gamma") == fmpq(1, 6) == made.at("gamma", (1,))
    made.assume("smooth", ("L",))
    for name, indices in (
        ("gap", (3,)),
        ("gap", (-1,)),
        ("p", (0,)),
        ("deviation", (2, 0, 1)),
        ("deviation", (0, 3, 1)),
    ):
        with pytest.raises((Malformed, Rejected)):
            made.at(name, indices)
    looser = copy.deepcopy(instance)
    looser["noise"]["shared"] = True
    assert not admissible(claim, looser)
    assert admissible(claim, looser, ["independent_noise"])


def test_long_exact_sides_pass() -> None:
    """Sides may be far longer than the numbers of an instance."""
    raw = edited(RICH, claim__then=[["<=", ["^", "3/7", -2000], ["^", "7/3", 1999]]])
    lhs, rhs, holds = evaluate(raw["claim"], raw["instance"], [], raw["at"])
    assert not holds
    assert accepted({**raw, "lhs": claimed(lhs), "rhs": claimed(rhs)})
    assert not accepted({**raw, "lhs": claimed(lhs), "rhs": claimed(lhs)})


tokens = st.sampled_from(
    ["+", "*", "^", "min", "max", "exp", "log", "abs", "sum", "at", "gap", "p", "t", "i", "L", "Gamma", "1/3", "-2"]
) | st.integers(-(10**30), 10**30) | st.integers(-3, 3)  # fmt: skip


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.recursive(tokens, lambda inner: st.lists(inner, max_size=5), max_leaves=12), st.sampled_from(["<=", "!="]))
def test_any_tree_is_decided_or_refused(tree: Any, op: str) -> None:
    """Nothing but the kernel's own errors comes out, whatever the tree."""
    accepted(edited(RICH, claim__then=[[op, tree, 0]]))


def counterexample(identifier: str, instance: dict[str, Any], lhs: str, rhs: str, **at: int) -> dict[str, Any]:
    """What a stranger might send: the catalogue's own claim, an instance, both sides."""
    claim = lower(statement(identifier)).claim
    place = {"relation": 0, **at}
    parts = {"claim": claim, "dropped": [], "instance": instance, "at": place, "lhs": lhs, "rhs": rhs}
    return {"format": "fedaudit-certificate/1", "statement": identifier, **parts}


@pytest.mark.parametrize("identifier", ["buttaci/lemB.1-kappa", "buttaci/lemC.1-kappa"])
def test_a_negative_step_size_is_no_counterexample_to_a_proved_statement(identifier: str) -> None:
    values = {name: "1" for name in lower(statement(identifier)).claim["domains"] if name != "gamma"} | {"E": "2"}
    with pytest.raises(Rejected, match="gamma: got -1, expected it positive"):
        check(counterexample(identifier, {"values": values, "quantities": {"gamma": ["-1"]}}, "5", "2", t=0))


def test_what_only_the_world_reads_has_its_domain_too() -> None:
    parameters = {"theta": "1", "phi": "-1", "epsilon": "1/2", "delta": "0"}
    with pytest.raises(Rejected, match="phi: got -1"):
        check(counterexample("buttaci/prop3.4-upper", {"C": 2, "coupling": "0", "parameters": parameters}, "3", "2"))


def test_what_only_an_assumption_names_has_its_domain_too() -> None:
    golden = json.loads((FOLDER / "run" / "benmansour-lem2.json").read_text())
    golden["instance"]["constants"]["mu"] = "0"
    with pytest.raises(Rejected, match="mu: got 0, expected it positive"):
        check(golden)


@pytest.mark.parametrize("identifier", ["benmansour/rem10-alpha-limit", "zhang/sec4.1-rounds"])
def test_an_experiment_is_never_refuted_by_an_instance(identifier: str) -> None:
    with pytest.raises(Rejected, match="experiment"):
        check(counterexample(identifier, {}, "2", "1"))
