# make demo        RoPE through nvFuser of July 2024 and of today, on this machine, GPU or not
# make test        lint, types, and the tests, with nvFuser on the null device
# make test-slow   the slow tests, which CI runs too
# make docs        the site, in site/
#
# All make a virtual environment in .venv, and install the toolchains (about 5 GB) in segscope's cache. None needs root;
# the tests open pages in Chromium and draw with Graphviz, which must be there (apt-get install chromium graphviz).

PYTHON ?= python3
BIN := .venv/bin
SEGSCOPE := $(BIN)/segscope
JULY_2024 := nvfuser-0.2.8
TODAY := nvfuser-0.2.36
ISSUE_711 := thunder-711
FOUR_TO_TWO := nvfuser-0.2.24.dev20250115 nvfuser-0.2.25.dev20250201
OUT := segscope-out
REQUIRE := SEGSCOPE_TEST_REQUIRE_TOOLCHAINS=1 SEGSCOPE_TEST_REQUIRE_PROGRAMS=1
PYTEST := $(REQUIRE) $(BIN)/python -m pytest --numprocesses auto

.PHONY: setup toolchains demo test test-slow check docs clean

setup: .venv/ready

.venv/ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "segscope needs Python 3.10 or later: make PYTHON=...")'
	@echo 'installing into .venv: a minute or two'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[draw,dev,docs]'
	touch $@

toolchains: setup
	$(SEGSCOPE) toolchain install $(JULY_2024) $(ISSUE_711) $(FOUR_TO_TWO) $(TODAY)

demo: setup
	@$(SEGSCOPE) rope --no-bookend --toolchain $(JULY_2024) --toolchain $(TODAY) --out $(OUT) || { \
	  test $$? -eq 2 || exit 1; \
	  echo "make demo: nvFuser cannot run here (see above): the same from what it printed elsewhere, in fixtures/demo"; \
	  for name in $(JULY_2024) $(TODAY); do \
	    mkdir -p $(OUT)/$$name && cp fixtures/demo/$$name/* $(OUT)/$$name/ && \
	    $(SEGSCOPE) render $(OUT)/$$name/capture.json -o $(OUT)/$$name/segments.svg || exit 1; \
	  done; \
	  $(SEGSCOPE) show $(OUT)/$(JULY_2024)/capture.json $(OUT)/$(TODAY)/capture.json; \
	}

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: check toolchains
	$(PYTEST) -m "not slow"

test-slow: toolchains
	$(PYTEST) -m slow

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf .venv build dist site $(OUT) .mypy_cache .ruff_cache .pytest_cache .hypothesis
