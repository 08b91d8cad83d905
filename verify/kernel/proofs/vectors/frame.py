"""What a premise may speak of: the claim's method or setting, and the names and vectors that only the proof has.

The proof may name quantities (written as a method's measures are), vectors of the clients with rules of their own
(`ghosts`), and formulas that vectors equal before every local step (`kept`, which the method's rules have to show).
Everything else is the method's: its rules, its letters, its sizes, and what its weights and draws are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from flint import fmpq

from ...core.assumptions import CURVATURE, OF_MEAN
from ...core.claim import Assumption, Claim
from ...core.expression import Op, Tree, free, parse
from ...core.method import Atom, Measure, Method, Rule, factors, rules, scalars
from ...core.rational import Node, Rejected
from ...core.read_method import Vectors
from ...core.read_method import read as read_method
from ..forms import BOUND, Forms
from .combinations import DRAWN, EXACT, FLAT, FRESH, GROUPS, INDEPENDENT, NEAR, SAME, SIGN, SUM, UNBIASED
from .settings import Setting, setting_of

FIELDS = "measures before ghosts kept shares alone single groups"
ROUND = frozenset("tk")
ONE_ATOM = Atom("one")
STRONG, OF_F = (tuple(name for name, (low, _) in ends.items() if low == 1) for ends in (CURVATURE, OF_MEAN))
STRONGLY_CONVEX = (*STRONG, *OF_F)  # which say nothing with the constant 0
GROUP = ("steep", "flat", "idle")
STAR, LEAST, LEAST_EACH = "a minimiser of f", "a least value of f", "a least value of every f_i"
GIVEN_BY: Mapping[str, tuple[str, ...]] = {  # rule -> the assumptions that give it
    SUM: ("weights_sum_to_one", "distribution", "equal_weights", "similarity_weights"),
    SIGN: ("nonnegative_weights", "positive_weights", "distribution", "equal_weights", "similarity_weights"),
    UNBIASED: ("bounded_variance", "exact_variance", "minibatch_variance", "independent"),
    INDEPENDENT: ("independent_noise", "independent"),
    FLAT: (*(name for name, (_, high) in CURVATURE.items() if high is not None), "differentiable"),
    DRAWN: ("without_replacement",),
    NEAR: ("similarity_weights",),
    EXACT: ("exact_oracle",),
    FRESH: (),
    SAME: ("identical",),
    GROUPS: ("two_groups",),
    STAR: ("has_minimum", *STRONGLY_CONVEX),
    LEAST: ("has_minimum", *STRONGLY_CONVEX, "lower_bounded"),
    LEAST_EACH: STRONG,
}


@dataclass(frozen=True, slots=True)
class Groups:
    """Two groups of parabolas along a line with the unit vector e, which is turned so that the run starts at
    begins e with begins >= 0: f_i = mu w^2/2 + G w in one half, mu w^2/4 - G w in the other, and f_i = 0 for a last
    client if their number is odd; `idle` is its weight, 0 or 1/C. A group's mean moves by the rule of its members.
    """

    idle: str
    begins: str
    mu: str
    G: str

    def members(self) -> dict[str, tuple[Tree, Tree, Tree]]:
        """For each group, its share in all weights, and the a and b of its gradient a w + b e."""
        # Equal weights: each group has half of what the idle client leaves.
        half = Op("*", (fmpq(1, 2), Op("+", (fmpq(1), Op("*", (fmpq(-1), self.idle))))))
        flat = Op("*", (fmpq(1, 2), self.mu)), Op("*", (fmpq(-1), self.G))
        return {
            "steep group": (half, self.mu, self.G),
            "flat group": (half, *flat),
            "idle group": (self.idle, fmpq(0), fmpq(0)),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    claim: Claim
    forms: Forms
    letters: Mapping[str, str]
    method: Method
    setting: Setting
    measures: Mapping[str, Measure] = field(default_factory=dict[str, Measure])  # of the proof alone
    ghosts: Mapping[str, tuple[Rule, Rule]] = field(default_factory=dict[str, "tuple[Rule, Rule]"])
    kept: Mapping[str, Rule] = field(default_factory=dict[str, Rule])
    shares: str = ""  # what the proof calls q_ij
    alone: bool = False  # there is one client: whoever uses the frame has to show it
    single: bool = False  # a round has one local step: likewise
    groups: Groups | None = None
    grouped: Mapping[str, str] = field(default_factory=dict[str, str])  # measure -> the group whose means it reads

    def size(self, name: str) -> str:
        """The claim's letter for C, E, T or m."""
        return letter(self.method.names, name)

    def measured(self, name: str) -> Measure | None:
        """What a quantity is, by the proof or by the method."""
        return self.measures.get(name) or self.method.measures.get(name)

    @property
    def first(self) -> Tree:
        return fmpq(self.method.counts_from)

    def assumes(self, name: str, *constants: str) -> bool:
        return (name, constants) in made(self.claim)

    def named(self, *names: str) -> bool:
        """Whether one of these assumptions is made, whatever its constants; of strong convexity, one above 0."""
        assumed = [(name, args) for name, args in made(self.claim) if name in names]
        # With mu = 0 strong convexity is convexity, which gives no minimiser.
        above = [name for name, args in assumed if all(self.claim.domains[arg] == "positive" for arg in args)]
        return any(name not in STRONGLY_CONVEX or name in above for name, _ in assumed)

    @property
    def composite(self) -> bool:
        """Whether there is a regulariser."""
        return self.setting.composite or self.method.composite

    @property
    def even(self) -> bool:
        return self.setting.even or self.assumes("equal_weights")

    def begin(self, x: str) -> Rule | None:
        return self.ghosts[x][0] if x in self.ghosts else self.method.phases["begin"].get(x)

    def local(self, x: str) -> Rule | None:
        return self.ghosts[x][1] if x in self.ghosts else self.method.phases["local"].get(x)

    def within(self, x: str) -> bool:
        """Whether it changes within a round."""
        return self.begin(x) is not None or self.local(x) is not None

    def settled(self, x: str) -> str:
        """The server's vector that is the mean of x over the clients from round to round, by the rules; or nothing.

        x starts there and is left alone until the round ends; then it is the mean of y over the client's neighbours,
        and the server's vector the mean of y over all clients.
        """
        method = self.method
        start, rule = method.client.get(x), method.phases["end"].get(x)
        if start is None or start.name not in method.server or rule is None or rule.op != "neighbours":
            return ""
        (y,) = rule.args
        changed = self.within(x) or y.name in method.phases["end"] or method.rules_use("sampled")
        same = y.name in method.client and method.phases["update"].get(start.name) == Rule("mean", (y,))
        return start.name if same and not changed else ""

    def vector(self, node: Node) -> Rule:
        return self._vectors.rule(node, own=True)

    @property
    def _vectors(self) -> Vectors:
        return Vectors(set(self.method.server), {*self.method.client, *self.ghosts})

    def owed(self, charges: Sequence[str]) -> None:
        """Reject unless the claim's assumptions, or its setting, give every rule that was used."""
        for rule in charges:
            if not (rule in self.setting.gives or self.named(*GIVEN_BY[rule]) or self._read(rule)):
                raise Rejected(f"got the rule {rule!r}, expected a claim that assumes one of {GIVEN_BY[rule]}")

    def _read(self, rule: str) -> bool:
        """What the claim itself says by what it reads."""
        own = [self.measures[name] for name in self.setting.measures if name in self.claim.domains]
        spoken = {part.op for measure in (*own, *self.method.measures.values()) for part in _atoms(measure)}
        if rule == FLAT:
            return self.claim.setting == "run" and not self.named("subgradients")
        if rule == FRESH:  # the loss of a local problem is drawn in its round
            return self.method.rules_use("oracle")
        if rule in (STAR, LEAST):
            return bool(spoken & {"w_star", "f_star"}) or ("Gamma", -1) in self.claim.needs
        if rule == LEAST_EACH:
            return "f_i_star" in spoken or ("Gamma", -1) in self.claim.needs
        return False


def letter(names: Mapping[str, str], size: str) -> str:
    """What stands for a size of the run; a name of the kernel where the claim calls something else so."""
    own = f"{BOUND}{size}" if size in names else size
    return next((letter for letter, named in names.items() if named == size), own)


def _atoms(measure: Measure) -> list[Atom | Rule]:
    parts: list[Atom | Rule] = [*rules(measure.terms)]
    for _, atom in measure.terms:
        inside: Atom | None = atom
        while inside is not None:
            parts.append(inside)
            inside = inside.inside
    return parts


def made(claim: Claim) -> list[Assumption]:
    """The assumptions that say what the kernel knows by their name: one with a meaning of its own says that alone."""
    return [one for one in claim.assumptions if one[0] not in claim.means]


def known(claim: Claim) -> dict[str, str]:
    """Names of a run or a setting and their domains, whether or not the claim speaks of them: weights, the number of
    drawn clients, what a setting has.
    """
    setting = setting_of(claim)
    if claim.method is None:
        return {} if setting is None else setting.known
    names = claim.algorithm.names
    letter = next((letter for letter, own in names.items() if own == "m"), "" if "m" in names else "m")
    return {"p": "real"} | ({letter: "count"} if letter and letter not in claim.for_all else {})


def indexed(claim: Claim) -> set[str]:
    """Indexed measures of a setting: that an instance lies in their declared domain is not checked at every index."""
    setting = setting_of(claim)
    return set() if setting is None else {name for name, raw in setting.measures.items() if raw["at"]}


def read(node: Node | None, claim: Claim, forms: Forms, letters: Mapping[str, str]) -> Frame | None:
    """The frame of a claim about a run or about a setting that has vectors; nothing for other claims."""
    setting = setting_of(claim)
    if setting is None:
        return None
    method = read_method(Node(setting.method, "setting")) if claim.method is None else claim.algorithm
    if method.steps:
        return None
    fields = node.fields("", FIELDS) if node is not None else {}
    ghosts = {name: entry.items(2) for name, entry in fields["ghosts"].mapping().items()} if "ghosts" in fields else {}
    if clash := set(ghosts) & {*method.server, *method.client}:
        raise Rejected(f"proof.frame.ghosts: got {sorted(clash)}, expected names that the method's vectors do not have")
    # Every rule below is read under the mean over all clients, drawn or not.
    if any(rule.has("sampled") for phase in ("begin", "local", "end") for rule in method.phases[phase].values()):
        return None  # what the clients have may then depend on who is drawn
    vectors = Vectors(set(method.server), {*method.client, *ghosts})
    measures = {name: Node(raw, name) for name, raw in setting.measures.items()}
    measures |= fields["measures"].mapping() if "measures" in fields else {}
    kept = fields["kept"].mapping() if "kept" in fields else {}
    frame = Frame(
        claim,
        forms,
        letters,
        method,
        setting,
        {name: _measure(entry, vectors) for name, entry in measures.items()},
        {name: (vectors.rule(begin, True), vectors.rule(local, True)) for name, (begin, local) in ghosts.items()},
        {name: vectors.rule(entry, True) for name, entry in kept.items()},
        fields["shares"].name() if "shares" in fields else "",
        "alone" in fields and fields["alone"].flag(),
        "single" in fields and fields["single"].flag(),
        _groups(fields["groups"], claim) if "groups" in fields else None,
        {
            name: f"{x['group'].one_of(GROUP)} group"
            for name, entry in measures.items()
            if "group" in (x := entry.mapping())
        },
    )
    if any(rule.has("sampled", "other") for both in frame.ghosts.values() for rule in both):
        raise Rejected("proof.frame.ghosts: got drawn or other clients, expected vectors of a client alone")
    if wrong := _spoken(frame) & {*letters, *frame.measures, *method.measures}:
        raise Rejected(f"proof.frame: got {sorted(wrong)} in rules or measures, expected no letters and no measures")
    return frame


def _spoken(frame: Frame) -> set[str]:
    """Names in measures and rules beside their own places. A letter has many values there, or, like a measure, a
    formula that may speak of the very thing.
    """
    method = frame.method
    blocks = (method.server, method.client, *method.phases.values(), frame.kept)
    parts = [
        *(rule for block in blocks for rule in block.values()),
        *(x for both in frame.ghosts.values() for x in both),
    ]
    trees = [(tree, ROUND) for tree in scalars(*parts)]
    for measure in (*method.measures.values(), *frame.measures.values()):
        trees += [(tree, ROUND | {*measure.at}) for tree in factors(measure.terms)]
    return {name for tree, places in trees for name, _ in free(tree, places)}


def _groups(node: Node, claim: Claim) -> Groups:
    fields = node.fields("idle begins")
    constants = next((args for name, args in made(claim) if name == "two_groups"), ("", ""))
    if ("equal_weights", ()) not in made(claim) or len(constants) != 2 or not constants[0]:
        raise node.malformed("a claim about two groups with equal weights")
    return Groups(fields["idle"].name(), fields["begins"].name(), constants[0], constants[1])


def _measure(node: Node, vectors: Vectors) -> Measure:
    """An expectation, at the round and the local step (both or the first), then at a client, two, or a coordinate."""
    if "over" in node.mapping():
        return vectors.measure(node, clocked=False)
    fields = node.fields("at terms", "group")
    at = tuple(index.one_of("tkijn") for index in fields["at"].items())
    if at != tuple(sorted(at, key="tkijn".index)) or len(set(at)) < len(at) or ("k" in at and "t" not in at):
        raise fields["at"].malformed("indices in the order t, k, i, j, n; k only with t")
    terms = [term.items(2) for term in fields["terms"].items()]
    return Measure(at, tuple((parse(c), ONE_ATOM if x.raw == ["one"] else vectors.atom(x, True)) for c, x in terms))


def weightless(tree: Tree, clients: str) -> Tree:
    """With 1/C for every weight p_i."""
    if not isinstance(tree, Op):
        return tree
    if tree.name == "at" and tree.args[0] == "p":
        return Op("^", (clients, fmpq(-1)))
    return Op(tree.name, tuple(weightless(arg, clients) for arg in tree.args))


def speaks(rule: Rule, names: Sequence[str]) -> bool:
    return any(part.op == "name" and part.name in names for part in rule.all())


def steps_in(rule: Rule) -> bool:
    """Whether a formula changes with the local step."""
    return any(name == "k" for part in rule.all() for tree in part.trees() for name, _ in free(tree))
