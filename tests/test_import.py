"""What ``import memdlib`` brings in, and what it leaves to those who ask for it."""

import subprocess
import sys

EXTRAS = ("dask", "distributed", "pandas", "pyarrow", "matplotlib", "polars")

# scikit-learn imports pandas by itself where it is installed, and that PyArrow: they
# are hidden from it, and anyone else who asks for them is found.
PROGRAM = """
import sys

asked = []


class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {extras!r}:
            frame = sys._getframe()
            while frame is not None:
                asked.append((name, frame.f_globals.get("__name__", "")))
                frame = frame.f_back
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Hidden())
import sklearn.feature_selection
asked.clear()
import memdlib

packages = [getattr(memdlib, name) for name in dir(memdlib)]
from memdlib.generative import *

ours = [name for name, by in asked if by.startswith("memdlib")]
assert not ours, ours
assert not set({extras!r}) & set(sys.modules)
assert "memdlib.dask" not in sys.modules
"""


def test_the_core_brings_in_no_extra():
    program = PROGRAM.format(extras=EXTRAS)
    subprocess.run([sys.executable, "-c", program], check=True)
