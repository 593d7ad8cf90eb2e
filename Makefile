# make demo   RoPE through nvFuser of July 2024 and of today, on this machine, GPU or not
# make test   everything that must hold: lint, types, and the tests on the null device
#
# Both make a virtual environment in .venv and install the toolchains (about 2 GB) in segscope's cache. Neither needs root.

PYTHON ?= python3
BIN := .venv/bin
SEGSCOPE := $(BIN)/segscope
JULY_2024 := nvfuser-0.2.8
TODAY := nvfuser-0.2.36
OUT := segscope-out

.PHONY: setup toolchains demo test check clean

setup: .venv/ready

.venv/ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "segscope needs Python 3.10 or later: make PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[draw,dev]'
	touch $@

toolchains: setup
	$(SEGSCOPE) toolchain install $(JULY_2024) $(TODAY)

demo: setup
	@if $(SEGSCOPE) toolchain install $(JULY_2024) $(TODAY); then \
	  $(SEGSCOPE) rope --no-bookend --toolchain $(JULY_2024) --toolchain $(TODAY) --out $(OUT); \
	else \
	  echo "make demo: no toolchain on this machine (see above): the same from recorded dumps in fixtures/"; \
	  mkdir -p $(OUT)/$(JULY_2024) $(OUT)/$(TODAY); \
	  cp fixtures/null_0.2.8_llama2-13b_bookend0_forward.txt $(OUT)/$(JULY_2024)/dump.txt; \
	  cp fixtures/h200_0.2.36_Llama-2-13b-hf_bookend0_forward.txt $(OUT)/$(TODAY)/dump.txt; \
	  $(SEGSCOPE) show $(OUT)/$(JULY_2024)/dump.txt $(OUT)/$(TODAY)/dump.txt && \
	  $(SEGSCOPE) render $(OUT)/$(JULY_2024)/dump.txt -o $(OUT)/$(JULY_2024)/segments.svg && \
	  $(SEGSCOPE) render $(OUT)/$(TODAY)/dump.txt -o $(OUT)/$(TODAY)/segments.svg; \
	fi

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: check toolchains
	SEGSCOPE_TEST_REQUIRE_TOOLCHAINS=1 $(BIN)/python -m pytest --numprocesses auto

clean:
	rm -rf .venv build dist $(OUT) .mypy_cache .ruff_cache .pytest_cache .hypothesis
