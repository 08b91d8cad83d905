"""What a plain refutation rests on: numbers, expressions, claims, runs on explicit losses, assumptions, the verdict."""
