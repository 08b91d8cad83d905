"""What local steps do to quadratics, read from a method's rules.

Where clients do not meet and one vector y moves, a step is y <- B_i y + r_i with a polynomial B_i in A_i. E of them are
y + S_i (B_i y + r_i - y) with S_i = sum_{m<E} B_i^m, so that a round is one affine map of the server's vectors.

A vector is held as a form: a sum of coefficients times powers of A_i, perhaps times S_i, times a vector or b_i.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..arrays.array_checks import (
    Array,
    Namespace,
    add_identity,
    all_true,
    check_local_steps,
    is_numpy,
    matvec,
    namespace,
    spread_to,
)
from ..losses.quadratics import Quadratics
from .compiled_method import ONE, Coefficient, Linear, Operation, Programme, added, times

Key = tuple[str, int, bool]  # a vector of the state, or "" for b_i; the power of A_i before it; whether S_i is
Form = dict[Key, Coefficient]
Evaluated = Callable[[Coefficient], Array]  # a number, or (n or 1,)
MINUS: Coefficient = ((Fraction(-1), ()),)
AHEAD = 64  # rounds that are advanced together
FEW = 16  # rounds that are taken one by one
POWERED = 1 << 18  # bytes of A_i that are powered together, so that all that is at hand stays in cache
SMALL, TINY = 12, 3  # dimensions between which sums along the clients beat one product for each of them
WIDE = 1 << 13  # numbers of a round's iterates, beyond which eigenvectors may be worth their cost
LONG, TURNS = 500, 3  # steps that they have to save, and products that they take per round


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """A local step as `name` <- `name` + N_i `name` + r_i."""

    name: str
    slope: tuple[Coefficient, ...]  # N_i by powers of A_i
    rest: Form  # r_i


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """Every vector of the server after a round: a form of the old ones, and the mean of forms over the clients."""

    slope: tuple[Coefficient, ...]
    own: Mapping[str, Form]
    mean: Mapping[str, Form]


@lru_cache(maxsize=256)
def local(rules: Programme) -> Local | None:
    """The local step, where it is of this kind."""
    if len(rules.phases["local"]) != 1:
        return None
    name, rule = next(iter(rules.phases["local"].items()))
    form = formed(rules, rule, {})
    if form is None:
        return None
    own = {power: coefficient for (vector, power, _), coefficient in form.items() if vector == name}
    own[0] = added(own.get(0, ()), MINUS)
    slope = tuple(own.get(power, ()) for power in range(max(own) + 1))
    return Local(name, slope, {key: coefficient for key, coefficient in form.items() if key[0] != name})


@lru_cache(maxsize=256)
def server_round(rules: Programme) -> Round | None:
    """A whole round, where only the server's vectors are kept and clients meet in means alone."""
    step, begun = local(rules), _all_formed(rules, "begin", {})
    if step is None or begun is None or step.name not in begun or any(name not in rules.server for name in rules.kept):
        return None
    first = _all_formed(rules, "local", begun)
    assert first is not None
    moved = plus(first[step.name], begun[step.name], MINUS)
    stepped: Form = {(name, power, True): coefficient for (name, power, _), coefficient in moved.items()}
    by_name = begun | {step.name: plus(begun[step.name], stepped, ONE)}
    ended = _all_formed(rules, "end", by_name)
    if ended is None:
        return None
    by_name |= ended
    own: dict[str, Form] = {name: {(name, 0, False): ONE} for name in rules.kept}
    mean: dict[str, Form] = {name: {} for name in rules.kept}
    for target, rule in rules.phases["update"].items():
        own[target] = {}
        for index, operation in rule.terms:
            coefficient, average = rules.coefficients[index], operation.op == "mean"
            form = formed(rules, operation.args[0], by_name) if average else _inside(rules, operation, {})
            if form is None or not (average or operation.op in ("name", "zero")):
                return None
            for key, inside in form.items():  # weights sum to one
                total = mean if key[1:] != (0, False) or key[0] == "" else own
                total[target] = plus(total[target], {key: inside}, coefficient)
    names = {key[0] for form in (*own.values(), *mean.values()) for key in form}
    return Round(step.slope, own, mean) if names <= {"", *rules.server} else None


def _all_formed(rules: Programme, phase: str, by_name: Mapping[str, Form]) -> dict[str, Form] | None:
    forms = {name: formed(rules, rule, by_name) for name, rule in rules.phases[phase].items()}
    return {name: form for name, form in forms.items() if form is not None} if None not in forms.values() else None


def formed(rules: Programme, rule: Linear, by_name: Mapping[str, Form]) -> Form | None:
    """A rule at a client as a form, without noise; vectors that have a form `by_name` are replaced by it."""
    total: Form = {}
    for index, operation in rule.terms:
        inside = _inside(rules, operation, by_name)
        if inside is None:
            return None
        total = plus(total, inside, rules.coefficients[index])
    return total


def _inside(rules: Programme, operation: Operation, by_name: Mapping[str, Form]) -> Form | None:
    match operation.op:
        case "name":
            return by_name.get(operation.name, {(operation.name, 0, False): ONE})
        case "zero":
            return {}
        case "noisy":
            return formed(rules, operation.args[0], by_name)
        case "grad":
            at = formed(rules, operation.args[0], by_name)
            slope = None if at is None else {(name, power + 1, s): c for (name, power, s), c in at.items()}
            return None if slope is None else plus(slope, {("", 0, False): ONE}, MINUS)
        case _:
            return None


def plus(one: Form, other: Form, factor: Coefficient) -> Form:
    """one + factor other."""
    total = dict(one)
    for key, coefficient in other.items():
        total[key] = added(total.get(key, ()), times(factor, coefficient))
    return {key: coefficient for key, coefficient in total.items() if coefficient}


def geometric(N: Array, E: int) -> Array:
    """S_E = sum_{m<E} (I + N)^m by repeated doubling, with Q = N S_n: S_2n = S_n (2 I + Q), S_{n+1} = I + S_n + Q.

    Large matrices take both in one product: S_{2n+1} = I + (S_n + Q) (2 I + Q).
    """
    check_local_steps(E)
    xp = namespace(N)
    if E == 1:
        return xp.broadcast_to(xp.eye(N.shape[-1], dtype=xp.float64), N.shape)
    total = _raised(xp, N + 0.0, 2.0)  # S_2
    # The leading bit is S_1 and its doubling is S_2, which is there already: hence the exceptions at place 0.
    for place, bit in enumerate(bin(E)[3:]):
        at_once = bit == "1" and place > 0 and N.shape[-1] >= SMALL
        if place > 0:
            Q = xp.matmul(N, total)
            total = xp.matmul(total + Q if at_once else total, _raised(xp, Q, 2.0))
        if at_once:
            total = _raised(xp, total, 1.0)
        elif bit == "1":
            total = total + _raised(xp, xp.matmul(N, total), 1.0)
    return total


def _raised(xp: Namespace, x: Array, times: Array) -> Array:
    """x + times I, of an x that nobody else holds: on the diagonal of NumPy's own arrays it is written in place."""
    if type(x) is not np.ndarray:
        return add_identity(xp, x, times)
    diagonal = np.einsum("...ii->...i", x)
    diagonal += times if isinstance(times, float) else times[..., None]
    return x


def _wide(x: Array, axes: int) -> Array:
    """A number, or (n or 1,), against (n, C, ...)."""
    return x if isinstance(x, float) else x[(..., *(None,) * axes)]


def polynomial(xp: Namespace, A: Array, slope: Sequence[Array]) -> Array:
    """N_i (.., C, d, d)."""
    total, power = _wide(slope[1], 3) * A if len(slope) > 1 else xp.zeros_like(A), A
    for coefficient in slope[2:]:
        power = xp.matmul(power, A)
        total = total + _wide(coefficient, 3) * power
    if not isinstance(slope[0], float) and slope[0].shape[0] > 1:
        return add_identity(xp, xp.broadcast_to(total, (*slope[0].shape, *A.shape[-3:])), _wide(slope[0], 1))
    return _raised(xp, total, _wide(slope[0], 1))


def server_map(
    problem: Quadratics, one: Round, kept: Sequence[str], number: Evaluated, n: int, E: int
) -> tuple[Array, Array]:
    """z' = M z + c of the kept vectors, one after the other: M (n, D, D), c (n, D)."""
    xp, d = namespace(problem.A), problem.d
    sums = _sums(xp, problem, {(key[0] == "", *key[1:]) for form in one.mean.values() for key in form}, one, number, E)
    eye = xp.eye(d, dtype=xp.float64)
    rows: list[Array] = []
    offsets: list[Array] = []
    for target in kept:
        blocks = {source: xp.zeros((n, d, d), dtype=xp.float64) for source in kept}
        offset = xp.zeros((n, d), dtype=xp.float64)
        for (source, *_), coefficient in one.own[target].items():
            blocks[source] = blocks[source] + _wide(number(coefficient), 2) * eye
        for (source, power, stepped), coefficient in one.mean[target].items():
            total = sums[source == "", power, stepped]
            if source:
                blocks[source] = blocks[source] + _wide(number(coefficient), 2) * total
            else:
                offset = offset + _wide(number(coefficient), 1) * total
        rows.append(xp.concat(list(blocks.values()), axis=-1))
        offsets.append(offset)
    return xp.concat(rows, axis=-2), xp.concat(offsets, axis=-1)


def _sums(
    xp: Namespace, problem: Quadratics, wanted: set[tuple[bool, int, bool]], one: Round, number: Evaluated, E: int
) -> dict[tuple[bool, int, bool], Array]:
    """sum_i p_i S_i A_i^power, or the same times b_i, with or without S_i: (.., d, d) or (.., d)."""
    slope = [number(coefficient) for coefficient in one.slope]
    uniform = all_true(xp, problem.p == problem.p[..., :1])  # then p_i comes out of the sum
    sums: dict[tuple[bool, int, bool], Array] = {}
    for clients in _client_blocks(problem):
        A, b = problem.A[..., clients, :, :], problem.b[..., clients, :]
        weights = xp.ones_like(problem.p[..., clients]) if uniform else problem.p[..., clients]
        S = geometric(polynomial(xp, A, slope), E)
        row = xp.matrix_transpose(_rows(xp, S if uniform else weights[..., None, None] * S))  # S_i is symmetric
        for ends, power, stepped in wanted:
            right = b[..., None] if ends else None
            for _ in range(power):
                right = A if right is None else xp.matmul(A, right)
            if right is None:
                right = xp.broadcast_to(xp.eye(problem.d, dtype=xp.float64), A.shape)
            total = xp.matmul(row, _rows(xp, right)) if stepped else xp.sum(weights[..., None, None] * right, axis=-3)
            key = ends, power, stepped
            sums[key] = sums[key] + total if key in sums else total
    scaled = {key: problem.p[..., 0, None, None] * total if uniform else total for key, total in sums.items()}
    return {key: total[..., 0] if key[0] else total for key, total in scaled.items()}


def _client_blocks(problem: Quadratics) -> list[slice]:
    """Clients in blocks whose matrices stay in cache while S_E is built."""
    size = max(1, POWERED * problem.C // (8 * problem.A.size))
    return [slice(j, min(j + size, problem.C)) for j in range(0, problem.C, size)]


def _rows(xp: Namespace, x: Array) -> Array:
    """(.., C, d, e) -> (.., C d, e)."""
    return xp.reshape(x, (*x.shape[:-3], x.shape[-3] * x.shape[-2], x.shape[-1]))


def states(M: Array, c: Array, z: Array, T: int, ahead: int) -> Iterator[tuple[int, Array]]:
    """z (n, D) before the rounds 0..T in blocks (its first round, (rounds, n, D)), so that memory does not grow with T.

    By doubling: r rounds that are known and the map over r rounds give 2r.
    """
    xp = namespace(z)
    if FEW > T:
        rounds = [z]
        for _ in range(T):
            rounds.append(matvec(xp, M, rounds[-1]) + c)
        yield 0, xp.stack(rounds)
        return
    block, slope, add = z[..., None], M, c[..., None]
    while block.shape[-1] < min(ahead, T + 1):
        block = xp.concat([block, xp.matmul(slope, block) + add], axis=-1)
        slope, add = xp.matmul(slope, slope), xp.matmul(slope, add) + add
    for t in range(0, T + 1, block.shape[-1]):
        if t > 0:
            block = xp.matmul(slope, block) + add
        yield t, xp.moveaxis(block[..., : min(block.shape[-1], T + 1 - t)], -1, 0)


def along_eigenvectors(n: int, C: int, d: int, E: int, rounds: int) -> bool:
    """Whether steps on NumPy's arrays multiply by eigenvalues, and each round turns into eigenvectors and back."""
    return TINY < d < SMALL and n * C * d > WIDE and rounds * (E - TURNS) > LONG


@dataclass(frozen=True, slots=True, eq=False)
class Stepper:
    """All local steps of a round, one by one; clients of all instances are rows."""

    xp: Namespace
    B: Array  # (rows, d, d), or (d, d, rows) if `last`
    last: bool  # whether rows are the fastest axis
    values: Array = None  # (d, rows): eigenvalues, where B (d, d, rows) are the eigenvectors instead

    @staticmethod
    def of(problem: Quadratics, slope: Sequence[Array], n: int, E: int, rounds: int) -> "Stepper":
        """For so many rounds of E steps: where those are many, each step is taken along the eigenvectors."""
        xp, d = namespace(problem.A), problem.d
        each = add_identity(xp, polynomial(xp, problem.A, slope), 1.0)
        B = xp.reshape(xp.broadcast_to(each, (n, problem.C, d, d)), (-1, d, d))
        if not (is_numpy(xp) and TINY < d < SMALL):
            return Stepper(xp, B, last=False)
        if along_eigenvectors(n, problem.C, d, E, rounds) and all_true(xp, np.isfinite(B)):
            # B_i is a polynomial in A_i, and so symmetric.
            values, vectors = np.linalg.eigh(B)
            return Stepper(xp, np.ascontiguousarray(np.moveaxis(vectors, 0, -1)), True, np.ascontiguousarray(values.T))
        return Stepper(xp, np.ascontiguousarray(np.moveaxis(B, 0, -1)), last=True)

    def laid(self, x: Array) -> Array:
        """A vector (n, C, d) as it is best read: (d, n, C) if rows are the fastest axis."""
        return np.ascontiguousarray(x.transpose(2, 0, 1)) if self.last else x

    def advance(self, y: Array, fixed: Array, moving: Array, E: int) -> Array:
        """y (n, 1 or C, d) -> y (n, C, d) after E steps y <- B y + r; r is `fixed`, which is laid, plus `moving`."""
        xp, B = self.xp, self.B
        if self.last:
            add: Array = (fixed + moving.transpose(2, 0, 1)).reshape(fixed.shape[0], -1)
            x: Array = np.broadcast_to(y.transpose(2, 0, 1), fixed.shape).reshape(add.shape)
            if self.values is not None:
                x, add = (np.einsum("ijn,in->jn", B, one) for one in (x, add))
                for _ in range(E):
                    x *= self.values
                    x += add
                return np.einsum("ijn,jn->in", B, x).reshape(fixed.shape).transpose(1, 2, 0)
            # Two arrays in turn: a product must not be written over the vector that it reads.
            turns = np.empty(add.shape), np.empty(add.shape)
            for k in range(E):
                x = np.einsum("ijn,jn->in", B, x, out=turns[k % 2])
                x += add
            return x.reshape(fixed.shape).transpose(1, 2, 0)
        d, across = fixed.shape[-1], xp.matrix_transpose(B)  # symmetric, and this way the faster to read
        add = xp.reshape(fixed + moving, (-1, d, 1))
        if y.shape[:-1] == (1, 1):  # all start at one point: their first products are one
            x = xp.reshape(xp.matmul(xp.reshape(B, (-1, d)), y[0, 0, :, None]), add.shape)
        else:
            x = xp.matmul(across, xp.reshape(spread_to(xp, y, fixed.shape), add.shape))
        x += add
        for _ in range(E - 1):
            x = xp.matmul(across, x)
            x += add
        return xp.reshape(x, fixed.shape)
