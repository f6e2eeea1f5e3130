"""Data sets: embedded, registered with their hash, or simulated with known truth.

`load` gives any set of `names`. Those of scikit-learn need no file; the others are read
from the folder named by the environment variable ``MEMDLIB_DATA``, from the cache, or
from the network. A set is added by a table in ``registry.toml`` and, for a new kind of
file, a function in ``readers.py``. Downloads, some readers and data frames need the
packages of the extra ``data``: ``pip install 'memdlib[data]'``.
"""

from memdlib.datasets.catalogue import fingerprint, load, names
from memdlib.datasets.fetch import DatasetError, MissingDataError
from memdlib.datasets.simulate import simulate_gaussian_classes, simulate_text_counts

__all__ = [
    "DatasetError",
    "MissingDataError",
    "fingerprint",
    "load",
    "names",
    "simulate_gaussian_classes",
    "simulate_text_counts",
]
