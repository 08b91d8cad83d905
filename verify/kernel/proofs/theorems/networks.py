"""Weighted graphs, and networks whose weights are Gaussian, one weight for every pair of clients.

Eigenvalues: the constant vector has the eigenvalue 0, and the others are in order. dtr is the trace of the altered
Laplacian less that of the first. Not claimed: anything where the two networks depend on one another, or a sign of a
weight that is not assumed. There are at least two clients wherever there is a network.
"""

from __future__ import annotations

from .theorem import theory

MEANINGS = {  # what proofs speak of although the claim does not
    "trace": "the trace of the Laplacian", "dtr2": "E (tr L~ - tr L)^2", "trM2": "E tr (L~ - L)^2",
    "wide": "E|tr L~ - tr L|/(C - 1)", "msd": "the average squared difference of eigenvalues",
    "sad": "the average absolute difference of eigenvalues",
}  # fmt: skip

# trace: of the Laplacian.
GRAPH = theory(
    "",
    (
        "degrees",
        "|- trace == 2 * C * (C - 1) * hom",
        "the trace is the sum of all degrees, in which each weight is twice",
    ),
    ("eigenvalues", "|- trace == spectrum", "a trace is the sum of the eigenvalues, of which the first is 0"),
    real="trace",
)

# dtr2: E dtr^2; trM2: E tr (L~ - L)^2; wide: E|dtr|/(C - 1).
NETWORK = theory(
    "dtr2 trM2 wide msd sad",
    (
        "trace_square",
        "independent_networks() |- dtr2 == 2*C*(C - 1)*(2 + delta)*phi**2 + (C*(C - 1)*epsilon*theta)**2",
        "dtr is twice a sum over C (C - 1)/2 independent pairs, each of mean -epsilon theta and variance (2 + delta) "
        "phi^2",
    ),
    (
        "jensen",
        "|- dtr2 <= (C - 1)**2 * msd(C)",
        "the C - 1 differences of eigenvalues add up to dtr, and an average of squares is at least a squared average",
    ),
    (
        "hoffman_wielandt",
        "|- (C - 1) * msd(C) <= trM2",
        "Hoffman and Wielandt (1953) on what is orthogonal to the constant vector: the ordered eigenvalues of two "
        "symmetric matrices have squared differences of sum at most |L~ - L|_F^2",
    ),
    (
        "matrix_square",
        "independent_networks() |- trM2 == C*(C - 1)*(2*(2 + delta)*phi**2 + C*(epsilon*theta)**2)",
        "C squared degrees, each of C - 1 independent weights, and C (C - 1) squared entries",
    ),
    ("cauchy", "|- sad(C)**2 <= msd(C)", "E|x| squared is at most E x^2, over the eigenvalues and the draws"),
    ("convex", "|- wide <= sad(C)", "|.| is convex: E|dtr|/(C - 1) is at most the average of E|x|"),
    (
        "folded_at_half",
        "independent_networks(); 0 < phi; -1 < delta; 0 <= theta; 2 <= C; "
        "A2 == epsilon**2*theta**2/phi**2 * (C*(C - 1)/(2 + delta)) "
        "|- C*epsilon*theta*(2*Phi(C) - 1) + 2*phi*sqrt(C)*sqrt((2 + delta)/(C - 1))*density(C) <= wide",
        "dtr/(C - 1) is Gaussian with mean -m, m = C epsilon theta, and variance 2 v, v = C (2 + delta) phi^2/(C - 1). "
        "E|N(m, s^2)| does not fall with s, for |.| is convex, and is m (2 Phi(m/s) - 1) + 2 s Phi'(m/s); at s^2 = v, "
        "half of what it is, m/s is the root of A2 with the sign of epsilon",
    ),
)
