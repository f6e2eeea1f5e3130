"""Simulated data whose truth is known: which features inform, and by how much.

All randomness comes from ``numpy.random.default_rng([stream, seed])``, with one
constant ``stream`` for each simulator: with the same version of NumPy, the same
arguments give the same bytes. The parameters of the law are drawn before the data, so
that simulations that differ only in the number of samples share one truth.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array
from sklearn.utils import Bunch

from memdlib.validation import check_integer, check_nonnegative, check_real_array

__all__ = ["simulate_gaussian_classes", "simulate_text_counts"]

_GAUSSIAN_STREAM = 1
_TEXT_STREAM = 2
_ZIPF_SHIFT = 2.7  # Mandelbrot's: word frequency goes as 1 / (rank + 2.7)


def simulate_gaussian_classes(
    n_samples: int = 200,
    n_features: int = 20,
    n_informative: int = 5,
    n_classes: int = 2,
    weights: Sequence[float] | None = None,
    separation: float = 1.0,
    seed: int = 0,
) -> Bunch:
    """Draw samples whose features are independent Gaussians given the class.

    An uninformative feature is standard normal in every class. On an informative one
    the class means lie at equal distances, in random order, and so do the logarithms of
    the class variances; the largest variance is four times the smallest. The distance
    of neighbouring means is `separation` times a strength drawn for each feature from
    the uniform law on [0.5, 1.5].

    Parameters
    ----------
    n_samples : int, default=200
        Number of samples n, at least one a class.
    n_features : int, default=20
        Number of features d.
    n_informative : int, default=5
        Number of features whose law depends on the class, from 0 to d; which ones is
        drawn at random.
    n_classes : int, default=2
        Number of classes K, at least 2.
    weights : sequence of K floats, default=None
        Positive weights of the classes, divided by their sum; None means equal. The
        sizes of the classes are n times these, rounded by the largest remainders.
    separation : float, default=1.0
        Mean distance of neighbouring class means on an informative feature, in standard
        deviations of an uninformative one; with 0 only the variances differ.
    seed : int, default=0
        Seed, not negative.

    Returns
    -------
    Bunch
        With ``X`` (n, d) float64, ``y`` (n,) int64, ``feature_names``,
        ``target_names``, and the truth:

        means, variances : ndarray of shape (K, d)
            Of each feature in each class.
        jeffreys : ndarray of shape (K, K, d)
            Jeffreys divergence of each pair of classes, feature by feature, in nats.
        informative : ndarray of bool, shape (d,)
            The features whose law depends on the class.
        class_prior : ndarray of shape (K,)
            The normalised weights.

    Examples
    --------
    >>> from memdlib.datasets import simulate_gaussian_classes
    >>> data = simulate_gaussian_classes(n_samples=100, n_features=6, n_informative=2)
    >>> data.X.shape, int(data.informative.sum())
    ((100, 6), 2)
    >>> bool((data.jeffreys[0, 1] > 0).tolist() == data.informative.tolist())
    True
    """
    check_integer(n_features, "n_features")
    check_integer(n_informative, "n_informative", minimum=0)
    _check_at_most(n_informative, "n_informative", n_features, "n_features")
    check_integer(n_classes, "n_classes", minimum=2)
    check_integer(n_samples, "n_samples", minimum=n_classes)
    check_nonnegative(separation, "separation")
    check_integer(seed, "seed", minimum=0)
    class_prior = _normalised(weights, n_classes)

    rng = np.random.default_rng([_GAUSSIAN_STREAM, seed])
    informative = np.zeros(n_features, dtype=bool)
    informative[rng.choice(n_features, n_informative, replace=False)] = True
    strength = rng.uniform(0.5, 1.5, n_informative)
    levels = np.arange(n_classes) - (n_classes - 1) / 2
    doublings = np.linspace(-1.0, 1.0, n_classes)
    means = np.zeros((n_classes, n_features))
    variances = np.ones((n_classes, n_features))
    means[:, informative] = _shuffled(rng, levels, n_informative)
    means[:, informative] *= separation * strength
    variances[:, informative] = 2.0 ** _shuffled(rng, doublings, n_informative)

    y = _labels(rng, class_prior, n_samples)
    noise = rng.standard_normal((n_samples, n_features))
    X = means[y] + np.sqrt(variances[y]) * noise
    return _bunch(
        X,
        y,
        feature="feature",
        means=means,
        variances=variances,
        jeffreys=_gaussian_jeffreys(means, variances),
        informative=informative,
        class_prior=class_prior,
    )


def simulate_text_counts(
    n_documents: int = 400,
    n_words: int = 1000,
    n_informative: int = 40,
    n_classes: int = 4,
    document_length: float = 100.0,
    lift: float = 5.0,
    seed: int = 0,
) -> Bunch:
    """Draw word counts of documents whose words are independent given the class.

    The background law is Zipf's in Mandelbrot's form: the word of rank r has a
    probability in proportion to 1 / (r + 2.7). Each informative word belongs to one
    class, in which its probability is `lift` times the background; in the other classes
    it is lower. All informative words together have the same probability in each class,
    so that an uninformative word has one and the same probability in all of them.

    Parameters
    ----------
    n_documents : int, default=400
        Number of documents n, at least one a class; the classes are as equal as can be.
    n_words : int, default=1000
        Number of words d in the vocabulary, in falling order of background frequency.
    n_informative : int, default=40
        Number of words whose probability depends on the class, from K to d; which ones
        is drawn at random, and they are dealt to the classes in turn.
    n_classes : int, default=4
        Number of classes K, at least 2.
    document_length : float, default=100.0
        Mean number of words in a document, at least 1. A length is 1 plus a Poisson
        variable, so that no document is empty.
    lift : float, default=5.0
        Factor, above 1, on the background probability of a word in its own class, up to
        the normalisation that all words share.
    seed : int, default=0
        Seed, not negative.

    Returns
    -------
    Bunch
        With ``X``, a `scipy.sparse.csr_array` of int64 counts of shape (n, d), ``y``
        (n,) int64, ``feature_names`` such as ``word0007``, ``target_names``, and the
        truth:

        word_probabilities : ndarray of shape (K, d)
            Law of a word in each class; the rows sum to 1.
        informative : ndarray of bool, shape (d,)
            The words whose probability depends on the class.
        class_prior : ndarray of shape (K,)
            1 / K for each class.

    Examples
    --------
    >>> from memdlib.datasets import simulate_text_counts
    >>> data = simulate_text_counts(n_documents=50, n_words=200)
    >>> data.X.shape, data.X.dtype, str(data.feature_names[7])
    ((50, 200), dtype('int64'), 'word0007')
    >>> int(data.informative.sum()), bool((data.X.sum(axis=1) > 0).all())
    (40, True)
    """
    check_integer(n_classes, "n_classes", minimum=2)
    check_integer(n_words, "n_words", minimum=n_classes)
    check_integer(n_informative, "n_informative", minimum=n_classes)
    _check_at_most(n_informative, "n_informative", n_words, "n_words")
    check_integer(n_documents, "n_documents", minimum=n_classes)
    if not check_nonnegative(document_length, "document_length") >= 1:
        raise ValueError(f"document_length={document_length!r} must be 1 or more")
    if not check_nonnegative(lift, "lift") > 1:
        raise ValueError(f"lift={lift!r} must be above 1")
    check_integer(seed, "seed", minimum=0)

    rng = np.random.default_rng([_TEXT_STREAM, seed])
    words = rng.choice(n_words, n_informative, replace=False)
    owner = np.arange(n_informative) % n_classes
    probabilities = _word_probabilities(n_words, words, owner, n_classes, lift)

    class_prior = _normalised(None, n_classes)
    y = _labels(rng, class_prior, n_documents)
    lengths = 1 + rng.poisson(document_length - 1.0, n_documents)
    documents = np.repeat(np.arange(n_documents), lengths)
    tokens = np.empty(len(documents), dtype=np.int64)
    for k in range(n_classes):
        of_class = y[documents] == k
        tokens[of_class] = rng.choice(n_words, of_class.sum(), p=probabilities[k])
    ones, shape = np.ones(len(documents), dtype=np.int64), (n_documents, n_words)
    X = coo_array((ones, (documents, tokens)), shape=shape).tocsr()
    informative = np.zeros(n_words, dtype=bool)
    informative[words] = True
    return _bunch(
        X,
        y,
        feature="word",
        word_probabilities=probabilities,
        informative=informative,
        class_prior=class_prior,
    )


def _check_at_most(value: int, name: str, limit: int, limit_name: str) -> None:
    if value > limit:
        raise ValueError(f"{name}={value} must be at most {limit_name}={limit}")


def _gaussian_jeffreys(means: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """Jeffreys divergence of N(m1, v1) and N(m2, v2) for each pair of rows, in nats."""
    m1, m2 = means[:, None], means[None]
    v1, v2 = variances[:, None], variances[None]
    return 0.5 * ((v1 - v2) ** 2 / (v1 * v2) + (m1 - m2) ** 2 * (1.0 / v1 + 1.0 / v2))


def _word_probabilities(n_words, words, owner, n_classes, lift) -> np.ndarray:
    """Law of a word in each class (K, d), the same on all but the informative words."""
    background = 1.0 / (np.arange(1, n_words + 1) + _ZIPF_SHIFT)
    own = np.bincount(owner, background[words], n_classes)
    foreign = background[words].sum() - own
    # The class with the heaviest own words sets the mass of the informative words; in
    # the others, foreign words are raised to that mass, by a factor in [1, lift).
    foreign_factor = 1.0 + (lift - 1.0) * (own.max() - own) / foreign
    mass = lift * own.max() + foreign.min()
    is_own = owner == np.arange(n_classes)[:, None]
    law = np.tile(background, (n_classes, 1))
    law[:, words] *= np.where(is_own, lift, foreign_factor[:, None])
    return law / (np.delete(background, words).sum() + mass)


def _shuffled(rng, levels, n_columns) -> np.ndarray:
    """Columns of the levels, each in an order of its own: shape (K, n_columns)."""
    return rng.permuted(np.tile(levels[:, None], n_columns), axis=0)


def _normalised(weights: Sequence[float] | None, n_classes: int) -> np.ndarray:
    given = np.ones(n_classes) if weights is None else weights
    values = check_real_array(given, "weights")
    if values.shape != (n_classes,) or not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(
            f"weights must be {n_classes} positive numbers, not {weights!r}"
        )
    return values / values.sum()


def _labels(rng, class_prior, n_samples) -> np.ndarray:
    """Labels in random order, as many of a class as the largest remainders give it."""
    ideal = class_prior * n_samples
    sizes = np.floor(ideal).astype(np.int64)
    remainders = np.argsort(sizes - ideal, kind="stable")
    sizes[remainders[: n_samples - sizes.sum()]] += 1
    if not sizes.all():
        raise ValueError(
            f"n_samples={n_samples} leaves a class of the prior {class_prior.tolist()} "
            "without samples; raise n_samples or the smallest of weights"
        )
    return rng.permutation(np.repeat(np.arange(len(sizes)), sizes))


def _bunch(X, y, feature, **truth) -> Bunch:
    return Bunch(
        X=X,
        y=y,
        feature_names=np.array([f"{feature}{j:04d}" for j in range(X.shape[1])]),
        target_names=np.array([f"class{k}" for k in range(y.max() + 1)]),
        **truth,
    )
