"""J. Zhang, J. Hu and M. Johansson, "Non-convex composite federated learning with heterogeneous data".

Algorithm 1 decouples the proximal operator from the communication; all statements of sections 2, 3 and the appendix.
"""
