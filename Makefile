# `make demo` and `make test` work on a fresh machine: each target runs the set-up first if necessary.
SHELL := /bin/bash
export PYTHON SCENE DURATION

REPORT := build/coverage

.PHONY: help setup demo test test-fast coverage test-extras bench lint docs pictures

help:
	@echo "make demo    show a cube with skin on a table (SCENE=infant: another scene; DURATION=5: stop after 5 s)"
	@echo "make test    run the whole test suite (TESTS='test/skin -k box': a part of it)"
	@echo "make test-fast  run the tests of skins, signal chains, configurations, wire format and batches"
	@echo "make coverage  run the test suite and show which lines it does not run (also build/coverage/index.html)"
	@echo "make test-extras  run test/extras with large packages (PyTorch, 10 GB) in .venv-extras, .venv-mjlab"
	@echo "make bench   run the benchmarks"
	@echo "make lint    run ruff and mypy"
	@echo "make docs    the documentation as a site: build/docs/index.html"
	@echo "make pictures  regenerate all figures of the README and the documentation"
	@echo "make setup   create .venv only; to use it: source tools/env.bash"

setup:
	@tools/setup.bash

demo:
	@tools/setup.bash --run
	@tools/demo.bash

test: setup
	@tools/test.bash $(TESTS)

FAST := test/skin test/signal_chain test/config test/batch test/ros/test_cdr.py test/ros/test_templates.py
test-fast: setup
	@tools/test.bash -p xdist -n 2 --dist loadfile $(FAST)

coverage: export COVERAGE = 1
coverage: export COVERAGE_FILE = $(CURDIR)/$(REPORT)/data
coverage: setup
	@rm -rf $(REPORT) && mkdir -p $(REPORT)
	@tools/test.bash $(TESTS)
	@source tools/env.bash && coverage combine -q && coverage html -q -d $(REPORT) && coverage report

test-extras:
	@tools/extras.bash $(TESTS)

bench: setup
	@source tools/env.bash && tactile_sim bench

lint: setup
	@source tools/env.bash && ruff check . && ruff format --check . && mypy

docs: setup
	@tools/docs.bash

pictures: setup
	@tools/pictures.bash
