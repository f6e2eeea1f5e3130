"""Families by column, missing cells, and what a user passes."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from memdlib import DivergenceRanker, JointMaxEntClassifier, MeMdClassifier
from memdlib.families import Categorical, Polynomial
from memdlib.generative import contributions

KINDS = ["normal", "bernoulli", "categorical", "categorical", "normal", "bernoulli"]


def mixed(n=300, gaps=0.0, seed=0):
    """Columns of every type; each cell is missing with some probability."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    table = pd.DataFrame({
        "size": 1e6 + rng.normal(size=n) + y,
        "member": np.where(rng.random(n) < 0.2 + 0.25 * y, 5.0, 2.0),
        "colour": pd.Categorical(np.array([*"rgb"])[(y + rng.integers(2, size=n)) % 3]),
        "answer": np.where(rng.random(n) < 0.3 + 0.2 * (y == 1), "yes", "no"),
        "count": pd.array(rng.poisson(2.0 + y), dtype="Int64"),
        "true": pd.array(rng.random(n) < 0.5, dtype="boolean"),
    })  # fmt: skip
    return table.mask(rng.random(table.shape) < gaps), y


def divergence_by_hand(column, y, kind, prior):
    """Pairs of J, weighted by the priors, from pandas groupby and scipy."""
    seen = column.notna().to_numpy()
    groups = column[seen].groupby(y[seen])
    if kind == "normal":
        m, v = (a.to_numpy(float) for a in (groups.mean(), groups.var(ddof=0)))

        def kl(i, j):
            return (np.log(v[j] / v[i]) + (v[i] + (m[i] - m[j]) ** 2) / v[j] - 1) / 2
    else:
        count = pd.crosstab(y[seen], column[seen].astype(object)).to_numpy(float)
        share = count.sum(axis=0) / count.sum()
        p = (count + share) / (count.sum(axis=1) + 1)[:, None]

        def kl(i, j):
            return stats.entropy(p[i], p[j])

    pairs = ((i, j) for i in range(3) for j in range(i))
    return sum(prior[i] * prior[j] * (kl(i, j) + kl(j, i)) for i, j in pairs)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_one_divergence_a_column_is_that_of_pandas(gaps):
    X, y = mixed(gaps=gaps)
    prior = np.bincount(y) / len(y)
    ranker = DivergenceRanker(family="auto", n_features=3).fit(X, y)
    assert ranker.families_.tolist() == KINDS
    expected = [
        divergence_by_hand(X[name], y, kind, prior)
        for name, kind in zip(X, KINDS, strict=True)
    ]
    assert_allclose(ranker.feature_divergences_, expected, rtol=1e-8)
    assert X.columns[ranker.order_[:3]].tolist() == ["colour", "size", "count"]


@pytest.mark.parametrize("count", ["auto", "poisson", Polynomial(2, (0.0, 30.0))])
@pytest.mark.parametrize("divergence", ["js_gm", "jeffreys", "js"])
def test_a_fit_with_gaps_is_one_on_the_complete_rows_of_each_feature(divergence, count):
    X, y = mixed(gaps=0.2)
    prior = np.bincount(y) / len(y)
    model = MeMdClassifier(divergence, {"count": count}, n_features=None, priors=prior)
    model.fit(X, y)
    score = np.log(prior)
    for s, name in enumerate(X):
        seen = X[name].notna().to_numpy()
        family = count if name == "count" else "auto"
        alone = clone(model).set_params(family=family).fit(X.loc[seen, [name]], y[seen])
        (expected,) = alone.feature_divergences_
        assert_allclose(model.feature_divergences_[s], expected, rtol=1e-12)
        # the score of a row is the sum over the cells that it has
        log_p = alone.predict_log_proba(X[[name]]) - np.log(prior)
        score = score + np.where(seen[:, None], log_p, 0.0)
    score -= np.logaddexp.reduce(score, axis=1)[:, None]
    assert_allclose(model.predict_log_proba(X), score, rtol=0, atol=1e-11)


@pytest.mark.parametrize("family", ["normal", "poisson", "bernoulli", "auto"])
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_gaps_of_sparse_and_dense_data_are_alike(family, offset):
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=200)
    X = rng.poisson(1.0 + y[:, None] * [0, 1, 2], size=(200, 3)) * 1.0
    X[:, 0] += offset
    X[rng.random(X.shape) < 0.3] = np.nan
    thin = sparse.csr_array(X)
    one, two = (
        MeMdClassifier(family=family, random_state=0).fit(Z, y) for Z in (X, thin)
    )
    found, expected = two.feature_divergences_, one.feature_divergences_
    assert_allclose(found, expected, rtol=1e-6, atol=1e-14)
    assert_array_equal(two.validation_curve_, one.validation_curve_)
    found, expected = two.predict_log_proba(thin), one.predict_log_proba(X)
    assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_batches_of_a_table_add_up():
    X, y = mixed(gaps=0.1)
    whole = MeMdClassifier(family="auto", n_features=4).fit(X, y)
    batched = MeMdClassifier(family="auto", n_features=4)
    for rows in np.array_split(np.argsort(X["answer"].fillna("").to_numpy()), 4):
        batched.partial_fit(X.iloc[rows], y[rows], classes=[0, 1, 2])
    assert batched.families_.tolist() == KINDS
    found, expected = batched.predict_log_proba(X), whole.predict_log_proba(X)
    assert_allclose(found, expected, rtol=0, atol=1e-9)
    # two values in a batch, a third in the next
    numbers = MeMdClassifier(family="auto").partial_fit([[0], [1]], [0, 1], [0, 1])
    assert numbers.families_.tolist() == ["bernoulli"]
    numbers.partial_fit([[2], [3]], [0, 1])
    assert numbers.families_.tolist() == ["normal"]
    numbers.set_params(family={0: "poisson"})
    with pytest.raises(ValueError, match="other families"):
        batched._fitted.moments.merge(numbers._fitted.moments)


def test_an_unseen_level_says_nothing_and_neither_does_a_missing_one():
    X, y = mixed()
    model = MeMdClassifier(family="auto", n_features=None).fit(X, y)
    unseen = X.astype({"colour": object}).assign(colour="violet", member=3.0)
    missing = unseen.assign(colour=None, member=np.nan)
    assert_array_equal(model.predict_proba(unseen), model.predict_proba(missing))


def test_a_family_for_each_column():
    X, y = mixed()
    named = DivergenceRanker(family={"count": "poisson", "true": "categorical"})
    kinds = [*KINDS[:4], "poisson", "categorical"]
    assert named.fit(X, y).families_.tolist() == kinds
    kinds[1] = "auto"
    listed = DivergenceRanker(family=kinds).fit(X, y)
    assert_allclose(listed.feature_divergences_, named.feature_divergences_, rtol=1e-12)
    # two levels are a Bernoulli variable
    auto = DivergenceRanker(family="auto").fit(X, y)
    found, expected = named.feature_divergences_[5], auto.feature_divergences_[5]
    assert_allclose(found, expected, rtol=1e-12)


def test_a_category_is_a_maximum_entropy_density():
    p = np.random.default_rng(0).dirichlet(np.ones(4), size=(3, 2))
    family = Categorical()
    assert_allclose(family.mean(family.natural(p)), p, rtol=1e-14)
    assert_allclose(family.entropy(p), stats.entropy(p, axis=-1))
    assert_allclose(family.kl(p[0], p[1]), stats.entropy(p[0], p[1], axis=1))
    w = np.array([0.5, 0.3, 0.2])
    mixture = np.tensordot(w, p, 1)
    expected = w @ [stats.entropy(own, mixture, axis=1) for own in p]
    assert_allclose(family.jensen_shannon(p, w)[0], expected, rtol=1e-12)
    found = np.exp(family.log_density([0, 3], family.natural(p[0])))
    assert_allclose(found, p[0, [0, 1], [0, 3]])


ROWS, DAY = mixed()[0], pd.Timestamp("2020-01-01")


@pytest.mark.parametrize(
    ("family", "X", "message"),
    [
        ("normal", ROWS, "'colour' holds categories, .*family=\"auto\" does"),
        ("normal", [["red", 1]] * 300, "column 0 holds categories"),
        ("normal", np.full((300, 1), "red"), 'family="auto" does'),
        ({"weight": "normal"}, ROWS, "must name columns of X"),
        (["normal"], ROWS, "or hold one for each"),
        ({"count": "multinomial"}, ROWS, "all columns together"),
        ("multinomial", mixed(gaps=0.1)[0][["size"]], r"NaN.*SimpleImputer\(\)"),
        ("auto", ROWS.assign(day=DAY), "'day' holds dates"),
        ("normal", ROWS[["size"]].assign(day=DAY), "dates"),
    ],
)
def test_what_a_table_cannot_have_is_named(family, X, message):
    with pytest.raises(ValueError, match=message):
        MeMdClassifier(family=family).fit(X, mixed()[1])


def test_joint_densities_refuse_gaps_and_the_advice_works():
    X, y = load_iris(return_X_y=True)
    X[::7, 0] = np.nan
    with pytest.raises(ValueError, match=r"^Input X contains NaN, .*SimpleImputer\(\)"):
        JointMaxEntClassifier().fit(X, y)
    assert make_pipeline(SimpleImputer(), JointMaxEntClassifier()).fit(X, y).score(X, y)


def two_valued():
    """A number, and columns of two values that are rare in one class."""
    rng = np.random.default_rng(28)
    y = (rng.random(3000) < 0.25).astype(int)
    x = rng.normal(size=3000) + 1.2 * y
    own = rng.random(3000) < np.where(y == 1, 0.01, 0.2)
    rare = rng.random((40, 3000)) < np.where(y == 1, 0.001, 0.004)
    return np.c_[x, own, rare.T].astype(float), y


def test_two_values_under_a_normal_law_are_warned_of_and_the_advice_works():
    X, y = two_valued()
    with pytest.warns(UserWarning, match='on the rows of the fit .* family="auto"'):
        MeMdClassifier(random_state=0).fit(X, y)
    model = MeMdClassifier(family="auto", random_state=0).fit(X, y)
    assert model.score(X, y) > model.validation_curve_.max() - 0.02 > 0.78


def test_integers_of_pandas_stay_integers():
    y = pd.array([3, 3, 4, 4], dtype="Int64")
    model = MeMdClassifier().fit([[0.0], [1.0], [5.0], [6.0]], pd.Series(y))
    assert model.predict([[0.0]]).tolist() == [3]
    assert model.classes_.dtype == np.int64


def test_contributions_take_frames():
    X, y = mixed(gaps=0.1)
    model = MeMdClassifier(family="auto", n_features=None).fit(X, y)
    base, values = contributions(model, X, 1)
    assert base == pytest.approx(np.log(model.class_prior_)[1] - np.log(
        model.class_prior_).mean(), abs=1e-12)  # fmt: skip
    assert_array_equal(values[X.isna().to_numpy()], 0.0)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_joint_densities_have_importances(covariance):
    X, y = load_iris(return_X_y=True)
    found = JointMaxEntClassifier(covariance, shrinkage=0.0).fit(X, y)
    expected = DivergenceRanker().fit(X, y).feature_divergences_
    assert_allclose(found.feature_importances_, expected, rtol=1e-10)
    pooled = JointMaxEntClassifier("pooled").fit(X, y).feature_importances_
    assert pooled.argsort()[2:].tolist() == [3, 2]
