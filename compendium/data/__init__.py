"""Data sets by name: those of scikit-learn, and those that the registry lists.

`load` reads a registered set from the folder named by the environment variable
``MEMDLIB_DATA``, from the cache, or from the network, and accepts nothing whose hash is
not the registered one. A set is added by a table in ``registry.toml`` and, for a new
kind of file, a function in ``readers.py``.
"""

from compendium.data.catalogue import fingerprint, load, names
from compendium.data.fetch import DatasetError, MissingDataError

__all__ = ["DatasetError", "MissingDataError", "fingerprint", "load", "names"]
