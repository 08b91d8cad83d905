"""Chapter 3: messages, similarity graphs and networks with log-normal misalignments, by enumeration of their entries.

A weight -ln mis(i, j) is Gaussian and belongs to the *pair* {i, j}: everything linear in the weights is a linear form
in independent Gaussians, and its mean and variance are sums over pairs.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, permutations

from flint import arb, fmpq, fmpq_mat

from .claim import Claim
from .expression import Value, World
from .rational import Node, Rejected

CLIENTS = 200
ZERO = fmpq(0)
Form = dict[frozenset[int], fmpq]  # pair of clients -> coefficient of its weight


class Messages(World):
    """Two vectors a and b."""

    def __init__(self, a: tuple[fmpq, ...], b: tuple[fmpq, ...]) -> None:
        self.lists, self.values, self.bounds = {"a": a, "b": b}, {"D": fmpq(len(a))}, {}
        self.ranges, self.facts = dict.fromkeys(self.lists, ((1, len(a)),)), {}

    def quantity(self, name: str, indices: tuple[int, ...]) -> fmpq:
        return self.lists[name][indices[0] - 1]


class Graph(World):
    """One graph: its homogeneity (3.2), entry by entry, and the sum of its eigenvalues but the first."""

    def __init__(self, C: int, weights: dict[frozenset[int], fmpq]) -> None:
        L = [[-weights[frozenset((i, j))] if i != j else ZERO for j in range(C)] for i in range(C)]
        for i in range(C):
            L[i][i] = -sum(L[i], ZERO)
        roots = fmpq_mat(L).charpoly()  # x^C - (sum of all eigenvalues) x^(C-1) + ...; weights >= 0: the first is 0
        hom = sum((weights[frozenset(pair)] for pair in permutations(range(C), 2)), ZERO) / (2 * C * (C - 1))
        self.values, self.ranges = {"C": fmpq(C), "hom": hom, "spectrum": -roots[C - 1]}, {}
        self.facts, self.bounds = {"nonnegative_weights": all(w >= 0 for w in weights.values())}, {}


class Network(World):
    """A (theta, phi)-heterogeneous network and the altered one, whose weights on one pair may be correlated.

    Quantities at C: probability = P(hom~ < hom), msd and sad = the mean squared and absolute deviation of the spectra,
    Phi and density = the normal distribution and its density at A, from the A2 = A^2 that the claim fixes.
    """

    def __init__(self, C: int, given: dict[str, fmpq], coupling: fmpq) -> None:
        self.C, self.values = C, {"C": fmpq(C), **given}
        self.theta, self.phi, self.epsilon, self.delta = (given[k] for k in ("theta", "phi", "epsilon", "delta"))
        if coupling**2 > self.phi**4 * (1 + self.delta) or self.delta <= -1:
            raise Rejected("instance: got no covariance matrix, expected coupling^2 <= phi^4 (1 + delta), delta > -1")
        self.ranges = dict.fromkeys(("probability", "msd", "sad", "Phi", "density"), ((C, C),))
        self.coupling, self.facts, self.bounds = coupling, {"independent_networks": coupling == 0}, {}

    def moments(self, form: Form) -> tuple[fmpq, fmpq]:
        """Mean and variance of form(weights of the altered network) - form(weights of the network)."""
        mean = sum((x * (self.theta * (1 - self.epsilon) - self.theta) for x in form.values()), ZERO)
        one = self.phi**2 * (1 + self.delta) + self.phi**2 - 2 * self.coupling
        return mean, sum((x * x * one for x in form.values()), ZERO)

    def trace(self) -> Form:
        """The degrees of all nodes: every ordered pair i != j once, every weight twice."""
        form: Form = defaultdict(fmpq)
        for i, j in permutations(range(self.C), 2):
            form[frozenset((i, j))] += 1
        return form

    def quantity(self, name: str, indices: tuple[int, ...]) -> Value:
        if name in ("Phi", "density"):
            A = arb(self.value("A2")).sqrt() * (-1 if self.epsilon < 0 else 1)
            return (-A * A / 2).exp() / (2 * arb.pi()).sqrt() if name == "density" else _below(A)
        mean, variance = self.moments(self.trace())  # of tr L~ - tr L: 2C(C-1) times the difference in homogeneity
        s = arb(variance).sqrt()
        if name == "probability":
            return _below(-mean / s) if variance > 0 else fmpq(int(mean < 0))
        if self.C == 2 and name == "msd":  # the trace is the one eigenvalue
            return mean**2 + variance
        if self.C == 2 and variance == 0:
            return abs(mean)
        if self.C == 2:  # E|N(m, s^2)|
            z = mean / s
            return s * (2 / arb.pi()).sqrt() * (-z * z / 2).exp() + mean * (z / arb(2).sqrt()).erf()
        if self.C == 3 and name == "msd" and self.coupling == 0:
            # Eigenvalues tr/2 -+ R, R^2 = (3/2) phi^2 chi^2_2: E R^2 = 3 phi^2, E R = phi sqrt(3 pi)/2, and R of the
            # two networks are independent. The mean of (d tr/2 - dR)^2 and (d tr/2 + dR)^2 is (d tr/2)^2 + (dR)^2.
            cross = self.phi**2 * arb(1 + self.delta).sqrt() * 3 * arb.pi() / 4
            return (mean**2 + variance) / 4 + 3 * self.phi**2 * (2 + self.delta) - 2 * cross
        raise Rejected(f"instance.C: got {self.C}, expected 2: beyond it {name} has no closed form here")


def _below(x: arb) -> arb:
    """P(N(0, 1) < x)."""
    return (-x / arb(2).sqrt()).erfc() / 2


def read(node: Node, claim: Claim) -> Network:
    given = node.fields("C coupling parameters")
    parameters = claim.parameters(given["parameters"], {"C"})
    given["parameters"].fields("theta phi epsilon delta", "A2")
    return Network(given["C"].integer(2, CLIENTS), parameters, given["coupling"].rational())


def read_graph(node: Node, claim: Claim) -> Graph:
    given = node.fields("C weights")
    C = given["C"].integer(2, 40)
    pairs = list(combinations(range(C), 2))
    return Graph(C, {frozenset(p): w for p, w in zip(pairs, given["weights"].vector(len(pairs)), strict=True)})


def read_messages(node: Node, claim: Claim) -> Messages:
    given = node.fields("D a b")
    D = given["D"].integer(1, CLIENTS)
    return Messages(given["a"].vector(D), given["b"].vector(D))
