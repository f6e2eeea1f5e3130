"""The recommended classifier for each kind of data, in one call."""

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import check_array, check_consistent_length, get_tags

from memdlib._sklearn import safe_indexing
from memdlib.generative.columns import ColumnEncoder
from memdlib.generative.correlated import CorrelatedMeMdClassifier
from memdlib.generative.expansions import KernelFeatures, LinearSplines
from memdlib.generative.memd import MeMdClassifier
from memdlib.generative.mixture import MixtureClassifier
from memdlib.generative.regularised import RegularisedMeMdClassifier
from memdlib.generative.weighting import DivergenceWeighter
from memdlib.generative.words import WordCounter, WordEvidence, WordRidge
from memdlib.validation import check_choice


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


class RecommendedPipeline(Pipeline):
    """Pipeline for columns of any kind, with the importance of each column."""

    def fit(self, X, y=None, **params):
        """Fit all steps to X (n, d) and y (n,); return self.

        Rows of weight zero are left out before the first step, which takes no weights.
        """
        # with metadata routing, the name of the step is left out
        for name in params.keys() & {"memd__sample_weight", "sample_weight"}:
            weight = params[name]
            kept = np.flatnonzero(weight)
            # the last step says what is wrong with weights that are all zero
            if 0 < len(kept) < np.size(weight):
                check_consistent_length(X, y, weight)
                X = safe_indexing(X, kept)
                y = safe_indexing(y, kept)
                params[name] = safe_indexing(weight, kept)
        return super().fit(X, y, **params)

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
    """Put a step before each candidate, and its name after the candidate's name.

    The candidates take arrays, so the step returns arrays whatever ``transform_output``
    is.
    """
    if hasattr(step, "set_output"):
        step.set_output(transform="default")
    return [
        (f"{candidate}, {name}", make_pipeline(step, model))
        for candidate, model in candidates
    ]


def _ridge_and_counts(power, penalty):
    """Ridge regression on weighted words, and the scores of multinomial MeMd.

    Neither includes the class shares, which the mixture adds after the calibration.
    """
    counts = WordEvidence(n_features=None)
    return [
        make_pipeline(DivergenceWeighter(power), WordRidge(penalty)),
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
        LinearSplines(),
        ("correlated", CorrelatedMeMdClassifier()),
        *_RELAXED[:2],
    ),
    ("by column", MeMdClassifier(family="auto", variance_shrinkage="auto")),
    *_after("0.3", KernelFeatures(0.3, 500), ("kernel", CorrelatedMeMdClassifier())),
    *_after("1.0", KernelFeatures(1.0), ("kernel", CorrelatedMeMdClassifier())),
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
    the first hundred are merged, and a missing category is a level of its own. Levels
    are compared by text, where 1, 1.0 and "1" are one and "1.0" is another. Sparse
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
    0.25 or 0.5, each together with the scores of multinomial MeMd. Neither has an
    intercept or includes the class shares, which are added to the calibrated scores: a
    document without a known word gets the class shares. The step "words" counts the
    words of strings and has the parameters of scikit-learn's ``CountVectorizer``.

    Examples
    --------
    >>> from memdlib import make_memd
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = make_memd("table", random_state=0).fit(X[::2], y[::2])
    >>> clf.score(X[1::2], y[1::2]) > 0.95
    True
    """
    check_choice(kind, "kind", _CANDIDATES)
    # clone, so that every pipeline has its own copies of the candidates
    options = {
        "expected_log_odds": _EXPECTED_LOG_ODDS[kind],
        "fast_candidates": _FAST_CANDIDATES.get(kind),
        "add_log_prior": kind == "text",
    }
    model = clone(MixtureClassifier(_CANDIDATES[kind], **options))
    first = {"text": ("words", WordCounter()), "table": ("columns", ColumnEncoder())}
    steps = [first[kind]] if kind in first else []
    return RecommendedPipeline([*steps, ("memd", model.set_params(**overrides))])
