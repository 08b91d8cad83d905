# make audit   audit everything that is encoded; then open audit/index.html
# make test    the fast tests
# make check   ruff, pyright, tests, report: what has to pass before a change goes in
# make docs    the pages of docs/ as HTML, in build/docs
# Needs python3 (3.11 or newer), pip and make; everything else goes into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PACKAGES := front bounds problems verify figures

.PHONY: setup audit audit-thorough test test-slow proofs check lint types report docs readme bench conform mutants measure clean FORCE
.DELETE_ON_ERROR:

setup: $(READY)

# Strict editable mode links every file by name (type checkers follow links, not import hooks),
# so the package is installed again when a file appears or goes.
$(VENV)/.sources: FORCE
	@mkdir -p $(VENV)
	@find $(PACKAGES) -type f -not -path '*/__pycache__/*' -not -name '.*' | LC_ALL=C sort > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "fedaudit: got Python %d.%d, expected 3.11 or newer; do: make PYTHON=python3.11" % v[:2])'
	$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install pip; }

$(READY): pyproject.toml constraints.txt $(VENV)/.sources | $(BIN)/pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--config-settings editable_mode=strict --editable '.[dev]'
	@touch $@

audit: $(READY)
	$(BIN)/fedaudit audit

# Every shape and a long search for every row, whatever is known of it; what differs from the audit in audit/, if there is one.
audit-thorough: $(READY)
	$(BIN)/fedaudit audit --thorough --out audit-thorough
	$(if $(wildcard audit/audit.json),$(BIN)/fedaudit compare audit/audit.json audit-thorough)

# A file goes to one process, which keeps what its tests share. Bytecode is kept: the tests start many interpreters.
test test-slow proofs: export PYTHONDONTWRITEBYTECODE =
test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -rs

# Slow tests, and every property on all its examples: `make test` tries a fifth of them. Each process begins with one
# half of them in order, so that neighbours share what they derived and drew; one that is done takes over from the other.
# Changed proofs are those of the audit in audit/, if there is one; otherwise they are looked for, which takes longer.
test-slow: $(READY)
	FEDAUDIT_THOROUGH=1 FEDAUDIT_PROOFS=$(wildcard audit/proofs) $(BIN)/python -m pytest -n 2 --dist worksteal -rs -m "(slow or hypothesis) and not jax and not proofs"

# Every constant, relation and multiplier of every proof, changed one at a time: an hour or more.
proofs: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal -rs -m proofs

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/pyright --pythonpath $(BIN)/python

# The whole way from statements to index.html on some of every paper, with a budget that only shows that it works.
SOME = buttaci/lem4.1 'buttaci/lemB.1*' buttaci/prop3.2 yuan/lem5 yuan/table1-thm1 zhang/eqA.34 benmansour/rem5 \
	benmansour/eq13 fallah/eq99
report: $(READY)
	$(BIN)/fedaudit audit $(SOME) --budget 5 --out build/report
	$(BIN)/fedaudit report --out build/report

check: lint types test report

# The README's table, from the audit in audit/.
readme: $(READY)
	$(BIN)/python -m fedaudit.overview audit README.md

docs: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--config-settings editable_mode=strict --editable '.[dev,docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--config-settings editable_mode=strict --editable '.[dev,bench]'
	$(BIN)/python -m pytest -n 2 -rs -m jax
	$(BIN)/python -m benchmarks

# What released federated code is: flwr, fedlab and fedjax as they are on the package index, in an environment of their own.
# PyTorch brings gigabytes for graphics cards unless PIP_EXTRA_INDEX_URL names its index of wheels for processors.
conform: $(READY)
	test -x build/conform/bin/python || $(PYTHON) -m venv build/conform
	build/conform/bin/python -m pip install --quiet --disable-pip-version-check '.[conform]'
	build/conform/bin/python -W ignore benchmarks/released.py

# A slip in a statement, and which move sees it: make mutants ONLY='buttaci yuan/lem5' EFFORT=2 JOBS=4
# AUDIT=audit (what that audit knows of the statements themselves is not searched for again).
# Without ONLY it takes an hour or more; what is done is kept in build/mutants.jsonl, and the next run goes on from there.
ONLY =
EFFORT = 0.1
JOBS = 1
AUDIT =
mutants: $(READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/mutants.py $(ONLY) --effort $(EFFORT) --jobs $(JOBS) \
		$(if $(AUDIT),--audit $(AUDIT)/audit.json)

# Sizes, folders, names and import cycles of the product.
measure:
	@$(PYTHON) -m benchmarks.measure

clean:
	rm -rf $(VENV) build audit audit-thorough *.egg-info .pytest_cache .ruff_cache .hypothesis
