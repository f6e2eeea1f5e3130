"""The classifier that we recommend for a kind of data, in one call."""

from functools import partial
from numbers import Real
from typing import Any, Self

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
from sklearn.utils import Tags, _safe_indexing, check_array, get_tags, shuffle

from memdlib._types import Array, ArrayLike
from memdlib.generative.correlated import CorrelatedMeMdClassifier
from memdlib.generative.documents import MultinomialMeMdClassifier
from memdlib.generative.memd import MeMdClassifier
from memdlib.generative.mixture import MixtureClassifier
from memdlib.generative.regularised import RegularisedMeMdClassifier
from memdlib.generative.weighting import DivergenceWeighter


def normal_scores(X: ArrayLike) -> Array:
    """Replace the values of each row by normal quantiles of their ranks.

    The result is the same for any increasing function of the values, one for each row:
    logarithms or not, whatever the chip's level and range.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Finite.

    Returns
    -------
    ndarray of shape (n, d)
        Quantiles at (rank - 1/2) / d; equal values share their mean rank.

    Examples
    --------
    >>> normal_scores([[10.0, 1e6, -3.0]]).round(3).tolist()
    [[0.0, 0.967, -0.967]]
    """
    X = check_array(X, dtype=np.float64, input_name="X")
    return ndtri((rankdata(X, axis=1) - 0.5) / X.shape[1])


def _is_number(values) -> bool:
    """Whether a column holds numbers, or truth values, and gaps alone."""
    if getattr(values.dtype, "kind", "") in "biuf":
        return True
    return all(isinstance(v, Real) or v is None or v != v for v in values.tolist())


def _columns(numbers: bool, X) -> list[int]:
    """Places of the columns that hold numbers, or of the others."""
    if not hasattr(X, "columns") and X.dtype.kind in "biuf":
        return list(range(X.shape[1])) if numbers else []
    each = (_safe_indexing(X, s, axis=1) for s in range(X.shape[1]))
    return [s for s, values in enumerate(each) if _is_number(values) == numbers]


class _Columns(ColumnTransformer):
    """Numbers, their gaps filled and marked, and indicators of categories."""

    def __init__(self):
        fill = SimpleImputer(
            strategy="median", add_indicator=True, keep_empty_features=True
        )
        indicate = OneHotEncoder(
            min_frequency=3, max_categories=101, handle_unknown="infrequent_if_exist"
        )
        parts = [
            ("numbers", fill, partial(_columns, True)),
            ("levels", indicate, partial(_columns, False)),
        ]
        super().__init__(parts, sparse_threshold=0, verbose_feature_names_out=False)

    def sum_by_column(self, values):
        """Sums over what stems from the same column, (d,), of what comes out."""
        (_, fill, numbers), (_, indicate, levels) = self.transformers_[:2]
        sources = list(numbers)
        if numbers:
            sources += [numbers[j] for j in fill.indicator_.features_]
        if levels:
            rare = (
                0 if r is None else len(r) - 1 for r in indicate.infrequent_categories_
            )
            sizes = [
                len(c) - r for c, r in zip(indicate.categories_, rare, strict=True)
            ]
            sources += np.repeat(levels, sizes).tolist()
        return np.bincount(sources, values, self.n_features_in_)


class _LinearSplines(SplineTransformer):
    """Functions of one feature each, linear between quantiles."""

    def __init__(self):
        constant = {"extrapolation": "constant", "include_bias": False}
        super().__init__(degree=1, knots="quantile", **constant)

    def fit(self, X, y=None, sample_weight=None) -> Self:
        self.n_knots = 1 + min(7, max(2, 240 // X.shape[1]))
        return super().fit(X, y, sample_weight)

    def sum_by_column(self, values):
        """Sums over the functions of a feature, (d,), of what comes out."""
        return values.reshape(self.n_features_in_, -1).sum(axis=1)


class _KernelFeatures(TransformerMixin, BaseEstimator):
    """Functions whose products approximate a Gaussian kernel of all features."""

    def __init__(self, gamma=1.0, most=200, random_state=None):
        self.gamma = gamma
        self.most = most
        self.random_state = random_state

    def fit(self, X, y=None, sample_weight=None) -> Self:
        self.scaler_ = StandardScaler().fit(X, sample_weight=sample_weight)
        rows = shuffle(self.scaler_.transform(X), random_state=self.random_state)
        self.landmarks_ = rows[: max(200, min(self.most, len(X) // 3))]
        s, Q = np.linalg.eigh(self._kernel(self.landmarks_))
        # directions without digits, of repeated rows and far classes, say nothing
        self.root_ = Q / np.sqrt(np.where(s > 1e-12 * s[-1], s, np.inf)) @ Q.T
        return self

    def transform(self, X):
        return self._kernel(self.scaler_.transform(X)) @ self.root_

    def _kernel(self, Z):
        return rbf_kernel(Z, self.landmarks_, gamma=self.gamma / Z.shape[1])


class _WordCounter(CountVectorizer):
    """Count the words of texts; counts go on as they are."""

    def fit(self, X, y=None) -> Self:
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X, y=None):
        return super().fit_transform(X) if _holds_texts(X) else X

    def transform(self, X):
        return super().transform(X) if _holds_texts(X) else X

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.two_d_array = True
        return tags


def _holds_texts(X) -> bool:
    """Whether data are texts, one an element; a ValueError says what they are else."""
    if sparse.issparse(X):
        return False
    if not isinstance(X, str) and getattr(X, "ndim", 1) > 1:
        first = X.iloc[0, 0] if hasattr(X, "iloc") else X[0, 0] if X.size else 0
        if isinstance(first, str | bytes):
            raise ValueError('X has columns; pass the texts of one, as df["text"]')
        return False
    if isinstance(X, str) or not hasattr(X, "__len__"):
        raise ValueError(f"X is a {type(X).__name__}; pass a list of texts")
    for i, text in enumerate(X):
        if isinstance(text, str | bytes):
            continue
        remedy = "give strings alone, empty ones for what is missing"
        if isinstance(text, dict):
            remedy = "put sklearn.feature_extraction.DictVectorizer in front"
        elif np.ndim(text):
            if not isinstance(text[0], str):
                return False
            remedy = "join the words, as ' '.join(words)"
        raise ValueError(f"X[{i}] = {text!r} is no text; {remedy}")
    return True


class RecommendedPipeline(Pipeline):
    """A pipeline that takes columns of any kind, and says what each of them tells."""

    @property
    def feature_importances_(self) -> Array:
        """Nats of each column, (d,); see ``MixtureClassifier``."""
        found = self[-1].feature_importances_
        return self[0].sum_by_column(found) if len(self.steps) > 1 else found

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if len(self.steps) > 1:
            tags.input_tags = get_tags(self[0]).input_tags
        return tags


_MEASURED_ALIKE = CorrelatedMeMdClassifier(variance_shrinkage="auto")
_RELAXED = [
    (f"regularised, {g}, {s}", RegularisedMeMdClassifier(g, s))
    for g, s in ((0.6, 0.5), (0.2, 0.9), (0.2, "auto"))
]
_COUNTS = make_pipeline(
    DivergenceWeighter(0.0), MultinomialMeMdClassifier(n_features=None)
)


def _ridge(power: float, penalty: float) -> Pipeline:
    """The indicators of the classes regressed on weighted words."""
    ridge = RidgeClassifier(penalty, solver="sparse_cg", tol=1e-3)
    return make_pipeline(DivergenceWeighter(power), ridge)


def _after(step, name: str, *candidates) -> list[Any]:
    return [(f"{own}, {name}", make_pipeline(step, model)) for own, model in candidates]


# The same for every data set of a kind; where no row can be held out, the first.
_CANDIDATES = {
    "expression": [
        *_after(
            FunctionTransformer(normal_scores),
            "normal scores",
            ("correlated", _MEASURED_ALIKE),
            ("shrunken", MeMdClassifier(shrinkage="auto", validation=3)),
            ("1%", CorrelatedMeMdClassifier(0.01, 1.0, "auto")),
            ("10%", CorrelatedMeMdClassifier(0.1, 1.0, "auto")),
        ),
        ("correlated", _MEASURED_ALIKE),
        ("selected", MeMdClassifier(validation=3)),
    ],
    "table": [
        ("correlated", CorrelatedMeMdClassifier()),
        ("linear", CorrelatedMeMdClassifier(shrinkage=1e-6)),
        *_RELAXED,
        *_after(
            _LinearSplines(),
            "splines",
            ("correlated", CorrelatedMeMdClassifier()),
            *_RELAXED[:2],
        ),
        ("by column", MeMdClassifier(family="auto", shrinkage="auto")),
        *_after(
            _KernelFeatures(0.3, 500), "0.3", ("kernel", CorrelatedMeMdClassifier())
        ),
        *_after(_KernelFeatures(1.0), "1.0", ("kernel", CorrelatedMeMdClassifier())),
    ],
    "text": [
        (f"power {power}, penalty {penalty}", [_ridge(power, penalty), _COUNTS])
        for power, penalty in ((0.0, 0.3), (0.25, 1.0), (0.5, 1.0))
    ],
}
# Of wide tables; none takes longer than linear discriminant analysis.
_WIDE = {"table": ["correlated", "linear", "kernel, 1.0"]}
# Few features: their densities may be right, and need no temperature.
_LEADS = {"expression": 3.0, "table": None, "text": 1.0}
# Thousands of genes tell something as a rule, even where few samples show little of it.
_MARGINS = {"expression": -5.0, "table": 5.0, "text": 5.0}


def make_memd(kind: str, **overrides: Any) -> Pipeline:
    """Make the pipeline that the book recommends for a kind of data.

    Parameters
    ----------
    kind : {"expression", "table", "text"}
        "expression": rows are samples, columns are genes or other features that are
        measured alike, many more than rows. "table": columns of any kind. "text":
        strings (a list, an array or a Series of them), or counts of words, sparse as a
        rule.
    **overrides
        Parameters of :class:`memdlib.generative.MixtureClassifier`.

    Returns
    -------
    sklearn.pipeline.Pipeline
        Unfitted; its last step is "memd". Candidates are calibrated and weighted inside
        ``fit``, by the rows that it is given. Fitted, it has ``feature_importances_``,
        nats of each given column, but for texts.

    Raises
    ------
    ValueError
        If there is no such kind, or no such parameter.

    Notes
    -----
    **expression.** On normal scores of each sample: pooled covariances; class
    variances, shrunken, of genes selected by divergence; and one variance a gene
    without correlations, of a hundredth and of a tenth of the genes. On the values as
    they are: pooled covariances; and means and variances of each class, of genes
    selected by divergence, which alone sees classes that differ in variances.

    **table.** A frame goes in as it is: gaps in numbers get the median and, if training
    rows have any, a column that marks them; categories become indicators, levels of
    less than three rows or beyond the first hundred together, a missing one a level.
    Sparse tables of up to 100 million numbers are filled in. Then pooled covariances,
    shrunken by much and by next to nothing; covariances of each class, relaxed towards
    these; and the same on more moments: functions of each feature that are linear
    between its quantiles, and functions whose products approximate a Gaussian kernel of
    all features. Last, independent features with a family by column. Wide tables of
    many rows get three of these ("wide"). A lone value far outside in the training rows
    gives a warning.

    **text.** Ridge regression on the indicators of the classes, a discriminant of
    pooled second moments, on words weighted by their divergence to the power 0, 0.25
    or 0.5; beside it the score of multinomial MeMd. The step "words" counts those of
    strings and has the parameters of scikit-learn's ``CountVectorizer``.

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
    # its own copies of the candidates
    options = {"lead": _LEADS[kind], "margin": _MARGINS[kind], "wide": _WIDE.get(kind)}
    model = clone(MixtureClassifier(_CANDIDATES[kind], **options))
    first = {"text": ("words", _WordCounter()), "table": ("columns", _Columns())}
    steps = [first[kind]] if kind in first else []
    return RecommendedPipeline([*steps, ("memd", model.set_params(**overrides))])
