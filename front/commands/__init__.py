"""The commands of the command line, one module each, and the tables that they print."""
