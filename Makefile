# `make demo` and `make test` are all it takes on a fresh machine; each does what is missing of the set-up first.
SHELL := /bin/bash
export PYTHON SCENE DURATION

.PHONY: help setup demo test bench lint pictures

help:
	@echo "make demo    watch a cube feel a table (SCENE=infant for another scene, DURATION=5 to stop after 5 s)"
	@echo "make test    the whole test suite (TESTS='test/skin -k box' for a part)"
	@echo "make bench   what a step and its messages cost"
	@echo "make lint    ruff and mypy"
	@echo "make pictures  every picture of the README and the documentation, drawn anew"
	@echo "make setup   the environment alone: .venv; then: source tools/env.bash"

setup:
	@tools/setup.bash

demo: setup
	@tools/demo.bash

test: setup
	@tools/test.bash $(TESTS)

bench: setup
	@source tools/env.bash && tactile_sim bench

lint: setup
	@source tools/env.bash && ruff check . && ruff format --check . && mypy

pictures: setup
	@tools/pictures.bash
