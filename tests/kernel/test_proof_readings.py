"""False premises that rest on a wrong reading: of proximal points, oracles, groups of clients, drawn clients, what
assumptions say of measures, and letters inside of letters. Each is refused for its own reason, and has a true twin.
"""

from __future__ import annotations

from typing import Any

import pytest
from single_premises import Single
from test_proof_premises import BOUND, FEDAVG, IN_RANGE, LET, MEASURED, SHARE, SHORT, SYMBOLS, TOP, case_of, moved, why

Json = Any
HERE = {"at": ["t", "k"]}
LEFT = "left over"  # the identity does not hold as the kernel reads the vectors
SHARED = "expected a shared one"
DOMAINS = {
    **SYMBOLS, **MEASURED, **dict.fromkeys(("eta", "nu"), "positive"), **dict.fromkeys(("B", "G"), "nonnegative"),
    "m": "count", "w2": "nonnegative", "rest2": "nonnegative", "reg": "real",
}  # fmt: skip


def less(x: Json, y: Json) -> Json:
    return ["+", x, ["*", "-1", y]]


def measure(at: str, *terms: Json) -> Json:
    return {"at": list(at), "terms": [*terms]}


def square(at: str, x: Json) -> Json:
    return measure(at, ["1", ["norm2", x]])


def product(at: str, x: Json, y: Json) -> Json:
    return measure(at, ["1", ["inner", x, y]])


def by(*atoms: tuple[Json, Json]) -> Json:
    return {**HERE, "by": [[*atom] for atom in atoms]}


def without(let: Json, *names: str) -> Json:
    return [one for one in let if one[0] not in names]


def read(says: Json, data: Json, method: Json, let: Json, rests: tuple[Json, ...] = (), **measures: Json) -> Single:
    frame = {"measures": measures}
    return case_of(says, data, method, let=let, implicit=[], domains=DOMAINS, rests=rests, frame=frame)


# --- proximal points of a regulariser ---------------------------------------------------------------------------------

DESCENT = {"y": ["+", "y", ["*", ["*", "-1", "gamma"], ["grad", "y"]]]}
COMPOSITE = moved(
    FEDAVG, local=DESCENT, update={"w": ["prox", "eta", ["mean", "y"]]},
    measures={"dist2": FEDAVG["measures"]["dist2"], "reg": measure("t", ["1", ["g", "w"]])},
)  # fmt: skip
CONVEX_G = [["weights_sum_to_one"], ["nonnegative_weights"], ["smooth", "L"], ["has_minimum"]]
BOUNDED_G = [*CONVEX_G, ["bounded_subgradients", "B"]]
P, P0 = (["prox", "eta", x] for x in ("w", ["zero"]))
FIRM = {"apart2": square("t", less(P, P0)), "along": product("t", "w", less(P, P0))}


def tangent(x: Json, y: Json, step: Json = "eta", **who: str) -> Json:
    return {"atom": "subgradient", "x": x, "y": y, "step": step, **who}


def firm(factor: str, first: Json = None) -> Single:
    """|prox w - prox 0|^2 <= factor <w, prox w - prox 0>, by both subgradients."""
    says = ["<=", ["at", "apart2", "t"], ["*", factor, ["at", "along", "t"]]]
    return read(
        says, by(("eta", first or tangent("w", P0)), ("eta", tangent(["zero"], P))), COMPOSITE, CONVEX_G, **FIRM
    )


def fixed(size: Json, slope: Json, let: Json = CONVEX_G, method: Json = COMPOSITE) -> Single:
    """The proximal point of w* - size slope is w*."""
    moved_ = ["prox", "eta", less(["w_star"], ["*", size, slope])]
    return read(
        ["=", ["at", "off2", "t", "k", "i"], "0"], HERE, method, let, off2=square("tki", less(moved_, ["w_star"]))
    )


def steep(constant: str, let: Json) -> Single:
    """|w - prox w| <= eta B."""
    says = ["<=", ["at", "off2", "t"], ["*", ["^", "eta", "2"], ["^", constant, "2"]]]
    atom = {"atom": "slope", "x": "w", "step": "eta", "constant": constant}
    return read(says, by(("1", atom)), COMPOSITE, let, off2=square("t", less("w", P)))


def conjugate(x: Json, size: Json) -> Single:
    """g*(x) is what it is at the subgradient (w - prox w)/eta."""
    value = measure("t", [size, ["inner", less("w", P), P]], ["-1", ["g", P]])
    said = {"conj": measure("t", ["1", ["conjugate", x]]), "value": value}
    return read(["=", ["at", "conj", "t"], ["at", "value", "t"]], HERE, COMPOSITE, CONVEX_G, **said)


SLOPE = ["mean", ["grad", ["w_star"]]]
PER_ETA = ["^", "eta", "-1"]
SMALL = moved(COMPOSITE, measures={"reg": COMPOSITE["measures"]["reg"]})  # speaks of no minimiser
PROXIMAL = {
    "half of a firm step": (firm("1/2"), LEFT),
    "one prox with two step sizes": (firm("1", tangent("w", P0, ["*", "2", "eta"])), LEFT),
    "a step size that may be 0": (firm("1", tangent("w", P0, less("eta", "gamma"))), LEFT),
    "a proximal step of another length from w*": (fixed(["*", "2", "eta"], SLOPE), LEFT),
    "a proximal step of one client from w*": (fixed("eta", ["grad", ["w_star"]]), LEFT),
    "a proximal step from what may be no minimiser": (
        fixed("eta", SLOPE, without(CONVEX_G, "has_minimum"), SMALL), "the rule 'a minimiser of f'"
    ),
    "the mean of proximal points as that of the mean": (
        read(["=", ["at", "one", "t", "k"], ["at", "two", "t", "k"]], HERE, COMPOSITE, CONVEX_G,
             one=square("tk", ["prox", "eta", ["mean", "y"]]), two=square("tk", ["mean", ["prox", "eta", "y"]])), LEFT
    ),
    "grad f = 0 where f + g is least": (
        read(["=", ["at", "flat2", "t"], "0"], HERE, COMPOSITE, CONVEX_G, flat2=square("t", SLOPE)), LEFT
    ),
    "subgradients that nobody bounds": (steep("B", CONVEX_G), "got bounded_subgradients with ['B']"),
    "subgradients that are bounded by another constant": (steep("G", BOUNDED_G), "bounded_subgradients with ['G']"),
    "the sign of a regulariser": (
        case_of(["<=", "0", ["at", "reg", "t"]], {}, COMPOSITE, rule="sign", let=CONVEX_G, domains=DOMAINS),
        "whose form does not show its sign",
    ),
    "a regulariser at another client's point": (
        read(["<=", ["at", "one", "t", "k", "i", "j"], ["at", "two", "t", "k", "i", "j"]],
             by(("1", tangent("w", ["other", "y"], client="i", other="j"))), COMPOSITE, CONVEX_G,
             one=measure("tkij", ["1", ["g", P]]), two=measure("tkij", ["1", ["g", ["other", "y"]]])),
        "g at a point of another client",
    ),
    "a proximal PL inequality of one client": (
        read(["<=", "0", "L"], by(("1", {"atom": "proximal_pl", "x": "y", "constant": "mu", "client": "i"})), COMPOSITE,
             [*CONVEX_G, ["prox_pl", "mu"]]), SHARED
    ),
    "the conjugate of a step as that of its subgradient": (
        conjugate(less("w", P), PER_ETA), "the conjugate of something else"
    ),
}  # fmt: skip

# --- proximal points of losses: what an oracle returns ----------------------------------------------------------------

ASKED = moved(FEDAVG, begin={"y": ["oracle", "eta", "w"]}, local={}, measures={"dist2": FEDAVG["measures"]["dist2"]})
EXACT = [
    ["weights_sum_to_one"], ["nonnegative_weights"], ["exact_oracle"], ["lipschitz", "G"], ["weakly_convex", "nu"],
]  # fmt: skip
END, FULL = ["oracle", "eta", "w"], ["full_prox", "eta", "w"]
ROOM = ["<", "0", ["+", "1", ["*", "-1", "nu", "eta"]]]
FAR2 = ["at", "far2", "t", "i"]
MOVED = {"atom": "moved", "x": "w", "step": "eta", "constant": "G", "client": "i"}
OPTIMAL = {"atom": "optimal", "x": "w", "y": "w", "step": "eta", "constant": "nu", "client": "i"}
DRAWN = {"atom": "steep", "x": "w", "y": END, "constant": "G", "c": "eta", "draws": True, "client": "i"}
CURVED = ["*", "1/2", "nu", FAR2]


def near(*, let: Json = EXACT, atom: Json = MOVED, x: Json = "w", end: Json = END) -> Single:
    """|x - oracle(x)| <= eta G."""
    far = ["at", "far2", "t", "k", "i"]
    says = ["<=", far, ["*", ["^", "eta", "2"], ["^", "G", "2"]]]
    return read(says, by(("1", {**atom, "x": x})), ASKED, let, far2=square("tki", less(x, end)))


def optimal(
    *, let: Json = EXACT, rests: tuple[Json, ...] = (ROOM,), curved: tuple[Json, ...] = (CURVED,), **drawn: Json
) -> Single:
    """|w - p|^2/eta is at most the fall of the loss that is drawn, which is steep at most as G."""
    half = [["*", "1/2", "eta", ["^", "G", "2"]], ["*", "1/2", PER_ETA, FAR2]]
    says = ["<=", ["*", PER_ETA, FAR2], ["+", *curved, *half]]
    both = by(("1", OPTIMAL), ("1", {**DRAWN, **drawn}))
    return read(says, both, ASKED, let, rests, far2=square("ti", less("w", END)))


def whole(let: Json) -> Single:
    """The same for f itself, which falls by f(w) - f(p)."""
    far = ["at", "far2", "t"]
    says = ["<=", ["*", PER_ETA, far], ["+", ["*", "1/2", "nu", far], ["at", "fall", "t"]]]
    atom = {**{name: x for name, x in OPTIMAL.items() if name != "client"}, "full": True}
    fall = measure("t", ["1", ["f", "w"]], ["-1", ["f", FULL]])
    return read(says, by(("1", atom)), ASKED, let, (ROOM,), far2=square("t", less("w", FULL)), fall=fall)


def value_there(op: str) -> Single:
    """f_i(p) is at most eta G^2/2 + |w - p|^2/(2 eta) above f_i(w)."""
    room = [["*", "-1/2", PER_ETA], ["norm2", less(END, "w")]]
    above = measure("ti", ["1", ["f_i", END]], ["-1", ["f_i", "w"]], room)
    atom = {**DRAWN, "x": END, "y": "w", "draws": op == "drawn"}
    says = ["<=", ["at", "above", "t", "i"], ["*", "1/2", "eta", ["^", "G", "2"]]]
    return read(says, by(("1", atom)), ASKED, EXACT, above=above)


ORACLES = {
    "an oracle that may be off": (near(let=without(EXACT, "exact_oracle")), "the rule 'exact'"),
    "losses that may be steep": (near(let=without(EXACT, "lipschitz")), "got lipschitz with ['G']"),
    "an oracle at a client's own point": (near(x="y", end=["oracle", "eta", "y"]), "a client's own point"),
    "the proximal point of f as the client's": (near(end=FULL), LEFT),
    "what another client's loss gives": (near(atom={**MOVED, "client": "j"}), LEFT),
    "a minimiser of what may have none": (optimal(rests=()), "expected it positive"),
    "a local problem that nobody says is weakly convex": (
        optimal(let=without(EXACT, "weakly_convex")), "got weakly_convex with ['nu']"
    ),
    "a local problem without its curvature": (optimal(curved=()), LEFT),
    "the loss of all rounds in the place of the drawn one": (optimal(draws=False), LEFT),
    "a loss that another client draws": (optimal(client="j"), LEFT),
    "a drawn loss, where it is known what was drawn, as its mean": (value_there("drawn"), LEFT),
    "f with weights of any sign as weakly convex": (
        whole(without(EXACT, "nonnegative_weights")), "the rule 'sign of weights'"
    ),
    "the mean of the clients' minimisers as that of the mean": (
        read(["=", ["at", "one", "t"], ["at", "two", "t"]], HERE, ASKED, EXACT, one=square("t", FULL),
             two=square("t", ["mean", END])), LEFT
    ),
    "a step before the oracle is asked as what it returns": (
        read(["=", ["at", "one", "t", "k", "i"], ["at", "two", "t", "k", "i"]], HERE, ASKED, EXACT,
             one=product("tki", END, "y"), two=square("tki", "y")), LEFT
    ),
}  # fmt: skip

# --- groups of clients ------------------------------------------------------------------------------------------------

TWO = [["equal_weights"], ["two_groups", "mu", "G"]]
HALVES = moved(FEDAVG, local=DESCENT, measures={"w2": square("t", "w")})


def grouped(says: Json, data: Json = HERE, let: Json = TWO, **measures: Json) -> Single:
    frame = {"groups": {"idle": "rest", "begins": "b0"}, "measures": measures}
    return case_of(says, data, HALVES, let=let, implicit=[], domains=DOMAINS, frame=frame)


def of(group: str, x: Json) -> Json:
    """The mean over a group of x along the line."""
    return {**product("tk", x, ["axis"]), "group": group}


def steepness(group: str, curve: Json, force: Json, let: Json = TWO) -> Single:
    """The slope of a group's mean is curve times the mean, and the force."""
    says = ["=", ["at", "slope", "t", "k"], ["+", ["*", curve, ["at", "place", "t", "k"]], force]]
    return grouped(says, let=let, slope=of(group, ["grad", "y"]), place=of(group, "y"))


def average(idle: Json) -> Single:
    """The mean over all clients is that of the groups with their shares."""
    shares = [["*", "1/2", less("1", idle), ["at", group, "t", "k"]] for group in ("steep", "flat")]
    says = ["=", ["at", "all", "t", "k"], ["+", *shares, ["*", idle, ["at", "idle", "t", "k"]]]]
    each = {group: of(group, "y") for group in ("steep", "flat", "idle")}
    return grouped(says, all=product("tk", ["mean", "y"], ["axis"]), **each)


def idle(most: str) -> Single:
    return grouped(["<=", ["*", "C", "rest"], most], by(("1", {"atom": "idle"})))


SPREAD = {"all2": measure("tk", ["1", ["mean", ["norm2", "y"]]])} | {
    f"{group}2": {**square("tk", "y"), "group": group} for group in ("steep", "flat", "idle")
}
GROUPS = {
    "the flat group's slope as the steep one's": (steepness("flat", "mu", "G"), LEFT),
    "two groups with their constants exchanged": (
        steepness("steep", "mu", "G", [["equal_weights"], ["two_groups", "G", "mu"]]), LEFT
    ),
    "two groups with weights of their own": (
        steepness("steep", "mu", "G", [["two_groups", "mu", "G"], ["weights_sum_to_one"]]), "equal weights"
    ),
    "halves although one client is idle": (average("0"), LEFT),
    "half of an idle client": (idle("1/2"), LEFT),
    "an idle client without groups": (
        case_of(["<=", ["*", "C", "L"], "1"], by(("1", {"atom": "idle"}))), "expected two groups of parabolas"
    ),
    "the mean of squares as squares of the groups' means": (
        grouped(
            ["=", ["at", "all2", "t", "k"], ["+",
                *(["*", "1/2", less("1", "rest"), ["at", f"{group}2", "t", "k"]] for group in ("steep", "flat")),
                ["*", "rest", ["at", "idle2", "t", "k"]]]], **SPREAD), LEFT
    ),
    "one client's slope as its group's": (
        grouped(["=", ["at", "slope", "t", "k", "i"], ["*", "mu", ["at", "place", "t", "k", "i"]]],
                slope=product("tki", less(["grad", "y"], ["grad", ["zero"]]), "w"), place=product("tki", "y", "w")),
        LEFT,
    ),
    "the noise of a group's mean as one client's": (
        grouped(["<=", ["at", "noise2", "t", "k"], ["^", "G", "2"]],
                by(("1", {"atom": "variance", "x": ["grad", "y"], "constant": "G", "client": "i"})),
                [*TWO, ["bounded_variance", "G"]],
                noise2={**square("tk", less(["noisy", ["grad", "y"]], ["grad", "y"])), "group": "steep"}), LEFT
    ),
    "a proximal point of a group's mean": (
        grouped(["<=", "0", ["at", "near2", "t", "k"]], by(("1", {"atom": "square", "x": "w"})),
                near2={**square("tk", ["prox", "eta", "y"]), "group": "steep"}), "of a group"
    ),
    "a minimiser beside groups": (
        grouped(["=", ["at", "flat2", "t"], "0"], let=[*TWO, ["has_minimum"]], flat2=square("t", SLOPE)), "of a group"
    ),
}  # fmt: skip

# --- drawn clients ----------------------------------------------------------------------------------------------------

S = ["sampled", "y"]
DRAWS = [["equal_weights"], ["without_replacement"]]
OF_DRAWN = moved(
    FEDAVG, local=DESCENT, update={"w": S},
    measures={"w2": square("t", "w"), "rest2": square("tk", ["sampled", less("y", S)])},
)  # fmt: skip


def alike(one: Json, two: Json) -> Single:
    return read(["=", ["at", "one", "t", "k"], ["at", "two", "t", "k"]], HERE, OF_DRAWN, DRAWS, one=one, two=two)


def spread(share: Json, let: Json = DRAWS) -> Single:
    """E|mean over the drawn - mean|^2 is that share of the mean square."""
    among = measure("tk", ["1", ["mean", ["norm2", less("y", ["mean", "y"])]]])
    off = square("tk", less(S, ["mean", "y"]))
    says = ["=", ["at", "off2", "t", "k"], ["*", share, ["at", "among", "t", "k"]]]
    return read(says, HERE, OF_DRAWN, let, off2=off, among=among)


def what_remains(less_: Json, two: Json) -> Single:
    """The mean over the drawn of what they have without that mean is 0."""
    return alike(square("tk", ["sampled", less_]), square("tk", two))


SAMPLES = {
    # This was accepted: y of those that are drawn took the place of what stood there, and was not added to it.
    "the drawn mean of y less the drawn mean as the drawn mean": (what_remains(less("y", S), S), LEFT),
    "the drawn mean of the drawn mean less y as the drawn mean": (what_remains(less(S, "y"), S), LEFT),
    "a next iterate as what is left of it without itself": (
        read(["=", ["at", "w2", ["+", "t", "1"]], ["at", "rest2", "t", "E"]], {"at": ["t", "E"]}, OF_DRAWN, DRAWS), LEFT
    ),
    "draws with replacement": (
        spread(SHARE, [["equal_weights"], ["with_replacement"]]), "got the vector 'sampled' here"
    ),
    "draws from weights of their own": (
        spread(SHARE, [["weights_sum_to_one"], ["nonnegative_weights"], ["without_replacement"]]),
        "got the vector 'sampled' here",
    ),
    "the share of draws with replacement": (spread(["^", "m", "-1"]), LEFT),
    "the gradient at the drawn mean as the mean of gradients": (
        alike(product("tk", ["mean", ["grad", S]], "w"), product("tk", ["sampled", ["grad", "y"]], "w")), LEFT
    ),
    "the gradient at the drawn mean as that at the mean": (
        alike(product("tk", ["mean", ["grad", S]], "w"), product("tk", ["mean", ["grad", ["mean", "y"]]], "w")), LEFT
    ),
    "f at the drawn mean as f at the mean": (
        alike(measure("tk", ["1", ["f", S]]), measure("tk", ["1", ["f", ["mean", "y"]]])), LEFT
    ),
    "the drawn mean of noise that comes later": (
        alike(product("tk", ["sampled", ["noisy", ["grad", "y"]]], "w"), product("tk", ["mean", ["grad", "y"]], "w")),
        "what may depend on the draw or comes later",
    ),
    "the drawn mean of a gradient at the drawn mean": (
        alike(product("tk", ["sampled", ["grad", S]], "w"), product("tk", ["mean", ["grad", S]], "w")),
        "what may depend on the draw or comes later",
    ),
    "squares of the drawn mean with squared weights": (
        read(["<=", "0", "L"], by(("1", {"atom": "square", "over": "squares", "x": S})), OF_DRAWN, DRAWS),
        "a square of what the drawn clients have",
    ),
    "more drawn clients than there are": (
        read(["<=", ["*", "2", "m"], "C"], by(("1", {"atom": "subset"})), OF_DRAWN, DRAWS), LEFT
    ),
    "drawn clients where all compute": (
        case_of(["<=", "E", "C"], by(("1", {"atom": "subset"}))), "expected a claim that draws one"
    ),
    "drawn clients in a local step": (
        read(["<=", "0", "L"], HERE, moved(OF_DRAWN, local={"y": S}), DRAWS), "expected a claim about a run by rounds"
    ),
    "a coin as its mean": (
        read(["=", ["at", "w2", ["+", "t", "1"]], ["*", "1/2", ["at", "end2", "t", "E"]]], {"at": ["t", "E"]},
             moved(OF_DRAWN, update={"w": ["coin", "1/2", ["mean", "y"]]}), LET, end2=square("tk", ["mean", "y"])),
        "got the vector 'coin' here",
    ),
}  # fmt: skip

# --- what an assumption says of a measure -----------------------------------------------------------------------------

RANGES = {"t": ["0", ["+", "T", "-1"]], "k": ["0", "E"], "i": ["1", "C"]}
SAYS = ["<=", ["at", "moved2", "t", "k", "i"], ["^", "L", "2"]]
ALL_BOUND = {"atom": "bound", "name": "bounded", "over": "mean", "at": {"t": "t", "k": "k"}}
AVERAGE = {"average": measure("tk", ["1", ["mean", ["norm2", less("y", "w")]]])}


def meant(says: Json, atom: Json, relation: Json = SAYS, let: Json = LET, **ranges: Json) -> Single:
    means = {"bounded": {"relation": relation, "for_all": {**RANGES, **ranges}}}
    return case_of(
        says, by(("1", atom)), means=means, let=[*let, ["bounded"]], rests=IN_RANGE, domains=DOMAINS,
        frame={"measures": AVERAGE},
    )  # fmt: skip


def mean_of_bounds(let: Json = LET, ranges: Json = None, **fields: Json) -> Single:
    says = ["<=", ["at", "average", "t", "k"], ["^", "L", "2"]]
    return meant(says, {**ALL_BOUND, **fields}, let=let, **(ranges or {}))


MEANT = {
    "a bound on all clients but one under their mean": (
        mean_of_bounds(ranges={"i": ["2", "C"]}), "expected one over the clients"
    ),
    "a bound on rounds under the mean over clients": (
        mean_of_bounds(at={"k": "k", "i": "i"}), "got a mean over 't', expected one over the clients"
    ),
    "a bound under a mean with weights of any sign": (
        mean_of_bounds(without(LET, "nonnegative_weights")), "the rule 'sign of weights'"
    ),
    "a bound on one client under the mean": (mean_of_bounds(at={"t": "t", "k": "k", "i": "i"}), "but a mean's client"),
    "a bound in the round with the number of the client": (
        mean_of_bounds(at={"t": "i", "k": "k"}), "the client over which the mean runs"
    ),
    "a bound before its first round": (meant(SHORT, BOUND, t=["1", ["+", "T", "-1"]]), "expected it nonnegative"),
    "a bound the other way round": (meant(["<=", SHORT[2], SHORT[1]], BOUND), LEFT),
    "half of a bound": (meant(["<=", SHORT[1], ["*", "1/2", SHORT[2]]], BOUND), LEFT),
    "a bound that says that something differs": (meant(SHORT, BOUND, ["!=", *SAYS[1:]]), "that something differs"),
    "a bound on a mean square on every path": (
        case_of(
            ["<=", "top", ["^", "L", "2"]], {"by": [["1", BOUND]], "pathwise": True},
            moved(FEDAVG, measures={**FEDAVG["measures"], "top": TOP}), let=[*LET, ["bounded"]],
            means={"bounded": {"relation": SAYS, "for_all": RANGES}}, domains={**DOMAINS, "top": "nonnegative"},
        ), "expected what holds on every path",
    ),
}  # fmt: skip

# --- letters inside of letters ----------------------------------------------------------------------------------------


def over(letter: str, *factors: Json) -> Json:
    return ["sum", letter, "1", "C", ["*", *factors]]


def moved2(t: str, k: str, i: str) -> Json:
    return ["at", "moved2", t, k, i]


def weight(i: str) -> Json:
    return ["at", "p", i]


def averaged(sum_: Json, factor: Json = "1") -> Single:
    return case_of(["=", sum_, ["*", factor, ["at", "average", "t", "k"]]], HERE, frame={"measures": AVERAGE})


def neighbours(*factors: Json) -> Single:
    """The mean over the neighbours of i, by its shares."""
    near = {"near": product("tki", ["neighbours", "y"], "w"), "own": product("tki", "y", "w")}
    frame = {"shares": "q", "measures": near}
    says = ["=", ["at", "near", "t", "k", "i"], over("j", *factors)]
    return case_of(says, HERE, let=[["similarity_weights"]], implicit=[], frame=frame)


OWN = ["at", "own", "t", "k", "j"]
NOT_LINEAR = "not linear in the quantities"
NESTED = {
    "a mean inside of a mean by its letter": (
        averaged(over("i", weight("i"), over("i", weight("i"), moved2("t", "k", "i")))), NOT_LINEAR
    ),
    "a mean with the weight of another client": (averaged(over("i", weight("j"), moved2("t", "k", "i"))), "weights"),
    "a mean of what another client has": (averaged(over("i", weight("i"), moved2("t", "k", "j"))), LEFT),
    "a mean over clients by the letter of the round": (
        averaged(over("t", weight("t"), moved2("t", "k", "t"))), "as something else than a client"
    ),
    "a mean over clients by the letter of the step": (
        averaged(over("k", weight("k"), moved2("t", "k", "k"))), "as something else than a client"
    ),
    "a mean of multiples by the client's number": (
        averaged(over("i", weight("i"), "i", moved2("t", "k", "i")), "i"), "changes with the client 'i'"
    ),
    "shares the other way round": (neighbours(["at", "q", "j", "i"], OWN), "weights"),
    "shares that clients have in themselves": (neighbours(["at", "q", "j", "j"], OWN), "weights"),
    "shares twice": (neighbours(["at", "q", "i", "j"], ["at", "q", "i", "j"], OWN), NOT_LINEAR),
}  # fmt: skip

ATTACKS = {**PROXIMAL, **ORACLES, **GROUPS, **SAMPLES, **MEANT, **NESTED}
TWINS = {
    "a proximal step is firm": firm("1"),
    "w* stays": fixed("eta", SLOPE),
    "subgradients are bounded": steep("B", BOUNDED_G),
    "the conjugate of a subgradient": conjugate(["*", PER_ETA, less("w", P)], PER_ETA),
    "what an oracle returns is near": near(),
    "the minimiser of a local problem": optimal(),
    "the minimiser of f and a square": whole(without(EXACT, "exact_oracle")),
    "the values of a client's own loss": value_there("value"),
    "the slope of the steep group": steepness("steep", "mu", "G"),
    "the slope of the flat group": steepness("flat", ["*", "1/2", "mu"], ["*", "-1", "G"]),
    "the mean of all groups": average("rest"),
    "an idle client": idle("1"),
    "the spread of drawn means": spread(SHARE),
    "nothing is left of a drawn mean without itself": what_remains(less("y", S), ["zero"]),
    "no more are drawn than there are": read(["<=", "m", "C"], by(("1", {"atom": "subset"})), OF_DRAWN, DRAWS),
    "a mean of bounds": mean_of_bounds(),
    "a bound as it stands": meant(SHORT, BOUND),
    "a mean by its weights": averaged(over("i", weight("i"), moved2("t", "k", "i"))),
    "a mean over neighbours by its shares": neighbours(["at", "q", "i", "j"], OWN),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_wrong_reading_is_refused_for_its_own_reason(name: str) -> None:
    case, reason = ATTACKS[name]
    assert reason in why(case)


@pytest.mark.parametrize("name", TWINS)
def test_what_is_true_is_accepted_in_the_same_words(name: str) -> None:
    assert not why(TWINS[name])
