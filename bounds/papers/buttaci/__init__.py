"""A. Buttaci, "Does Perturbation Aid Convergence? An Alternative Approach to Federated Optimization Inspired by
Spectral Graph Theory", master thesis, Politecnico di Torino.

`symbols` is the thesis's notation, `fedprox` chapter 4.2 with appendices B.1, B.2 and B.4.
"""
