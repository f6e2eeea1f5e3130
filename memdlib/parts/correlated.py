"""The correlation-aware fit in parts, through the shorter side of the data.

With no fewer rows than features, d x d products of features add up over blocks of rows
(:mod:`memdlib.parts.tall`); else n x n products of rows add up over strips of columns
(:mod:`memdlib.parts.strips`). From there on the formulas are those of ``fit``.
"""

from dataclasses import replace

from memdlib.generative.sizes import size_grid, smallest_best
from memdlib.generative.whitened import _WhitenedModel
from memdlib.generative.whitened_means import WhitenedMeans
from memdlib.parts.cuts import HashCuts, Shares
from memdlib.parts.passes import Parts
from memdlib.parts.strips import WideMoments
from memdlib.parts.tall import TallMoments
from memdlib.validation import check_priors, count_features


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
