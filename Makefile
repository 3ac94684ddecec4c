# Two commands for a newcomer: make demo, make test. Everything they need is set up on the way.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready

.PHONY: demo test check long bench engines generated clean

$(READY): requirements.txt requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11 ...")'
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@echo "installing Python packages into $(VENV)"
	@$(PY) -m pip install --quiet --disable-pip-version-check --requirement requirements-dev.txt
	@$(PY) -m compileall -q $(VENV)/lib/python3*/site-packages/pulumi $(VENV)/lib/python3*/site-packages/pulumi_kubernetes
	@touch $(READY)

demo: $(READY)          ## real engines on loopback, the project's own `pulumi up`, and what came of it
	@$(PY) -m sandbox demo

check: $(READY)         ## format, lint, types, layers, unit tests: under a minute, no engines
	@$(VENV)/bin/ruff format --check --quiet .
	@$(VENV)/bin/ruff check --quiet .
	@$(VENV)/bin/mypy --no-error-summary
	@$(VENV)/bin/lint-imports --no-logo >/dev/null || $(VENV)/bin/lint-imports --no-logo
	@$(PY) -m pytest -m "not engine and not long" --numprocesses=2 --cov=gpu_platform.planning --cov=gpu_platform.settings --cov-branch --cov-report=term-missing:skip-covered --cov-fail-under=100

test: check             ## check, and every behaviour once on the real engines
	@$(PY) -m sandbox build
	@$(PY) -m pytest -m "engine and not long"

long: $(READY)          ## all of the fuzz, fault matrix, kills and soak; goes on where it stopped; SEED=N repeats one
	@$(PY) -m sandbox build
	@$(PY) -m pytest -m long --ledger=.long $(if $(SEED),--seed=$(SEED)) $(ARGS)

bench: $(READY)         ## figures as ratios, measured side by side
	@$(PY) -m bench $(ARGS)

engines: $(READY)       ## build the engines, once a machine
	@$(PY) -m sandbox build

generated: $(READY)     ## write docs/rules.md, schema/ and contract/ anew
	@$(PY) -m gpu_platform rules > docs/rules.md
	@$(PY) -m gpu_platform schema > schema/stack-file.json
	@$(PY) -m gpu_platform schema --outputs > contract/outputs.v1.json

clean:                  ## stop the sandbox and remove what make made in this clone
	@test ! -x $(PY) || $(PY) -m sandbox down
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .long .sandbox
