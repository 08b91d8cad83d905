"""What the kernel accepted, written as theorems for the proof assistant Coq: definitions, statements, certificates."""
