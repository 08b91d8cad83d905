"""Networks of clients: messages, similarity graphs, misalignments."""
