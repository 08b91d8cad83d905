"""What Zhang, Hu and Johansson observed, observed again."""
