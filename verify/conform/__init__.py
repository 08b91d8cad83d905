"""Is this code the stated algorithm? A recorded run against the rules of a method, and what it is instead."""
