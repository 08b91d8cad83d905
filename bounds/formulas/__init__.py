"""Formulas: expression trees and their evaluator, exact numbers, and text, LaTeX and Python made of them."""
