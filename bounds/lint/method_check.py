"""Can a method be run? What every interpreter asks of rules and measures, said where the method is written.

The interpreters (arrays, the kernel) read a method as data and refuse what has no meaning: a vector that nobody
declared, a client's vector at the server outside a mean, noise outside the local steps. This is the same list for
somebody who writes a method. A method that nobody runs (of a frame, for proofs) need not meet it.
"""

# A file of a user holds what no type checker saw.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import cast

from sympy import Expr, Sum, Symbol
from sympy.core.function import AppliedUndef

from ..language.assumptions import DATA
from ..language.method import Method, quantity_name
from ..language.rule_parts import Number, Vector, Weights, scalars_of, vectors_of
from ..language.statement import ID
from .fault import Fault

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")  # as the kernel reads them
NOISE = ("noisy", "again", "noisy_hess")  # draws of one local step
MEANS = ("mean", "sampled", "weighted")  # inside them a client reads
OF_CLIENTS = ("grad", "batch_grad", "hess", "oracle", *NOISE, "neighbours", "w_i_star")
VALUES_OF_CLIENTS = ("f_i", "f_i_star", "weight")
INDICES = ("t", "k", "i", "j", "n")
ENDS = ((), ("i",), ("i", "j"), ("n",))
PLACES = {  # clock -> the indices that a measure may have
    "rounds": [(), ("i",), ("T",), *((*when, *end) for when in (("t",), ("t", "k")) for end in ENDS)],
    "steps": [(), ("t",), ("t", "i")],
}
PICKED = {"picked": (("T",),), "picked_step": (("T",), ("t",))}
EXTREMES = ("least", "most")
WHOLE = ("full_prox", "training_prox")  # proximal points of f


def method_faults(method: Method) -> Iterator[Fault]:
    """Every rule and measure that cannot be run."""
    if not method.server:
        yield Fault(f"no vector of the server in {method.id}", "at least one", "write server={x: start}")
    if not isinstance(method.id, str) or not ID.fullmatch(method.id):
        yield Fault(f"a method with the id {method.id!r}", "letters, digits and signs of .+~:/_-", "write id='fedavg'")
    steps = {x.func.__name__ for x in method.steps()}
    for now, old in method.before.items():
        if not all(isinstance(x, AppliedUndef) for x in (now, old)) or old.func.__name__ not in steps:
            yield Fault(f"before={{{now}: {old}}} of {method.id}", "a step size of its rules", "mend `before`")
    measured = {quantity_name(quantity) for quantity in method.measures}
    for quantity, formula in method.formulas.items():
        if quantity_name(quantity) in measured:
            got = f"formulas={{{quantity}: {formula}}} of {method.id}, which measures it too"
            yield Fault(got, "one meaning of a quantity", "leave one of them out")
    for name in sorted({v.name for v in (*method.server, *method.client)}):
        if not NAME.fullmatch(name) or name == "t":
            expected = "letters, digits and _, and not t, which is the round"
            yield Fault(f"a vector named {name!r} in {method.id}", expected, "rename it; `latex` prints as you like")
    server, client = ({v.name for v in whose} for whose in (method.server, method.client))
    kept = server | {name for name in client if name not in {v.name for v in method.begin}}
    for place, block, readable, at_client in (
        ("server", method.server, set[str](), False),
        ("client", method.client, server, False),
        ("begin", method.begin, server | client, True),
        ("local", method.local, server | client, True),
        ("end", method.end, server | client, True),
        ("update", method.update, server | client, False),
    ):
        for target, value in block.items():
            rule, where = _rule(value), f"`{place}` of {target.name} in {method.id}"
            yield from _readable(rule, where, readable, client, at_client)
            if place == "begin":
                yield from _kept(rule, where, kept)
            yield from _noise(method, rule, where, local=place == "local")
    for quantity, number in method.measures.items():
        yield from _measure(method, quantity, number, server | client, client, kept)
    yield from _steps(method)
    yield from _coins(method)
    yield from _instance_faults(method)


def _coins(method: Method) -> Iterator[Fault]:
    """A round draws its clients, and tosses one coin, with one chance for the whole run; measures and starts do not."""
    rules = [_rule(value) for block in method.phases.values() for value in block.values()]
    starts = [_rule(value) for block in (method.server, method.client) for value in block.values()]
    coins, others = (
        {part for x in several for part in vectors_of(x) if part.op == "coin"}
        for several in (rules, (*starts, *method.measures.values()))
    )
    if others:
        yield Fault(f"a coin in a measure or a start of {method.id}", "it in rules of a round", "name what it changes")
    if method.clock == "steps" and method.uses("sampled"):
        what = f"clients that are drawn in {method.id}, whose clock counts steps"
        yield Fault(what, "a clock that counts rounds", "take a mean over all clients")
    if coins and method.clock == "steps":
        yield Fault(f"a coin of {method.id}, whose clock counts steps", "a clock that counts rounds", "leave it out")
    chances = {coin.args[0] for coin in coins}
    if len(chances) > 1 or any(not isinstance(q, Symbol) and q.free_symbols for q in chances):
        said = ", ".join(sorted(map(str, chances)))
        yield Fault(f"coins of {method.id} with the chance {said}", "one symbol or number", "give the chance a symbol")


def _instance_faults(method: Method) -> Iterator[Fault]:
    """Points and proximal points that instances do not give: fixed points are drawn for `server`, and proximal points
    of f are known of clients with data points.
    """
    rules = [_rule(value) for block in (method.client, *method.phases.values()) for value in block.values()]
    everywhere = [part for x in (*rules, *method.measures.values()) for part in vectors_of(x)]
    begun = [part for value in method.server.values() for part in vectors_of(_rule(value))]
    drawn, read = ({str(part.args[0]) for part in parts if part.op == "point"} for parts in (begun, everywhere))
    for name in sorted(read - drawn):
        do = f"add a vector of the server: server={{…, v: point({name!r})}}"
        yield Fault(f"point({name!r}) in {method.id}", "a point that a vector of the server starts from", do)
    if any(part.op == "training_prox" for x in rules for part in vectors_of(x)):
        yield Fault(f"'training_prox' in a rule of {method.id}", "it in measures alone", "write oracle or full_prox")
    for op in sorted({part.op for part in everywhere} & {*WHOLE}):
        if not any(map(method.uses, DATA)):
            expected = f"it for a method with {' or '.join(DATA)}: it is about clients with data points"
            yield Fault(f"{op!r} in {method.id}", expected, "write prox or oracle, or minimise by hand")


def _readable(
    x: object, where: str, readable: Collection[str], client: Collection[str], at_client: bool, depth: int = 0
) -> Iterator[Fault]:
    """Every vector is declared, and what a client alone has is read at a client or inside a mean."""
    if depth > 24:  # as deep as the kernel reads
        yield Fault(f"{where} that is nested {depth} deep", "at most 24", "name a part of it as a vector of its own")
    if isinstance(x, Vector):
        if x.op == "name" and x.name not in readable:
            names = ", ".join(sorted(readable)) or "none: start, 0 and points alone"
            yield Fault(f"{where} with the vector {x.name!r}", f"one of {names}", "declare it, or mend its name")
        if x.op == "name" and x.name in client and not at_client:
            do = f"write mean({x.name})"
            yield Fault(f"{where} with {x.name!r} of the clients", "it inside a mean, or at one client", do)
        if x.op in OF_CLIENTS and not at_client:
            yield Fault(f"{where} with {x.op!r}", "it where a client reads it, or inside a mean", "write mean(…)")
        if x.op == "oracle" and not isinstance(x.args[0], Symbol):
            yield Fault(f"{where} with an oracle's step {x.args[0]}", "one symbol", "give the step a symbol")
    op = _operation(x)
    if op in VALUES_OF_CLIENTS and not isinstance(x, Vector | Weights) and not at_client:
        yield Fault(f"{where} with {op!r}", "it at a client, or inside a mean", "write mean(…), or add the index i")
    inside = at_client or isinstance(x, Weights) or op in MEANS
    for part in _inside(x):
        yield from _readable(part, where, readable, client, inside, depth + isinstance(x, Vector))


def _rule(value: object) -> Vector:
    return value if isinstance(value, Vector) else Vector("zero")


def _operation(x: object) -> str:
    if isinstance(x, Vector | Weights):
        return x.op
    return x[0] if isinstance(x, tuple) and x and isinstance(x[0], str) else ""


def _inside(x: object) -> Iterator[object]:
    if isinstance(x, Number):
        yield from (atom for _, atom in x.terms)
    elif isinstance(x, Vector | Weights):
        yield from x.args if not isinstance(x, Vector) or x.op not in ("name", "point") else ()
    elif isinstance(x, tuple):
        yield from cast("tuple[object, ...]", x)


def _names(x: Vector | Number) -> set[str]:
    return {part.name for part in vectors_of(x) if part.op == "name"}


def _kept(x: Vector | Number, where: str, kept: Collection[str]) -> Iterator[Fault]:
    """What is forgotten between rounds is not read there."""
    if lost := sorted(_names(x) - set(kept)):
        expected = f"vectors that are kept between rounds ({', '.join(sorted(kept))})"
        do = f"{lost[0]!r} is set anew in `begin`: keep a copy in `end`, or measure at (t, k, i)"
        yield Fault(f"{where} with {lost[0]!r}", expected, do)


def _noise(method: Method, rule: Vector, where: str, *, local: bool) -> Iterator[Fault]:
    """One call of the oracle per local step."""
    for op in NOISE:
        drawn = {part for part in vectors_of(rule) if part.op == op}
        if drawn and not local:
            yield Fault(f"{where} with {op!r}", "noise in rules of `local` alone", "move it there")
        if len(drawn) > 1:
            do = "write noisy(…) around their sum, or noisy(…, again=True) for a second, independent draw"
            yield Fault(f"{where} with {op!r} of {len(drawn)} vectors", "one draw in a rule", do)


def _measure(
    method: Method, quantity: Expr, number: Number, vectors: set[str], client: set[str], kept: set[str]
) -> Iterator[Fault]:
    where = f"the measure {quantity} of {method.id}"
    at = tuple(method.names.get(index, str(index)) for index in getattr(quantity, "args", ()))
    law, steps = number.law, method.clock == "steps"
    for index, letter in zip(getattr(quantity, "args", ()), at, strict=True):
        if letter not in (*INDICES, "T"):
            do = f"write names={{{index}: 't'}} in the method if it counts rounds"
            yield Fault(f"{where} with the index {index}", f"one of {', '.join(INDICES)} or a name for one", do)
    places = PICKED.get(law, [place for place in PLACES[method.clock] if place != ("T",)])
    if law in EXTREMES and not steps:
        places = [()]
    if at not in places or (steps and not at and law not in EXTREMES):
        said = ", ".join(f"({', '.join(place)})" for place in places)
        yield Fault(f"{where} at ({', '.join(at)})", f"its indices among {said}", "mend its indices")
    yield from _readable(number, where, vectors, client, "i" in at or law in EXTREMES)
    between = "t" in at and "k" not in at and not steps and law != "picked_step"
    if between or law == "picked":
        yield from _kept(number, where, kept)
    noisy = {part.op for part in vectors_of(number)} & set(NOISE)
    if law in ("of_mean", "around_mean") and noisy:
        yield Fault(f"{where} with noise", "a vector without noise", "leave `noisy` out")
    if "again" in noisy and not method.uses("again"):
        yield Fault(f"{where} with a second draw", "one that a rule reads", "write it in `local` too")


def _steps(method: Method) -> Iterator[Fault]:
    """Step sizes are quantities of the round, or of the round and the local step."""
    most = 1 if method.clock == "steps" else 2
    measured = {quantity_name(quantity) for quantity in method.measures}
    arities: dict[str, int] = {}
    summed = {limit[0] for scalar in method.scalars(()) for total in scalar.atoms(Sum) for limit in total.limits}
    for step in sorted(method.steps(), key=str):
        name, where = step.func.__name__, f"the step size {step} of {method.id}"
        letters = [method.names.get(index, str(index)) for index in step.args]
        if name in measured or name == "p":
            what = "a measure" if name in measured else "the weights"
            yield Fault(where, f"a name that {what} does not have", "rename it")
        misplaced = any(
            index not in summed and letter != own for index, letter, own in zip(step.args, letters, "tk", strict=False)
        )
        if misplaced or not 0 < len(letters) <= most:
            expected = "it at (t)" + (" or (t, k)" if most > 1 else "")
            yield Fault(where, expected, "mend its indices; other letters go into names={r: 't'} of the method")
        if arities.setdefault(name, len(letters)) != len(letters):
            yield Fault(f"{where} and at {arities[name]} indices", "one number of indices", "mend one of them")
    indices = {*INDICES, *(str(s) for s, letter in method.names.items() if letter in INDICES)}
    for block in (method.server, method.client, *method.phases.values()):
        for target, value in block.items():
            for scalar in scalars_of(value) if isinstance(value, Vector) else ():
                # Without the step sizes, whose indices are judged above.
                bare = scalar.replace(lambda e: isinstance(e, AppliedUndef), lambda _: Symbol("T", positive=True))
                if loose := sorted({str(s) for s in bare.free_symbols} & (indices - {"t", "k"})):
                    where = f"a rule of {method.id} for {target.name} with the index {loose[0]}"
                    yield Fault(where, "t and k alone", "what differs from client to client is a vector")
