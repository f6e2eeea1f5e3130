"""Types that signatures name: what scikit-learn calls array-like and sparse matrix."""

from typing import TYPE_CHECKING, TypeAlias, TypeVar

from numpy.typing import ArrayLike
from scipy.sparse import sparray, spmatrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
else:
    Axes = object  # drawing is an extra

MatrixLike: TypeAlias = ArrayLike | sparray | spmatrix
Estimator = Matrix = Index = object  # the stub says what they have
EstimatorT = TypeVar("EstimatorT")
