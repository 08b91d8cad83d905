"""Worst cases over all functions of a class and all dimensions, from both sides."""
