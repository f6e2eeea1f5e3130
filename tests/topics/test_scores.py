import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from memdlib import PLSA, MeMdClassifier
from memdlib.families import get
from memdlib.topics import (
    fisher_scores,
    fold_in,
    free_energy_terms,
    log_likelihoods,
    maxent_scores,
    posterior_divergences,
)
from tests.topics.reference import documents, responsibilities

N_TOPICS = 3


def fitted(seed=0, **options):
    X = documents(seed=seed)[0]
    X[0] += 1  # every word is in the training rows
    model = PLSA(N_TOPICS, random_state=0, **({"smoothing": 0} | options))
    return model.fit(X[:30]), X[30:]


def expected_counts(model, X):
    """m_zw of every document, (n, n_topics, n_words), and theta."""
    theta = model.transform(X)
    return X[:, None, :] * responsibilities(theta, model.components_), theta


def literal_likelihood(x, p, Q, R):
    """sum_w c_w log sum_z p_z Q_zw R_z; parameters may be complex."""
    return sum(c * np.log((p * Q[:, w] * R).sum()) for w, c in enumerate(x) if c)


@pytest.mark.parametrize("smoothing", [0.0, 0.4])
def test_gradients_by_complex_steps(smoothing):
    model, X = fitted(smoothing=smoothing)
    p, Q = model.topic_prior_, model.components_
    found = fisher_scores(model, X)
    assert found.shape == (10, N_TOPICS + N_TOPICS * 25)
    for x, theta, score in zip(X, model.transform(X), found, strict=True):
        R = theta / p  # P(d) drops out
        expected = []
        for z in range(N_TOPICS):
            moved = p + 1e-30j * np.eye(N_TOPICS)[z]
            expected.append(literal_likelihood(x, moved, Q, R).imag / 1e-30)
        for cell in np.ndindex(Q.shape):
            moved = Q.astype(complex)
            moved[cell] += 1e-30j
            expected.append(literal_likelihood(x, p, moved, R).imag / 1e-30)
        np.testing.assert_allclose(score, expected, rtol=1e-9, atol=1e-9)


def test_gradients_are_those_of_what_folding_in_reaches():
    """Topics of the document adapt to other words of the topics."""
    model, X = fitted(seed=1)
    Q, prior = model.components_, model.topic_prior_
    score = fisher_scores(model, X)[:, N_TOPICS:].reshape(len(X), *Q.shape)

    def reached(Q):
        P = fold_in(X, Q, prior)[0] @ Q
        return (X * np.log(np.where(X > 0, P, 1.0))).sum(axis=1)

    for z, w in ((0, 3), (1, 11), (2, 20)):
        h = 1e-4 * Q[z, w]
        up, down = Q.copy(), Q.copy()
        up[z, w] += h
        down[z, w] -= h
        slope = (reached(up) - reached(down)) / (2 * h)
        np.testing.assert_allclose(score[:, z, w], slope, rtol=1e-4, atol=1e-4)


def test_scores_are_expected_counts():
    model, X = fitted(seed=2)
    m, theta = expected_counts(model, X)
    score = fisher_scores(model, X)
    np.testing.assert_allclose(
        score[:, :N_TOPICS] * model.topic_prior_, m.sum(axis=2), rtol=1e-9, atol=1e-9
    )
    # at the optimum every topic has its share of the counts
    np.testing.assert_allclose(
        m.sum(axis=2), X.sum(axis=1, keepdims=True) * theta, rtol=1e-7, atol=1e-5
    )
    by_word = score[:, N_TOPICS:].reshape(m.shape) * model.components_
    np.testing.assert_allclose(by_word, m, rtol=1e-9, atol=1e-9)


def test_free_energy_terms_one_by_one():
    model, X = fitted(seed=3)
    m, theta = expected_counts(model, X)
    q = responsibilities(theta, model.components_)
    expected = np.hstack(
        [
            (m * np.log(q, out=np.zeros_like(q), where=q > 0)).sum(axis=2),
            -(m * np.log(theta)[:, :, None]).sum(axis=2),
            -(m * np.log(np.maximum(model.components_, 1e-300))).sum(axis=2),
        ]
    )
    found = free_energy_terms(model, X)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
    assert found[:, :N_TOPICS].max() < 1e-9 and found[:, N_TOPICS:].min() > -1e-9


def test_free_energy_terms_add_up_to_the_bound():
    model, X = fitted(seed=4)
    P = model.transform(X) @ model.components_
    literal = (X * np.log(np.where(X > 0, P, 1.0))).sum(axis=1)
    np.testing.assert_allclose(log_likelihoods(model, X), literal, rtol=1e-12)
    np.testing.assert_allclose(
        free_energy_terms(model, X).sum(axis=1), -literal, rtol=1e-12
    )
    # any other posterior has a larger free energy
    theta = model.transform(X)
    q = np.full((len(X), N_TOPICS, 25), 1 / N_TOPICS)
    other = X[:, None, :] * q * np.log(q / (theta[:, :, None] * model.components_))
    assert (other.sum(axis=(1, 2)) > -literal).all()


@pytest.mark.parametrize("smoothing", [0.0, 0.4])
def test_posterior_divergences_add_up_to_what_a_document_costs(smoothing):
    model, X = fitted(seed=5, smoothing=smoothing)
    m, _ = expected_counts(model, X)
    Q, old = model.components_, model.topic_counts_[:, None] * model.components_
    found = posterior_divergences(model, X)
    assert found.shape == (10, 4 * N_TOPICS)
    energies = free_energy_terms(model, X)
    np.testing.assert_array_equal(found[:, : 2 * N_TOPICS], energies[:, : 2 * N_TOPICS])
    for d in range(len(X)):
        new = old + m[d]
        after = new / new.sum(axis=1, keepdims=True)
        fit = -(m[d] * np.log(after)).sum(axis=1)
        cost = (old * np.log(Q / after)).sum(axis=1)
        np.testing.assert_allclose(
            found[d, 2 * N_TOPICS :], np.hstack([fit, cost]), rtol=1e-7, atol=1e-9
        )
        before = -(old * np.log(Q)).sum()
        whole = -(new * np.log(after)).sum() + energies[d, : 2 * N_TOPICS].sum()
        assert found[d].sum() == pytest.approx(whole - before, rel=1e-9)
    assert found[:, 3 * N_TOPICS :].min() >= 0


def test_a_drop_in_an_ocean_keeps_its_digits():
    """The cost is of second order in the share of the document."""
    model, X = fitted(seed=6, smoothing=0.1)
    cost = posterior_divergences(model, X)[:, 3 * N_TOPICS :]
    small = posterior_divergences(model, 1e-6 * X)[:, 3 * N_TOPICS :]
    m, _ = expected_counts(model, X)
    mass, Q = model.topic_counts_[:, None], model.components_
    second = 0.5e-12 * (m**2 / Q - m.sum(axis=2, keepdims=True) ** 2 * Q) / mass
    np.testing.assert_allclose(small, second.sum(axis=2), rtol=1e-4)
    assert (cost >= small).all()


@pytest.mark.parametrize(
    "scores", [fisher_scores, free_energy_terms, posterior_divergences, log_likelihoods]
)
def test_dense_and_sparse_documents(scores):
    rng = np.random.default_rng([92, 20])
    X = rng.poisson(0.3, size=(60, 40)).astype(float)
    X[0] = 1
    model = PLSA(N_TOPICS, smoothing=0, random_state=0).fit(X)
    full = np.vstack([X, np.full((200, 40), 2.0)])  # kept dense, with its zeros
    dense = scores(model, full)[:60]
    thin = scores(model, sparse.csr_array(X[1:]))
    assert sparse.issparse(thin) == (scores is fisher_scores)
    assert not sparse.issparse(dense)
    thin = thin.toarray() if sparse.issparse(thin) else thin
    np.testing.assert_allclose(thin, dense[1:], rtol=1e-9, atol=1e-9)


def test_a_document_of_no_words():
    model, _ = fitted()
    nothing = np.zeros((1, 25))
    for scores in (fisher_scores, free_energy_terms, posterior_divergences):
        assert not scores(model, nothing).any()
    assert log_likelihoods(model, nothing).tolist() == [0.0]


def test_a_dead_topic_has_no_scores():
    model, X = fitted(seed=7)
    model.topic_prior_[1] = model.topic_counts_[1] = 0
    assert not fisher_scores(model, X)[:, 1].any()
    assert not posterior_divergences(model, X)[:, 1::N_TOPICS].any()


def test_words_without_probability_are_named():
    X = documents()[0]
    X[:, 4] = 0
    model = PLSA(N_TOPICS, smoothing=0, random_state=0).fit(X)
    new = X.copy()
    new[7, 4] = 2
    for scores in (fisher_scores, free_energy_terms, posterior_divergences):
        for kind in (np.asarray, sparse.csr_array):
            with pytest.raises(
                ValueError, match="row 7 holds feature 4, which the mod"
            ):
                scores(model, kind(new))
    smooth = PLSA(N_TOPICS, random_state=0, smoothing=0.01).fit(X)
    assert np.isfinite(free_energy_terms(smooth, new)).all()
    with pytest.raises(NotFittedError):
        free_energy_terms(PLSA(), X)


LEVELS = {
    "normal": [[0.3, 1.4], [-2.0, 5.0]],
    "exponential": [[0.7], [30.0]],
    "truncated_exponential": [[0.2], [0.9]],
    "geometric": [[0.7], [5.0]],
    "bernoulli": [[0.2], [0.9]],
    "poisson": [[0.7], [12.0]],
}


@pytest.mark.parametrize("name", LEVELS)
def test_scores_of_families_by_differences(name):
    family = get(name)
    lam = family.natural(np.array(LEVELS[name]))
    X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    found = maxent_scores(X, lam, name)
    assert found.shape == (3, 2, family.n_moments)
    for j in range(family.n_moments):
        h = 1e-5 * abs(lam[:, j])
        up, down = lam.copy(), lam.copy()
        up[:, j] += h
        down[:, j] -= h
        slope = (family.log_density(X, up) - family.log_density(X, down)) / (2 * h)
        np.testing.assert_allclose(found[..., j], slope, rtol=1e-6, atol=1e-6)


def test_scores_of_memd_are_linear_in_fisher_scores():
    rng = np.random.default_rng([92, 21])
    X, y = rng.normal(size=(80, 4)), np.arange(80) % 2
    X[y == 1] = 0.5 + 1.4 * X[y == 1]
    model = MeMdClassifier(n_features=None).fit(X, y)
    lam = model.natural_params_
    score = maxent_scores(X, lam[0])
    np.testing.assert_allclose(score[y == 0].mean(axis=0), 0, rtol=1e-7, atol=1e-12)
    log_odds = ((lam[1] - lam[0]) * score).sum(axis=(1, 2))
    gap = log_odds - model.decision_function(X)
    np.testing.assert_allclose(gap, gap[0], rtol=1e-9)


def test_families_that_have_no_such_scores():
    with pytest.raises(ValueError, match="family='multinomial' has features that dep"):
        maxent_scores([[1.0]], [[0.0]], "multinomial")
    with pytest.raises(ValueError, match="poisson"):
        maxent_scores([[-1.0]], [[0.0]], "poisson")
    with pytest.raises(ValueError, match="family='cauchy' is not known"):
        maxent_scores([[1.0]], [[0.0]], "cauchy")


@pytest.mark.parametrize(
    ("X", "lam", "message"),
    [
        ([[1.0, 2.0]], [[0.0, 0.5]], r"lam \(1, 2\); expected \(n, d\) and \(d, m\)"),
        ([1.0], [[0.0, 0.5]], r"X has shape \(1,\)"),
        ([[1.0]], 0.5, r"lam \(\); expected"),
        ([[1.0 + 1j]], [[0.0, 0.5]], "X must be real"),
        ([[1.0]], [[0.0, 0.5 + 1j]], "lam must be real"),
        (sparse.csr_array([[1.0]]), [[0.0, 0.5]], "X is sparse"),
        ([[1.0]], sparse.csr_array([[0.0, 0.5]]), "lam is sparse"),
    ],
)
def test_scores_of_families_name_what_they_cannot_take(X, lam, message):
    with pytest.raises(ValueError, match=message):
        maxent_scores(X, lam)


def test_a_missing_value_has_missing_scores():
    found = maxent_scores([[1.0], [np.nan]], [[0.0, 0.5]])
    np.testing.assert_array_equal(np.isnan(found).all(axis=(1, 2)), [False, True])


@pytest.mark.parametrize("name", LEVELS)
def test_scores_of_families_are_means_less_powers(name):
    rng = np.random.default_rng([92, 40])
    family = get(name)
    levels = np.array(LEVELS[name])
    X = rng.integers(0, 2, size=(7, 2)).astype(float)
    if name == "normal":
        X = rng.normal(size=(7, 2))
    powers = np.stack([X ** (j + 1) for j in range(family.n_moments)], axis=-1)
    found = maxent_scores(X.tolist(), family.natural(levels), family)
    np.testing.assert_allclose(found, levels - powers, rtol=1e-9, atol=1e-9)
    lam = family.natural(levels)
    for rows in (X[:1], np.float32(X)):
        assert maxent_scores(rows, lam, name).shape == (len(rows), 2, family.n_moments)
        assert maxent_scores(rows, lam, name).dtype == np.float64


@pytest.mark.parametrize(
    "scores", [fisher_scores, free_energy_terms, posterior_divergences, log_likelihoods]
)
def test_scores_of_a_single_document_are_those_among_others(scores):
    model, X = fitted(seed=8)
    among = scores(model, X * np.arange(1, 11)[:, None])
    for d in (0, 6):
        alone = scores(model, (X[d : d + 1] * (d + 1)).tolist())
        np.testing.assert_allclose(alone[0], among[d], rtol=1e-12, atol=1e-12)
