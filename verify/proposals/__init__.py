"""Proofs as the kernel reads them, proposed from what `derive` found: judgements, lines, premises."""
