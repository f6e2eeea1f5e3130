# make book   set up, compare every chapter with a new execution, render _build/html
# make test   set up, run all tests but those in a browser, compare every chapter, render
# make help   the rest

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
BIN := .venv/bin
RUN := $(BIN)/python -m compendium
READY := .venv/ready
FOREIGN := .venv/foreign
VERIFIERS := cffconvert roc-validator
VERIFIERS_LOCK := tests/foreign/requirements.lock
PIP := -m pip install -qq --disable-pip-version-check
# In a locale that is not UTF-8 uv would write to another folder, if its name is not of ASCII;
# Python takes the locale C for UTF-8.
UV := LC_ALL=C UV_LINK_MODE=copy $(BIN)/uv pip install --quiet --compile-bytecode --python
# Stored chapters, executed again and compared cell by cell.
NBVAL := $(BIN)/python -m pytest -n auto --dist loadfile -p no:cacheprovider \
    --nbval --nbval-current-env --nbval-cell-timeout 600 book/notebooks tests/book/test_twins.py
# The book; warnings are errors. It says which page to open.
HTML := $(BIN)/jupyter-book build . -W -n --keep-going -q
# Kinds of processor for which OpenBLAS has other kernels, and so other last digits; one
# needs instructions that not all have.
CORETYPES := Haswell $(shell grep -qs avx512 /proc/cpuinfo && echo SkylakeX) Sandybridge Prescott Nehalem
# The tests of memdlib: of its modules, and a folder for each of its packages.
UNITS := tests/test_*.py $(patsubst memdlib/%/__init__.py,tests/%,$(wildcard memdlib/*/__init__.py)) memdlib
CHAPTER ?=
CLAIM ?=
PAGES ?=
PYODIDE ?=
RUNS ?=
JOBS ?=
STATUS ?=
RECHECK ?=

# Experiments run in folders of their own. Functions of make tear a path with a space.
ifdef MEMDLIB_DATA
export MEMDLIB_DATA := $(if $(filter /%,$(firstword $(MEMDLIB_DATA))),,$(CURDIR)/)$(MEMDLIB_DATA)
endif
# All text is UTF-8, whatever the locale.
export PYTHONUTF8 := 1
# The last bits of matrix products depend on the number of threads.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

.PHONY: book html store notebooks pdf live test test-lowest test-newest test-nightly test-foreign test-browser prove experiments check tables lab student release verify-release lock setup clean help

book: $(READY)  ## compare every chapter with a new execution, render the stored ones
	@$(NBVAL) && status=0 || status=$$?
	$(HTML)
	[ $$status = 0 ] || echo "The page is that of the stored chapters; those above come out otherwise here."
	exit $$status

html: $(READY)  ## only render the book, from the stored chapters: what has changed since
	@$(HTML)

store: $(READY)  ## derive tables, execute chapters and store them; CHAPTER="memd ..." (those behind)
	@$(RUN) tables
	$(RUN) store $(CHAPTER)

notebooks: $(READY)  ## only compare the stored chapters with a new execution (nbval)
	@$(NBVAL)

pdf: $(READY)  ## print pages to _build by Chromium (make book first); PAGES="memd ..." (article), or PAGES=book
	@$(RUN) pdf $(PAGES)

# The site is made of the archive that the pages offer, so they come first and with its button.
live: $(READY)  ## render the book with a site that runs the chapters in the browser; PYODIDE=folder of a release of it
	@MEMDLIB_LIVE=1 $(HTML)
	$(RUN) live $(if $(PYODIDE),--pyodide "$(PYODIDE)")

# It calls make by its name: by its variable, make -n would run it all.
test: $(READY)  ## style, unit tests, doctests, chapters compared, gates
	@echo "== style";                $(BIN)/ruff check; $(BIN)/ruff format --check; $(BIN)/codespell
	echo "== imports";                $(BIN)/lint-imports --no-cache --no-logo
	echo "== tests and doctests";    $(BIN)/python -m pytest -n auto --doctest-modules --durations=10
	echo "== chapters, re-executed, while the book is rendered on what cores are idle"
	make -j 2 notebooks html
	echo "== gates";                 $(RUN) check

# $(call tested,RESOLUTION): test memdlib with what uv resolves its ranges to, without the
# lock, in an environment of its own; without data, whose readers are the book's.
define tested
environment=_build/environments/$(1)
$(PYTHON) -m venv --clear $$environment
$$environment/bin/python $(PIP) uv
UV_LINK_MODE=copy $$environment/bin/uv pip install --quiet --python $$environment/bin/python \
    --resolution $(1) --group test --group build -e .[dask,notebooks]
MEMDLIB_DATA= $$environment/bin/python -m pytest -n auto -p no:cacheprovider --doctest-modules $(UNITS)
endef

test-lowest:  #- unit tests of memdlib with the lowest versions that its ranges allow
	@$(call tested,lowest-direct) tests/lowest/check_*.py

test-newest:  #- unit tests of memdlib with the newest versions of its packages
	@$(call tested,highest)

test-nightly: $(READY)  #- other settings; chapters on each kind of processor; runs made again
	@status=0  # all are made, whatever the first finds
	$(BIN)/python -m pytest -n auto tests/nightly/check_*.py || status=1
	for type in $(CORETYPES); do
	    echo "== $$type"
	    OPENBLAS_CORETYPE=$$type $(NBVAL) || status=1
	done
	$(RUN) experiments --recheck || status=1
	exit $$status

prove:  #- check the proofs by Coq (says how to get it)
	@$(PYTHON) proofs/check.py

test-browser: $(READY)  #- pages in Chromium (make book or test first), and the live site if it is there
	@$(BIN)/python -m pytest -n auto tests/browser/check_*.py $(if $(wildcard _build/html/live),tests/live/check_*.py)

experiments: $(READY)  ## make runs, all or RUNS="name ..."; JOBS=n at a time; STATUS=1 lists, RECHECK=1 compares
	@$(RUN) experiments $(if $(JOBS),--jobs $(JOBS)) $(if $(STATUS),--status) $(if $(RECHECK),--recheck) $(RUNS)

check: $(READY)  ## make the runs of CLAIM=id again and judge by them; without it, one claim of each source
	@$(RUN) check-claim $(CLAIM)

tables: $(READY)  ## only derive data/tables from the results of the runs
	@$(RUN) tables

# from the root, so that jupytext finds its settings and writes the text of what is saved
lab: $(READY)  ## open JupyterLab, which sets statements, on the notebooks
	@$(BIN)/jupyter lab --LabApp.default_url=/lab/tree/book/notebooks

student: $(READY)  ## write notebooks without solutions to _build/student, and zip them (make html first)
	@$(RUN) student

# Pages are built anew: a folder that was built into before has pages of other commits.
release: $(READY)  ## pack it all to _build/memdlib-compendium-*.tar.gz (make book pdf first)
	@rm -rf _build/html _build/.doctrees
	$(HTML)
	$(RUN) release

# Names are handed on in the environment as they are: no make and no shell reads them.
verify-release: export ARCHIVE := $(value FILE)
verify-release: export PUBLISHED := $(value DIGEST)
verify-release:  ## compare a release with what was published; FILE=archive DIGEST=its-sha256
	@$(PYTHON) -I compendium/artifact/verify.py "$$ARCHIVE" $${PUBLISHED:+"$$PUBLISHED"}
unexport FILE DIGEST

test-foreign: $(READY) $(FOREIGN)/ready  #- the export under verifiers of others
	@FOREIGN=$(FOREIGN) $(BIN)/python -m pytest -n auto tests/foreign/check_*.py

lock: $(READY)  ## resolve requirements.lock anew, and that of the verifiers
	@$(BIN)/uv pip compile --quiet --universal --upgrade --generate-hashes --no-emit-index-url \
	    --no-header --no-annotate --group all --extra notebooks pyproject.toml -o requirements.lock
	echo $(VERIFIERS) | tr ' ' '\n' | $(BIN)/uv pip compile --quiet --universal --upgrade \
	    --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --no-header --no-annotate - -o $(VERIFIERS_LOCK)

setup: $(READY)  ## only set up .venv

# $(call installed,PYTHON,PACKAGES): packages for an interpreter. uv installs in seconds
# what takes pip a minute. It does not read the settings of pip, so that where an index is
# set there and nowhere else, pip has to do it.
define installed
$(UV) $(1) $(2) || {
    echo "uv cannot install them; pip takes a minute or two ..."
    $(1) $(PIP) $(2)
}
endef

# $(call alone): one set-up at a time. The lock is held by this shell and by all that it
# starts, so that what goes on after the shell was killed is waited for, too.
define alone
mkdir -p _build
exec 9> _build/setup.lock
"$(PYTHON)" -c 'import fcntl; fcntl.flock(9, fcntl.LOCK_EX)' || {
    echo "no locks on this disk: do not set up twice at once"
}
endef

# $(call installation,COMMAND,ENVIRONMENT,SOURCES): compare the mark of an environment with
# its sources, or write it.
installation = $(2)/bin/python -X utf8 -IS compendium/installation.py $(1) $(2) $(3)
SOURCES := requirements.lock pyproject.toml

# The mark is a measurement, and compared on every call. It is written when every file is as
# its package says. Set-up starts from an empty folder, since uv and pip take a package that
# is half there for installed; and in its final place, since scripts name the folder.
.PHONY: $(READY)
$(READY):
	@$(call installation,compare,.venv,$(SOURCES)) 2>/dev/null && exit
	"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "memdlib needs Python 3.11 or later; set PYTHON=python3.x")'
	$(call alone)
	$(call installation,compare,.venv,$(SOURCES)) 2>/dev/null && exit
	echo "Setting up .venv from requirements.lock (half a minute when cached, some minutes the first time) ..."
	rm -f $(READY)
	"$(PYTHON)" -m venv --clear .venv
	sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > .venv/uv.txt
	$(BIN)/python $(PIP) --require-hashes -r .venv/uv.txt
	$(call installed,$(BIN)/python,--require-hashes -r requirements.lock)
	$(BIN)/python $(PIP) --no-deps --no-build-isolation -e .
	$(call installation,mark,.venv,$(SOURCES))

# They want an older rich than import-linter, and an older jsonschema than JupyterLab.
.PHONY: $(FOREIGN)/ready
$(FOREIGN)/ready: $(READY)
	@$(call alone)
	$(call installation,compare,$(FOREIGN),$(VERIFIERS_LOCK)) 2>/dev/null && exit
	rm -f $@
	"$(PYTHON)" -m venv --clear $(FOREIGN)
	$(call installed,$(FOREIGN)/bin/python,--require-hashes -r $(VERIFIERS_LOCK))
	$(call installation,mark,$(FOREIGN),$(VERIFIERS_LOCK))

clean:  ## remove everything that is not committed
	rm -rf .venv _build book/api book/proofs

help:
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16
	echo; echo "What CI runs besides make test:"
	grep -E '^[a-z-]+:.*#- ' $(MAKEFILE_LIST) | sed 's/:.*#- /\t/' | expand -t 16
