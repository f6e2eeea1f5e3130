"""Arrays as fields of dataclasses: of floats, of indices, of truth values."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Bools = NDArray[np.bool_]
