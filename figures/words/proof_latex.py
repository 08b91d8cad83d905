"""A proof as LaTeX: a definition of every name, then numbered displays, each with the reason that it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fedaudit.bounds.formulas.latex_document import escaped, prose
from fedaudit.verify.results.row import WrittenLine, WrittenProof

from .proof_sentences import latex_sentence

__all__ = ["HEADINGS", "LINE_STATUS", "proofs_latex"]

HEADINGS = {"decides": "Proof", "printed": "The printed proof, and where it breaks"}
LINE_STATUS = {"false": "This line is false", "unknown": "This line is open", "sampled": "This line was only sampled"}


def proofs_latex(identifier: str, ways: Sequence[WrittenProof]) -> str:
    """The proofs of a statement, the deciding one first; equations are numbered by themselves."""
    label = identifier.replace("~", "--")  # ~ is a space to TeX, in labels too
    return "\n\n".join(part for n, way in enumerate(ways) for part in _way(f"{label}:{n}:", way))


def _way(prefix: str, way: WrittenProof) -> Iterator[str]:
    broken = any(line.status for line in way.lines)
    heading = HEADINGS[way.role] if broken or way.role == "decides" else "The printed proof"
    cited = ", ".join(rf"\texttt{{{escaped(name)}}}" for name in way.cites)
    yield rf"\begin{{proof}}[{heading}{f' from {cited}' if cited else ' from the assumptions alone'}]\leavevmode"
    if way.names:
        names = [rf"\item {_name(name.latex, name.formula, name.says)}" for name in way.names]
        yield "\n".join([r"\begin{itemize}", *names, r"\end{itemize}"])
    for line in way.lines:
        yield _line(prefix, line)
    # The printed proof of a statement that another one decides, or that breaks, ends without a box.
    yield r"\end{proof}" if way.role == "decides" else r"\let\qed\relax\end{proof}"


def _name(latex: str, formula: str, says: str) -> str:
    return latex_sentence(f"${latex} = {formula}$" if formula else f"${latex}$: {says}", "")


def _line(prefix: str, line: WrittenLine) -> str:
    under = ", ".join(f"${condition}$" for condition in line.under)
    reason = latex_sentence(line.by, prefix)
    reason = (
        (f"for {under}; " if under else "") + reason + (f" [in the paper: {prose(line.where)}]" if line.where else "")
    )
    status = rf" \textbf{{{LINE_STATUS[line.status]}}}: {prose(line.why)}." if line.status else ""
    return "\n".join(
        [
            rf"\begin{{equation}}\label{{{prefix}{line.number}}}\tag{{{line.number}}}",
            rf"\fitted{{{line.latex}}}",
            r"\end{equation}",
            f"{reason}.{status}",
        ]
    )
