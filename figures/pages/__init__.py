"""Pages for a browser, from the rows and certificates of an audit."""
