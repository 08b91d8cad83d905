"""Does a statement make sense? Its units, its letters, its ranges, its form."""
