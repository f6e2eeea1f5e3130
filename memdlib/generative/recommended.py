"""The classifier that we recommend for a kind of data, in one call."""

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from memdlib.generative.chosen import ChosenMeMdClassifier
from memdlib.generative.memd import MeMdClassifier
from memdlib.generative.regularised import RegularisedMeMdClassifier
from memdlib.generative.text import text_pipeline
from memdlib.generative.whitened import CorrelatedMeMdClassifier

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
