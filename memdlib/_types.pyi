"""What type checkers see of ``_types.py``; scipy and scikit-learn say no types."""

from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from matplotlib.axes import Axes as Axes
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import NDArray as NDArray

class SparseMatrix(Protocol):
    """Sparse array or matrix of any format."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    def toarray(self) -> NDArray[Any]: ...
    def tocsr(self, copy: bool = False) -> Any: ...
    def tocsc(self, copy: bool = False) -> Any: ...

class Estimator(Protocol):
    """Estimator of scikit-learn, whichever methods it has besides."""

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Any: ...

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
Bools: TypeAlias = NDArray[np.bool_]
Weights: TypeAlias = ArrayLike | None
EstimatorT = TypeVar("EstimatorT", bound=Estimator)
MatrixLike: TypeAlias = ArrayLike | SparseMatrix
Matrix: TypeAlias = NDArray[Any] | SparseMatrix
Index: TypeAlias = ArrayLike | slice
