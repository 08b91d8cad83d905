"""A. Fallah, A. Mokhtari and A. Ozdaglar, "Personalized Federated Learning with Theoretical Guarantees: A
Model-Agnostic Meta-Learning Approach" (NeurIPS 2020; arXiv:2002.07948).

`symbols` is the paper's notation, `estimators` what it says of meta-functions, of data and of estimates of
meta-gradients (sections 3, 4.1, 4.2, 5, appendices A to E and H).

`method` is Per-FedAvg itself (appendices F and G), `sampling` the variance of sampling without replacement (93),
`orders` what is printed up to a constant (theorem 4.5, corollary 4.6, remark G.1), `forms` the runs that decide it.
"""
