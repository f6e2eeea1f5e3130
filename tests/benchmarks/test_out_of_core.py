"""Small sizes of the tables that ``python -m benchmarks.out_of_core`` prints."""

import numpy as np

from benchmarks.comparison import compare_times, read_bytes
from benchmarks.out_of_core import (
    SimulatedChunks,
    main,
    parquet,
    simulated,
    slopes,
)
from memdlib import MeMdClassifier
from memdlib.parts import fit_chunks


def test_the_moments_of_the_simulated_rows_are_known():
    chunks = SimulatedChunks(5001, 8, rows=500)
    assert len(chunks) == 11 and chunks[10][0].shape == (1, 8)
    np.testing.assert_array_equal(chunks[3][0], chunks[3][0])
    model = fit_chunks(MeMdClassifier(n_features=None), chunks)
    mean, square = np.moveaxis(model.mean_params_, -1, 0)
    assert np.abs(mean - chunks.means).max() < 6 / np.sqrt(2500)
    assert np.abs(square - mean**2 - 1).max() < 6 * np.sqrt(2 / 2500)


def test_memory_does_not_grow_with_the_rows():
    found = simulated(32 * 2048, 20, repeats=1)
    assert found["rows"] == [4 * 2048, 8 * 2048, 16 * 2048, 32 * 2048]
    assert max(found["allocated"]) < 1.1 * min(found["allocated"])
    assert max(found["allocated"]) < 10  # all rows are 10 MiB


def test_a_power_law_has_its_slope():
    n = np.array([1.0, 2.0, 4.0])
    np.testing.assert_allclose(slopes(n, [3 * n, n**2]), [1.0, 2.0], rtol=1e-12)


def test_the_file_is_as_large_as_asked_for(tmp_path):
    found = parquet(2, tmp_path)
    assert 2e6 < found["bytes"] < 3e6
    assert min(found["seconds"], found["predicted"]) > 0 and found["allocated"] > 0


def test_both_tables_are_printed(capsys):
    main(scale=1e-5, n_megabytes=1)
    said = capsys.readouterr().out
    assert "slope of log time" in said and "Parquet file of 1 MB" in said
    assert "200 x 30, in memory" in said and "200 x 30, in parts" in said


def test_the_floor_reads_every_byte():
    values = np.arange(13, dtype=np.uint8)
    assert read_bytes(values[8:]) == 8 + 9 + 10 + 11 + 12
    assert read_bytes(np.ones(3, dtype=np.uint64), values[:0]) == 3
    found = compare_times(
        "work", "peer", lambda: None, lambda: None, goal=1, data=(np.ones(9),)
    )
    assert found.floor > 0 and found.passes == found.ours / found.floor
