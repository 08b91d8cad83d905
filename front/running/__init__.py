"""Running moves over many statements: workers, and the folder of an audit."""
