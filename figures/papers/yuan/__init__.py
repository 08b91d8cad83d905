"""Pictures for Yuan and Li alone."""
