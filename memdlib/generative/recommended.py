"""The recommended classifier for each kind of data, in one call."""

import math
from datetime import date
from numbers import Real

import numpy as np
from scipy import sparse
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    SplineTransformer,
    StandardScaler,
)
from sklearn.utils import check_array, get_tags, shuffle

from memdlib._sklearn import safe_indexing
from memdlib.generative.correlated import CorrelatedMeMdClassifier
from memdlib.generative.documents import MultinomialMeMdClassifier
from memdlib.generative.memd import MeMdClassifier
from memdlib.generative.mixture import MixtureClassifier
from memdlib.generative.regularised import RegularisedMeMdClassifier
from memdlib.generative.weighting import DivergenceWeighter
from memdlib.validation import check_sizes


def normal_scores(X):
    """Replace the values of each row by normal quantiles of their ranks.

    The result does not change if the values of a row are transformed by an increasing
    function, which may differ between rows. It is therefore the same with or without
    logarithms, and for any level and range of a microarray chip.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Finite numbers, one sample per row.

    Returns
    -------
    ndarray of shape (n, d)
        Standard normal quantiles at (rank - 1/2) / d, with ranks taken within each row.
        Equal values share their mean rank.

    See Also
    --------
    memdlib.make_memd : Uses normal scores for gene expression.

    Examples
    --------
    >>> from memdlib.generative import normal_scores
    >>> normal_scores([[10.0, 1e6, -3.0]]).round(3).tolist()
    [[0.0, 0.967, -0.967]]
    """
    X = check_array(X, dtype=np.float64, input_name="X")
    return ndtri((rankdata(X, axis=1) - 0.5) / X.shape[1])


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


class _Columns(ColumnTransformer):
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


class _LinearSplines(SplineTransformer):
    """Functions of single features that are linear between their quantiles."""

    def __init__(self):
        constant = {"extrapolation": "constant", "include_bias": False}
        super().__init__(degree=1, knots="quantile", **constant)

    def fit(self, X, y=None, sample_weight=None):
        # up to seven functions per feature, fewer if there are many features
        self.n_knots = 1 + min(7, max(2, 240 // X.shape[1]))
        return super().fit(X, y, sample_weight)

    def sum_by_column(self, values):
        """Sum values of output columns over the functions of each feature, (d,)."""
        return values.reshape(self.n_features_in_, -1).sum(axis=1)


class _KernelFeatures(TransformerMixin, BaseEstimator):
    """Functions whose products approximate a Gaussian kernel of all features.

    This is the Nystroem approximation on some of the rows. Unlike scikit-learn's, it
    drops directions with negligible eigenvalues, which would be stretched in an
    arbitrary basis.

    Parameters
    ----------
    gamma : float, default=1.0
        Parameter of the kernel exp(-gamma / d |x - x'|^2) of standardised features.
    max_components : int, default=200
        Maximum number of rows to use: a third of all rows, but at least 200 and at most
        this many.
    random_state : int, RandomState or None, default=None
        Seed for choosing these rows.
    """

    def __init__(self, gamma=1.0, max_components=200, random_state=None):
        self.gamma = gamma
        self.max_components = max_components
        self.random_state = random_state

    def fit(self, X, y=None, sample_weight=None):
        self.scaler_ = StandardScaler().fit(X, sample_weight=sample_weight)
        rows = shuffle(self.scaler_.transform(X), random_state=self.random_state)
        n_components = max(200, min(self.max_components, len(X) // 3))
        self.components_ = rows[:n_components]
        eigenvalues, Q = np.linalg.eigh(self._kernel(self.components_))
        # repeated rows and distant classes give directions that are only rounding noise
        significant = eigenvalues > 1e-12 * eigenvalues[-1]
        root = np.sqrt(np.where(significant, eigenvalues, np.inf))
        self.normalization_ = Q / root @ Q.T
        return self

    def transform(self, X):
        return self._kernel(self.scaler_.transform(X)) @ self.normalization_

    def _kernel(self, Z):
        return rbf_kernel(Z, self.components_, gamma=self.gamma / Z.shape[1])


class _WordCounter(CountVectorizer):
    """Count the words of texts; pass counts through unchanged."""

    def fit(self, X, y=None):
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X, y=None):
        return super().fit_transform(X) if _holds_texts(X) else X

    def transform(self, X):
        return super().transform(X) if _holds_texts(X) else X

    def __sklearn_is_fitted__(self):
        return True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.two_d_array = True
        return tags


def _holds_texts(X):
    """Whether X is a sequence of texts, not rows of counts; raise if it is neither."""
    if sparse.issparse(X):
        return False
    if isinstance(X, str) or not hasattr(X, "__len__"):
        raise ValueError(f"X is a {type(X).__name__}; pass a list of texts")
    if getattr(X, "ndim", 1) > 1:
        _refuse_columns_of_texts(X)
        return False
    for i, text in enumerate(X):
        if isinstance(text, str | bytes):
            continue
        if np.ndim(text) and not isinstance(text[0], str):
            return False  # a list of rows
        raise ValueError(f"X[{i}] = {text!r} is not a text; {_remedy_for(text)}")
    return True


def _refuse_columns_of_texts(X):
    """Raise if the first cell of a two-dimensional X is a text."""
    if not len(X):
        return
    first = X.iloc[0, 0] if hasattr(X, "iloc") else X[0, 0]
    if isinstance(first, str | bytes):
        raise ValueError('X has columns; pass one column of texts, like df["text"]')


def _remedy_for(text):
    """Remedy for an element that is not a text."""
    if isinstance(text, dict):
        return "put sklearn.feature_extraction.DictVectorizer in front of this pipeline"
    if np.ndim(text):
        return "join the words with ' '.join(words)"
    return "pass only strings, and an empty string for a missing text"


class RecommendedPipeline(Pipeline):
    """Pipeline for columns of any kind, with the importance of each column."""

    @property
    def feature_importances_(self):
        """Importance of each column in nats, (d,); see ``MixtureClassifier``."""
        importances = self[-1].feature_importances_
        if len(self.steps) == 1:
            return importances
        return self[0].sum_by_column(importances)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if len(self.steps) > 1:
            tags.input_tags = get_tags(self[0]).input_tags
        return tags


def _after(name, step, *candidates):
    """Put a step before each candidate, and its name after the candidate's name."""
    return [
        (f"{candidate}, {name}", make_pipeline(step, model))
        for candidate, model in candidates
    ]


def _ridge_and_counts(power, penalty):
    """Ridge regression on weighted words, and the scores of multinomial MeMd."""
    ridge = RidgeClassifier(penalty, solver="sparse_cg", tol=1e-3)
    counts = MultinomialMeMdClassifier(n_features=None)
    return [
        make_pipeline(DivergenceWeighter(power), ridge),
        make_pipeline(DivergenceWeighter(0.0), counts),
    ]


_CORRELATED_GENES = CorrelatedMeMdClassifier(variance_shrinkage="auto")
_EXPRESSION = [
    *_after(
        "normal scores",
        FunctionTransformer(normal_scores, feature_names_out="one-to-one"),
        ("correlated", _CORRELATED_GENES),
        ("shrunken", MeMdClassifier(variance_shrinkage="auto", cv=3)),
        (
            "1%",
            CorrelatedMeMdClassifier(
                0.01, correlation_shrinkage=1.0, variance_shrinkage="auto"
            ),
        ),
        (
            "10%",
            CorrelatedMeMdClassifier(
                0.1, correlation_shrinkage=1.0, variance_shrinkage="auto"
            ),
        ),
    ),
    ("correlated", _CORRELATED_GENES),
    ("selected", MeMdClassifier(cv=3)),
]

_RELAXED = [
    (
        "regularised, 0.6, 0.5",
        RegularisedMeMdClassifier(0.6, correlation_shrinkage=0.5),
    ),
    (
        "regularised, 0.2, 0.9",
        RegularisedMeMdClassifier(0.2, correlation_shrinkage=0.9),
    ),
    (
        "regularised, 0.2, auto",
        RegularisedMeMdClassifier(0.2, correlation_shrinkage="auto"),
    ),
]
_TABLE = [
    ("correlated", CorrelatedMeMdClassifier()),
    ("linear", CorrelatedMeMdClassifier(correlation_shrinkage=1e-6)),
    *_RELAXED,
    *_after(
        "splines",
        _LinearSplines(),
        ("correlated", CorrelatedMeMdClassifier()),
        *_RELAXED[:2],
    ),
    ("by column", MeMdClassifier(family="auto", variance_shrinkage="auto")),
    *_after("0.3", _KernelFeatures(0.3, 500), ("kernel", CorrelatedMeMdClassifier())),
    *_after("1.0", _KernelFeatures(1.0), ("kernel", CorrelatedMeMdClassifier())),
]

_TEXT = [
    ("power 0.0, penalty 0.3", _ridge_and_counts(0.0, 0.3)),
    ("power 0.25, penalty 1.0", _ridge_and_counts(0.25, 1.0)),
    ("power 0.5, penalty 1.0", _ridge_and_counts(0.5, 1.0)),
]

# The same for all data sets of a kind. If no rows can be held out, the first is used.
_CANDIDATES = {"expression": _EXPRESSION, "table": _TABLE, "text": _TEXT}
# Candidates for wide tables; none takes longer than linear discriminant analysis.
_FAST_CANDIDATES = {"table": ["correlated", "linear", "kernel, 1.0"]}
# With few features the densities may be right, and need no temperature.
_EXPECTED_LOG_ODDS = {"expression": 3.0, "table": None, "text": 1.0}
# Thousands of genes are usually informative, even if few samples show little of it.
_BASELINE_LOG_ODDS = {"expression": -5.0, "table": 5.0, "text": 5.0}


def make_memd(kind, **overrides):
    """Make the recommended pipeline for a kind of data.

    The pipeline ends in a mixture of candidate classifiers, which are calibrated and
    weighted on held-out rows.

    Parameters
    ----------
    kind : {"expression", "table", "text"}
        Kind of data. "expression" is for rows of samples, with many more columns than
        rows, which are genes or other features measured alike. "table" is for columns
        of any kind. "text" is for strings (a list, an array or a Series of them), or
        for word counts, usually sparse.
    **overrides
        Parameters of :class:`memdlib.generative.MixtureClassifier`, which replace the
        recommended ones.

    Returns
    -------
    sklearn.pipeline.Pipeline
        Unfitted pipeline whose last step is "memd". Its ``fit`` calibrates and weights
        the candidates on the training rows. After ``fit``, it has
        ``feature_importances_``, in nats for each input column, except for texts.

    Raises
    ------
    ValueError
        If the kind or a parameter does not exist.

    See Also
    --------
    memdlib.generative.MixtureClassifier : The last step of the pipeline.
    memdlib.MeMdClassifier : A single classifier, with a density for each feature.

    Notes
    -----
    **expression.** Candidates on the normal scores of each sample use pooled
    covariances; shrunken class variances, for genes selected by divergence; and one
    variance per gene without correlations, for a hundredth and for a tenth of the
    genes. Candidates on the original values use pooled covariances; and the means and
    variances of each class, for genes selected by divergence. Only the latter detects
    classes that differ in their variances.

    **table.** A data frame needs no preparation. Missing numbers are imputed by the
    median and, if there are any among the training rows, marked by an additional
    column. Categories become indicators; levels with fewer than three rows or beyond
    the first hundred are merged, and a missing category is a level of its own. Sparse
    tables of up to 100 million numbers are made dense. The candidates use pooled
    covariances, with strong and with almost no shrinkage; covariances of each class,
    relaxed towards the pooled ones; and the same with additional moments, which are
    functions of each feature that are linear between its quantiles, or functions whose
    products approximate a Gaussian kernel of all features. A last candidate treats
    features as independent, with a family for each column. Wide tables with many rows
    get three of the candidates (``fast_candidates``). A lone extreme value in the
    training rows triggers a warning.

    **text.** The candidates use ridge regression on class indicators, a discriminant
    from pooled second moments, on words weighted by their divergence to the power 0,
    0.25 or 0.5, each together with the scores of multinomial MeMd. The step "words"
    counts the words of strings and has the parameters of scikit-learn's
    ``CountVectorizer``.

    Examples
    --------
    >>> from memdlib import make_memd
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = make_memd("table", random_state=0).fit(X[::2], y[::2])
    >>> clf.score(X[1::2], y[1::2]) > 0.95
    True
    """
    if kind not in _CANDIDATES:
        raise ValueError(f"kind={kind!r} must be one of {list(_CANDIDATES)}")
    # clone, so that every pipeline has its own copies of the candidates
    options = {
        "expected_log_odds": _EXPECTED_LOG_ODDS[kind],
        "baseline_log_odds": _BASELINE_LOG_ODDS[kind],
        "fast_candidates": _FAST_CANDIDATES.get(kind),
    }
    model = clone(MixtureClassifier(_CANDIDATES[kind], **options))
    first = {"text": ("words", _WordCounter()), "table": ("columns", _Columns())}
    steps = [first[kind]] if kind in first else []
    return RecommendedPipeline([*steps, ("memd", model.set_params(**overrides))])
