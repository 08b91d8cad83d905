"""Settings that have no rules of their own, as a proof sees them: what their names mean there."""
