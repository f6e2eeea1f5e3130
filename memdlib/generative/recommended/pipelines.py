"""The classifier that we recommend for a kind of data, in one call."""

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from memdlib.generative.correlated.regularised import RegularisedMeMdClassifier
from memdlib.generative.correlated.ridge import RidgeDiscriminantClassifier
from memdlib.generative.correlated.whitened import CorrelatedMeMdClassifier
from memdlib.generative.memd.classifier import MeMdClassifier
from memdlib.generative.recommended.chosen import ChosenMeMdClassifier
from memdlib.generative.weighting import DivergenceWeighter


def text_pipeline(**overrides) -> Pipeline:
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
        Unfitted; of the steps "weights" and "memd". It takes a sparse matrix of counts.

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
    weights = DivergenceWeighter(power=0.0)
    return Pipeline([("weights", weights), ("memd", model.set_params(**overrides))])


# Of correlations, and of class covariances towards the pooled one.
_GRID = [(s, g) for s in ("auto", 0.5, 0.9) for g in (0.9, 0.6, 0.2, 0.05)]

# The same for every data set of a kind. Unless its margin is zero, the first candidate
# has to be beaten.
_SETTINGS = {
    "expression": {
        "models": (
            ("correlated", CorrelatedMeMdClassifier(variance_shrinkage="auto")),
            ("selected", MeMdClassifier(validation=3)),
        ),
        "preparations": ("normal_scores", "unchanged"),
    },
    "table": {
        "models": (
            "correlated",
            "shrunken",
            "plain",
            ("linear", CorrelatedMeMdClassifier(shrinkage=0.001)),
            *(
                (
                    f"regularised, {s}, {g}",
                    RegularisedMeMdClassifier(g, s, variance_shrinkage=0.3),
                )
                for s, g in _GRID
            ),
        ),
        "margin": 0.0,
    },
}
_KINDS = (*_SETTINGS, "text")


def make_memd(kind: str, **overrides) -> Pipeline:
    """Make the pipeline that the book recommends for a kind of data.

    Parameters
    ----------
    kind : {"expression", "table", "text"}
        "expression": rows are samples, columns are genes or other features that are
        measured alike, many more than rows. "table": columns of any units. "text":
        sparse counts of words.
    **overrides
        Parameters of the classifier at the end, for "expression" and "table" those of
        :class:`memdlib.generative.ChosenMeMdClassifier`.

    Returns
    -------
    sklearn.pipeline.Pipeline
        Unfitted. Preparation, model and calibration are chosen inside ``fit``, by the
        rows that it is given.

    Raises
    ------
    ValueError
        If there is no such kind, or no such parameter.

    Notes
    -----
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
    0.951
    """
    if kind not in _KINDS:
        raise ValueError(f"kind={kind!r} must be one of {list(_KINDS)}")
    if kind == "text":
        return text_pipeline(**overrides)
    # its own copies of the candidates
    model = clone(ChosenMeMdClassifier(**_SETTINGS[kind]))
    known = list(model.get_params(deep=False))
    unknown = [name for name in overrides if name not in known]
    if unknown:
        raise ValueError(
            f"{unknown[0]!r} is no parameter for kind={kind!r}; there are {known}"
        )
    return Pipeline([("memd", model.set_params(**overrides))])
