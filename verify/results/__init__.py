"""Verdicts and the rows of an audit, as types that write and read audit.json."""
