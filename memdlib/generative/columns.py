"""Columns of any kind as numbers: the first step of ``make_memd("table")``."""

import math
import re
import reprlib
import warnings
from decimal import Decimal
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from memdlib._sklearn import check_feature_names_in, safe_indexing
from memdlib.validation import check_sizes, refuse_cells

# Maximum size of a sparse table that is made dense: less than a gigabyte.
_FILLED = 100_000_000
# Levels of fewer rows are merged; as few new rows may well hold unknown levels only.
_MIN_ROWS = 3
# A number, perhaps after a sign (of currency, comparison, ...) and before a unit.
_NUMBER = re.compile(r"[^\w.,]*+[.,]?\d[\d.,' ]*+(e[-+]?\d++)?\D{0,6}", re.IGNORECASE)
# Strings that read as no more different numbers than this may be codes.
_MAX_CODES = 10


def _as_table(X):
    """X as it is if it has columns, else as an array (n, d); raise if it is neither."""
    if sparse.issparse(X):
        if math.prod(X.shape) > _FILLED:
            n, d = X.shape
            raise ValueError(
                f"X is sparse, and {n} x {d} is too large for a dense array: select "
                "features first, for example with SelectKBest"
            )
        return X.toarray()
    kind = type(X).__name__
    if hasattr(X, "collect"):
        raise ValueError(f"X is a {kind}; pass X.collect()")
    if hasattr(X, "columns"):
        return X
    is_sequence = hasattr(X, "__len__") and getattr(X, "ndim", 1) > 0
    first = next(iter(X), None) if is_sequence else None
    if isinstance(X, dict) or isinstance(first, dict | np.void):
        raise ValueError(f"X is a {kind} of named values; pass pandas.DataFrame(X)")
    if isinstance(first, str | bytes):
        raise ValueError(
            f"X is a {kind} of strings, not a table: use make_memd('text') for texts, "
            "and pass X.to_frame() for one column of a frame"
        )
    dtype = None if hasattr(X, "dtype") else object
    return check_array(X, dtype=dtype, ensure_all_finite=False)


def _is_missing(cell):
    """Whether a cell is None, NaN or a missing value of pandas."""
    return cell is None or type(cell).__name__ == "NAType" or bool(cell != cell)


def _is_declared_category(column):
    """Whether a column has a type of categories, or none, of pandas or polars."""
    names = "category", "categorical", "enum", "null"
    return str(column.dtype).lower().startswith(names)


def _holds_numbers(column):
    """Whether a column is of numbers by its type, or else by its cells."""
    if _is_declared_category(column):
        return False
    cells = np.asarray(column)
    if getattr(column.dtype, "kind", "O") in "biuf" or cells.dtype.kind in "biuf":
        return True
    present = [cell for cell in cells if not _is_missing(cell)]
    numbers = Real, Decimal, np.bool_
    return bool(present) and all(isinstance(cell, numbers) for cell in present)


def _as_floats(column, name):
    """Cells (n,) of a column of numbers as floats, NaN where missing."""
    cells = np.asarray(column)
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64)
    floats = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        try:
            if not _is_missing(cell):
                floats[row] = cell
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"column {name!r} held numbers in fit, but row {row} holds "
                f"{reprlib.repr(cell)}: convert it with pandas.to_numeric(column, "
                "errors='coerce'), or fit to a column of strings"
            ) from error
    return floats


def _level_names(column):
    """Levels (n,) of a column as strings, NaN where missing."""
    cells = np.asarray(column)
    names = np.empty(len(cells), dtype=object)
    for row, cell in enumerate(cells):
        if _is_missing(cell):
            names[row] = np.nan
        elif _is_integer(cell):
            names[row] = str(int(cell))
        else:
            names[row] = str(cell)
    return names


def _is_integer(cell):
    """Whether a cell is an integer of any type, but no truth value."""
    is_number = isinstance(cell, Real) and not isinstance(cell, bool)
    return is_number and float(cell).is_integer()


def _share_of_numbers(levels):
    """Share of the levels (n,) that read as numbers; zero if they may be codes."""
    texts = [level for level in levels if isinstance(level, str)]
    numbers = [text for text in texts if _NUMBER.fullmatch(text)]
    if len(set(numbers)) <= _MAX_CODES or 2 * len(numbers) < len(texts):
        return 0.0
    return len(numbers) / len(texts)


class ColumnEncoder(TransformerMixin, BaseEstimator):
    """Imputed numbers with missing-value indicators, and one-hot categories.

    Columns are numbers if their type is one of numbers or truth values, and categories
    if it is one of strings or categories, even if all cells are missing. A column of
    objects is of numbers if all its cells in the fit are, and at least one is not
    missing.

    Notes
    -----
    Levels are compared by text. A string is its own text, and an integer has no
    decimals whatever its type: 1, 1.0 and "1" are one level, "1.0" is another, and so
    are True and "True" one level. A missing cell is a level of its own, which differs
    from every string.
    """

    def fit(self, X, y=None):
        """Learn the medians and levels of a table X (n, d); return self.

        Warns of columns of strings that read as numbers, and of categories whose levels
        are all merged because none occurs in three rows.
        """
        columns = self._read(X, reset=True)
        is_number = np.array([_holds_numbers(column) for _, column in columns])
        self._numbers = np.flatnonzero(is_number)
        self._categories = np.flatnonzero(~is_number)
        self._imputer = SimpleImputer(
            strategy="median", add_indicator=True, keep_empty_features=True
        )
        # levels of fewer than three rows, and all beyond the first hundred, are merged
        self._encoder = OneHotEncoder(
            min_frequency=_MIN_ROWS,
            max_categories=101,
            handle_unknown="infrequent_if_exist",
            sparse_output=False,
        )
        if self._numbers.size:
            self._imputer.fit(self._floats(columns))
        if self._categories.size:
            levels = self._levels(columns)
            self._encoder.fit(levels)
            self._warn_of_levels(columns, levels)
        return self

    def transform(self, X):
        """Numbers (n, d') of a table X (n, d): those of ``get_feature_names_out``.

        Warns of categories that hold no level of the fit in three rows or more.
        """
        check_is_fitted(self)
        columns = self._read(X, reset=False)
        blocks = []
        if self._numbers.size:
            blocks.append(self._imputer.transform(self._floats(columns)))
        if self._categories.size:
            levels = self._levels(columns)
            self._replace_unknown(columns, levels)
            blocks.append(self._encoder.transform(levels))
        return np.hstack(blocks)

    def get_feature_names_out(self, input_features=None):
        """Names (d',) of what ``transform`` returns.

        A name that occurs before is numbered, as pandas does: "a", "a.1".
        """
        check_is_fitted(self)
        names = check_feature_names_in(self, input_features)
        made = []
        if self._numbers.size:
            made.extend(self._imputer.get_feature_names_out(names[self._numbers]))
        if self._categories.size:
            made.extend(self._encoder.get_feature_names_out(names[self._categories]))
        unique = []
        for name in made:
            number = 0
            candidate = name
            while candidate in unique:
                number += 1
                candidate = f"{name}.{number}"
            unique.append(candidate)
        return np.array(unique, dtype=object)

    def sum_by_column(self, values):
        """Sum values of output columns over those from each input column, (d,)."""
        sources = list(self._numbers)
        if self._numbers.size:
            sources.extend(self._numbers[self._imputer.indicator_.features_])
        if self._categories.size:
            levels = self._encoder.categories_
            rare_levels = self._encoder.infrequent_categories_
            categories = zip(self._categories, levels, rare_levels, strict=True)
            for s, known, rare in categories:
                # all rare levels share one indicator
                n_rare = 0 if rare is None else len(rare) - 1
                sources += [s] * (len(known) - n_rare)
        return np.bincount(sources, values, self.n_features_in_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _read(self, X, reset):
        """Name and cells of each column of X (n, d), which must be those of the fit."""
        X = _as_table(X)
        # raises if a frame has no rows or no columns
        check_array(np.broadcast_to(0.0, X.shape), ensure_all_finite=False)
        validate_data(self, X, reset=reset, skip_check_array=True)
        names = getattr(X, "columns", range(self.n_features_in_))
        names = getattr(self, "feature_names_in_", names)
        columns = []
        for s, name in enumerate(names):
            column = safe_indexing(X, s, axis=1)
            refuse_cells(np.asarray(column), name, ("dates", "lists", "dicts"))
            columns.append((name, column))
        return columns

    def _floats(self, columns):
        """Columns of numbers as floats, NaN where missing."""
        table = np.column_stack(
            [_as_floats(columns[s][1], columns[s][0]) for s in self._numbers]
        )
        # an imputer may see missing cells, but no number whose square overflows
        check_sizes(self._imputer, table, training=False)
        return table

    def _levels(self, columns):
        """Categories as the names of their levels, NaN where missing."""
        return np.column_stack([_level_names(columns[s][1]) for s in self._categories])

    def _warn_of_levels(self, columns, levels):
        """Warn of categories that read as numbers, or whose levels are all merged."""
        numeric = {}
        merged = []
        for j, s in enumerate(self._categories):
            name, column = columns[s]
            share = 0.0
            if not _is_declared_category(column):
                share = _share_of_numbers(levels[:, j])
            rare = self._encoder.infrequent_categories_[j]
            if share > 0:
                numeric[name] = round(share, 3)
            elif rare is not None and len(rare) == len(self._encoder.categories_[j]):
                merged.append(name)
        if numeric:
            warnings.warn(
                "strings that read as numbers are taken for categories; their share "
                f"of the cells, by column, is {reprlib.repr(numeric)}: remove units "
                "and separators, and convert each column with "
                "pandas.to_numeric(column, errors='coerce'); or convert it to the type "
                "'category', if the numbers are codes",
                UserWarning,
                stacklevel=3,
            )
        if merged:
            warnings.warn(
                f"no level occurs in {_MIN_ROWS} rows of the columns "
                f"{reprlib.repr(merged)}, which therefore say nothing: merge levels, "
                "convert them to numbers, or leave the columns out",
                UserWarning,
                stacklevel=3,
            )

    def _replace_unknown(self, columns, levels):
        """Replace unknown levels where the fit has only one; warn if all are unknown.

        Elsewhere, an unknown level has the indicator of the rare levels, or none.
        """
        unknown = {}
        for j, known in enumerate(self._encoder.categories_):
            texts = [level for level in levels[:, j] if isinstance(level, str)]
            if len(texts) >= _MIN_ROWS and set(texts).isdisjoint(known):
                unknown[columns[self._categories[j]][0]] = texts[0]
            if len(known) == 1:
                levels[:, j] = known[0]
        if unknown:
            warnings.warn(
                "no row has a level known from fit in the columns "
                f"{reprlib.repr(unknown)}, which therefore say nothing: write the "
                "levels as in fit",
                UserWarning,
                stacklevel=3,
            )
