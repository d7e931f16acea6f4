# Headlight: `make run` starts it, `make test` tests it; both do everything on a fresh machine.
# Nothing here is needed to use the app: README.md has the plain pip and streamlit lines.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A stamp stands for a finished installation, so that the next `make run` starts at once.
RUN_STAMP := $(VENV)/requirements.stamp
DEV_STAMP := $(VENV)/requirements-dev.stamp

.DEFAULT_GOAL := help
.PHONY: help run test bench screenshots lint train clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

run: $(RUN_STAMP) ## start Headlight and open it in the browser (PORT=8501 chooses the port)
	@$(BIN)/python -m scripts.run $(PORT)

test: $(DEV_STAMP) ## run every test, the ones in a real browser too
	@$(BIN)/python -m scripts.browser
	@$(BIN)/python -m pytest

lint: $(DEV_STAMP) ## check style and format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

bench: $(DEV_STAMP) ## measure speed, as ratios within one run (best on an idle machine)
	@$(BIN)/python -m scripts.browser
	@$(BIN)/python -m tests.bench

screenshots: $(DEV_STAMP) ## make the README's pictures anew from the app
	@$(BIN)/python -m scripts.browser
	@$(BIN)/python -m scripts.screenshots

train: $(DEV_STAMP) ## train the writer anew, with a progress bar
	@$(BIN)/python -m model.train writer

clean: ## remove .venv and every cache
	rm -rf $(VENV) .pytest_cache .ruff_cache test-results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(RUN_STAMP): requirements.txt scripts/environment.py
	@$(PYTHON) scripts/environment.py requirements.txt
	@touch $@

$(DEV_STAMP): requirements-dev.txt requirements.txt scripts/environment.py
	@$(PYTHON) scripts/environment.py requirements-dev.txt
	@touch $(RUN_STAMP) $@
