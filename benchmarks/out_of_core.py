"""Data larger than memory: ``python -m benchmarks.out_of_core [--scale ...]``.

Rows of known moments are drawn chunk by chunk, and a Parquet file is written and read.
At scale 1 there are ten million rows of a thousand features, 80 GB of doubles that are
never there at once, and the default is a hundredth of that. The full sizes take about
half an hour of one core; with ``--write`` what they took is left in
``benchmarks/out_of_core.json``, from which the book quotes it:

    python -m benchmarks.out_of_core --scale 1 --megabytes 2000 --write
"""

import argparse
import json
import os
import platform
import tempfile
import time
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import psutil

from memdlib import MeMdClassifier, make_memd
from memdlib.parts import TableChunks, fit_chunks, predict_chunks

ROWS, FEATURES = 10_000_000, 1000
REPORT = Path(__file__).with_suffix(".json")


class SimulatedChunks(Sequence):
    """Normal rows of two classes, drawn anew whenever they are asked for.

    Feature s has mean s / d in class 1 and zero in class 0, and variance one.

    Parameters
    ----------
    n_rows, n_features, rows : int
        Of all chunks together, and of one.
    """

    def __init__(self, n_rows, n_features, rows=2048):
        self.n_rows, self.n_features, self.rows = n_rows, n_features, rows
        self.means = np.outer([0, 1], np.arange(n_features) / n_features)

    def __len__(self):
        return -(-self.n_rows // self.rows)

    def __getitem__(self, i):
        start = range(0, self.n_rows, self.rows)[i]
        n = min(self.rows, self.n_rows - start)
        y = np.arange(start, start + n) % 2
        X = np.random.default_rng([18, i]).standard_normal((n, self.n_features))
        X += self.means[y]
        return X, y


def seconds_of_fit(chunks) -> float:
    """Processor time of one fit, that of making the chunks included."""
    start = time.process_time()
    fit_chunks(MeMdClassifier(n_features=1), chunks, classes=[0, 1])
    return time.process_time() - start


def seconds_of_predictions(chunks, folder: Path) -> float:
    """Processor time of log posteriors of all rows, written to a folder."""
    model = fit_chunks(MeMdClassifier(n_features=1), [chunks[0]], classes=[0, 1])
    start = time.process_time()
    predict_chunks(model, chunks, folder, method="predict_log_proba")
    return time.process_time() - start


def slopes(sizes, seconds) -> np.ndarray:
    """Slope of log time against log size, of each repeat (a row of seconds)."""
    return np.array([np.polyfit(np.log(sizes), np.log(t), 1)[0] for t in seconds])


def peak_of_fit(chunks) -> tuple[float, float]:
    """Peak MiB that a fit allocates, and by how much the process grows in it."""
    process, most = psutil.Process(), []
    fit_chunks(MeMdClassifier(n_features=1), [chunks[0]], classes=[0, 1])
    before = process.memory_info().rss
    tracemalloc.start()
    fit_chunks(
        MeMdClassifier(n_features=1),
        chunks,
        classes=[0, 1],
        progress=lambda *_: most.append(process.memory_info().rss),
    )
    allocated = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return allocated / 2**20, max(0, max(most) - before) / 2**20


def simulated(n_rows: int, n_features: int, repeats: int = 3) -> dict:
    """Times and peaks at growing numbers of rows.

    Parameters
    ----------
    n_rows, n_features : int
        The largest size; the others are a half, a quarter and an eighth of its rows.
    repeats : int, default=3

    Returns
    -------
    dict
        "features", and lists: "rows", "seconds" (the least of the repeats), "allocated"
        and "grown" (MiB), and "slopes", one a repeat.
    """
    sizes = [n_rows // part for part in (8, 4, 2, 1)]
    works = [SimulatedChunks(n, n_features) for n in sizes]
    seconds = np.array([[seconds_of_fit(w) for w in works] for _ in range(repeats)])
    allocated, grown = zip(*map(peak_of_fit, works), strict=True)
    return {
        "rows": sizes,
        "features": n_features,
        "seconds": seconds.min(axis=0).tolist(),
        "allocated": list(allocated),
        "grown": list(grown),
        "slopes": slopes(sizes, seconds).tolist(),
    }


def parquet(n_megabytes: int, folder: Path) -> dict:
    """Write a file of about that many megabytes, fit from it, and predict its rows.

    Parameters
    ----------
    n_megabytes : int
    folder : Path

    Returns
    -------
    dict
        "bytes" of the file, "seconds" of the fit, "predicted" (seconds of predictions),
        "floor" (seconds to read the bytes of the file), "allocated" and "grown" (MiB).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    d, rows = 100, 16384
    path = folder / "rows.parquet"
    chunks = SimulatedChunks(max(2, n_megabytes * 10**6 // (8 * d)), d, rows)
    names = [f"x{s}" for s in range(d)]
    schema = pa.schema([*((name, pa.float64()) for name in names), ("y", pa.int64())])
    with pq.ParquetWriter(path, schema, compression="none") as writer:
        for X, y in chunks:
            writer.write_table(pa.table([*X.T, y], schema=schema))
    table = TableChunks(path, "y")
    seconds_of_fit(table)  # the file is then in the cache of the system, for both
    start = time.process_time()
    with path.open("rb", buffering=0) as file:
        buffer = bytearray(2**20)
        while file.readinto(buffer):
            pass
    floor = time.process_time() - start
    seconds = seconds_of_fit(table)
    predicted = seconds_of_predictions(table, folder / "predictions")
    allocated, grown = peak_of_fit(table)
    return {
        "bytes": path.stat().st_size,
        "seconds": seconds,
        "predicted": predicted,
        "floor": floor,
        "allocated": allocated,
        "grown": grown,
    }


def recommended(n_rows: int, n_features: int) -> list[tuple[str, float, float]]:
    """``make_memd("table")`` in memory and in parts of the same rows.

    Parameters
    ----------
    n_rows, n_features : int

    Returns
    -------
    list of (str, float, float)
        Where, processor time in seconds, and MiB that the fit allocates beside the rows
        in memory, with their bookkeeping in that time.
    """
    chunks = SimulatedChunks(n_rows, n_features)
    X, y = map(np.concatenate, zip(*chunks, strict=True))
    fits = {
        "in memory": lambda model: model.fit(X, y),
        "in parts": lambda model: fit_chunks(model, chunks),
    }
    found = []
    for where, fit in fits.items():
        tracemalloc.start()
        start = time.process_time()
        fit(make_memd("table", random_state=0))
        seconds = time.process_time() - start
        found.append((where, seconds, tracemalloc.get_traced_memory()[1] / 2**20))
        tracemalloc.stop()
    return found


def main(scale: float, n_megabytes: int) -> dict:
    """Print the tables, and return what is in those of one fit of MeMd."""
    found = simulated(int(ROWS * scale), FEATURES)
    print(f"{'rows':>12} {'s, processor':>13} {'allocated':>12} {'process':>12}")
    for n, seconds, allocated, grown in zip(
        *(found[name] for name in ("rows", "seconds", "allocated", "grown")),
        strict=True,
    ):
        print(f"{n:12} {seconds:13.2f} {allocated:8.1f} MiB {grown:8.1f} MiB")
    low, middle, high = np.quantile(found["slopes"], [0, 0.5, 1])
    print(f"slope of log time against log rows: {middle:.3f} ({low:.3f} to {high:.3f})")
    with tempfile.TemporaryDirectory(prefix="memdlib-") as folder:
        file = parquet(n_megabytes, Path(folder))
    print(
        f"Parquet file of {file['bytes'] / 1e6:.0f} MB: {file['seconds']:.2f} s, "
        f"{file['seconds'] / file['floor']:.1f} x reading its bytes, predictions "
        f"{file['predicted'] / file['floor']:.1f} x, "
        f"{file['allocated']:.1f} MiB allocated, process + {file['grown']:.1f} MiB"
    )
    n = min(200_000, int(2 * ROWS * scale))
    for where, seconds, allocated in recommended(n, 30):
        print(
            f'make_memd("table"), {n} x 30, {where}: {seconds:.1f} s, '
            f"{allocated:.0f} MiB allocated"
        )
    machine = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    return {"simulated": found, "parquet": file, "machine": machine}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.out_of_core")
    parser.add_argument("--scale", type=float, default=0.01)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--write", action="store_true", help=f"write {REPORT.name}")
    asked = parser.parse_args()
    report = main(asked.scale, asked.megabytes)
    if asked.write:
        REPORT.write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")
