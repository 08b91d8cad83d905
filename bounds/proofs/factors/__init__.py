"""What a proof gives against what is claimed: by which factor, term by term, and which constants have room."""
