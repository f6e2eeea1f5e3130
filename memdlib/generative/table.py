"""Tables as people have them: a family for each column, and gaps.

A table becomes one matrix of numbers, in which NaN is missing and a category is the
place of its level; one that the fit has not seen is missing, too. The moments of the
columns of one family are taken together, those of each category by themselves. They
add up over batches, and so does what tells a column of two values from one of many.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_X_y
from sklearn.utils.validation import validate_data

from memdlib._types import Array, ArrayLike, Estimator, Indices, MatrixLike, NDArray
from memdlib.estimator import finite_scores
from memdlib.families import Bernoulli, Categorical, MarginalFamily, Normal, get
from memdlib.families.base import ROUNDING
from memdlib.generative.marginals import ClassMarginals, family_moments
from memdlib.generative.scores import MarginalScores, Scores, by_feature, running
from memdlib.moments import ClassMoments
from memdlib.validation import check_sizes, checked_data

Asked = str | MarginalFamily | dict[Any, Any] | Sequence[Any]

AUTO, CATEGORICAL = "auto", "categorical"


def one_family(asked: Asked) -> MarginalFamily | None:
    """Return the family of all columns, None if they have families of their own."""
    own = not isinstance(asked, str | MarginalFamily) or asked in (AUTO, CATEGORICAL)
    return None if own else get(asked)


@dataclass(frozen=True)
class Table:
    """Rows of a table.

    Parameters
    ----------
    values : {ndarray, csr_array} of shape (n, d)
        Numbers, and places of levels; NaN is missing.
    families : tuple of str or MarginalFamily
        What each column is to have; "auto" leaves it to the values.
    levels : dict of int to tuple
        Of each category, by the number of its column.
    """

    values: Any
    families: tuple[Any, ...]
    levels: dict[int, tuple[Any, ...]]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.values.shape

    def __getitem__(self, rows) -> "Table":
        return replace(self, values=self.values[rows])

    def __abs__(self) -> Any:
        return abs(self.values)

    def moments(self, codes: Indices, n_classes: int, weight: Array) -> "TableMoments":
        """Moments of the rows of each class, column by column."""
        data, groups = (codes, n_classes, weight), []
        for family in dict.fromkeys(self.families):
            columns = np.flatnonzero([own == family for own in self.families])
            if family == CATEGORICAL:
                for s in columns:
                    levels = self.levels[s]
                    moments = _level_moments(self.values[:, s], len(levels), *data)
                    own = np.array([s]), Categorical(), moments
                    groups.append(Group(*own, levels=levels))
                continue
            values, kind, ends = _take(self.values, columns), family, None
            if family == AUTO:
                kind, ends = Normal(), _ends(values)
            moments = family_moments(kind, kind.observe(values), *data)
            groups.append(Group(columns, family, moments, ends))
        total = np.bincount(codes, weight, n_classes)
        return TableMoments(total, self.families, tuple(groups))


def read(
    estimator: Estimator,
    X: MatrixLike,
    *y: ArrayLike,
    reset: bool = True,
    families: tuple[Any, ...] | None = None,
    levels: dict[int, tuple[Any, ...]] | None = None,
    **options: Any,
) -> Any:
    """X of an estimator that has a ``family``, or X and y, validated.

    Returns a Table if columns have families of their own, else numbers. Families and
    levels that the fit has found hold.
    """
    several = one_family(estimator.family) is None
    cells = not several and isinstance(X, np.ndarray) and X.dtype.kind == "O"
    if cells or is_numeric(X):
        found = checked_data(estimator, X, *y, reset=reset, **options)
        if not several:
            return found
        X, *y = found if y else (found,)
        categories = [False] * X.shape[1]
        names = getattr(estimator, "feature_names_in_", range(X.shape[1]))
    else:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        names = getattr(estimator, "feature_names_in_", range(estimator.n_features_in_))
        X, categories = _columns(X, names)
    families = families or _families(estimator.family, list(names), categories)
    found = {}
    for s in np.flatnonzero([family == CATEGORICAL for family in families]).tolist():
        if X.dtype != object:
            X = (X.toarray() if sparse.issparse(X) else X).astype(object)
        found[s] = levels[s] if levels else _ordered(v for v in X[:, s] if v == v)
        place = {level: float(i) for i, level in enumerate(found[s])}
        X[:, s] = [place.get(level, np.nan) for level in X[:, s]]
    if X.dtype == object:
        floats = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}
        X, *y = check_X_y(X, *y, **floats) if y else (check_array(X, **floats),)
        check_sizes(estimator, X, training=reset)
    if several:
        X = Table(X, families, found)
    return (X, *y) if y else X


def is_numeric(X) -> bool:
    """Whether scikit-learn is to read X: all but strings, objects and dates."""
    X = np.array(X) if isinstance(X, list | tuple) else X
    dtypes = X.dtypes if hasattr(X, "iloc") else [getattr(X, "dtype", np.dtype(float))]
    return all(getattr(dtype, "kind", "O") not in "OUSMm" for dtype in dtypes)


def _columns(X, names) -> tuple[NDArray[Any], list[bool]]:
    """Cells as objects, NaN if missing, and which columns hold categories."""
    frame = hasattr(X, "iloc")
    values = np.empty(X.shape, dtype=object) if frame else np.array(X, dtype=object)
    categories = []
    for s, name in enumerate(names):
        column = X.iloc[:, s] if frame else values[:, s]
        if getattr(column.dtype, "kind", "O") in "mM":
            raise ValueError(
                f"column {name!r} holds dates; give numbers, such as days since one"
            )
        cells = column.to_numpy(dtype=object, na_value=np.nan) if frame else column
        values[:, s] = [np.nan if _is_missing(cell) else cell for cell in cells]
        strings = any(isinstance(cell, str) for cell in values[:, s])
        categories.append(strings or column.dtype.name == "category")
    return values, categories


def _is_missing(value) -> bool:
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def _ordered(levels) -> tuple[Any, ...]:
    """Distinct levels, of any types, in their order."""
    return tuple(sorted(set(levels), key=lambda level: (type(level).__name__, level)))


def _families(asked, names, categories) -> tuple[Any, ...]:
    """What each column is to have, "auto" where nothing is asked for."""
    if isinstance(asked, str | MarginalFamily):
        families = dict.fromkeys(names, asked)
    elif isinstance(asked, dict):
        families = dict.fromkeys(names, AUTO) | asked
    else:
        alike = len(asked) == len(names)
        families = dict(zip(names, asked, strict=True)) if alike else {}
    if len(families) != len(names):
        raise ValueError(
            f"family={asked!r} must name columns of X, or hold one for each: {names}"
        )
    for name, category in zip(names, categories, strict=True):
        family = families[name]
        if family == AUTO:
            families[name] = CATEGORICAL if category else AUTO
        elif category and family != CATEGORICAL:
            raise ValueError(
                f"column {name!r} holds categories, which family={family!r} does not "
                'take; family="auto" does'
            )
        elif family != CATEGORICAL:
            families[name] = get(family)
            if families[name].name == "multinomial":
                raise ValueError(
                    'family="multinomial" is that of all columns together; for one '
                    'column choose "poisson"'
                )
    return tuple(families[name] for name in names)


@dataclass(frozen=True)
class Group:
    """Moments of some columns.

    Parameters
    ----------
    columns : ndarray of int, shape (f,)
    family : MarginalFamily or "auto"
    moments : ClassMoments
    ends : ndarray of shape (2, f), default=None
        Of "auto": both values of a column that has no others, infinite if it has.
    levels : tuple, default=None
        Of a category.
    """

    columns: Indices
    family: Any
    moments: ClassMoments
    ends: Array | None = None
    levels: tuple[Any, ...] | None = None

    def merge(self, other: "Group") -> "Group":
        """Moments of both tables."""
        mine, theirs, levels, ends = self.moments, other.moments, self.levels, self.ends
        if levels != other.levels:
            levels = _ordered([*self.levels, *other.levels])
            mine, theirs = (_among(levels, group) for group in (self, other))
        if ends is not None:
            ends = _merged_ends(ends, other.ends)
        return replace(self, moments=mine.merge(theirs), levels=levels, ends=ends)

    def split(self, n_parts: int) -> "list[Group]":
        """Of the first K / n_parts classes, of the next, ..."""
        return [replace(self, moments=part) for part in self.moments.split(n_parts)]

    def parts(self, *how: Any) -> "Iterator[Part]":
        """Class marginals; "auto" takes columns of two values by themselves."""
        if self.ends is None:
            marginals = ClassMarginals(self.moments, self.family, *how)
            yield Part(self.columns, marginals)
            return
        low, high = self.ends
        two = np.isfinite(high - low) & (low < high)
        if two.any():
            # what sparse data do not store stays zero
            pair = np.where(high == 0, [high, low], [low, high])[:, two]
            presence = _presence(self.moments.select(two), pair)
            marginals = ClassMarginals(presence, Bernoulli(), *how)
            yield Part(self.columns[two], marginals, pair)
        if not two.all():
            marginals = ClassMarginals(self.moments.select(~two), Normal(), *how)
            yield Part(self.columns[~two], marginals)


@dataclass(frozen=True)
class TableMoments:
    """Moments of all columns of a table; they add like :class:`ClassMoments`."""

    weight: Array
    families: tuple[Any, ...]
    groups: tuple[Group, ...]

    @property
    def prior(self) -> Array:
        """Class shares of the total weight, shape (K,)."""
        return self.weight / self.weight.sum()

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.families)

    @property
    def levels(self) -> dict[int, tuple[Any, ...]]:
        """Levels of each category, by the number of its column."""
        groups = (g for g in self.groups if g.levels is not None)
        return {int(g.columns[0]): g.levels for g in groups}

    def merge(self, other: "TableMoments") -> "TableMoments":
        """Moments of two tables together."""
        if self.families != other.families:
            raise ValueError(
                "columns have other families in this batch; give them as a dict"
            )
        pairs = zip(self.groups, other.groups, strict=True)
        groups = tuple(mine.merge(theirs) for mine, theirs in pairs)
        return replace(self, weight=self.weight + other.weight, groups=groups)

    def split(self, n_parts: int) -> "list[TableMoments]":
        """Of the first K / n_parts classes, of the next, ..."""
        parts = zip(*(group.split(n_parts) for group in self.groups), strict=True)
        return [replace(self, weight=p[0].moments.weight, groups=p) for p in parts]


def _take(X, columns):
    return X if len(columns) == X.shape[1] else X[:, columns]


def _among(levels, group) -> ClassMoments:
    """Moments of the levels of a group in their places among others."""
    old = group.moments
    sums = np.zeros((*old.sums.shape[:-1], len(levels)))
    sums[..., [levels.index(level) for level in group.levels]] = old.sums
    return replace(old, sums=sums)


def _level_moments(places, n_levels, codes, n_classes, weight) -> ClassMoments:
    """Weights of the levels of one category, as the moments of one feature."""
    seen = ~np.isnan(places)
    cell = codes[seen] * n_levels + places[seen].astype(np.intp)
    sums = np.bincount(cell, weight[seen], n_classes * n_levels)
    sums = sums.reshape(n_classes, 1, n_levels)
    total, location = np.bincount(codes, weight, n_classes), np.zeros((n_classes, 1))
    return ClassMoments(total, sums, location, sums.sum(axis=-1))


def _ends(X) -> Array:
    """Both values (2, d) of columns that hold no others; infinite if they do."""
    if sparse.issparse(X):
        low, high = (f(axis=0).toarray().ravel() for f in (X.nanmin, X.nanmax))
        inside = (X.data > low[X.indices]) & (X.data < high[X.indices])
        many = np.bincount(X.indices, inside, X.shape[1]) > 0
        stored = np.bincount(X.indices, minlength=X.shape[1])
        many |= (stored < X.shape[0]) & (low != 0) & (high != 0)
    else:
        low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
        many = ((X > low) & (X < high)).any(axis=0)
    return np.where(many, [[-np.inf], [np.inf]], [low, high])


def _merged_ends(first, second) -> Array:
    low, high = np.fmin(first[0], second[0]), np.fmax(first[1], second[1])
    ends = np.concatenate([first, second])
    few = ((ends == low) | (ends == high) | np.isnan(ends)).all(axis=0)
    return np.where(few, [low, high], [[-np.inf], [np.inf]])


@dataclass(frozen=True)
class Part:
    """Class marginals of some columns; ``pair`` (2, f) are the values of presence."""

    columns: Indices
    marginals: ClassMarginals
    pair: Array | None = None

    def observe(self, X: MatrixLike) -> MatrixLike:
        """What the marginals are of, from the rows of a table."""
        X = _take(X, self.columns)
        if self.pair is None:
            return self.marginals.family.observe(X)
        absent, present = self.pair
        stored = sparse.issparse(X) and not absent.any()
        if stored:
            values = X.data / present[X.indices]
        else:
            X = X.toarray() if sparse.issparse(X) else X
            values = (X - absent) / (present - absent)
        values[(values != 0) & (values != 1)] = np.nan
        return type(X)((values, X.indices, X.indptr), X.shape) if stored else values


@dataclass(frozen=True)
class TableMarginals:
    """Class marginals of all columns of a table.

    Parameters
    ----------
    moments : TableMoments
    prior : ndarray of shape (K,)
    parts : list of Part
    """

    moments: TableMoments
    prior: Array
    parts: list[Part]

    @classmethod
    def of(
        cls,
        moments: TableMoments,
        shrinkage: float | str = 0.0,
        smoothing: float = 1.0,
        prior: Array | None = None,
    ) -> "TableMarginals":
        """Marginals by group, regularised as :class:`ClassMarginals` are."""
        prior = moments.prior if prior is None else prior
        parts = (g.parts(shrinkage, smoothing, prior) for g in moments.groups)
        return cls(moments, prior, list(chain.from_iterable(parts)))

    @property
    def shrinkage(self) -> float:
        """Largest shrinkage in use."""
        return max(part.marginals.shrinkage for part in self.parts)

    @property
    def families(self) -> NDArray[Any]:
        """Name of the family of each column, shape (d,)."""
        return self._joined(part.marginals.families for part in self.parts)

    def divergences(self, divergence: str = "js_gm") -> Array:
        """Divergence of each column, as :meth:`ClassMarginals.divergences`."""
        parts = (part.marginals.divergences(divergence) for part in self.parts)
        return self._joined(parts)

    def _joined(self, values) -> NDArray[Any]:
        """Values of all columns, in their order, from those of the parts."""
        columns = np.concatenate([part.columns for part in self.parts])
        return np.concatenate(list(values))[np.argsort(columns)]

    def observe(self, X: Table) -> MatrixLike:
        """What scores are taken of."""
        return X


def _presence(moments: ClassMoments, pair: Array) -> ClassMoments:
    """Moments of the second of two values, which power sums hold already."""
    absent, present = pair
    above = moments.sums[..., 0] + moments.count * (moments.location - absent)
    above = above / (present - absent)
    margin = ROUNDING * moments.count
    above = np.where(above < margin, 0.0, above)
    above = np.where(above > moments.count - margin, moments.count, above)
    zero = np.zeros(above.shape)
    return ClassMoments(moments.weight, above[..., None], zero, moments.count)


def estimate(
    moments: ClassMoments | TableMoments, family: MarginalFamily | None, *how: Any
) -> ClassMarginals | TableMarginals:
    """Marginals of one family, or of a table, whose columns have their own."""
    if family is None:
        return TableMarginals.of(moments, *how)
    return ClassMarginals(moments, family, *how)


@dataclass(frozen=True)
class LevelScores:
    """Log probabilities (L + 1, K) of the levels of a category; zero if missing."""

    levels: Array

    @classmethod
    def of(cls, marginals: ClassMarginals, features: Indices) -> "LevelScores":
        """Relative to the most probable class of each level."""
        natural = marginals.natural_params[:, 0].T
        best = natural.min(axis=1, keepdims=True)
        return cls(np.vstack([best - natural, np.zeros(len(marginals.prior))]))

    def _take(self, part) -> "LevelScores":
        return self

    def _sums(self, columns, edges) -> Array:
        known = np.where(np.isnan(columns), -1, columns).astype(np.intp)
        return self.levels[known]


@dataclass(frozen=True)
class TableScores(Scores):
    """Log priors, and what the columns of each part add.

    Parameters
    ----------
    log_prior : ndarray of shape (K,)
    parts : list of tuple
        Part, its features that are used, their ranks (ascending), and scores.
    """

    log_prior: Array
    parts: list[tuple[Part, Indices, Indices, Any]]

    @classmethod
    def of(cls, marginals: TableMarginals, features: Indices) -> "TableScores":
        """Scores by some columns (f,), in that order."""
        parts = []
        for part in marginals.parts:
            ranks = np.flatnonzero(np.isin(features, part.columns))
            own = np.searchsorted(part.columns, features[ranks])
            level = isinstance(part.marginals.family, Categorical)
            kind = LevelScores if level else MarginalScores
            if len(own):
                parts.append((part, own, ranks, kind.of(part.marginals, own)))
        with np.errstate(divide="ignore"):
            return cls(np.log(marginals.prior), parts)

    def total(self, X: Table) -> Array:
        """Log pi_k + sum over the columns (n, K), less what is shared."""
        (total,) = self._totals(X, [X.shape[1]])
        return finite_scores(total[0], X)

    def _totals(self, X, grid):
        n, n_classes = X.shape[0], len(self.log_prior)
        observed = [part.observe(X.values)[:, own] for part, own, *_ in self.parts]
        observed = [by_feature(Z) for Z in observed]

        def added(edges):
            each = len(edges) > 2
            scores = np.zeros((edges[-1] - edges[0] if each else 1, n, n_classes))
            for columns, (_, _, ranks, own) in zip(observed, self.parts, strict=True):
                some = slice(*np.searchsorted(ranks, edges[[0, -1]]))
                if some.start < some.stop:
                    place = ranks[some] - edges[0] if each else slice(None)
                    scores[place] += own._take(some)._sums(columns[some], edges)
            return scores

        return running(self.log_prior, n, grid, added)
