"""What the rules of logic, sums, induction, facts and conditions accept, and every attack on them that we know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from proof_writer import Json, Writer, claim_of, formula, relation
from test_proof_citations import RUN as LEMMA

from fedaudit.verify.kernel import evaluate
from fedaudit.verify.kernel.core.budget import TooLarge
from fedaudit.verify.kernel.core.rational import Malformed, Rejected
from fedaudit.verify.kernel.proofs import proof

REAL = {"x": "real", "y": "real", "n": "index", "N": "count"}


def writer(
    then: str = "0 <= 1", when: Sequence[str] = (), letters: Mapping[str, str] | None = None, **parts: Json
) -> Writer:
    """A proof in the making of a claim about numbers."""
    claim = {key: parts.pop(key) for key in ("for_all", "choose", "domains", "means", "let") if key in parts}
    domains = claim.pop("domains", REAL)
    letters = {"s": "index", "z": "real", **(letters or {})}
    return Writer(claim_of([then], when, domains, **claim), letters, **parts)


def refused(w: Writer, why: str) -> None:
    with pytest.raises(Rejected, match=why):
        w.check()


def accepted(w: Writer) -> None:
    """Every judgement is: an empty relation, which is said at the end, is the claim."""
    w.file["claim"] = {**w.file["claim"], "then": [relation("0 <= 1")]}
    w.line("0 <= 1")
    w.check()


# --- the file --------------------------------------------------------------------------------------------------------


def test_the_claim_itself_has_to_be_said_without_hypotheses() -> None:
    w = writer("0 <= x")
    w.hypothesis("0 <= x")
    refused(w, "no judgement that says 0 <= x, expected one without hypotheses")


def test_a_claim_may_rest_on_its_own_sides_being_numbers() -> None:
    w = writer("x/x <= 1")
    w.line("1 <= 1", under=["x != 0"])
    assert w.check().rules == {"line": 1}
    other = writer("x/x <= 1")
    other.line("1 <= 1", under=["y != 0"])
    refused(other, "without hypotheses")


def test_what_one_relation_needs_is_not_given_to_another() -> None:
    """x/x = 1 is claimed where x is not 0; that says nothing about where x != 0 is claimed."""
    w = writer()
    w.file["claim"]["then"] = [relation("x != 0"), relation("x/x == 1")]
    w = Writer(w.file["claim"])
    w.line("x/x == 1")
    refused(w, "needs x to be nonzero")


def test_an_empty_claim_and_an_experiment_are_no_claims() -> None:
    w = writer()
    w.file["claim"]["then"] = []
    refused(w, "nothing that holds for all instances")
    w = writer()
    w.file["claim"]["kind"] = "experiment"
    refused(w, "nothing that holds for all instances")


def test_no_judgement_rests_on_a_later_one() -> None:
    w = writer("0 <= x")
    w.add("discharge", "0 <= x", by=[1])
    w.add("discharge", "0 <= x", by=[0])
    with pytest.raises(Malformed, match="an integer from 0 to"):
        w.check()


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({"letters": {"x": "positive"}}, r"got \['x'\] twice"),
        ({"letters": {"a": "positive"}, "names": {"a": formula("x**2")}}, "declared real: signs are proved"),
        ({"letters": {"a": "real", "b": "real"}, "names": {"a": "b", "b": "a"}}, r"got \['b'\]"),
        ({"letters": {"a": "real"}, "names": {"a": ["+", "a", "1"]}}, r"got \['a'\]"),
        ({"letters": {"a": "real", "s": "index"}, "names": {"a": "s"}}, r"got \['s'\], expected symbols of the claim"),
        ({"letters": {"a": "real"}, "names": {"a": ["at", "q", "0"]}}, r"got \['q'\]"),
        ({"cites": ["other/claim"]}, "accepted before"),
    ],
)
def test_letters_and_names_that_would_mean_two_things_are_refused(parts: Json, why: str) -> None:
    with pytest.raises(Rejected, match=why):
        Writer(claim_of(["0 <= x"], domains=REAL), **parts)


def test_an_index_has_the_sign_that_its_range_shows() -> None:
    w = writer("0 < t", for_all={"t": ["1", "N"]})
    w.line("0 < t", products=[["t"]])
    w.check()
    w = writer("0 < t", for_all={"t": ["0", "N"]})
    w.file["judgements"] = [
        {"rule": "line", "says": relation("0 < t"), "with": [{"products": [["1", ["goal"]], ["1", ["t"]]]}]}
    ]
    refused(w, "no product that is positive")
    with pytest.raises(Rejected, match="not negative by its form"):
        writer("0 <= t", for_all={"t": ["-1", "N"]})


def test_a_step_size_that_is_chosen_by_itself_is_refused() -> None:
    with pytest.raises(Rejected, match=r"claim.choose.g: got \['g'\]"):
        writer(choose={"g": {"index": [], "value": ["+", "g", "1"]}}, domains={**REAL, "g": "positive"})


# --- where a formula is defined --------------------------------------------------------------------------------------


def stated(says: str, **parts: Json) -> Writer:
    """A line that holds because both sides are the same fraction."""
    w = writer(**parts)
    w.file["judgements"] = [
        {"rule": "line", "says": relation(says), "with": [{"products": [["1", ["goal"]]]}] * (2 if "==" in says else 1)}
    ]
    return w


@pytest.mark.parametrize(
    ("says", "why"),
    [
        ("x/x == 1", "needs x to be nonzero"),
        ("(x**2 - y**2)/(x - y) == x + y", "to be nonzero"),
        ("x**(1/2) == x**(1/2)", "needs x to be nonnegative"),
        ("log(x) == log(x)", "needs x to be positive"),
        ("x**(n - 1) == x**(n - 1)", "to be nonnegative"),
        ("x**(-n) == 1/x**n", "needs x to be nonzero"),
        ("x**(2 * n - 1) == x**(2 * n - 1)", "needs x to be nonzero"),
        ("x**(2 * n - 2) == x**(2 * n - 2)", "to be nonnegative"),
        ("x**(2 * N - 4) == (x**(N - 2))**2", "to be nonnegative"),
        ("x**(4 * N - 2) == x**(4 * N - 2)", "needs x to be nonzero"),
        ("x**y == x**y", "needs x to be positive"),
        ("sum(k, 0, x, 1) == x + 1", "needs x to be whole"),
        ("sum(k, 2, n, 1) == n - 1", "to be nonnegative"),
        ("sum(k, 0, n, 1/k) == sum(k, 0, n, 1/k)", "to be nonzero"),
        ("sum(k, 1, n, 1/(x * k)) == 1/x * sum(k, 1, n, 1/k)", "to be nonzero"),
        ("sum(k, 1, n, x/x) == n", "needs x to be nonzero"),
    ],
)
def test_a_formula_that_may_be_no_number_is_refused(says: str, why: str) -> None:
    refused(stated(says), why)


@pytest.mark.parametrize(
    "says",
    [
        "N/N == 1",
        "0**0 == 1",
        "x**0 == 1",
        "x**(n + 1) == x * x**n",
        "x**(2 * n) == (x**n)**2",
        "x**(2 * N - 2) == (x**(N - 1))**2",
        "x**(6 * N - 3 * N - 3) == (x**(N - 1))**3",
        "exp(-x) == 1/exp(x)",
        "exp(2) == exp(1)**2",
        "sum(k, 1, n, 1/k) == sum(k, 1, n, 1/k)",
        "sum(k, 0, n, x * k + y) == x * sum(k, 0, n, k) + y * (n + 1)",
        "1/(1/(1 + x**2)) == 1 + x**2",
        "abs(x)**3 == abs(x) * abs(x)**2",
        "max(x, y) == max(y, x)",
    ],
)
def test_identities_of_forms(says: str) -> None:
    accepted(stated(says))


@pytest.mark.parametrize(
    "says",
    [
        "sum(k, 0, n, k) == sum(k, 1, n, k)",
        "sum(k, 0, n, x**k) == sum(k, 0, n, y**k)",
        "exp(x + y) == exp(x) + exp(y)",
        "x**(n + 1) == x**n",
        "min(x, y) == max(x, y)",
        "(x**2)**(1/2) == x",
        "abs(x) == x",
    ],
)
def test_what_is_not_the_same_fraction_is_not_the_same(says: str) -> None:
    with pytest.raises(Rejected, match=r"left over|to be nonneg"):
        stated(says).check()


def test_a_sum_inside_a_sum_keeps_its_index() -> None:
    body = ["sum", "b", "0", "a", ["*", "a", "b"]]
    turned = ["sum", "a", "0", "b", ["*", "a", "b"]]
    w = writer()
    same = ["=", ["sum", "a", "0", "n", body], ["sum", "b", "0", "n", turned]]
    w.file["judgements"] = [{"rule": "line", "says": same, "with": [{"products": [["1", ["goal"]]]}] * 2}]
    accepted(w)
    w.file["judgements"][0]["says"] = [
        "=",
        ["sum", "a", "0", "n", body],
        ["sum", "a", "0", "n", ["sum", "b", "0", "b", "a"]],
    ]
    with pytest.raises(Rejected, match=r"left over|name 'b'"):
        w.check()


def test_the_value_of_a_step_size_does_not_catch_an_index() -> None:
    """gamma(a) is a sum itself: its index is not that of the sum around it."""
    choose = {"gamma": {"index": ["t"], "value": ["sum", "b", "0", "1", ["*", ["+", "b", "1"], ["^", "x", "t"]]]}}
    w = writer(choose=choose, domains={**REAL, "gamma": "real"})
    outer = ["sum", "a", "0", "n", ["at", "gamma", "a"]]
    written = ["sum", "b", "0", "n", ["sum", "c", "0", "1", ["*", ["+", "c", "1"], ["^", "x", "b"]]]]
    caught = ["sum", "b", "0", "n", ["sum", "b", "0", "1", ["*", ["+", "b", "1"], ["^", "x", "b"]]]]
    for right, fine in ((written, True), (caught, False)):
        w.file["judgements"] = [
            {"rule": "line", "says": ["=", outer, right], "with": [{"products": [["1", ["goal"]]]}] * 2}
        ]
        if fine:
            accepted(w)
        else:
            refused(w, "left over")


def test_a_sum_does_not_catch_what_the_value_of_a_step_size_speaks_of() -> None:
    domains = {**REAL, "g": "real"}
    attacks: list[Json] = [
        ("x", {"index": ["t"], "value": ["*", "x", "t"]}, ["at", "g", "1"]),
        ("g", {"index": [], "value": "x"}, "g"),
    ]
    for index, choose, body in attacks:
        w = writer(choose={"g": choose}, domains=domains)
        says = ["=", ["sum", index, "0", "n", body], ["sum", "a", "0", "n", "a"]]
        w.file["judgements"] = [{"rule": "line", "says": says, "with": [{"products": [["1", ["goal"]]]}] * 2}]
        refused(w, "of which a chosen step size speaks; rename it")


def test_a_value_of_a_step_size_is_defined_where_its_formula_is() -> None:
    choose = {"gamma": {"index": ["t"], "value": ["^", ["+", "x", ["*", "-1", "t"]], "-1"]}}
    w = writer(choose=choose, domains={**REAL, "gamma": "positive"})
    says = ["=", ["at", "gamma", "s"], ["at", "gamma", "s"]]
    w.file["judgements"] = [{"rule": "line", "says": says, "with": [{"products": [["1", ["goal"]]]}] * 2}]
    refused(w, "to be nonzero")
    w.file["judgements"][0]["says"] = ["<=", "0", ["at", "gamma", "s"]]
    refused(w, "to be nonzero")


def test_a_range_of_one_sum_says_nothing_about_another() -> None:
    """That 1/k is a number from 1 on does not make it one from 0 on; an empty sum says nothing about its terms."""
    w = writer(when=["sum(k, 1, n, 1/(k - x)) <= 1"])
    rest = w.condition(0)
    w.line("sum(k, 1, n, 1/(k - x)) <= 1", [rest], [[rest]])
    accepted(w)
    w.add("line", "sum(k, 0, n, 1/(k - x)) <= sum(k, 0, n, 1/(k - x))", [rest], given=[{"products": [["1", ["goal"]]]}])
    refused(w, "to be nonzero")
    w = writer(when=["sum(k, 1, n, 1/x) <= 1"])
    w.add("line", "1/x <= 1/x", [w.condition(0)], given=[{"products": [["1", ["goal"]]]}])
    refused(w, "to be nonzero")


def test_a_longer_sum_may_be_no_number_where_a_shorter_one_is() -> None:
    w = writer(when=["sum(k, 1, n, 1/(k - x)) <= 1"])
    w.add("line", "sum(k, 1, N, 1/(k - x)) <= sum(k, 1, N, 1/(k - x))", [w.condition(0)],
          given=[{"products": [["1", ["goal"]]]}])  # fmt: skip
    refused(w, "to be nonzero")


def test_what_stands_before_an_empty_sum_is_not_0() -> None:
    """At n = 0 the sum is the number 0, whatever x is; its normal form is a fraction with x below."""
    w = writer(when=["sum(k, 1, n, 1/(x * k)) <= 1"])
    w.condition(0)
    refused(w, r"needs 1\*x\^1 to be nonzero")


def test_what_stands_before_each_part_of_an_empty_sum_is_not_0() -> None:
    """The terms add up to 1/(k + y), without x; part by part, sums of fractions with x below are read."""
    w = writer(when=["sum(k, 1, n, (k + y**2 + x)/(x * (k + y**2)) - k/(x * k)) <= 1"])
    w.condition(0)
    refused(w, r"needs 1\*x\^1 to be nonzero")


def test_a_need_with_an_alternative_is_not_met_by_another_alternative() -> None:
    """x^(n - 1) is a number if n >= 1 or x != 0; that y is not 0 does not help."""
    w = writer(when=["x**(n - 1) <= 1"])
    w.add("line", "y**(n - 1) <= y**(n - 1)", [w.condition(0)], given=[{"products": [["1", ["goal"]]]}])
    refused(w, "to be nonnegative")


def test_a_power_that_is_a_number_does_not_say_that_its_base_is_not_0() -> None:
    """x^(2n - 1) is (x^n)^2/x to the kernel, which needs x != 0; but at x = 0 and n = 1 it is the number 0."""
    w = writer(when=["x**(2 * n - 1) <= 1"])
    w.add("line", "1/x <= 1/x", [w.hypothesis("0 <= 1")], given=[{"products": [["1", ["goal"]]]}])
    w.file["judgements"][1]["under"] = [relation("0 <= 1")]
    refused(w, "needs x to be nonzero")


@pytest.mark.parametrize("says", ["0 < x**y", "0 < x**(n/2)", "0 < exp(1)**(n/2) * x**y"])
def test_a_power_that_is_a_number_does_not_say_that_its_base_is_positive(says: str) -> None:
    """(-2)^y is a number at y = 3, and not a positive one; 0^y is the number 0 at y = 1."""
    w = writer(says)
    w.line(says, products=[[says.removeprefix("0 < ")]])
    refused(w, "x to be positive")
    supposed = writer(says)
    supposed.hypothesis(says)
    refused(supposed, "x to be positive")


def test_an_index_has_the_sign_of_a_number() -> None:
    """x^y is positive by its form, where x is; x = -3 and y = 1 begin the range at -3."""
    with pytest.raises(Rejected, match="not negative by its form"):
        writer("0 <= t", for_all={"t": [["^", "x", "y"], "3"]})


def test_an_induction_says_nothing_about_a_base_that_may_be_0() -> None:
    """x^(2s - 1) is x at s = 1 and x^(2s) x at s + 1: both need nothing. As (x^s)^2/x it needs x != 0."""
    says, later = "x**(2 * s - 1) <= 1", "x**(2 * s + 1) <= 1"
    w = writer()
    base = w.add("trusted", "x <= 1", given={"solver": "z3"})
    step = w.add("trusted", later, under=["1 <= s"], given={"solver": "z3"})
    w.induction(says, base, step, start="1", under=["1 <= s"])
    refused(w, "needs x to be nonzero")


def test_a_hypothesis_is_read_only_where_its_form_is() -> None:
    """Under x^(2n - 1) <= 1 nothing says that x is not 0; the hypothesis may stay, but it is no judgement."""
    says = "x**(2 * n - 1) <= 1"
    w = writer()
    w.line("0 <= 1", [w.add("trusted", "0 <= 1", under=[says], given={"solver": "z3"})], [[]], under=[says])
    accepted(w)
    w.hypothesis(says)
    refused(w, "needs x to be nonzero")


def test_hypotheses_that_look_alike_need_not_be_numbers_together() -> None:
    """0 <= x/x and 0 <= 1 have one normal form; under the first x is not 0, under the second it may be."""
    w = writer()
    under = w.hypothesis("0 <= x/x")
    w.add("line", "1/x <= 1/x", [under], ["0 <= 1"], [{"products": [["1", ["goal"]]]}])
    refused(w, "under the same hypotheses")
    w = writer()
    w.add("hypothesis", "0 <= x/x", under=["0 <= 1"])
    refused(w, "one of its own hypotheses")


# --- lines -----------------------------------------------------------------------------------------------------------


def test_certificates_written_by_hand() -> None:
    def with_products(says: str, products: Json, **more: Json) -> Writer:
        w = writer(when=["0 <= x"])
        w.condition(0)
        w.add("line", says, [0], given=[{"products": products, **more}])
        return w

    accepted(with_products("0 <= x", [["1", ["goal"]], ["1", [0]]]))
    refused(with_products("0 <= x", [["1", ["goal"]]]), "left over")
    refused(with_products("0 < x", [["1", ["goal"]], ["1", [0]]]), "no product that is positive")
    refused(with_products("0 <= y", [["1", ["goal"]], ["1", ["y"]]]), "does not show its sign")
    refused(with_products("0 <= y", [["0", []]]), "no product that is positive")
    refused(with_products("0 <= y", []), "no product that is positive")
    refused(with_products("0 <= x", [["1", ["goal"]]], equations=[[["*", "1"], 0]]), "expected an equation")
    refused(with_products("0 <= 1/N", [["1", ["goal"]], ["1", [["^", "N", "-1"]]]]), "does not show its sign")
    with pytest.raises(Malformed, match="at least 0"):
        with_products("0 <= -x", [["1", ["goal"]], ["-1", [0]]]).check()
    with pytest.raises(Malformed, match="an integer from 0"):
        with_products("0 <= x", [["1", ["goal"]], ["1", [1]]]).check()


def test_a_fraction_is_multiplied_by_what_may_be_negative_twice() -> None:
    w = writer(when=["x != 0", "0 <= 1/x"])
    other, sign = w.condition(0), w.condition(1)
    w.line("0 <= x", [other, sign], [[sign]])
    accepted(w)
    wrong = writer(when=["x != 0", "y <= 1/x"])
    a, b = wrong.condition(0), wrong.condition(1)
    wrong.add("line", "x * y <= 1", [a, b], given=[{"products": [["1", ["goal"]], ["1", [1]]]}])
    refused(wrong, "left over")


# --- logic -----------------------------------------------------------------------------------------------------------


def test_a_hypothesis_stays_until_it_is_discharged() -> None:
    w = writer("0 <= x**2 + 1", when=["0 <= y"])
    under = w.hypothesis("0 <= y")
    late = w.line("0 <= y + 1", [under], [[under]], under=["0 <= y"])
    shown = w.condition(0)
    w.add("discharge", "0 <= y + 1", [late, shown])
    accepted(w)
    w.add("discharge", "0 <= y + 1", [late])
    refused(w, "got a judgement under 0 <= y")


def test_what_discharges_a_hypothesis_has_none_of_its_own() -> None:
    w = writer()
    late, shown = w.hypothesis("0 <= y"), w.add("trusted", "0 <= y", under=["0 <= x"], given={"solver": "z3"})
    w.add("discharge", "0 <= y", [late, shown], ["0 <= x"])
    accepted(w)
    w.add("discharge", "0 <= y", [late, shown])
    refused(w, "got a judgement under 0 <= x")


def test_a_line_under_less_than_its_rests_is_refused() -> None:
    w = writer()
    under = w.hypothesis("0 <= y")
    w.line("0 <= y + 1", [under], [[under]])
    refused(w, "got a judgement under 0 <= y")


def test_discharge_does_not_bend_what_is_said() -> None:
    w = writer(when=["0 <= y"])
    under = w.hypothesis("0 <= y")
    w.add("discharge", "0 <= y - 1", [under, w.condition(0)])
    refused(w, "expected 0 <= y")


CASES = [
    (("x <= y", "y <= x"), True),
    (("x <= y", "y < x"), True),
    (("x == y", "x != y"), True),
    (("n <= 2", "3 <= n"), True),
    (("x < y", "y < x"), False),
    (("n <= 2", "4 <= n"), False),
    (("x <= 2", "3 <= x"), False),
    (("x <= y", "x <= y"), False),
    (("n/2 <= 1", "2 <= n/2"), False),
    (("1/x <= 0", "0 < 1/x"), False),
    (("x == y", "x == y"), False),
]


@pytest.mark.parametrize(("cases", "covers"), CASES)
def test_cases_cover(cases: tuple[str, str], covers: bool) -> None:
    w = writer()
    parts = [w.line("0 <= 1", under=[case]) for case in cases]
    w.add("case", "0 <= 1", parts)
    if covers:
        accepted(w)
    else:
        refused(w, "leave nothing out|to be nonzero")


def test_a_case_with_two_hypotheses_more_is_refused() -> None:
    w = writer()
    one, other = w.line("0 <= 1", under=["x <= y", "0 <= y"]), w.line("0 <= 1", under=["y <= x"])
    w.add("case", "0 <= 1", [one, other])
    refused(w, "2 more hypotheses")


def test_instances_lie_in_the_domain_of_their_letter() -> None:
    def at(value: str, letter: str = "s", domain: str = "index", when: Sequence[str] = ()) -> Writer:
        w = writer(when=when, letters={letter: domain})
        every = w.line(f"{letter} <= {letter}")
        w.instance(f"{value} <= {value}", every, [w.condition(n) for n in range(len(when))], **{letter: value})
        return w

    accepted(at("n + 1"))
    accepted(at("n - 1", when=["1 <= n"]))
    accepted(at("x", "a", "positive", when=["0 < x"]))
    refused(at("n - 1"), "no judgement that says 0 <=")
    refused(at("n/2"), "a whole number by its form")
    refused(at("x", when=["0 <= x"]), "a whole number by its form")
    refused(at("n", "a", "count"), "no judgement that says 1 <= n")
    refused(at("x", "a", "positive", when=["0 <= x"]), "no judgement that says 0 < x")
    refused(at("1/x", "a", "real"), "needs x to be nonzero")
    refused(at("N", "a", "client"), "name 'C'|no judgement that says N <= C")


def test_hypotheses_are_instantiated_too() -> None:
    w = writer()
    under = w.hypothesis("z <= 1")
    w.instance("x <= 1", under, z="x", under=["x <= 1"])
    accepted(w)
    w.instance("x <= 1", under, z="x")
    refused(w, "got a judgement under x <= 1")


def test_no_value_for_a_symbol_of_the_claim_or_for_a_name() -> None:
    w = writer(when=["0 <= x"])
    w.instance("0 <= -1", w.condition(0), x="-1")
    refused(w, "expected letters of the proof that stand for no formula")
    w = writer(letters={"a": "real"}, names={"a": formula("x**2")})
    sign = w.add("definition", "a == x**2", given={"letter": "a"})
    w.instance("y == x**2", sign, a="y")
    refused(w, "expected letters of the proof that stand for no formula")


def test_no_capture() -> None:
    w = writer()
    w.file["judgements"] = [
        {"rule": "line", "says": ["=", ["sum", "b", "0", "n", "z"], ["*", "z", ["+", "n", "1"]]],
         "with": [{"products": [["1", ["goal"]]]}] * 2},
        {"rule": "instance", "says": ["=", ["sum", "b", "0", "n", "b"], ["*", "b", ["+", "n", "1"]]], "by": [0],
         "with": {"values": {"z": "b"}}},
    ]  # fmt: skip
    with pytest.raises(Rejected, match=r"name 'b'|rename it"):
        w.check()
    w.file["letters"]["b"] = "index"
    refused(w, "rename it")


def test_congruence() -> None:
    w = writer(when=["x == n"])
    equal = w.condition(0)
    w.add("congruence", "exp(x) == exp(n)", [equal], given={"letter": "z", "formula": ["exp", "z"]})
    accepted(w)
    w.add("congruence", "log(x) == log(n)", [equal], given={"letter": "z", "formula": ["log", "z"]})
    refused(w, "to be positive")
    w = writer(when=["x == n"])
    ends = {"letter": "z", "formula": ["sum", "_k", "0", "z", "1"]}
    w.add("congruence", "sum(k, 0, x, 1) == sum(k, 0, n, 1)", [w.condition(0)], given=ends)
    refused(w, "needs x to be whole")
    w = writer(when=["x <= n"])
    w.add("congruence", "exp(x) == exp(n)", [w.condition(0)], given={"letter": "z", "formula": ["exp", "z"]})
    refused(w, "expected an equation")


def test_what_is_trusted_is_said() -> None:
    w = writer("x <= x**2 + 1")
    w.add("trusted", "x <= x**2 + 1", given={"solver": "z3"})
    assert w.check().trusted == ("x <= ((x^2) + 1)",)
    w.file["judgements"][0]["with"] = {"solver": "me"}
    with pytest.raises(Malformed, match="one of z3"):
        w.check()


# --- conditions ------------------------------------------------------------------------------------------------------

RUN: Json = {"for_all": {"t": ["0", ["+", "N", "-1"]]}, "domains": {**REAL, "g": "positive"}}


def test_a_condition_at_another_index_needs_its_range() -> None:
    def at(value: str, *rests: str, says: str = "") -> Writer:
        w = writer("0 <= t", **RUN)
        w.file["claim"]["when"] = [["<=", ["at", "g", "t"], "1"], *(relation(rest) for rest in rests)]
        w = Writer(w.file["claim"], {"s": "index"})
        shown = [w.condition(n + 1) for n in range(len(rests))]
        end = w.add("condition", "t <= N - 1", given={"of": "range", "index": "t", "end": "high"})
        w.file["judgements"].append({"rule": "condition", "says": ["<=", ["at", "g", formula(value)], "1"],
            "by": [*shown, end], "with": {"of": "when", "n": 0, "at": {"t": formula(value)}}})  # fmt: skip
        return w

    accepted(at("t"))
    accepted(at("0", "0 <= N - 1"))
    accepted(at("n", "n <= N - 1"))
    refused(at("n"), "no judgement that says n <=")
    refused(at("t + 1"), "no judgement that says")
    refused(at("t - 1"), "no judgement that says 0 <=")
    refused(at("x", "0 <= x", "x <= N - 1"), "a whole number by its form")


def test_forged_conditions() -> None:
    w = writer(when=["0 <= x"])
    w.add("condition", "0 <= x - 1", given={"of": "when", "n": 0})
    refused(w, "got another relation, expected 0 <= x")
    w = writer("0 <= t", **RUN)
    w.add("condition", "t <= N - 2", given={"of": "range", "index": "t", "end": "high"})
    refused(w, "got another relation")
    for source in ("means", "step", "claim"):
        w = writer()
        w.add("condition", "x <= 1", given={"of": source, "name": "bounded", "at": {}})
        with pytest.raises(Malformed, match="one of when, range, before"):
            w.check()


def of_a_run(given: Json, says: Json, rests: Sequence[str] = (), **parts: Json) -> None:
    """Raise `Rejected` unless the rule gives what is said of a run, from conditions that the claim gets besides."""
    claim = {**LEMMA, "when": [*LEMMA["when"], *(relation(rest) for rest in rests)], **parts}
    claim["domains"] = {**LEMMA["domains"], "x": "real", "n": "index", "earlier": "nonnegative"}
    judgements: list[Json] = [
        {"rule": "condition", "says": relation(rest), "with": {"of": "when", "n": 2 + n}}
        for n, rest in enumerate(rests)
    ]
    by = [*range(len(judgements))]
    file = {"format": proof.FORMAT, "statement": "lemma", "claim": claim, "letters": {"c": "client", "s": "index"},
            "judgements": [*judgements, {"rule": "condition", "says": says, "with": given, "by": by}]}  # fmt: skip
    with pytest.raises(Rejected) as caught:
        proof.check(file, {})
    if "got no judgement that says gap(t)" not in str(caught.value):
        raise caught.value


def test_the_step_size_before() -> None:
    method = {**LEMMA["method"], "before": {"earlier": "gamma"}}
    chosen = {"gamma": {"index": ["t"], "value": ["*", "alpha", ["+", "T", "1", ["*", "-1", "t"]]]}}

    def at(place: str, value: Json, *rests: str, **parts: Json) -> None:
        says = ["=", ["at", "earlier", formula(place)], value]
        of_a_run({"of": "before", "name": "earlier", "at": formula(place)}, says, rests, method=method, **parts)

    at("0", "0")
    at("n", ["at", "gamma", formula("n - 1")], "1 <= n")
    at("n", ["at", "gamma", formula("n - 1")], "1 <= n", "n <= T", choose=chosen)
    attacks: list[Json] = [
        (("n", ["at", "gamma", formula("n - 1")]), {}, "no judgement that says 1 <= n"),
        (("n", ["at", "gamma", "n"], "1 <= n"), {}, "got another relation"),
        (("x", ["at", "gamma", formula("x - 1")], "1 <= x"), {}, "a whole number by its form"),
        (("n", ["at", "gamma", formula("n - 1")], "1 <= n"), {"choose": chosen}, "no judgement that says n <= T"),
    ]
    for args, parts, why in attacks:
        with pytest.raises(Rejected, match=why):
            at(*args, **parts)


def test_what_is_measured_has_no_sign_by_declaration() -> None:
    file = {"format": proof.FORMAT, "statement": "lemma", "claim": LEMMA, "judgements": [
        {"rule": "line", "says": ["<=", "0", ["at", "gap", "t"]],
         "with": [{"products": [["1", ["goal"]], ["1", [["at", "gap", "t"]]]]}]}]}  # fmt: skip
    with pytest.raises(Rejected, match="does not show its sign"):
        proof.check(file, {})
    with pytest.raises(Rejected, match=r"got \['grad2'\] twice"):
        proof.check({**file, "letters": {"grad2": "positive"}}, {})


# --- facts -----------------------------------------------------------------------------------------------------------


def test_forged_facts() -> None:
    w = writer()
    w.fact("bernoulli", ["x", "n"], "1 + n * x <= (1 + x)**n")
    refused(w, r"no judgement that says .* <= x")
    w = writer(when=["-1 <= x"])
    w.fact("bernoulli", ["x", "n"], "1 + 2 * n * x <= (1 + x)**n", [w.condition(0)])
    refused(w, "got another relation")
    w = writer(when=["-1 <= x"])
    w.fact("bernoulli", ["x", "y"], "1 + y * x <= (1 + x)**y", [w.condition(0)])
    refused(w, "a whole number by its form")
    w = writer()
    w.add("fact", "x <= x", given={"name": "everything", "at": []})
    with pytest.raises(Malformed, match="one of power_step"):
        w.check()
    w = writer()
    w.fact("exp_lower", ["x", "y"], "1 + x <= exp(x)")
    refused(w, "got 2 values")
    w = writer()
    w.fact("power_step", ["x", "n"], "x**n == x * x**(n - 1)")
    refused(w, "no judgement that says 1 <= n|to be nonneg")
    w = writer()
    w.fact("exp_log", ["x"], "exp(log(x)) == x")
    refused(w, "no judgement that says 0 < x")
    w = writer()
    w.fact("exp_lower", ["1/x"], "1 + 1/x <= exp(1/x)")
    refused(w, "needs x to be nonzero")


def test_roots_extremes_and_numbers() -> None:
    w = writer(when=["0 <= x"])
    w.fact("root", ["x", "2"], "(x**(1/2))**2 == x", [w.condition(0)])
    w.fact("min_below", ["x", "y"], "min(x, y) <= x")
    w.fact("max_above", ["y", "x"], "y <= max(x, y)")
    w.fact("below_min", ["0", "x", "N"], "0 <= min(x, N)", [0])
    w.fact("above_max", ["x + n", "x", "n"], "max(x, n) <= x + n", [0])
    w.add("fact", "exp(1) <= 3", given={"name": "numbers", "at": []})
    accepted(w)
    for name, at, says, why in (
        ("root", ["x", "2"], "(x**(1/2))**2 == x", "no judgement that says 0 <= x|to be nonneg"),
        ("root", ["N", "n"], "N == N", "got no root"),
        ("root", ["N", "-2"], "N == N", "got no root"),
        ("min_below", ["x", "y"], "x <= min(x, y)", "got another relation"),
        ("below_min", ["0", "N", "x"], "0 <= min(x, N)", "no judgement that says 0 <= x"),
        ("above_max", ["0", "x"], "max(x) <= 0", "no judgement that says x <= 0"),
        ("numbers", [], "exp(1) <= 2", "does not hold"),
        ("numbers", [], "x <= x", "got letters"),
    ):
        w = writer()
        w.fact(name, at, says)
        refused(w, why)


# --- sums and induction ----------------------------------------------------------------------------------------------

SUM: Json = {"index": "_k", "low": "0", "high": ["+", "s", "-1"], "body": ["^", "x", "_k"]}


def test_sum_next_and_sum_empty() -> None:
    w = writer()
    w.add("sum_next", "sum(k, 0, s, x**k) == sum(k, 0, s - 1, x**k) + x**s", given=SUM)
    w.add("sum_empty", "sum(k, 0, -1, x**k) == 0", given={**SUM, "high": "-1"})
    accepted(w)
    for rule, says, given, why in (
        ("sum_next", "sum(k, 0, s, x**k) == sum(k, 0, s - 1, x**k) + x**(s - 1)", SUM, "got another|to be nonneg"),
        ("sum_next", "sum(k, 0, s - 1, x**k) == sum(k, 0, s - 2, x**k) + x**(s - 1)", {**SUM, "high": ["+", "s", "-2"]},
         "to be nonnegative"),
        ("sum_empty", "sum(k, 0, n, x**k) == 0", {**SUM, "high": "n"}, "no judgement that says"),
        ("sum_empty", "sum(k, 0, -2, x**k) == 0", {**SUM, "high": "-2"}, "no judgement that says"),
        ("sum_next", "0 == 0", {**SUM, "high": "_k"}, "of which its ends speak"),
    ):  # fmt: skip
        w = writer()
        w.add(rule, says, given=given)
        refused(w, why)


def test_termwise() -> None:
    given = {"letter": "s", "low": "0", "high": "n"}
    w = writer(when=["0 <= x", "x <= 1"])
    one = w.fact("power_le_one", ["x", "s"], "x**s <= 1", [w.condition(0), w.condition(1)])
    w.add("termwise", "sum(k, 0, n, x**k) <= n + 1", [one], given=given)
    accepted(w)
    w.add("termwise", "sum(k, 0, n, x**k) <= n", [one], given=given)
    refused(w, "got another relation")


def test_termwise_holds_for_every_index_of_the_range_and_no_other() -> None:
    def over(
        under: str, low: str = "0", high: str = "n", letter: str = "s", more: Sequence[str] = (), **domain: str
    ) -> Writer:
        w = writer(letters={letter: "index", **domain})
        first = w.add("trusted", f"{letter} <= 2", under=[under, *more], given={"solver": "z3"})
        given = {"letter": letter, "low": formula(low), "high": formula(high)}
        w.add("termwise", f"sum(k, {low}, {high}, k) <= sum(k, {low}, {high}, 2)", [first], more, given)
        return w  # fmt: skip

    accepted(over("s <= 2", high="2"))
    refused(over("s <= 2"), "got a judgement under s <= 2")
    refused(over("s <= 1", high="2"), "got a judgement under s <= 1")
    refused(over("s <= 2", low="1", high="s"), "of which its ends or hypotheses speak")
    refused(over("s <= 2", high="2", more=["s <= n"]), "of which its ends or hypotheses speak")
    refused(over("a <= 2", low="0", high="2", letter="a", a="count"), "no judgement that says 1 <= 0|got -?1")


def test_a_term_that_is_a_number_for_the_letter_is_none_for_the_index() -> None:
    """(x + s)^(n - n s) is 1 at s = 1, also at x = -1. From 1 on its form is 1/(x + s)^(n s - n), which needs more."""
    w = writer(domains={"n": "index", "x": "real"})
    one = w.hypothesis("s <= 1")
    least = w.line("0 <= n - n * s", [one], [["n", one]], under=["s <= 1"])
    body = "(x + s)**(n - n * s)"
    first = w.add("line", f"{body} == {body}", [least], ["1 <= s", "s <= 1"], [{"products": [["1", ["goal"]]]}] * 2)
    w.add("termwise", f"sum(s, 1, 1, {body}) == sum(s, 1, 1, {body})", [first],
          given={"letter": "s", "low": "1", "high": "1"})  # fmt: skip
    refused(w, r"needs \(x \+ #1p\) to be nonzero")


def test_no_sum_over_an_index_or_a_symbol_of_the_claim() -> None:
    w = writer("t <= N - 1", **RUN)
    end = w.add("condition", "t <= N - 1", given={"of": "range", "index": "t", "end": "high"})
    w.add("termwise", "0 <= 1", [end], given={"letter": "t", "low": "0", "high": "n"})
    with pytest.raises(Malformed, match="one of s, z"):
        w.check()


def counted(letter: str = "s", start: str = "0", domain: str = "index", under: Sequence[str] = ()) -> Writer:
    """P: 0 <= letter, by a base and a step that hold anyway."""
    w = writer(letters={letter: domain})
    one = w.line("0 <= 1")
    base = w.add("line", f"0 <= {start} + 1 - ({start})", [one], given=[{"products": [["1", ["goal"]], ["1", [0]]]}])
    step = w.add("line", "0 <= 1", [one], given=[{"products": [["1", ["goal"]], ["1", [0]]]}])
    given = {"over": letter, "from": formula(start)}
    w.add("induction", "0 <= 1", [base, step], under, given)
    return w


def test_induction_is_over_whole_numbers_from_the_start_of_their_domain() -> None:
    accepted(counted())
    accepted(counted(start="2", under=["2 <= s"]))
    refused(counted("a", domain="real"), "a real, expected a count or an index")
    refused(counted("a", domain="positive"), "a positive, expected a count or an index")
    refused(counted("a", domain="count"), "no judgement that says 1 <=")
    refused(counted(start="-1"), "no judgement that says 0 <=")
    refused(counted(start="2"), "no judgement that says 2 <= s")
    refused(counted(start="s"), "expected a count or an index, from a number on")
    refused(counted(start="1/2"), "whole number by its form")


def test_induction_rests_on_its_base_and_step() -> None:
    def over(base: str, step: str, under: Sequence[str] = (), base_under: Sequence[str] = ()) -> Writer:
        w = writer(letters={"a": "real"})
        first = w.add("trusted", base, under=base_under, given={"solver": "z3"})
        second = w.add("trusted", step, under=under, given={"solver": "z3"})
        w.induction("s <= x", first, second)
        return w

    accepted(over("0 <= x", "s + 1 <= x", ["s <= x"]))
    refused(over("1 <= x", "s + 1 <= x", ["s <= x"]), "expected 0 <= x")
    refused(over("0 <= x", "s + 2 <= x", ["s <= x"]), r"got a judgement that says .*, expected .* <= x")
    refused(over("0 <= x", "s + 1 <= x", ["s <= x", "s <= n"]), "got a judgement under s <= n")
    refused(over("0 <= x", "s + 1 <= x", ["s + 1 <= x"]), "got a judgement under")
    refused(over("0 <= x", "s + 1 <= x", ["s <= x"], ["0 <= x"]), "got a judgement under 0 <= x")


def test_relations_that_are_induced_together_have_each_a_base_and_a_step() -> None:
    def over(count: int) -> Writer:
        w = writer()
        first, other = "s <= x", "s <= y"
        says = ["0 <= x", "s + 1 <= x", "0 <= y", "s + 1 <= y"]
        by = [w.add("trusted", r, under=[first, other] if "s" in r else [], given={"solver": "z3"}) for r in says]
        given = {"over": "s", "from": "0", "also": [relation(other)]}
        w.add("induction", first, by[:count], given=given)
        return w

    accepted(over(4))
    refused(over(2), "got 2 judgements, expected a base and a step of each relation")
    refused(over(3), "got 3 judgements")


def test_a_sum_over_clients_ends_with_the_last() -> None:
    def over(high: str) -> None:
        says = ["<=", ["sum", "_k", "1", formula(high), "0"], ["sum", "_k", "1", formula(high), "_k"]]
        file = {"format": proof.FORMAT, "statement": "lemma", "claim": LEMMA, "letters": {"c": "client"},
                "judgements": [
            {"rule": "line", "says": ["<=", "0", "c"], "with": [{"products": [["1", ["goal"]], ["1", ["c"]]]}]},
            {"rule": "termwise", "says": says, "by": [0], "with": {"letter": "c", "low": "1", "high": formula(high)}},
        ]}  # fmt: skip
        proof.check(file, {})

    with pytest.raises(Rejected, match=r"got no judgement that says gap\(t\)"):
        over("C")
    with pytest.raises(Rejected, match=r"no judgement that says .* <= C"):
        over("C + 1")


def test_a_hypothesis_of_an_induction_holds_on_the_way() -> None:
    def over(hypothesis: str, later: str, *, shown: bool = False) -> Writer:
        w = writer()
        base = w.add("trusted", "0 <= x", given={"solver": "z3"})
        step = w.add("trusted", "s + 1 <= x", under=["s <= x", hypothesis, later], given={"solver": "z3"})
        down: list[int] = []
        if shown:
            rest = w.hypothesis(later)
            down = [w.line(hypothesis, [rest], [[rest], ["1"]], under=[later])]
        w.induction("s <= x", base, step, under=[hypothesis], by=down)
        return w

    accepted(over("s <= n", "s + 1 <= n", shown=True))
    refused(over("s <= n", "s + 1 <= n"), "on the way")
    refused(over("n <= s", "n <= s + 1"), "on the way")


# --- limits ----------------------------------------------------------------------------------------------------------


def test_work_is_bounded() -> None:
    w = stated("(x + y + n + N + 1)**40 == (x + y + n + N + 1)**40")
    with pytest.raises(Rejected, match=r"too large|terms"):
        proof.check(w.file, {}, 1_000_000)
    huge = "2"
    for _ in range(8):
        huge = f"({huge})**64"
    with pytest.raises((Rejected, TooLarge), match=r"bits|too large"):
        stated(f"x <= x + {huge}").check()
    with pytest.raises(Rejected, match="power 65"):
        stated("x**65 == x**65").check()


def test_a_step_size_before_the_first_round_is_0_whatever_is_declared() -> None:
    method = {
        "id": "gd", "server": {"w": ["start"]}, "client": {"y": "w"}, "begin": {"y": "w"},
        "local": {"y": ["+", "y", ["*", ["*", "-1", ["at", "gamma", "t"]], ["grad", "y"]]]}, "end": {},
        "update": {"w": ["mean", "y"]}, "measures": {"w2": {"at": ["t"], "terms": [["1", ["norm2", "w"]]]}},
        "before": {"earlier": "gamma"},
    }  # fmt: skip
    domains = {"w2": "real", "gamma": "positive", "earlier": "positive", "T": "count"}
    still = [["<=", ["at", "w2", "t"], "0"]]
    claim = claim_of((), (), domains, setting="run", for_all={"t": ["0", "T"]}, method=method) | {"then": still}
    earlier = ["at", "earlier", "0"]
    absurd = [{"products": [["1", [earlier]]], "equations": [["1", 0]]}]
    file = {
        "format": proof.FORMAT, "statement": claim["id"], "claim": claim, "judgements": [
            {"rule": "condition", "says": ["=", earlier, "0"], "with": {"of": "before", "name": "earlier", "at": "0"}},
            {"rule": "line", "says": claim["then"][0], "by": [0], "with": absurd},
        ],
    }  # fmt: skip
    with pytest.raises(Rejected, match="got no product that is positive"):
        proof.check(file, {})


def test_what_a_setting_measures_at_an_index_has_no_sign_by_declaration() -> None:
    domains = {"local2": "positive", "global2": "real", "M": "count"}
    claim = claim_of(["-1 < global2"], (), domains, setting="devices")
    local = ["at", "local2", "i"]
    positive = {"rule": "line", "says": ["<", "0", local], "with": [{"products": [["1", ["goal"]], ["1", [local]]]}]}
    file = {
        "format": proof.FORMAT, "statement": claim["id"], "claim": claim, "letters": {"i": "client"},
        "judgements": [positive],
    }  # fmt: skip
    with pytest.raises(Rejected, match="got a factor whose form does not show its sign"):
        proof.check(file, {})


def of_a_setting(
    setting: str, says: Json, domains: Json, let: Sequence[Json] = (), frame: Json = None, **given: Json
) -> Json:
    """A file whose only judgement is a premise; i and j run over all clients, points or devices."""
    count = "n" if setting == "function" else "M"
    claim = claim_of((), (), domains, setting=setting, for_all={index: ["1", count] for index in "ij"})
    claim |= {"then": [says], "let": [*let]}
    file = {"format": proof.FORMAT, "statement": claim["id"], "claim": claim,
            "judgements": [{"rule": "premise", "says": says, "with": given}]}  # fmt: skip
    return file | ({"frame": frame} if frame is not None else {})


POINTS = {"f_at": "real", "f_mean": "real", "n": "count", "lam": "real"}
DEVICES = {"local2": "real", "global2": "real", "M": "count"}


@pytest.mark.parametrize(
    ("says", "given"),
    [
        (["=", ["at", "f_at", "i"], ["at", "f_at", "j"]], {"at": ["0", "0"]}),
        (["=", ["at", "f_at", "i"], "f_mean"], {"at": ["0", "0"]}),
        (["=", ["at", "f_at", "i"], "f_mean"], {"at": ["0", "1"]}),
        (["=", ["at", "f_at", "i"], "f_mean"], {"frame": {"kept": {"w_i": ["start"]}}}),
    ],
)
def test_the_points_of_a_setting_are_not_where_a_run_starts(says: Json, given: Json) -> None:
    """In round 0 of a run all clients are at one point; a setting has no rounds, and its points are any points."""
    file = of_a_setting("function", says, POINTS, [["weights_sum_to_one"]], **given)
    parabola = {"kind": "quadratic", "A": [["1"]], "b": ["0"]}
    instance = {"kind": "mean", "d": 1, "f": parabola, "lam": ["1/2", "1/2"], "points": [["0"], ["2"]]}
    assert not evaluate(file["claim"], instance, (), {"relation": 0, "i": 1, "j": 2})[2]
    with pytest.raises(Rejected, match=r"left over|the rules to keep it"):
        proof.check(file, {})


def test_devices_have_the_same_losses_where_that_is_assumed() -> None:
    for says in (
        ["=", ["at", "local2", "i"], "global2"],
        ["=", ["at", "local2", "i"], ["at", "local2", "j"]],
        ["<=", ["*", ["^", "M", "-1"], ["sum", "k", "1", "M", ["at", "local2", "k"]]], "global2"],
    ):
        proof.check(of_a_setting("devices", says, DEVICES, [["identical"]]), {})
        with pytest.raises(Rejected, match="the rule 'same'"):
            proof.check(of_a_setting("devices", says, DEVICES), {})


@pytest.mark.parametrize("lacks", ["weights_sum_to_one", "nonnegative_weights", "convex"])
def test_jensen_over_points_owes_convexity_and_weights(lacks: str) -> None:
    let = [["convex"], ["weights_sum_to_one"], ["nonnegative_weights"]]
    says = ["<=", "f_mean", ["sum", "k", "1", "n", ["*", ["at", "lam", "k"], ["at", "f_at", "k"]]]]
    by = [["1", {"atom": "convex", "over": "mean", "x": ["mean", "w_i"], "y": "w_i"}]]
    proof.check(of_a_setting("function", says, POINTS, let, by=by), {})
    with pytest.raises(Rejected, match=r"expected a claim that assumes"):
        proof.check(of_a_setting("function", says, POINTS, [one for one in let if one != [lacks]], by=by), {})


def test_no_index_is_called_like_the_number_of_points() -> None:
    """sum(lam(k), k = 1..n) is 1 for the number n of points, and not for every n."""
    says = ["=", ["sum", "k", "1", "n", ["at", "lam", "k"]], "1"]
    file = of_a_setting("function", says, POINTS, [["weights_sum_to_one"]])
    proof.check(file, {})
    unread = {name: kind for name, kind in POINTS.items() if name != "n"}
    file["claim"] |= {"domains": unread, "for_all": {"n": ["1", "3"]}}
    with pytest.raises(Rejected, match=r"got \['n'\] twice"):
        proof.check(file, {})
