"""`python -m benchmarks`."""

from runpy import run_path

run_path(__file__.replace("__main__.py", "run.py"), run_name="__main__")
