"""Every method against its algorithm box by definition, in Fractions: the kernel exactly, the arrays to 1e-9.

The loops below are written from the boxes in the papers and share nothing with the interpreters: one path of noise and
of sampled clients at a time. What they measure is averaged over all paths.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import array_api_strict
import numpy as np
import pytest
from fuzz import SECONDS, Log, mutants, pool
from hypothesis import given, settings
from hypothesis import strategies as st
from libraries import JAX, library
from marks import examples, only, slow, some
from places import TESTS
from sympy import Le
from test_algorithm import EVERY, EXAMPLES, SCAFFOLD

from fedaudit.bounds.language.method import Method, quantity_name
from fedaudit.bounds.language.rule_expressions import mean
from fedaudit.bounds.language.statement import Statement
from fedaudit.problems.families import losses
from fedaudit.problems.losses.regularised import Regulariser
from fedaudit.problems.runs.interpreter import Setup
from fedaudit.problems.runs.interpreter import run as run_arrays
from fedaudit.verify import kernel
from fedaudit.verify.certify.command import certify
from fedaudit.verify.search.lowered_claim import unchecked
from fedaudit.verify.search.tree_arrays import Evaluator, Quantity, Table

Vec = tuple[Fraction, ...]
Measured = dict[tuple[str, tuple[int, ...]], Fraction]
MOST_PATHS = 300


def add(*terms: tuple[Any, Vec]) -> Vec:
    """A linear combination."""
    return tuple(sum((Fraction(c) * x for c, x in zip([c for c, _ in terms], column, strict=True)), Fraction(0))
                 for column in zip(*(v for _, v in terms), strict=True))  # fmt: skip


def dot(x: Vec, y: Vec) -> Fraction:
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


@dataclass(frozen=True)
class Run:
    """One instance and one path: signs of the noise per round, step and client, clients drawn per round."""

    instance: dict[str, Any]
    signs: dict[tuple[int, int, int], int]
    drawn: list[tuple[int, ...]]
    each: int = 1  # steps of a round; 1 where t counts steps

    def __getattr__(self, name: str) -> Any:
        if name in ("C", "E", "T"):
            return self.instance[name]
        if name in ("p", "w0", "w_star"):
            return tuple(Fraction(x) for x in self.instance[name])
        if name in self.instance.get("points", {}):
            return tuple(Fraction(x) for x in self.instance["points"][name])
        if name == "minimisers":
            return [tuple(Fraction(x) for x in c) for c in self.instance[name]]
        if name in self.instance["parameters"]:
            return Fraction(self.instance["parameters"][name])
        raise AttributeError(name)

    def step(self, t: int, k: int | None = None) -> Fraction:
        (name,) = self.instance["steps"]
        return self.named(name, t, k)

    def named(self, name: str, t: int, k: int | None = None) -> Fraction:
        row = self.instance["steps"][name][t]
        return Fraction(row if k is None else row[k])

    def turned(self, i: int, w: Vec) -> Vec:
        """w reflected at the plane across the loss's `turn`."""
        u = tuple(Fraction(x) for x in self.instance["clients"][i]["turn"])
        return add((1, w), (-2 * dot(u, w) / dot(u, u), u)) if any(u) else w

    def curves(self, i: int, y: Vec, order: int) -> Vec:
        """The value (0), the first or second derivative of base_j + a_j y_j + b_j eta_j, by coordinates."""
        loss, found = self.instance["clients"][i], list[Fraction]()
        for j, x in enumerate(y):
            one, total = Fraction(loss["a"][j]), Fraction(0)
            for part, times in ((loss["base"][j], Fraction(1)), (loss["eta"][j], Fraction(loss["b"][j]))):
                past = [
                    (Fraction(s), max(x - Fraction(at), Fraction(0)))
                    for at, s in zip(part["x"], part["s"], strict=True)
                ]
                bend, g, cubes = Fraction(part["a"]), Fraction(part["g"]), [s * z**3 / 6 for s, z in past]
                orders = (
                    g * x + bend * x * x / 2 + sum(cubes, Fraction(0)),
                    g + bend * x + sum((s * z * z / 2 for s, z in past), Fraction(0)),
                    bend + sum((s * z for s, z in past), Fraction(0)),
                )
                total += times * orders[order]
            found.append(total + (one * x, one, 0)[order])
        return tuple(found)

    def hess(self, i: int, w: Vec, v: Vec) -> Vec:
        bends = self.curves(i, self.turned(i, w), 2)
        return self.turned(i, tuple(h * x for h, x in zip(bends, self.turned(i, v), strict=True)))

    def grad(self, i: int, w: Vec) -> Vec:
        loss = self.instance["clients"][i]
        if loss["kind"] == "curves":
            return self.turned(i, self.curves(i, self.turned(i, w), 1))
        if loss["kind"] == "quadratic":
            rows = [tuple(Fraction(x) for x in row) for row in loss["A"]]
            return tuple(dot(row, w) - Fraction(b) for row, b in zip(rows, loss["b"], strict=True))
        parts = zip(*([Fraction(x) for x in loss[n]] for n in ("a", "m", "lo", "hi", "c")), w, strict=True)
        return tuple(m * (x - c) + (a - m) * max(-lo, min(hi, x - c)) for a, m, lo, hi, c, x in parts)

    def value(self, i: int, w: Vec) -> Fraction:
        """f_i(w) = w A w/2 - b w; of bent losses the integral of the gradient from their centre."""
        loss = self.instance["clients"][i]
        if loss["kind"] == "curves":
            return sum(self.curves(i, self.turned(i, w), 0), Fraction(0))
        if loss["kind"] == "quadratic":
            b = tuple(Fraction(x) for x in loss["b"])
            return dot(w, add((1, self.grad(i, w)), (-1, b))) / 2
        total = Fraction(0)
        parts = zip(*([Fraction(x) for x in loss[n]] for n in ("a", "m", "lo", "hi", "c")), w, strict=True)
        for a, m, lo, hi, c, x in parts:
            z, cut = x - c, max(-lo, min(hi, x - c))
            total += m * z**2 / 2 + (a - m) * (cut * z - cut**2 / 2)
        return total

    def f(self, w: Vec) -> Fraction:
        return sum((p * self.value(i, w) for i, p in enumerate(self.p)), Fraction(0))

    def gap(self, w: Vec) -> Fraction:
        return self.f(w) - self.f(self.w_star)

    def sides(self) -> tuple[Fraction, Fraction, Fraction]:
        """g(x) = up max(x, 0) + down max(-x, 0) + ridge x^2/2 in every coordinate."""
        g = {k: Fraction(x) for k, x in self.instance["regulariser"].items() if k != "kind"}
        kind, none = self.instance["regulariser"]["kind"], Fraction(0)
        if kind == "pinball":
            return g["up"], g["down"], none
        return (g["theta"], g["theta"], none) if kind == "l1" else (none, none, g["theta"])

    def prox(self, w: Vec, s: Fraction) -> Vec:
        """u with (w - u)/s a subgradient of g at u."""
        up, down, ridge = self.sides()
        ends = [(x - s * up, x + s * down) for x in w]
        return tuple((low if low > 0 else high if high < 0 else Fraction(0)) / (1 + s * ridge) for low, high in ends)

    def g(self, x: Vec) -> Fraction:
        up, down, ridge = self.sides()
        return sum((up * max(y, 0) + down * max(-y, 0) + ridge * y * y / 2 for y in x), Fraction(0))

    def conjugate(self, s: Vec) -> Fraction:
        """<s, x> - g(x) where it is largest: at x = 0, or where the ridge stops s."""
        up, down, ridge = self.sides()
        best = tuple(max(y - up, 0) / ridge - max(-y - down, 0) / ridge if ridge else Fraction(0) for y in s)
        return dot(s, best) - self.g(best)

    def F(self, x: Vec) -> Fraction:
        return self.f(x) + self.g(x)

    def slope(self, x: Vec) -> Vec:
        return self.mean([self.grad(i, x) for i in range(self.C)])

    def v(self, i: int) -> Vec:
        noise = self.instance["noise"]
        return tuple(Fraction(x) for x in noise["v"][i]) if noise["kind"] == "signs" else (Fraction(0),) * len(self.w0)

    def h(self, i: int) -> Vec:
        """The diagonal of the noise of Hessians."""
        noise = self.instance["noise"]
        return tuple(Fraction(x) for x in noise["h"][i]) if "h" in noise else (Fraction(0),) * len(self.w0)

    def noisy(self, t: int, k: int, i: int, w: Vec) -> Vec:
        return add((1, self.grad(i, w)), (self.signs.get((t, k, i), 0), self.v(i)))

    def loud(self, t: int, k: int) -> bool:
        """Whether the draws of this step have noise."""
        steps = self.instance["noise"].get("steps")
        return steps is None or t * self.each + k in steps

    def slope2(self, t: int, k: int, i: int, w: Vec) -> Fraction:
        """E |g_i(w)|^2 of a new draw at w."""
        both = [add((1, self.grad(i, w)), (s * self.loud(t, k), self.v(i))) for s in (1, -1)]
        return sum((dot(g, g) for g in both), Fraction(0)) / 2

    def mean(self, vectors: list[Vec]) -> Vec:
        return add(*zip(self.p, vectors, strict=True))

    def mean_drawn(self, t: int, vectors: list[Vec]) -> Vec:
        counts = self.drawn[t]
        return add(*((Fraction(n, sum(counts)), v) for n, v in zip(counts, vectors, strict=True)))


def fedprox(run: Run) -> Measured:
    w, seen = run.w0, Measured()
    for t in range(run.T + 1):
        far = add((1, w), (-1, run.w_star))
        seen["gap", (t,)], seen["dist2", (t,)] = run.gap(w), dot(far, far)
        seen["level", (t,)], seen["excess", (t,)] = run.f(w), run.gap(w)
        own = [w] * run.C
        for k in range(run.E + 1) if t < run.T else ():
            full = run.mean([run.grad(i, run.mean(own)) for i in range(run.C)])
            seen["slope2", (t, k)] = dot(full, full)
            for i in range(run.C):
                off, apart = add((1, own[i]), (-1, w)), add((1, run.mean(own)), (-1, own[i]))
                seen["deviation", (t, k, i + 1)] = dot(off, off)
                seen["divergence", (t, k, i + 1)] = dot(apart, apart)
                seen["grad2", (t, k, i + 1)] = run.slope2(t, k, i, own[i])
            if k < run.E:
                pulled = [add((1, run.noisy(t, k, i, x)), (run.alpha, x), (-run.alpha, w)) for i, x in enumerate(own)]
                own = [add((1, x), (-run.step(t), g)) for x, g in zip(own, pulled, strict=True)]
        w = run.mean(own)
    return seen


def scaffold(run: Run) -> Measured:
    """Also with sampled clients: then x moves by their mean, and only they renew their memory."""
    zero = (Fraction(0),) * len(run.w0)
    x, c, memory, seen = run.w0, zero, [zero] * run.C, Measured()
    for t in range(run.T + 1):
        seen["gap", (t,)] = run.gap(x)
        if t == run.T:
            break
        ends, renewed = list[Vec](), list[Vec]()
        for i in range(run.C):
            y = x
            for k in range(run.E):
                y = add((1, y), (-run.step(t), add((1, run.noisy(t, k, i, y)), (-1, memory[i]), (1, c))))
            fresh = add((1, memory[i]), (-1, c), (1 / (run.E * run.step(t)), add((1, x), (-1, y))))
            renewed.append(fresh if run.drawn[t][i] else memory[i])
            ends.append(add((1, y), (-1, x)))
        moved = run.mean_drawn(t, ends) if "participation" in run.instance else run.mean(ends)
        x, c, memory = add((1, x), (run.eta_g, moved)), run.mean(renewed), renewed
    return seen


def sampled_fedavg(run: Run) -> Measured:
    w, seen = run.w0, Measured()
    for t in range(run.T + 1):
        far, slopes = add((1, w), (-1, run.w_star)), [run.grad(i, w) for i in range(run.C)]
        seen["dist2", (t,)] = dot(far, far)
        seen["slope2", (t,)] = sum((p * dot(g, g) for p, g in zip(run.p, slopes, strict=True)), Fraction(0))
        if t < run.T:
            own = [w] * run.C
            for _ in range(run.E):
                own = [add((1, x), (-run.step(t), run.grad(i, x))) for i, x in enumerate(own)]
            w = run.mean_drawn(t, own)
    return seen


def per_fedavg(run: Run, second_order: bool = True) -> Measured:
    """Algorithm 1 of fallah with batches of one point: (8) has draws for both gradients and one for the Hessian.

    Without the second-order term the updates are along (112).
    """
    w, users, seen = run.w0, range(run.C), Measured()

    def full(i: int, x: Vec, inner: Vec, outer: Vec, bent: Vec) -> Vec:
        moved = add((1, x), (-run.alpha, run.grad(i, x)), (-run.alpha, inner))
        g = add((1, run.grad(i, moved)), (1, outer))
        rough = tuple(b * y for b, y in zip(bent, g, strict=True))
        return add((1, g), (-run.alpha, run.hess(i, x, g)), (-run.alpha, rough))

    def update(i: int, x: Vec, inner: Vec, outer: Vec, bent: Vec) -> Vec:
        if second_order:
            return full(i, x, inner, outer, bent)
        moved = add((1, x), (-run.alpha, run.grad(i, x)), (-run.alpha, inner))
        return add((1, run.grad(i, moved)), (1, outer))

    def level(x: Vec) -> Fraction:
        return sum((run.value(i, add((1, x), (-run.alpha, run.grad(i, x)))) for i in users), Fraction(0)) / run.C

    none, first = add((0, w)), level(w)
    for t in range(run.T):
        own = [w] * run.C
        seen["fall", (t,)] = level(w) - first
        for k in range(run.E + 1):
            every, some = run.mean(own), run.mean_drawn(t, own)
            at, at_all = ([full(i, x, none, none, none) for i in users] for x in (some, every))
            off, gap = add((1, some), (-1, every)), add((1, run.mean_drawn(t, at_all)), (-1, run.mean_drawn(t, at)))
            own_slopes = [full(i, x, none, none, none) for i, x in enumerate(own)]
            both = add((1, run.mean_drawn(t, own_slopes)), (-1, run.mean_drawn(t, at)))
            seen["YZ2", (t, k)] = dot(both, both)
            far = [add((1, x), (-1, every)) for x in own]
            if len(w) == 1:
                seen["drift", (t, k)] = sum((abs(x[0]) for x in far), Fraction(0)) / run.C
            seen["drift2", (t, k)] = sum((dot(x, x) for x in far), Fraction(0)) / run.C
            seen["averaged2", (t, k)], seen["Z2", (t, k)] = dot(off, off), dot(gap, gap)
            for name, each in (("", at), ("_all", at_all)):
                whole, drawn = run.mean(each), run.mean_drawn(t, each)
                seen[f"product{name}", (t, k)], seen[f"slope2{name}", (t, k)] = dot(whole, drawn), dot(whole, whole)
                seen[f"sampled2{name}", (t, k)] = dot(drawn, drawn)
            seen["level", (t, k)] = level(some) - first
            if k < run.E:
                sizes = [(run.v(i), run.v(i), run.h(i)) for i in users]
                noise = [
                    [add((run.signs.get((t, k, i + n * run.C), 0), x)) for n, x in enumerate(sizes[i])] for i in users
                ]
                own = [add((1, x), (-run.beta, update(i, x, *noise[i]))) for i, x in enumerate(own)]
        w = run.mean_drawn(t, own)
        seen["round2", (t,)] = sum((seen["slope2", (t, k)] for k in range(run.E)), Fraction(0)) / run.E
    seen["fall", (run.T,)] = level(w) - first
    seen["mean2", (run.T,)] = sum((seen["round2", (t,)] for t in range(run.T)), Fraction(0)) / run.T
    return seen


def local_sgd(run: Run) -> Measured:
    w, seen = run.w0, Measured()
    for t in range(run.T):
        own = [w] * run.C
        for k in range(run.E + 1):
            for i, x in enumerate(own):
                off = add((1, x), (-1, w))
                seen["drift", (t, k, i + 1)] = dot(off, off)
                seen["slope2", (t, k, i + 1)] = run.slope2(t, k, i, x)
            if k < run.E:
                own = [add((1, x), (-run.step(t, k), run.noisy(t, k, i, x))) for i, x in enumerate(own)]
        w = run.mean(own)
    return seen


def parallel_sgd(run: Run) -> Measured:
    x, seen = run.w0, Measured()
    for t in range(run.T + 1):
        far = add((1, x), (-1, run.w_star))
        seen["dist2", (t,)] = dot(far, far)
        ends = [x] * run.C
        for k in range(run.E if t < run.T else 0):
            ends = [add((1, y), (-run.named("gamma", t), run.noisy(t, k, i, y))) for i, y in enumerate(ends)]
        x = run.mean(ends)
    return seen


def gradient_descent(run: Run) -> Measured:
    x, seen, gaps = run.w0, Measured(), list[Fraction]()
    for t in range(run.T + 1):
        far = add((1, x), (-1, run.w_star))
        seen["gap", (t,)], seen["dist2", (t,)] = run.gap(x), dot(far, far)
        seen["level", (t,)], seen["grad2", (t,)] = run.f(x), dot(run.slope(x), run.slope(x))
        at_star = [run.grad(i, run.w_star) for i in range(run.C)]
        seen["star2", (t,)] = sum((p * dot(g, g) for p, g in zip(run.p, at_star, strict=True)), Fraction(0))
        gaps += [run.gap(y) for ends in local_points(run, t, x) for y in ends] if t < run.T else []
        x = descended(run, t, x) if t < run.T else x
    seen["best", ()] = min(gaps)
    return seen


def local_points(run: Run, t: int, x: Vec) -> list[list[Vec]]:
    """Where the clients are before E gradient steps from x, between them, and after."""
    points = [[x] * run.C]
    for _ in range(run.E):
        points.append([add((1, y), (-run.named("gamma", t), run.grad(i, y))) for i, y in enumerate(points[-1])])
    return points


def descended(run: Run, t: int, x: Vec) -> Vec:
    """The mean of E gradient steps of every client from x."""
    return run.mean(local_points(run, t, x)[-1])


def line_search(run: Run) -> Measured:
    """v_t is the last step."""
    x, v, seen = run.w0, add((0, run.w0)), Measured()
    for t in range(run.T + 1):
        seen["gap", (t,)], seen["across", (t,)] = run.gap(x), dot(run.slope(x), v)
        if t < run.T:
            onward = descended(run, t, x)
            x, v = onward, add((1, x), (-1, onward))
    return seen


def accelerated(ahead: Callable[[Run, int], Fraction]) -> Callable[[Run], Measured]:
    """y_0 = x_0; x_(t+1) is a gradient step from y_t, y_(t+1) = x_(t+1) + ahead (x_(t+1) - x_t)."""

    def box(run: Run) -> Measured:
        x, y, seen = run.w0, run.w0, Measured()
        for t in range(run.T + 1):
            far = add((1, x), (-1, run.w_star))
            seen["gap", (t,)], seen["dist2", (t,)] = run.gap(x), dot(far, far)
            if t < run.T:
                onward, by = descended(run, t, y), ahead(run, t)
                x, y = onward, add((1 + by, onward), (-by, x))
        return seen

    return box


def optimized_gradient(run: Run) -> Measured:
    """z_t = x_0 - sum of a_s times the gradient steps; y_t weighs x_t with A_(t-1) and z_t with a_t."""
    x, z, seen, weight = run.w0, run.w0, Measured(), Fraction(0)
    everything = sum((run.named("pull", t) for t in range(run.T)), Fraction(0)) + run.last
    for t in range(run.T + 1):
        far = add((1, x), (-1, run.w_star))
        seen["dist2", (t,)] = dot(far, far)
        seen["gap", (t,)] = run.gap(add((1 - run.last / everything, x), (run.last / everything, z)))
        if t < run.T:
            a = run.named("pull", t)
            y = add((weight / (weight + a), x), (a / (weight + a), z))
            x = descended(run, t, y)
            z, weight = add((1, z), (-a, y), (a, x)), weight + a
    return seen


def inexact_descent(run: Run) -> Measured:
    """The error of the first gradient is L times one vector, that of all others L times another one."""
    x, seen = run.w0, Measured()
    for t in range(run.T + 1):
        error = add((run.L, run.second if t else run.first), (-run.L, run.w0))
        seen["gap", (t,)], seen["grad2", (t,)] = run.gap(x), dot(run.slope(x), run.slope(x))
        seen["error2", (t,)] = dot(error, error)
        ends = [x] * run.C
        for _ in range(run.E) if t < run.T else ():
            ends = [add((1, y), (-run.step(t), add((1, run.grad(i, y)), (1, error)))) for i, y in enumerate(ends)]
        x = run.mean(ends)
    return seen


def halpern(run: Run) -> Measured:
    """x_t = x_0/(t + 1) + t/(t + 1) times the step from x_(t-1)."""
    x, seen = run.w0, Measured()
    for t in range(run.T + 1):
        far = add((1, x), (-1, run.w_star))
        seen["dist2", (t,)], seen["grad2", (t,)] = dot(far, far), dot(run.slope(x), run.slope(x))
        if t < run.T:
            x = add((Fraction(1, t + 2), run.w0), (1 - Fraction(1, t + 2), descended(run, t, x)))
    return seen


def proximal(gradient: bool) -> Callable[[Run], Measured]:
    """Proximal points of g, after a gradient step or without one."""

    def box(run: Run) -> Measured:
        x, seen = run.w0, Measured()
        for t in range(run.T + 1):
            far = add((1, x), (-1, run.w_star))
            seen["dist2", (t,)], seen["gap", (t,)] = dot(far, far), run.F(x) - run.F(run.w_star)
            seen["over", (t,)] = run.g(x) - run.g(run.w_star)
            ends = [x] * run.C
            for _ in range(run.E) if t < run.T else ():
                by = -run.step(t) if gradient else Fraction(0)
                ends = [run.prox(add((1, y), (by, run.grad(i, y))), run.step(t)) for i, y in enumerate(ends)]
            x = run.mean(ends)
        return seen

    return box


def drifting(run: Run) -> Measured:
    w, seen = run.w0, Measured()
    for t in range(run.T):
        own = [w] * run.C
        for k in range(run.E + 1):
            for i, x in enumerate(own):
                off, slope = add((1, x), (-1, w)), run.grad(i, x)
                seen["drift", (t, k, i + 1)], seen["grad2", (t, k, i + 1)] = dot(off, off), dot(slope, slope)
            if k < run.E:
                own = [add((1, x), (-run.step(t), run.grad(i, x))) for i, x in enumerate(own)]
        w = run.mean(own)
    return seen


def li(run: Run) -> Measured:
    """Li et al.: their step t + 1, where E divides the number of the step after it, ends a round."""
    own, seen = [run.w0] * run.C, Measured()
    for t in range(run.T + 1):
        w = run.mean(own)
        far, apart = add((1, w), (-1, run.w_star)), [add((1, w), (-1, x)) for x in own]
        seen["gap", (t,)], seen["dist2", (t,)] = run.gap(w), dot(far, far)
        seen["drift", (t,)] = sum((p * dot(v, v) for p, v in zip(run.p, apart, strict=True)), Fraction(0))
        for i, x in enumerate(own):
            seen["grad2", (t, i + 1)] = run.slope2(t, 0, i, x)
            seen["noise2", (t, i + 1)] = run.loud(t, 0) * dot(run.v(i), run.v(i))
        if t < run.T:
            own = [add((1, x), (-run.step(t), run.noisy(t, 0, i, x))) for i, x in enumerate(own)]
            own = [run.mean(own)] * run.C if (t + 2) % run.E == 0 else own
    return seen


def li_sampled(run: Run) -> Measured:
    w, seen = run.w0, Measured()
    for t in range(run.T + 1):
        far, own = add((1, w), (-1, run.w_star)), [w] * run.C
        seen["gap", (t,)], seen["dist2", (t,)] = run.gap(w), dot(far, far)
        if t == run.T:
            break
        for k in range(run.E + 1):
            seen |= {("grad2", (t, k, i + 1)): run.slope2(t, k, i, x) for i, x in enumerate(own)}
            if k < run.E:
                own = [add((1, x), (-run.step(t, k), run.noisy(t, k, i, x))) for i, x in enumerate(own)]
        w = run.mean_drawn(t, own)
    return seen


def fedlin(run: Run) -> Measured:
    x, seen = run.w0, Measured()
    for t in range(run.T + 1):
        seen["gap", (t,)] = run.gap(x)
        if t == run.T:
            break
        g, ends = run.mean([run.grad(i, x) for i in range(run.C)]), list[Vec]()
        for i in range(run.C):
            y = x
            for _ in range(run.E):
                y = add((1, y), (-run.step(t), add((1, run.grad(i, y)), (-1, run.grad(i, x)), (1, g))))
            ends.append(y)
        x = run.mean(ends)
    return seen


def fedavgm(run: Run) -> Measured:
    x, m, seen = run.w0, (Fraction(0),) * len(run.w0), Measured()
    for t in range(run.T + 1):
        seen["gap", (t,)], seen["speed", (t,)] = run.gap(x), dot(m, m)
        if t == run.T:
            break
        ends = list[Vec]()
        for i in range(run.C):
            y = x
            for k in range(run.E):
                y = add((1, y), (-run.step(t), run.noisy(t, k, i, y)))
            ends.append(y)
        m = add((run.beta, m), (1, x), (-1, run.mean(ends)))
        x = add((1, x), (-1, m))
    return seen


def proposed(run: Run, x: Vec) -> Iterator[dict[str, Any]]:
    """Algorithm 1 of zhang from x: what there is in every round, the last of which has only begun."""
    zero, tau, n = (Fraction(0),) * len(x), run.E, range(run.C)
    eta = run.eta_t / (run.eta_g * tau)
    c, before, last = [zero] * run.C, [zero] * run.C, run.w0
    for r in range(1, run.T + 2):
        P = run.prox(x, run.eta_t)
        now: dict[str, Any] = {"r": r, "x": x, "P": P, "c": c, "before": before, "last": last, "zhat": [], "z": []}
        zhat, z, g = [P] * run.C, [P] * run.C, list[list[Vec]]()
        for t in range(tau + 1) if r <= run.T else ():
            now["zhat"].append(zhat)
            now["z"].append(z)
            if t < tau:
                g.append([run.noisy(r - 1, t, i, z[i]) for i in n])
                zhat = [add((1, zhat[i]), (-eta, g[t][i]), (-eta, c[i])) for i in n]
                z = [run.prox(w, (t + 1) * eta) for w in zhat]
        yield now
        if r <= run.T:
            before = [add(*((1, g[t][i]) for t in range(tau))) for i in n]
            last, x = P, add((1, P), (run.eta_g, run.mean(zhat)), (-run.eta_g, P))
            back = add((1 / run.eta_t, P), (-1 / run.eta_t, x))
            c = [add((1, back), (Fraction(-1, tau), before[i])) for i in n]


def composite(run: Run) -> Measured:
    seen, eta_t, tau, n = Measured(), run.eta_t, run.E, range(run.C)
    for now in proposed(run, run.w0):
        r, P, before, last = (now[name] for name in ("r", "P", "before", "last"))

        def put(square: Vec | None = None, place: tuple[int, ...] = (r,), **values: Fraction) -> None:
            for name, x in values.items():
                seen[name, place] = x if square is None else dot(square, square)

        shifted = add((1, P), (-eta_t, run.slope(P)))
        ahead = run.prox(shifted, eta_t)
        s = add((1 / eta_t, shifted), (-1 / eta_t, ahead))
        for j, y in enumerate(P):
            put(None, (r, j + 1), model=y)
        put(level=run.F(P), gap=run.F(P) - run.F(run.w_star), vlevel=run.F(ahead), post2=dot(P, P))
        put(sub_inner=dot(s, ahead), sub_g=run.g(ahead), sub_conj=run.conjugate(s))
        put(add((1, ahead), (-1, P)), vstep2=Fraction(0))
        put(add((1, P), (-1, run.w_star)), dist2=Fraction(0))
        put(add((1, P), (-1, last)), moved2=Fraction(0))
        v = add((Fraction(1, tau), run.mean(before)))
        put(add((1, v), (-1, run.slope(last))), direction2=Fraction(0))
        along = run.prox(add((1, last), (-eta_t, v)), eta_t)
        put(server2=dot(along, along), post_server=dot(P, along))
        eta, mean = eta_t / (run.eta_g * tau), run.mean(before)
        Lambda = [add((eta * tau, run.grad(i, P)), (eta, mean), (-eta, before[i])) for i in n]
        apart = [add((1, x), (-1, run.mean(Lambda))) for x in Lambda]
        off = [add((1, x), (-1, run.mean(now["c"]))) for x in now["c"]]
        put(lam2=run.C * weighted(run, apart), cc=weighted(run, now["c"]), cc_apart=weighted(run, off))
        for i in n:
            put(apart[i], (r, i + 1), lam2_i=Fraction(0))
        for t, z in enumerate(now["z"]):
            moved = [add((1, x), (-1, P)) for x in z]
            put(None, (r, t), mean_off2=weighted(run, moved))
            for i in n:
                put(moved[i], (r, t, i + 1), off2=Fraction(0))
    return seen


def weighted(run: Run, vectors: list[Vec], others: list[Vec] | None = None) -> Fraction:
    """The mean over the clients of |x_i|^2, or of <x_i, y_i>."""
    pairs = zip(run.p, vectors, others or vectors, strict=True)
    return sum((p * dot(x, y) for p, x, y in pairs), Fraction(0))


def composite_compact(run: Run) -> Measured:
    """Equation (2) beside algorithm 1."""
    seen, tau, n, zero = Measured(), run.E, range(run.C), (Fraction(0),) * len(run.w0)
    eta, X, before = run.eta_t / (run.eta_g * tau), run.w0, [zero] * run.C
    for now in proposed(run, run.w0):
        r, x = now["r"], now["x"]
        seen["xx", (r,)], seen["XX", (r,)], seen["xX", (r,)] = dot(x, x), dot(X, X), dot(x, X)
        seen["vstep2", (r,)] = seen_at(run, r, now["P"])["vstep2", (r,)]
        seen["VSTEP2", (r,)] = seen_at(run, r, run.prox(X, run.eta_t))["vstep2", (r,)]
        Zhat = Z = [run.prox(X, run.eta_t)] * run.C
        total, mean = [zero] * run.C, run.mean(before)
        for t in range(tau + 1) if r <= run.T else ():
            zhat = now["zhat"][t]
            seen["zz", (r, t)], seen["ZZ", (r, t)] = weighted(run, zhat), weighted(run, Zhat)
            seen["zZ", (r, t)] = weighted(run, zhat, Zhat)
            if t < tau:
                g = [run.noisy(r - 1, t, i, Z[i]) for i in n]
                aim = [add((1, g[i]), (Fraction(1, tau), mean), (Fraction(-1, tau), before[i])) for i in n]
                Zhat = [add((1, w), (-eta, a)) for w, a in zip(Zhat, aim, strict=True)]
                Z, total = [run.prox(w, (t + 1) * eta) for w in Zhat], [add((1, total[i]), (1, g[i])) for i in n]
        X, before = add((1, run.prox(X, run.eta_t)), (-run.eta_g * eta, run.mean(total))), total
    return seen


def seen_at(run: Run, r: int, x: Vec) -> Measured:
    """What section 4.1 compares methods by: the step of proximal gradient descent from x, and x itself."""
    step = add((1, run.prox(add((1, x), (-run.eta_t, run.slope(x))), run.eta_t)), (-1, x))
    return {("vstep2", (r,)): dot(step, step)} | {("model", (r, j + 1)): y for j, y in enumerate(x)}


def fedmid(run: Run) -> Measured:
    """Federated mirror descent with |.|^2/2: mirror maps are proximal operators, at the clients and at the server."""
    x, seen = run.w0, Measured()
    for r in range(run.T + 1):
        seen |= seen_at(run, r + 1, x)
        if r < run.T:
            own = [x] * run.C
            for k in range(run.E):
                slopes = [run.noisy(r, k, i, own[i]) for i in range(run.C)]
                own = [run.prox(add((1, z), (-run.eta, g)), run.eta) for z, g in zip(own, slopes, strict=True)]
            change = run.mean([add((1, z), (-1, x)) for z in own])
            x = run.prox(add((1, x), (run.eta_g, change)), run.eta_g * run.eta * run.E)
    return seen


def fedda(run: Run) -> Measured:
    """Federated dual averaging: clients send dual states, of which the primal ones are proximal points."""
    dual, seen = run.w0, Measured()
    for r in range(run.T + 1):
        seen |= seen_at(run, r + 1, run.prox(dual, run.eta_g * run.eta * r * run.E))
        if r < run.T:
            own = [dual] * run.C
            for k in range(run.E):
                so_far = run.eta_g * run.eta * r * run.E + run.eta * k
                points = [run.prox(z, so_far) for z in own]
                own = [add((1, z), (-run.eta, run.noisy(r, k, i, points[i]))) for i, z in enumerate(own)]
            change = run.mean([add((1, z), (-1, dual)) for z in own])
            dual = add((1, dual), (run.eta_g, change))
    return seen


def fedda_restarted(run: Run) -> Measured:
    """Every client runs dual averaging from the server's model; the server averages in the dual space, then prox."""
    x, seen = run.w0, Measured()
    for r in range(run.T + 1):
        seen |= seen_at(run, r + 1, x)
        if r < run.T:
            total = [(Fraction(0),) * len(x)] * run.C
            for k in range(run.E):
                points = [run.prox(add((1, x), (-run.eta, g)), k * run.eta) for g in total]
                total = [add((1, g), (1, run.noisy(r, k, i, points[i]))) for i, g in enumerate(total)]
            x = run.prox(add((1, x), (-run.eta_g * run.eta, run.mean(total))), run.eta_g * run.eta * run.E)
    return seen


def fast_fedda(run: Run) -> Measured:
    """Dual averaging of mu-strongly convex losses: all steps count, step s with the weight (s + a)^2, a = 6 L/mu."""
    x, seen, zero = run.w0, Measured(), (Fraction(0),) * len(run.w0)
    mu, gradients, models, weights = 6 * run.L / run.a, zero, zero, list[Fraction]()
    gamma = mu * run.a**3 / 6

    def least(g: Vec, w: Vec) -> Vec:
        """argmin <g, u> + mu/4 sum alpha |u - w_s|^2 + gamma/2 |u - x^1|^2 + (sum alpha) g(u)."""
        curve = sum(weights) * mu / 2 + gamma
        centre = add((mu / (2 * curve), w), (-1 / curve, g), (gamma / curve, run.w0))
        return run.prox(centre, sum(weights) / curve)

    for r in range(run.T + 1):
        seen |= seen_at(run, r + 1, x)
        if r < run.T:
            own, g, w = [x] * run.C, [gradients] * run.C, [models] * run.C
            for k in range(run.E):
                weights.append((len(weights) + run.a) ** 2)
                slopes = [run.noisy(r, k, i, own[i]) for i in range(run.C)]
                g = [add((1, past), (weights[-1], new)) for past, new in zip(g, slopes, strict=True)]
                w = [add((1, past), (weights[-1], z)) for past, z in zip(w, own, strict=True)]
                own = [least(*sums) for sums in zip(g, w, strict=True)]
            gradients, models = run.mean(g), run.mean(w)
            x = least(gradients, models)
    return seen


def composite_stationary(run: Run) -> Measured:
    seen, star = Measured(), run.w_star
    for now in proposed(run, add((1, star), (-run.eta_t, run.slope(star)))):
        r, P = now["r"], now["P"]
        seen["post2", (r,)], seen["star2", (r,)], seen["post_star", (r,)] = dot(P, P), dot(star, star), dot(P, star)
    return seen


def composite_at_stationary(run: Run) -> Measured:
    seen, star = Measured(), run.w_star
    for now in proposed(run, add((1, star), (-run.eta_t, run.slope(star)))):
        r, P = now["r"], now["P"]
        down = add((-1, run.slope(P)))
        moved = add((1, run.prox(add((1, P), (run.eta_t, down)), run.eta_t)), (-1, P))
        s = add((1, down), (-1 / run.eta_t, moved))
        seen["vstep2", (r,)], seen["still_inner", (r,)] = dot(moved, moved), dot(s, P)
        seen["still_g", (r,)], seen["still_conj", (r,)] = run.g(P), run.conjugate(s)
    return seen


def proximal_step(run: Run) -> Measured:
    x, z, v = run.w0, run.other, add((1 / run.eta_t, run.along))
    plus = run.prox(add((1, x), (-run.eta_t, v)), run.eta_t)
    moved, towards, off = add((1, plus), (-1, x)), add((1, plus), (-1, z)), add((1, z), (-1, x))
    values = {"F_plus": run.F(plus), "F_z": run.F(z), "grad_inner": dot(add((1, run.slope(x)), (-1, v)), towards),
              "step_inner": dot(moved, towards), "plus2": dot(moved, moved), "z2": dot(off, off)}  # fmt: skip
    return {(name, (r,)): value for r in range(1, run.T + 2) for name, value in values.items()}


class Undefined(Exception):
    """A ratio over 0, or clients that tie, between which rounding would choose."""


Choice = Callable[[Run, int, list[Fraction]], list[Fraction]]  # (round, F_i(w_t) - F_i*) -> alpha_t


def by_rows(run: Run, r: int, x: list[Fraction]) -> list[Fraction]:
    weights = run.instance["weights"]
    if weights["kind"] == "largest":
        return fedmax(run, r, x)
    return [Fraction(a) for a in weights["rows"][min(r, len(weights["rows"]) - 1)]]


def fedmax(run: Run, r: int, x: list[Fraction]) -> list[Fraction]:
    if len(set(x)) < len(x):
        raise Undefined
    return [Fraction(y == max(x)) for y in x]


def fedmax_k(run: Run, r: int, x: list[Fraction]) -> list[Fraction]:
    fedmax(run, r, x)  # no ties
    return [Fraction(sorted(x, reverse=True).index(y) < run.K) / run.K for y in x]


def fedsoftmax(run: Run, r: int, x: list[Fraction]) -> list[Fraction]:
    """To the precision of floats."""
    raw = [p * Fraction(math.exp((y - max(x)) / run.temperature)) for p, y in zip(run.p, x, strict=True)]
    return [y / sum(raw) for y in raw]


def averaging(rule: str, choice: Choice) -> Callable[[Run], Measured]:
    """Rules (2) and (4) of Ben Mansour et al.; t counts local steps, and E | t begins a round."""

    def loop(run: Run) -> Measured:
        w, own, alpha, seen = run.w0, [run.w0] * run.C, list(run.p), Measured()
        lowest = [run.value(i, c) for i, c in enumerate(run.minimisers)]
        running: dict[str, list[Fraction]] = {}

        def skew(weights: Any, w: Vec) -> Fraction:
            x = tuple(run.value(i, w) - lowest[i] for i in range(run.C))
            if not dot(run.p, x):
                raise Undefined
            return dot(tuple(weights), x) / dot(run.p, x)

        def extreme(name: str, best: Any, *values: Fraction) -> None:
            running[name] = [best([*running.get(name, []), *values])]

        for t in range(run.T + 1):
            x = [run.value(i, w) - lowest[i] for i in range(run.C)]
            if t % run.E == 0:
                alpha = choice(run, t // run.E, x)
            weights = alpha if t % run.E == 0 or rule == "kept" else list(run.p)
            far, moved = add((1, w), (-1, run.w_star)), add((1, w), (-1, run.w0))
            seen["gap", (t,)], seen["dist2", (t,)], seen["moved2", (t,)] = run.gap(w), dot(far, far), dot(moved, moved)
            for i in range(run.C):
                extreme(f"grad2 {i}", max, run.slope2(t, 0, i, own[i]))
                seen["grad2", (t, i + 1)], seen["excess", (t, i + 1)] = running[f"grad2 {i}"][0], x[i]
            if t == run.T:
                break
            for name, others in (("spread", own), ("spread_star", run.minimisers)):
                apart = [add((1, w), (-1, other)) for other in others]
                seen[name, (t,)] = sum((a * dot(v, v) for a, v in zip(weights, apart, strict=True)), Fraction(0))
            here, there = (
                [run.value(i, v) for i, v in enumerate(own)],
                [run.value(i, run.w_star) for i in range(run.C)],
            )
            for name, least in (("local_excess", lowest), ("local_fall", there)):
                seen[name, (t,)] = sum((a * (v - f) for a, v, f in zip(weights, here, least, strict=True)), Fraction(0))
            seen |= {("alpha", (t, i + 1)): weights[i] for i in range(run.C)}
            off = add((1, w), (-1, add(*zip(weights, own, strict=True))))
            seen["off_mean", (t,)] = dot(off, off)
            extreme("rho_least", min, skew(weights, w))
            extreme("rho_floor", min, skew(weights, w), skew(weights, run.w_star))
            if t % run.E == 0:
                kappa = [a / p for a, p in zip(alpha, run.p, strict=True)]
                extreme("rho_bar", min, skew(alpha, w))
                extreme("rho_run_max", min, skew([Fraction(y == max(x), x.count(max(x))) for y in x], w))
                extreme("rho_tilde", max, skew(alpha, run.w_star))
                for name, values in (("kappa", kappa), ("alpha", alpha)):
                    extreme(f"{name}_min", min, *values)
                    extreme(f"{name}_max", max, *values)
            seen["rho_run", (t,)], seen["rho_run_max", (t,)] = running["rho_bar"][0], running["rho_run_max"][0]
            slopes = [run.noisy(t, 0, i, v) for i, v in enumerate(own)]
            own = [add((1, v), (-run.step(t), g)) for v, g in zip(own, slopes, strict=True)]
            if (t if rule == "printed" else t + 1) % run.E == 0:
                w = add(*zip(alpha, own, strict=True))
                own = [w] * run.C
            else:
                w = add((1, w), (-run.step(t), add(*zip(run.p if rule == "rounds" else weights, slopes, strict=True))))
        constants = [name for name in running if name != "rho_run_max" and not name.startswith("grad2")]
        return seen | {(name, ()): running[name][0] for name in constants} | {("p_min", ()): min(run.p)}

    return loop


def beside_fedmax(run: Run) -> Measured:
    """Two runs from one start."""
    chosen, best = averaging("printed", by_rows)(run), averaging("printed", fedmax)(run)
    own = {key: x for key, x in chosen.items() if key[0] in ("rho_run", "dist2", "grad2")}
    names = {"rho_run": "rho_run_max", "grad2": "grad2_max"}
    return own | {(names[name], place): x for (name, place), x in best.items() if name in names}


def perturbed(run: Run) -> Measured:
    """Algorithm 2: w~ = beta w + (1 - beta) u, and u is the mean over the neighbours of where the last round ended."""
    w, u, seen = run.w0, [run.w0] * run.C, Measured()
    rows = [tuple(Fraction(x) for x in row) for row in run.instance["graph"]]
    for t in range(run.T + 1):
        far = add((1, w), (-1, run.w_star))
        seen["gap", (t,)], seen["dist2", (t,)] = run.gap(w), dot(far, far)
        seen["level", (t,)], seen["excess", (t,)] = run.f(w), run.gap(w)
        for i, j in product(range(run.C), repeat=2):
            off = add((1, u[i]), (-1, u[j]))
            seen["spread", (t, i + 1, j + 1)] = dot(off, off)
        own = [w] * run.C
        for k in range(run.E + 1) if t < run.T else ():
            points = [add((run.beta, x), (1 - run.beta, y)) for x, y in zip(own, u, strict=True)]
            full, centre, claimed = run.slope(run.mean(own)), run.mean(points), run.mean(own)
            seen["slope2", (t, k)] = dot(full, full)
            apart = add((1, centre), (-run.beta, claimed), (run.beta - 1, w))
            seen["mismatch", (t, k)] = dot(apart, apart)
            for n, (x, y) in enumerate(zip(claimed, centre, strict=True)):
                seen["mean", (t, k, n + 1)], seen["centre", (t, k, n + 1)] = x, y
            for i in range(run.C):
                off, away = (add((1, run.mean(own)), (-1, point[i])) for point in (points, own))
                seen["perturbation", (t, k, i + 1)], seen["divergence", (t, k, i + 1)] = dot(off, off), dot(away, away)
                seen["grad2", (t, k, i + 1)] = run.slope2(t, k, i, own[i])
                seen["perturbed2", (t, k, i + 1)] = run.slope2(t, k, i, points[i])
            if k < run.E:
                slopes = [run.noisy(t, k, i, x) for i, x in enumerate(points)]
                own = [add((1, x), (-run.step(t), g)) for x, g in zip(own, slopes, strict=True)]
        w, u = run.mean(own), [add(*zip(row, own, strict=True)) for row in rows]
    return seen


def perturbed_rule(run: Run) -> Measured:
    """The gradient of (4.5) at w~: w~ - beta w^i - (1 - beta) times the mean of where the neighbours ended."""
    w, last, seen = run.w0, [run.w0] * run.C, Measured()
    rows = [tuple(Fraction(x) for x in row) for row in run.instance["graph"]]
    for t in range(run.T):
        own = [w] * run.C
        near = [add(*zip(row, last, strict=True)) for row in rows]  # any weights: not all sum to one here
        u = near if t else last
        for k in range(run.E + 1):
            points = [add((run.beta, x), (1 - run.beta, y)) for x, y in zip(own, u, strict=True)]
            for i, point in enumerate(points):
                slope = add((1, point), (-run.beta, own[i]), (run.beta - 1, near[i]))
                seen["rule_slope2", (t, k, i + 1)] = dot(slope, slope)
            if k < run.E:
                slopes = [run.noisy(t, k, i, x) for i, x in enumerate(points)]
                own = [add((1, x), (-run.step(t), g)) for x, g in zip(own, slopes, strict=True)]
        w, last = run.mean(own), own
    return seen


def thesis_descent(run: Run) -> Measured:
    w, seen = run.w0, Measured()
    for t in range(run.T + 1):
        slope = run.slope(w)
        seen["level", (t,)], seen["descent2", (t,)] = run.f(w), dot(slope, slope)
        w = add((1, w), (-run.step(t), slope)) if t < run.T else w
    return seen


def two_points(run: Run) -> Measured:
    apart, slopes = add((1, run.w0), (-1, run.other)), add((1, run.slope(run.w0)), (-1, run.slope(run.other)))
    values = {"apart2": dot(apart, apart), "slopes_apart2": dot(slopes, slopes)}
    return {(name, (t,)): value for t in range(run.T + 1) for name, value in values.items()}


BOXES: dict[str, Callable[[Run], Measured]] = {
    "fedprox": fedprox,
    "perturbed": perturbed,
    "perturbed-rule": perturbed_rule,
    "gradient-descent": thesis_descent,
    "two-points": two_points,
    "scaffold": scaffold,
    "sampled-fedavg": sampled_fedavg,
    "local-sgd": local_sgd,
    "per-fedavg": per_fedavg,
    "per-fedavg-fo": lambda run: per_fedavg(run, second_order=False),
    "root-sgd": parallel_sgd,
    "gd": gradient_descent,
    "descent": gradient_descent,
    "accelerated": accelerated(lambda _, t: Fraction(t, t + 3)),
    "constant-momentum": accelerated(lambda run, _: (1 - run.q) / (1 + run.q)),
    "optimized-gradient": optimized_gradient,
    "halpern": halpern,
    "line-search": line_search,
    "inexact-descent": inexact_descent,
    "proximal-gradient": proximal(gradient=True),
    "proximal-point": proximal(gradient=False),
    "fedavg-drift": drifting,
    "fedavg-li": li,
    "fedavg-li-sampled": li_sampled,
    "fedlin": fedlin,
    "fedavgm": fedavgm,
    "composite": composite,
    "composite-compact": composite_compact,
    "composite-stationary": composite_stationary,
    "composite-at-stationary": composite_at_stationary,
    "proximal-step": proximal_step,
    "fedmid": fedmid,
    "fedda": fedda,
    "fedda-restarted": fedda_restarted,
    "fast-fedda": fast_fedda,
    **{f"weighted-{rule}": averaging(rule, by_rows) for rule in ("printed", "rounds", "kept")},
    "weighted-beside-fedmax": beside_fedmax,
    "fedmax": averaging("printed", fedmax),
    "fedmax-k": averaging("printed", fedmax_k),
    "fedsoftmax": averaging("printed", fedsoftmax),
}
SAMPLED_SCAFFOLD = replace(
    SCAFFOLD.SCAFFOLD,
    update={
        SCAFFOLD.x: SCAFFOLD.x + SCAFFOLD.eta_g * mean(SCAFFOLD.y - SCAFFOLD.x, over="sampled"),
        SCAFFOLD.c: mean(SCAFFOLD.c_i),
    },
)
TRIED = {m.id: m for m in EVERY if m.id in BOXES} | {"scaffold, sampled": SAMPLED_SCAFFOLD}
ALONG = next(m for m in EVERY if m.id == "per-fedavg")  # lengths are rational along a line
TRIED["per-fedavg, in space"] = replace(
    ALONG, measures={q: number for q, number in ALONG.measures.items() if quantity_name(q) != "drift"}
)


def paths(method: Method, instance: dict[str, Any]) -> Iterator[tuple[Fraction, Run]]:
    """Every path with its probability; where t counts steps, each of them is a t."""
    C, E, T, noise = (instance[name] for name in ("C", "E", "T", "noise"))
    E = 1 if method.clock == "steps" else E
    draws = C * ((2 if method.uses("again") else 1) + ("h" in noise))
    width = [(0,)] if noise["kind"] == "none" else list(product((1, -1), repeat=1 if noise["shared"] else draws))
    everyone = [(1,) * C]
    if "participation" in instance:
        m = instance["participation"]["m"]
        if instance["participation"]["kind"] == "without_replacement":
            everyone = [tuple(int(i in s) for i in range(C)) for s in combinations(range(C), m)]
        else:
            everyone = [tuple(s.count(i) for i in range(C)) for s in product(range(C), repeat=m)]
    steps = noise.get("steps", list(range(T * E)))
    signs, sets = list(product(width, repeat=len(steps))), list(product(everyone, repeat=T))
    for chosen, drawn in product(signs, sets):
        rows = list(zip(steps, chosen, strict=True))
        each = {(n // E, n % E, i): row[i if len(row) > 1 else 0] for n, row in rows for i in range(draws)}
        yield Fraction(1, len(signs) * len(sets)), Run(instance, each, list(drawn), E)


def by_definition(method: Method, instance: dict[str, Any]) -> Measured:
    laws = {quantity_name(q): number.law for q, number in method.measures.items()}
    over = {"expect": sum, "picked_step": sum, "least": min, "most": max}
    seen: dict[tuple[str, tuple[int, ...]], list[Fraction]] = {}
    for chance, run in paths(method, instance):
        for key, x in BOXES[method.id](run).items():
            if key[0] in laws:
                seen.setdefault(key, []).append(chance * x if over[laws[key[0]]] is sum else x)
    return {key: Fraction(over[laws[key[0]]](values)) for key, values in seen.items()}


# --- instances and claims --------------------------------------------------------------------------------------------

small = st.fractions(-2, 2, max_denominator=3)
above = st.fractions(Fraction(1, 4), 2, max_denominator=4)


def text(x: Any) -> Any:
    return [text(entry) for entry in x] if isinstance(x, list | tuple) else str(x)


@st.composite
def instances(draw: Any, method: Method) -> dict[str, Any]:
    """Convex losses of one family whose mean has its minimiser at w_star: the last client sees to that."""
    if method.id.startswith("per-fedavg"):
        return draw(curved(method))
    bent, noisy = draw(st.booleans()), method.uses("noisy") and draw(st.booleans())
    C, d, E, T = (draw(st.integers(1, most)) for most in ((3, 3, 2, 2) if method.clock == "rounds" else (3, 3, 3, 5)))
    if noisy and (16 if method.uses("prox") else MOST_PATHS) < 2 ** (C * E * T):
        C, E, T = min(C, 2), 1 if method.clock == "rounds" else E, min(T, 3)
    weights = [draw(above) for _ in range(C)]
    p = [x / sum(weights) for x in weights] if not method.uses("sampled") else [Fraction(1, C)] * C
    w_star = tuple(draw(small) for _ in range(d))
    clients, centres = list[dict[str, Any]](), list[Vec]()
    for _ in range(C - 1):
        if bent:
            kinks = {n: [draw(above) for _ in range(d)] for n in ("a", "m", "lo", "hi")}
            centres.append(tuple(draw(small) for _ in range(d)))
            clients.append({"kind": "bent", **text_all(kinks), "c": text(centres[-1])})
        else:
            u = [draw(small) for _ in range(d)]
            A = [[u[r] * u[s] + Fraction(r == s) for s in range(d)] for r in range(d)]
            b = tuple(draw(small) for _ in range(d))
            clients.append({"kind": "quadratic", "A": text(A), "b": text(b)})
            centres.append(add((1, b), (-dot(tuple(u), b) / (1 + dot(tuple(u), tuple(u))), tuple(u))))
    regulariser = draw(regularisers()) if method.uses("prox") or method.id == "proximal-step" else None
    extra = {"regulariser": text_all(regulariser)} if regulariser else {}
    a = draw(above)
    slopes = [Run({"clients": clients}, {}, []).grad(i, w_star) for i in range(C - 1)]
    pull = add(*zip(p[:-1], slopes, strict=True)) if slopes else (Fraction(0),) * d
    if extra:  # minus the gradient of f is a subgradient of g
        up, down, ridge = Run(extra, {}, []).sides()
        pull = add((1, pull), (1, tuple((up if x > 0 else -down if x < 0 else 0) + ridge * x for x in w_star)))
    centre = add((1, w_star), (1 / (a * p[-1]), pull))
    if bent:
        flat = {"a": [a] * d, "m": [a] * d, "lo": [Fraction(1)] * d, "hi": [Fraction(1)] * d, "c": list(centre)}
        clients.append({"kind": "bent", **text_all(flat)})
    else:
        A = [[a * (r == s) for s in range(d)] for r in range(d)]
        clients.append({"kind": "quadratic", "A": text(A), "b": text([a * x for x in centre])})
    instance: dict[str, Any] = {
        "C": C, "d": d, "E": E, "T": T, "p": text(p), "w0": text([draw(small) for _ in range(d)]), "constants": {},
        "parameters": {str(s): str(draw(above)) for s in scalars_of(method)}, "clients": clients,
        "noise": {"kind": "none"}, "w_star": text(w_star), **extra,
    }  # fmt: skip
    given = {"proximal-step": ("along", "other"), "inexact-descent": ("first", "second"), "two-points": ("other",)}
    if names := given.get(method.id):
        instance["points"] = {name: text([draw(small) for _ in range(d)]) for name in names}
    if noisy:
        v = text([[draw(small) for _ in range(d)] for _ in range(C)])
        instance["noise"] = {"kind": "signs", "shared": draw(st.booleans()), "v": v}
    if method.uses("sampled"):
        kinds = ("without_replacement", "with_replacement")
        m = draw(st.integers(1, 1 if noisy and C == 3 else C))
        instance["participation"] = {"kind": draw(st.sampled_from(kinds)), "m": m}
    if method.uses("weighted"):
        instance["minimisers"] = text([*centres, centre])
    if method.uses("chosen"):
        shares = [[draw(above) for _ in range(C)] for _ in range((T - 1) // E + 1)]
        rows = [[x / sum(share) for x in share] for share in shares]
        instance["weights"] = draw(st.sampled_from(({"kind": "rows", "rows": text(rows)}, {"kind": "largest"})))
    if "K" in {str(s) for e in method.scalars(()) for s in e.free_symbols}:
        instance["parameters"]["K"] = draw(st.integers(1, C))
    if method.uses("neighbours"):
        instance["graph"] = text([[draw(above) for _ in range(C)] for _ in range(C)])
    arities = {len(q.args) for q in method.steps()}
    if not arities:
        return instance
    steps = dict[str, Any]()
    for step in sorted({q.func.__name__ for q in method.steps()}):
        sizes = [draw(above) if arities == {1} else [draw(above) for _ in range(E)] for _ in range(T)]
        steps[step] = text([small_step(x) for x in sizes])
    return instance | {"steps": steps}


def sparsely(draw: Any, instance: dict[str, Any], method: Method) -> dict[str, Any]:
    """The instance with noise at one or two of its steps, of some of its clients.

    Clients share one sign only where a step draws once: two draws of one step are independent.
    """
    C, d, total = instance["C"], instance["d"], instance["T"] * (1 if method.clock == "steps" else instance["E"])
    steps = sorted(draw(st.sets(st.integers(0, total - 1), min_size=1, max_size=2)))
    last = draw(st.integers(1, C))
    v = text([[draw(small) if i < last else 0 for _ in range(d)] for i in range(C)])
    shared = draw(st.booleans()) and not method.uses("again")
    return instance | {"noise": {"kind": "signs", "shared": shared, "v": v, "steps": steps}}


@st.composite
def curved(draw: Any, method: Method) -> dict[str, Any]:
    """Users that differ by straight lines and multiples of a spline, in coordinates of their own."""
    lines = any(quantity_name(q) == "drift" for q in method.measures)
    C, d, E = draw(st.integers(1, 3)), 1 if lines else draw(st.integers(1, 3)), draw(st.integers(1, 2))
    noisy = draw(st.booleans())
    C, E, T = (min(C, 2), 1, 1) if noisy else (C, E, 1 if E == 2 else draw(st.integers(1, 2)))

    def spline() -> dict[str, Any]:
        x, bend = [draw(small)], [Fraction(0), draw(small), draw(small), Fraction(0)]
        for _ in range(3):
            x.append(x[-1] + draw(above))
        third = [Fraction(0), *((bend[j + 1] - bend[j]) / (x[j + 1] - x[j]) for j in range(3)), Fraction(0)]
        return {"x": text(x), "s": text([third[j + 1] - third[j] for j in range(4)]), "a": "0", "g": str(draw(small))}

    def point() -> Any:
        return text([draw(small) for _ in range(d)])

    base, eta, turn = [spline() for _ in range(d)], [spline() for _ in range(d)], point()
    clients = [{"kind": "curves", "base": base, "eta": eta, "a": point(), "b": point(), "turn": turn} for _ in range(C)]
    quiet, noise = {"kind": "none"}, {"v": [point() for _ in range(C)]} if noisy else {}
    noise |= {"h": [point() for _ in range(C)]} if noisy and method.uses("noisy_hess") and draw(st.booleans()) else {}
    return {
        "C": C, "d": d, "E": E, "T": T, "p": text([Fraction(1, C)] * C), "w0": point(), "constants": {},
        "parameters": {"alpha": str(draw(above)), "beta": str(draw(above) / 4)}, "clients": clients,
        "noise": {"kind": "signs", "shared": False, **noise} if noise else quiet,
        "participation": {"kind": "without_replacement", "m": draw(st.integers(1, C))},
    }  # fmt: skip


@st.composite
def regularisers(draw: Any) -> dict[str, Any]:
    kind = draw(st.sampled_from(("l1", "pinball", "ridge", "none")))
    if kind == "pinball":
        return {"kind": kind, "up": draw(above), "down": draw(above)}
    return {"kind": "l1", "theta": 0} if kind == "none" else {"kind": kind, "theta": draw(above)}


def text_all(parts: dict[str, Any]) -> dict[str, Any]:
    return {name: text(values) for name, values in parts.items()}


def small_step(x: Any) -> Any:
    return [y / 8 for y in x] if isinstance(x, list) else x / 8


def scalars_of(method: Method) -> list[Any]:
    """Free scalars of its rules, beside counts and indices."""
    found = {s for e in method.scalars({q.func.__name__ for q in method.measures}) for s in e.free_symbols}
    found = {s for s in found if not s.is_integer}
    return sorted(found, key=str)


def claim_of(method: Method) -> dict[str, Any]:
    """A claim of no paper that reads every measure, so that the kernel computes all of them."""
    counts = {"t": ("T", 1), "k": ("E", 0), "i": ("C", 0), "j": ("C", 0), "n": ("D", 0)}
    known = {str(s): s for s in method.glossary}
    for_all = {}
    for quantity in method.measures:
        for index in (index for index in quantity.args if str(index) in counts):  # not T, of a whole run
            name, less = counts[str(index)]
            top = known[name] if name in known else method.glossary.count(name, "a size")
            low = {"i": 1, "j": 1, "n": 1, "t": method.counts_from}.get(str(index), 0)
            for_all[index] = (low, top - less + (method.counts_from if str(index) == "t" else 0))
    then = tuple(Le(quantity, 0, evaluate=False) for quantity in method.measures)
    made = Statement(
        id="test/free", kind="inequality", title="t", cite="t", method=method, glossary=method.glossary, then=then,
        for_all=for_all,
    )  # fmt: skip
    return unchecked(made).claim


CLAIMS = {name: claim_of(method) for name, method in TRIED.items()}


def in_arrays(xp: Any, claim: dict[str, Any], instance: dict[str, Any]) -> dict[str, Any]:
    """The measures as the array interpreter computes them."""

    def floats(x: Any) -> Any:
        return [floats(entry) for entry in x] if isinstance(x, list) else float(Fraction(x))

    def on(x: Any) -> Any:
        return xp.asarray(floats(x), dtype=xp.float64)

    kind, first = instance["clients"][0]["kind"], instance["clients"][0]
    names = {"quadratic": ("A", "b"), "curves": ("a", "b")}.get(kind, ("a", "m", "lo", "hi", "c"))
    parts = {name: on([[client[name] for client in instance["clients"]]]) for name in names}
    if kind == "curves":
        parts = {"tilt": parts["a"], "twist": parts["b"], "turn": on([first["turn"]])}
        parts |= {
            f"{n}_{k}": on([[part[k] for part in first[n]]]) for n in ("base", "eta") for k in ("x", "s", "a", "g")
        }
    problem = losses()["shelf" if kind == "curves" else kind].problem(parts, on([instance["p"]]))
    sizes = {name: instance[name] for name in ("C", "E", "T")}
    scalars = {name: np.array([float(Fraction(x))]) for name, x in instance["parameters"].items()}
    steps = {name: np.asarray(on([rows])) for name, rows in instance.get("steps", {"gamma": []}).items()}
    table = Table(1, scalars, {name: Quantity(x, (0,) * (x.ndim - 1)) for name, x in steps.items()}, sizes)
    begins = claim["method"].get("counts_from", 0)

    def scalar(tree: Any) -> Any:
        ranges = {"t": (str(begins), str(begins + sizes["T"] - 1)), "k": ("0", str(sizes["E"] - 1))}
        return xp.asarray(Evaluator(table, ranges)(tree), dtype=xp.float64)

    noise, sampled, weights = instance["noise"], instance.get("participation"), instance.get("weights", {})
    g = Run(instance, {}, []).sides() if "regulariser" in instance else None
    regulariser = None if g is None else Regulariser(*(on([x]) for x in text(g)), not g[0] and not g[1], on([1]))
    setup = Setup(
        problem, on([instance["w0"]]), scalar, sizes["E"], sizes["T"],
        v=on([noise["v"]]) if noise["kind"] == "signs" else None, shared=noise.get("shared", False),
        noisy_steps=tuple(noise["steps"]) if "steps" in noise else None, loud=loud(noise),
        h=on([noise["h"]]) if "h" in noise else None,
        sampling=(sampled["kind"], sampled["m"]) if sampled else None,
        w_star=on([instance["w_star"]]) if "w_star" in instance else None,
        regulariser=regulariser, points={name: on([x]) for name, x in instance.get("points", {}).items()},
        rows=on([weights["rows"]]) if "rows" in weights else None,
        graph=on([instance["graph"]]) if "graph" in instance else None,
    )  # fmt: skip
    return run_arrays(claim["method"], setup)


def loud(noise: dict[str, Any]) -> int | None:
    """So many clients, from the first on, that all others are without noise."""
    rows = zip(noise.get("v", []), noise.get("h", noise.get("v", [])), strict=True)
    return max((i + 1 for i, (v, h) in enumerate(rows) if any(map(Fraction, (*v, *h)))), default=None)


def agree(name: str, instance: dict[str, Any], libraries: tuple[Any, ...]) -> None:
    measures = CLAIMS[name]["method"]["measures"]
    try:
        exact = {key: x for key, x in by_definition(TRIED[name], instance).items() if key[0] in measures}
    except Undefined:
        return
    assert {q for q, _ in exact} == set(measures), "the loop leaves out a measure"
    if TRIED[name].uses("softmax"):
        with pytest.raises(kernel.Rejected, match="irrational"):
            kernel.world(CLAIMS[name], instance)
    else:
        world = kernel.world(CLAIMS[name], instance)
        for (quantity, place), x in exact.items():
            found = world.at(quantity, place) if place else world.value(quantity)
            assert Fraction(int(found.p), int(found.q)) == x, (quantity, place)
    for xp in libraries:
        measured = in_arrays(xp, CLAIMS[name], instance)
        for (quantity, place), x in exact.items():
            starts = {"i": 1, "j": 1, "n": 1, "k": 0, "t": TRIED[name].counts_from, "T": instance["T"]}
            pairs = zip(place, indices(name, quantity), strict=True)
            at = (0, *(n - starts[index] for n, index in pairs))
            assert float(measured[quantity][at if place else 0]) == pytest.approx(float(x), rel=1e-9, abs=1e-9), (
                quantity,
                place,
            )


def indices(name: str, quantity: str) -> list[str]:
    return CLAIMS[name]["method"]["measures"][quantity]["at"]


# --- they agree ------------------------------------------------------------------------------------------------------


def test_every_method_that_is_found_has_a_loop_by_definition() -> None:
    elsewhere = {  # on data points: tests/papers/test_yuan_method.py; with a coin: tests/kernel/test_coin.py
        "fedmspp",
        "proxskip",
    }
    assert {m.id for m in EVERY} <= set(BOXES) | elsewhere, (
        "write the loop of its algorithm box, straight from the paper"
    )


@pytest.mark.parametrize("name", TRIED)
@given(data=st.data())
@settings(max_examples=examples(12), deadline=None, derandomize=True)
def test_kernel_and_arrays_do_what_the_box_says(name: str, data: st.DataObject) -> None:
    agree(name, data.draw(instances(TRIED[name])), (np, array_api_strict))


COUNTING_STEPS = [name for name, method in TRIED.items() if method.clock == "steps"]


@pytest.mark.parametrize("name", only(["fedavg-li", "weighted-kept"], COUNTING_STEPS, "the same of every method"))
@given(data=st.data())
@settings(max_examples=examples(12), deadline=None, derandomize=True)
def test_steps_that_are_measured_in_several_pieces_are_what_the_box_says(name: str, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("fedaudit.problems.runs.recorder.SCRATCH", 1)
        agree(name, data.draw(instances(TRIED[name])), (np,))


NOISY = [name for name, method in TRIED.items() if method.uses("noisy") and not method.uses("noisy_hess")]


@pytest.mark.parametrize("name", some(NOISY, 9, "the same of every method"))
@given(data=st.data())
@settings(max_examples=4, deadline=None, derandomize=True)
def test_kernel_and_arrays_do_what_the_box_says_with_noise_at_a_few_steps(name: str, data: st.DataObject) -> None:
    agree(name, sparsely(data.draw, data.draw(instances(TRIED[name])), TRIED[name]), (np, array_api_strict))


@JAX
@pytest.mark.parametrize("name", TRIED)
@given(data=st.data())
@settings(max_examples=2, deadline=None, derandomize=True)  # every shape of every operation is compiled
def test_kernel_and_jax_do_what_the_box_says(name: str, data: st.DataObject) -> None:
    agree(name, data.draw(instances(TRIED[name])), (library("jax"),))


@slow("many random instances of every method")
@pytest.mark.parametrize("name", TRIED)
@given(data=st.data())
@settings(max_examples=examples(60), deadline=None)
def test_kernel_and_arrays_do_what_the_box_says_often(name: str, data: st.DataObject) -> None:
    agree(name, data.draw(instances(TRIED[name])), (np,))


def test_a_slip_in_a_rule_is_seen() -> None:
    """The comparison can fail: of a method whose local step forgets c, some measure differs."""
    y, c_i, t = SCAFFOLD.y, SCAFFOLD.c_i, SCAFFOLD.t
    slip = replace(SCAFFOLD.SCAFFOLD, local={y: y - SCAFFOLD.gamma(t) * (SCAFFOLD.fa.grad(y) - c_i)})
    instance = plain()
    exact, world = by_definition(SCAFFOLD.SCAFFOLD, instance), kernel.world(claim_of(slip), instance)
    assert any(Fraction(str(world.at(q, place))) != value for (q, place), value in exact.items())


# --- what the kernel refuses -----------------------------------------------------------------------------------------


def plain() -> dict[str, Any]:
    clients = [{"kind": "quadratic", "A": [[a]], "b": [b]} for a, b in ((1, 1), (2, "-1/2"))]
    return {
        "C": 2, "d": 1, "E": 2, "T": 2, "p": ["1/2", "1/2"], "w0": ["1"], "constants": {}, "parameters": {"eta_g": 1},
        "clients": clients, "noise": {"kind": "none"}, "w_star": ["1/6"], "steps": {"gamma": ["1/4", "1/8"]},
    }  # fmt: skip


def changed(raw: Any, place: tuple[Any, ...], value: Any) -> Any:
    raw = copy.deepcopy(raw)
    here = raw
    for key in place[:-1]:
        here = here[key]
    if value is None:
        del here[place[-1]]
    else:
        here[place[-1]] = value
    return raw


def noisy_at(*steps: int) -> dict[str, Any]:
    return {"kind": "signs", "shared": False, "v": [["1"], ["0"]], "steps": [*steps]}


IN_METHOD = {
    "another client where there is none": (("measures", "gap", "terms"), [[1, ["norm2", ["other", "c_i"]]]]),
    "a coordinate where there is none": (("measures", "gap", "terms"), [[1, ["inner", "x", ["axis"]]]]),
    "another client in a rule": (("local", "y"), ["other", "y"]),
    "a coordinate in a start": (("server", "x"), ["axis"]),
    "another client without one's own": (("measures", "gap", "at"), ["t", "j"]),
    "an unknown operation": (("local", "y"), ["blur", "y"]),
    "an unknown vector": (("local", "y"), "z"),
    "a client's vector at the server": (("update", "x"), "y"),
    "a gradient at the server": (("update", "x"), ["grad", "x"]),
    "noise at the server": (("update", "x"), ["mean", ["noisy", "y"]]),
    "noise after the local steps": (("end", "c_i"), ["noisy", "c_i"]),
    "two calls of the oracle in a step": (("local", "y"), ["+", ["noisy", "y"], ["noisy", "x"]]),
    "neighbours without a graph": (("local", "y"), ["neighbours", "y"]),
    "a rule for another's vector": (("local", "x"), "x"),
    "two arguments of a gradient": (("local", "y"), ["grad", "y", "y"]),
    "a sum of nothing": (("local", "y"), ["+"]),
    "no rules of a phase": (("local",), None),
    "a vector of both": (("client", "x"), ["zero"]),
    "a start that reads a client": (("server", "x"), "y"),
    "a measure of nothing": (("measures", "gap", "terms"), []),
    "a measure along another index": (("measures", "gap", "at"), ["s"]),
    "a measure of what is not kept": (("measures", "gap", "terms"), [[1, ["norm2", ["mean", "y"]]]]),
    "a round before of what is no step size": (("before",), {"earlier": "eta"}),
    "a round before under the name of a measure": (("before",), {"gap": "gamma"}),
    "a step size that nothing gives": (("local", "y"), ["*", ["at", "eta", "t"], "y"]),
}
IN_INSTANCE = {
    "a constant under the name Gamma": (("constants", "Gamma"), "1"),
    "a constant under the name C": (("constants", "C"), "1"),
    "a constant under the name E": (("constants", "E"), "1"),
    "a constant under the name T": (("constants", "T"), "1"),
    "a constant under the name D": (("constants", "D"), "1"),
    "a constant under the name m": (("constants", "m"), "1"),
    "a parameter under the name E": (("parameters", "E"), "1"),
    "a parameter that nobody reads": (("parameters", "beta"), "1"),
    "a missing parameter": (("parameters", "eta_g"), None),
    "missing steps": (("steps",), None),
    "too few steps": (("steps", "gamma"), ["1/4"]),
    "a step that is not positive": (("steps", "gamma"), ["1/4", "0"]),
    "superfluous steps": (("steps", "eta"), ["1/4", "1/8"]),
    "sampled clients where none are meant": (("participation",), {"kind": "without_replacement", "m": 1}),
    "a point that is no minimiser": (("w_star",), ["1/5"]),
    "an unknown loss": (("clients", 0, "kind"), "cubic"),
    "noise of one client": (("noise",), {"kind": "signs", "shared": False, "v": [["1"]]}),
    "noise at no step": (("noise",), noisy_at()),
    "noise after the last step": (("noise",), noisy_at(4)),
    "noise at a step twice": (("noise",), noisy_at(1, 1)),
    "noise at steps in disorder": (("noise",), noisy_at(2, 1)),
}


def refused(claim: Any, instance: Any) -> str:
    def ask() -> None:
        kernel.world(claim, instance).at("gap", (2,))

    with pytest.raises((kernel.Malformed, kernel.Rejected)) as error:
        ask()
    return str(error.value)


def test_the_plain_instance_is_read() -> None:
    assert kernel.world(CLAIMS["scaffold"], plain()).at("gap", (2,)) >= 0


@pytest.mark.parametrize("what", IN_METHOD)
def test_the_kernel_refuses_a_method_with(what: str) -> None:
    place, value = IN_METHOD[what]
    said = refused(changed(CLAIMS["scaffold"], ("method", *place), value), plain())
    assert "expected" in said


@pytest.mark.parametrize("what", IN_INSTANCE)
def test_the_kernel_refuses_an_instance_with(what: str) -> None:
    place, value = IN_INSTANCE[what]
    assert "expected" in refused(CLAIMS["scaffold"], changed(plain(), place, value))


# --- certificates of runs --------------------------------------------------------------------------------------------

FOLDER = TESTS / "certificates" / "run"
CERTIFICATES = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
SOURCES = {"scaffold-descent": "scaffold.py", "sampled-fedavg-contraction": "sampled_fedavg.py"}


@pytest.mark.parametrize("name", some(CERTIFICATES, 3, "every certificate of a run"))
def test_certify_accepts_the_certificate_and_no_other_method(name: str) -> None:
    sources = [str(EXAMPLES / SOURCES[name])] if name in SOURCES else []
    assert certify(CERTIFICATES[name], name, sources)["accepted"]
    method = CERTIFICATES[name]["claim"]["method"]
    vector, rule = next(iter(method["local"].items()))
    for place, value in ((("local", vector), ["+", rule, ["zero"]]), (("id",), "other"), (("end",), {})):
        if place == ("end",) and not method["end"]:
            continue
        row = certify(changed(CERTIFICATES[name], ("claim", "method", *place), value), name, sources)
        assert not row["accepted"]
        assert "another claim" in row["reason"]


@pytest.mark.parametrize("name", some(CERTIFICATES, 10, "mutants of every certificate of a run"))
def test_certificates_of_runs_mutated(name: str, record_property: Callable[[str, object], None]) -> None:
    log = Log()
    for what, mutant in mutants(CERTIFICATES[name], 60, f"run {name}", pool()):
        log.ask(what, lambda mutant=mutant: kernel.check(mutant))
    log.judge(record_property)
    assert SECONDS <= 10  # what `ask` allows a mutant


@pytest.mark.parametrize("name", [name for name, one in CERTIFICATES.items() if one["claim"]["method"]["begin"]])
def test_a_rule_of_begin_that_reads_what_begin_replaces_is_malformed(name: str) -> None:
    """Seen in fuzzing: a KeyError instead."""
    vector = next(iter(CERTIFICATES[name]["claim"]["method"]["begin"]))
    with pytest.raises(kernel.Malformed, match=rf"method.begin.{vector}: got \['{vector}'\]"):
        kernel.check(changed(CERTIFICATES[name], ("claim", "method", "begin", vector), vector))
