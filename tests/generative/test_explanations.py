import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from memdlib import (
    ConditionalMaxEntClassifier,
    DivergenceRanker,
    MeMdClassifier,
)
from memdlib.datasets import simulate_text_counts
from memdlib.families import Polynomial
from memdlib.generative import (
    CorrelatedMeMdClassifier,
    MixtureClassifier,
    MultinomialMeMdClassifier,
    contributions,
    top_features,
)

MEASURED = {
    "normal": MeMdClassifier(n_features=3),
    "two powers": MeMdClassifier(family=Polynomial(2, (-60.0, 60.0)), n_features=0.5),
    "one power": MeMdClassifier(family=Polynomial(1, (-60.0, 60.0)), n_features=None),
    "correlated": CorrelatedMeMdClassifier(),
    "some coordinates": CorrelatedMeMdClassifier(2),
    "conditional": ConditionalMaxEntClassifier(),
    "in a pipeline": make_pipeline(StandardScaler(), CorrelatedMeMdClassifier()),
    "discriminant": LinearDiscriminantAnalysis(),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
}
MIXED = MixtureClassifier([("one", MeMdClassifier())], random_state=0)
COUNTED = {
    **{
        family: MeMdClassifier(family=family, n_features=0.7)
        for family in ("poisson", "geometric", "bernoulli", "multinomial")
    },
    "exponential": MeMdClassifier(family="exponential"),
    "documents": MultinomialMeMdClassifier(n_features=0.5),
    "all words": MultinomialMeMdClassifier(n_features=None),
    "conditional": ConditionalMaxEntClassifier(),
    "support vectors": LinearSVC(),
}
# Those whose score is linear in the counts.
LINEAR = [name for name in COUNTED if name != "bernoulli"]


def blobs(seed, n, d, n_classes, scale=1.0):
    rng = np.random.default_rng([61, seed])
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return scale * (X + 2.0 * rng.normal(size=(n_classes, d))[y]), y


def words(seed=0, n_classes=2, n_words=40):
    text = simulate_text_counts(
        n_documents=90,
        n_words=n_words,
        n_informative=n_words // 2,
        n_classes=n_classes,
        seed=seed,
    )
    return text.X.toarray().astype(np.float64), text.y


def beyond_average(score):
    return score - score.mean(axis=1, keepdims=True) if score.ndim == 2 else score


def terms(found):
    """Size of what is added up."""
    added = [np.asarray(abs(v).sum(axis=1)).ravel() for v in found.values]
    return np.abs(found.base).max() + np.max(added)


def check_the_sum(model, X):
    found = contributions(model, X)
    expected = beyond_average(model.decision_function(X))
    assert found.total.shape == expected.shape
    assert np.abs(found.total - expected).max() <= 1e-10 * terms(found)
    return found


@pytest.mark.parametrize("name", MEASURED)
@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(24, 40),
    d=st.integers(1, 7),
    n_classes=st.integers(2, 4),
    exponent=st.sampled_from([0, -6]),
)
def test_contributions_add_up_to_the_decision_function(
    name, seed, n, d, n_classes, exponent
):
    model = MEASURED[name]
    # penalties are in the units of the features
    penalised = name == "conditional"
    X, y = blobs(seed, n, d, n_classes, 1.0 if penalised else 10.0**exponent)
    if "power" in name:
        X = X / np.abs(X).max() * 50.0
    if name in ("normal", "some coordinates"):
        size = model.n_features if d >= model.n_features else None
        model = model.__class__(n_features=size)
    found = check_the_sum(model.fit(X, y), X)
    assert len(found.values) == (1 if n_classes == 2 else n_classes)
    assert all(v.shape == X.shape for v in found.values)


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_of_counts_too_and_sparse_rows_stay_sparse(name, n_classes):
    X, y = words(1, n_classes)
    model = COUNTED[name].fit(X, y)
    dense, thin = check_the_sum(model, X), check_the_sum(model, sparse.csc_array(X))
    for v, w in zip(dense.values, thin.values, strict=True):
        assert isinstance(w, sparse.csr_array) and w.nnz <= np.count_nonzero(X)
        np.testing.assert_allclose(w.toarray(), v, rtol=0, atol=1e-12 * terms(dense))
    np.testing.assert_allclose(thin.base, dense.base)


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4))
def test_of_counts_of_any_kind(seed, n_classes):
    X, y = words(seed, n_classes, 12)
    for name in LINEAR:
        if name != "support vectors":
            check_the_sum(COUNTED[name].fit(X, y), X)


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_word_adds_what_is_lost_without_it(name, n_classes):
    X, y = words(2, n_classes)
    model = COUNTED[name].fit(X, y)
    found = contributions(model, X[:5])
    score = beyond_average(model.decision_function(X[:5]))
    for s in range(X.shape[1]):
        without = X[:5].copy()
        without[:, s] = 0.0
        lost = score - beyond_average(model.decision_function(without))
        value = np.column_stack([v[:, s] for v in found.values])
        lost = lost.reshape(value.shape)
        np.testing.assert_allclose(value, lost, rtol=0, atol=1e-11 * terms(found))


def test_the_presence_of_a_word_is_compared_with_its_absence():
    X, y = words(3)
    model = MeMdClassifier(family="bernoulli", n_features=None).fit(X, y)
    present = X > 0
    theta = [
        (present[y == k].sum(axis=0) + present.mean(axis=0)) / ((y == k).sum() + 1)
        for k in (0, 1)
    ]
    varies = np.ptp(present.astype(int), axis=0) > 0
    logit = [np.log(p[varies]) - np.log1p(-p[varies]) for p in theta]
    found = contributions(model, X)
    np.testing.assert_allclose(
        found.values[0][:, varies],
        present[:, varies] * (logit[1] - logit[0]),
        rtol=0,
        atol=1e-10,
    )


def test_a_measured_feature_adds_the_log_ratio_of_its_densities():
    X, y = load_breast_cancer(return_X_y=True)
    model = MeMdClassifier(n_features=7).fit(X, y)
    density = [
        stats.norm(X[y == k].mean(axis=0), X[y == k].std(axis=0)) for k in (0, 1)
    ]
    ratio = density[1].logpdf(X) - density[0].logpdf(X)
    ratio[:, model.order_[7:]] = 0.0
    found = contributions(model, X)
    np.testing.assert_allclose(found.values[0], ratio, rtol=1e-9, atol=1e-9)
    odds = np.log(np.bincount(y)[1] / np.bincount(y)[0])
    np.testing.assert_allclose(found.base, odds)
    # zeros of sparse rows are values like any other
    thin = contributions(model, sparse.csr_array(X))
    np.testing.assert_array_equal(thin.values[0], found.values[0])


def test_classes_that_lie_thousands_of_deviations_apart():
    rng = np.random.default_rng([61, 1])
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 2)) + 1e6 * y[:, None] * [1, 0]
    model = MeMdClassifier(n_features=None).fit(X, y)
    found = check_the_sum(model, X)
    density = [stats.norm(X[y == k, 0].mean(), X[y == k, 0].std()) for k in (0, 1)]
    ratio = density[1].logpdf(X[:, 0]) - density[0].logpdf(X[:, 0])
    np.testing.assert_allclose(found.values[0][:, 0], ratio, rtol=1e-6)


@pytest.mark.parametrize("size", ["auto", 3])
def test_a_linear_score_is_taken_about_the_mean_of_the_class_means(size):
    # f(c + u) = f(c) + sum_s u_s g_s, by differences
    X, y = load_wine(return_X_y=True)
    X, y = X[y < 2, :6], y[y < 2]
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    model = CorrelatedMeMdClassifier(size).fit(X, y)
    f = model.decision_function
    centre = model.class_prior_ @ [X[y == k].mean(axis=0) for k in (0, 1)]
    slope = (f(centre + 0.1 * np.eye(6)) - f(centre - 0.1 * np.eye(6))) / 0.2
    found, expected = contributions(model, X), (X - centre) * slope
    np.testing.assert_allclose(
        found.values[0], expected, rtol=0, atol=1e-9 * np.abs(expected).max()
    )
    np.testing.assert_allclose(found.base, f(centre[None])[0], rtol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        MeMdClassifier(n_features=None, priors=[0.5, 0.0, 0.5]),
        CorrelatedMeMdClassifier(priors=[0.5, 0.0, 0.5]),
        MultinomialMeMdClassifier(priors=[0.5, 0.0, 0.5]),
    ],
)
def test_an_impossible_class_is_left_out_of_the_average(model):
    X, y = load_iris(return_X_y=True)
    found = contributions(model.fit(X, y), X)
    assert (found.total[:, 1] == -np.inf).all()
    score = model.decision_function(X)[:, [0, 2]]
    np.testing.assert_allclose(
        found.total[:, [0, 2]],
        beyond_average(score),
        rtol=0,
        atol=1e-10 * terms_finite(found),
    )
    assert all(np.isfinite(v).all() for v in found.values)


def terms_finite(found):
    return np.max([np.abs(v).sum(axis=1) for v in found.values])


def test_towards_a_class():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = MeMdClassifier().fit(X, y)
    found = contributions(model, X)
    assert found.feature_names.tolist() == X.columns.tolist()
    for k in range(3):
        total = found.base_towards(k) + found.towards(k).sum(axis=1)
        np.testing.assert_allclose(total, found.total[:, k])
    X, label = X[50:], np.where(y[50:] == 1, "versicolor", "virginica")
    found = contributions(model.fit(X, label), X)
    np.testing.assert_array_equal(found.towards("virginica"), found.values[0])
    np.testing.assert_array_equal(found.towards("versicolor"), -found.values[0])
    np.testing.assert_array_equal(found.base_towards("versicolor"), -found.base[:, 0])
    with pytest.raises(ValueError, match=r"no class 'setosa'; choose one of \['vers"):
        found.towards("setosa")


def test_features_have_the_names_that_the_last_step_gets():
    text = ["good film", "bad film", "good good plot", "bad bad plot"] * 3
    y = ["like", "dislike"] * 6
    model = make_pipeline(CountVectorizer(), MultinomialMeMdClassifier(n_features=None))
    found = contributions(model.fit(text, y), text)
    assert found.feature_names.tolist() == ["bad", "film", "good", "plot"]
    assert {k: v[0][0] for k, v in top_features(model, text).items()} == {
        "dislike": "bad",
        "like": "good",
    }
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = make_pipeline(DivergenceRanker(n_features=2), MeMdClassifier()).fit(X, y)
    found = check_the_sum(model, X)
    assert found.feature_names.tolist() == ["petal length (cm)", "petal width (cm)"]
    plain = MeMdClassifier().fit(X.to_numpy(), y)
    assert contributions(plain, X.to_numpy()).feature_names[3] == "feature 3"
    assert contributions(plain, X.to_numpy(), list("abcd")).feature_names[3] == "d"
    with pytest.raises(ValueError, match="2 names; the estimator gets 4 features"):
        contributions(plain, X.to_numpy(), ["a", "b"])
    nameless = make_pipeline(FunctionTransformer(np.asarray), MeMdClassifier())
    nameless.fit(X, y)
    assert contributions(nameless, X).feature_names[3] == "feature 3"
    mixed = make_pipeline(PCA(2), MeMdClassifier()).fit(X, y)
    assert contributions(mixed, X).feature_names.tolist() == ["pca0", "pca1"]


@pytest.mark.parametrize(
    "model",
    [SVC(), SVC(kernel="linear"), GaussianNB(), LinearRegression(), MIXED],
    ids=["kernel", "pairs of classes", "other densities", "no classifier", "mixture"],
)
def test_other_scores_are_refused_and_a_remedy_is_named(model):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"no sum over features; take .*permutation"):
        contributions(model.fit(X, y), X)


def test_coefficients_of_all_classes_but_one_are_refused():
    X, y = load_iris(return_X_y=True)
    model = LinearDiscriminantAnalysis().fit(X, y)
    model.coef_ = model.coef_[1:]
    with pytest.raises(ValueError, match="no sum over features"):
        contributions(model, X)


def test_a_linear_support_vector_machine_of_two_classes():
    X, y = load_wine(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    check_the_sum(SVC(kernel="linear").fit(X, y), X)


def test_what_is_not_fitted_or_overflows():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NotFittedError):
        contributions(MeMdClassifier(), X)
    with pytest.raises(ValueError, match="in size"):
        contributions(MeMdClassifier().fit(X, y), np.full((1, 4), 1e308))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_top_features_are_means_over_the_rows_of_a_class(kind, n_classes):
    X, y = words(5, n_classes)
    model = MeMdClassifier(family="poisson", n_features=9).fit(X, y)
    found, guess = contributions(model, X), model.predict(X)
    top = top_features(model, kind(X), n=4, feature_names=[f"w{s}" for s in range(40)])
    assert list(top) == model.classes_.tolist()
    for label, best in top.items():
        mean = found.towards(label)[guess == label].mean(axis=0)
        assert 0 < len(best) <= 4
        assert [value for _, value in best] == pytest.approx(
            sorted(mean[mean > 0])[::-1][:4]
        )
        assert all(value == pytest.approx(mean[int(w[1:])]) for w, value in best)


def test_a_class_without_rows_has_no_top_features():
    X, y = load_iris(return_X_y=True)
    top = top_features(MeMdClassifier().fit(X, y), X[:50])
    assert top[0] and not top[1] and not top[2]


def test_contributions_are_of_the_features_of_the_fit():
    X, y = load_iris(return_X_y=True, as_frame=True)
    for data, fewer, message in (
        (X, X.iloc[:, :3], "missing:\n- petal width"),
        (X.to_numpy(), X.to_numpy()[:, :3], "X has 3 features, but .* expecting 4"),
    ):
        model = MeMdClassifier().fit(data, y)
        with pytest.raises(ValueError, match=message):
            contributions(model, fewer)
        assert model.n_features_in_ == 4
        assert contributions(model, data.astype(int)).values[0].dtype == np.float64


class Weighed(ClassifierMixin, BaseEstimator):
    """Scores that are linear, but for an error in the last row."""

    def __init__(self, coef, intercept, error=0.0):
        self.coef, self.intercept, self.error = coef, intercept, error

    def fit(self, X, y):
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        self.coef_, self.intercept_ = np.array(self.coef), self.intercept
        return self

    def decision_function(self, X):
        score = X @ self.coef_.T + self.intercept_
        score[-1, 0] += self.error
        if len(self.classes_) > 2:
            return score
        return score[:, 0]


@pytest.mark.parametrize(
    ("coef", "intercept", "n_classes"),
    [
        ([[3, -1, 0, 2]], -4, 2),
        ([[3, -1, 0, 2], [0, 5, 1, -1], [1, 1, 1, 1]], np.array([1, 2, -7]), 3),
        ([[1e4, -1e4, 0.3, 0.0]], np.array([-0.25]), 2),
        ([[1.0, 0.0, 0.0, 0.5]], -1e12, 2),
    ],
)
def test_linear_scores_are_explained_within_rounding(coef, intercept, n_classes):
    rng = np.random.default_rng([61, 2])
    X, y = rng.integers(1, 9, size=(30, 4)).astype(float), np.arange(30) % n_classes
    X[:, 1] = X[:, 0]
    found = contributions(Weighed(coef, intercept).fit(X, y), X)
    C = np.array(coef, dtype=float)
    B = np.broadcast_to(np.asarray(intercept, dtype=float), len(C))
    if n_classes == 3:
        C, B = C - C.mean(axis=0), B - B.mean()
    for v, own in zip(found.values, C, strict=True):
        np.testing.assert_allclose(v, X * own, rtol=1e-12)
    np.testing.assert_allclose(found.base, np.tile(B, (30, 1)), rtol=1e-12)
    size = 1e3 + np.abs(X * C[0]).sum(axis=1).max() + abs(B[0])
    with pytest.raises(ValueError, match="score of Weighed is no sum over features"):
        contributions(Weighed(coef, intercept, 1e-6 * size).fit(X, y), X)


def test_a_class_of_one_row_has_what_speaks_for_that_row():
    X, y = load_iris(return_X_y=True)
    model = MeMdClassifier(n_features=2).fit(X, y)
    rows = X[[0, 60, 140]]
    assert model.predict(rows).tolist() == [0, 1, 2]
    found, top = contributions(model, rows), top_features(model, rows, n=1)
    for k in range(3):
        values = found.towards(k)[k]
        assert top[k] == [(f"feature {values.argmax()}", values.max())]
        every = dict(top_features(model, rows)[k])
        assert len(every) == np.count_nonzero(values > 0) <= 2
    X = np.tile(X[:, 2:3], 60)
    copied = MeMdClassifier(n_features=None).fit(X, y)
    names = [name for name, _ in top_features(copied, X[:1], n=60)[0]]
    assert names == [f"feature {s}" for s in range(60)]
    for wrong in (0, 1.5):
        with pytest.raises((TypeError, ValueError), match="n="):
            top_features(model, rows, n=wrong)


def test_a_pipeline_of_one_step_is_that_step():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = make_pipeline(MeMdClassifier(n_features=3)).fit(X, y)
    found, alone = contributions(model, X), contributions(model[-1], X)
    assert found.feature_names.tolist() == X.columns.tolist()
    for v, w in zip(found.values, alone.values, strict=True):
        np.testing.assert_array_equal(v, w)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("family", ["poisson", "bernoulli", "multinomial"])
def test_entries_stored_in_parts_are_explained_as_their_sum(family, dtype):
    X, y = words(7, 3, 12)
    model = MeMdClassifier(family=family, n_features=9).fit(X, y)
    thin = sparse.csr_matrix(X.astype(dtype))
    parts = sparse.csr_matrix(
        (
            (np.repeat(thin.data, 2) * np.tile([2, -1], thin.nnz)).astype(dtype),
            np.repeat(thin.indices, 2),
            2 * thin.indptr,
        ),
        shape=X.shape,
    )
    found, expected = contributions(model, parts), contributions(model, X)
    assert parts.nnz == 2 * thin.nnz
    for v, w in zip(found.values, expected.values, strict=True):
        assert isinstance(v, sparse.csr_array) and v.dtype == np.float64
        np.testing.assert_allclose(v.toarray(), w, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.base, expected.base, rtol=1e-12)


def test_a_class_of_prior_zero_is_impossible_and_in_nobodys_way():
    X, y = load_iris(return_X_y=True)
    model = CorrelatedMeMdClassifier(priors=[0.1, 0.3, 0.6, 0.0])
    model.fit(np.vstack([X, X[::3] + 1.0]), np.append(y, np.full(50, 3)))
    found, score = contributions(model, X), model.decision_function(X)
    assert np.isneginf(found.total[:, 3]).all()
    np.testing.assert_allclose(
        found.total[:, :3],
        beyond_average(score[:, :3]),
        rtol=0,
        atol=1e-10 * terms_finite(found),
    )
