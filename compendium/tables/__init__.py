"""Tidy tables of the results, one module a family of runs.

Results are JSON, one file a run. A reader of a chapter wants one table for each
question, so that ``data/tables/<family>-<grain>.csv`` has a line for each case of one
kind: a test fold, a number of features, a pair of methods. A module of this package
that is named after a family has

``RUNS``
    patterns of the names of its runs, such as ``("table2-*",)``;
``tables(results)``
    the tables of the family, by their names, from the results of these runs.

``make tables`` writes them all (:mod:`compendium.tables.write`).
"""
