"""The pipeline for counts of words: weights, discriminant, and all choices inside."""

from sklearn.pipeline import Pipeline

from memdlib.generative.ridge import RidgeDiscriminantClassifier
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
        Parameters of :class:`memdlib.generative.ridge.RidgeDiscriminantClassifier`.

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
