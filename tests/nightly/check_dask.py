"""A fit on two worker processes, one of which dies; run by ``make test-nightly``."""

import os

import numpy as np
from distributed import Client, LocalCluster

from memdlib import MeMdClassifier
from memdlib.dask import fit
from tests.test_dask import agree, blocks, counts


def test_a_worker_that_dies_is_replaced(tmp_path):
    X, y = counts()
    mark = tmp_path / "died"

    def die_once(block, block_info=None):
        if block_info and block_info[0]["chunk-location"][0] == 3 and not mark.exists():
            mark.touch()
            os._exit(1)
        return block

    X_blocks, y_blocks = blocks(X, y)
    deadly = X_blocks.map_blocks(die_once, dtype=X.dtype, meta=np.empty((0, 0)))
    how = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": None}
    with LocalCluster(**how, dashboard_address="127.0.0.1:0") as cluster:
        with Client(cluster):
            other = fit(MeMdClassifier(n_features=3), deadly, y_blocks)
    assert mark.exists()
    agree(MeMdClassifier(n_features=3).fit(X, y), other, X)
