"""Simulated data whose truth is known: which features are informative, and how much.

All randomness comes from ``numpy.random.default_rng([stream, random_state])``, with a
constant ``stream`` for each simulator: with the same version of NumPy and an integer
``random_state``, the same arguments give the same bytes. The parameters of the
distribution are drawn before the data, so that simulations that differ only in the
number of samples share their truth.
"""

from numbers import Integral, Real

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import Bunch, check_random_state

from memdlib._sklearn import validate_params
from memdlib.validation import COUNT, NONNEGATIVE, Interval, check_real_array

__all__ = ["simulate_gaussian_classes", "simulate_text_counts"]

_SEVERAL = Interval(Integral, 2, None, closed="left")
_RANDOM_STATE = [
    Interval(Integral, 0, None, closed="left"),
    np.random.RandomState,
    None,
]
_GAUSSIAN_STREAM = 1
_TEXT_STREAM = 2
# Mandelbrot's shift: the frequency of a word is proportional to 1 / (rank + 2.7).
_ZIPF_SHIFT = 2.7


@validate_params(
    {
        "n_samples": [COUNT],
        "n_features": [COUNT],
        "n_informative": [Interval(Integral, 0, None, closed="left")],
        "n_classes": [_SEVERAL],
        "weights": ["array-like", None],
        "separation": [NONNEGATIVE],
        "random_state": _RANDOM_STATE,
    },
    prefer_skip_nested_validation=True,
)
def simulate_gaussian_classes(
    n_samples=200,
    *,
    n_features=20,
    n_informative=5,
    n_classes=2,
    weights=None,
    separation=1.0,
    random_state=0,
):
    """Draw samples whose features are independent Gaussians given the class.

    An uninformative feature is standard normal in every class. On an informative one
    the class means are equally spaced, in random order, and so are the logarithms of
    the class variances; the largest variance is four times the smallest. The distance
    between neighbouring means is `separation` times a strength drawn for each feature
    from the uniform distribution on [0.5, 1.5].

    Parameters
    ----------
    n_samples : int, default=200
        Number of samples n, at least one per class.
    n_features : int, default=20
        Number of features d.
    n_informative : int, default=5
        Number of features whose distribution depends on the class, from 0 to d; they
        are chosen at random.
    n_classes : int, default=2
        Number of classes K, at least 2.
    weights : sequence of K floats, default=None
        Positive weights of the classes, divided by their sum; None means equal. The
        sizes of the classes are n times these, rounded by largest remainders.
    separation : float, default=1.0
        Mean distance between neighbouring class means on an informative feature, in
        standard deviations of an uninformative one; with 0 only the variances differ.
    random_state : int, RandomState instance or None, default=0
        Determines all draws. An int >= 0 gives the same data at every call; None draws
        afresh, from the global random state of NumPy.

    Returns
    -------
    Bunch
        With ``X`` (n, d) float64, ``y`` (n,) int64, ``feature_names``,
        ``target_names``, and the truth:

        means, variances : ndarray of shape (K, d)
            Of each feature in each class.
        jeffreys : ndarray of shape (K, K, d)
            Jeffreys divergence between each pair of classes, for each feature, in nats.
        informative : ndarray of bool, shape (d,)
            The features whose distribution depends on the class.
        class_prior : ndarray of shape (K,)
            The normalised weights.

    Raises
    ------
    ValueError
        If a parameter is out of range, or if the weights leave a class without samples.

    Examples
    --------
    >>> from memdlib.datasets import simulate_gaussian_classes
    >>> data = simulate_gaussian_classes(n_samples=100, n_features=6, n_informative=2)
    >>> data.X.shape, int(data.informative.sum())
    ((100, 6), 2)
    >>> bool((data.jeffreys[0, 1] > 0).tolist() == data.informative.tolist())
    True
    """
    _check_at_most(n_informative, "n_informative", n_features, "n_features")
    class_prior = _normalised(weights, n_classes)

    rng = _generator(_GAUSSIAN_STREAM, random_state)
    chosen = rng.choice(n_features, n_informative, replace=False)
    informative = np.isin(np.arange(n_features), chosen)
    means, variances = _gaussian_parameters(rng, informative, n_classes, separation)

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


@validate_params(
    {
        "n_documents": [COUNT],
        "n_words": [COUNT],
        "n_informative": [COUNT],
        "n_classes": [_SEVERAL],
        "document_length": [Interval(Real, 1, None, closed="left")],
        "lift": [Interval(Real, 1, None, closed="neither")],
        "random_state": _RANDOM_STATE,
    },
    prefer_skip_nested_validation=True,
)
def simulate_text_counts(
    n_documents=400,
    *,
    n_words=1000,
    n_informative=40,
    n_classes=4,
    document_length=100.0,
    lift=5.0,
    random_state=0,
):
    """Draw word counts of documents whose words are independent given the class.

    The background distribution is Zipf's in Mandelbrot's form: the word of rank r has a
    probability proportional to 1 / (r + 2.7). Each informative word belongs to one
    class, in which its probability is `lift` times the background; in the other classes
    it is lower. All informative words together have the same probability in each class,
    so that an uninformative word has the same probability in all of them.

    Parameters
    ----------
    n_documents : int, default=400
        Number of documents n, at least one per class; the classes are as equal in size
        as possible.
    n_words : int, default=1000
        Number of words d in the vocabulary, in decreasing order of background
        frequency.
    n_informative : int, default=40
        Number of words whose probability depends on the class, from K to d; they are
        chosen at random and assigned to the classes in turn.
    n_classes : int, default=4
        Number of classes K, at least 2.
    document_length : float, default=100.0
        Mean number of words in a document, at least 1. A length is 1 plus a Poisson
        variable, so that no document is empty.
    lift : float, default=5.0
        Factor, above 1, on the background probability of a word in its own class, up to
        the normalisation that all words share.
    random_state : int, RandomState instance or None, default=0
        Determines all draws. An int >= 0 gives the same data at every call; None draws
        afresh, from the global random state of NumPy.

    Returns
    -------
    Bunch
        With ``X``, a `scipy.sparse.csr_array` of int64 counts of shape (n, d), ``y``
        (n,) int64, ``feature_names`` such as ``word0007``, ``target_names``, and the
        truth:

        word_probabilities : ndarray of shape (K, d)
            Probability of each word in each class; the rows sum to 1.
        informative : ndarray of bool, shape (d,)
            The words whose probability depends on the class.
        class_prior : ndarray of shape (K,)
            1 / K for each class.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from memdlib.datasets import simulate_text_counts
    >>> data = simulate_text_counts(n_documents=50, n_words=200)
    >>> data.X.shape, data.X.dtype, str(data.feature_names[7])
    ((50, 200), dtype('int64'), 'word0007')
    >>> int(data.informative.sum()), bool((data.X.sum(axis=1) > 0).all())
    (40, True)
    """
    _check_at_most(n_classes, "n_classes", n_documents, "n_documents")
    _check_at_most(n_classes, "n_classes", n_informative, "n_informative")
    _check_at_most(n_informative, "n_informative", n_words, "n_words")

    rng = _generator(_TEXT_STREAM, random_state)
    words = rng.choice(n_words, n_informative, replace=False)
    informative = np.isin(np.arange(n_words), words)
    probabilities = _word_probabilities(n_words, words, n_classes, lift)

    class_prior = _normalised(None, n_classes)
    y = _labels(rng, class_prior, n_documents)
    lengths = 1 + rng.poisson(document_length - 1.0, n_documents)
    return _bunch(
        _draw_documents(rng, y, lengths, probabilities),
        y,
        feature="word",
        word_probabilities=probabilities,
        informative=informative,
        class_prior=class_prior,
    )


def _generator(stream, random_state):
    """Generator of a stream; an int is its seed, a RandomState draws one."""
    if not isinstance(random_state, Integral):
        random_state = check_random_state(random_state).randint(2**32, dtype=np.uint32)
    return np.random.default_rng([stream, random_state])


def _check_at_most(value, name, limit, limit_name):
    """Raise ValueError unless a number is at most another one."""
    if value > limit:
        raise ValueError(f"{name}={value} must be at most {limit_name}={limit}")


def _gaussian_parameters(rng, informative, n_classes, separation):
    """Means and variances (K, d), which differ on the informative features (d,)."""
    n_informative = informative.sum()
    strength = rng.uniform(0.5, 1.5, n_informative)
    positions = np.arange(n_classes) - (n_classes - 1) / 2
    log2_variances = np.linspace(-1.0, 1.0, n_classes)
    means = np.zeros((n_classes, len(informative)))
    means[:, informative] = _permuted_columns(rng, positions, n_informative)
    means[:, informative] *= separation * strength
    variances = np.ones_like(means)
    permuted = _permuted_columns(rng, log2_variances, n_informative)
    variances[:, informative] = 2.0**permuted
    return means, variances


def _gaussian_jeffreys(means, variances):
    """Jeffreys divergence (K, K, d) of N(m1, v1) and N(m2, v2), in nats.

    Takes means and variances (K, d) and compares each pair of rows.
    """
    difference = means[:, None] - means
    v1 = variances[:, None]
    v2 = variances
    by_variances = (v1 - v2) ** 2 / (v1 * v2)
    by_means = difference**2 * (1.0 / v1 + 1.0 / v2)
    return 0.5 * (by_variances + by_means)


def _word_probabilities(n_words, words, n_classes, lift):
    """Probability of each word in each class (K, d).

    It is the same in all classes but for the informative ``words`` (n_informative,),
    which belong to the classes in turn.
    """
    background = 1.0 / (np.arange(1, n_words + 1) + _ZIPF_SHIFT)
    class_of_word = np.arange(len(words)) % n_classes
    mass_of_class = np.bincount(class_of_word, background[words], n_classes)
    foreign_mass = background[words].sum() - mass_of_class
    # The class whose own words have the largest mass determines the mass of all
    # informative words; in the other classes, foreign words are raised to that mass, by
    # a factor in [1, lift).
    largest = mass_of_class.max()
    foreign_factor = 1.0 + (lift - 1.0) * (largest - mass_of_class) / foreign_mass
    informative_mass = lift * largest + foreign_mass.min()
    probabilities = np.tile(background, (n_classes, 1))
    probabilities[:, words] *= np.where(
        class_of_word == np.arange(n_classes)[:, None], lift, foreign_factor[:, None]
    )
    return probabilities / (np.delete(background, words).sum() + informative_mass)


def _draw_documents(rng, y, lengths, probabilities):
    """Word counts (n, d) of documents with given classes (n,) and lengths (n,)."""
    n_classes, n_words = probabilities.shape
    classes = np.repeat(y, lengths)
    tokens = np.empty(len(classes), dtype=np.int64)
    for k in range(n_classes):
        of_class = classes == k
        tokens[of_class] = rng.choice(n_words, of_class.sum(), p=probabilities[k])
    documents = np.repeat(np.arange(len(y)), lengths)
    ones = np.ones(len(documents), dtype=np.int64)
    # Words that repeat in a document are summed.
    return csr_array((ones, (documents, tokens)), shape=(len(y), n_words))


def _permuted_columns(rng, values, n_columns):
    """Columns that each hold the values (K,) in random order: (K, n_columns)."""
    return rng.permuted(np.tile(values[:, None], n_columns), axis=0)


def _normalised(weights, n_classes):
    """Class weights divided by their sum, (n_classes,); equal ones for None."""
    if weights is None:
        return np.full(n_classes, 1.0 / n_classes)
    values = check_real_array(weights, "weights")
    if values.shape != (n_classes,) or not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(
            f"weights must be {n_classes} positive numbers, not {weights!r}"
        )
    return values / values.sum()


def _labels(rng, class_prior, n_samples):
    """Labels in random order; class sizes are rounded by the largest remainders."""
    ideal = class_prior * n_samples
    sizes = np.floor(ideal).astype(np.int64)
    by_remainder = np.argsort(sizes - ideal, kind="stable")
    n_missing = n_samples - sizes.sum()
    sizes[by_remainder[:n_missing]] += 1
    if not sizes.all():
        raise ValueError(
            f"n_samples={n_samples} leaves a class of the prior {class_prior.tolist()} "
            "without samples; raise n_samples or the smallest of weights"
        )
    return rng.permutation(np.repeat(np.arange(len(sizes)), sizes))


def _bunch(X, y, feature, **truth):
    """Bunch of data and truth, with features named by a word and a number."""
    return Bunch(
        X=X,
        y=y,
        feature_names=np.array([f"{feature}{j:04d}" for j in range(X.shape[1])]),
        target_names=np.array([f"class{k}" for k in range(y.max() + 1)]),
        **truth,
    )
