import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from scipy.special import log_softmax

from memdlib import MeMdClassifier
from memdlib.estimator import check_finite_scores
from memdlib.families import get_family
from memdlib.generative.marginals import ClassMarginals, family_moments
from memdlib.generative.scores import MarginalScores


def fitted(X, y, family="normal", n_classes=None, features=None):
    family, n_classes = get_family(family), n_classes or int(y.max()) + 1
    moments = family_moments(family, family.observe(X), y, n_classes, None)
    features = np.arange(X.shape[1]) if features is None else features
    return MarginalScores.of(ClassMarginals(moments, family), features)


def columns(offset, n=60, seed=0):
    """Overlapping classes at an offset, classes far apart, and a mixture of both."""
    rng = np.random.default_rng([55, seed])
    y = rng.permutation(np.arange(n) % 3)
    X = rng.normal(size=(n, 3)) + np.array([0.0, 0.7, 1.5])[y, None]
    X[:, 0] += offset
    X[:, 1] += np.array([0, 0, offset])[y]
    X[:, 2] *= 1e-3
    return X, y


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e9, -1e12])
def test_sparse_and_dense_scores_agree(offset):
    X, y = columns(offset)
    thin = sparse.csr_array(X)
    dense, other = fitted(X, y), fitted(thin, y)
    new = X.copy()
    new[::7, 0] = 0  # far from every class, and not stored
    for rows in (X, new):
        a = log_softmax(dense.total(rows), axis=1)
        b = log_softmax(other.total(sparse.csr_array(rows)), axis=1)
        assert_allclose(a, b, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_what_classes_share_adds_nothing(kind):
    X = np.array([[3.0, 0], [3, 1], [3, 5], [3, 6]])
    model = MeMdClassifier(n_features=None).fit(kind(X), [0, 0, 1, 1])
    near = model.predict_proba(kind(np.array([[3.0, 5.5]])))
    for x in (1e9, -1e50, 1e100):
        far = model.predict_proba(kind(np.array([[x, 5.5]])))
        assert_array_equal(far, near)
    # a class of the same values in the first feature, two that differ
    X = np.array([[1.0, 0], [2, 1], [1, 5], [2, 6], [1.4, 5], [1.6, 6]])
    y = np.repeat([0, 1, 2], 2)
    score = fitted(kind(X), y).total(kind(np.array([[1e9, 5.5]])))
    assert log_softmax(score[0, :2])[0] == pytest.approx(-50.0, abs=1e-6)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_tie_goes_to_the_first_class(kind):
    X, y = np.array([[1.0], [2], [1], [2]]), np.array([0, 0, 1, 1])
    for family in ("normal", "poisson"):
        weight = np.array([1.0, 2, 4, 8])
        assert fitted(kind(X), y, family).correct_weight(kind(X), y, weight, [1]) == [3]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_many_narrow_classes_are_scored_exactly_and_few_cells_by_themselves(kind):
    """Two rows a class leave variances of all sizes, about places of their own."""
    rng = np.random.default_rng([55, 4])
    y = np.repeat(np.arange(60), 2)
    X = rng.normal(size=(120, 30)) + rng.normal(size=(60, 30))[y]
    new = rng.normal(size=(40, 30))
    model = fitted(kind(X), y)
    assert 0 < model.needs_own_centre.mean() < 0.2
    assert not model.scored_per_class.any()
    joint = np.stack([stats.norm(X[y == k].mean(0), X[y == k].std(0)).logpdf(new).sum(1)
                      for k in range(60)], axis=1)  # fmt: skip
    found = log_softmax(model.total(kind(new)), axis=1)
    assert_allclose(found, log_softmax(joint, axis=1), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_first_row_that_overflows_is_named_by_its_largest_value(kind):
    X, y = columns(0.0)
    model, wild = fitted(kind(X), y), X.copy()
    wild[3, 1], wild[3, 0], wild[9, 2] = -1.2345678e300, 5e299, 1e305
    with pytest.raises(ValueError, match=r"row that holds 1\.23457e\+300 over"):
        model.total(kind(wild))
    with pytest.raises(ValueError, match=r"row that holds 1\.23457e\+300 over"):
        model.correct_weight(kind(wild), y, np.ones(60), [1, 3])
    scored = check_finite_scores(np.array([[0.0, -np.inf], [-np.inf, 2.0]]), X[:2])
    assert scored.tolist() == [[0.0, -np.inf], [-np.inf, 2.0]]
