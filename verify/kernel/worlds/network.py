"""Chapter 3: messages, similarity graphs and networks with log-normal misalignments, by enumeration of their entries.

A weight -ln mis(i, j) is Gaussian and belongs to the *pair* {i, j}: everything linear in the weights is a linear form
in independent Gaussians, and its mean and variance are sums over pairs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations

from flint import arb, fmpq

from ..core.budget import spend, summed
from ..core.claim import Claim
from ..core.expression import Value
from ..core.loss import dot, norm2
from ..core.rational import Malformed, Node, Rejected
from ..core.world import Reader, World, tabled

CLIENTS = 200
INPUTS = {"theta": "real", "phi": "nonnegative", "epsilon": "real", "delta": "real"}
QUANTITIES = ("hom_mean", "hom_variance", "probability", "msd", "sad", "Phi", "density")
ZERO = fmpq(0)
Form = dict[frozenset[int], int]  # pair of clients -> coefficient of its weight
Sums = tuple[int, int]  # of a form's coefficients, and of their squares


@lru_cache(maxsize=CLIENTS)
def trace(C: int) -> Sums:
    """The degrees of all nodes: every ordered pair i != j once, every weight twice."""
    return _sums(Counter(map(frozenset, permutations(range(C), 2))))


@lru_cache(maxsize=CLIENTS)
def degrees(C: int) -> list[Sums]:
    """For every node, the weights of its pairs."""
    return [_sums({frozenset((i, j)): 1 for j in range(C) if j != i}) for i in range(C)]


def _sums(form: Form) -> Sums:
    return sum(form.values()), sum(x * x for x in form.values())


@dataclass(frozen=True, slots=True)
class Network:
    """A (theta, phi)-heterogeneous network and the altered one, whose weights on one pair may be correlated.

    Quantities at C: mean and variance of hom(C), probability = P(hom~ < hom), msd and sad = mean squared and absolute
    deviation of the spectra, Phi and density = the normal distribution at the A whose square A2 the claim fixes.
    """

    C: int
    theta: fmpq
    phi: fmpq
    epsilon: fmpq
    delta: fmpq
    coupling: fmpq
    A2: fmpq | None = None

    def law(self, of: str) -> tuple[fmpq, fmpq]:
        """Mean and variance of one weight of the network, of the altered one, or of the second minus the first."""
        first, second = (self.theta, self.phi**2), (self.theta * (1 - self.epsilon), self.phi**2 * (1 + self.delta))
        step = second[0] - first[0], second[1] + first[1] - 2 * self.coupling
        return {"first": first, "second": second, "step": step}[of]

    def moments(self, form: Sums, of: str) -> tuple[fmpq, fmpq]:
        """Mean and variance of a linear form in the weights."""
        mean, variance = self.law(of)
        return form[0] * mean, form[1] * variance

    def trace(self) -> Sums:
        spend(4 * self.C**2)
        return trace(self.C)

    def squares(self, of: str) -> fmpq:
        """E tr L^2: the squared degrees, and every weight's square once for (i, j) and once for (j, i)."""
        spend(4 * self.C**2)
        mean, variance = self.law(of)
        entries = self.C * (self.C - 1) * (mean**2 + variance)
        return summed((m * m + v for m, v in (self.moments(form, of) for form in degrees(self.C))), entries)

    def quantity(self, name: str, indices: tuple[int, ...]) -> Value:
        if name in ("Phi", "density"):
            if self.A2 is None:
                raise Malformed("instance.parameters: got no A2, expected the one that the claim reads")
            A = arb(self.A2).sqrt() * (-1 if self.epsilon < 0 else 1)
            return (-A * A / 2).exp() / (2 * arb.pi()).sqrt() if name == "density" else _below(A)
        if name in ("hom_mean", "hom_variance"):
            mean, variance = self.moments(self.trace(), "first")
            share = 2 * self.C * (self.C - 1)
            return mean / share if name == "hom_mean" else variance / share**2
        mean, variance = self.moments(self.trace(), "step")  # of tr L~ - tr L: 2C(C-1) times the step in homogeneity
        if name == "probability":
            return _below(-mean / arb(variance).sqrt()) if variance > 0 else fmpq(int(mean < 0))
        if self.C == 2:  # the trace is the one eigenvalue
            return mean**2 + variance if name == "msd" else _folded(mean, variance)
        if self.C == 3 and name == "msd" and self.coupling == 0:
            # Eigenvalues tr/2 -+ R, R^2 = (3/2) phi^2 chi^2_2: E R^2 = 3 phi^2, E R = phi sqrt(3 pi)/2, and R of the
            # two networks are independent. The mean of (d tr/2 - dR)^2 and (d tr/2 + dR)^2 is (d tr/2)^2 + (dR)^2.
            cross = self.phi**2 * arb(1 + self.delta).sqrt() * 3 * arb.pi() / 4
            return (mean**2 + variance) / 4 + 3 * self.phi**2 * (2 + self.delta) - 2 * cross
        return self.bracket(name, mean, variance)

    def bracket(self, name: str, mean: fmpq, variance: fmpq) -> arb:
        """No closed form: a ball that holds the value, from traces alone; `decide` uses it where that is enough.

        Above, Hoffman-Wielandt: sum_i (l~_i - l_i)^2 <= tr (L~ - L)^2. Below: the average of l~_i - l_i is the trace
        over n = C - 1, and what is left, l_i - tr/n, has norm s^2 = E tr L^2 - E (tr L)^2 / n in L^2: the triangle
        inequality leaves (s~ - s)^2. For absolute values: E|average| and Cauchy-Schwarz.
        """
        n = self.C - 1
        if name == "sad":
            above = arb(self.quantity("msd", (self.C,))).upper().sqrt()
            return arb(_folded(mean / n, variance / n**2)).union(above)
        first, second = (self.moments(self.trace(), of) for of in ("first", "second"))
        s, s_altered = (
            arb(self.squares(of) - (m * m + v) / n).sqrt() for of, (m, v) in (("first", first), ("second", second))
        )
        apart = s_altered - s  # its square as a product: a power of a ball around 0 is not a number
        return (arb((mean**2 + variance) / n**2) + apart * apart / n).union(arb(self.squares("step") / n))


def _folded(mean: fmpq, variance: fmpq) -> Value:
    """E|N(mean, variance)|."""
    if variance == 0:
        return abs(mean)
    s = arb(variance).sqrt()
    z = mean / s
    return s * (2 / arb.pi()).sqrt() * (-z * z / 2).exp() + mean * (z / arb(2).sqrt()).erf()


def _below(x: arb) -> arb:
    """P(N(0, 1) < x)."""
    return (-x / arb(2).sqrt()).erfc() / 2


def read(node: Node, claim: Claim) -> World:
    fields = node.fields("C coupling parameters")
    parameters = claim.parameters(fields["parameters"], {"C"})
    fields["parameters"].fields("theta phi epsilon delta", "A2")
    C, coupling = fields["C"].integer(2, CLIENTS), fields["coupling"].rational()
    network = Network(C, coupling=coupling, **parameters)
    if coupling**2 > network.phi**4 * (1 + network.delta) or network.delta <= -1:
        raise Rejected("instance: got no covariance matrix, expected coupling^2 <= phi^4 (1 + delta), delta > -1")
    one_sign = network.phi == 0 and network.epsilon <= 1  # a Gaussian has both signs
    facts = {"independent_networks": coupling == 0, "nonnegative_weights": one_sign}
    return World({"C": fmpq(C), **parameters}, dict.fromkeys(QUANTITIES, ((C, C),)), network.quantity, facts)


def read_graph(node: Node, claim: Claim) -> World:
    """One graph: its homogeneity (3.2), entry by entry, and the sum of its eigenvalues but the first.

    That of the constant vector is 0, and the sum of all is the trace. With v, u and lam: v'Lv, half the sum of
    a_ij (v_i - v_j)^2, u'Lu, and whether L u is lam u.
    """
    fields = node.fields("C weights", "v u lam")
    C = fields["C"].integer(2, 40)
    pairs = list(combinations(range(C), 2))
    weights = {frozenset(p): w for p, w in zip(pairs, fields["weights"].vector(len(pairs)), strict=True)}
    L = [[-weights[frozenset((i, j))] if i != j else ZERO for j in range(C)] for i in range(C)]
    for i in range(C):
        L[i][i] = -summed(L[i])
    hom = summed(weights[frozenset(pair)] for pair in permutations(range(C), 2)) / (2 * C * (C - 1))
    values = {"C": fmpq(C), "hom": hom, "spectrum": summed(L[i][i] for i in range(C))}
    signs = {"nonnegative_weights": all(w >= 0 for w in weights.values())}
    if fields.keys() & {"v", "u", "lam"}:
        fields = node.fields("C weights v u lam")  # all of them or none
        (v, u), lam = (fields[name].vector(C) for name in "vu"), fields["lam"].rational()
        Lv, Lu = ([dot(row, x) for row in L] for x in (v, u))
        values |= {"form": dot(v, Lv), "eigenform": dot(u, Lu), "lam": lam, "length2": norm2(u)}
        values["variability"] = summed(weights[frozenset(p)] * (v[p[0]] - v[p[1]]) ** 2 for p in pairs)
        return tabled(values, {}, signs | {"eigenvector": Lu == [lam * x for x in u]})
    return tabled(values, {}, signs)


def read_messages(node: Node, claim: Claim) -> World:
    """Two vectors a and b."""
    fields = node.fields("D a b")
    D = fields["D"].integer(1, CLIENTS)
    return tabled({"D": fmpq(D)}, {name: fields[name].vector(D) for name in ("a", "b")}, listed=["a", "b"])


WORLDS = {"network": Reader(read, INPUTS), "graph": Reader(read_graph), "messages": Reader(read_messages)}
