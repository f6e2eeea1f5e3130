"""Types that signatures name: what scikit-learn calls array-like and sparse matrix.

Type checkers read ``_types.pyi`` instead, which says what each of them has.
"""

from typing import TypeAlias, TypeVar

from numpy.typing import ArrayLike
from scipy.sparse import sparray, spmatrix

MatrixLike: TypeAlias = ArrayLike | sparray | spmatrix
Estimator = Matrix = Index = object
Axes = object  # drawing is an extra
EstimatorT = TypeVar("EstimatorT")
