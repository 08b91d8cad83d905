"""Settings without a method, as vectors: what the names of their worlds mean, written as a method's measures are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...core.claim import Claim
from .combinations import DRAWN, SAME, SIGN, SUM

Json = str | Sequence["Json"] | Mapping[str, "Json"]  # what a method is written in
Entry = Mapping[str, Json]
Rules = tuple[Json, Json]  # of a vector: when a round begins, and in a local step


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """`one`: a single function. `same`: all clients have one. `even`: a plain mean. `gives`: rules that it is."""

    measures: Mapping[str, Entry] = field(default_factory=dict[str, "Entry"])
    vectors: Mapping[str, Rules | None] = field(default_factory=dict[str, "Rules | None"])  # of the clients
    names: Mapping[str, str] = field(default_factory=dict[str, str])  # the letters of its counts
    one: bool = False
    same: bool = False
    even: bool = False
    drawn: bool = False  # a uniform subset of the clients
    composite: bool = False  # with a function in the place of a regulariser, which is weakly convex
    weights: str = "p"
    gives: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()  # measures after the last step

    @property
    def method(self) -> Json:
        client = {name: ["start"] for name in self.vectors}
        rules = {name: both for name, both in self.vectors.items() if both}
        return {
            "id": "setting",
            "server": {"everything": ["start"]},
            "client": client,
            "begin": {name: begin for name, (begin, _) in rules.items()},
            "local": {name: local for name, (_, local) in rules.items()},
            **{part: {} for part in ("end", "update", "measures")},
            "names": dict(self.names),
        }

    @property
    def known(self) -> dict[str, str]:
        """Its names and their domains, whether or not a claim speaks of them."""
        return {**dict.fromkeys(self.names, "count"), self.weights: "real", **dict.fromkeys(self.measures, "real")}


def _point(name: str) -> Json:
    return ["point", name]


def _minus(x: Json, y: Json) -> Json:
    return ["+", x, ["*", "-1", y]]


def _of(*terms: Json, at: str = "") -> Entry:
    return {"at": list(at), "terms": [["1", term] for term in terms]}


W, V, U = map(_point, "wvu")
_SLOPE, _OTHER = (["mean", ["grad", x]] for x in (W, V))
_PLUS, _DIRECTION = ["prox", "eta", W], ["grad", "w_m"]
_ALL, _SOME = ["mean", _DIRECTION], ["sampled", _DIRECTION]
_FUNCTION = Setting(
    {
        "grad_diff2": _of(["norm2", _minus(_SLOPE, _OTHER)]),
        "grad_inner": _of(["inner", _minus(_SLOPE, _OTHER), _minus(W, V)]),
        "diff2": _of(["norm2", _minus(W, V)]),
        "grad2": _of(["norm2", _SLOPE]),
        "gap": {"at": [], "terms": [["1", ["f", W]], ["-1", ["f_star"]]]},
        "dist2": _of(["norm2", _minus(W, ["w_star"])]),
    },
    one=True,
)
_MEAN_OF_POINTS = Setting(
    {"f_at": _of(["f_i", "w_i"], at="i"), "f_mean": _of(["f", ["mean", "w_i"]])},
    {"w_i": None},
    {"n": "C"},
    same=True,
    weights="lam",
    gives=(SAME,),
)
_SUBSET = Setting(
    {
        "sampled": _of(["inner", _SOME, ["axis"]], at="n"),
        "mean": _of(["inner", _ALL, ["axis"]], at="n"),
        "deviation": _of(["norm2", _minus(_SOME, _ALL)]),
        "among": _of(["mean", ["norm2", _minus(_DIRECTION, _ALL)]]),
    },
    {"w_m": None},
    {"M": "C", "I": "m"},
    even=True,
    drawn=True,
    gives=(SUM, SIGN, DRAWN),
)
_PROX = Setting(
    {
        "f_plus": _of(["g", _PLUS]),
        "f_u": _of(["g", U]),
        "moved2": _of(["norm2", _minus(_PLUS, W)]),
        "u_w2": _of(["norm2", _minus(U, W)]),
        "plus_u2": _of(["norm2", _minus(_PLUS, U)]),
    },
    composite=True,
)
_DEVICES = Setting(
    {"local2": _of(["norm2", ["grad", W]], at="i"), "global2": _of(["norm2", ["mean", ["grad", W]]])},
    names={"M": "C"},
    same=True,
    even=True,
    gives=(SUM, SIGN),
)
_POWER = ["^", ["+", "1", ["*", "-1", "lambda"]], "k"]
_NOISE_SUM = Setting(
    {"mean2": _of(["norm2", ["mean", "Z"]]), "noise_sum2": _of(["norm2", ["mean", "s"]])},
    {"Z": None, "s": (["zero"], ["+", "s", ["*", _POWER, ["noisy", "Z"]]])},
    {"M": "C", "E": "E"},
    ends=("noise_sum2",),
)
SETTINGS: Mapping[str, Setting] = {
    "function": _FUNCTION, "subset": _SUBSET, "prox": _PROX, "devices": _DEVICES, "noise_sum": _NOISE_SUM,
}  # fmt: skip


def setting_of(claim: Claim) -> Setting | None:
    """The vectors behind a claim's names; nothing where its setting has none."""
    if claim.method is not None:
        return Setting()
    return _MEAN_OF_POINTS if claim.setting == "function" and "f_mean" in claim.domains else SETTINGS.get(claim.setting)
