"""Premises: every one of the catalogue is accepted, and what a hostile file may try is not."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, cast

import pytest
from marks import slow, some
from premise_files import cases_of, catalogue
from single_premises import Single as Case

from fedaudit.verify.kernel.core.budget import metered
from fedaudit.verify.kernel.core.expression import parse_relation
from fedaudit.verify.kernel.core.rational import Malformed, Node, Rejected
from fedaudit.verify.kernel.proofs.judgement import Context, same

Json = Any
WITH_PREMISES = 74  # statements of the catalogue, and their premises, at least: none gets lost
PREMISES = 447
EVERY = pytest.mark.parametrize("every", some([20, 1], 2, "every premise; one in twenty is fast"))
WAYS = [s for s in catalogue().values() if s.follows_from and not s.quoted]


def why(case: Case, context: Context | None = None) -> str:
    return case.refusal(context)


@cache
def known_cases() -> tuple[Case, ...]:
    return tuple(case for statement in WAYS for case in cases_of(statement))


@cache
def contexts() -> Mapping[int, Context]:
    """What the kernel reads once for all premises of a file, by the file's `id`; `known_cases` keeps the files."""
    with metered(10**9):
        return {number: case.context() for number, case in {id(c.file): c for c in known_cases()}.items()}


def test_every_premise_of_the_catalogue_is_accepted() -> None:
    """Each is proposed from a derivation, and the kernel reads its vectors from the claim's own method."""
    cases = known_cases()
    refused = {(c.id, c.because): reason for c in cases if (reason := why(c, contexts()[id(c.file)]))}
    assert not refused
    assert len({case.id for case in cases}) >= WITH_PREMISES
    assert len(cases) >= PREMISES
    assert Counter(case.judgement["rule"] for case in cases)["picked"] > 0


# --- a small run of our own ------------------------------------------------------------------------------------------

NORM = [["1", ["norm2", ["+", "w", ["*", "-1", ["w_star"]]]]]]
FEDAVG: Json = {
    "id": "fedavg", "server": {"w": ["start"]}, "client": {"y": "w"}, "begin": {"y": "w"},
    "local": {"y": ["+", "y", ["*", ["*", "-1", "gamma"], ["noisy", ["grad", "y"]]]]},
    "end": {}, "update": {"w": ["mean", "y"]},
    "measures": {
        "dist2": {"at": ["t"], "terms": NORM},
        "moved2": {"at": ["t", "k", "i"], "terms": [["1", ["norm2", ["+", "y", ["*", "-1", "w"]]]]]},
        "gap": {"at": ["t"], "terms": [["1", ["f", "w"]], ["-1", ["f_star"]]]},
    },
}  # fmt: skip
# two rounds' memory: c is what the client last sent, and only those that are drawn send
MEMORY: Json = {
    "id": "memory", "server": {"w": ["start"], "h": ["zero"]}, "client": {"y": "w", "c": ["zero"]}, "begin": {"y": "w"},
    "local": {"y": ["+", "y", ["*", ["*", "-1", "gamma"], ["grad", "y"]]]}, "end": {"c": "y"},
    "update": {"w": ["sampled", "c"], "h": ["mean", "c"]},
    "measures": {
        "size2": {"at": ["t"], "terms": [["1", ["norm2", "h"]]]},
        "w2": {"at": ["t"], "terms": [["1", ["norm2", "w"]]]},
    },
}  # fmt: skip
LET = [["weights_sum_to_one"], ["nonnegative_weights"], ["bounded_variance", "sigma"], ["smooth", "L"]]
SYMBOLS = dict.fromkeys(("L", "gamma", "mu"), "positive") | dict.fromkeys(("C", "E", "T"), "count")
MEASURED = dict.fromkeys(("dist2", "gap", "moved2"), "nonnegative") | {"p": "real", "sigma": "nonnegative"}


def meaning(name: str) -> Json:
    """An assumption by this name that says nothing: whoever replays the claim asks for that alone."""
    return {name: {"relation": ["<=", "0", "1"], "for_all": {}}}


def case_of(
    says: Json, data: Json, method: Json = FEDAVG, rests: tuple[Json, ...] = (), rule: str = "premise", **parts: Json
) -> Case:
    """A premise of a file about the run; `parts`: of the claim, and `frame` and `letters` of the file."""
    measured = dict.fromkeys(method["measures"], "nonnegative")
    claim = {
        "id": "own/run", "kind": "inequality", "setting": "run", "let": LET, "implicit": [["independent_noise"]],
        "choose": {}, "when": [], "for_all": {"t": ["0", "T"]}, "then": [["<=", "0", "L"]],
        "domains": {**SYMBOLS, **measured, "p": "real", "sigma": "nonnegative"}, "method": method, "means": {},
    } | {name: part for name, part in parts.items() if name not in ("frame", "letters")}  # fmt: skip
    letters = {"k": "index", "i": "client", "j": "client", **parts.get("letters", {})}
    file: dict[str, Json] = {"format": "fedaudit-proof/2", "statement": "own/run", "claim": claim, "letters": letters}
    file["judgements"] = []
    file |= {"frame": parts["frame"]} if "frame" in parts else {}
    return Case("own/run", "", file, {"rule": rule, "says": says, "with": data}, rests)


STEP = ["at", "dist2", ["+", "t", "1"]]
MEAN_SQUARE = {"at": ["t", "k"], "terms": [["1", ["norm2", ["+", ["mean", "y"], ["*", "-1", ["w_star"]]]]]]}
OWN = {"measures": {"B": MEAN_SQUARE}}
AT_END = {"at": ["t", "E"]}
ENDED = ["=", STEP, ["at", "B", "t", "E"]]
NOISE = ["+", ["noisy", ["grad", "y"]], ["*", "-1", ["grad", "y"]]]
Z = {"at": ["t", "k"], "terms": [["1", ["norm2", ["mean", NOISE]]]]}
SQUARES = ["sum", "i", "1", "C", ["^", ["at", "p", "i"], "2"]]
VARIANCE = {"atom": "variance", "over": "squares", "x": ["grad", "y"], "constant": "sigma"}
BY_VARIANCE = {"at": ["t", "k"], "by": [["1", VARIANCE]]}
SMALL_NOISE = ["<=", ["at", "Z", "t", "k"], ["*", ["^", "sigma", "2"], SQUARES]]
SMOOTH = {"atom": "smooth", "over": "mean", "x": ["w_star"], "y": "w", "constant": "L"}
SMOOTH_GAP = ["<=", ["at", "gap", "t"], ["*", "1/2", "L", ["at", "dist2", "t"]]]
BY_SMOOTH = {"at": ["t", "k"], "by": [["1", SMOOTH]]}
MU_L = ["<=", "mu", "L"]
AWAY = ["+", "w", ["point", "u"]]
BY_TIMES = {
    "at": ["t", "k"], "times": ["point", "u"],
    "by": [["2", {"atom": "smooth", "x": "w", "y": AWAY, "constant": "L", "client": "i"}],
           ["2", {"atom": "convex", "x": "w", "y": AWAY, "constant": "mu", "client": "i"}]],
}  # fmt: skip
CURVED = [*LET, ["strongly_convex", "mu"]]

ACCEPTED = {
    "the round ends with the mean": case_of(ENDED, AT_END, frame={"measures": {"B": MEAN_SQUARE}}),
    "variances of independent noise add": case_of(SMALL_NOISE, BY_VARIANCE, frame={"measures": {"Z": Z}}),
    "f - f* <= L/2 |w - w*|^2": case_of(SMOOTH_GAP, BY_SMOOTH),
    "mu <= L": case_of(MU_L, BY_TIMES, let=CURVED),
    "a squared norm is not negative": case_of([">=", ["at", "dist2", "t"], "0"], {}, rule="sign"),
    "a gap is not negative": case_of([">=", ["at", "gap", "t"], "0"], {}, rule="sign"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_premises_of_a_small_run(name: str) -> None:
    assert not why(ACCEPTED[name])


def without(*names: str) -> Json:
    return [one for one in LET if one[0] not in names]


def moved(method: Json, **parts: Json) -> Json:
    return copy.deepcopy(method) | parts


OTHER_RULE = moved(FEDAVG, local={"y": ["+", "y", ["*", "gamma", ["noisy", ["grad", "y"]]]]})
LOCAL = [
    "=",
    ["at", "P", "t", ["+", "k", "1"]],
    ["+", ["at", "P", "t", "k"], ["*", "-1", "gamma", ["at", "Q", "t", "k"]]],
]
LINEAR = {
    "P": {"at": ["t", "k"], "terms": [["1", ["inner", ["mean", "y"], ["w_star"]]]]},
    "Q": {"at": ["t", "k"], "terms": [["1", ["inner", ["mean", ["grad", "y"]], ["w_star"]]]]},
}
DRAWS: dict[str, Json] = {
    "let": [["equal_weights"], ["without_replacement"], ["smooth", "L"]],
    "domains": {**SYMBOLS, "m": "count", "size2": "nonnegative", "w2": "nonnegative"},
}
H_IS_MEAN = {"c2": {"at": ["t", "k"], "terms": [["1", ["norm2", ["mean", "y"]]]]}}
TWICE = {
    "N": {"at": ["t", "k", "i"], "terms": [["1", ["inner", NOISE, ["noisy", ["grad", "w"]]]]]},
    "one": {"at": ["t", "k", "i"], "terms": [["1", ["inner", NOISE, NOISE]]]},
    "late": {"at": ["t", "k", "i"], "terms": [["1", ["inner", ["noisy", ["grad", ["+", "y", NOISE]]], "w"]]]},
    "early": {"at": ["t", "k", "i"], "terms": [["1", ["inner", ["grad", ["+", "y", NOISE]], "w"]]]},
}
BIAS = ["=", ["at", "late", "t", "k", "i"], ["at", "early", "t", "k", "i"]]
MEANS = {
    "bounded": {
        "relation": ["<=", ["at", "moved2", "t", "k", "i"], ["^", "L", "2"]],
        "for_all": {"t": ["0", ["+", "T", "-1"]], "k": ["0", "E"], "i": ["1", "C"]},
    }
}
BOUND = {"atom": "bound", "name": "bounded", "at": {"t": "t", "k": "k", "i": "i"}}
IN_RANGE = (["<=", "t", ["+", "T", "-1"]], ["<=", "k", "E"])
SHORT = ["<=", ["at", "moved2", "t", "k", "i"], ["^", "L", "2"]]
SQUARE = {"atom": "square", "x": ["+", "w", ["*", "-1", ["w_star"]]]}
HALF_SUM = ["sum", "i", "1", "C", ["*", ["at", "p", "i"], ["at", "moved2", "t", "k", "i"]]]
WEIGHT_TWICE = ["sum", "i", "1", "C", ["*", ["at", "p", "i"], ["at", "p", "i"], ["at", "moved2", "t", "k", "i"]]]
AVERAGE = {"M": {"at": ["t", "k"], "terms": [["1", ["mean", ["norm2", ["+", "y", ["*", "-1", "w"]]]]]]}}
T_BOUND = ["sum", "t", "1", "C", ["*", ["at", "p", "t"], ["at", "B", "t", "k"]]]
TOP = {"at": [], "terms": FEDAVG["measures"]["moved2"]["terms"], "over": ["most", "steps"]}
PLAIN = moved(FEDAVG, measures={"w2": {"at": ["t"], "terms": [["1", ["norm2", "w"]]]}})
FLAT = {
    "flat": {"at": ["t"], "terms": [["1", ["inner", "w", ["mean", ["grad", ["w_star"]]]]]]},
    "above": {"at": ["t"], "terms": [["1", ["f", "w"]], ["-1", ["f_star"]]]},
}

STILL: Json = {  # no local steps: its largest is that of k = 0
    "id": "still", "server": {"w": ["start"]}, "client": {"y": "w"}, "begin": {}, "local": {}, "end": {}, "update": {},
    "measures": {
        "top": {"at": [], "terms": [["k", ["norm2", "w"]]], "over": ["most", "steps"]},
        "w2": {"at": ["t"], "terms": [["1", ["norm2", "w"]]]},
    },
}  # fmt: skip
TURNS = [[["+", "1", ["*", "-1", "t"]], ["norm2", "w"]]]
FALLING = {
    "low": moved(FEDAVG, measures={"low": {"at": [], "terms": TURNS, "over": ["least", "steps"]}}),
    "pick": moved(FEDAVG, measures={"pick": {"at": ["T"], "terms": TURNS, "over": ["picked", "rounds"]}}),
}
DEVIATION = ["+", ["sampled", "y"], ["*", "-1", ["mean", "y"]]]
SAMPLED = moved(
    MEMORY, names={"m": "C"}, server={"w": ["start"]}, client={"y": "w"}, end={}, update={"w": ["sampled", "y"]},
    measures={"dev": {"at": ["t", "k"], "terms": [["1", ["norm2", DEVIATION]]]}},
)  # fmt: skip
C_DEVIATION = ["norm2", ["+", ["sampled", "c"], ["*", "-1", ["mean", "c"]]]]
C_SPREAD = ["mean", ["norm2", ["+", "c", ["*", "-1", ["mean", "c"]]]]]
BETWEEN = moved(
    MEMORY, server={"w": ["start"]}, update={"w": ["sampled", "c"]},
    measures={"dev": {"at": ["t"], "terms": [["1", C_DEVIATION]]}, "among": {"at": ["t"], "terms": [["1", C_SPREAD]]}},
)  # fmt: skip
SHARE = ["*", ["+", "C", ["*", "-1", "m"]], ["^", "m", "-1"], ["^", ["max", "1", ["+", "C", "-1"]], "-1"]]
NOISE_THERE = ["norm2", ["mean", ["+", ["noisy", ["grad", ["w_star"]]], ["*", "-1", ["grad", ["w_star"]]]]]]
FIRST_NOISE = {"N": {"at": [], "terms": [["1", NOISE_THERE]]}, "M": {"at": ["t", "k"], "terms": [["1", NOISE_THERE]]}}
GROWING = moved(STILL, measures={**STILL["measures"], "top": {
    "at": [], "terms": [["1", ["norm2", ["*", "k", "w"]]]], "over": ["most", "steps"]}})  # fmt: skip
RESERVED = {
    "Gamma": {"at": [], "terms": [["1", ["norm2", "w"]]], "over": ["least", "steps"]},
    "hetero": {"at": [], "terms": [["1", ["f_star"]], ["-1", ["mean", ["f_i_star"]]]]},
    "C": {"at": [], "terms": [["1", ["norm2", ["w_star"]]]]},
}
NOWHERE = {"small": {"relation": ["<=", ["at", "w2", "t"], "0"], "for_all": {"t": ["0", "0"]}}}
AT_OTHERS = {
    "slope": {"at": ["t", "k", "i", "j"], "terms": [
        ["1", ["inner", ["grad", ["other", "y"]], ["+", ["other", "y"], ["*", "-1", ["mean", "y"]]]]]]},
    "Q": {"at": ["t", "k", "i", "j"], "terms": [["1", ["inner", ["mean", ["other", "y"]], ["other", "y"]]]]},
    "b2": {"at": ["t", "k"], "terms": [["1", ["norm2", ["mean", "y"]]]]},
}  # fmt: skip
COORDINATE = moved(PLAIN, measures={"x": {"at": ["t", "n"], "terms": [["1", ["inner", "w", ["axis"]]]]}})
OTHERWISE = {"y": ["+", "y", ["*", ["*", "-1", ["at", "Gamma", "t"]], ["grad", "y"]]]}
STEEPNESS = moved(PLAIN, measures={"g2": {"at": ["t"], "terms": [["1", ["norm2", ["mean", ["grad", "w"]]]]]}})
NUMBERED = {
    "x": {"at": ["t", "k", "i"], "terms": [["i", ["norm2", "y"]]]},
    "z": {"at": ["t", "k", "i"], "terms": [["i", ["mean", ["norm2", "y"]]]]},
}
SCALED = {
    "x": {"at": ["t", "k", "i"], "terms": [["1", ["norm2", ["*", "i", "y"]]]]},
    "z": {"at": ["t", "k", "i"], "terms": [["i", ["norm2", "y"]]]},
}
ASKED = moved(
    FEDAVG, begin={"y": ["oracle", "gamma", "w"]}, local={},
    measures={"far2": {"at": ["t", "k", "i"], "terms": [["1", ["norm2", ["oracle", "gamma", ["zero"]]]]]}},
)  # fmt: skip
SUMMED: Json = {
    "id": "own/run", "kind": "inequality", "setting": "noise_sum", "let": [["independent"]], "implicit": [],
    "choose": {}, "when": [], "for_all": {}, "then": [["<=", "0", "noise_sum2"]],
    "domains": {"noise_sum2": "real", "sigma": "nonnegative", "lambda": "real", "E": "count", "M": "count"},
}  # fmt: skip
SWAPPED = moved(  # each of two clients hands over what it has
    FEDAVG, server={"w": ["start"], "v": ["zero"]}, client={"y": "w", "c": "w"}, end={"c": ["neighbours", "y"]},
    local={"y": ["+", "y", ["*", ["*", "-1", "gamma"], ["grad", "y"]]]},
    update={"w": ["mean", "y"], "v": ["mean", ["grad", "c"]]},
    measures={
        "v2": {"at": ["t"], "terms": [["1", ["norm2", "v"]]]},
        "s2": {"at": ["t", "k"], "terms": [["1", ["norm2", ["mean", ["grad", "y"]]]]]},
    },
)  # fmt: skip
ONE_NOISE = {"at": ["t", "k", "i"], "terms": [["1", ["norm2", ["+", ["noisy", "Z"], ["*", "-1", "Z"]]]]]}
ATTACKS = {
    "another method's rule": case_of(LOCAL, {"at": ["t", "k"]}, OTHER_RULE, frame={"measures": LINEAR}),
    "a round that is not over": case_of(ENDED, {"at": ["t", "k"]}, frame=OWN),
    "a letter of the file as the round": case_of(
        ["=", STEP, ["at", "B", "r", "E"]], {"at": ["r", "E"]}, frame=OWN, letters={"r": "index"}
    ),
    "a measure redefined": case_of(ENDED, AT_END, frame={"measures": {"dist2": MEAN_SQUARE, "B": MEAN_SQUARE}}),
    "invented fields": case_of(ENDED, AT_END, frame={"measures": {"B": MEAN_SQUARE}, "charges": {"flat": None}}),
    "a letter declared as a size": case_of(ENDED, {"at": ["t", "S"]}, frame=OWN, letters={"S": "count"}),
    "another constant": case_of(
        ["<=", ["at", "gap", "t"], ["*", "1/2", "mu", ["at", "dist2", "t"]]],
        {"at": ["t", "k"], "by": [["1", SMOOTH | {"constant": "mu"}]]},
    ),
    "smoothness that nobody assumes": case_of(SMOOTH_GAP, BY_SMOOTH, let=without("smooth")),
    "a measure for every value of a letter": case_of(
        ["=", ["at", "B", "t"], ["*", "s", ["at", "dist2", "t"]]], {"at": ["t", "0"]}, letters={"s": "real"},
        frame={"measures": {"B": {"at": ["t"], "terms": [["s", NORM[0][1]]]}}},
    ),
    "a ghost for every value of a letter": case_of(
        ["=", ["at", "B", "t", "0"], ["*", "s", "s", ["at", "dist2", "t"]]], {"at": ["t", "0"]}, letters={"s": "real"},
        frame={"measures": {"B": {"at": ["t", "k"], "terms": [["1", ["norm2", ["mean", "z"]]]]}},
               "ghosts": {"z": [["*", "s", NORM[0][1][1]], "z"]}},
    ),
    "a measure that speaks of itself": case_of(
        ["<=", ["at", "B", "t"], ["at", "B", "t"]], {"at": ["t", "0"]},
        frame={"measures": {"B": {"at": ["t"], "terms": [[["at", "B", "t"], ["one"]], ["1", ["one"]]]}}},
    ),
    "smoothness that means something else": case_of(SMOOTH_GAP, BY_SMOOTH, means=meaning("smooth")),
    "weights whose sign means something else": case_of(SMOOTH_GAP, BY_SMOOTH, means=meaning("nonnegative_weights")),
    "weights that may be negative": case_of(SMOOTH_GAP, BY_SMOOTH, let=without("nonnegative_weights")),
    "weights of another sum": case_of(
        ["=", ["sum", "i", "1", "C", ["at", "p", "i"]], "1"], {"at": ["t", "k"]}, let=without("weights_sum_to_one")
    ),
    "variance that nobody bounds": case_of(
        SMALL_NOISE, BY_VARIANCE, frame={"measures": {"Z": Z}}, let=without("bounded_variance")
    ),
    "noise that all share": case_of(SMALL_NOISE, BY_VARIANCE, frame={"measures": {"Z": Z}}, implicit=[]),
    "noise twice as independent": case_of(
        ["=", ["at", "one", "t", "k", "i"], "0"], {"at": ["t", "k"]}, frame={"measures": TWICE}
    ),
    "noise at a point of the same noise": case_of(BIAS, {"at": ["t", "k"]}, frame={"measures": TWICE}),
    "a multiplier that may be negative": case_of(
        ["<=", "0", ["*", ["+", "L", ["*", "-1", "mu"]], ["at", "dist2", "t"]]],
        {"at": ["t", "k"], "by": [[["+", "L", ["*", "-1", "mu"]], SQUARE]]},
    ),
    "a negative multiplier": case_of(
        ["<=", ["at", "dist2", "t"], "0"], {"at": ["t", "k"], "by": [["-1", SQUARE]]}
    ),
    "a strict sign": case_of([">", ["at", "dist2", "t"], "0"], {}, rule="sign"),
    "a strict premise": case_of(["<", "0", ["at", "dist2", "t"]], {"at": ["t", "k"], "by": [["1", SQUARE]]}),
    "an equation with atoms": case_of(["=", "0", ["at", "dist2", "t"]], {"at": ["t", "k"], "by": [["1", SQUARE]]}),
    "the sign of an inner product": case_of(
        [">=", ["at", "P", "t", "k"], "0"], {}, rule="sign", frame={"measures": LINEAR}
    ),
    "a sign with a coefficient that may be negative": case_of(
        [">=", ["at", "s", "t"], "0"], {}, rule="sign",
        frame={"measures": {"s": {"at": ["t"], "terms": [[["+", "L", ["*", "-1", "mu"]], ["norm2", "w"]]]}}},
    ),
    "a sign of a mean with any weights": case_of(
        [">=", ["at", "M", "t", "k"], "0"], {}, rule="sign", frame={"measures": AVERAGE},
        let=without("nonnegative_weights"),
    ),
    "mu <= L from half of it": case_of(MU_L, BY_TIMES | {"by": BY_TIMES["by"][:1]}, let=CURVED),
    "a point that the method fixes": case_of(
        MU_L, BY_TIMES, moved(FEDAVG, update={"w": ["+", ["mean", "y"], ["point", "u"]]}), let=CURVED
    ),
    "a client's state after a round of drawn ones": case_of(
        ["=", ["at", "size2", ["+", "t", "1"]], ["at", "c2", "t", "E"]], AT_END, MEMORY,
        frame={"measures": H_IS_MEAN}, **DRAWS,
    ),
    "kept state of drawn clients": case_of(
        ["<=", "0", ["at", "w2", "t"]], {"at": ["t", "k"], "by": [["1", {"atom": "square", "x": "w"}]]}, MEMORY,
        frame={"kept": {"c": "w"}}, **DRAWS,
    ),
    "kept, but not when a round begins": case_of(
        SMOOTH_GAP, BY_SMOOTH, frame={"kept": {"y": ["+", "w", ["w_star"]]}}
    ),
    "kept, but not after a step": case_of(SMOOTH_GAP, BY_SMOOTH, frame={"kept": {"y": "w"}}),
    "kept, but not after a round": case_of(SMOOTH_GAP, BY_SMOOTH, frame={"kept": {"w": ["start"]}}),
    "kept in a ring": case_of(SMOOTH_GAP, BY_SMOOTH, frame={"kept": {"w": "y", "y": "w"}}),
    "a ghost with the name of a vector": case_of(
        SMOOTH_GAP, BY_SMOOTH, frame={"ghosts": {"y": [["zero"], ["zero"]]}}
    ),
    "a ghost that moves otherwise": case_of(
        ["=", ["at", "e2", "t", ["+", "k", "1"], "i"], ["at", "e2", "t", "k", "i"]], {"at": ["t", "k"]},
        frame={
            "ghosts": {"e": [["zero"], ["+", "e", ["grad", "y"]]]},
            "measures": {"e2": {"at": ["t", "k", "i"], "terms": [["1", ["norm2", "e"]]]}},
        },
    ),
    "a bound outside of its range": case_of(
        SHORT, {"at": ["t", "k"], "by": [["1", BOUND]]}, means=MEANS, let=[*LET, ["bounded"]], rests=IN_RANGE[:1]
    ),
    "a bound that nobody assumes": case_of(SHORT, {"at": ["t", "k"], "by": [["1", BOUND]]}, rests=IN_RANGE),
    "a weight twice under one mean": case_of(
        ["=", WEIGHT_TWICE, ["*", ["at", "p", "i"], HALF_SUM]], {"at": ["t", "k"]}
    ),
    "a mean over rounds as one over clients": case_of(
        ["=", T_BOUND, ["at", "B", "t", "k"]], {"at": ["t", "k"]}, frame=OWN
    ),
    "a sum over all but one client": case_of(
        ["=", ["sum", "i", "2", "C", ["*", ["at", "p", "i"], ["at", "moved2", "t", "k", "i"]]], ["at", "M", "t", "k"]],
        {"at": ["t", "k"]}, frame={"measures": AVERAGE},
    ),
    "a client that is an index": case_of(
        ["<=", "0", ["at", "moved2", "t", "k", "k"]],
        {"at": ["t", "k"], "by": [["1", {"atom": "square", "x": ["+", "y", ["*", "-1", "w"]], "client": "k"}]]},
    ),
    "a round that may be no whole number": case_of(SMOOTH_GAP, {"at": [["*", "1/2", "k"], "k"], "by": [["1", SMOOTH]]}),
    "the only client of many": case_of(
        ["=", ["at", "M", "t", "k"], ["at", "moved2", "t", "k", "i"]], {"at": ["t", "k"]},
        frame={"measures": AVERAGE, "alone": True},
    ),
    "a minimiser of what may have none": case_of(
        ["=", ["at", "flat", "t"], "0"], {"at": ["t", "k"]}, PLAIN, frame={"measures": FLAT}, rests=()
    ),
    "a least value of what may have none": case_of(
        [">=", ["at", "above", "t"], "0"], {}, PLAIN, rule="sign", frame={"measures": FLAT}
    ),
    "a weight twice, beside one of the same letter": case_of(
        ["=", ["sum", "i", "1", "C", ["*", "2", ["at", "p", "i"], ["at", "p", "i"]]], ["*", "2", ["at", "p", "i"]]],
        {"at": ["t", "k"]},
    ),
    "two groups that nobody assumes": case_of(
        SMOOTH_GAP, BY_SMOOTH, frame={"groups": {"idle": "rest", "begins": "b0"}}
    ),
    "a proximal point without a regulariser": case_of(
        ["<=", "0", ["at", "dist2", "t"]],
        {"at": ["t", "k"], "by": [["1", {"atom": "square", "x": ["prox", "gamma", "w"]}]]},
    ),
    "a claim of another setting": case_of(SMOOTH_GAP, BY_SMOOTH, setting="scalar"),
    "a largest of a round after the last": case_of(
        ["<=", ["at", "moved2", "t", "k", "i"], "top"],
        {"at": ["t", "k"], "by": [["1", {"atom": "largest", "measure": "top", "client": "i"}]]},
        frame={"measures": {"top": TOP}},
        rests=(["<=", "k", "E"],),
    ),
    "a largest of steps that no run has": case_of(
        ["<=", ["*", "5", ["at", "w2", "t"]], "top"],
        {"at": ["t", "5"], "by": [["1", {"atom": "largest", "measure": "top"}]]},
        STILL, rests=(["<=", "0", ["+", "T", "-1", ["*", "-1", "t"]]],),
    ),
    "the least of what turns negative": case_of(["<=", "0", "low"], {}, FALLING["low"], rule="sign"),
    "a picked one of what turns negative": case_of(
        ["<=", "0", ["at", "pick", "T"]], {}, FALLING["pick"], rule="sign"
    ),
    "local steps under the name of the clients": case_of(
        ENDED, AT_END, moved(FEDAVG, names={"E": "C"}, measures={"dist2": FEDAVG["measures"]["dist2"]}), frame=OWN,
        domains={**{name: kind for name, kind in SYMBOLS.items() if name != "C"}, **MEASURED},
    ),
    "a sample under the name of the clients": case_of(
        ["=", ["at", "dev", "t", "k"], "0"], {"at": ["t", "k"]}, SAMPLED,
        let=[["equal_weights"], ["without_replacement"]], implicit=[],
        domains={"dev": "real", "gamma": "positive", "T": "count", "E": "count", "m": "count", "L": "positive"},
    ),
    "a mean over drawn clients before anybody is drawn": case_of(
        ["=", ["at", "dev", "t"], ["*", SHARE, ["at", "among", "t"]]], {"at": ["t", "k"]}, BETWEEN,
        let=[["equal_weights"], ["without_replacement"]], domains={**SYMBOLS, "m": "count"},
    ),
    "an exact variance of a batch of one half": Case(
        "own/run", "",
        {"format": "fedaudit-proof/2", "statement": "own/run", "claim": SUMMED, "judgements": [],
         "letters": {"t": "index", "k": "index", "i": "client"}, "frame": {"measures": {"n2": ONE_NOISE}}},
        {"rule": "premise", "says": ["<=", ["*", "2", ["^", "sigma", "2"]], ["at", "n2", "t", "k", "i"]], "with": {
            "at": ["t", "k"], "by": [["1", {
                "atom": "variance", "x": "Z", "least": True, "batch": "1/2", "constant": "sigma", "client": "i"}]]}},
        (),
    ),
    "noise of the first step as that of every step": case_of(
        ["=", "N", ["at", "M", "t", "k"]], {"at": ["t", "k"]}, moved(FEDAVG, measures=FIRST_NOISE),
        domains={**SYMBOLS, "N": "real", "M": "real", "sigma": "nonnegative"},
    ),
    "a largest of steps that no run has, inside a rule": case_of(
        ["<=", ["*", "25", ["at", "w2", "t"]], "top"],
        {"at": ["t", "5"], "by": [["1", {"atom": "largest", "measure": "top"}]]},
        GROWING, rests=(["<=", "0", ["+", "T", "-1", ["*", "-1", "t"]]],),
    ),
    "the least of a run by the name of Gamma": case_of(
        ["=", "Gamma", "hetero"], {"at": ["t", "k"]},
        moved(FEDAVG, measures={name: RESERVED[name] for name in ("Gamma", "hetero")}),
        then=[["=", "Gamma", "hetero"]], domains={**SYMBOLS, **MEASURED, "Gamma": "real", "hetero": "real"},
    ),
    "a measure by the name of the number of clients": case_of(
        ["=", ["at", "M", "t", "k"], ["at", "moved2", "t", "k", "i"]], {"at": ["t", "k"]},
        moved(FEDAVG, measures={**FEDAVG["measures"], "C": RESERVED["C"]}),
        rests=(["=", "C", "1"],), when=[["=", "C", "1"]], frame={"measures": AVERAGE, "alone": True},
    ),
    "two letters for the number of rounds": case_of(
        SMOOTH_GAP, BY_SMOOTH, moved(FEDAVG, names={"A": "T", "B": "T"}),
        domains={"L": "positive", "A": "count", "B": "count", "C": "count", "E": "count", **MEASURED},
    ),
    "a point where the run starts": case_of(
        ["<=", "1", "0"],
        {"at": ["0", "k"], "times": ["point", "u"],
         "by": [["1", {"atom": "bound", "name": "small", "at": {"t": "0"}}]]},
        moved(PLAIN, server={"w": ["point", "u"]}), means=NOWHERE, let=[*LET, ["small"]],
    ),
    "a client's gradient at every other one's point as one vector": case_of(
        ["=", ["sum", "j", "1", "C", ["*", ["at", "p", "j"], ["at", "slope", "t", "k", "i", "j"]]], "0"],
        {"at": ["t", "k"]}, frame={"measures": AT_OTHERS},
    ),
    "the mean of one other client's vector as that of all": case_of(
        ["=", ["at", "b2", "t", "k"], ["sum", "j", "1", "C", ["*", ["at", "p", "j"], ["at", "Q", "t", "k", "i", "j"]]]],
        {"at": ["t", "k"]}, frame={"measures": AT_OTHERS},
    ),
    "a mean of what has the client's number as its coefficient": case_of(
        ["=", ["at", "z", "t", "k", "i"], ["sum", "i", "1", "C", ["*", ["at", "p", "i"], ["at", "x", "t", "k", "i"]]]],
        {"at": ["t", "k"]}, frame={"measures": NUMBERED},
    ),
    "a constant of the claim by the name of a client's index": case_of(
        ["=", ["at", "x", "t", "k", "c"], ["*", "c", ["at", "z", "t", "k", "c"]]], {"at": ["t", "k"]},
        moved(FEDAVG, measures=SCALED), letters={"i": "client", "c": "client"},
    ),
    "the sign of where two groups begin": case_of(
        ["=", ["at", "x", "0", "n"], "b0"], {"at": ["0", "k"]}, COORDINATE, letters={"n": "count"},
        frame={"groups": {"idle": "rest", "begins": "b0"}}, let=[["equal_weights"], ["two_groups", "mu", "G"]],
        domains={**SYMBOLS, "G": "nonnegative", "x": "real"},
    ),
    "two groups whose members have no neighbours but each other": case_of(
        ["=", ["at", "v2", ["+", "t", "1"]], ["at", "s2", "t", "E"]], AT_END, SWAPPED, implicit=[],
        let=[["equal_weights"], ["two_groups", "mu", "G"], ["similarity_weights"]],
        frame={"groups": {"idle": "rest", "begins": "b0"}},
        domains={**SYMBOLS, "G": "nonnegative", "v2": "real", "s2": "real"},
    ),
    "two groups that mean something else": case_of(
        ["=", ["at", "g2", "0"], ["^", ["*", "3/4", ["+", "1", ["*", "-1", "rest"]], "mu", "b0"], "2"]],
        {"at": ["0", "k"]}, STEEPNESS, frame={"groups": {"idle": "rest", "begins": "b0"}},
        let=[["equal_weights"], ["two_groups", "mu", "L"]],
        means={"two_groups": {"relation": ["<=", "0", "1"], "for_all": {}}},
    ),
    "a step size by the name of Gamma": case_of(
        ["<=", "0", ["at", "Gamma", "50"]], {}, rule="sign",
        method=moved(FEDAVG, local=OTHERWISE), for_all={}, domains={**SYMBOLS, **MEASURED},
        choose={"Gamma": {"index": ["t"], "value": ["+", "10", ["*", "-1", "t"]]}},  # below 0 after a run of ten
    ),
    "an oracle that is exact where rules ask it": case_of(
        ["<=", ["at", "far2", "t", "k", "i"], ["*", ["^", "gamma", "2"], ["^", "G", "2"]]],
        {"at": ["t", "k"], "by": [["1", {
            "atom": "moved", "x": ["zero"], "step": "gamma", "constant": "G", "client": "i"}]]},
        ASKED, let=[*LET, ["exact_oracle"], ["lipschitz", "G"]], domains={**SYMBOLS, **MEASURED, "G": "nonnegative"},
    ),
    "a weight that is positive by declaration": case_of(
        ["<", "0", ["at", "p", "i"]], [{"products": [["1", ["goal"]], ["1", [["at", "p", "i"]]]]}], rule="line",
        let=[], domains={**SYMBOLS, **MEASURED, "p": "positive"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_atom_without_one_of_its_fields_is_refused_or_means_less(name: str) -> None:
    """It is refused in words, or the field was not needed; nothing else is raised."""
    case = ACCEPTED[name]
    atoms = case.judgement["with"].get("by", ())
    for n, (_, atom) in enumerate(atoms):
        for field in atom:
            data = copy.deepcopy(case.judgement["with"])
            del data["by"][n][1][field]
            assert why(replace(case, judgement={**case.judgement, "with": data})) or field == "client"


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_are_refused(name: str) -> None:
    assert why(ATTACKS[name])


REPAIRED = {  # that each attack fails for its own reason: the same with one thing mended is accepted
    "another method's rule": case_of(LOCAL, {"at": ["t", "k"]}, frame={"measures": LINEAR}),
    "a bound outside of its range": case_of(
        SHORT, {"at": ["t", "k"], "by": [["1", BOUND]]}, means=MEANS, let=[*LET, ["bounded"]], rests=IN_RANGE
    ),
    "a multiplier that may be negative": replace(
        ATTACKS["a multiplier that may be negative"], rests=(["<=", "mu", "L"],)
    ),
    "a mean with its weights": case_of(
        ["=", HALF_SUM, ["at", "M", "t", "k"]], {"at": ["t", "k"]}, frame={"measures": AVERAGE}
    ),
    "the only client of one": replace(ATTACKS["the only client of many"], rests=(["=", "C", "1"],)),
    "a largest of a round": replace(
        ATTACKS["a largest of a round after the last"], rests=(["<=", "k", "E"], ["<=", "t", ["+", "T", "-1"]])
    ),
    "a minimiser of what the claim says has one": case_of(
        ["=", ["at", "flat", "t"], "0"], {"at": ["t", "k"]}, frame={"measures": {"flat": FLAT["flat"]}}
    ),
    "a sign of a mean": case_of([">=", ["at", "M", "t", "k"], "0"], {}, rule="sign", frame={"measures": AVERAGE}),
    "what the drawn clients sent": case_of(
        ["<=", ["at", "w2", ["+", "t", "1"]], ["at", "c2", "t", "E"]],
        {"at": ["t", "E"], "by": [[["+", "1", ["*", "-1", SHARE]],
            {"atom": "square", "over": "mean", "x": ["+", "y", ["*", "-1", ["mean", "y"]]]}]]},
        MEMORY, frame={"measures": {"c2": {"at": ["t", "k"], "terms": [["1", ["mean", ["norm2", "y"]]]]}}},
        rests=([">=", ["+", "1", ["*", "-1", SHARE]], "0"],), **DRAWS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REPAIRED)
def test_with_one_thing_mended_it_is_accepted(name: str) -> None:
    assert not why(REPAIRED[name])


# --- mutants ----------------------------------------------------------------------------------------------------------


def mutants(node: Json, names: list[str]) -> Iterator[Json]:
    """The tree with one number, name or relation changed."""
    if isinstance(node, str):
        number = node.lstrip("-").replace("/", "").isdigit()
        yield from (["+", node, "1"], ["*", "-1", node]) if number and node != "0" else ()
        yield from (name for name in names if name != node and node in names)
        return
    if not isinstance(node, list):
        return
    if node[0] in ("<=", ">=", "="):
        yield from ([name, *node[1:]] for name in ("<=", ">=", "=", "<") if name != node[0])
    parts = cast("list[Json]", node)
    for n, part in enumerate(parts[1:], 1):
        if n > 1 or node[0] not in ("at", "sum"):
            yield from ([*node[:n], other, *node[n + 1 :]] for other in mutants(part, names))


def changed_claims(case: Case) -> Iterator[Case]:
    """The same premise for other relations, and for a method with another number in its rules."""
    symbols = [name for name, kind in case.file["claim"]["domains"].items() if kind in ("positive", "count")][:4]
    for says in mutants(case.judgement["says"], symbols):
        yield replace(case, judgement={**case.judgement, "says": says})


def accepted_mutants(cases: Sequence[Case]) -> tuple[int, list[tuple[Case, Case]]]:
    tried, believed = 0, list[tuple[Case, Case]]()
    for case in cases:
        context = contexts()[id(case.file)]
        for mutant in changed_claims(case):
            tried += 1
            if not why(mutant, context):
                original, other = (parse_relation(Node(c.judgement["says"], "says")) for c in (case, mutant))
                equation = not case.judgement.get("with", {}).get("by")  # then both sides are the same number
                weaker = equation and original[1:] == other[1:] and other[0] in ("<=", ">=", "=")
                if not weaker and not same(original, other, context.forms):
                    believed.append((case, mutant))
    return tried, believed


def test_mutants_of_premises_are_refused() -> None:
    """One in twenty of the catalogue; the rest by name."""
    tried, believed = accepted_mutants(known_cases()[::20])
    assert tried > 100
    assert not believed


def wrong_data(case: Case) -> Iterator[tuple[str, Case]]:
    """The same relation with one multiplier, constant, vector or place changed."""
    data = case.judgement.get("with", {})
    for n, (multiplier, atom) in enumerate(data.get("by", [])):
        others: list[tuple[str, Json]] = [("number", [["*", c, multiplier], atom]) for c in ("101/100", "-1", "0")]
        named = [name for name in ("unknown", "E") if "constant" in atom]
        others += [("constant", [multiplier, {**atom, "constant": name}]) for name in named]
        points = [part for part in ("x", "y", "step") if part in atom]
        others += [("point", [multiplier, {**atom, part: ["*", "2", atom[part]]}]) for part in points]
        means = [over for over in ("one", "mean") if atom.get("over", "one") != over]
        others += [("mean", [multiplier, {**atom, "over": over}]) for over in means]
        for kind, other in others:
            by = [*data["by"][:n], other, *data["by"][n + 1 :]]
            yield kind, replace(case, judgement={**case.judgement, "with": {**data, "by": by}})
    if "at" in data:
        t, k = data["at"]
        for at in ([["+", t, "1"], k], [t, ["+", k, "1"]]):
            yield "place", replace(case, judgement={**case.judgement, "with": {**data, "at": at}})


@EVERY
def test_other_multipliers_constants_vectors_and_places_are_refused(every: int) -> None:
    """A place that a relation does not see may be another, and a shared vector is its own mean: nothing else."""
    tried, accepted = Counter[str](), Counter[str]()
    for case in known_cases()[::every]:
        for kind, mutant in wrong_data(case):
            tried[kind] += 1
            accepted[kind] += not why(mutant, contexts()[id(case.file)])
    assert tried.total() > 100
    assert not accepted["number"] + accepted["constant"] + accepted["point"], (tried, accepted)
    assert accepted["mean"] < tried["mean"] / 4


@slow("every premise of the catalogue with every number, name and relation changed")
def test_all_mutants_of_premises_are_refused() -> None:
    tried, believed = accepted_mutants(known_cases())
    assert tried > 4_000
    assert not believed


def test_a_kept_formula_with_another_number_is_refused() -> None:
    """Every formula of every frame of the catalogue that vectors equal."""
    tried = 0
    for case in {id(c.file): c for c in known_cases()}.values():
        kept = case.file["frame"].get("kept", {})
        for name, rule in kept.items():
            for other in mutants(rule, []):
                tried += 1
                frame = {**case.file["frame"], "kept": {**kept, name: other}}
                with metered(10**9), pytest.raises((Rejected, Malformed)):
                    replace(case, file={**case.file, "frame": frame}).context()
    assert tried > 20


def test_a_premise_owes_its_assumptions() -> None:
    """Without the assumption of an atom that it needs, each premise of the catalogue is refused."""
    given_by = {"smooth": ("smooth", "lipschitz"), "strongly_convex": ("convex",), "bounded_variance": ("variance",)}
    tried = 0
    for case in known_cases()[::5]:
        kinds = {atom["atom"] for _, atom in case.judgement.get("with", {}).get("by", [])}
        claim = case.file["claim"]
        for name, atoms in given_by.items():
            made = [one[0] for part in ("let", "implicit") for one in claim[part]]
            if not kinds & set(atoms) or name not in made:
                continue
            less = {part: [one for one in claim[part] if one[0] != name] for part in ("let", "implicit")}
            tried += 1
            assert why(replace(case, file={**case.file, "claim": {**claim, **less}}))
    assert tried > 10
