"""FedProx (1.3) and FedMSPP (algorithm 1) of Yuan and Li on losses of one variable, replayed exactly.

The local oracle returns what the instance tells it to, w_{t-1} + step (prox - w_{t-1}) + shift, and how far from
optimal that is is computed. Devices that take part and their minibatches are enumerated ("paths"); where every risk is
a quadratic of one curvature all along an exact run, its moments have a closed form ("moments"), and T may be large.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise, product
from math import comb, prod

from flint import arb, fmpq

from .claim import Claim
from .expression import Value, World
from .loss import ZERO
from .minibatch import SETS, batches, probabilities
from .pieces import Pieces, mix
from .pieces import read as read_pieces
from .rational import Node, Rejected, affordable, shown
from .work import HASH, paid, spend, summed

LARGE, SOLVES, MINIBATCH = 10**9, 20_000, 1_000
EXACT = 1_000  # rounds up to which moments are followed one by one, as rationals; beyond, balls
ONE = fmpq(1)
INPUTS = {"eta": "positive", "rho": "positive"}


def mean(values: Iterable[fmpq]) -> fmpq:
    listed = list(values)
    return summed(listed) / len(listed)


def similar(risks: Sequence[Pieces], whole: Pieces, B: fmpq) -> bool:
    """Whether the mean of risks'^2 is at most B^2 whole'^2 everywhere: a quadratic in y on every common piece."""
    ends = sorted({x for f in risks for x, _, _ in f.knots}) or [ZERO]
    pieces = [(low, ONE, high - low) for low, high in pairwise(ends)]
    for x, side, length in [(ends[0], -ONE, None), *pieces, (ends[-1], ONE, None)]:  # f' = s + c y, y in [0, length]
        lines: list[tuple[fmpq, fmpq]] = []
        for f in (*risks, whole):
            at, beyond = f.gradient(x), f.gradient(x + side * (length or ONE))
            lines.append((at, (beyond - at) / (length or ONE)))
        a, b, c = (
            B**2 * p * q - mean(r * s for r, s in others)
            for p, q, others in (
                (lines[-1][1], lines[-1][1], [(k, k) for _, k in lines[:-1]]),
                (2 * lines[-1][0], lines[-1][1], [(2 * s, k) for s, k in lines[:-1]]),
                (lines[-1][0], lines[-1][0], [(s, s) for s, _ in lines[:-1]]),
            )
        )
        if c < 0 or (length is None and (a < 0 or (a == 0 and b < 0))):
            return False
        if length is not None and a * length**2 + b * length + c < 0:
            return False
        inside = a > 0 and b < 0 and (length is None or -b < 2 * a * length)
        if inside and 4 * a * c < b**2:
            return False
    return True


class Device:
    """The losses of one device, their mean, and the minibatch risks that it may draw, with probabilities."""

    def __init__(self, node: Node, b: int, full: bool) -> None:
        given = node.fields("q losses", "sample")
        self.losses = [read_pieces(entry) for entry in given["losses"].items()]
        q = probabilities(given["q"], len(self.losses))
        self.risk = mix(q, self.losses)
        self.empirical = self.risk  # of the training sample, whose shares of the points `sample` gives
        if "sample" in given:
            shares = probabilities(given["sample"], len(q))
            if any(share > 0 and chance == 0 for share, chance in zip(shares, q, strict=True)):
                raise Rejected(f"{node.where}.sample: got a point of probability 0, expected points that can be drawn")
            self.empirical = mix(shares, self.losses)
        self.batches = [(ONE, self.risk)]
        if not full and len(q) > 1:
            if b > MINIBATCH:
                raise node.malformed(f"minibatches of at most {MINIBATCH} points")
            drawn: list[tuple[fmpq, Pieces]] = []
            for orders, share in batches(len(q), b):
                chance = prod((p ** int(k * b) for p, k in zip(q, share, strict=True)), start=orders)
                drawn.append((chance, mix(share, self.losses)))
            self.batches = drawn


class Proximal(World):
    """`picked2(T)` and `picked_env2(T)`: E|grad|^2 of R and of its Moreau envelope at w_t, t uniform in 0, ..., T - 1,
    `picked_erm_env2(T)` of the envelope of the empirical risk;
    `move`, `residual`, `drift2`: the largest |w_t^(m) - w_{t-1}|, |w_t^(m) - w_{t-1} + eta d_t^(m)| and
    |grad R(w_{t-1}) - mean of d_t^(m)|^2 over rounds, devices and paths.
    """

    def __init__(self, devices: Sequence[Device], values: dict[str, fmpq], w0: fmpq) -> None:
        self.devices, self.values, self.known = devices, values, dict[str, Value]()
        self.M, self.I, self.T = (int(values[name].p) for name in ("M", "I", "T"))
        each = [f for device in devices for f in device.losses]
        each_one = [fmpq(1, len(devices))] * len(devices)
        self.risk = mix(each_one, [device.risk for device in devices])
        self.empirical = mix(each_one, [device.empirical for device in devices])
        self.settled: tuple[fmpq, ...] | None = None
        self.has_gradient = all(None not in f.curvatures() for f in each)
        listed, drawn = len(devices), max(len(device.batches) for device in devices)
        self.outcomes = comb(listed, min(self.I, listed)) * drawn ** min(self.I, listed, SOLVES)
        self.start(w0)
        self.ranges = dict.fromkeys(("picked2", "picked_env2", "picked_erm_env2"), ((self.T, self.T),))
        self.facts = {
            "full_participation": self.I == self.M,
            "independent_minibatches": True,  # all of them are enumerated
            "nonnegative_loss": all(f.bounded_below() for f in each),
            "full_batch": all(len(device.batches) == 1 for device in devices),
        }
        self.bounds = {
            "lipschitz": lambda G: all(f.lipschitz(G) for f in each),
            "smooth": lambda L: all(f.smooth(L) for f in each),
            "weakly_convex": lambda nu: all(f.weakly_convex(nu) for f in each),
            "lgd": lambda B: self.has_gradient and similar([device.risk for device in devices], self.risk, B),
        }

    def start(self, w0: fmpq) -> None:
        """The initial gaps of R and of its envelope, whose least values are the same."""
        least = self.risk.value(self.risk.least())
        self.values["Delta"] = self.risk.value(w0) - least
        self.values["K"] = fmpq(self.M, 2)  # half of the devices, in claims about two groups of them
        if self.has_gradient:
            self.values["g"] = abs(self.risk.gradient(w0))
        if rho := self.values.get("rho"):
            near = self.risk.prox(w0, rho)
            self.values["Delta_rho"] = self.risk.value(near) + (near - w0) ** 2 / (2 * rho) - least

    def oracle(self, gaps: Iterable[fmpq]) -> None:
        worst = max(gaps)
        self.facts["exact_oracle"] = worst == 0
        self.bounds["inexact"] = lambda eps: worst <= eps

    def quantity(self, name: str, indices: tuple[int, ...]) -> Value:
        if self.settled:
            a, rho = self.settled[0], self.values.get("rho")
            if name == "picked2":
                return self.stationary(*self.settled)
            if rho and name == "picked_env2":  # of a quadratic: (w - prox)/rho = a (w - c)/(1 + rho a)
                return self.stationary(*self.settled) / (1 + rho * a) ** 2
        if name not in self.known:
            raise Rejected(f"claim: got {name}, expected a quantity that this instance has")
        return self.known[name]

    # --- paths --------------------------------------------------------------------------------------------------------

    def walk(self, w0: fmpq, rules: Sequence[Sequence[tuple[fmpq, fmpq]]]) -> None:
        """All paths, equal iterates put together. Round t follows the rule of its number, or else the last one; once
        that one changes nothing, the rounds that are left are like this one."""
        law, sums = {w0: ONE}, dict[str, fmpq]()
        most, gaps, solves = dict[str, fmpq](), list[fmpq](), 0
        for t in range(self.T):
            current = self.stationarity(law)
            after: dict[fmpq, fmpq] = defaultdict(lambda: ZERO)
            for w, chance in law.items():
                solves += self.outcomes + sum(len(device.batches) for device in self.devices)
                if solves > SOLVES:
                    raise Rejected(f"instance: got more than {SOLVES} local problems and outcomes, expected fewer")
                told = zip(self.devices, rules[min(t, len(rules) - 1)], strict=True)
                local = [self.local(device, rule, w, gaps) for device, rule in told]
                for name, size in self.sizes(w, local).items():
                    most[name] = max(most.get(name, ZERO), size)
                for likely, v in self.drawn([[(q, v) for q, _, v in device] for device in local]):
                    spend(HASH)
                    after[paid(v)] += chance * likely
            still = t + 1 >= len(rules) and dict(after) == law
            for name, total in current.items():
                sums[name] = sums.get(name, ZERO) + total * fmpq(self.T - t if still else 1, self.T)
            if still:
                break
            law = after
        self.values |= most
        self.known |= sums
        self.oracle(gaps)

    def stationarity(self, law: dict[fmpq, fmpq]) -> dict[str, fmpq]:
        made: dict[str, fmpq] = {}
        if self.has_gradient:
            made["picked2"] = summed(q * self.risk.gradient(w) ** 2 for w, q in law.items())
        if rho := self.values.get("rho"):
            for name, risk in (("picked_env2", self.risk), ("picked_erm_env2", self.empirical)):
                made[name] = summed(q * ((w - risk.prox(w, rho)) / rho) ** 2 for w, q in law.items())
        return made

    def local(
        self, device: Device, rule: tuple[fmpq, fmpq], w: fmpq, gaps: list[fmpq]
    ) -> list[tuple[fmpq, Pieces, fmpq]]:
        """What the device returns for each minibatch: its probability, its risk, the point."""
        made: list[tuple[fmpq, Pieces, fmpq]] = []
        for chance, risk in device.batches:
            best, regularised = risk.prox(w, self.values["eta"]), risk.plus(1 / self.values["eta"], w)
            point = w + rule[0] * (best - w) + rule[1]
            gaps.append(regularised.value(point) - regularised.value(best))
            made.append((chance, risk, point))
        return made

    def sizes(self, w: fmpq, local: list[list[tuple[fmpq, Pieces, fmpq]]]) -> dict[str, fmpq]:
        points = [entry for device in local for entry in device]
        made = {"move": max(abs(v - w) for _, _, v in points)}
        if self.has_gradient:
            made["residual"] = max(abs(v - w + self.values["eta"] * risk.gradient(v)) for _, risk, v in points)
        if self.has_gradient and self.facts["full_batch"]:
            made["drift2"] = (self.risk.gradient(w) - mean(risk.gradient(v) for _, risk, v in points)) ** 2
        return made

    def drawn(self, local: list[list[tuple[fmpq, fmpq]]]) -> list[tuple[fmpq, fmpq]]:
        """(probability, w_t) over subsets of I devices, uniform without replacement, and their minibatches."""
        if len(local) == 1 and len(local[0]) == 1:  # devices that are all alike and draw nothing
            return local[0]
        joint = (outcome for subset in combinations(local, self.I) for outcome in product(*subset))
        ways = comb(self.M, self.I)
        return [(prod((q for q, _ in one), start=ONE) / ways, mean(v for _, v in one)) for one in joint]

    # --- moments ------------------------------------------------------------------------------------------------------

    def settle_down(self, w0: fmpq, low: fmpq, high: fmpq) -> None:
        """Exact steps where every risk is a (w - c_m)^2 / 2 on [low, high], which holds w_0 and every c_m.

        Then prox(w) = r w + (1 - r) c_m, r = 1/(1 + eta a), stays inside, and w_t - c = r (w_{t-1} - c) + (1 - r) z_t,
        c the mean of the c_m and z_t the deviation of I of them from it: independent, of mean 0.
        """
        if not low < high:
            raise Rejected(f"instance: got low = {shown(low)} and high = {shown(high)}, expected an interval")
        risks = [device.risk for device in self.devices]
        for f in risks:
            f.prox(w0, self.values["eta"])  # or rejected: no solution but the stationary point
        parts = [
            [s for s in f.segments() if (s[0] is None or s[0] < high) and (s[1] is None or s[1] > low)] for f in risks
        ]
        curvatures = {curvature for segments in parts for _, _, curvature in segments}
        a = curvatures.pop()
        centres = [low - f.slopes(low)[1] / a for f in risks] if a > 0 else []
        if curvatures or a <= 0 or not self.facts["full_batch"]:
            raise Rejected("instance: got risks that differ in curvature, expected quadratics of one curvature")
        if any(f.slopes(x)[0] != f.slopes(x)[1] for f in risks for x, _, _ in f.knots if low < x < high):
            raise Rejected("instance: got a kink, expected quadratics")
        if not all(low <= x <= high for x in (w0, *centres)) or len(centres) != self.M:
            raise Rejected("instance: got a start or a centre outside, expected them between low and high")
        c = mean(centres)
        spread = mean((x - c) ** 2 for x in centres) * fmpq(self.M - self.I, self.I * max(self.M - 1, 1))
        r = 1 / (1 + self.values["eta"] * a)
        self.settled = (a, r, (w0 - c) ** 2, (1 - r) / (1 + r) * spread)
        self.oracle([ZERO])

    def stationary(self, a: fmpq, r: fmpq, offset2: fmpq, limit2: fmpq) -> Value:
        """E(w_t - c)^2 = r^2 E(w_{t-1} - c)^2 + (1 - r^2) limit2, averaged over t < T: round by round while numbers are
        short, else limit2 + r^(2t) (offset2 - limit2)."""
        if self.T <= EXACT:
            current, total = offset2, ZERO
            for _ in range(self.T):
                total = paid(total + current)
                current = paid(r**2 * current + (1 - r**2) * limit2)
            return a**2 * total / self.T
        decay = (1 - arb(r) ** (2 * self.T)) / (arb(1 - r**2) * self.T)
        return a**2 * (limit2 + decay * (offset2 - limit2))


def read(node: Node, claim: Claim) -> Proximal:
    given = node.fields("law M I b T w0 batch devices constants", "oracle low high")
    M, b, T = (given[name].integer(1, LARGE) for name in ("M", "b", "T"))
    size, full = given["I"].integer(1, M), given["batch"].one_of(("full", "sampled")) == "full"
    values = claim.numbers(given["constants"], "eta", "L G B nu eps rho")
    if values["eta"] == 0 or values.get("rho") == 0:
        raise given["constants"].malformed("positive eta and rho")
    entries = given["devices"].items()
    affordable(len(entries) * (1 if full else SETS), SOLVES, "instance.devices")
    devices = [Device(entry, b, full) for entry in entries]
    if len(devices) != M and (len(devices) != 1 or len(devices[0].batches) > 1):
        raise given["devices"].malformed(f"{M} devices, or a single one that stands for {M} and draws nothing")
    values |= {name: fmpq(count) for name, count in {"M": M, "I": size, "b": b, "T": T}.items()}
    w0 = given["w0"].rational()
    made = Proximal(devices, values, w0)
    if given["law"].one_of(("paths", "moments")) == "moments":
        ends = node.fields("law M I b T w0 batch devices constants low high")
        made.settle_down(w0, ends["low"].rational(), ends["high"].rational())
        return made
    oracle = node.fields("law M I b T w0 batch devices constants oracle")["oracle"].fields("step shift")
    step, shift = ([row.vector(len(devices)) for row in oracle[name].items()] for name in ("step", "shift"))
    if not step or len(step) != len(shift):
        raise given["oracle"].malformed("as many rows of `step` as of `shift`, one or more")
    made.walk(w0, [list(zip(*rows, strict=True)) for rows in zip(step, shift, strict=True)])
    return made
