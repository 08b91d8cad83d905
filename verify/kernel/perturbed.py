"""The perturbed-gradient method of Buttaci's thesis: algorithm 2, rules (4.5) to (4.7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from flint import fmpq

from .claim import Claim
from .fedprox import COUNT, FedProx
from .law import Law, Problem, State, merged
from .loss import KINDS, ONE, ZERO, Loss, Vector, combine, minus, norm2
from .rational import Node, affordable
from .work import summed

INPUTS = {"beta": "nonnegative"}
PAIRS = 40_000


@dataclass(frozen=True)
class Graph(Problem):
    """A problem with the similarities p_ij and beta; p_i = sum_j p_ij, and alpha is not used."""

    pairs: tuple[Vector, ...] = ()
    beta: fmpq = ONE

    @cached_property
    def kicks(self) -> list[State]:
        still = tuple(tuple(ZERO for _ in v) for v in self.noise)  # noise moves no u^i within a round
        return [(*kick, *still) for kick in Problem.kicks.func(self)]

    def similar(self) -> bool:
        """p_ij = p_ji >= 0, p_ii = 0, every client has a neighbour, and all sum to one."""
        C, q = len(self.p), self.pairs
        symmetric = all(q[i][j] == q[j][i] >= 0 for i in range(C) for j in range(C))
        return symmetric and not any(q[i][i] for i in range(C)) and min(self.p) > 0 and summed(self.p) == 1

    def neighbours(self, ends: State) -> State:
        """u^i = p_i^{-1} sum_j p_ij w^j, definition (4.6)."""
        return tuple(combine([q / p for q in row], ends) for row, p in zip(self.pairs, self.p, strict=True))

    def perturbed(self, state: State) -> State:
        """w~^i = beta w^i + (1 - beta) u^i."""
        C = len(self.p)
        return tuple(combine((self.beta, 1 - self.beta), (state[i], state[C + i])) for i in range(1, C + 1))


@dataclass(frozen=True)
class GraphLaw(Law):
    """States are (w_{t,0}, w^1_{t,k}, ..., w^C_{t,k}, u^1_t, ..., u^C_t)."""

    problem: Graph

    def drift(self, state: State, gamma: fmpq) -> State:
        C, f = len(self.problem.p), self.problem.losses
        local = zip(state[1 : C + 1], self.problem.perturbed(state), f, strict=True)
        moved = (combine((ONE, -gamma), (w, loss.gradient(at))) for w, at, loss in local)
        return (state[0], *moved, *state[C + 1 :])

    def average(self) -> GraphLaw:
        C, d = len(self.problem.p), len(self.problem.noise[0])
        joint = self.condensed(lambda state: tuple(chain(*state[1 : C + 1])))
        states: list[tuple[State, fmpq]] = []
        for point, weight in joint:
            ends = tuple(point[i * d : (i + 1) * d] for i in range(C))
            start = combine(self.problem.p, ends)
            states.append(((start, *(start,) * C, *self.problem.neighbours(ends)), weight))
        return replace(self, states=merged(states) if self.paths else states)


class Perturbed(FedProx):
    """Quantities besides those of FedProx: previous = 1_{t>=1} gamma_{t-1}; spread |u^i - u^j|^2 at (t, i, j);
    perturbation |w_{t,k} - w~^i_{t,k}|^2; coordinate n of mean, w_{t,k}, and of centre, sum_i p_i w~^i_{t,k}; mismatch,
    |sum_i p_i w~^i_{t,k} - beta w_{t,k} - (1 - beta) w_{t,0}|^2.
    """

    def __init__(self, problem: Graph, w0: Vector, E: int, T: int) -> None:
        C, d = len(problem.p), len(w0)
        super().__init__(problem, w0, E, T, joint=C)
        self.graph, start = problem, (w0,) * (2 * C + 1)
        self.laws = [GraphLaw(problem, [(start, ONE)], self.laws[0].paths)]
        del self.values["alpha"]
        self.values["beta"] = problem.beta
        rounds, steps = (0, T - 1), ((0, T - 1), (0, E))
        self.ranges |= {
            "previous": (rounds,), "spread": (rounds, (1, C), (1, C)), "perturbation": (*steps, (1, C)),
            "mean": (*steps, (1, d)), "centre": (*steps, (1, d)), "mismatch": steps,
        }  # fmt: skip
        self.facts["similarity_weights"] = problem.similar()
        self.bounds["perturbed_gradients"] = lambda G: self.largest_perturbed2() <= G**2

    def largest_perturbed2(self) -> fmpq:
        """The largest E|g_i(w~^i_{t,k})|^2 of the run."""
        found: list[fmpq] = []
        for n, f in enumerate(self.graph.losses):

            def square(state: State, n: int = n, f: Loss = f) -> fmpq:
                return norm2(f.gradient(self.graph.perturbed(state)[n]))

            laws = (self.law(t, k) for t in range(self.T) for k in range(self.E + 1))
            found += [law.expect(square) + norm2(self.graph.noise[n]) for law in laws]
        return max(found)

    def centre(self, state: State) -> Vector:
        return combine(self.graph.p, self.graph.perturbed(state))

    def measured(self, name: str, t: int, k: int = 0, i: int = 0) -> fmpq:
        beta, C = self.graph.beta, len(self.graph.p)
        match name:
            case "previous":
                return self.gamma[t - 1] if t else ZERO
            case "spread":  # at (t, i, j)
                return self.law(t, 0).expect(lambda w: norm2(minus(w[C + k], w[C + i])))
            case "perturbation":
                return self.law(t, k).expect(lambda w: norm2(minus(self.mean(w), self.graph.perturbed(w)[i - 1])))
            case "mean":
                return self.law(t, k).expect(lambda w: self.mean(w)[i - 1])
            case "centre":
                return self.law(t, k).expect(lambda w: self.centre(w)[i - 1])
            case "mismatch":
                claimed = (beta, 1 - beta)
                return self.law(t, k).expect(
                    lambda w: norm2(minus(self.centre(w), combine(claimed, (self.mean(w), w[0]))))
                )
            case _:
                return super().measured(name, t, k, i)


def graph(given: Mapping[str, Node], kinds: Mapping[str, Callable[[Node, int], Loss]], claim: Claim) -> Graph:
    """The clients, their similarities and their noise."""
    C, d = (given[name].integer(least, COUNT) for name, least in (("C", 2), ("d", 1)))  # C = 1 has no neighbour
    affordable(C * C, PAIRS)
    losses = tuple(kinds[n.kind(kinds)](n, d) for n in given["clients"].items(C))
    noisy = given["noise"].kind(("none", "signs")) == "signs"
    signs = given["noise"].fields("kind shared v" if noisy else "kind")
    noise = tuple(v.vector(d) for v in signs["v"].items(C)) if noisy else ((ZERO,) * d,) * C
    pairs = tuple(row.vector(C, least=0) for row in given["pairs"].items(C))
    p = tuple(summed(row) for row in pairs)
    if min(p) <= 0:
        raise given["pairs"].malformed("a neighbour for every client")
    shared = noisy and signs["shared"].flag()
    return Graph(losses, p, ZERO, noise, shared, pairs, claim.number("beta", given["beta"], least=0))


def read(node: Node, claim: Claim) -> Perturbed:
    given = node.fields("C d E T pairs w0 beta constants clients noise", "parameters steps w_star minimisers")
    E, T = (given[name].integer(1, COUNT) for name in ("E", "T"))
    problem, d = graph(given, KINDS, claim), given["d"].integer(1, COUNT)
    run = Perturbed(problem, given["w0"].vector(d), E, T)
    if "w_star" in given:
        minimisers = [w.vector(d) for w in given["minimisers"].items(len(problem.p))] if "minimisers" in given else None
        run.minimised(given["w_star"].vector(d), minimisers)
    run.values |= claim.numbers(given["constants"], "", "L mu sigma G")
    taken = {*run.values, "Gamma", "L", "mu", "sigma", "G"}
    run.values |= claim.parameters(given["parameters"], taken) if "parameters" in given else {}
    run.gamma = claim.steps(given.get("steps"), run, T)
    return run
