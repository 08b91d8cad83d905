"""Statements as people get them: with their bounds in numbers, and with LaTeX for a notebook.

Whoever finds or writes a statement gets it by way of this module, `bounds/catalogue/discovery.py` or `fa.Statement`.
"""

from __future__ import annotations

from ..formulas.statement_text import relations_latex
from ..language.statement import SERVICES, Assumption, Glossary, Statement
from .bound_values import bound, table

__all__ = ["Assumption", "Glossary", "Statement"]

SERVICES.bound, SERVICES.bound_table, SERVICES.relations_latex = bound, table, relations_latex
