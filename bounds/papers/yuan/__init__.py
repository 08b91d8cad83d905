"""X.-T. Yuan and P. Li, "On Convergence of FedProx: Local Dissimilarity Invariant Bounds, Non-smoothness and Beyond"
(arXiv:2206.05187).

`symbols` is the paper's notation, `lemmas` what it says of functions, data sets and samples (definition 1, lemmas 1 to
4, 7, 10, 11, remark 5), `theorems` what it says of runs (lemmas 5, 6, 8, 9, 12, theorems 1 to 4), measured as `run`
defines. `orders` is what it prints as an order of the method (theorems 1 and 3, remarks 2 and 7, (1.5), (1.6)), on
families of problems that `forms` builds; `rates` is algebra on bounds and comparisons of rates, `table` is table 1.
"""
