"""Recorded array code: replays give bit for bit what the code gives, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from marks import slow

from fedaudit.bounds.catalogue.discovery import statement, statements
from fedaudit.problems.arrays.recording import at_rows, recorded
from fedaudit.problems.arrays.tape import NotTaped
from fedaudit.problems.runs import local_maps as forward
from fedaudit.verify.moves import audit
from fedaudit.verify.search import score as check
from fedaudit.verify.search.climb import FEW, Searched, climb, sample, sampled
from fedaudit.verify.search.genome import Genome, draw, join, mutate, rows
from fedaudit.verify.search.score import genes_of, record, score, score_below, score_parts
from fedaudit.verify.search.tree_arrays import Evaluator, Quantity, Table
from fedaudit.verify.settings.order import Order

Array = np.ndarray[Any, Any]
ONE_OF_EACH = (  # losses and noise, a clock of steps, a regulariser, data, a network, Hessians, a function, numbers
    "buttaci/thm4.1-I",
    "benmansour/thm3",
    "zhang/thm3.5",
    "yuan/lem5",
    "yuan/lem7",
    "buttaci/prop3.2",
    "fallah/lem4.3-bias",
    "buttaci/appA-strong-gap",
    "buttaci/lemB.7",
    "buttaci/lemB.8",
)


def equal(one: Array, other: Array) -> bool:
    """To the bit, but for the kind of NaN."""
    same = (one == other) | ((one != one) & (other != other))
    return one.shape == other.shape and one.dtype == other.dtype and bool(np.all(same))


def batch(n: int, seed: int = 0) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {"x": rng.standard_normal((n, 3)), "y": rng.random((n, 2, 3)), "a": rng.random(n)}


def worked(g: dict[str, Any]) -> Sequence[Any]:
    x, y, a = g["x"], g["y"], g["a"]
    n = len(x)
    wide = np.broadcast_to(x[:, None, :], (n, 2, 3)) * y + 2 - (-0.0) * a[:, None, None]
    total = np.stack([wide[..., 0], wide[..., 1] ** 2], axis=1).reshape(n, -1)
    place = np.argmax(total, axis=1)
    rest = np.concatenate([np.zeros((n, 1)), np.where(total > 0, total, np.nan)], axis=1)
    counted = np.arange(n)[:, None] + np.full((n, 3), 7) * x
    shared = np.tensordot(np.array([0.5, 0.25]), np.moveaxis(y, 1, 0), axes=1)
    least = np.minimum(np.maximum(a, 0.25), 0.75) if bool(np.all(a >= 0)) else a
    swapped = np.matmul(np.matrix_transpose(y), x[:, None, :2, None][..., 0, :, :])[..., 0]
    return at_rows(total, place), rest.sum(axis=1), counted.sum(axis=-1), shared, least, swapped, np.ones(n)


@pytest.mark.parametrize("n", [1, 2, 17, 112, 202])
def test_a_replay_is_the_same_to_the_bit_for_batches_of_any_size(n: int) -> None:
    tape = recorded(worked, batch(101, 1))
    replayed = tape.replay(batch(n))
    assert replayed is not None
    with np.errstate(invalid="ignore"):
        assert all(equal(*pair) for pair in zip(replayed, worked(batch(n)), strict=True))


@pytest.mark.parametrize("E", [1, 2, 5, 8])
def test_identities_on_the_diagonal_are_recorded(E: int) -> None:
    """NumPy's arrays are written in place there, which no recording sees."""

    def powers(g: dict[str, Any]) -> Sequence[Any]:
        A = np.matmul(g["y"][..., None], g["y"][..., None, :])  # (n, 2, 3, 3)
        N = forward.polynomial(np, A, [0.5, g["a"]])
        return N, forward.geometric(N, E)

    replayed = recorded(powers, batch(101, 1)).replay(batch(17))
    assert replayed is not None
    assert all(equal(*pair) for pair in zip(replayed, powers(batch(17)), strict=True))


def test_equal_calls_are_made_once_and_what_nobody_reads_is_left_out() -> None:
    tape = recorded(lambda g: [(g["a"] * 2 + 1) / (g["a"] * 2 + 1), (g["x"] * 0).sum(axis=1)][:1], batch(101))
    assert [function for function, *_ in tape.steps] == [np.multiply, np.add, np.true_divide]


REDUCED = (  # shapes beside the rows, and the axis: short and long, last and before others, wide and not
    *(((size,), 1) for size in (1, 2, 3, 4, 5, 7, 8, 9, 20)),
    *(((40, size), 2) for size in (1, 4, 6, 7, 8, 12)),
    *(((size, 3), 1) for size in (1, 3, 5, 8, 11, 16, 17)),
    *(((size, 8), 1) for size in (5, 8, 11, 17)),
    *(((2, size, 1), 2) for size in (3, 8, 40)),
    ((3, 2), 0),
)


@pytest.mark.parametrize("laid_out", ["C", "F", "turned"])
@pytest.mark.parametrize(("shape", "axis"), REDUCED)
def test_reductions_are_the_same_to_the_bit(shape: tuple[int, ...], axis: int, laid_out: str) -> None:
    def reduced(g: dict[str, Any]) -> Sequence[Any]:
        x = np.swapaxes(g["x"], -1, -2) if laid_out == "turned" else g["x"]
        kept = [x.max(axis=axis), np.fmax.reduce(x, axis=axis), (x > 0).all(axis=axis), (x > 0).sum(axis=axis)]
        return [x.sum(axis=axis, keepdims=True), x.sum(axis=axis), *kept]

    def numbers(n: int) -> dict[str, Array]:
        rng = np.random.default_rng(n)
        x = np.where(rng.random((n, *shape)) < 0.1, np.nan, rng.standard_normal((n, *shape)))
        x[:4] = -0.0
        x = np.ascontiguousarray(np.swapaxes(x, -1, -2)) if laid_out == "turned" else x
        return {"x": np.asfortranarray(x) if laid_out == "F" else x}

    for n in (5, 112):
        with np.errstate(invalid="ignore"):
            replayed, plain = recorded(reduced, numbers(101)).replay(numbers(n)), reduced(numbers(n))
        assert replayed is not None
        for one, other in zip(replayed, plain, strict=True):
            assert equal(one, other)
            assert one.dtype.kind != "f" or np.array_equal(np.signbit(one), np.signbit(other))


def test_what_the_number_of_rows_makes_is_kept_for_two_numbers() -> None:
    tape = recorded(lambda g: [g["x"] + np.zeros((len(g["x"]), 3)), np.arange(len(g["a"])) + g["a"]], batch(101))
    first, other = tape.sized_for(112), tape.sized_for(7)
    assert tape.sized_for(112) is first
    assert tape.sized_for(9) is not other
    assert tape.sized_for(112) is first  # between batches of changing sizes it stays
    assert tape.sized_for(7) is not other


def test_a_branch_that_data_decide_is_a_guard() -> None:
    def branches(g: dict[str, Any]) -> Sequence[Any]:
        return [g["a"] if bool(np.all(g["a"] > 0)) else -g["a"]]

    tape = recorded(branches, batch(101))
    assert tape.replay(batch(5)) is not None
    assert tape.replay({**batch(5), "a": np.array([1.0, -1.0])}) is None


NOT_TAPED: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a number in Python": lambda g: g["a"] * float(g["a"][:1].sum()),
    "a mask": lambda g: g["a"][g["a"] > 0.5],
    "a loop over instances": lambda g: np.array(list(g["a"])),
    "one instance": lambda g: g["a"] - g["a"][101:],
    "an array that is written into": lambda g: g["x"].__setitem__(0, 1.0),
    "rows that differ": lambda g: g["a"] * np.linspace(0, 1, 101),
    "the number of rows": lambda g: g["a"] / len(g["a"]),
    "numbers out of NumPy": lambda g: np.asarray(g["a"]) + 1,
}


@pytest.mark.parametrize("name", NOT_TAPED)
def test_what_no_tape_can_hold_is_not_recorded(name: str) -> None:
    with pytest.raises(NotTaped):
        recorded(lambda g: [NOT_TAPED[name](g)], batch(101))


def test_a_tape_that_takes_a_size_for_the_rows_is_not_kept() -> None:
    def averaged(g: dict[str, Any]) -> Sequence[Any]:
        return [(g["a"][:, None] * np.ones((1, 3 + 98))).sum(axis=1)]  # a sum of sizes that is the prime

    tape = recorded(averaged, batch(101))
    assert tape.replay(batch(17)) is not None
    assert tape.scales(batch(17), np.arange(101) % 17) is None
    honest = recorded(lambda g: [g["a"] * 2], batch(101))
    assert honest.scales({name: x[:101] for name, x in batch(101).items()}, np.arange(101)) is None, "the same size"
    small = {name: x[:17] for name, x in batch(101).items()}
    assert honest.scales(small, np.arange(101) % 17) is None, "other rows"
    whole = recorded(lambda g: [g["a"] * 2], {name: x[np.arange(101) % 17] for name, x in small.items()})
    assert whole.scales(small, np.arange(101) % 17) is not None


def compared_shapes(identifier: str, most: int) -> tuple[int, int]:
    """Shapes on which a recording was replayed to the same bits, of so many; the rest was not recorded."""
    reading, world = audit.read(statement(identifier))
    shapes = list(world.shapes(reading))
    replayed = 0
    chosen = shapes[:: -(-len(shapes) // most)]
    for shape in chosen:
        drawn = draw(genes_of(reading, world, shape), 130, np.random.default_rng(3))
        record(reading, world, shape, drawn)
        known = check.RECORDED.pop((reading, shape))
        for some in (slice(0, 112), slice(0, 3)):
            genome = rows(drawn, some)
            with np.errstate(all="ignore"):
                plain = score(reading, world, shape, genome, again=False)
            taped = None if known.tape is None else known.tape.replay(genome)
            if taped is None:
                continue
            replayed += 1
            there = check.Places(known.span, *taped[5:])
            assert all(map(equal, taped[:5], (plain.margin, plain.later, plain.ratio, plain.lhs, plain.rhs)))
            assert list(there) == list(plain.at)
    return replayed, 2 * len(chosen)


@pytest.mark.parametrize("identifier", ONE_OF_EACH)
def test_scores_are_replayed_to_the_bit(identifier: str) -> None:
    replayed, tried = compared_shapes(identifier, 4)
    assert replayed > tried / 2


@slow("every statement, on shapes of each kind")
@pytest.mark.parametrize("identifier", [s.id for s in statements() if not s.quoted and s.kind != "experiment"])
def test_every_statement_is_replayed_to_the_bit(identifier: str) -> None:
    if not isinstance(audit.read(statement(identifier))[1], Order):
        compared_shapes(identifier, 12)


def digest(seen: Searched) -> object:
    return seen.instances, [(f.scores.shape, f.scores.at[f.row], f.margin) for f in seen.best], seen.sizes


def test_a_climb_finds_the_same_with_and_without_recordings() -> None:
    reading, world = audit.read(statement("buttaci/lem4.1"))
    shapes = world.shapes(reading)[::30]
    taped = climb(reading, world, shapes, 2, seed=5)
    assert any(known.tape is not None for (own, _), known in check.RECORDED.items() if own is reading)
    check.RECORDED.clear()
    assert repr(digest(taped)) == repr(digest(climb(reading, world, shapes, 2, seed=5, taped=False)))


def test_batches_that_are_scored_together_score_as_they_do_alone() -> None:
    reading, world = audit.read(statement("benmansour/thm3"))  # falls: rows are scored again, moved a little
    shape = world.shapes(reading)[5]
    genes = genes_of(reading, world, shape)
    parts: list[Genome] = [draw(genes, n, np.random.default_rng(n)) for n in (40, 25)]
    for part, one in zip(parts, score_parts(reading, world, shape, parts), strict=True):
        alone = score(reading, world, shape, part)
        assert equal(one.margin, alone.margin)
        assert list(one.at) == list(alone.at)
        assert one.table.n == alone.table.n == len(alone.margin)
        assert one.table.scalars.keys() == alone.table.scalars.keys()
        for name, values in alone.table.scalars.items():
            assert equal(one.table.scalars[name], np.broadcast_to(values, (alone.table.n,)))


@pytest.mark.parametrize("taped", [False, True])
@pytest.mark.parametrize(
    "identifier", ["benmansour/thm3", "buttaci/lem4.1", "zhang/lemA.1", "buttaci/sec4.4-complexity-fedprox"]
)
def test_rows_that_were_scored_are_not_scored_again_below_new_ones(identifier: str, taped: bool) -> None:
    reading, world = audit.read(statement(identifier))
    check.RECORDED.clear()
    for shape in world.shapes(reading)[::40]:
        genes, rng = genes_of(reading, world, shape), np.random.default_rng(2)
        scores = score(reading, world, shape, draw(genes, 50, rng), often=taped)
        for _ in range(3):  # rows that were moved once are moved anew, from where they were
            best = np.argsort(-np.nan_to_num(scores.margin, nan=-9.0), kind="stable")[:8]
            children = mutate(genes, rows(scores.genome, best), rng)
            below = score_below(reading, world, scores, best, children)
            scores = score(reading, world, shape, join([rows(scores.genome, best), children]))
            for name in ("margin", "later", "ratio", "lhs", "rhs"):
                assert equal(getattr(below, name), getattr(scores, name)), name
            assert list(below.at) == list(scores.at)
            assert all(map(equal, below.genome.values(), scores.genome.values()))
            assert below.table.n == scores.table.n
            scores = below


def test_what_is_climbed_anyway_is_recorded_when_it_is_sampled() -> None:
    reading, world = audit.read(statement("buttaci/lem4.1"))
    shapes = world.shapes(reading)[::30]
    check.RECORDED.clear()
    plain = sample(reading, world, shapes, 24, seed=1)
    assert not check.RECORDED
    taped = sample(reading, world, shapes, 24, seed=1, climbed=shapes[:2])
    assert [shape for _, shape in check.RECORDED] == list(shapes[:2])
    assert repr(digest(taped)) == repr(digest(plain))
    check.RECORDED.clear()
    sampled(reading, world, shapes[0], [(FEW, 1), (1, 2)], often=True)
    assert not check.RECORDED


PLACES: tuple[tuple[dict[str, Any], tuple[Any, ...]], ...] = (  # index ranges of the claim, indices of the quantity
    ({"t": ("0", "3"), "k": ("0", "2"), "i": ("1", "3")}, ("t", "k", "i")),
    ({"t": ("0", "3"), "k": ("0", "2"), "i": ("1", "3")}, (["+", "t", "1"], "k", "i")),
    ({"i": ("1", "3"), "t": ("0", "3")}, ("t", "0", "i")),
    ({"t": ("0", "3"), "i": ("1", "3")}, ("t", "2", "i")),
    ({"t": ("0", "2")}, ("t", "t", "1")),
    ({"t": ("0", "3")}, (["+", "4", ["*", "-1", "t"]], "0", "1")),
    ({}, ("4", "3", "2")),
)


@pytest.mark.parametrize(("ranges", "indices"), PLACES)
def test_indexed_quantities_are_picked_one_by_one(ranges: dict[str, Any], indices: tuple[Any, ...]) -> None:
    values = np.random.default_rng(0).random((7, 5, 4, 3))
    evaluator = Evaluator(Table(7, {}, {"q": Quantity(values, (0, 0, 1))}, {}), ranges)
    rows_ = np.arange(7).reshape((-1,) + (1,) * (evaluator.rank - 1))
    places = [np.rint(evaluator(i)).astype(int) - start for i, start in zip(indices, (0, 0, 1), strict=True)]
    picked = evaluator(["at", "q", *indices])
    assert equal(picked, values[(rows_, *places)])
    assert picked.flags.c_contiguous
