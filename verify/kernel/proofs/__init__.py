"""The layer of proofs: `proved` is what these rules accept, and nothing else."""
