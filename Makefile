# One command per chore; `make help` lists them. Everything a developer needs lives in .venv, made on first use.
#
# Only python3 (3.11 or later), make and a package registry are assumed. Other requirements (Chromium for the browser
# tests, python3-venv if Python came without it) are installed if this user may do so, and otherwise named.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# If the user sets PYTHON, the GPU chores use it as it is, because such a machine may have no network.
GIVEN_PYTHON := $(if $(filter command environment,$(origin PYTHON)),$(PYTHON))
PYTHON ?= $(shell for candidate in python3 python3.13 python3.12 python3.11 python3.14; do \
	"$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo "$$candidate" && break; done)
VENV := .venv
BIN := $(VENV)/bin
PACKAGES_STAMP := $(VENV)/.packages-installed
JAVASCRIPT_STAMP := tests/javascript/node_modules/.installed
# These settings suppress the question about Jupyter news and save widgets with the notebook.
LAB_DEFAULTS := autodiff_lab/cli/jupyter/labconfig/default_setting_overrides.json
LAB_SETTINGS := $(VENV)/share/jupyter/lab/settings/overrides.json
FIRST_LESSON = $(firstword $(sort $(wildcard notebooks/01_*.ipynb)))
LAB_ARGS ?=
TEST_ARGS ?=
BENCH_ARGS ?=
GPU_JSON ?= build/gpu.json
GPU_PYTHON = $(or $(GIVEN_PYTHON),$(BIN)/python)
GPU_NEEDS = $(if $(GIVEN_PYTHON),,$(PACKAGES_STAMP))
# numba-cuda looks for its compiler, libNVVM, among Python's packages, and in a toolkit only if CUDA_HOME is set.
GPU_TOOLKIT = $(or $(CUDA_PATH),$(CUDA_HOME),$(wildcard /usr/local/cuda))
GPU_RUN = $(if $(GPU_TOOLKIT),CUDA_HOME=$(GPU_TOOLKIT) )$(GPU_PYTHON)
# Workers of each of the two pytest runs, which share the cores: browser and notebook tests mostly wait.
WORKERS ?= 2
PIP_INSTALL = $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt
RUN_PARTS = WORKERS=$(WORKERS) $(BIN)/python -m tests.run

.PHONY: help env chromium javascript lab lessons-played lessons-solved lessons-translated test test-all test-simulated test-amputated test-gpu test-mutants test-peers test-adapters test-fuzz lint types js bench bench-gpu bench-history docs docs-check docs-serve docs-links docs-publish docs-renew docs-pictures screenshots wheel site-lite test-front-ends test-pythons clean

help: ## List the chores.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

env: $(PACKAGES_STAMP) $(LAB_SETTINGS) javascript chromium ## Create .venv with everything a developer needs.

# A bare `venv` fails if Python came without ensurepip (Debian splits it off); the fallbacks are, in order, the system's
# package as root, virtualenv through an existing pip, and a message that says what to do.
$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "autodiff_lab needs Python 3.11 or later; none of python3, python3.11 ... was found."; exit 1; }
	@"$(PYTHON)" -m venv $(VENV) >/dev/null 2>&1 \
	|| { rm -rf $(VENV); [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq >/dev/null \
	     && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null && "$(PYTHON)" -m venv $(VENV); } \
	|| { rm -rf $(VENV); "$(PYTHON)" -m pip install --quiet --user virtualenv 2>/dev/null \
	     || "$(PYTHON)" -m pip install --quiet --user --break-system-packages virtualenv; \
	     "$(PYTHON)" -m virtualenv --quiet $(VENV); } \
	|| { rm -rf $(VENV); echo "Could not make $(VENV): install your system's python3-venv package (or virtualenv) and try again."; exit 1; }

# The pip that comes with Python 3.11 takes twice as long. Python compiles a module when it is first imported; pip would
# compile all ten thousand, which takes a minute.
$(PACKAGES_STAMP): pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_INSTALL) --upgrade pip
	$(PIP_INSTALL) --editable '.[dev]'
	@touch $@

$(LAB_SETTINGS): $(LAB_DEFAULTS) | $(PACKAGES_STAMP)
	@mkdir -p $(@D) && cp $< $@

# The type checker for the widgets' JavaScript. node comes from a wheel in .venv, so every machine runs the same one.
javascript: $(JAVASCRIPT_STAMP)
$(JAVASCRIPT_STAMP): tests/javascript/package.json | $(PACKAGES_STAMP)
	@$(BIN)/python tests/javascript/node.py npm install --no-package-lock --no-audit --no-fund --loglevel=error \
		--prefix tests/javascript >/dev/null \
		&& touch $@ \
		|| echo "TypeScript could not be installed; the JavaScript type check will be skipped and say so."

chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "Installing Chromium for the browser tests ..." \
	     && apt-get update -qq >/dev/null 2>&1 \
	     && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1; } \
	|| echo "Chromium is not installed and cannot be installed by this user; the browser tests will be skipped and say so."

# Learners need neither Chromium nor TypeScript, so `lab` installs only the Python packages.
lab: $(PACKAGES_STAMP) $(LAB_SETTINGS) ## Open JupyterLab on the first lesson (LAB_ARGS="--no-browser --port 8899").
	$(BIN)/python -m jupyterlab $(if $(filter 0,$(shell id -u)),--allow-root) $(LAB_ARGS) $(FIRST_LESSON)

lessons-played: $(PACKAGES_STAMP) ## Run the lessons and save them: played in tests/lessons/played/, for learners in notebooks/ (LESSONS="01 07").
	AUTODIFF_LAB_PROGRESS=off AUTODIFF_LAB_KERNELS=numpy AUTODIFF_LAB_COMPILE=wait $(BIN)/python -m tests.lessons.renew $(LESSONS)

lessons-translated: $(PACKAGES_STAMP) ## Write the lessons in other languages to notebooks/, from tests/lessons/catalogues/.
	$(BIN)/python -m tests.lessons.translate

lessons-solved: $(PACKAGES_STAMP) ## Write the lessons with an answer in every exercise, for teachers, to build/lessons_solved.
	$(BIN)/python -m tests.lessons.solved build/lessons_solved

test: env ## Run the checks: Python, doctests, documents, notebooks, JavaScript, browser, simulator, lint, types.
	$(RUN_PARTS) $(if $(TEST_ARGS),-- $(TEST_ARGS))

test-all: env ## Run the checks with the tests marked slow, which take longer than all others together.
	$(RUN_PARTS) tests simulator types lint $(if $(TEST_ARGS),-- $(TEST_ARGS))

test-simulated: $(PACKAGES_STAMP) ## Run the CUDA kernels in the simulator, against their NumPy references.
	$(RUN_PARTS) simulator -- $(TEST_ARGS)

# Takes a few minutes: only the tests of the core, in processes that cannot import the rest.
test-amputated: $(PACKAGES_STAMP) ## Run the core's tests without gpu/, extras/ and the CUDA kernels; print how many pass.
	$(BIN)/python -m tests.amputation -n $(WORKERS) --dist worksteal $(or $(TEST_ARGS),tests autodiff_lab --ignore=tests/browser)

# With PYTHON=python3 nothing is installed: NumPy, numba-cuda, CuPy and pytest must be present. Status 3 (which
# make reports as "Error 3") means that there is no GPU. Both GPU chores together take less than 9 minutes.
test-gpu: $(GPU_NEEDS) ## Run the tests of kernels and devices on a GPU (PYTHON=python3: as it is; GPU_JSON=build/gpu.json).
	$(GPU_RUN) -m tests.benchmarks.gpu.device_tests --json $(GPU_JSON) $(GPU_TEST_ARGS)

test-mutants: $(PACKAGES_STAMP) ## Break each derivative rule in turn: the tests of the ops must notice.
	$(BIN)/python -m pytest -m mutants tests/ops $(TEST_ARGS)

# With PEER_PYTHON nothing is installed, in either environment.
test-peers: $(if $(PEER_PYTHON),,$(PACKAGES_STAMP)) ## Compare with torch and TensorFlow (PEER_PYTHON=path/to/python that has them, FUZZ_COUNT=10000).
	$(or $(PEER_PYTHON),$(BIN)/python) -m tests.peers $(TEST_ARGS)

# Each framework gets an environment of its own under .bench/, unless PEER_PYTHON_TORCH or PEER_PYTHON_JAX names one.
test-adapters: $(PACKAGES_STAMP) ## Test the adapters for PyTorch and JAX (PEER_PYTHON_TORCH=path/to/python, ..._JAX=...).
	$(BIN)/python -m tests.adapters $(TEST_ARGS)

# Tests that generate their cases from seeds read the number of cases from FUZZ_COUNT; `make test` runs few of them.
test-fuzz: $(PACKAGES_STAMP) ## Run the tests that generate cases from seeds, with many more of them (FUZZ_COUNT=2000).
	FUZZ_COUNT=$(or $(FUZZ_COUNT),2000) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal \
		$$(grep -rl --include='test_*.py' FUZZ_COUNT tests) $(TEST_ARGS)

lint: $(PACKAGES_STAMP) ## Check style and formatting with ruff.
	$(RUN_PARTS) lint

types: $(PACKAGES_STAMP) ## Check the types of the Python code.
	$(RUN_PARTS) types

js: $(PACKAGES_STAMP) javascript ## Check the types of the JavaScript and run its tests.
	$(BIN)/python -m pytest tests/test_javascript.py $(TEST_ARGS)

bench: $(PACKAGES_STAMP) ## Benchmark against other libraries, write docs/performance.md (CASES="gather" PEERS="lab torch": print).
	$(BIN)/python -m tests.benchmarks $(if $(CASES),--cases $(CASES)) $(if $(PEERS),--peers $(PEERS)) $(BENCH_ARGS)

bench-gpu: $(GPU_NEEDS) ## Benchmark on a GPU, against PyTorch and JAX if installed (PYTHON=python3, GPU_JSON).
	$(GPU_RUN) -m tests.benchmarks.gpu --json $(GPU_JSON) $(GPU_BENCH_ARGS)

# These are not tests: addopts are overridden, which also enables the benchmark plugin that they disable.
bench-history: $(PACKAGES_STAMP) ## Time small programs and compare with the last run on this machine (BENCH_ARGS="-k gather").
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q --override-ini=addopts= --import-mode=importlib \
		--override-ini='python_files=bench_*.py' --benchmark-storage=.bench/history --benchmark-autosave \
		--benchmark-compare --benchmark-timer=time.process_time --benchmark-warmup=on --benchmark-columns=min,median,rounds \
		$(BENCH_ARGS) $(wildcard tests/benchmarks/bench_*.py)
	$(if $(BENCH_ARGS),,$(BIN)/python tests/benchmarks/bench_overhead.py)

# Warnings are errors. Lessons are executed again only if they or the package have changed.
docs: env docs-check ## Run every example of the documents, build the site into build/site, walk it in a browser.
	$(BIN)/python -m tests.site --out build/site
	SITE=build/site $(BIN)/python -m pytest -q tests/browser/walk_site.py

docs-check: $(PACKAGES_STAMP) docs-renew ## Regenerate the generated pages; run every example in the README, docs/ and the docstrings.
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal tests/test_documents.py tests/test_docs.py tests/site autodiff_lab $(TEST_ARGS)

docs-serve: ## Serve the site of `make docs` at http://127.0.0.1:8000.
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site 8000

docs-links: $(PACKAGES_STAMP) ## List the links of the documents that lead to other hosts.
	$(BIN)/python -m tests.site --links

docs-publish: $(PACKAGES_STAMP) ## Run the workflow of docs/publishing.md, step by step, in a copy of the last commit.
	$(BIN)/python -m tests.site.publishing

docs-renew: $(PACKAGES_STAMP) ## Regenerate pages of docs/: ops, names of TensorFlow, compiled CUDA kernels.
	$(BIN)/python -m tests.generated
	$(BIN)/python -m tests.cuda_report --write docs/cuda_kernels.md

docs-pictures: env ## Retake the pictures of the README.
	RENEW_PICTURES=1 $(BIN)/python -m pytest tests/browser/test_readme.py

screenshots: env ## Photograph every widget and lesson, light and dark, into tests/browser/screenshots/.
	SCREENSHOTS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile tests/browser $(TEST_ARGS)

wheel: $(PACKAGES_STAMP) ## Build the wheel and the source archive into dist/.
	$(BIN)/python -m build --outdir dist .

site-lite: $(PACKAGES_STAMP) ## Build the lessons as a JupyterLite site in build/site-lite, to be served as static files.
	$(BIN)/python -m tests.tab.lite_site

test-front-ends: env ## Open JupyterLab, Notebook 7, Voila and marimo with the wheel in a browser; nbconvert to pages, slides, scripts.
	$(BIN)/python -m tests.front_ends $(TEST_ARGS)

test-pythons: $(PACKAGES_STAMP) ## Test a part in every Python from 3.11 on, and with the lowest versions allowed.
	$(BIN)/python -m tests.pythons

clean: ## Remove what the chores made, .venv included.
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis tests/javascript/node_modules tests/browser/screenshots
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
