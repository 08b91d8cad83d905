"""Files from strangers: certificates, proofs and whole audits, checked in a process of its own."""
