"""Class marginals of tables whose columns have different families.

All columns hold numbers. NaN marks a missing cell, and a categorical column holds the
codes 0, 1, ... of its levels, as :class:`sklearn.preprocessing.OrdinalEncoder` returns
them. Columns of the same family form a group with its own moments, marginals and
scores; every categorical column is a group of its own.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from memdlib._types import Array, Indices
from memdlib.estimator import check_finite_scores
from memdlib.families import Bernoulli, Categorical, MarginalFamily, Normal, get_family
from memdlib.generative.marginals import ClassMarginals, family_moments
from memdlib.generative.scores import MarginalScores, Scores, steps_of
from memdlib.moments import ClassMoments

# Maximum number of levels; larger codes are taken for numbers, not categories.
_MOST_LEVELS = 10**5


def column_families(
    spec,
    X,
    names,
    known=None,
):
    """Determine the family of each column of X (n, d).

    Parameters
    ----------
    spec : str, MarginalFamily, dict or sequence
        The parameter ``family`` of :class:`memdlib.MeMdClassifier`. "auto" is Bernoulli
        for columns where all values are 0 or 1, and normal for all others.
    X : {ndarray, csr_array} of shape (n, d)
    names : sequence of length d
        Column names, used for dicts and in messages.
    known : tuple of MarginalFamily, default=None
        Families of the previous batches, which this batch must agree with.
    """
    specs = _spec_of_each_column(spec, names)
    binary = _holds_only_zero_and_one(X)
    families = []
    for s, name in enumerate(names):
        if specs[s] == "auto":
            family = Bernoulli() if binary[s] else Normal()
            # a normal column may hold only zeros and ones in a single batch
            if known is not None and binary[s]:
                family = known[s]
        elif specs[s] == "categorical":
            family = Categorical()
        else:
            family = get_family(specs[s])
        if known is not None and family != known[s]:
            raise ValueError(
                f"column {name!r} is {family.name} in this batch but was "
                f"{known[s].name} in previous ones; name its family explicitly, as in "
                f"family={{{name!r}: 'normal'}}, from the first batch on"
            )
        families.append(family)
    return tuple(families)


def _spec_of_each_column(spec, names):
    """Family requested for each column; "auto" for columns that a dict leaves out."""
    if isinstance(spec, dict):
        specs = [spec.get(name, "auto") for name in names]
        valid = all(name in names for name in spec)
    elif isinstance(spec, str | MarginalFamily):
        specs = [spec] * len(names)
        valid = True
    else:
        specs = list(spec)
        valid = len(specs) == len(names)
    if not valid:
        raise ValueError(
            f"family={spec!r} must name columns of X, or hold one family for each: "
            f"{list(names)}"
        )
    if any(getattr(each, "name", each) == "multinomial" for each in specs):
        raise ValueError(
            'family="multinomial" models all columns together; for a single column '
            'use "poisson"'
        )
    return specs


def _holds_only_zero_and_one(X):
    """Mask (d,) of the columns that hold only 0, 1 and NaN."""
    if not sparse.issparse(X):
        return ((X == 0) | (X == 1) | np.isnan(X)).all(axis=0)
    other = (X.data != 0) & (X.data != 1) & ~np.isnan(X.data)
    binary = np.ones(X.shape[1], dtype=bool)
    binary[X.tocoo().col[other]] = False
    return binary


@dataclass(frozen=True, eq=False)
class ColumnGroup:
    """Columns of the same family, and their moments.

    Parameters
    ----------
    columns : ndarray of int, shape (f,)
        Column indices in ascending order.
    family : MarginalFamily
    moments : ClassMoments
        Moments of f features; for a categorical column, the weights of its levels.
    """

    columns: Indices
    family: MarginalFamily
    moments: ClassMoments

    def merge(self, other):
        """Add the moments of another data set; absent levels have weight zero."""
        n_levels = max(self.moments.sums.shape[-1], other.moments.sums.shape[-1])
        mine = _with_levels(self.moments, n_levels)
        theirs = _with_levels(other.moments, n_levels)
        return replace(self, moments=mine.merge(theirs))


def _with_levels(moments, n_levels):
    """Pad moments with levels of weight zero, up to ``n_levels`` levels."""
    n_new = n_levels - moments.sums.shape[-1]
    if not n_new:
        return moments
    padding = [(0, 0)] * (moments.sums.ndim - 1) + [(0, n_new)]
    return replace(moments, sums=np.pad(moments.sums, padding))


@dataclass(frozen=True, eq=False)
class GroupedMoments:
    """Moments of the columns of each family; additive like :class:`ClassMoments`.

    Parameters
    ----------
    families : tuple of MarginalFamily, length d
    groups : list of ColumnGroup
    """

    families: tuple
    groups: list

    @classmethod
    def of(
        cls,
        X,
        codes,
        n_classes,
        weight,
        families,
        names,
    ):
        """Compute the moments of the rows of each class."""
        groups = []
        for family in dict.fromkeys(families):
            columns = np.flatnonzero([each == family for each in families])
            if isinstance(family, Categorical):
                for s in columns:
                    level_codes = _level_codes(X, s, names[s])
                    moments = _level_moments(level_codes, codes, n_classes, weight)
                    groups.append(ColumnGroup(np.array([s]), family, moments))
            else:
                values = X[:, columns]
                moments = family_moments(family, values, codes, n_classes, weight)
                groups.append(ColumnGroup(columns, family, moments))
        return cls(families, groups)

    @property
    def weight(self):
        """Total instance weight of each class, shape (K,)."""
        return self.groups[0].moments.weight

    @property
    def prior(self):
        """Share of each class in the total weight, shape (K,)."""
        return self.groups[0].moments.prior

    def merge(self, other):
        """Add the moments of another data set with the same families."""
        for s, (mine, theirs) in enumerate(
            zip(self.families, other.families, strict=True)
        ):
            if mine != theirs:
                raise ValueError(
                    f"column {s} is {mine.name} in one part of the data and "
                    f"{theirs.name} in another; name its family instead of leaving it "
                    'to "auto"'
                )
        pairs = zip(self.groups, other.groups, strict=True)
        return replace(self, groups=[mine.merge(theirs) for mine, theirs in pairs])

    def split(self, n_parts):
        """Split into the moments of the first K / n_parts classes, of the next, ..."""
        groups_of_parts = [[] for _ in range(n_parts)]
        for group in self.groups:
            parts = group.moments.split(n_parts)
            for groups, moments in zip(groups_of_parts, parts, strict=True):
                groups.append(replace(group, moments=moments))
        return [replace(self, groups=groups) for groups in groups_of_parts]


def _level_codes(X, s, name):
    """Level codes (n,) of a column, NaN where missing; raise for other numbers."""
    level_codes = X[:, [s]]
    if sparse.issparse(X):
        level_codes = level_codes.toarray()
    level_codes = level_codes.ravel()
    valid = (level_codes >= 0) & (level_codes < _MOST_LEVELS)
    valid &= level_codes == np.floor(level_codes)
    valid |= np.isnan(level_codes)
    if not valid.all():
        raise ValueError(
            f"column {name!r} is categorical but holds {level_codes[~valid][0]:g}, "
            f"which is not a level code (0, 1, ..., below {_MOST_LEVELS}); encode it "
            "first with sklearn.preprocessing.OrdinalEncoder()"
        )
    return level_codes


def _level_moments(level_codes, codes, n_classes, weight):
    """Level weights of a categorical column, as the moments of one feature."""
    known = ~np.isnan(level_codes)
    levels = level_codes[known].astype(np.intp)
    n_levels = levels.max(initial=0) + 1
    cell = codes[known] * n_levels + levels
    sums = np.bincount(cell, weight[known], n_classes * n_levels)
    # without any cells, bincount would return integers
    sums = sums.astype(np.float64).reshape(n_classes, 1, n_levels)
    return ClassMoments(
        weight=np.bincount(codes, weight, n_classes),
        sums=sums,
        location=np.zeros((n_classes, 1)),
        count=sums.sum(axis=-1),
    )


@dataclass(frozen=True, eq=False)
class GroupedMarginals:
    """Class marginals of all columns, grouped by family.

    Parameters
    ----------
    moments : GroupedMoments
    prior : ndarray of shape (K,)
    groups : list of ClassMarginals
        Marginals of the columns in each group of the moments.
    """

    moments: GroupedMoments
    prior: Array
    groups: list

    @classmethod
    def of(
        cls,
        moments,
        *,
        variance_shrinkage=0.0,
        alpha=1.0,
        prior=None,
    ):
        """Build marginals by group, regularised like :class:`ClassMarginals`."""
        if prior is None:
            prior = moments.prior
        groups = [
            ClassMarginals(
                group.moments,
                group.family,
                variance_shrinkage=variance_shrinkage,
                alpha=alpha,
                prior=prior,
            )
            for group in moments.groups
        ]
        return cls(moments, prior, groups)

    @property
    def variance_shrinkage(self):
        """Largest variance shrinkage of any group."""
        return max(marginals.variance_shrinkage for marginals in self.groups)

    @property
    def families(self):
        """Name of the family of each column, shape (d,)."""
        return np.array([family.name for family in self.moments.families], dtype=object)

    def divergences(self, divergence="js_gm"):
        """Divergence (d,) of each column; see :meth:`ClassMarginals.divergences`."""
        values = np.empty(len(self.moments.families))
        for group, marginals in zip(self.moments.groups, self.groups, strict=True):
            values[group.columns] = marginals.divergences(divergence)
        return values


@dataclass(frozen=True, eq=False)
class LevelScores:
    """Log probabilities of the levels of a column, relative to the best class.

    Parameters
    ----------
    log_probability : ndarray of shape (L + 1, K)
        One row per level; the last row holds zeros, for missing and unseen levels.
    """

    log_probability: Array

    @classmethod
    def of(cls, marginals):
        """Build scores from the marginals of one categorical column."""
        log_probability = -marginals.natural_params[:, 0].T
        relative = log_probability - log_probability.max(axis=1, keepdims=True)
        unknown = np.zeros((1, len(marginals.prior)))
        return cls(np.vstack([relative, unknown]))

    def columns(self, X):
        """Level codes of the single column of X (n, 1), as a dense array."""
        return X.toarray() if sparse.issparse(X) else X

    def step_sums(self, columns, step, n_steps):
        """Contribution (n, n_steps, K) of the levels (n, 1) to the scores, by step."""
        level_codes = columns[:, 0]
        n_levels = len(self.log_probability) - 1
        known = (level_codes >= 0) & (level_codes < n_levels)
        level = np.where(known, level_codes, -1).astype(np.intp)
        sums = np.zeros((len(level), n_steps, self.log_probability.shape[1]))
        sums[:, step[0]] = self.log_probability[level]
        return sums


@dataclass(frozen=True, eq=False)
class ScoreGroup:
    """Scores from the columns of a group that are in use.

    Parameters
    ----------
    columns : ndarray of int
        Indices of all columns of the group, in ascending order.
    scores : MarginalScores or LevelScores
        Scores of X[:, columns].
    ranks : ndarray of int, shape (f,)
        Ranks of the features of ``scores`` among all features in use, in ascending
        order.
    """

    columns: Indices
    scores: MarginalScores | LevelScores
    ranks: Indices

    def step_sums(self, X, step, n_steps):
        """Contribution (n, n_steps, K) of the columns, each at its step (f,)."""
        columns = self.scores.columns(X[:, self.columns])
        return self.scores.step_sums(columns, step[self.ranks], n_steps)


@dataclass(frozen=True, eq=False)
class GroupedScores(Scores):
    """Log priors plus the contributions of each group of columns.

    Parameters
    ----------
    log_prior : ndarray of shape (K,)
    groups : list of ScoreGroup
    """

    log_prior: Array
    groups: list

    @classmethod
    def of(cls, marginals, features):
        """Build scores from some columns (f,), in the given order."""
        groups = []
        pairs = zip(marginals.moments.groups, marginals.groups, strict=True)
        for group, group_marginals in pairs:
            ranks = np.flatnonzero(np.isin(features, group.columns))
            if not len(ranks):
                continue
            if isinstance(group.family, Categorical):
                scores = LevelScores.of(group_marginals)
            else:
                position = np.searchsorted(group.columns, features[ranks])
                scores = MarginalScores.of(group_marginals, position)
            groups.append(ScoreGroup(group.columns, scores, ranks))
        with np.errstate(divide="ignore"):
            log_prior = np.log(marginals.prior)
        return cls(log_prior, groups)

    def total(self, X):
        n_features = sum(len(group.ranks) for group in self.groups)
        return check_finite_scores(
            self.running_totals(X, np.array([n_features]))[:, 0], X
        )

    def running_totals(self, X, grid):
        step = steps_of(grid)
        totals = np.zeros((X.shape[0], len(grid), len(self.log_prior)))
        totals[:, 0] = self.log_prior
        for group in self.groups:
            totals += group.step_sums(X, step, len(grid))
        return np.cumsum(totals, axis=1, out=totals)
