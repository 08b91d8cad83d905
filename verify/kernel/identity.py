"""A shown premise, checked again: its two sides differ by multipliers times atoms, for all vectors and parameters.

The file gives the vectors, the terms, the atoms and the multipliers. Here everything is expanded anew, with fractions
of polynomials; each atom is built from its own points; each multiplier must not be negative by its form. Where the file
says that z3 decided a sign, that is trusted, and said so. What the file's terms have to do with a paper is not checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from flint import fmpq_mpoly, fmpq_mpoly_ctx

from .rational import Malformed, Node, Rejected
from .work import metered, spend

FORMAT = "fedaudit-identity/1"
OVER, SIGNS = ("one", "mean", "squares"), ("positive", "nonnegative", "real")
TAGS = ("", "mean", "*", "i", "j", "sampled")
ATOMS = ("square", "smooth", "lipschitz", "convex", "lower", "minimum", "variance", "short", "near", "assumed")
OTHERS = ("weight", "subset", "idle")  # of the clients
PROXIMAL = ("subgradient", "slope", "proximal_pl")
LOCAL = ("optimal", "moved", "steep", "largest")  # of problems that clients solve
SOLVED = ("own prox", "full prox")  # of the loss that a client draws in a round, of f
MOST, DEEP, WORK = 64, 16, 20_000_000  # of an exponent; of a tree; operations on terms

Fraction = tuple[fmpq_mpoly, fmpq_mpoly]
Vector = dict[tuple[int, str], Fraction]  # (number of a name, tag) -> coefficient
Terms = dict[tuple[object, ...], Fraction]


@dataclass(frozen=True, slots=True)
class Checked:
    """What remains to be trusted besides the rules of the normal form and the assumptions that the atoms are."""

    trusted: tuple[str, ...]
    atoms: tuple[str, ...]

    @property
    def what(self) -> str:
        return f"identity, {'; '.join(self.trusted) or 'nothing trusted but the assumptions'}"


def is_one(certificate: object) -> bool:
    """Whether a file says that it is such an identity."""
    return isinstance(certificate, dict) and cast("dict[str, object]", certificate).get("format") == FORMAT


def check(certificate: object, most: int = WORK) -> Checked:
    """Accept the identities, or raise `Malformed` or `Rejected` with the first thing that is wrong."""
    with metered(most):
        return read(Node(certificate, "identity")).checked()


@dataclass(frozen=True, slots=True, eq=False)
class Identities:
    """The file, its parameters and its vectors. Names are added while they are read, trust while it is checked."""

    signs: dict[str, str]  # of every parameter
    context: fmpq_mpoly_ctx
    letters: dict[str, Fraction]
    squares: Node | None  # sum_i p_i^2
    single: bool  # one function, of the client i; w* minimises it
    composite: bool  # w* minimises f + g, not f
    share: Node | None  # a with E|sampled mean|^2 = a M|x|^2 + (1 - a) |mean x|^2
    identities: list[Node]
    pathwise: bool = False  # on every path: nothing may hold in expectation alone
    trusted: dict[str, None] = field(default_factory=dict[str, None])
    points: list[tuple[str, Vector]] = field(default_factory=list[tuple[str, Vector]])
    stages: list[int] = field(default_factory=list[int])
    sizes: list[Fraction] = field(default_factory=list[Fraction])
    sampled: list[bool] = field(default_factory=list[bool])  # whether it depends on which clients are sampled
    links: list[int | None] = field(default_factory=list["int | None"])  # of a mean, over neighbours or all: of what

    @property
    def one(self) -> Fraction:
        return self.context.constant(1), self.context.constant(1)

    def name(self, node: Node) -> None:
        kind = node.kind(("vector", "w*", "gradient", "noise", "prox", "near", "axis", *SOLVED))
        fields = {"vector": "label mean", "gradient": "of", "noise": "of step", "prox": "of size", "near": "of"}
        at = node.fields("kind", fields.get(kind, "of size" if kind in SOLVED else "label"))
        point = self.vector(at["of"], own=True) if "of" in at and kind != "near" else {}
        link = at.get("of") if kind == "near" else at.get("mean")
        self.links.append(None if link is None else link.integer(0, len(self.points) - 1))
        if "mean" in at:
            label = at["label"].raw if "label" in at else "a vector"
            self.trusted[f"trusted: the method's rules keep the mean of {label} at a shared vector"] = None
        known = max((self.stages[n] for n, _ in point), default=0)
        known = self.stages[self.links[-1]] if kind == "near" and self.links[-1] is not None else known
        if kind in SOLVED:
            shared = ("", "mean") if kind == "own prox" else ("", "mean", "sampled")
            if any(tag not in shared for _, tag in point) or (kind == "own prox" and known):
                raise Rejected("identity: got a proximal point of a client's own point, expected a shared one")
            known += kind == "own prox"  # the loss is drawn after the point is known
        self.points.append((kind, point))
        self.sampled.append(any(tag == "sampled" or self.sampled[n] for n, tag in point))
        self.sizes.append(self.number(at["size"]) if "size" in at else self.one)
        self.stages.append(known if kind != "noise" else at["step"].integer(known, 9) + 1)

    # --- fractions ---------------------------------------------------------------------------------------------------

    def number(self, node: Node, deep: int = DEEP) -> Fraction:
        """A rational, a parameter, or [operation, parts ...]."""
        if isinstance(node.raw, str) and node.raw in self.letters:
            return self.letters[node.raw]
        if not isinstance(node.raw, list):
            return self.context.constant(node.rational()), self.one[0]
        if deep == 0:
            raise node.malformed("a flatter formula")
        op, *parts = node.items()
        if op.one_of(("+", "*", "/", "^")) == "^" and len(parts) == 2:
            base, total = self.number(parts[0], deep - 1), self.one
            for _ in range(parts[1].integer(0, MOST)):
                total = times(total, base)
            return total
        if not parts or (op.raw in ("/", "^") and len(parts) != 2):
            raise node.malformed("an operation with its parts")
        made = [self.number(part, deep - 1) for part in parts]
        if op.raw == "/" and not self.signed(parts[1], True):
            self.trusted[f"trusted: z3, {parts[1].raw} > 0"] = None
        total = made[0]
        for part in made[1:]:
            total = plus(total, part) if op.raw == "+" else times(total, part if op.raw == "*" else self._over(part))
        return total

    def _over(self, part: Fraction) -> Fraction:
        if part[0].is_zero():
            raise Malformed("identity: got a division by zero")
        return part[1], part[0]

    def signed(self, node: Node, strict: bool = False) -> bool:
        """Whether a formula is not negative (positive) by its form."""
        if isinstance(node.raw, str) and node.raw in self.signs:
            return self.signs[node.raw] in (("positive",) if strict else ("positive", "nonnegative"))
        if not isinstance(node.raw, list):
            value = node.rational()
            return value > 0 or (value == 0 and not strict)
        op, *parts = node.items()
        if op.raw == "^":
            return (parts[1].integer(0, MOST) % 2 == 0 and not strict) or self.signed(parts[0], strict)
        if op.raw == "/":
            return self.signed(parts[0], strict) and self.signed(parts[1], True)
        if op.raw == "+" and strict:
            return all(self.signed(part) for part in parts) and any(self.signed(part, True) for part in parts)
        return all(self.signed(part, strict) for part in parts)

    # --- vectors and terms -------------------------------------------------------------------------------------------

    def vector(self, node: Node, own: bool = False) -> Vector:
        made: Vector = {}
        for part in node.items():
            name, tag, factor = part.items(3)
            key = name.integer(0, len(self.points) - 1), tag.one_of((*TAGS, "own") if own else TAGS)
            made[key] = plus(made[key], self.number(factor)) if key in made else self.number(factor)
        return {key: c for key, c in made.items() if not c[0].is_zero()}

    def combined(self, *parts: tuple[int, Vector]) -> Vector:
        total: Vector = {}
        for factor, vector in parts:
            for key, c in vector.items():
                moved = c[0] * factor, c[1]
                total[key] = plus(total[key], moved) if key in total else moved
        return {key: c for key, c in total.items() if not c[0].is_zero()}

    def at(self, point: Vector, client: str) -> str:
        """A point in writing, with the client's own vectors marked."""
        own = {(n, "own" if tag == client != "" else tag): c for (n, tag), c in point.items()}
        return "; ".join(f"{key} {top} / {below}" for key, (top, below) in sorted(own.items(), key=lambda p: p[0]))

    def gradient(self, point: Vector, client: str) -> Vector:
        """The vector that the file calls the gradient there."""
        if self.single and self.star(point):
            return {}
        wanted = self.at(point, client)
        found = [n for n, (kind, of) in enumerate(self.points) if kind == "gradient" and self.at(of, "") == wanted]
        if not found:
            raise Rejected("identity: got an atom at a point without a gradient, expected a name for it")
        return {(found[0], client): self.one}

    def near(self, name: int, client: str) -> tuple[int, str]:
        """The name of its mean over the neighbours of a client."""
        same = [n for n, (kind, _) in enumerate(self.points) if kind == "near" and self.links[n] == name]
        if not same:
            raise Rejected("identity: got a mean over neighbours without a name for it")
        return same[0], client

    def inner(self, over: str, x: Vector, y: Vector, near: str = "") -> Iterator[tuple[tuple[object, ...], Fraction]]:
        for a, c in x.items():
            for b, d in y.items():
                factor = times(c, d)
                later = [self.stages[n] and self.points[n][0] != "own prox" for n, tag in (a, b) if tag == "sampled"]
                if any(later) or any(tag == "sampled" and self.sampled[n] for n, tag in (a, b)):
                    raise Rejected("identity: got sampled clients of what is drawn later")
                if "sampled" in (a[1], b[1]) and (self.sampled[a[0]] or self.sampled[b[0]]):
                    if over != "one":
                        raise Rejected("identity: got a mean of what depends on the sampled clients")
                    yield ("one", *sorted((a, b))), factor
                    continue
                if a[1] == b[1] == "sampled" and over != "squares":
                    if self.share is None:
                        raise Rejected("identity: got sampled clients without their share")
                    self.expected()
                    part = times(factor, self.number(self.share))
                    yield ("mean", "", *sorted((a[0], b[0]))), part
                    factor = plus(factor, (-part[0], part[1]))
                if "sampled" in (a[1], b[1]):
                    self.expected()
                plain = sorted((n, "mean" if tag == "sampled" else tag) for n, tag in (a, b))
                key = self.product(over, plain[0], plain[1], near)
                if key is not None:
                    yield key, factor

    def product(self, over: str, a: tuple[int, str], b: tuple[int, str], near: str = "") -> tuple[object, ...] | None:
        """The normal form of one inner product under the mean and the expectation; None where it is zero.

        `near`: the client over whose neighbours the mean is, if it is not over all clients.
        """
        (m, left), (n, right) = a, b
        for one, two in ((m, n), (n, m)):
            if self.points[one][0] == "noise" and self.stages[one] > self.stages[two]:
                self.expected()
                return None
        if self.points[m][0] == self.points[n][0] == "axis" and m == n and over != "squares":
            return ("one",)  # a unit vector
        clients = (left == "*") + (right == "*")
        if over == "squares" and clients < 2:
            raise Rejected("identity: got sum_i p_i^2 of something that is not the client's, expected a client's")
        if over == "squares" or (clients == 2 and over in ("mean", "near")):
            return over, near, m, n
        if over in ("mean", "near"):
            move = self.mean if over == "mean" else partial(self.near, client=near)
            ends = [move(name) if tag == "*" else (name, tag) for name, tag in (a, b)]
            if not self.composite and any(tag == "mean" and self.flat(at) for at, tag in ends):
                return None
            first, second = sorted(ends)
            return self.product("one", first, second)
        if a == b and left == "mean" and self.points[m][0] == "noise":
            self.expected()
            return "squares", "", m, n
        return "one", a, b

    def expected(self) -> None:
        """What is used here holds in expectation, and on no single path."""
        if self.pathwise:
            raise Rejected("identity: got what holds in expectation, expected what holds on every path")

    def mean(self, name: int) -> tuple[int, str]:
        """The mean of a client's vector over all clients, which a mean over neighbours does not change."""
        link = self.links[name]
        while self.points[name][0] == "near" and link is not None:
            name, link = link, self.links[link]
        return (name, "mean") if link is None else (link, "")

    def flat(self, name: int) -> bool:
        """The gradient at w*, whose mean over the clients is zero where w* minimises f."""
        kind, point = self.points[name]
        return kind == "gradient" and self.star(point)

    def star(self, point: Vector) -> bool:
        return [self.points[n][0] == "w*" and tag == "" and c[0] == c[1] for (n, tag), c in point.items()] == [True]

    def term(self, node: Node) -> Iterator[tuple[tuple[object, ...], Fraction]]:
        op, over, *rest = node.items()
        kind = op.one_of(("inner", "value", "drawn", "least", "regulariser", "weight", "one"))
        over_ = over.one_of((*OVER, "near") if kind in ("inner", "one") else OVER)
        if kind == "inner":
            client = rest.pop().one_of(("i", "j")) if over_ == "near" else ""
            x, y = (self.vector(part) for part in rest)
            yield from self.inner(over_, x, y, client)
        elif kind == "one":
            yield from self.constant(over_)
        elif kind == "weight":
            yield ("weight", rest[0].name()), self.one
        elif kind == "regulariser":
            yield from self.regulariser(self.vector(rest[0], own=True), rest[1].one_of(TAGS))
        else:
            tag = rest[-1].one_of(TAGS)
            point = None if kind == "least" else self.vector(rest[0], own=True)
            yield from self.value(over_, point, tag, kind == "drawn")

    def constant(self, over: str) -> Iterator[tuple[tuple[object, ...], Fraction]]:
        if over == "squares" and self.squares is None:
            raise Rejected("identity: got sum_i p_i^2 without a parameter for it")
        yield ("one",), self.number(self.squares) if over == "squares" and self.squares else self.one

    def value(
        self, over: str, point: Vector | None, tag: str, drawn: bool = False
    ) -> Iterator[tuple[tuple[object, ...], Fraction]]:
        """f_i at a point, or its least value; `drawn`: of the loss that the client draws, whose mean is f_i."""
        if over == "squares":
            raise Rejected("identity: got sum_i p_i^2 of a value")
        where = "least" if point is None else self.at(point, tag)
        later = drawn and point is not None and any(self.stages[n] for n, _ in point)
        if drawn and not later:
            self.expected()
            self.trusted["trusted: the losses of a round are drawn anew, with mean f_i"] = None
        yield ("drawn" if later else "value", where, "mean" if over == "mean" and tag == "*" else tag), self.one

    def regulariser(self, point: Vector, client: str) -> Iterator[tuple[tuple[object, ...], Fraction]]:
        """g at a point: of the client, if one of the vectors is its own."""
        tags = {tag for _, tag in point} - {"", "mean"}
        if tags - ({"own", client} if client else set[str]()) or client == "*":
            raise Rejected("identity: got the regulariser at another client's point, expected a shared one")
        yield ("regulariser", self.at(point, client), client if tags else ""), self.one

    def proximal(self, x: Vector, size: Fraction, client: str) -> Vector:
        """The vector that the file calls the proximal point of x; w* where a proximal gradient step starts there."""
        stars = [n for n, (kind, _) in enumerate(self.points) if kind == "w*"]
        flat = [n for n in range(len(self.points)) if self.flat(n)]
        if (
            self.composite
            and stars
            and flat
            and x == {(stars[0], ""): self.one, (flat[0], "mean"): (-size[0], size[1])}
        ):
            return {(stars[0], ""): self.one}
        wanted, own = self.at(x, client), any(tag == client for _, tag in x)
        same = [n for n, (kind, of) in enumerate(self.points) if kind == "prox" and self.at(of, "") == wanted]
        found: list[Vector] = [{(n, client if own else ""): self.one} for n in same if self.sizes[n] == size]
        if not found:
            raise Rejected("identity: got an atom without a name for its proximal point")
        return found[0]

    # --- atoms -------------------------------------------------------------------------------------------------------

    def atom(self, node: Node) -> Iterator[tuple[tuple[object, ...], Fraction]]:
        """Terms whose sum is not negative, because of what the atom is."""
        kind = node.kind((*ATOMS, *OTHERS, *PROXIMAL, *LOCAL))
        at = node.mapping()
        over, client = at["over"].one_of(OVER), at["client"].one_of(("*", "i", "j"))
        if (over == "one") == (client == "*"):
            raise Rejected("identity: got an atom of no one client, expected a mean")
        x = self.vector(at["x"]) if "x" in at else {}
        if kind == "square":
            yield from self.inner(over, x, x)
        elif kind == "near":
            if over == "squares" or any(tag not in ("*", "", "mean") for _, tag in x):
                raise Rejected("identity: got neighbours of something else, expected a vector of every client")
            middle = {(self.near(n, client) if tag == "*" else (n, tag)): c for (n, tag), c in x.items()}
            yield from self.inner("mean", x, x) if over == "mean" else self.inner("near", x, x, client)
            yield from ((key, (-c[0], c[1])) for key, c in self.inner(over, middle, middle))
        elif kind in ("smooth", "convex"):
            y, below = self.vector(at["y"]), kind == "convex" or at["below"].flag()
            if "shared" in at and (over != "mean" or any(tag == "*" for _, tag in (*x, *y))):
                raise Rejected("identity: got convexity of the mean at a client's own point, expected shared ones")
            step, constant = self.combined((1, y), (-1, x)), self.number(at["constant"])
            curved = scaled(constant, "-1/2" if kind == "convex" else "1/2", self.context)
            slopes = [*self.value(over, x, client), *self.inner(over, self.gradient(x, client), step)]
            slopes += [(key, (-c[0], c[1])) for key, c in self.value(over, y, client)]
            yield from ((key, (-c[0], c[1]) if below else c) for key, c in slopes)
            yield from ((key, times(curved, c)) for key, c in self.inner(over, step, step))
        elif kind == "lipschitz":
            y, constant = self.vector(at["y"]), self.number(at["constant"])
            step = self.combined((1, y), (-1, x))
            turn = self.combined((1, self.gradient(y, client)), (-1, self.gradient(x, client)))
            yield from ((key, times(times(constant, constant), c)) for key, c in self.inner(over, step, step))
            yield from ((key, (-c[0], c[1])) for key, c in self.inner(over, turn, turn))
        elif kind in ("lower", "minimum"):
            if kind == "minimum" and any(tag == "*" for _, tag in x):
                raise Rejected("identity: got f >= f* at a client's own point, expected a shared one")
            if kind == "minimum" and self.composite:  # F* is the least value of f + g
                yield from (*self.value("mean", x, "*"), *self.regulariser(x, ""))
                yield ("value", "least", ""), (self.context.constant(-1), self.one[0])
                return
            shared = kind == "minimum" and not self.single
            inside = "mean" if shared else over
            stars = [n for n, (name, _) in enumerate(self.points) if name == "w*"]
            least: Vector | None = {(stars[0], ""): self.one} if kind == "minimum" and stars else None
            if kind == "minimum" and least is None:
                raise Rejected("identity: got a minimum without a name for w*")
            owner = "*" if shared else client
            yield from self.value(inside, x, owner)
            yield from ((key, (-c[0], c[1])) for key, c in self.value(inside, least, owner))
        elif kind == "variance":
            if [self.points[n][0] for n, _ in x] != ["noise"] or any(c != self.one for c in x.values()):
                raise Rejected("identity: got the variance of something else, expected noise")
            sigma, batch = self.number(at["constant"]), self.number(at["batch"]) if "batch" in at else self.one
            if "batch" in at and not self.signed(at["batch"], True):
                raise Rejected("identity: got a minibatch whose form does not show that it is positive")
            most = times(times(sigma, sigma), self._over(batch))
            yield from ((key, times(most, c)) for key, c in self.constant(over))
            yield from ((key, (-c[0], c[1])) for key, c in self.inner(over, x, x))
        elif kind in PROXIMAL:
            yield from self.regularised(kind, at, x, client)
        elif kind in LOCAL:
            yield from self.local(kind, at, x, over, client)
        elif kind == "weight":
            yield ("weight", at["index"].name()), self.one
        elif kind == "idle":
            self.trusted["trusted: at most one client is idle, as its terms"] = None
            yield from self.terms(at["terms"])
        elif kind == "subset":
            yield ("one",), self.number(at["many"])
            yield ("one",), times(self.number(at["few"]), (self.context.constant(-1), self.one[0]))
            self.trusted["no more clients are drawn than there are"] = None
        elif kind == "short":
            if [(self.points[n][0], c) for (n, _), c in x.items()] != [("gradient", self.one)]:
                raise Rejected("identity: got the length of something else, expected a gradient")
            bound = self.number(at["constant"])
            yield from ((key, times(times(bound, bound), c)) for key, c in self.constant(over))
            yield from ((key, (-c[0], c[1])) for key, c in self.inner(over, x, x))
        else:
            yield from self.terms(at["terms"])

    def local(
        self, kind: str, at: dict[str, Node], x: Vector, over: str, client: str
    ) -> Iterator[tuple[tuple[object, ...], Fraction]]:
        """Atoms about the losses that clients draw, and the proximal points of those and of f."""
        if kind == "largest":
            most = at["most"].raw
            self.trusted[f"trusted: {most} is the largest of something, over clients, rounds and outcomes"] = None
            yield from ((key, times(self.number(at["most"]), c)) for key, c in self.constant("one"))
            yield from self.terms(at["terms"])
            return
        y = self.vector(at["y"]) if "y" in at else {}
        given = at["constant" if kind == "optimal" else "size"]
        if not self.signed(given, True):
            raise Rejected("identity: got a proximal step whose form does not show that it is positive")
        size, constant = self.number(given), self.number(at["constant"])
        if kind == "steep":
            away, half = self.combined((1, x), (-1, y)), scaled(size, "1/2", self.context)
            yield from self.value(over, y, client, at["draws"].flag())
            yield from ((key, (-c[0], c[1])) for key, c in self.value(over, x, client, at["draws"].flag()))
            most = times(half, times(constant, constant))
            yield from ((key, times(most, c)) for key, c in self.constant(over))
            inverse = scaled(self._over(size), "1/2", self.context)
            yield from ((key, times(inverse, c)) for key, c in self.inner(over, away, away))
            return
        full = kind == "optimal" and at["full"].flag()
        if full and (over != "one" or any(tag == "*" for _, tag in y)):
            raise Rejected("identity: got f at a client's own point, expected a shared one")
        p = self.solved(x, size, "full prox" if full else "own prox", "" if full else client)
        slope = self.combined((1, x), (-1, p))
        if kind == "moved":
            most = times(times(size, size), times(constant, constant))
            yield from ((key, times(most, c)) for key, c in self.constant(over))
            yield from ((key, (-c[0], c[1])) for key, c in self.inner(over, slope, slope))
            return
        if not self.signed(at["weak"]):
            raise Rejected("identity: got weak convexity whose form does not show that it is not negative")
        self.trusted[f"trusted: z3, 1 - {at['weak'].raw} * {given.raw} > 0"] = None
        step, inside, owner = self.combined((1, y), (-1, p)), "mean" if full else over, "*" if full else client
        yield from self.value(inside, y, owner, not full)
        yield from ((key, (-c[0], c[1])) for key, c in self.value(inside, p, owner, not full))
        yield from ((key, times((-size[1], size[0]), c)) for key, c in self.inner(over, slope, step))
        half = scaled(self.number(at["weak"]), "1/2", self.context)
        yield from ((key, times(half, c)) for key, c in self.inner(over, step, step))

    def solved(self, x: Vector, size: Fraction, kind: str, client: str) -> Vector:
        """The vector that the file calls this proximal point of x."""
        same = [n for n, (k, of) in enumerate(self.points) if k == kind and of == x and self.sizes[n] == size]
        if not same:
            raise Rejected("identity: got an atom without a name for its proximal point")
        return {(same[0], client): self.one}

    def regularised(
        self, kind: str, at: dict[str, Node], x: Vector, client: str
    ) -> Iterator[tuple[tuple[object, ...], Fraction]]:
        """Atoms about a proximal point p of x (of x - grad f(x)/mu): a subgradient, its size, the proximal PL."""
        given = at["size"] if kind == "slope" else at["constant"]
        if not self.signed(given, True):
            raise Rejected("identity: got a proximal step whose form does not show that it is positive")
        size, constant = self.number(given), self.number(at["constant"])
        if kind == "proximal_pl":
            if any(tag not in ("", "mean") for _, tag in x):
                raise Rejected(
                    "identity: got the proximal PL inequality at a client's own point, expected a shared one"
                )
            down = {(n, "mean"): c for (n, _), c in self.gradient(x, "*").items()}
            inverse = lowest(size[1], size[0])
            p = self.proximal(self.combined((1, x), (-1, {k: times(inverse, c) for k, c in down.items()})), inverse, "")
            step = self.combined((1, p), (-1, x))
            parts = [(("value", "least", ""), self.one)]
            parts += [(key, (-c[0], c[1])) for key, c in (*self.value("mean", x, "*"), *self.regulariser(p, ""))]
            parts += [(key, (-c[0], c[1])) for key, c in self.inner("one", down, step)]
            half = scaled(size, "-1/2", self.context)
            yield from (*parts, *((key, times(half, c)) for key, c in self.inner("one", step, step)))
            return
        p = self.proximal(x, size, client)
        slope = self.combined((1, x), (-1, p))
        if kind == "slope":
            most = times(times(size, size), times(constant, constant))
            yield from ((key, times(most, c)) for key, c in self.constant("one"))
            yield from ((key, (-c[0], c[1])) for key, c in self.inner("one", slope, slope))
            return
        y = self.vector(at["y"])
        step = self.combined((1, y), (-1, p))
        yield from self.regulariser(y, client)
        yield from ((key, (-c[0], c[1])) for key, c in self.regulariser(p, client))
        yield from ((key, times((-size[1], size[0]), c)) for key, c in self.inner("one", slope, step))
        if "weak" in at:
            if not self.signed(at["weak"]):
                raise Rejected("identity: got weak convexity whose form does not show that it is not negative")
            self.trusted[f"trusted: z3, 1 - {at['weak'].raw} * {given.raw} > 0"] = None
            half = scaled(self.number(at["weak"]), "1/2", self.context)
            yield from ((key, times(half, c)) for key, c in self.inner("one", step, step))

    def terms(self, node: Node) -> Iterator[tuple[tuple[object, ...], Fraction]]:
        for part in node.items():
            factor, term = part.items(2)
            c = self.number(factor)
            yield from ((key, times(c, d)) for key, d in self.term(term))

    def checked(self) -> Checked:
        trusted = self.trusted
        atoms: dict[str, None] = {}
        for identity in self.identities:
            at = identity.fields("left by")
            rest: Terms = {}
            gather(rest, self.terms(at["left"]))
            for node in at["by"].items():
                fields = node.fields("multiplier sign atom")
                if fields["sign"].one_of(("form", "z3")) == "z3":
                    trusted[f"trusted: z3, {fields['multiplier'].raw} >= 0"] = None
                elif not self.signed(fields["multiplier"]):
                    raise Rejected(f"{fields['multiplier'].where}: got a multiplier whose form does not show its sign")
                factor = self.number(fields["multiplier"])
                gather(rest, ((key, times((-factor[0], factor[1]), c)) for key, c in self.atom(fields["atom"])))
                kind = fields["atom"].mapping()["kind"].raw
                atoms[str(kind)] = None
                if kind == "assumed":
                    trusted["an assumption of the run, as its terms"] = None
                if kind in ("assumed", "variance"):
                    self.expected()
            left = {key: c for key, c in rest.items() if not c[0].is_zero()}
            if left:
                key, (top, below) = next(iter(left.items()))
                raise Rejected(f"{identity.where}: got ({top})/({below}) {key} left over, expected nothing")
        return Checked(tuple(trusted), tuple(atoms))


def read(file: Node) -> Identities:
    more = "statement because claim charges squares single composite share pathwise groups alone kept fenchel"
    at = file.fields("format parameters names identities", more)
    at["format"].one_of((FORMAT,))
    known = {name: node.fields("means sign") for name, node in at["parameters"].mapping().items()}
    signs = {name: fields["sign"].one_of(SIGNS) for name, fields in known.items()}
    context = fmpq_mpoly_ctx.get(tuple(signs) or ("none",), "degrevlex")
    made = Identities(
        signs,
        context,
        {name: (g, context.constant(1)) for name, g in zip(signs, context.gens(), strict=False)},
        at.get("squares"),
        "single" in at and at["single"].flag(),
        "composite" in at and at["composite"].flag(),
        at.get("share"),
        at["identities"].items(),
        "pathwise" in at and at["pathwise"].flag(),
    )
    if "groups" in at and at["groups"].flag():
        made.trusted["trusted: the losses are two groups of parabolas, as the terms have them"] = None
    if "alone" in at and at["alone"].flag():
        made.trusted["trusted: there is one client, whose vectors are the means"] = None
    if "fenchel" in at and at["fenchel"].flag():
        made.trusted[
            "trusted: g*(s) = <s, p> - g(p) for a subgradient s of the convex g at p, as the terms have it"
        ] = None
    for node in at["kept"].items() if "kept" in at else ():
        made.trusted[f"trusted: the method's rules keep {node.name()} at a formula"] = None
    for node in at["names"].items():
        made.name(node)
    return made


def plus(a: Fraction, b: Fraction) -> Fraction:
    spend(sum(map(len, (*a, *b))) ** 2)
    return lowest(a[0] * b[1] + b[0] * a[1], a[1] * b[1])


def times(a: Fraction, b: Fraction) -> Fraction:
    spend(sum(map(len, (*a, *b))) ** 2)
    return lowest(a[0] * b[0], a[1] * b[1])


def scaled(a: Fraction, by: str, context: fmpq_mpoly_ctx) -> Fraction:
    return lowest(a[0] * context.constant(Node(by, "").rational()), a[1])


def lowest(top: fmpq_mpoly, below: fmpq_mpoly) -> Fraction:
    """In lowest terms, the leading coefficient below the line being 1."""
    common = below if top.is_zero() else top.gcd(below)
    top, below = top / common, below / common
    lead = below.leading_coefficient()
    return top / lead, below / lead


def gather(total: Terms, parts: Iterator[tuple[tuple[object, ...], Fraction]]) -> None:
    for key, c in parts:
        total[key] = plus(total[key], c) if key in total else c
