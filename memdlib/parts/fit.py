"""One fit from data in parts: a few passes, each of which adds up small results.

With S fixed the data are read once, after a look at the labels. With
``n_features="auto"`` they are read five times: for the means and variances by which the
rows are hashed, for a histogram of the hashes, for the hashes next to the cuts, for the
moments, and for the accuracy on the rows set aside.

The correlation-aware fit goes through the shorter side of the data. With no fewer rows
than features, d x d products of features add up over blocks of rows
(:mod:`memdlib.parts.tall`); else n x n products of rows add up over strips of columns
(:mod:`memdlib.parts.wide`). From there on the formulas are those of ``fit``.
"""

from dataclasses import replace

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from memdlib.estimator import all_or_nothing
from memdlib.families import get
from memdlib.generative.correlated.pooled import WhitenedMeans
from memdlib.generative.correlated.whitened import (
    CorrelatedMeMdClassifier,
    _WhitenedModel,
)
from memdlib.generative.marginals import ClassMarginals
from memdlib.generative.memd.classifier import MeMdClassifier, size_grid, smallest_best
from memdlib.generative.memd.joint import JointMaxEntClassifier
from memdlib.generative.ranking import DivergenceRanker, rank
from memdlib.holdout import RowKeys, Spread
from memdlib.moments import leave_one_out
from memdlib.parts.tall import TallMoments
from memdlib.parts.wide import WideMoments
from memdlib.parts.work import (
    Accuracy,
    Border,
    HashCuts,
    Hashes,
    Moments,
    Parts,
    Result,
    Shares,
    Spreads,
    Survey,
    checked_result,
)
from memdlib.validation import (
    check_parameters,
    check_priors,
    count_features,
    labelled_data,
)


@all_or_nothing
def fit_parts(estimator, parts: Parts, classes=None):
    """Fit an estimator to data in parts.

    Parameters
    ----------
    estimator : estimator
        A MeMdClassifier, JointMaxEntClassifier, CorrelatedMeMdClassifier or
        DivergenceRanker. Its parameters mean what they mean in ``fit``.
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
    kinds = (
        MeMdClassifier,
        JointMaxEntClassifier,
        CorrelatedMeMdClassifier,
        DivergenceRanker,
    )
    if not isinstance(estimator, kinds):
        raise TypeError(
            f"{type(estimator).__name__} cannot be fitted in parts; use "
            f"{' or '.join(kind.__name__ for kind in kinds)}"
        )
    check_parameters(estimator)
    auto = getattr(estimator, "n_features", None) == "auto"
    if auto and getattr(estimator, "criterion", "accuracy") != "accuracy":
        raise ValueError(
            f"criterion={estimator.criterion!r} needs the scores of all rows that are "
            'set aside at once; in parts use "accuracy", or fix n_features'
        )
    bare, template = clone(estimator), parts.template()
    for one in (estimator, bare):
        validate_data(
            one, template, accept_sparse=True, dtype=None, ensure_all_finite=False
        )
    if hasattr(estimator, "n_features") and not auto:
        count_features(estimator.n_features, estimator.n_features_in_, "n_features")
    given = None if classes is None else np.unique(classes)
    class_weight = getattr(estimator, "class_weight", None)
    correlated = isinstance(estimator, CorrelatedMeMdClassifier)
    if auto or given is None or class_weight is not None or correlated:
        survey = checked_result(parts, Survey())
        classes = survey["classes"]
        _check_classes(given, classes)
    else:
        classes = given
    by_class = None
    if class_weight is not None:
        by_class = _class_factors(bare, classes, survey["weight"], class_weight)
    known = bare, classes, by_class
    cuts = _cuts(estimator, parts, known, survey) if auto else None
    if correlated:
        n_rows = int(survey["rows"].sum())
        estimator._fitted = fit_correlated(estimator, parts, known, n_rows, cuts)
        return estimator
    if auto:
        return _fit_and_choose(estimator, parts, known, cuts)
    work = Moments(*known)
    result = checked_result(parts, work)
    _check_classes(classes, classes[result["rows"] > 0])
    moments = work.of_result(result)
    if isinstance(estimator, DivergenceRanker):
        return _ranked(estimator, moments, classes)
    estimator._fitted = estimator._estimate(moments, classes)
    return _warned(estimator, result)


def _cuts(estimator, parts, known, survey):
    """Where the rows that "auto" sets aside are cut off, as if all were in memory."""
    seed = check_random_state(estimator.random_state).bytes(8)
    bare, classes, _ = known
    spread = checked_result(parts, Spreads(bare, classes, 1.0 / survey["weight"]))
    keys = RowKeys.of(np.frombuffer(seed, dtype=np.uint64), Spread(**spread))
    shares = Shares.of(estimator.validation)
    # factors of whole classes move no cut, and are left out
    histogram = checked_result(parts, Hashes(bare, classes, None, keys))["weight"]
    buckets = shares.buckets(histogram)
    border = checked_result(parts, Border(bare, classes, None, buckets, keys))
    return HashCuts.find(keys, shares, histogram, border)


def _fit_and_choose(estimator, parts, known, cuts):
    """Fit as :meth:`memdlib.MeMdClassifier.fit` does where it chooses S."""
    classes = known[1]
    grid = size_grid(estimator.n_features_grid, estimator.n_features_in_)
    shares = Shares.of(estimator.validation)
    work = Moments(*known, cuts, shares.n_folds)
    result = checked_result(parts, work)
    folds = work.of_result(result).split(shares.n_folds)
    training = leave_one_out(folds)
    model = estimator._estimate(folds[0].merge(training[0]), classes)
    held_out = 1 if estimator.validation < 1 else shares.n_folds
    models = tuple(
        estimator._estimate(rest, classes)
        if own.weight.any() and rest.weight.any()
        else None
        for own, rest in zip(folds[:held_out], training, strict=False)
    )
    if any(models):
        found = checked_result(parts, Accuracy(*known, cuts, models, grid))
        accuracy = found["correct"] / found["tested"]
        model = replace(
            model,
            n_selected=smallest_best(grid, accuracy),
            validation_n_features=grid,
            validation_curve=accuracy,
        )
    estimator._fitted = model
    return _warned(estimator, result)


def _ranked(estimator, moments, classes):
    family = get(estimator.family)
    marginals = ClassMarginals(
        moments, family, estimator.shrinkage, estimator.smoothing
    )
    estimator.classes_ = classes
    estimator.n_selected_ = count_features(
        estimator.n_features, estimator.n_features_in_, "n_features"
    )
    estimator.feature_divergences_ = marginals.divergences(estimator.divergence)
    estimator.order_ = rank(estimator.feature_divergences_)
    return estimator


def _warned(estimator, result: Result):
    """Warn of classes of one row, as ``fit`` does."""
    if isinstance(estimator, MeMdClassifier) and not result["weighted"]:
        rows = np.minimum(result["rows"], 2)
        estimator._warn_of_single_rows(np.repeat(np.arange(len(rows)), rows))
    return estimator


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


def _class_factors(bare, classes, weight, class_weight):
    """Factors of the weights of each class, as ``fit`` finds and checks them."""
    row = np.zeros((len(classes), bare.n_features_in_))
    known = clone(bare)
    scaled = labelled_data(known, row, classes, weight, class_weight=class_weight)[2]
    return scaled / weight


def fit_correlated(
    estimator, parts: Parts, known: tuple, n_rows: int, cuts: HashCuts | None
) -> _WhitenedModel:
    """What :meth:`memdlib.generative.CorrelatedMeMdClassifier.fit` leaves behind.

    Parameters
    ----------
    estimator : CorrelatedMeMdClassifier
    parts : Parts
    known : tuple
        Estimator that knows the features only, classes, and None.
    n_rows : int
        Of positive weight.
    cuts : HashCuts or None
        Into rows of training and rows set aside; None with S fixed.

    Returns
    -------
    _WhitenedModel
    """
    classes, d = known[1], estimator.n_features_in_
    prior = check_priors(estimator.priors, len(classes))

    def whitened(moments):
        how = prior, estimator.shrinkage, estimator.variance_shrinkage
        return None if moments is None else WhitenedMeans.of(moments, *how)

    n_folds = 1 if cuts is None else Shares.of(estimator.validation).n_folds
    if n_rows < d:
        data = WideMoments(parts, known, cuts, (n_rows, d))
    else:
        data = TallMoments(parts, known, cuts, n_folds)
    found = whitened(data.all_rows())
    if cuts is None:
        size = count_features(estimator.n_features, d, "n_features")
        return _WhitenedModel.of(classes, found, size)
    grid = size_grid(estimator.n_features_grid, d)
    held_out = 1 if estimator.validation < 1 else n_folds
    models = [whitened(moments) for moments in data.other_folds(held_out)]
    if not any(model is not None for model in models):
        return _WhitenedModel.of(classes, found, d)
    correct, tested = data.correct(models, grid)
    accuracy = correct / tested
    model = _WhitenedModel.of(classes, found, smallest_best(grid, accuracy))
    return replace(model, validation_n_features=grid, validation_curve=accuracy)
