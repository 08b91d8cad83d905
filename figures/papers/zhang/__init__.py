"""Pictures for Zhang, Hu and Johansson alone."""
