# `make report` builds the flagship's reports, `make test` runs every check; both set themselves up first.
MODEL ?= llm-serving
N ?= 100000
SEED ?= 0
BIN = .venv/bin

.PHONY: help report test lint bench fuzz setup clean

help:
	@echo "make report   build the reports of a model into reports/<model>/ (MODEL=$(MODEL))"
	@echo "make test     lint, type check and all tests"
	@echo "make lint     lint and type check only"
	@echo "make bench    time of each stage, and the floor it cannot go under"
	@echo "make fuzz     N wrong models by seed, each bounded in time and memory (N=$(N) SEED=$(SEED))"
	@echo "make setup    the development environment in .venv, with locked versions"
	@echo "make clean    remove .venv, caches, build output and the reports built here"

report:
	@.ci/setup.sh report
	$(BIN)/capgraph build $(MODEL)

test: lint
	$(BIN)/pytest -n 2

lint: setup
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: setup
	$(BIN)/pytest tests/benchmarks -s -o python_files='bench_*.py'

fuzz: setup
	PYTHONPATH=tests $(BIN)/python -m fuzz $(N) --seed $(SEED)

setup:
	@.ci/setup.sh dev

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find capgraph tests -name __pycache__ -type d -prune -exec rm -rf {} +
	find reports -mindepth 1 -maxdepth 1 ! -name README.md ! -name samples -exec rm -rf {} +
