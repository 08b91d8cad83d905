"""A counterexample in words and formulas, from the instance of its certificate alone.

Every handler reads fields that the kernel has checked; what no handler knows is said by its names and numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any, cast

from .letters import Inline, Letters, Said, number, polynomial, vector
from .losses import Data, LossText, inside, loss, table

__all__ = ["UNTELLABLE", "growing", "told"]

# What `told` raises for data that is no instance as the kernel reads them.
UNTELLABLE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, StopIteration, RecursionError)

Instance = dict[str, Any]  # its fields go as they are told
FEW = 3  # dimensions in which points are written out
CLIENTS = 6  # losses that are written out
LONGEST = 120  # characters of a value that no handler knows
ABOUT = ("when", "choose", "where", "for_all")  # parts of a claim that concern each of its relations
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def told(certificate: Data, letters: Letters) -> list[Said]:
    """Tells the instance as clauses of one sentence."""
    instance, claim = dict(certificate["instance"]), certificate["claim"]
    method = claim.get("method", {})
    if "clients" in instance and "weights" not in instance and _largest(method):
        instance["weights"] = {"kind": "largest"}  # the rule's own, as FedMax
    if "paths" in instance and "at" in certificate:
        used = _named(claim["then"][certificate["at"]["relation"]], *(x for k, x in claim.items() if k in ABOUT))
        instance["paths"] = {name: path for name, path in instance["paths"].items() if name in used}
    teller = Clauses(letters, _variable(claim), by_excess=_by_excess(method))
    return [clause for clause in teller.told(instance, claim["setting"]) if clause]


def growing(paths: Data, letters: Letters) -> str:
    """Returns the letter that grows along the paths: one that the statement has no use for."""
    taken = {letters.symbol(name) for name in paths}
    return next(letter for letter in ("n", "s", "z", "q", "y", r"\nu") if letter not in taken)


def _named(*trees: object) -> set[str]:
    """Returns all words in trees, symbols among them."""
    words, waiting = set[str](), list[object](trees)
    while waiting:
        tree = waiting.pop()
        if isinstance(tree, str):
            words.add(tree)
        elif isinstance(tree, dict):
            waiting += [x for pair in cast("dict[str, object]", tree).items() for x in pair]
        elif isinstance(tree, list | tuple):
            waiting += cast("Sequence[object]", tree)
    return words


def _weights(method: Data) -> Iterator[Sequence[Any]]:
    """Yields the weights that the server's rules take, as `[op, by]`."""
    waiting: list[Any] = list(method.get("update", {}).values())
    while waiting:
        rule = waiting.pop()
        if isinstance(rule, list):
            parts = cast("list[Any]", rule)
            if len(parts) == 3 and parts[0] == "weighted" and isinstance(parts[1], list):
                yield cast("list[Any]", parts[1])
            waiting += parts


def _largest(method: Data) -> bool:
    """Says whether all weight goes where something is largest, and not only to some of several."""
    return any(weights[0] == "largest" and len(weights) == 2 for weights in _weights(method))


def _by_excess(method: Data) -> bool:
    """Says whether weights are chosen by f_i - f_i*."""
    return any(
        len(by := weights[1]) == 2 and by[0][0] == "1" and by[0][1][0] == "f_i" and by[1] == ["-1", ["f_i_star"]]
        for weights in _weights(method)
        if len(weights) > 1
    )


def _variable(claim: Data) -> str:
    """Returns what the server's vector is called."""
    server = claim.get("method", {}).get("server") or {"w": None}
    name = str(next(iter(server)))
    return name if len(name) == 1 else "w"


@dataclass(frozen=True, slots=True)
class Clauses:
    letters: Letters
    w: str
    by_excess: bool = False  # a rule's largest value is the largest f_i - f_i*

    def told(self, instance: Instance, setting: str) -> Iterator[Said]:
        if "paths" in instance:
            yield from self.paths(instance.pop("paths"))
        elif "clients" in instance:
            yield from self.run(instance)
        elif setting == "meta":
            yield from self.users(instance)
        else:
            yield from self.functions(instance)
        for name in ("constants", "parameters", "values", "sizes"):
            for symbol, x in instance.pop(name, {}).items():
                yield [self.letters.equal(symbol, str(x))]
        for name, value in instance.items():
            if isinstance(value, str | int):
                yield [self.letters.equal(name, str(value))]
            else:
                text = json.dumps(value).replace('"', "")
                yield [f"{name.replace('_', ' ')} {text if len(text) <= LONGEST else text[:LONGEST] + '…'}"]

    def paths(self, paths: Mapping[str, Sequence[tuple[str, str]]]) -> Iterator[Said]:
        """What grows with n, then what is fixed."""
        moving = {name: terms for name, terms in paths.items() if any(power != "0" for _, power in terms)}
        n = growing(paths, self.letters)
        for name, terms in [*moving.items(), *((name, terms) for name, terms in paths.items() if name not in moving)]:
            said = polynomial([(Fraction(c), _power(n, a)) for c, a in terms])
            yield [Inline(f"{self.letters.symbol(name)} = {said}")]

    # a run

    def run(self, instance: Instance) -> Iterator[Said]:
        d, C = instance.pop("d"), instance.pop("C")
        yield self.clients(instance.pop("clients"), C, d, instance.get("box"))
        p = instance.pop("p")
        if len(set(p)) > 1:
            yield ["weights ", Inline(f"p = {vector(p)}")]
        if d > 1:
            yield [Inline(f"d = {d}")]
        yield from self.drawn(instance, C)
        if (penalty := instance.pop("regulariser", None)) is not None and penalty["kind"] == "table":
            few: Said = [", where the run reads it, ", Inline(table(penalty["points"], "g"))] if d <= FEW else []
            yield [Inline("g"), f" any convex function with {len(penalty['points'])} given points", *few]
        elif penalty is not None:
            yield [Inline(f"g({self.w}) = {self.regulariser(penalty)}")]
        yield ["start ", Inline(f"{self.w} = {vector(instance.pop('w0'))}")]
        yield from self.noise(instance.pop("noise"))
        yield from self.chosen(instance)
        for name in ("E", "T"):
            yield [self.letters.equal(name, str(instance.pop(name)))]
        for name in ("w_star", "minimisers", "box"):  # they follow from the rest
            instance.pop(name, None)

    def clients(self, clients: Sequence[Data], C: int, d: int, box: Data | None) -> Said:
        losses = [loss(client, d, self.w) for client in clients]
        where = ""
        if box is not None and d == 1:
            low, high = box["low"][0], box["high"][0]
            simple = [inside(client, Fraction(low), Fraction(high), self.w) for client in clients]
            if None not in simple:
                losses = [LossText(str(one)) for one in simple]
                where = f" (up to a constant, on [{low}, {high}], which the run does not leave)"
        groups = [[n for n, _ in group] for _, group in groupby(enumerate(losses), key=lambda pair: pair[1])]
        said: Said = [f"{_count(C)} client{'s' if C > 1 else ''} with "]
        for count, members in enumerate(groups[:CLIENTS]):
            first, last = members[0] + 1, members[-1] + 1
            index = str(first) if first == last else "i" if last - first + 1 == C else rf"{first}, \ldots, {last}"
            said += [", "] if count else []
            said += self.named(losses[members[0]], index if C > 1 else "")
        said += [f" and {C - groups[CLIENTS][0]} more"] if len(groups) > CLIENTS else []
        return [*said, where] if where else said

    def named(self, one: LossText, index: str, name: str = "f") -> Said:
        below = f"_{{{index}}}" if index else ""
        if one.words:
            points: Said = [Inline(one.latex)] if one.latex else []
            return [Inline(f"{name}{below}"), one.words, *points]
        said: Said = [Inline(f"{name}{below}{one.mark}({self.w}) = {one.latex}")]
        return [*said, one.more] if one.more else said

    def drawn(self, instance: Instance, C: int) -> Iterator[Said]:
        """Sampled clients, minibatches, what the local solver returns."""
        m = instance.pop("participation", {"m": C})["m"]
        if m < C:
            yield [f"{_count(m)} of them drawn in each round"]
        if minibatch := instance.pop("minibatch", None):
            shared = ", the same for all" if minibatch["shared"] else ""
            yield ["minibatches of ", Inline(f"{self.letters.symbol('b')} = {minibatch['b']}"), shared]
        if oracle := instance.pop("oracle", None):
            yield [_oracle(oracle)]

    def regulariser(self, data: Data) -> str:
        if data["kind"] == "pinball":
            up, down = Fraction(data["up"]), Fraction(data["down"])
            return polynomial([(up, rf"\sum_j ({self.w}_j)_+"), (down, rf"\sum_j (-{self.w}_j)_+")])
        theta = Fraction(data["theta"])
        norm = rf"\|{self.w}\|_1" if data["kind"] == "l1" else rf"\|{self.w}\|^2"
        return polynomial([(theta if data["kind"] == "l1" else theta / 2, norm)])

    def noise(self, data: Data) -> Iterator[Said]:
        if data["kind"] == "none":
            yield ["no noise"]
            return
        sizes = [vector(v) for v in data["v"]]
        same = all(size == sizes[0] for size in sizes)
        said: Said = ["noise ", Inline(rf"\pm {sizes[0]}" if same else rf"\pm v_i, v = ({', '.join(sizes)})")]
        said.append(
            ", one fair sign for all clients"
            if data["shared"]
            else ", fair signs"
            if len(sizes) == 1
            else ", independent fair signs"
        )
        if data.get("steps") is not None:
            said.append(f" at the steps {', '.join(map(str, data['steps']))}")
        if any(any(x != "0" for x in h) for h in data.get("h") or ()):
            said += [", and of the Hessians ", Inline(rf"\pm h_i, h = ({', '.join(vector(h) for h in data['h'])})")]
        yield said

    def chosen(self, instance: Instance) -> Iterator[Said]:
        """What the instance chooses in each round: weights, step sizes, a graph."""
        if weights := instance.pop("weights", None):
            if weights["kind"] == "largest":
                most = Inline(rf"f_i({self.w}) - f_i^{{\star}}")
                where: Said = ["with the largest ", most] if self.by_excess else ["that its rule names"]
                yield ["all weight shared equally by the clients ", *where]
            else:
                yield ["chosen weights ", Inline(", ".join(map(vector, weights["rows"])))]
        for name, steps in instance.pop("steps", {}).items():
            below = self.letters.quantity(name, ["t"])
            rows = [x if isinstance(x, str) else vector(x) for x in steps]
            shown = ", ".join(map(number, rows[:CLIENTS])) + (r", \ldots" if len(rows) > CLIENTS else "")
            yield ["step sizes ", Inline(f"{below} = {shown}")]
        if graph := instance.pop("graph", None):
            yield ["similarities ", Inline(", ".join(map(vector, graph)))]

    # other settings

    def users(self, instance: Instance) -> Iterator[Said]:
        """Users that draw data points with l_z(w) = sum_j base_j(w_j) + a_zj w_j + b_zj eta_j(w_j)."""
        d, a, b = instance.pop("d"), instance.pop("a"), instance.pop("b")
        base, eta, p = instance.pop("base"), instance.pop("eta"), instance.pop("p")
        points = [
            loss({"kind": "curves", "base": base, "eta": eta, "a": x, "b": y, "turn": ["0"] * d}, d, self.w)
            for x, y in zip(a, b, strict=True)
        ]
        said: Said = [f"{_count(len(points))} data point{'s' if len(points) > 1 else ''} with "]
        if all(point == points[0] for point in points):
            said += self.named(points[0], "z" if len(points) > 1 else "", r"\ell")
        else:
            for n, point in enumerate(points[:CLIENTS], 1):
                said += [", "] if n > 1 else []
                said += self.named(point, str(n), r"\ell")
        yield said
        for n, row in enumerate(p if len(points) > 1 else (), 1):
            who = "one user draws" if len(p) == 1 else f"user {n} draws"
            if row.count("1") == 1:
                yield [f"{who} only point {row.index('1') + 1}"]
            else:
                yield [f"{who} them with probabilities ", Inline(vector(row))]
        if instance.get("f") in ("average", "sum"):
            yield [f"f is the {instance.pop('f')} of the users' losses"]
        yield ["at ", Inline(f"{self.w} = {vector(instance.pop('w'))}")]
        for name in ("u", "v"):
            if name in instance:
                yield [Inline(f"{name} = {vector(instance.pop(name))}")]

    def functions(self, instance: Instance) -> Iterator[Said]:
        """One function or a few, at points; vectors; what else there is by its name."""
        instance.pop("kind", None)
        if (coupling := instance.pop("coupling", None)) is not None:
            drawn = "drawn independently" if coupling == "0" else "with the covariance "
            yield ["a network and its alteration ", drawn, *([] if coupling == "0" else [Inline(number(coupling))])]
            yield [self.letters.equal("C", str(instance.pop("C")))]
        d = instance.pop("d", 1)
        if "f" in instance:
            yield self.named(loss(instance.pop("f"), d, self.w), "")
        for n, data in enumerate(instance.pop("functions", ()), 1):
            yield self.named(loss(data, d, self.w), str(n))
        if d > 1:
            yield [Inline(f"d = {d}")]
        for name in ("lam", "L_i", "p", "q", "x"):
            if isinstance(instance.get(name), list) and all(isinstance(x, str) for x in instance[name]):
                yield [Inline(f"{self.letters.quantity(name, ['i'])} = {vector(instance.pop(name))}")]
        for name in ("v", "w", "u"):
            if isinstance(instance.get(name), list) and all(isinstance(x, str) for x in instance[name]):
                yield ["at " if name == "w" else "", Inline(f"{name} = {vector(instance.pop(name))}")]
        for name in ("directions", "points"):
            if isinstance(instance.get(name), list) and all(isinstance(x, list) for x in instance[name]):
                yield [f"{name} ", Inline(", ".join(map(vector, instance.pop(name))))]
        instance.pop("w_star", None)


def _oracle(oracle: Data) -> str:
    """What the local solver returns: x + step (best - x) + shift."""
    steps = {x for row in oracle["step"] for x in row}
    shifts = {
        x
        for row in oracle["shift"]
        for client in row
        for cell in client
        for x in ([cell] if isinstance(cell, str) else cell)
    }
    if steps == {"0"} and shifts == {"0"}:
        return "the local solver returns the point that it starts from"
    if steps == {"1"} and shifts == {"0"}:
        return "the local solver is exact"
    if steps == {"0"}:
        return f"the local solver returns the point that it starts from, moved by {' or '.join(sorted(shifts))}"
    way = "all of the way" if steps == {"1"} else f"the share {', '.join(sorted(steps))} of the way"
    return f"the local solver goes {way} to the exact answer" + (
        "" if shifts == {"0"} else f" and misses it by {' or '.join(sorted(shifts))}"
    )


def _count(n: int) -> str:
    return NUMBERS[n] if n < len(NUMBERS) else str(n)


def _power(base: str, exponent: str) -> str:
    return "" if exponent == "0" else base if exponent == "1" else f"{base}^{{{exponent}}}"
