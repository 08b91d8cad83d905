"""Pictures for A. Buttaci's thesis alone."""
