"""Sampled clients on quadratics: the first two moments of the state follow one matrix, for 10^9 rounds too."""

from dataclasses import dataclass, replace
from typing import Any

from .arrays import Array, matvec
from .mapped import Mapped
from .quadratics import Quadratics
from .scope import ROUNDS, Measured, Place, Scope, draws, initial
from .walked import Walked


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Affine rounds, one map z' = M z + c for every draw of clients: y = (1, E z, E z z') follows a matrix.

    What is picked is a linear function of the mean of y over all rounds, a sum of powers by repeated squaring.
    """

    scope: Scope

    def measures(self) -> Measured:
        scope, xp, setup = self.scope, self.scope.xp, self.scope.setup
        picked = {name: m for name, m in scope.rules.measures.items() if m.law == "picked"}
        others = {name: m for name, m in scope.rules.measures.items() if m.law != "picked"}
        first = replace(scope, rules=replace(scope.rules, measures=others), setup=replace(setup, T=1, sampling=None))
        measured = Walked(first).measures() if others else {}
        if (
            "zero" not in scope.rules.ops
        ):  # seen from the start, where clients that nearly agree do not cancel, and then
            problem, away = setup.problem, matvec(xp, setup.problem.A, setup.start[:, None, :])
            near = Quadratics(problem.A, problem.b - away, problem.p)
            centre = near.minimiser()  # and then from where the mean comes to rest, beside which variances are small
            centre = xp.where(xp.isfinite(centre), centre, 0 * centre)
            near = Quadratics(problem.A, near.b - matvec(xp, problem.A, centre[:, None, :]), problem.p)
            scope = replace(scope, setup=replace(setup, problem=near, start=-centre, w_star=None), constants={})
        mapped, start = Mapped(scope), initial(scope)
        z = mapped.flat([start[name][0, ...] for name in scope.rules.kept])
        before = mapped.identity(start, z.shape[-1], 0)
        wide = replace(scope, columns=1 + z.shape[-1], constants={})
        C = setup.problem.C
        step: Any = 0.0
        for counts, chance in draws(C, *(setup.sampling or ("without_replacement", C))):
            place = Place(before, ROUNDS, 0, counts=xp.asarray([counts], dtype=xp.float64))
            place = replace(place, state=wide.carried(place, "begin"), known={})
            after = wide.carried(place, "update")
            flat = mapped.flat([after[name] for name in scope.rules.kept])[:, 0, ...]  # (1 + D, n, D)
            step = step + chance * self.lifted(xp.permute_dims(flat, (1, 2, 0)))
        y = self.lifted(z[..., None])[..., 0]
        y = matvec(xp, self.powers(step), y) / setup.T
        for name, measure in picked.items():
            total: Any = 0.0
            for index, atom in measure.terms:
                x = wide.linear(atom.args[0], Place(before, ROUNDS, 0))[:, 0, :, 0, :]  # (1 + D, n, d)
                rows = self.lifted(xp.permute_dims(x, (1, 2, 0)))
                d = x.shape[-1]
                form = xp.sum(xp.stack([rows[:, 1 + d + k * d + k, :] for k in range(d)]), axis=0)
                factor = scope.here(index, Place({}, 0, 0))
                total = total + (factor if isinstance(factor, float) else factor[..., 0]) * xp.sum(form * y, axis=-1)
            measured[name] = total[:, None]
        return measured

    def lifted(self, x: Array) -> Array:
        """The rows (1, x, x x') as functions of (1, z, z z'), for x (n, d, 1 + D) or constants (n, d, 1)."""
        xp = self.scope.xp
        n, d, width = x.shape
        D = width - 1
        one = xp.concat([xp.ones((n, 1, 1)), xp.zeros((n, 1, D + D * D))], axis=-1)
        linear = xp.concat([x, xp.zeros((n, d, D * D))], axis=-1)
        pairs = x[:, :, None, :, None] * x[:, None, :, None, :]  # (n, d, d, 1 + D, 1 + D)
        pairs = xp.reshape(pairs, (n, d * d, width, width))
        cross = pairs[..., :1, 1:][..., 0, :] + pairs[..., 1:, :1][..., 0]
        square = xp.reshape(pairs[..., 1:, 1:], (n, d * d, D * D))
        return xp.concat([one, linear, xp.concat([pairs[..., 0, :1], cross, square], axis=-1)], axis=1)

    def powers(self, step: Array) -> Array:
        """1 + step + ... + step^(T - 1).

        What a power lacks to the identity is followed, not the power: near 1, rounding would grow with T.
        """
        xp = self.scope.xp
        one = xp.eye(step.shape[-1], dtype=xp.float64) + 0 * step
        fall, lack, sums = one - step, 0 * step, 0 * step
        for bit in bin(self.scope.setup.T)[2:]:
            sums, lack = 2 * sums - xp.matmul(lack, sums), 2 * lack - xp.matmul(lack, lack)
            if bit == "1":
                sums, lack = sums + one - lack, lack + fall - xp.matmul(lack, fall)
        return sums
