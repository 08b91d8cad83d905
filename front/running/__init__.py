"""Running moves over many statements: workers, clusters, and the folder of an audit."""
