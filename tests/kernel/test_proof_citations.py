"""Attacks on the rule `citation`: what another claim says is used only where it says it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from fedaudit.verify.kernel.core.claim import read
from fedaudit.verify.kernel.core.expression import parse_relation
from fedaudit.verify.kernel.core.rational import Node, Rejected
from fedaudit.verify.kernel.proofs import proof
from fedaudit.verify.kernel.proofs.judgement import Judgement
from fedaudit.verify.kernel.proofs.rules import citation

Json = Any
STEP = ["+", "w_i", ["*", "-1", ["*", ["at", "gamma", "t"], ["grad", "w_i"]]]]
METHOD: Json = {
    "id": "plain",
    "server": {"w": ["start"]},
    "client": {"w_i": "w"},
    "begin": {"w_i": "w"},
    "local": {"w_i": ["+", STEP, ["*", "alpha", "w"]]},
    "end": {},
    "update": {"w": ["mean", "w_i"]},
    "measures": {
        "gap": {"at": ["t"], "terms": [["1", ["f", "w"]], ["-1", ["f_star"]]]},
        "grad2": {"at": ["t", "k", "i"], "terms": [["1", ["norm2", ["grad", "w_i"]]]]},
    },
}
MEANS: Json = {
    "bounded_gradients": {
        "relation": ["<=", ["at", "grad2", "t", "k", "i"], ["^", "G", "2"]],
        "for_all": {"t": ["0", ["+", "-1", "T"]], "k": ["0", "E"], "i": ["1", "C"]},
    }
}
RUN: Json = {
    "id": "lemma",
    "kind": "inequality",
    "setting": "run",
    "let": [["smooth", "L"], ["bounded_gradients", "G"]],
    "implicit": [["convex"]],
    "choose": {},
    "when": [["<=", ["at", "gamma", "t"], ["^", "L", "-1"]], ["<=", "beta", "1"]],
    "for_all": {"t": ["0", ["+", "-1", "T"]]},
    "then": [["<=", ["at", "gap", "t"], ["*", "E", "L", "beta", ["^", "G", "2"]]]],
    "domains": {
        "C": "count", "E": "count", "G": "nonnegative", "L": "positive", "T": "count", "alpha": "positive",
        "beta": "positive", "gamma": "positive", "gap": "nonnegative", "grad2": "nonnegative",
    },
    "method": METHOD,
    "means": MEANS,
}  # fmt: skip
NUMBERS: Json = {
    "id": "numbers",
    "kind": "inequality",
    "setting": "scalar",
    "let": [],
    "implicit": [],
    "choose": {},
    "when": [["<=", "x", "1"]],
    "for_all": {},
    "then": [["<=", ["^", "x", "n"], "x"]],
    "domains": {"x": "positive", "n": "count"},
}
RANGE = (["<=", "0", "s"], ["<=", "s", ["+", "-1", "T"]])
AT_S = (["<=", ["at", "gamma", "s"], ["^", "L", "-1"]], RANGE)
IN_RANGE = (["<=", "t", ["+", "-1", "T"]], ())
BETA = (["<=", "beta", "1"], ())
RESTS: Sequence[Json] = (AT_S, IN_RANGE, BETA)


def changed(claim: Json, **parts: Json) -> Json:
    return {**copy.deepcopy(claim), **parts}


def judged(node: Json) -> Judgement:
    says, under = node
    return Judgement(parse_relation(Node(says, "")), tuple(parse_relation(Node(h, "")) for h in under))


def cite(
    says: Json,
    data: Json,
    rests: Sequence[Json] = RESTS,
    cited: Json = RUN,
    claim: Json = None,
    letters: Mapping[str, str] | None = None,
    under: Sequence[Json] = (),
    frame: Json = None,
) -> None:
    """Raise `Rejected` unless the rule gives what is said."""
    ours = claim or changed(RUN, id="ours")
    before = {cited["id"]: proof.Accepted(read(Node(cited, "cited")), {}, ())}
    file: Json = {"letters": {"s": "index", **(letters or {})}, "cites": [cited["id"]]}
    given = Node({**file, **({} if frame is None else {"frame": frame})}, "proof").mapping()
    context = proof.context_of(given, read(Node(ours, "claim")), before)
    citation.check(judged((says, under)), Node(data, "with"), [judged(rest) for rest in rests], context)


SAYS: Json = RUN["then"][0]
AS_IT_STANDS: Json = {"of": "lemma", "part": 0, "fresh": {"t": "s"}}


def refused(why: str, *args: Json, **options: Json) -> None:
    with pytest.raises(Rejected, match=why):
        cite(*args, **options)


def test_a_claim_is_cited_as_it_stands() -> None:
    cite(SAYS, AS_IT_STANDS)


def test_a_free_parameter_has_a_value() -> None:
    half = ["*", "1/2", "beta"]
    says = ["<=", ["at", "gap", "t"], ["*", "E", "L", half, ["^", "G", "2"]]]
    rests = (AT_S, IN_RANGE, (["<=", half, "1"], ()))
    cite(says, {**AS_IT_STANDS, "at": {"beta": half}}, rests)
    refused("another relation", SAYS, {**AS_IT_STANDS, "at": {"beta": half}}, rests)
    refused("0 < c", says, {**AS_IT_STANDS, "at": {"beta": "c"}}, (AT_S, IN_RANGE, (["<=", "c", "1"], ())),
            letters={"c": "real"})  # fmt: skip


def test_a_condition_holds_at_every_index() -> None:
    at_t = (["<=", ["at", "gamma", "t"], ["^", "L", "-1"]], ())
    refused("no judgement that says", SAYS, AS_IT_STANDS, (at_t, IN_RANGE, BETA))
    refused("no judgement that says", SAYS, {"of": "lemma", "part": 0}, (at_t, IN_RANGE, BETA))
    narrower = (AT_S[0], (*RANGE, ["<=", "s", "3"]))
    refused("no judgement that says", SAYS, AS_IT_STANDS, (narrower, IN_RANGE, BETA))


def test_a_letter_for_every_index_is_fresh() -> None:
    rests = ((AT_S[0], ()), IN_RANGE, BETA)
    refused("nothing else speaks of", SAYS, AS_IT_STANDS, rests, under=[["<=", "s", "0"]])
    refused("nothing else speaks of", SAYS, AS_IT_STANDS, rests, letters={"s": "count"})
    refused("nothing else speaks of", SAYS, {**AS_IT_STANDS, "fresh": {"t": "t"}}, rests)
    refused("nothing else speaks of", SAYS, {**AS_IT_STANDS, "at": {"beta": ["^", ["+", "1", "s"], "-1"]}}, rests)


def test_a_letter_for_every_index_is_no_symbol_of_the_cited_claim() -> None:
    """gamma(t) <= s for all t is more than gamma(s) <= s for all s."""
    lemma = changed(RUN, when=[["<=", ["at", "gamma", "t"], "s"]])
    lemma["domains"]["s"] = "nonnegative"
    rests = ((["<=", ["at", "gamma", "s"], "s"], RANGE), IN_RANGE, BETA)
    refused("nothing else speaks of", SAYS, AS_IT_STANDS, rests, lemma)


def test_conditions_and_ranges_are_shown() -> None:
    refused("beta <= 1", SAYS, AS_IT_STANDS, (AT_S, IN_RANGE))
    refused("no judgement that says", SAYS, AS_IT_STANDS, (AT_S, BETA))
    refused("beta <= 1", SAYS, AS_IT_STANDS, (AT_S, IN_RANGE, (["<=", "beta", "1"], (["<=", "beta", "1"],))))
    cite(SAYS, AS_IT_STANDS, (AT_S, IN_RANGE, (["<=", "beta", "1"], (["<=", "beta", "1"],))), under=[BETA[0]])


def test_an_index_has_a_value_in_its_range() -> None:
    later = ["<=", ["at", "gap", ["+", "1", "t"]], RUN["then"][0][2]]
    data = {**AS_IT_STANDS, "at": {"t": ["+", "1", "t"]}}
    refused("no judgement that says", later, data)
    cite(later, data, (AT_S, BETA, (["<=", ["+", "1", "t"], ["+", "-1", "T"]], ())))
    refused("whole", SAYS, {**AS_IT_STANDS, "at": {"t": ["*", "1/2", "t"]}})


@pytest.mark.parametrize("name", ["E", "C", "alpha", "gap"])
def test_sizes_and_what_rules_read_stay(name: str) -> None:
    says = ["<=", ["at", "gap", "t"], ["*", "E" if name != "E" else "1", "L", "beta", ["^", "G", "2"]]]
    refused("stays as it is", says, {**AS_IT_STANDS, "at": {name: "1"}})


def test_a_horizon_stays_where_steps_depend_on_the_round() -> None:
    refused("stays as it is", SAYS, {**AS_IT_STANDS, "at": {"T": ["+", "T", "t"]}})


def test_a_longer_run_begins_like_ours() -> None:
    method = copy.deepcopy(METHOD)
    method["local"] = {"w_i": ["+", "w_i", ["*", "-1", ["*", "alpha", ["grad", "w_i"]]]]}
    method["measures"].pop("grad2")
    domains = {k: v for k, v in RUN["domains"].items() if k not in ("gamma", "grad2", "G")}
    says = ["<=", ["at", "gap", "t"], ["*", "E", "L"]]
    lemma = changed(RUN, let=[["smooth", "L"]], when=[], then=[says], domains=domains, method=method, means={})
    data = {"of": "lemma", "part": 0, "at": {"T": ["+", "T", "t"]}}
    cite(says, data, (), lemma, changed(lemma, id="ours"))
    refused("no judgement that says", says, {"of": "lemma", "part": 0}, (), lemma, changed(lemma, id="ours"))
    method["measures"]["gap"] = {"at": ["T"], "terms": method["measures"]["gap"]["terms"], "over": ["picked", "steps"]}
    over = changed(lemma, method=method, then=[["<=", ["at", "gap", "T"], ["*", "E", "L"]]])
    refused("stays as it is", over["then"][0], data, (), over, changed(over, id="ours"))


def test_another_method_is_refused() -> None:
    for part, value in (("local", {"w_i": STEP}), ("id", "other"), ("counts_from", 1), ("names", {"M": "C"})):
        other = changed(RUN, method={**METHOD, part: value})
        refused("other rules", SAYS, AS_IT_STANDS, RESTS, other)
    measures = {**METHOD["measures"], "gap": {"at": ["t"], "terms": [["1", ["f", "w"]]]}}
    refused("measures", SAYS, AS_IT_STANDS, RESTS, changed(RUN, method={**METHOD, "measures": measures}))


def test_a_settings_name_is_no_method() -> None:
    other = {k: v for k, v in changed(RUN, setting="plain").items() if k not in ("method", "means")}
    refused("about 'plain'", SAYS, AS_IT_STANDS, RESTS, other)
    refused("about 'run'", SAYS, AS_IT_STANDS, RESTS, RUN, {**other, "id": "ours"})


def test_what_only_the_cited_claim_measures_stands_in_the_frame() -> None:
    measures = {**METHOD["measures"], "off2": {"at": ["t"], "terms": [["1", ["norm2", "w"]]]}}
    says = ["<=", ["at", "off2", "t"], RUN["then"][0][2]]
    lemma = changed(RUN, method={**METHOD, "measures": measures}, then=[says])
    lemma["domains"]["off2"] = "nonnegative"
    refused("off2", says, AS_IT_STANDS, RESTS, lemma)
    refused("off2", says, AS_IT_STANDS, RESTS, lemma, frame={"measures": {"off2": {"at": ["t"], "terms": []}}})
    cite(says, AS_IT_STANDS, RESTS, lemma, frame={"measures": {"off2": measures["off2"]}})


def test_a_chosen_step_is_ours() -> None:
    chosen = changed(RUN, choose={"gamma": {"index": ["t"], "value": ["*", "c", ["^", "L", "-1"]]}})
    chosen["domains"]["c"] = "positive"
    beta_only = (IN_RANGE, BETA, (["<=", ["*", "c", ["^", "L", "-1"]], ["^", "L", "-1"]], ()), AT_S)
    ours = changed(chosen, id="ours")
    data = {**AS_IT_STANDS, "at": {"c": "c"}}
    cite(SAYS, data, beta_only, chosen, ours)
    free = {"c": "positive"}
    refused(r"no judgement that says gamma\(s\) = \(c \* \(L\^-1\)\)", SAYS, data, beta_only, chosen, letters=free)
    other = changed(ours, choose={"gamma": {"index": ["t"], "value": ["*", "1/2", "c", ["^", "L", "-1"]]}})
    refused("= ", SAYS, data, beta_only, chosen, other)
    shown = (["=", ["at", "gamma", "s"], ["*", "c", ["^", "L", "-1"]]], ())
    cite(SAYS, data, (*beta_only, shown), chosen, letters=free)
    at_one = (["=", ["at", "gamma", "t"], ["*", "c", ["^", "L", "-1"]]], ())
    refused("= ", SAYS, data, (*beta_only, at_one), chosen, letters=free)


def test_assumptions_are_ours() -> None:
    for let in ([["smooth", "G"], RUN["let"][1]], [*RUN["let"], ["lower_bounded"]]):
        refused("assumes", SAYS, AS_IT_STANDS, RESTS, changed(RUN, let=let))
    refused("assumes", SAYS, AS_IT_STANDS, RESTS, changed(RUN, implicit=[["strongly_convex", "L"]]))
    says = ["<=", ["at", "gap", "t"], ["*", "E", "beta", "beta", ["^", "G", "2"]]]
    rests = (IN_RANGE, BETA, (["<=", ["at", "gamma", "s"], ["^", "beta", "-1"]], RANGE))
    refused("smooth of", says, {**AS_IT_STANDS, "at": {"L": "beta"}}, rests)
    for part, value in (
        ("relation", ["<=", ["at", "grad2", "t", "k", "i"], "G"]),
        ("relation", ["<", ["at", "grad2", "t", "k", "i"], ["^", "G", "2"]]),
        ("for_all", {**MEANS["bounded_gradients"]["for_all"], "t": ["0", "T"]}),
    ):
        means = {"bounded_gradients": {**MEANS["bounded_gradients"], part: value}}
        refused("assumes", SAYS, AS_IT_STANDS, RESTS, changed(RUN, means=means))


def test_a_bound_over_its_own_index_catches_no_value() -> None:
    data = {**AS_IT_STANDS, "at": {"beta": ["^", ["+", "1", "t"], "-1"]}}
    refused("speaks of", SAYS, data, RESTS)


def test_the_index_of_a_sum_catches_no_value() -> None:
    lemma = changed(RUN, then=[["<=", ["sum", "i", "1", "C", ["*", "beta", "i"]], ["*", "E", "C", "C"]]])
    says = ["<=", ["sum", "i", "1", "C", ["*", "i", "i"]], ["*", "E", "C", "C"]]
    rests = (AT_S, IN_RANGE, (["<=", "i", "1"], ()))
    refused("which a value", says, {**AS_IT_STANDS, "at": {"beta": "i"}}, rests, changed(lemma, let=[], means={}),
            letters={"i": "count"})  # fmt: skip


def test_kinds_say_of_how_many_instances_they_are() -> None:
    exists = changed(RUN, kind="exists")
    refused("kind exists", SAYS, AS_IT_STANDS, RESTS, exists)
    cite(SAYS, AS_IT_STANDS, RESTS, exists, changed(RUN, id="ours", kind="exists"))
    cite(SAYS, AS_IT_STANDS, RESTS, RUN, changed(RUN, id="ours", kind="exists"))
    for kind in ("order", "experiment"):
        refused("kind", SAYS, AS_IT_STANDS, RESTS, changed(RUN, kind=kind), changed(RUN, id="ours", kind=kind))


def test_numbers_are_cited_anywhere_within_their_domains() -> None:
    says = ["<=", ["^", "beta", "E"], "beta"]
    data = {"of": "numbers", "part": 0, "at": {"x": "beta", "n": "E"}}
    cite(says, data, (BETA,), NUMBERS)
    refused("no judgement that says", says, data, (), NUMBERS)
    refused(
        "whole", ["<=", ["^", "beta", "beta"], "beta"], {**data, "at": {"x": "beta", "n": "beta"}}, (BETA,), NUMBERS
    )
    root = {**data, "at": {"x": "beta", "n": ["*", "1/2", "E"]}}
    refused("whole", ["<=", ["^", "beta", ["*", "1/2", "E"]], "beta"], root, (BETA,), NUMBERS)
    refused("no judgement that says", ["<=", ["^", "beta", ["+", "-1", "E"]], "beta"],
            {**data, "at": {"x": "beta", "n": ["+", "-1", "E"]}}, (BETA,), NUMBERS)  # fmt: skip
    refused("no judgement that says", ["<=", ["^", "G", "E"], "G"], {**data, "at": {"x": "G", "n": "E"}},
            ((["<=", "G", "1"], ()),), NUMBERS)  # fmt: skip
    refused("name 'x'", ["<=", ["^", "x", "E"], "x"], {**data, "at": {"n": "E"}}, (BETA,), NUMBERS)
    refused("symbols of", says, {**data, "at": {"x": "beta", "n": "E", "z": "1"}}, (BETA,), NUMBERS)


def test_values_are_numbers() -> None:
    shift = ["^", ["+", "beta", "-1"], "-2"]
    data = {"of": "numbers", "part": 0, "at": {"x": shift, "n": "1"}}
    rests = ((["<=", shift, "1"], ()), (["<", "0", shift], ()))
    cite(["<=", shift, shift], data, rests, NUMBERS)
    refused("nonzero", ["<=", shift, shift], data, (), changed(NUMBERS, when=[], domains={"x": "real", "n": "count"}))


def test_a_relation_is_known_where_it_is_defined() -> None:
    other = [*NUMBERS["then"], ["<=", ["^", ["+", "x", "-1"], "-2"], ["^", ["+", "x", "-1"], "-2"]]]
    data = {"of": "numbers", "part": 0, "at": {"x": "beta", "n": "E"}}
    says = ["<=", ["^", "beta", "E"], "beta"]
    said = {**data, "part": 1}
    square = ["<=", ["^", ["+", "beta", "-1"], "-2"], ["^", ["+", "beta", "-1"], "-2"]]
    cite(says, data, (BETA,), changed(NUMBERS, then=other))
    refused("nonzero", square, said, (BETA,), changed(NUMBERS, then=other))
    cite(square, said, (BETA, (["<", "beta", "1"], ())), changed(NUMBERS, then=other))


def test_names_of_a_run_are_no_letters() -> None:
    """What the rules read is not what a proof happens to call so."""
    ours = {k: v for k, v in RUN["domains"].items() if k != "alpha"}
    lemma = changed(RUN, then=[["<=", ["at", "gap", "t"], ["*", "alpha", "L", "beta", ["^", "G", "2"]]]])
    refused("alpha", lemma["then"][0], AS_IT_STANDS, RESTS, lemma, changed(RUN, id="ours", domains=ours),
            letters={"alpha": "positive"})  # fmt: skip


def test_a_claim_that_no_run_meets_is_not_cited() -> None:
    """Its rules read alpha, which it does not declare."""
    domains = {name: kind for name, kind in RUN["domains"].items() if name != "alpha"}
    refused("declares no", SAYS, AS_IT_STANDS, cited=changed(RUN, domains=domains), claim=changed(RUN, id="ours"))


def test_a_count_of_a_run_that_the_claim_does_not_name_is_no_letter() -> None:
    trim = {k: v for k, v in RUN["domains"].items() if k != "E"}
    ours = changed(RUN, id="ours", domains=trim, then=[["<=", ["at", "gap", "t"], "L"]], let=[RUN["let"][0]], means={})
    lemma = changed(RUN, let=[RUN["let"][0]], means={})
    refused("'E'", SAYS, AS_IT_STANDS, RESTS, lemma, ours, letters={"E": "count"})


def test_nothing_is_cited_that_was_not_accepted() -> None:
    refused("accepted before", SAYS, {**AS_IT_STANDS, "of": "another"})
    refused("accepted before", SAYS, {**AS_IT_STANDS, "of": "ours"}, RESTS, changed(RUN, id="ours"))
    file = {"format": proof.FORMAT, "statement": "numbers", "claim": NUMBERS, "cites": ["other"], "judgements": []}
    with pytest.raises(Rejected, match="accepted before"):
        proof.check(file, {})


def test_a_proof_by_citation() -> None:
    """Through a file: the square is a number too."""
    claim = changed(NUMBERS, id="square", then=[["<=", ["^", "x", ["*", "2", "n"]], "x"]])
    by = {
        "rule": "citation",
        "says": claim["then"][0],
        "with": {"of": "numbers", "part": 0, "at": {"n": ["*", 2, "n"]}},
    }
    file = {"format": proof.FORMAT, "statement": "square", "claim": claim, "cites": ["numbers"], "judgements": [by]}
    before = {"numbers": proof.Accepted(read(Node(NUMBERS, "")), {}, ())}
    with pytest.raises(Rejected, match="x <= 1"):
        proof.check(file, before)
    free = changed(NUMBERS, when=[])
    assert proof.check(file, {"numbers": proof.Accepted(read(Node(free, "")), {}, ())}).cites == ("numbers",)


def test_names_of_the_frame_are_new() -> None:
    claim = changed(RUN, id="ours")
    for name in ("gap", "E", "t", "Gamma", "p", "s"):
        frame = {"measures": {name: METHOD["measures"]["gap"]}}
        parts: Json = {"letters": {"s": "index"}, "frame": frame, "judgements": []}
        file = {"format": proof.FORMAT, "statement": "ours", "claim": claim, **parts}
        with pytest.raises(Rejected, match="expected letters and measures that the claim does not have"):
            proof.check(file, {})


def test_indices_begin_at_0_or_later() -> None:
    claim = changed(RUN, id="ours", for_all={"t": ["-1", "T"]})
    with pytest.raises(Rejected, match="not negative"):
        proof.check({"format": proof.FORMAT, "statement": "ours", "claim": claim, "judgements": []}, {})


def test_the_name_of_an_index_says_nothing_about_its_values() -> None:
    """ "step" ends like the kernel's own names of counts; at step = 0 the cited claim says nothing at all."""
    vacuous = {
        **changed(NUMBERS), "id": "vacuous", "when": [["<=", "1", "step"]], "for_all": {"step": ["0", "T"]},
        "then": [["<=", "x", "0"]], "domains": {"x": "real", "T": "count"},
    }  # fmt: skip
    ours = {**vacuous, "id": "ours", "when": [], "for_all": {}}
    at_one: Json = {"of": "vacuous", "part": 0, "at": {"step": "1"}}
    refused("got no judgement that says 1 <= #step", ["<=", "x", "0"], at_one, (), cited=vacuous, claim=ours)
