"""The classifier that we recommend for a kind of data, in one call."""

from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from memdlib.generative.correlated.regularised import RegularisedMeMdClassifier
from memdlib.generative.correlated.ridge import RidgeDiscriminantClassifier
from memdlib.generative.correlated.whitened import CorrelatedMeMdClassifier
from memdlib.generative.memd import MeMdClassifier
from memdlib.generative.recommended.features import KernelFeatures, LinearSplines
from memdlib.generative.recommended.mixed import MixedMeMdClassifier
from memdlib.generative.recommended.samples import normal_scores
from memdlib.generative.recommended.words import WordCounter
from memdlib.generative.weighting import DivergenceWeighter


def text_pipeline(**overrides: Any) -> Pipeline:
    """Make the pipeline that we recommend for counts of words.

    Log counts times inverse document frequency, rows of length one; then two scores of
    each document. One is the discriminant of pooled second moments, on words weighted
    by their divergence to the power 0, 0.25 or 0.5; the other is that of multinomial
    MeMd, on all words. Power and penalty are those of least log-loss on rows held out,
    in five folds of the training rows, on which both scores are calibrated together
    (:func:`memdlib.generative.fit_calibration`). A document without a word that the
    training rows hold gets the shares of the classes, counted with one more row of
    unknown class. With some ten documents the posteriors are worth little.

    Parameters
    ----------
    **overrides
        Parameters of :class:`memdlib.generative.RidgeDiscriminantClassifier`.

    Returns
    -------
    sklearn.pipeline.Pipeline
        Unfitted; of the steps "words", "weights" and "memd". It takes texts, or counts
        of words in a sparse matrix or an array.

    Raises
    ------
    ValueError
        If there is no such parameter.

    Notes
    -----
    Document frequencies come from all rows that ``fit`` gets, without a look at their
    labels; divergences, in each fold, from the rows outside it. Words that the
    training rows do not hold say nothing, and a document counts as one direction,
    however many tokens an attachment adds.

    The cost of ``fit`` is some ten products of the matrix of counts by as many columns
    as there are classes, a fold and a power. A larger least penalty, or fewer powers,
    make it faster.

    Examples
    --------
    >>> from memdlib.datasets import simulate_text_counts
    >>> text = simulate_text_counts(n_documents=400, n_words=300, seed=1)
    >>> clf = text_pipeline(random_state=0).fit(text.X[::2], text.y[::2])
    >>> clf.score(text.X[1::2], text.y[1::2])
    0.815
    """
    model = RidgeDiscriminantClassifier(powers=(0.0, 0.25, 0.5), family="multinomial")
    known = list(model.get_params(deep=False))
    unknown = [name for name in overrides if name not in known]
    if unknown:
        raise ValueError(
            f"{unknown[0]!r} is no parameter of the classifier of texts; there are "
            f"{known}"
        )
    return Pipeline(
        [
            ("words", WordCounter()),
            ("weights", DivergenceWeighter(power=0.0)),
            ("memd", model.set_params(**overrides)),
        ]
    )


def _after(step, classifier) -> Pipeline:
    return Pipeline([("features", step), ("classifier", classifier)])


def _scores(classifier) -> Pipeline:
    return _after(FunctionTransformer(normal_scores), classifier)


_CORRELATED = CorrelatedMeMdClassifier()
_MEASURED_ALIKE = CorrelatedMeMdClassifier(variance_shrinkage="auto")
_SHRUNKEN = MeMdClassifier(shrinkage="auto", validation=3)
_FEW = {share: CorrelatedMeMdClassifier(share, 1.0, "auto") for share in (0.01, 0.1)}

# Of class covariances towards the pooled one, and of correlations towards none.
_GRID = ((0.6, 0.5), (0.2, 0.9), (0.2, "auto"))

# The same for every data set of a kind; where no row can be held out, the first.
_CANDIDATES = {
    "expression": [
        ("correlated, normal scores", _scores(_MEASURED_ALIKE)),
        ("shrunken, normal scores", _scores(_SHRUNKEN)),
        *((f"{q:.0%}, normal scores", _scores(model)) for q, model in _FEW.items()),
        ("correlated", _MEASURED_ALIKE),
        ("selected", MeMdClassifier(validation=3)),
    ],
    "table": [
        ("correlated", _CORRELATED),
        ("linear", CorrelatedMeMdClassifier(shrinkage=1e-6)),
        *(
            (f"regularised, {g}, {s}", RegularisedMeMdClassifier(g, s))
            for g, s in _GRID
        ),
        ("correlated, splines", _after(LinearSplines(), _CORRELATED)),
        *(
            (
                f"regularised, {g}, {s}, splines",
                _after(LinearSplines(), RegularisedMeMdClassifier(g, s)),
            )
            for g, s in _GRID[:2]
        ),
        *(
            (f"kernel, {gamma}", _after(KernelFeatures(gamma), _CORRELATED))
            for gamma in (0.3, 1.0)
        ),
    ],
}
# Few features: their densities may be right, and need no temperature.
_LEADS = {"expression": 3.0, "table": None}

_KINDS = (*_CANDIDATES, "text")


def make_memd(kind: str, **overrides: Any) -> Pipeline:
    """Make the pipeline that the book recommends for a kind of data.

    Parameters
    ----------
    kind : {"expression", "table", "text"}
        "expression": rows are samples, columns are genes or other features that are
        measured alike, many more than rows. "table": columns of any units. "text":
        strings (a list, an array or a Series of them), or counts of words, sparse as a
        rule.
    **overrides
        Parameters of the classifier at the end, for "expression" and "table" those of
        :class:`memdlib.generative.MixedMeMdClassifier`.

    Returns
    -------
    sklearn.pipeline.Pipeline
        Unfitted. Candidates are calibrated and weighted inside ``fit``, by the rows
        that it is given.

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

    **table.** Pooled covariances, shrunken by much and by next to nothing; covariances
    of each class, relaxed towards these; and the same on more moments: functions of
    each feature that are linear between seven quantiles and its ends, and functions
    whose products approximate a Gaussian kernel of all features. Where there are more
    than thirty-four features each has fewer functions of the first kind, two at least.

    A one-to-one map of the features, the same for all classes, keeps maximum entropy:
    the log densities of all classes change by the same log Jacobian, which leaves
    relative entropies to a measure that is mapped along and all posteriors as they are.
    So the candidates may measure on any scale, and the held-out rows decide which of
    them describe the classes.

    Some candidates of "table" take a value outside the range of the training rows for
    the end of that range (:class:`memdlib.generative.RegularisedMeMdClassifier`), so
    that predictions far outside need not be those of a linear rule. A lone value far
    outside in the training rows gives a warning.

    Examples
    --------
    >>> from memdlib import make_memd
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = make_memd("table", random_state=0).fit(X[::2], y[::2])
    >>> round(clf.score(X[1::2], y[1::2]), 3)
    0.958
    """
    if kind not in _KINDS:
        raise ValueError(f"kind={kind!r} must be one of {list(_KINDS)}")
    if kind == "text":
        return text_pipeline(**overrides)
    # its own copies of the candidates
    model = clone(MixedMeMdClassifier(_CANDIDATES[kind], lead=_LEADS[kind]))
    known = list(model.get_params(deep=False))
    unknown = [name for name in overrides if name not in known]
    if unknown:
        raise ValueError(
            f"{unknown[0]!r} is no parameter for kind={kind!r}; there are {known}"
        )
    return Pipeline([("memd", model.set_params(**overrides))])
