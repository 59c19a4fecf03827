# Thin targets: what they do is in toolchain/, demo/ and tests/.
PYTHON ?= $(or $(shell command -v python3.11),python3)
VENV := .venv/bin/python

.PHONY: help setup demo test soak bench lint clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 8

setup: ## make this machine ready for everything below
	$(PYTHON) -m toolchain setup

demo: ## from a fresh clone to trained models and their reports, on local AWS
	$(PYTHON) -m toolchain setup --for demo
	$(VENV) -m demo

# Three at a time, on two cores too: many tests wait for processes, and do not compute.
test: setup lint ## all tests but the long ones
	$(VENV) -m pytest -m "not soak" -n 3 --dist loadscope --no-loadscope-reorder

soak: setup ## the long tests
	$(VENV) -m pytest -m soak

bench: setup ## how fast the command lines and synth are
	$(VENV) -m bench

lint: ## style and types
	$(VENV) -m ruff check && $(VENV) -m ruff format --check
	$(VENV) -m mypy stacks training localaws toolchain node demo charts/make app.py && cd docker && ../$(VENV) -m mypy --config-file ../pyproject.toml --package entrypoint

clean: ## remove what set-up made here; runs, local AWS and the wheel cache stay
	rm -rf .venv/pyvenv.cfg .venv node_modules cdk.out .mypy_cache .ruff_cache .pytest_cache .hypothesis

.NOTPARALLEL:
