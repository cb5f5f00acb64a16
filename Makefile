# `make studies` and `make test` are all a reader needs; both set up what is missing.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
NBBIAS := $(BIN)/nbbias
STAMP  := $(VENV)/.set-up
# Those of tools/results.py, the quick ones first.
CORPORA := llmbi/gpt4_recorded biasalert/crows_pairs news_bias/llmfake
EXAMPLE := examples/marked_personas/nbbias_marked_personas/params/marked_personas/marked_personas.yaml

.DEFAULT_GOAL := help
.PHONY: help setup compiled calibrated embeddings classifier studies test test-ci test-all lint types docs results benchmark figures notebooks lab constraints clean

help:            ## say what can be made
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(STAMP)  ## make .venv with everything in it, and a Jupyter kernel of its own

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else "nbbias needs Python 3.11, 3.12 or 3.13; here is %d.%d. Try: make PYTHON=python3.12" % v)'
	@echo "Setting up .venv (about 3 GB, some minutes the first time) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --disable-pip-version-check \
		--constraint constraints.txt --editable '.[all]' || \
		{ echo "Set-up failed; the message above says why. Run make again to go on from here."; exit 1; }
	@$(BIN)/python -c "from nbbias.running import kernel; kernel.install()"
	@echo "Compiling what counts texts (half a minute) ..."
	@$(MAKE) --no-print-directory compiled
	@touch $@
	@echo "Set up."

calibrated:      ## write what cards say of a whole calibration, from runs/calibration/full
	@$(BIN)/python tools/dev.py calibrated

embeddings:      ## embed the texts of the detectors and of four samples, for data/embeddings.parquet
	@NBBIAS_CACHE=off $(BIN)/python tools/dev.py embeddings

classifier:      ## fit the offline classifier of biasalert to the sample, for data/biasalert/classifier.npz
	@$(BIN)/python tools/dev.py classifier

compiled:        ## compile what counts texts, which set-up does
	@$(BIN)/python tools/dev.py compiled

studies: setup   ## run every study's sample and say where the pages are
	@$(NBBIAS) studies

test: setup      ## run the tests that need no kernel, browser or research data
	@$(BIN)/python -m pytest

test-ci: setup   ## run those few on kernels and in a browser that every push runs
	@$(BIN)/python -m pytest -m ci -k "not phone or llmbi"

test-all: setup  ## run every test (an hour; set NBBIAS_DATA to the research data)
	@$(BIN)/python -m pytest -m ""

lint: setup      ## check style and who may import whom
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/lint-imports

types: setup     ## check types
	@$(BIN)/python -m mypy

docs: setup      ## build the documentation site from docs/, with no network
	@$(BIN)/python -m sphinx -b html -n -q -W --keep-going docs docs/_build/html
	@echo docs/_build/html/index.html

results: setup   ## run the corpora in NBBIAS_DATA (half an hour), and write docs/results/
	@$(BIN)/pip install --quiet --no-deps --no-build-isolation examples/marked_personas
	@$(NBBIAS) run $(CORPORA:%=params/%.yaml) $(EXAMPLE)
	@$(BIN)/python tools/results.py
	@$(BIN)/pip uninstall --quiet --yes nbbias-marked-personas

benchmark: setup ## time every text stage by the libraries, by nbbias.fast and by the peers
	@$(BIN)/python -m benchmarks

figures: setup   ## keep the sample runs' figures in figures/
	@$(BIN)/python tools/dev.py figures

notebooks: setup ## write the notebooks' parameters cells from the models
	@$(BIN)/python tools/dev.py notebooks

lab: setup       ## open JupyterLab on the notebooks
	@$(NBBIAS) lab

constraints: setup ## write constraints.txt from the packages in .venv
	@$(BIN)/python tools/dev.py constraints

clean:           ## remove runs and caches
	@rm -rf runs dist docs/_build docs/_made .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find src tests tools -name __pycache__ -prune -exec rm -rf {} +
