"""Data sets from finite sample spaces: regularised risk minimisers, stable algorithms, minibatches, subsets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product
from math import prod

from flint import fmpq

from ..core.budget import paid, summed
from ..core.claim import Claim
from ..core.loss import Vector, dot, minus, norm2
from ..core.rational import Node, Rejected
from ..core.world import Reader, World, tabled
from ..losses.draws import probabilities
from ..losses.pieces import Pieces, mix
from ..losses.pieces import read as read_pieces

SETS = 1_000
ERM_INPUTS: dict[str, str] = dict.fromkeys(("G", "lam", "eps"), "nonnegative")
TABLE_INPUTS = {"beta": "nonnegative"}
ALGORITHM_INPUTS: dict[str, str] = dict.fromkeys(("G", "L", "gamma"), "nonnegative")
SUBSET_INPUTS = {"G": "nonnegative"}


def shared(losses: Sequence[Pieces]) -> tuple[dict[str, bool], dict[str, Callable[[fmpq], bool]]]:
    """Assumptions that every one of the losses meets."""
    return {"nonnegative_loss": all(f.bounded_below() for f in losses)}, {
        "lipschitz": lambda G: all(f.lipschitz(G) for f in losses),
        "smooth": lambda L: all(f.smooth(L) for f in losses),
        "weakly_convex": lambda nu: all(f.weakly_convex(nu) for f in losses),
    }


def solved(risk: Pieces, shift: fmpq) -> tuple[fmpq, fmpq]:
    """The point that lies `shift` from the minimiser of `risk`, and how far it is from optimal."""
    w = risk.least()
    return w + shift, risk.value(w + shift) - risk.value(w)


def read_erm(node: Node, claim: Claim) -> World:
    """Lemma 1. S holds the first N losses, S' has the last one in place of the first; r is a function of its own.

    N copies of one point are a data set too: R_S^r is lam-strongly convex for every S if and only if each loss + r is.
    """
    fields = node.fields("N losses r shift constants")
    N = fields["N"].integer(1, 100)
    losses, r = [read_pieces(entry) for entry in fields["losses"].items(N + 1)], read_pieces(fields["r"])
    one = fmpq(1, N)
    risks = [mix([one] * N + [fmpq(1)], [*points, r]) for points in (losses[:-1], losses[1:])]
    regularised = [mix([fmpq(1)] * 2, [loss, r]) for loss in losses]
    values = claim.numbers(fields["constants"], "G lam eps")
    (w, gap), (v, other) = (solved(risk, shift) for risk, shift in zip(risks, fields["shift"].vector(2), strict=True))
    facts, bounds = shared(losses)
    bounds["strongly_convex"] = lambda lam: all(f.weakly_convex(-lam) for f in regularised)
    bounds["inexact"] = lambda eps: max(gap, other) <= eps
    return tabled({**values, "N": fmpq(N), "apart": abs(w - v)}, {}, facts, bounds)


def tuples(n: int, N: int) -> list[tuple[int, ...]]:
    if n**N > SETS:
        raise Rejected(f"instance: got {n}^{N} data sets, expected at most {SETS}")
    return list(product(range(n), repeat=N))


def neighbours(sets: Sequence[tuple[int, ...]]) -> list[tuple[int, int]]:
    """Places of data sets that differ in a single point."""
    place = {S: k for k, S in enumerate(sets)}
    return [(place[S], place[(*S[:i], z, *S[i + 1 :])]) for S in sets for i in range(len(S)) for z in range(S[i])]


def spread(points: Sequence[Vector], sets: Sequence[tuple[int, ...]]) -> Callable[[fmpq], bool]:
    return lambda bound: all(norm2(minus(points[i], points[j])) <= bound * bound for i, j in neighbours(sets))


def moments(weights: Sequence[fmpq], values: Sequence[fmpq]) -> tuple[fmpq, fmpq]:
    mean = dot(weights, values)
    return mean, dot(weights, [(x - mean) ** 2 for x in values])


def read_table(node: Node, claim: Claim) -> World:
    """Lemma 2: a function h of N independent points, as the table of its values."""
    fields = node.fields("N d q h constants")
    N, d = fields["N"].integer(1, 12), fields["d"].integer(1, 10)
    q = probabilities(fields["q"], len(fields["q"].items()))
    sets = tuples(len(q), N)
    h = [entry.vector(d) for entry in fields["h"].items(len(sets))]
    weights = [paid(prod((q[z] for z in S), start=fmpq(1))) for S in sets]
    spread2 = summed(moments(weights, column)[1] for column in zip(*h, strict=True))
    values = claim.numbers(fields["constants"], "beta")
    return tabled({**values, "N": fmpq(N), "spread2": spread2}, {}, bounds={"bounded_differences": spread(h, sets)})


def read_algorithm(node: Node, claim: Claim) -> World:
    """Lemma 3: an algorithm A as the table of its models, and losses on a finite sample space."""
    fields = node.fields("N q losses A constants")
    N, losses = fields["N"].integer(1, 12), [read_pieces(entry) for entry in fields["losses"].items()]
    q = probabilities(fields["q"], len(losses))
    sets = tuples(len(q), N)
    A = fields["A"].vector(len(sets))
    weights, risk = [paid(prod((q[z] for z in S), start=fmpq(1))) for S in sets], mix(q, losses)
    population = [risk.gradient(w) for w in A]
    empirical = [summed(losses[z].gradient(w) for z in S) / N for S, w in zip(sets, A, strict=True)]
    mean, variance = moments(weights, population)
    values = claim.numbers(fields["constants"], "G L gamma")
    values |= {"N": fmpq(N), "bias": abs(mean - dot(weights, empirical)), "variance": variance}
    centre = dot(weights, empirical)
    values["about_empirical"] = dot(weights, [(x - centre) ** 2 for x in population])
    facts, bounds = shared(losses)
    return tabled(values, {}, facts, {**bounds, "stable": spread([(w,) for w in A], sets)})


def read_subset(node: Node, claim: Claim) -> World:
    """Lemma 4: the mean of I of M directions, drawn uniformly without replacement.

    Any vectors are gradients: of losses that are straight along each of them, around the point in question.
    """
    fields = node.fields("M I d directions constants")
    M, d = fields["M"].integer(1, 12), fields["d"].integer(1, 10)
    size = fields["I"].integer(1, M)
    rows = [entry.vector(d) for entry in fields["directions"].items(M)]
    chosen = list(combinations(range(M), size))
    columns = [[row[j] for row in rows] for j in range(d)]
    drawn = [[summed(column[m] for m in ms) / size for ms in chosen] for column in columns]
    mean = [summed(column) / M for column in columns]
    squares = [(x - centre) ** 2 for column, centre in zip(drawn, mean, strict=True) for x in column]
    values = claim.numbers(fields["constants"], "G")
    values |= {"M": fmpq(M), "I": fmpq(size), "D": fmpq(d), "deviation": summed(squares) / len(chosen)}
    apart = [(x - centre) ** 2 for column, centre in zip(columns, mean, strict=True) for x in column]
    values["among"] = summed(apart) / M
    lists = {"sampled": [summed(column) / len(chosen) for column in drawn], "mean": mean}
    return tabled(values, lists, bounds={"lipschitz": lambda G: all(norm2(row) <= G * G for row in rows)})


WORLDS = {
    "erm": Reader(read_erm, ERM_INPUTS),
    "table": Reader(read_table, TABLE_INPUTS),
    "algorithm": Reader(read_algorithm, ALGORITHM_INPUTS),
    "subset": Reader(read_subset, SUBSET_INPUTS),
}
