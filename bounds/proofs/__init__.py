"""Does a statement follow from what it cites? Derivations, frames of vectors, atoms, what a proof gives."""
