"""What a paper claims and which method it is about, as data: statements, methods, assumptions, dimensions."""
