"""One module (or package) a paper. Every module-level `Statement` is discovered; nobody edits this file."""
