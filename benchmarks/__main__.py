"""`python -m benchmarks`."""

from runpy import run_path

# As a script, for run.py imports its neighbours by their bare names.
run_path(__file__.replace("__main__.py", "run.py"), run_name="__main__")
