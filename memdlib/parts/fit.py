"""One fit from data in parts: a few passes, each of which adds up small results.

With S fixed the data are read once, after a look at the labels. With
``n_features="auto"`` they are read five times: for the means and variances by which the
rows are hashed, for a histogram of the hashes, for the hashes next to the cuts, for the
moments, and for the accuracy on the rows set aside.

The correlation-aware fit goes through the shorter side of the data. With no fewer rows
than features, d x d products of features add up over blocks of rows
(:mod:`memdlib.parts.tall`); else n x n products of rows add up over strips of columns
(:mod:`memdlib.parts.wide`). From there on the formulas are those of ``fit``.

Of a pipeline each step is fitted in turn, to what those before make of the parts
(:mod:`memdlib.parts.prepared`); a mixture holds out rows that fit into memory
(:mod:`memdlib.parts.mixed`), and so does the discriminant of texts, whose equations are
solved by products with the parts (:mod:`memdlib.parts.discriminant`).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import validate_data

from memdlib._types import EstimatorT
from memdlib.estimator import all_or_nothing, set_fitted
from memdlib.families import Normal, get
from memdlib.generative.correlated.pooled import WhitenedMeans
from memdlib.generative.correlated.regularised import RegularisedMeMdClassifier
from memdlib.generative.correlated.ridge import (
    RidgeDiscriminantClassifier,
    fit_evidence,
    penalties_and_powers,
)
from memdlib.generative.correlated.whitened import (
    CorrelatedMeMdClassifier,
    WhitenedModel,
)
from memdlib.generative.memd.classifier import (
    MeMdClassifier,
    size_grid,
    smallest_best,
    warn_of_single_rows,
)
from memdlib.generative.memd.joint import JointMaxEntClassifier
from memdlib.generative.memd.model import estimate_model
from memdlib.generative.ranking import DivergenceRanker
from memdlib.generative.recommended.mixed import (
    MixedMeMdClassifier,
    checked_candidates,
)
from memdlib.generative.recommended.words import WordCounter
from memdlib.generative.weighting import DivergenceWeighter, word_weights
from memdlib.parts.discriminant import gathered_evidence
from memdlib.parts.mixed import fit_mixed
from memdlib.parts.prepared import Prepared, fit_words
from memdlib.parts.tall import TallMoments
from memdlib.parts.wide import WideMoments
from memdlib.parts.work import (
    FoldMoments,
    Moments,
    Parts,
    Reader,
    Result,
    Shares,
    Survey,
    carried_out,
    checked_result,
    found_cuts,
)
from memdlib.validation import (
    check_parameters,
    check_priors,
    count_features,
    labelled_data,
)


def fit_parts(
    estimator: EstimatorT, parts: Parts, classes: ArrayLike | None = None
) -> EstimatorT:
    """Fit an estimator to data in parts.

    Parameters
    ----------
    estimator : estimator
        As :func:`memdlib.parts.fit_chunks` takes it. Its parameters mean what they mean
        in ``fit``.
    parts : Parts
    classes : array-like of shape (K,), default=None
        All classes; saves the look at the labels if S is fixed and there are no
        weights of classes.

    Returns
    -------
    estimator
        Fitted as by ``fit`` on all rows at once, within rounding.

    Raises
    ------
    TypeError
        If the estimator is another one.
    ValueError
        As ``fit``; if ``classes`` are not those of the labels; and if "auto" goes by
        another criterion than accuracy.

    Notes
    -----
    The rows that "auto" sets aside are those of ``fit`` with the same
    ``random_state``, but for rounding errors: these give a row another place with a
    probability of about 1e-9 (see :func:`memdlib.holdout.content_positions`), and if
    weights are fractions, a row exactly on the border may change sides.
    """
    steps = [estimator]
    if isinstance(estimator, Pipeline):
        steps = [
            step for _, step in estimator.steps if step not in (None, "passthrough")
        ]
    fits = [(step, _fit_of(step)) for step in steps]
    _fit_in_turn(*fits, parts=parts, classes=classes)
    return estimator


def _fit_in_turn(
    first: tuple[Any, ...], *others: tuple[Any, ...], parts: Parts, classes
) -> None:
    """Fit steps, each after those before; if one fails, all are as they were."""

    @all_or_nothing
    def fit_all(step, fit):
        fit(step, parts, classes)
        if others:
            _fit_in_turn(*others, parts=Prepared(parts, step), classes=classes)

    fit_all(*first)


def _fit_of(estimator) -> Callable[..., Any]:
    """Fit of this kind of estimator, of parts and the classes if they are given."""
    for kind, fit in _FITS.items():
        if isinstance(estimator, kind):
            check_parameters(estimator)
            return fit
    if hasattr(estimator, "transform") and not get_tags(estimator).requires_fit:
        return _fit_template
    raise TypeError(
        f"{type(estimator).__name__} cannot be fitted in parts; use "
        f"{' or '.join(kind.__name__ for kind in _FITS)}"
    )


def _fit_template(step, parts: Parts, classes):
    """Fit a step that learns nothing but the number and names of the features."""
    return step.fit(parts.template())


def _reader(
    estimator, parts: Parts, classes, *, survey: bool = False
) -> tuple[Any, ...]:
    """How the rows are read, and the survey of the classes if there is need of it."""
    asked = estimator.get_params(deep=False)
    auto, class_weight = asked.get("n_features") == "auto", asked.get("class_weight")
    if auto and asked.get("criterion", "accuracy") != "accuracy":
        raise ValueError(
            f"criterion={estimator.criterion!r} needs the scores of all rows that are "
            'set aside at once; in parts use "accuracy", or fix n_features'
        )
    bare, template = clone(estimator), parts.template()
    for one in (estimator, bare):
        validate_data(
            one, template, accept_sparse=True, dtype=None, ensure_all_finite=False
        )
    if not auto:
        count_features(asked.get("n_features"), bare.n_features_in_, "n_features")
    given, found = None if classes is None else np.unique(classes), None
    reader = Reader(bare, given)
    if survey or auto or given is None or class_weight is not None:
        found = checked_result(parts, Survey())
        _check_classes(given, found["classes"])
        reader = replace(reader, classes=found["classes"])
    if class_weight is not None:
        factors = _class_factors(reader, found["weight"], class_weight)
        reader = replace(reader, by_class=factors)
    return reader, found


def _fit_marginals(estimator: MeMdClassifier, parts: Parts, classes):
    reader, survey = _reader(estimator, parts, classes)
    reader = replace(reader, family=get(estimator.family))
    reader = _cut(estimator, parts, reader, survey)
    moments, result = _class_moments(parts, reader)

    def estimate(found):
        return estimate_model(estimator, found, reader.classes)

    def sized(model, size):
        return replace(model, n_selected=size)

    set_fitted(estimator, _chosen(estimator, parts, moments, estimate, sized))
    if not result["weighted"]:
        rows = np.minimum(result["rows"], 2)
        warn_of_single_rows(estimator, np.repeat(np.arange(len(rows)), rows))
    return estimator


def _fit_joint(estimator: JointMaxEntClassifier, parts: Parts, classes):
    reader, _ = _reader(estimator, parts, classes)
    if estimator.covariance == "diagonal":
        reader = replace(reader, family=Normal())
    moments, _ = _class_moments(parts, reader)
    model = estimate_model(estimator, moments.all_rows(), reader.classes)
    return set_fitted(estimator, model)


def _fit_ranker(ranker: DivergenceRanker, parts: Parts, classes):
    """Rank as the classifier of the same parameters does."""
    reader, _ = _reader(ranker, parts, classes)
    moments, _ = _class_moments(parts, replace(reader, family=get(ranker.family)))
    like = MeMdClassifier(**ranker.get_params(deep=False))
    model = estimate_model(like, moments.all_rows(), reader.classes)
    ranker.classes_, ranker.n_selected_ = model.classes, model.n_selected
    ranker.feature_divergences_ = model.feature_divergences
    ranker.order_ = model.order
    return ranker


def _fit_correlated(estimator: CorrelatedMeMdClassifier, parts: Parts, classes):
    reader, survey = _reader(estimator, parts, classes, survey=True)
    reader = _cut(estimator, parts, reader, survey)
    n_rows, d = int(survey["rows"].sum()), estimator.n_features_in_
    prior = check_priors(estimator.priors, len(reader.classes))

    def estimate(found):
        how = estimator.shrinkage, estimator.variance_shrinkage
        return WhitenedMeans.of(found, prior, *how)

    def sized(means, size):
        return WhitenedModel.of(reader.classes, means, size)

    if n_rows < d:
        moments = WideMoments(parts, reader, (n_rows, d))
    else:
        (moments,) = carried_out(parts, [TallMoments.plan(reader)])
    return set_fitted(estimator, _chosen(estimator, parts, moments, estimate, sized))


def _fit_regularised(estimator: RegularisedMeMdClassifier, parts: Parts, classes):
    reader, _ = _reader(estimator, parts, classes, survey=True)
    (moments,) = carried_out(parts, [TallMoments.plan(reader, by_class=True)])
    return estimator.fit_moments(moments.with_ranges(), reader.classes)


def _fit_mixed(estimator: MixedMeMdClassifier, parts: Parts, classes):
    checked_candidates(estimator)
    reader, survey = _reader(estimator, parts, classes, survey=True)
    return fit_mixed(estimator, parts, reader, survey, fit_parts)


def _fit_words(counter: WordCounter, parts: Parts, classes):
    return fit_words(counter, parts)


def _fit_weighter(weighter: DivergenceWeighter, parts: Parts, classes):
    reader, _ = _reader(weighter, parts, classes)
    moments, _ = _class_moments(parts, replace(reader, family=get("bernoulli")))
    found = moments.all_rows()
    documents, total = found.sums[..., 0].sum(axis=0), found.weight.sum()
    weighter.weights_ = word_weights(weighter, documents, total, found)
    return weighter


def _fit_discriminant(estimator: RidgeDiscriminantClassifier, parts: Parts, classes):
    penalties_and_powers(estimator)
    reader, survey = _reader(estimator, parts, classes, survey=True)
    fit_evidence(estimator, gathered_evidence(estimator, parts, reader, survey))
    return estimator


_FITS = {
    MeMdClassifier: _fit_marginals,
    JointMaxEntClassifier: _fit_joint,
    CorrelatedMeMdClassifier: _fit_correlated,
    RegularisedMeMdClassifier: _fit_regularised,
    MixedMeMdClassifier: _fit_mixed,
    DivergenceRanker: _fit_ranker,
    WordCounter: _fit_words,
    DivergenceWeighter: _fit_weighter,
    RidgeDiscriminantClassifier: _fit_discriminant,
}


def _cut(estimator, parts: Parts, reader: Reader, survey: Result | None) -> Reader:
    """Reader that knows which rows "auto" sets aside, as if all were in memory."""
    if estimator.n_features != "auto":
        return reader
    seed = check_random_state(estimator.random_state).bytes(8)
    shares = Shares.of(estimator.validation)
    return replace(
        reader, cuts=found_cuts(parts, reader, survey["weight"], shares, seed)
    )


def _class_moments(parts: Parts, reader: Reader) -> tuple[FoldMoments, Result]:
    """Moments of the classes, each of which some row must have."""
    work = Moments(reader)
    result = checked_result(parts, work)
    _check_classes(reader.classes, reader.classes[result["rows"] > 0])
    return FoldMoments(reader, work.of_result(result)), result


def _chosen(
    estimator, parts: Parts, moments: FoldMoments | WideMoments, estimate, sized
):
    """Model of the size asked for, or of the smallest of highest accuracy."""
    found, d = estimate(moments.all_rows()), estimator.n_features_in_
    if estimator.n_features != "auto":
        return sized(found, count_features(estimator.n_features, d, "n_features"))
    grid = size_grid(estimator.n_features_grid, d)
    models = tuple(
        None if others is None else estimate(others) for others in moments.other_folds()
    )
    if not any(models):
        return sized(found, d)
    correct, tested = moments.correct(parts, models, grid)
    accuracy = correct / tested
    return replace(
        sized(found, smallest_best(grid, accuracy)),
        validation_n_features=grid,
        validation_curve=accuracy,
    )


def _check_classes(given, seen):
    if given is not None and not np.array_equal(given, seen):
        differ = np.setxor1d(given, seen).tolist()
        raise ValueError(
            f"classes={given.tolist()} differ from those of the labels by {differ}; "
            "give the classes that occur, or None"
        )
    if len(seen) < 2:
        raise ValueError(
            f"y holds one class only ({seen.tolist()[0]!r}); a divergence needs at "
            "least two classes"
        )


def _class_factors(reader: Reader, weight, class_weight):
    """Factors of the weights of each class, as ``fit`` finds and checks them."""
    known = clone(reader.estimator)
    row = np.zeros((len(weight), reader.estimator.n_features_in_))
    scaled = labelled_data(
        known, row, reader.classes, weight, class_weight=class_weight
    )[2]
    return scaled / weight
