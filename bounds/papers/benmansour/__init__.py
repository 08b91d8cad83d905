"""A. Ben Mansour, G. Carenini and A. Duplessis, "Tackling Computational Heterogeneity in FL: A Few Theoretical
Insights" (arXiv 2307.06283).

`symbols` is the paper's notation, `statements` section 2 with appendix A, `derivations` its proofs line by line.
"""
