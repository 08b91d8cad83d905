"""A method's vectors and measures at a round and a local step, as the normal form has them.

The place is (round, step) = `at`, any round and any number of local steps. A quantity one step later is its definition
at what the method's own rules make of the vectors; one round later, where the step is the last one, likewise. All
clients compute; whoever was not drawn has, once the round is over, what it had before. Noise is new in every step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flint import fmpq

from ...core.expression import Op, Tree
from ...core.method import Atom, Number, Rule
from ...core.rational import Rejected
from ..forms import Need, substituted
from ..polynomials import Form, text
from .combinations import (
    ALL,
    ANY,
    EXACT,
    FLAT,
    GROUPS,
    MEAN,
    OWN,
    SAME,
    SAMPLED,
    Name,
    Normal,
    Scalar,
    Term,
    Vec,
    constant,
    inner,
    number,
    single,
    times,
)  # fmt: skip
from .frame import LEAST, LEAST_EACH, STAR, Frame, speaks, steps_in, weightless

Values = Mapping[str, Tree]
START, LEAST_F, LEAST_OF_EACH = "start!", "least F", "least f"
ROUND, STEP = "#t", "#k"  # any round, any step
OF_GROUPS = ("name", "zero", "start", "axis", "point", "+", "*", "grad", "noisy")  # affine, and of a client alone


def plus(tree: Tree, c: int) -> Tree:
    return Op("+", (tree, fmpq(c)))


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """`needs`: where what was read is defined, and signs that it takes; the rules that it takes are in `normal`."""

    frame: Frame
    at: tuple[Tree, Tree]
    normal: Normal
    needs: list[Need] = field(default_factory=list[Need])
    named: dict[tuple[str, str, str], Vec] = field(default_factory=dict[tuple[str, str, str], Vec])

    # --- scalars -----------------------------------------------------------------------------------------------------

    def form(self, tree: Tree, values: Values | None = None) -> Form:
        tree = self.plain(substituted(tree, values or {}))
        self.needs.extend(self.frame.forms.needs(tree))
        return self.frame.forms.form(tree)

    def plain(self, tree: Tree) -> Tree:
        """With 1/C for the weights, where they are equal."""
        return weightless(tree, self.frame.size("C")) if self.frame.even else tree

    def positive(self, tree: Tree, values: Values | None = None) -> Form:
        self.needs.append(Need("positive", substituted(tree, values or {})))
        return self.form(tree, values)

    def same(self, one: Tree, other: Tree) -> bool:
        return self.frame.forms.text(one) == self.frame.forms.text(other)

    @property
    def now(self) -> Values:
        return {"t": self.at[0], "k": self.at[1]}

    @property
    def first(self) -> bool:
        """Whether this is the first round."""
        return self.same(self.at[0], self.frame.first)

    def client(self, tree: Tree) -> str:
        """The tag of one client."""
        frame = self.frame
        ends = (fmpq(1), frame.size("C"))
        if isinstance(tree, str):
            declared = frame.letters.get(tree) == "client"
            low, high = frame.claim.for_all.get(tree, (None, None))
            everyone = low is not None and high is not None and self.same(low, ends[0]) and self.same(high, ends[1])
            if declared or everyone:
                return "@" if frame.alone or frame.setting.one else f"@{tree}"
        raise Rejected(f"got the client {tree}, expected a letter that stands for clients")

    # --- vectors -----------------------------------------------------------------------------------------------------

    def vector(self, x: Rule, when: str, plain: str = "", other: str = "", values: Values | None = None) -> Vec:
        """`x` with the vectors of the client `plain` (of `other` in another client's) as they are then."""

        def read(inside: Rule, who: str = plain, then: str = when) -> Vec:
            return self.vector(inside, then, who, other, values)

        frame, of_client = self.frame, bool(plain)
        everyone = "ended" if when == "drawn" else when  # of whom some were not drawn
        if plain in self.members and x.op not in OF_GROUPS and not self._of_everyone(x):
            raise Rejected(
                f"got the vector {x.op!r} of a group, expected one whose mean over the group is that of means"
            )
        match x.op:
            case "name":
                key = (x.name, when, plain)
                if key not in self.named:
                    self.named[key] = self._named(x.name, when, plain)
                return self.named[key]
            case "zero":
                return Vec({})
            case "start" if frame.groups is not None:
                return self.line.scaled(self.form(frame.groups.begins))
            case "start":
                return single(Name(START))
            case "w_star":
                return self.star
            case "axis" if values is not None and "n" in values:
                return single(Name(f"unit {frame.forms.text(values['n'])}", unit=True))
            case "axis" if frame.groups is not None:  # e, of which no measure knows the sign
                return self.line
            case "mean" | "sampled" | "neighbours" if other == ANY and x.has("other"):
                raise Rejected("got a mean of another client's, under a mean over that client")
            case "mean" | "neighbours" if frame.groups is not None and self._of_everyone(x):
                total = Vec({})
                for group, (share, _, _) in self.members.items():
                    total = total + read(x.args[0], group, everyone).scaled(self.form(share))
                return total
            case "grad" if plain in self.members:
                _, curve, force = self.members[plain]
                return read(x.args[0]).scaled(self.form(curve)) + self.line.scaled(self.form(force))
            case "point":
                return single(Name(f"point {x.name}"))
            case "+":
                total = Vec({})
                for arg in x.args:
                    total = total + read(arg)
                return total
            case "*" if x.factor is not None:
                return read(x.args[0]).scaled(self.form(x.factor, values))
            case "mean" if frame.alone or frame.setting.one:
                return read(x.args[0], "@", everyone)
            case "mean":
                return self.normal.mean_of(read(x.args[0], ANY, everyone))
            case "sampled" if frame.even and self.normal.share is not None and when not in ("updated", "start"):
                return self.normal.drawn_mean(read(x.args[0], ANY, "drawn" if when == "ended" else when))
            case "other" if other:
                return read(x.args[0], other)
            case "neighbours" if frame.assumes("broadcast"):
                return self.normal.mean_of(read(x.args[0], ANY, everyone))
            case "neighbours" if of_client:
                return self.normal.near_of(read(x.args[0], plain, everyone), plain)
            case "grad" if of_client:
                return self._gradient(read(x.args[0]).owned(plain), plain)
            case "prox" if x.factor is not None:
                return self._prox(read(x.args[0]).owned(plain), self.positive(x.factor, values), plain)
            case "oracle" | "full_prox" if x.factor is not None and (of_client or x.op == "full_prox"):
                return self.solved(read(x.args[0]), self.positive(x.factor, values), plain if x.op == "oracle" else "")
            case "noisy" if of_client and when in ("base", "begun", "local"):
                at = read(x.args[0])
                return at + self.noise(at, when, plain)
            case _:
                raise Rejected(f"got the vector {x.op!r} here, expected one that a premise can read")

    def _of_everyone(self, x: Rule) -> bool:
        return x.op == "mean" or (x.op == "neighbours" and self.frame.assumes("broadcast"))

    @property
    def members(self) -> Mapping[str, tuple[Tree, Tree, Tree]]:
        self.normal.charges.update((GROUPS,) if self.frame.groups is not None else ())
        return {} if self.frame.groups is None else self.frame.groups.members()

    @property
    def line(self) -> Vec:
        return single(Name("unit e", unit=True))

    @property
    def star(self) -> Vec:
        self.normal.charges.add(STAR)
        if self.frame.groups is not None:
            raise Rejected("got a minimiser of f, expected none beside two groups: there may be several")
        return single(Name("w*"))

    def _gradient(self, at: Vec, plain: str) -> Vec:
        name = Name(f"grad({at.label})", at.stage, point=at)
        if (self.frame.setting.one or self.frame.alone) and name.label in self.normal.flat:
            self.normal.charges.add(FLAT)
            return Vec({})
        return single(name, ALL if self._of_all(at) else plain)

    def _of_all(self, at: Vec) -> bool:
        """Whether what is taken there is the same for all clients: the function is, and so is the point."""
        same = self.frame.setting.same and not at.tags - {ALL, MEAN}
        self.normal.charges.update((SAME,) if same else ())
        return same

    def _prox(self, at: Vec, size: Form, plain: str) -> Vec:
        """The proximal point of g; w* where a proximal gradient step starts there, for -grad f is a subgradient."""
        if not self.frame.composite:
            raise Rejected("got a proximal point, expected a claim that reads a regulariser")
        slope = single(Name(f"grad({single(Name('w*')).label})"), "@" if self.frame.alone else MEAN)
        still = single(Name("w*")) - slope.scaled(size)
        if at.terms in (still.terms, still.owned(plain).terms):
            self.normal.charges.update((FLAT, STAR))
            return self.star
        if at.tags - {ALL, MEAN, OWN} or (OWN in at.tags and not plain):
            raise Rejected("got a proximal point of another client's, expected a shared point or the client's own")
        name = Name(f"prox({text(size)}, {at.label})", at.stage, point=at, step=size)
        return single(name, plain if OWN in at.tags else ALL)

    def solved(self, at: Vec, size: Form, plain: str) -> Vec:
        """The proximal point of f, or of the loss that the client draws in this round, after the point is known."""
        if at.tags - {ALL, MEAN, *(() if plain else (SAMPLED,))} or (plain and at.stage):
            raise Rejected("got a proximal point of a client's own point, expected a shared one")
        loss, stage = ("own", 1) if plain else ("full", at.stage)
        self.normal.charges.update((EXACT,) if plain else ())
        name = Name(f"{loss} prox({text(size)}, {at.label})", stage, point=at, step=size, loss=loss)
        return single(name, plain)

    def noise(self, at: Vec, when: str, plain: str) -> Vec:
        """New in every step: that of the next one is known later."""
        step = 1 if when == "local" else 0
        if at.stage > step:
            raise Rejected("got noise at a point that depends on the same noise, expected one that is known before")
        if plain in self.members:  # the mean over a group of what has mean zero
            return single(Name(f"noise({when}, {at.label}) of {plain}", step + 1, True, at))
        at = at.owned(plain)
        return single(Name(f"noise({'begun' if when == 'begun' else step}, {at.label})", step + 1, True, at), plain)

    def _named(self, x: str, when: str, plain: str) -> Vec:
        frame, method, now = self.frame, self.frame.method, self.now
        begun, started = {**now, "k": fmpq(0)}, {"t": frame.first, "k": fmpq(0)}
        ended = {**now, "k": frame.size("E")}
        if x in method.server:
            if when == "updated" and x in method.phases["update"]:
                return self.vector(method.phases["update"][x], "ended", plain, values=ended)
            if when == "start" or self.first:
                return self.vector(method.server[x], "start", values=started)
            if x in frame.kept:
                return self.vector(frame.kept[x], "base", plain, values=now)
            return single(Name(x))
        if not plain:
            raise Rejected(f"got {x!r}, expected it with its client")
        begin, local, end = frame.begin(x), frame.local(x), method.phases["end"].get(x)
        within = frame.within(x)
        if frame.claim.method is None and not within:  # of a setting: any vector of the client, and no start of a run
            return single(Name(x), plain)
        if not within and (when == "start" or (self.first and when not in ("ended", "drawn", "updated"))):
            return self.vector(method.client[x], "start", plain, values=started)
        if when == "begun" and begin is not None:
            return self.vector(begin, "round", plain, values=begun)
        if when == "local" and local is not None:
            return self.vector(local, "base", plain, values=now)
        undone = begin is None and (end is not None or local is not None) and method.rules_use("sampled")
        if when in ("ended", "updated") and undone:  # who was not drawn keeps what it had
            raise Rejected(f"got {x!r} of every client after a round, expected that of those that were drawn")
        unrolled = frame.single and self.same(self.at[1], fmpq(0))  # what one step makes of the round's begin
        if end is not None and (when in ("ended", "drawn") or (when == "updated" and not within)):
            return self.vector(end, "stepped" if unrolled else "base", plain, values=ended)
        if unrolled and within and when in ("ended", "drawn", "stepped"):
            return self.vector(local or Rule("name", name=x), "begun", plain, values=begun)
        still = x in frame.kept and local is None and when == "round"  # the same at every step of the round
        if within and not still and when in ("start", "round", "begun", "updated"):
            raise Rejected(f"got {x!r} of the whole round, expected it at a local step")
        if x in frame.kept:
            return self.vector(frame.kept[x], "base", plain, values=now)
        if not within and self.first:
            return self.vector(method.client[x], "start", plain, values=started)
        if plain in self.members:
            return single(Name(f"{x} of {plain}"))
        late = within and (method.rules_use("oracle", "batch_grad"))  # it may depend on what the round draws
        settled = frame.settled(x)
        return single(Name(x, int(late), centre=Name(settled) if settled else None), plain)

    # --- numbers -----------------------------------------------------------------------------------------------------

    def number(self, x: Number, when: str, plain: str = "", other: str = "", values: Values | None = None) -> Scalar:
        parts = ((self.form(c, values), self.atom(atom, when, plain, other, values)) for c, atom in x)
        return tuple(pair for c, part in parts for pair in times(c, part))

    def atom(self, x: Atom, when: str, plain: str, other: str, values: Values | None) -> Scalar:
        one = number(1)
        points = [self.vector(arg, when, plain, other, values) for arg in x.args]
        match x.op:
            case "one":
                return constant(one)
            case "norm2":
                return inner(points[0], points[0])
            case "inner":
                return inner(points[0], points[1])
            case "f":
                return self.value(points[0])
            case "F":
                return (*self.value(points[0]), *self.regulariser(points[0], plain))
            case "g":
                return self.regulariser(points[0], plain)
            case "conjugate":
                return self._conjugate(points[0])
            case "f_star":
                return self.least()
            case "f_i" if plain:
                return self.value_of(points[0], plain)
            case "f_i_star" if plain:
                self.normal.charges.add(LEAST_EACH)
                return ((one, Term("value", label=LEAST_OF_EACH, tag=plain)),)
            case "mean" if x.inside is not None and (self.frame.alone or self.frame.setting.one):
                return self.atom(x.inside, when, "@", other, values)
            case "mean" if x.inside is not None:
                return self.normal.under_mean(self.atom(x.inside, when, ANY, "", values))
            case _:
                raise Rejected(f"got the number {x.op!r}, expected one that a premise can read")

    def least(self) -> Scalar:
        """The least value of f, or of F where there is a regulariser."""
        if self.frame.groups is not None:
            return ()
        self.normal.charges.add(LEAST)
        if self.frame.composite and not self.frame.alone:
            return ((number(1), Term("value", label=LEAST_F)),)
        more = self.regulariser(self.star, "") if self.frame.composite else ()  # w* minimises f + g
        return (*self.value(single(Name("w*"))), *more)

    def value(self, at: Vec) -> Scalar:
        """f = sum_i p_i f_i at a point that all clients share."""
        if self.frame.groups is not None:
            if at.tags - {ALL}:
                raise Rejected("got f at a client's own point, expected a shared one")
            curves = [self.form(share) * self.form(curve) for share, curve, _ in self.members.values()]
            return times(number(fmpq(1, 2)) * (curves[0] + curves[1]), inner(at, at))
        if self.frame.alone or self.frame.setting.one:
            return self.value_of(at, "@")
        if ANY in at.tags:
            raise Rejected("got f at a client's own point under a mean, expected a shared point")
        if self._of_all(at):
            return ((number(1), Term("value", vectors=(at,), label=f"f({at.label})")),)
        return ((number(1), Term("value", "mean", (at,), f"f({at.label})", ANY)),)

    def value_of(self, at: Vec, plain: str, op: str = "value") -> Scalar:
        """f_i of the client, or the loss that it draws."""
        at = at.owned(plain)
        tag = ALL if op == "value" and self._of_all(at) else plain
        return ((number(1), Term(op, vectors=(at,), label=f"f({at.label})", tag=tag)),)

    def regulariser(self, at: Vec, plain: str) -> Scalar:
        at = at.owned(plain)
        if at.tags - {ALL, MEAN, OWN} or not self.frame.composite:
            raise Rejected("got g at a point of another client, expected a shared one")
        tag = plain if OWN in at.tags else ALL
        return ((number(1), Term("regulariser", vectors=(at,), label=f"g({at.label})", tag=tag)),)

    def _conjugate(self, s: Vec) -> Scalar:
        """g*(s) = <s, p> - g(p) for s = (x - p)/step, p the proximal point of x: a subgradient of g there."""
        for p, tag in s.terms:
            if p.point is not None and p.step is not None and not p.loss and tag == ALL:
                at = single(p)
                if not (s - (p.point - at).scaled(p.step.inverse())).terms:
                    return (*inner(s, at), *times(number(-1), self.regulariser(at, "")))
        raise Rejected("got the conjugate of something else, expected what a proximal step divided by its size is")


def reader(frame: Frame, at: tuple[Tree, Tree] | None) -> Reader:
    """A reader at this place; at any round and step where there is none."""
    C, m, forms = frame.size("C"), frame.size("m"), frame.forms
    weight: Tree = Op("at", (frame.setting.weights, "i"))
    squares = Op("sum", ("i", fmpq(1), C, Op("^", (weight, fmpq(2)))))
    star = f"grad({single(Name('w*')).label})"
    flat = frozenset[str]() if frame.composite else frozenset({star})
    share = None
    if frame.setting.drawn or (frame.assumes("without_replacement") and m in forms.domains):
        others = Op("max", (plus(C, -1), fmpq(1)))
        few = Op("+", (C, Op("*", (fmpq(-1), m))))
        share = forms.form(Op("*", (few, Op("^", (m, fmpq(-1))), Op("^", (others, fmpq(-1))))))
    sum_of_squares = Op("^", (C, fmpq(-1))) if frame.even else squares
    squares_of_weights = forms.form(sum_of_squares) if C in forms.domains else None
    return Reader(frame, at or (ROUND, STEP), Normal(flat, squares_of_weights, share))


def check_kept(frame: Frame) -> None:
    """Reject unless the rules keep every vector of `kept` at its formula before every local step of every round."""
    method = frame.method
    if cycle := _cycle(frame.kept):
        raise Rejected(f"proof.frame.kept: got {cycle}, expected formulas that do not speak of one another in a ring")
    for x, form in frame.kept.items():
        if x not in {*method.server, *method.client} or form.has("noisy", "sampled", "other"):
            raise Rejected(f"proof.frame.kept: got {x!r}, expected a vector of the method and a formula without noise")
        broken = _broken(frame, x, form)
        if broken:
            raise Rejected(f"proof.frame.kept: got {x!r} as a formula, expected the rules to keep it: {broken}")


def _cycle(kept: Mapping[str, Rule]) -> list[str]:
    """Vectors whose formulas lead back to them."""
    left = dict(kept)
    while free_ones := [x for x, form in left.items() if not speaks(form, list(left))]:
        left = {x: form for x, form in left.items() if x not in free_ones}
    return sorted(left)


def _broken(frame: Frame, x: str, form: Rule) -> str:
    method, client = frame.method, "@" if frame.alone else "@#i"
    place, last = reader(frame, (ROUND, STEP)), reader(frame, (ROUND, frame.size("E")))

    def differs(where: Reader, when: str, round_: Tree, step: Tree) -> bool:
        left = where.vector(Rule("name", name=x), when, client)
        return bool((left - where.vector(form, when, client, values={"t": round_, "k": step})).terms)

    within = [y for y in (*method.client, *frame.ghosts) if frame.within(y)]
    stays = x not in within or frame.local(x) is None
    if stays and (steps_in(form) or speaks(form, [*within, *(method.phases["end"] if x in within else ())])):
        return "it is the same in a round, and the formula is not"
    if x in within:
        if frame.begin(x) is None or differs(place, "begun", ROUND, fmpq(0)):
            return "not when a round begins"
        if not stays and differs(place, "local", ROUND, plus(STEP, 1)):
            return "not after a local step"
    elif differs(place, "start", frame.first, fmpq(0)) or differs(last, "updated", plus(ROUND, 1), fmpq(0)):
        return "not when the run begins, or not after a round"
    frame.owed(sorted(place.normal.charges | last.normal.charges))
    return "" if all(map(frame.forms.shows, (*place.needs, *last.needs))) else "a denominator may be 0"
