"""A statement and its proof as one theorem: assumptions are hypotheses in the library's words, the claim follows.

Settings without a method: numbers alone ("scalar"), one function at points ("function"), a proximal point ("prox").
Each judgement of the kernel's proof becomes an `assert`; its rule says how Coq proves it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from ..kernel.core.claim import Claim
from ..kernel.core.claim import read as read_claim
from ..kernel.core.expression import parse, parse_relation
from ..kernel.core.rational import Node, Rejected
from ..kernel.proofs.judgement import Judgement, ordered
from ..kernel.proofs.vectors.settings import SETTINGS
from .real_formulas import COUNTS, Formulas, Untranslated, line, word
from .terms import real

__all__ = ["refutation", "theorem"]

Json = Mapping[str, object]
CLASSES = {  # an assumption, as a hypothesis about f and its gradient g; {0} is its constant
    "differentiable": "gradient f g",
    "convex": "convex f",
    "smooth": "smooth {0} f g",
    "strongly_convex": "strongly_convex {0} f",
    "has_minimum": "minimiser f ws",
}
FACTS = {  # the library's theorem for an elementary fact, of its values in the kernel's order
    "young": "young",
    "peter_paul": "peter_paul_numbers",
    "root": "root_power",
    "power_monotone": "power_monotone",
    "power_positive": "power_positive",
}


def theorem(proof: Json, name: str) -> str | None:
    """A module of that name with the theorem `holds`, from a proof that the kernel accepted.

    None if it uses what has no counterpart yet.
    """
    claim = read_claim(Node(proof["claim"], "claim"))
    if claim.setting not in ("scalar", "function", "prox") or "f_mean" in claim.domains:
        return None
    if proof.get("cites") or proof.get("names") or proof.get("frame"):
        return None
    try:
        return _Writer(claim).module(proof, name)
    except (Untranslated, Rejected):
        return None


def refutation(certificate: Json, name: str) -> str | None:
    """A module of that name with the theorem `holds`: the statement does not hold for all, by a counterexample that the
    kernel accepted; None where the instance has no counterpart yet.
    """
    claim = read_claim(Node(certificate["claim"], "claim"))
    if claim.setting != "function" or certificate.get("dropped") or "f_mean" in claim.domains:
        return None
    try:
        return _Writer(claim).refutation(cast("Json", certificate["instance"]), name)
    except (Untranslated, Rejected):
        return None


class _Writer:
    """One theorem in the making."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.symbols = {**claim.domains, **dict.fromkeys(claim.for_all, "index")}
        self.forms = Formulas(self.symbols, claim.choose)
        self.vectors: list[str] = []  # that the statement speaks of
        if claim.setting != "scalar":
            for quantity, entry in SETTINGS[claim.setting].measures.items():
                if quantity in claim.domains:
                    terms = cast("list[tuple[str, object]]", entry["terms"])
                    self.forms.texts[quantity] = self._number(terms)

    # --- the statement -----------------------------------------------------------------------------------------------

    def module(self, proof: Json, name: str) -> str:
        """The statement with its proof."""
        # Before the statement, which has to bind the vectors and quantities that only the proof speaks of.
        steps = self._steps(proof)
        binders, arrows = self._stated()
        symbols = self._symbols().items()
        counts = [f"try match goal with H : (1 <= {word(n)})%nat |- _ => pose proof (count_positive _ H); "
                 f"pose proof (count_at_least_one _ H) end." for n, d in symbols if d == "count"]  # fmt: skip
        counts += [f"pose proof (pos_INR {word(n)})." for n, d in symbols if d == "index"]
        last = "repeat split; assumption."
        body = "\n  ".join(["intros.", *counts, *self._consequences(), *steps, last])
        return f"Module {name}.\nTheorem holds {binders} :\n  {arrows}.\nProof.\n  {body}\nQed.\nEnd {name}."

    def refutation(self, instance: Json, name: str) -> str:
        """That the statement does not hold for all: it fails for a parabola on the line."""
        binders, arrows = self._stated()
        parabola = cast("Mapping[str, object]", instance["f"])
        points = {"w": "w", "v": "v", "ws": "w_star"}
        constants = cast("Mapping[str, str]", instance["constants"])
        if instance["kind"] != "points" or instance["d"] != 1 or parabola["kind"] != "quadratic":
            raise Untranslated("an instance of another kind")
        if set(self.vectors) - set(points) or set(self._symbols()) - set(constants) or self.forms.indexed:
            raise Untranslated("an instance that does not say everything")
        a, b = (_number(cast("list[object]", parabola[part])) for part in "Ab")
        values = [f"({_number(cast('list[object]', instance[points[x]]))} : line)" for x in sorted(self.vectors)]
        values += [_number([constants[n]]) for n in self._symbols()]
        arguments = f"line (parabola {a} {b}) (slope_of {a} {b}) {' '.join(values)}"
        return (
            f"Module {name}.\nTheorem holds : ~ (forall {binders},\n  {arrows}).\nProof.\n"
            f"  intro H. specialize (H {arguments}). fails_on_the_line H.\nQed.\nEnd {name}."
        )

    def _symbols(self) -> dict[str, str]:
        """Numbers that the statement speaks of, and their domains: positions in `binders`."""
        spoken = {*self.forms.texts, *self.forms.indexed, *self.claim.choose}
        own = {n: d for n, d in self.symbols.items() if n not in spoken}
        return dict(sorted(own.items(), key=lambda entry: entry[1] in COUNTS))

    def _stated(self) -> tuple[str, str]:
        """What the statement is about, and its hypotheses with its conclusion."""
        claim, forms = self.claim, self.forms
        conclusion = " /\\\n  ".join(f"({forms.relation(r)})" for r in claim.then)
        symbols, indexed = self._symbols(), sorted(forms.indexed)
        numbers = [word(n) for n, d in symbols.items() if d not in COUNTS]
        counts = [word(n) for n, d in symbols.items() if d in COUNTS]
        hypotheses = [f"0 < {word(n)}" for n, d in symbols.items() if d == "positive"]
        hypotheses += [f"0 <= {word(n)}" for n, d in symbols.items() if d == "nonnegative"]
        hypotheses += [f"(1 <= {word(n)})%nat" for n, d in symbols.items() if d == "count"]
        binders = f"({' '.join(numbers)} : R)" if numbers else ""
        binders += f" ({' '.join(counts)} : nat)" if counts else ""
        binders += f" ({' '.join(map(word, indexed))} : nat -> R)" if indexed else ""
        signs = {"positive": "0 <", "nonnegative": "0 <="}
        hypotheses += [f"(forall n, {signs[d]} {word(x)} n)" for x in indexed if (d := self.symbols[x]) in signs]
        if claim.setting != "scalar":
            binders = f"(S : space) (f : S -> R) (g : S -> S) ({' '.join(sorted(self.vectors))} : S) {binders}"
            hypotheses += self._assumed()
        ranges = ((("<=", low, n), ("<=", n, high)) for n, (low, high) in claim.for_all.items())
        hypotheses += [forms.relation(r) for r in (*(end for both in ranges for end in both), *claim.when)]
        return binders, " ->\n  ".join([*hypotheses, conclusion])

    def _assumed(self) -> list[str]:
        assumed = dict(self.claim.assumptions)
        if self.claim.setting == "prox":
            (nu,) = assumed.pop("weakly_convex")
            if assumed:
                raise Untranslated(str(assumed))
            return [f"weakly_convex {word(nu)} f", "proximal f eta w p"]
        if odd := set(assumed) - set(CLASSES):
            raise Untranslated(str(odd))
        lines = [CLASSES[name].format(*map(word, args)) for name, args in assumed.items()]
        if "ws" in self.vectors and "has_minimum" not in assumed:
            lines.append("minimiser f ws")
        if "smooth" in assumed and "differentiable" in assumed:
            lines.remove("gradient f g")  # `smooth` says so
        return lines

    def _consequences(self) -> list[str]:
        """What the premises use of the hypotheses, under names."""
        assumed = dict(self.claim.assumptions)
        if self.claim.setting != "function":
            return []
        lines: list[str] = []
        if "smooth" in assumed:
            lines.append("assert (G : gradient f g) by (match goal with H : smooth _ f g |- _ => exact (proj1 H) end).")
            lines.append("assert (B := smooth_below _ f g ltac:(eassumption)).")
            lines.append("match goal with H : smooth _ f g |- _ => pose proof (proj2 (proj2 H)) as K end.")
        else:
            lines.append("assert (G : gradient f g) by assumption.")
        if "convex" in assumed:
            lines.append("assert (A0 := convex_above f g G ltac:(assumption)).")
        if "strongly_convex" in assumed:
            lines.append("assert (A := strongly_convex_above _ f g G ltac:(eassumption)).")
        if "ws" in self.vectors:
            lines.append("assert (Z := minimiser_gradient f g ws G ltac:(assumption)).")
        return lines

    # --- vectors -----------------------------------------------------------------------------------------------------

    def _number(self, terms: list[tuple[str, object]]) -> str:
        parts: list[str] = []
        for factor, term in terms:
            sign = {"1": "", "-1": "- "}.get(str(factor))
            if sign is None:
                raise Untranslated("a measure with coefficients")
            parts.append(f"{sign}{self._measured(cast('list[object]', term))}")
        return parts[0] if len(parts) == 1 and parts[0][0] in "‖⟨" else f"({' + '.join(parts)})"

    def _measured(self, term: list[object] | str) -> str:
        if term in ("f_star", ["f_star"]):
            return f"f {self.vector('w_star')}"
        name, *args = cast("list[object]", term)
        if name == "norm2":
            return f"‖{_bare(self.vector(args[0]))}‖²"
        if name == "inner":
            return f"⟨{_bare(self.vector(args[0]))}, {_bare(self.vector(args[1]))}⟩"
        if name in ("f", "g"):
            return f"f {self.vector(args[0])}%V"
        raise Untranslated(str(name))

    def vector(self, json: object) -> str:
        """A vector of the claim or of its proof."""
        if json in ("w_star", ["w_star"]):
            return self._named("ws")
        name, *args = cast("list[object]", json)
        match name:
            case "point" if args[0] in ("w", "v", "u"):
                return self._named(str(args[0]))
            case "grad":
                return f"(g {self.vector(args[0])})"
            case "mean":  # of one function
                return self.vector(args[0])
            case "prox" if args == ["eta", ["point", "w"]]:
                self._named("w")
                return self._named("p")
            case "+":
                return f"({' + '.join(map(self.vector, args))})"
            case "*":
                *factors, last = args
                return (
                    f"({' * '.join(self.forms.tree(parse(Node(x, 'proof'))) for x in factors)} * {self.vector(last)})"
                )
            case _:
                raise Untranslated(str(name))

    def _named(self, name: str) -> str:
        if name not in self.vectors:
            self.vectors.append(name)
        return name

    # --- the proof ---------------------------------------------------------------------------------------------------

    def _steps(self, proof: Json) -> list[str]:
        judgements: list[Judgement] = []
        steps: list[str] = []
        for n, raw in enumerate(cast("list[Json]", proof["judgements"])):
            if raw.get("under"):
                raise Untranslated("hypotheses")
            stated = Judgement(parse_relation(Node(raw["says"], "proof")))
            rests = [(f"j_{k}", judgements[k]) for k in cast("list[int]", raw.get("by", []))]
            how = self._how(str(raw["rule"]), stated, Node(raw.get("with", {}), "proof.with"), rests)
            steps.append(f"assert (j_{n} : {self.forms.relation(stated.says)}).\n  {{ {how} }}")
            judgements.append(stated)
        for n, relation in enumerate(self.claim.then):
            steps.append(f"assert (end_{n} : {self.forms.relation(relation)}) by (first [assumption | same_relation]).")
        return steps

    def _how(self, rule: str, stated: Judgement, data: Node, rests: list[tuple[str, Judgement]]) -> str:
        if rule == "condition":
            return "first [assumption | same_relation]."
        if rule == "line":
            return line(stated, data, rests, self.forms)
        if rule == "fact":
            return self._fact(data)
        if rule == "premise":
            return self._premise(stated, data)
        raise Untranslated(rule)

    def _fact(self, data: Node) -> str:
        fields = data.fields("name at")
        name, values = str(fields["name"].raw), [parse(node) for node in fields["at"].items()]
        if name == "root":
            return f"apply (root_power {int(str(values[1]))}); [lia | weakly_rested]."
        if name in ("min_below", "max_above"):
            return "extreme."
        if name == "power_product":
            x, y = (self.forms.tree(value) for value in values[:2])
            product = self.forms.text_of(self.forms.form(values[0]) * self.forms.form(values[1]))
            exponent = word(str(values[2]))
            return (
                f"pose proof (power_product ({x}) ({y}) {exponent}) as H_. "
                f"replace (({x}) * ({y})) with ({product}) in H_ by fractions. rewrite ?pow1 in H_. lra."
            )
        if name == "power_le_base" and isinstance(values[1], str):
            base = self.forms.text_of(self.forms.form(values[0]))
            required = " ".join(["ltac:(required)"] * 3)
            instance = f"power_le_base {base} {word(values[1])} {required}"
            return f"pose proof ({instance}) as H_. first [exact H_ | same_relation]."
        if name not in FACTS:
            raise Untranslated(name)
        return f"apply_fact {FACTS[name]}."

    def _premise(self, stated: Judgement, data: Node) -> str:
        _, small, large = ordered(stated.says)
        fields = data.fields("", "at by times schwarz pathwise")
        if set(fields) - {"by"}:
            raise Untranslated("a premise of another kind")
        lines: list[str] = []
        sum_: list[str] = []
        for n, entry in enumerate(fields["by"].items() if "by" in fields else ()):
            multiplier, atom = entry.items(2)
            text, why = self._atom(cast("dict[str, object]", atom.raw))
            lines.append(f"assert (a_{n} : 0 <= {text}) by ({why}).")
            sum_.append(f"{self.forms.tree(parse(multiplier))} * ({text})")
        left, right = self.forms.tree(small), self.forms.tree(large)
        rewrite = "try rewrite Z in *; " if "ws" in self.vectors else ""
        lines.append(f"apply (by_atoms ({left}) ({right}) ({' + '.join(sum_) or '0'})).")
        lines.append(
            "{ repeat apply Rplus_le_le_0_compat; (apply Rle_refl || (apply Rmult_le_pos; [weakly | assumption])). }"
        )
        lines.append(f"{{ {rewrite}expand; symmetric; fractions. }}")
        return "\n    ".join(lines)

    def _atom(self, atom: dict[str, object]) -> tuple[str, str]:
        """What is not negative, and why."""
        kind = atom["atom"]
        if set(atom) - {"atom", "x", "y", "constant", "step"}:
            raise Untranslated("an atom under a mean")
        x = self.vector(atom["x"])
        if kind == "square":
            return f"‖{x}‖²", "apply square_nonnegative"
        if kind == "minimum":
            return f"f {x}%V - f {self._named('ws')}", f"pose proof (minimiser_at f ws {x}%V ltac:(assumption)); lra"
        y = self.vector(atom["y"])
        constant = word(str(atom.get("constant", "")))
        tangent = f"⟨(g {x}), {y} - {x}⟩"
        if kind == "smooth":
            text = f"f {x}%V + {tangent} + {constant} / 2 * ‖{y} - {x}‖² - f {y}%V"
            return text, f"pose proof (B {x}%V {y}%V); lra"
        if kind == "convex" and "constant" in atom:
            text = f"f {y}%V - f {x}%V - {tangent} - {constant} / 2 * ‖{y} - {x}‖²"
            return text, f"pose proof (A {x}%V {y}%V); lra"
        if kind == "convex":
            return f"f {y}%V - f {x}%V - {tangent}", f"pose proof (A0 {x}%V {y}%V); lra"
        if kind == "lipschitz":
            text = f"{constant} ^ 2 * ‖{x} - {y}‖² - ‖(g {x}) - (g {y})‖²"
            return text, f"pose proof (K {x}%V {y}%V); lra"
        if kind == "subgradient" and self.claim.setting == "prox":
            p = self._named("p")
            text = f"f {y} - f {p} - / eta * ⟨{x} - {p}, {y} - {p}⟩ + {constant} / 2 * ‖{y} - {p}‖²"
            why = f"apply (subgradient_atom {constant} f eta {x} {p} {y}); assumption"
            return text, why
        raise Untranslated(str(kind))


def _bare(text: str) -> str:
    """A sum without the parentheses around it, where something else delimits it."""
    inner = text[1:-1]
    return inner if text.startswith("(") and inner.count("(") == inner.count(")") and ") + (" not in text else text


def _number(nested: list[object]) -> str:
    """The one number of a vector or matrix in one dimension."""
    (inside,) = nested
    if isinstance(inside, list):
        return _number(cast("list[object]", inside))
    return real(Node(inside, "instance").rational())
