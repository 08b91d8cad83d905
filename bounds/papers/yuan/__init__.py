"""X.-T. Yuan and P. Li, "On Convergence of FedProx: Local Dissimilarity Invariant Bounds, Non-smoothness and Beyond"
(arXiv:2206.05187).

`symbols` is the paper's notation, `lemmas` what it says of functions, data sets and samples (definition 1, lemmas 1 to
4, 7, 10, 11, remark 5), `theorems` what it says of runs (lemmas 5, 6, 8, 9, 12, theorems 1 to 4, remark 2), measured as
`run` defines.
"""
