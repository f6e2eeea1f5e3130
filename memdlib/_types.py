"""Types that signatures name: what scikit-learn calls array-like and sparse matrix.

They are there for readers; no type checker is promised that they are complete.
"""

from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import sparray, spmatrix

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
Bools: TypeAlias = NDArray[np.bool_]
Weights: TypeAlias = ArrayLike | None  # of instances; None is one each
MatrixLike: TypeAlias = ArrayLike | sparray | spmatrix
Estimator = Matrix = Index = object
Axes = object  # drawing is an extra
EstimatorT = TypeVar("EstimatorT")
