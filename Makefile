# Every target makes what it needs from nothing: .venv, the compiled core, the dependencies.
# Stamps in .venv say what is there, so only what changed is made again.

PYTHON ?= python3
BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PEERS := tokenizers tiktoken fastokens gigatoken sentencepiece ffbpe rustbpe fast-bpe-rs bpeasy
PAGE_SCRIPTS := $(addprefix docs/,beyond.py commands.py coverage.py examples.py generated.py lm_carry.py lm_prepare.py lm_run.py lm_tables.py metrics.py paper.py python_api.py studies.py tables.py)
CORE_SOURCES := pyproject.toml Cargo.toml $(wildcard Cargo.lock) $(wildcard src/*.rs src/*/*.rs)

# Without this, maturin would install into whatever environment happens to be active.
export VIRTUAL_ENV := $(CURDIR)/.venv
unexport CONDA_PREFIX

.DEFAULT_GOAL := help
.PHONY: help demo test test-browser test-faults test-lm test-spark test-wheel fuzz fuzz-core lint fmt bench bench-guard docs docs-numbers results wheel clean

# A missing tool is told in one plain message. In question mode (-q) make runs no recipe, prints nothing
# of its own and exits 1: that message stays the only output.
ifneq ($(filter-out help clean,$(MAKECMDGOALS)),)
ifneq ($(OS),Windows_NT)
ifneq ($(shell .ci/check-tools '$(PYTHON)' >&2 || echo missing),)
MAKEFLAGS += -q
endif
endif
endif

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 } \
		END { print "PYTHON=python3.12 (or any other) chooses the Python for .venv." }' Makefile

demo: .venv/.core ## Count, train, compare and report on the embedded sample; the result is in demo/
	$(BIN)/pairity demo -o demo

test: .venv/.dev ## Run the Rust and the Python tests
	cargo test
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder -m 'not browser and not faults and not spark and not wheel'
	@echo 'Left out: tests in a real browser (make test-browser), on Apache Spark (make test-spark), of language models'
	@echo '(make test-lm), the long form of faults (make test-faults), and installing sdist and wheel into empty'
	@echo 'environments (make test-wheel).'

test-browser: .venv/.dev ## Run the tests that open the report in a real browser (needs chromium)
	$(BIN)/pytest -m browser

test-lm: .venv/.lm ## Run the tests of language models, with PyTorch for the CPU
	$(BIN)/pytest tests/lm

test-spark: .venv/.dev ## Run the tests that count on Apache Spark (needs Java 17; installs pyspark, 400 MB)
	@if command -v java >/dev/null; then $(MAKE) --no-print-directory .venv/.spark && $(BIN)/pytest -m spark tests/spark; \
		else echo 'Left out: the tests on Apache Spark, since there is no Java (apt install openjdk-17-jre-headless).'; fi

fuzz: .venv/.dev ## Damage files of every kind for ten minutes; each must be read correctly or refused
	$(BIN)/python tests/fuzz/mutate.py --seconds 600

# A thread that is about to end looks like a leak, so leaks are not looked for.
fuzz-core: ## Feed random input to the core for an hour (needs cargo install cargo-fuzz)
	for target in text table training; do mkdir -p target/fuzz/corpus/$$target; \
		RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=target/fuzz cargo fuzz run --fuzz-dir tests/fuzz/core $$target \
			target/fuzz/corpus/$$target -- -detect_leaks=0 -max_total_time=1200 -max_len=2000 -len_control=10 || exit 1; \
	done

test-faults: .venv/.dev ## Test crashes, kills and full disks in full (as root also mounts); RECORD=FILE saves the counts
	FAULTS_RECORD='$(RECORD)' $(BIN)/pytest -m faults tests/faults

lint: .venv/.dev ## Check format, style, types, the direction of imports and the core's stub
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict python/pairity benches
	$(BIN)/mypy --strict $(PAGE_SCRIPTS)
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/python -m mypy.stubtest pairity._core --mypy-config-file pyproject.toml
	cargo fmt --check
	cargo clippy --all-targets --all-features -- -D warnings

fmt: .venv/.dev ## Format Python and Rust
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	cargo fmt

bench: .venv/.bench ## Compare with other libraries: machine, versions and ratios of one run
	$(BIN)/python benches/bench.py

bench-guard: ## Fail if the core needs over 2% more instructions than recorded (needs valgrind)
	'$(PYTHON)' benches/guard.py

docs: .venv/.dev ## Generate the reference from the code and build the pages as a site, in site/
	$(BIN)/python docs/commands.py
	$(BIN)/python docs/python_api.py
	$(BIN)/python docs/metrics.py
	$(BIN)/zensical build --strict

# For another machine: make wheel TARGET=aarch64-unknown-linux-musl (rustup target add it first). With zig as the linker
# a wheel for Linux needs an old libc only, and so runs on all distributions.
wheel: .venv/.made $(if $(findstring linux,$(TARGET)),.venv/.zig) ## Build the sdist, and the wheel from it, into dist/
	rm -rf dist
	$(BIN)/maturin build --release --sdist --out dist $(if $(TARGET),--target $(TARGET)) $(if $(findstring linux,$(TARGET)),--zig)

test-wheel: wheel .venv/.dev ## Install sdist and wheel into empty environments and run the demo there
	$(BIN)/pytest -m wheel tests/packaging

# On other text: make results ARGS='--train ... --dev ... --judge devtest=... ui=...' (see docs/studies.py).
results: .venv/.dev ## Run the studies in experiments/ again, resuming finished parts; QUICK=1: a small version
	$(BIN)/python docs/studies.py --run $(if $(QUICK),results-quick --quick,results) $(ARGS)

docs-numbers: .venv/.dev ## Fill the tables of README.md and docs/ from docs/results/
	$(BIN)/python docs/tables.py

clean: ## Remove everything that make created
	rm -rf .venv target demo dist site results results-quick .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -f python/pairity/*.so python/pairity/*.pyd

.venv/.made:
	@echo 'Making .venv with $(PYTHON) ...'
	@'$(PYTHON)' -m venv --clear .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2'
	@touch $@

.venv/.zig: .venv/.made
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check ziglang
	@touch $@

.venv/.core: .venv/.made $(CORE_SOURCES)
	@echo 'Compiling the core and installing what the demo needs ...'
	@PIP_QUIET=1 $(BIN)/maturin develop --release --extras demo,report
	@touch $@

# After .core on purpose: the extra `dev` names pairity[...] itself, and pip must find this one installed
# instead of asking the index for it.
.venv/.dev: pyproject.toml | .venv/.core
	@echo 'Installing the tools for tests and checks ...'
	@PIP_QUIET=1 $(BIN)/maturin develop --release --extras dev
	@touch $@

# PyPI has PyTorch for Linux only with gigabytes of CUDA, without which it cannot be imported; PyTorch's own index has it
# for the CPU. Where that cannot be reached, it is the large one. TORCH_INDEX= (empty) takes it from PyPI at once.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
TORCH := -m pip install --quiet --disable-pip-version-check 'torch>=2.4'
.venv/.lm: .venv/.dev
	@echo 'Installing PyTorch ...'
	@$(BIN)/python -c 'import torch' 2>/dev/null || \
		{ [ -n '$(TORCH_INDEX)' ] && $(BIN)/python $(TORCH) --retries 1 --index-url '$(TORCH_INDEX)' 2>/dev/null; } || \
		{ echo 'From PyPI, with CUDA: some gigabytes ...'; $(BIN)/python $(TORCH); }
	@touch $@

.venv/.spark: .venv/.dev
	@echo 'Installing Apache Spark ...'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pyspark[sql]>=3.5'
	@touch $@

# One by one: a peer that cannot be installed here is left out, and the benchmark says so.
.venv/.bench: .venv/.dev
	@for peer in $(PEERS); do $(BIN)/python -m pip install --quiet --disable-pip-version-check $$peer || true; done
	@touch $@
