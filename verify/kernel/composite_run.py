"""Algorithm 1 of zhang on every path of its noise, exactly, with g = theta |.|_1.

Equal clients are one group. Noise is s v with a fair sign s at each of a few steps, so that clients of a group differ
only by their signs: a path is the number of clients of every group with every sequence of signs, and its probability
is multinomial. Clients with one loss and one sequence of signs are a block: they agree for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement, product
from math import comb, factorial, prod

from flint import fmpq

from .loss import ONE, ZERO, Loss, Vector, combine, dot, minus
from .rational import affordable
from .work import summed

SIGNS, PATHS, WORK = 12, 4_096, 1_000_000


def soft(w: Vector, s: fmpq) -> Vector:
    """P_s for g = |.|_1."""
    return tuple(x - s if x > s else x + s if x < -s else ZERO for x in w)


@dataclass(frozen=True, eq=False)
class Group:
    size: int
    loss: Loss
    v: Vector


@dataclass(frozen=True, eq=False)
class Block:
    """Clients with the same loss and the same signs; the groups' order is kept."""

    group: int
    count: int
    loss: Loss
    kicks: tuple[Vector, ...]  # at the noisy steps


@dataclass(eq=False)
class Round:
    x: Vector
    P: Vector
    c: list[Vector]
    zhat: list[list[Vector]] = field(default_factory=list[list[Vector]])  # by step, by block
    z: list[list[Vector]] = field(default_factory=list[list[Vector]])
    g: list[list[Vector]] = field(default_factory=list[list[Vector]])


@dataclass(frozen=True, eq=False)
class Method:
    groups: tuple[Group, ...]
    theta: fmpq
    eta_t: fmpq  # eta~ = eta eta_g tau
    eta_g: fmpq
    tau: int
    noisy: tuple[int, ...]  # steps, counted through all rounds from 0
    shared: bool

    @cached_property
    def n(self) -> int:
        return sum(group.size for group in self.groups)

    @cached_property
    def weights(self) -> Vector:
        return tuple(fmpq(group.size, self.n) for group in self.groups)

    @cached_property
    def eta(self) -> fmpq:
        return self.eta_t / (self.eta_g * self.tau)

    def value(self, x: Vector) -> fmpq:
        """F."""
        return dot(self.weights, [group.loss.value(x) for group in self.groups]) + self.g(x)

    def g(self, x: Vector) -> fmpq:
        return self.theta * summed(map(abs, x))

    def gradient(self, x: Vector) -> Vector:
        """Of f."""
        return combine(self.weights, [group.loss.gradient(x) for group in self.groups])

    def prox(self, w: Vector, s: fmpq) -> Vector:
        return soft(w, s * self.theta)

    def paths(self) -> list[tuple[fmpq, list[Block]]]:
        """Every path with its probability."""
        affordable(len(self.noisy), SIGNS, "instance.noise")
        many = 2 ** len(self.noisy)
        total = many if self.shared else prod(comb(group.size + many - 1, many - 1) for group in self.groups)
        affordable(total, PATHS, "instance.noise")
        affordable(total * many * len(self.groups), WORK, "instance.noise")
        kinds = list(product((1, -1), repeat=len(self.noisy)))
        if self.shared:
            ways = ([[group.size * (kind == k) for kind in range(many)] for group in self.groups] for k in range(many))
            return [(fmpq(1, many), self.blocks(counts, kinds)) for counts in ways]
        each = [list(_compositions(group.size, many)) for group in self.groups]
        chosen = ((list(counts), self.blocks(counts, kinds)) for counts in product(*each))
        return [(prod((_chance(part) for part in counts), start=ONE), blocks) for counts, blocks in chosen]

    def blocks(self, counts: Sequence[Sequence[int]], kinds: Sequence[Sequence[int]]) -> list[Block]:
        return [
            Block(k, count, group.loss, tuple(tuple(s * x for x in group.v) for s in signs))
            for k, (group, row) in enumerate(zip(self.groups, counts, strict=True))
            for count, signs in zip(row, kinds, strict=True)
            if count
        ]

    def mean(self, blocks: Sequence[Block], vectors: Sequence[Vector]) -> Vector:
        return combine([fmpq(block.count, self.n) for block in blocks], vectors)

    def stochastic(self, blocks: Sequence[Block], step: int, z: Sequence[Vector]) -> list[Vector]:
        """The blocks' gradients at a step, with its noise."""
        plain = [block.loss.gradient(w) for block, w in zip(blocks, z, strict=True)]
        if step not in self.noisy:
            return plain
        kicks = (block.kicks[self.noisy.index(step)] for block in blocks)
        return [combine((ONE, ONE), pair) for pair in zip(plain, kicks, strict=True)]

    def run(self, blocks: list[Block], x: Vector, rounds: int) -> list[Round]:
        """Algorithm 1, and after the last round one more that has only begun."""
        c, made = [tuple(ZERO for _ in x)] * len(blocks), list[Round]()
        for r in range(rounds):
            now = Round(x, self.prox(x, self.eta_t), c)
            now.zhat.append([now.P] * len(blocks))
            now.z.append([now.P] * len(blocks))
            for t in range(self.tau):
                now.g.append(self.stochastic(blocks, r * self.tau + t, now.z[t]))
                terms = zip(now.zhat[t], now.g[t], c, strict=True)
                now.zhat.append([combine((ONE, -self.eta, -self.eta), three) for three in terms])
                now.z.append([self.prox(w, (t + 1) * self.eta) for w in now.zhat[t + 1]])
            x = combine((1 - self.eta_g, self.eta_g), (now.P, self.mean(blocks, now.zhat[self.tau])))
            back = tuple(y / self.eta_t for y in minus(now.P, x))
            c = [minus(back, combine([fmpq(1, self.tau)] * self.tau, own)) for own in zip(*now.g, strict=True)]
            made.append(now)
        return [*made, Round(x, self.prox(x, self.eta_t), c)]

    def compact(self, blocks: list[Block], x: Vector, rounds: int) -> list[Round]:
        """The compact form (2): directions from the gradients of the round before, no corrections."""
        before, made = [[tuple(ZERO for _ in x)] * len(blocks)] * self.tau, list[Round]()
        sums = [fmpq(1, self.tau)] * self.tau
        for r in range(rounds):
            own = [combine(sums, g) for g in zip(*before, strict=True)]
            ahead = [minus(self.mean(blocks, own), g) for g in own]
            P = self.prox(x, self.eta_t)
            now = Round(x, P, ahead, [[P] * len(blocks)], [[P] * len(blocks)])
            for t in range(self.tau):
                now.g.append(self.stochastic(blocks, r * self.tau + t, now.z[t]))
                moved = zip(now.zhat[t], now.g[t], ahead, strict=True)
                now.zhat.append([combine((ONE, -self.eta), (w, combine((ONE, ONE), (g, c)))) for w, g, c in moved])
                now.z.append([self.prox(w, (t + 1) * self.eta) for w in now.zhat[t + 1]])
            total = combine([self.eta_g * self.eta] * self.tau, [self.mean(blocks, g) for g in now.g])
            x, before = minus(P, total), now.g
            made.append(now)
        return [*made, Round(x, self.prox(x, self.eta_t), [])]


def _compositions(total: int, parts: int) -> Iterator[list[int]]:
    """How many clients there are of each kind, in every way: fewest of the first kind first."""
    for kinds in reversed(list(combinations_with_replacement(range(parts), total))):
        counts = [0] * parts
        for kind in kinds:
            counts[kind] += 1
        yield counts


def _chance(counts: Sequence[int]) -> fmpq:
    """Of these numbers of clients with each of the equally likely sequences of signs."""
    total = sum(counts)
    return fmpq(factorial(total), prod(map(factorial, counts)) * len(counts) ** total)
