"""A recorded trajectory against a bound: where it holds, where it does not, and what its constants could be."""
