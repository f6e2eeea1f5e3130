"""Columns of any kind as numbers: the first step of ``make_memd("table")``."""

import math
from datetime import date
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.utils import check_array

from memdlib._sklearn import safe_indexing
from memdlib.validation import check_sizes

# Maximum size of a sparse table that is made dense: less than a gigabyte.
_FILLED = 100_000_000


def _holds_numbers(column):
    """Whether a column holds only numbers, truth values and missing cells."""
    if getattr(column.dtype, "name", "") == "category":
        return False
    cells = np.asarray(column)
    if cells.dtype.kind != "O":
        return cells.dtype.kind in "biuf"
    return all(_is_missing(cell) or isinstance(cell, Real) for cell in cells)


def _is_missing(cell):
    """Whether a cell is None, NaN or a missing value of pandas."""
    return cell is None or type(cell).__name__ == "NAType" or bool(cell != cell)


def _number_columns(X):
    """Indices of the columns that hold numbers."""
    if sparse.issparse(X):
        return list(range(X.shape[1]))
    return [s for s in range(X.shape[1]) if _holds_numbers(safe_indexing(X, s, axis=1))]


def _category_columns(X):
    """Indices of all other columns; raise ValueError if one holds dates."""
    indices = sorted(set(range(X.shape[1])) - set(_number_columns(X)))
    for s in indices:
        cells = np.asarray(safe_indexing(X, s, axis=1))
        if cells.dtype.kind in "mM" or any(isinstance(cell, date) for cell in cells):
            name = X.columns[s] if hasattr(X, "columns") else s
            raise ValueError(
                f"column {name!r} holds dates; convert them to numbers, for example "
                "days since a reference date"
            )
    return indices


def _as_floats(X):
    """Convert numbers, booleans and missing values to floats."""
    X = check_array(
        X, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan"
    )
    # an imputer may see missing cells, but no number whose square overflows
    check_sizes(SimpleImputer(), X, training=False)
    return X


def _level_names(X):
    """Levels (n, c) as strings, without a trailing ".0"; NaN where missing."""
    cells = np.asarray(X, dtype=object)
    names = np.empty(cells.shape, dtype=object)
    for place, cell in np.ndenumerate(cells):
        names[place] = np.nan if _is_missing(cell) else str(cell).removesuffix(".0")
    return names


class ColumnEncoder(ColumnTransformer):
    """Imputed numbers with missing-value indicators, and one-hot categories."""

    def __init__(self):
        convert = FunctionTransformer(_as_floats, feature_names_out="one-to-one")
        fill = SimpleImputer(
            strategy="median", add_indicator=True, keep_empty_features=True
        )
        name = FunctionTransformer(_level_names, feature_names_out="one-to-one")
        # levels of fewer than three rows, and all beyond the first hundred, are merged
        indicate = OneHotEncoder(
            min_frequency=3,
            max_categories=101,
            handle_unknown="infrequent_if_exist",
            sparse_output=False,
        )
        super().__init__(
            [
                ("numbers", make_pipeline(convert, fill), _number_columns),
                ("categories", make_pipeline(name, indicate), _category_columns),
            ],
            sparse_threshold=0,
            verbose_feature_names_out=False,
        )

    def fit_transform(self, X, y=None, **params):
        _refuse_to_fill_in(X)
        return super().fit_transform(X, y, **params)

    def transform(self, X, **params):
        _refuse_to_fill_in(X)
        return super().transform(X, **params)

    def sum_by_column(self, values):
        """Sum values of output columns over those from each input column, (d,)."""
        (_, fill, numbers), (_, encode, categories) = self.transformers_[:2]
        sources = list(numbers)
        if numbers:
            sources += [numbers[j] for j in fill[-1].indicator_.features_]
        if categories:
            levels = encode[-1].categories_
            rare_levels = encode[-1].infrequent_categories_
            for s, known, rare in zip(categories, levels, rare_levels, strict=True):
                # all rare levels share one indicator
                n_rare = 0 if rare is None else len(rare) - 1
                sources += [s] * (len(known) - n_rare)
        return np.bincount(sources, values, self.n_features_in_)


def _refuse_to_fill_in(X):
    """Raise if X is sparse and too large to convert to a dense array."""
    if sparse.issparse(X) and math.prod(X.shape) > _FILLED:
        n, d = X.shape
        raise ValueError(
            f"X is sparse, and {n} x {d} is too large for a dense array: select "
            "features first, for example with SelectKBest"
        )
