"""Families by column, missing cells, and encoded categories."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from memdlib import DivergenceRanker, JointMaxEntClassifier, MeMdClassifier
from memdlib.families import Categorical, Polynomial
from memdlib.generative import contributions

KINDS = ["normal", "bernoulli", "categorical", "normal", "bernoulli"]
COLOUR = {"colour": "categorical"}


def mixed(n=300, gaps=0.0, seed=0):
    """Columns of numbers of every kind; each cell is missing with some probability."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    table = pd.DataFrame({
        "size": 1e6 + rng.normal(size=n) + y,
        "member": rng.random(n) < 0.2 + 0.25 * y,
        "colour": (y + rng.integers(2, size=n)) % 3,
        "count": rng.poisson(2.0 + y),
        "true": rng.random(n) < 0.5,
    }).astype(float)  # fmt: skip
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
    ranker = DivergenceRanker(family=COLOUR, n_features=3).fit(X, y)
    assert ranker.families_.tolist() == KINDS
    expected = [
        divergence_by_hand(X[name], y, kind, prior)
        for name, kind in zip(X, KINDS, strict=True)
    ]
    assert_allclose(ranker.scores_, expected, rtol=1e-8)
    assert X.columns[ranker.order_[:3]].tolist() == ["colour", "size", "count"]


@pytest.mark.parametrize(
    "count", ["auto", "poisson", Polynomial(2, support=(0.0, 30.0))]
)
@pytest.mark.parametrize("divergence", ["js_gm", "jeffreys", "js"])
def test_a_fit_with_gaps_is_one_on_the_complete_rows_of_each_feature(divergence, count):
    X, y = mixed(gaps=0.2)
    prior = np.bincount(y) / len(y)
    families = COLOUR | {"count": count}
    model = MeMdClassifier(divergence, family=families, n_features=None, priors=prior)
    model.fit(X, y)
    score = np.log(prior)
    for s, name in enumerate(X):
        seen = X[name].notna().to_numpy()
        family = {name: families.get(name, "auto")}
        alone = clone(model).set_params(family=family).fit(X.loc[seen, [name]], y[seen])
        (expected,) = alone.scores_
        assert_allclose(model.scores_[s], expected, rtol=1e-12)
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
    found, expected = two.scores_, one.scores_
    assert_allclose(found, expected, rtol=1e-6, atol=1e-14)
    assert_array_equal(two.validation_curve_, one.validation_curve_)
    found, expected = two.predict_log_proba(thin), one.predict_log_proba(X)
    assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_batches_of_a_table_add_up():
    X, y = mixed(gaps=0.1)
    whole = MeMdClassifier(family=COLOUR, n_features=4).fit(X, y)
    batched = MeMdClassifier(family=COLOUR, n_features=4)
    # the last batches hold levels that the first does not
    for rows in np.array_split(np.argsort(X["colour"].fillna(0).to_numpy()), 4):
        batched.partial_fit(X.iloc[rows], y[rows], classes=[0, 1, 2])
    assert batched.families_.tolist() == KINDS
    found, expected = batched.predict_log_proba(X), whole.predict_log_proba(X)
    assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_a_batch_that_changes_what_a_column_is_is_refused():
    # zeros and ones in a batch, another number in the next
    model = MeMdClassifier(family="auto").partial_fit([[0], [1]], [0, 1], [0, 1])
    assert model.families_.tolist() == ["bernoulli"]
    with pytest.raises(
        ValueError, match=r"column 0 is normal .* family=\{0: 'normal'\}"
    ):
        model.partial_fit([[2], [3]], [0, 1])
    # the remedy, and the other order
    named = MeMdClassifier(family={0: "normal"}).partial_fit([[0], [1]], [0, 1], [0, 1])
    assert named.partial_fit([[2], [3]], [0, 1]).families_.tolist() == ["normal"]
    other = MeMdClassifier(family="auto").partial_fit([[2], [3]], [0, 1], [0, 1])
    assert other.partial_fit([[0], [1]], [0, 1]).families_.tolist() == ["normal"]
    assert_array_equal(other.predict_proba([[2.5]]), named.predict_proba([[2.5]]))
    with pytest.raises(ValueError, match="differs from that of the previous batches"):
        other.set_params(family="normal").partial_fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="column 0 is poisson in this batch"):
        other.set_params(family={0: "poisson"}).partial_fit([[0], [1]], [0, 1])


def test_an_unseen_level_says_nothing_and_neither_does_a_missing_one():
    X, y = mixed()
    model = MeMdClassifier(family=COLOUR, n_features=None).fit(X, y)
    unseen, missing = X.assign(colour=7), X.assign(colour=np.nan)
    expected = model.predict_proba(missing)
    assert_array_equal(model.predict_proba(unseen), expected)
    # no row of the fit has a level at all
    nothing = clone(model).fit(missing, y)
    assert nothing.scores_[2] == 0
    without = MeMdClassifier(family="auto", n_features=None)
    without.fit(X.drop(columns="colour"), y)
    expected = without.predict_proba(X.drop(columns="colour"))
    assert_allclose(nothing.predict_proba(X), expected, rtol=0, atol=1e-12)


def test_levels_of_strings_by_the_encoder_that_the_message_names():
    X, y = mixed()
    words = X.assign(colour=np.array(["red", "green", "blue"])[X["colour"].astype(int)])
    for given, name in ((words, "'colour'"), (words.to_numpy(), "2")):
        with pytest.raises(
            ValueError, match=f"column {name} .*OrdinalEncoder"
        ) as error:
            MeMdClassifier(family="auto").fit(given, y)
    assert "make_column_transformer" in str(error.value)
    encoder = make_column_transformer(
        (
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan),
            ["colour"],
        ),
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    for gaps in (0.0, 0.2):
        Z = words.mask(np.random.default_rng(1).random(words.shape) < gaps)
        Z = Z.infer_objects()
        model = make_pipeline(encoder, MeMdClassifier(family=COLOUR, n_features=None))
        found = model.fit(Z, y).predict_proba(Z)
        # other codes of the same levels
        codes = Z["colour"].map({"red": 0, "green": 1, "blue": 2}).astype(float)
        plain = MeMdClassifier(family=COLOUR, n_features=None)
        numbers = Z.assign(colour=codes).astype(float)
        expected = plain.fit(numbers, y).predict_proba(numbers)
        assert_allclose(found, expected, rtol=0, atol=1e-12)
    new = model.predict_proba(words.assign(colour="violet"))
    assert_array_equal(new, model.predict_proba(words.assign(colour=None)))


@pytest.mark.parametrize("code", [-1.0, 0.5, 1e9])
def test_codes_of_levels_are_small_whole_numbers(code):
    X, y = mixed()
    X.loc[3, "colour"] = code
    held = re.escape(f"{code:g}")
    with pytest.raises(ValueError, match=f"column 'colour' .* holds {held}, which"):
        MeMdClassifier(family=COLOUR).fit(X, y)


def test_a_family_for_each_column():
    X, y = mixed()
    named = DivergenceRanker(
        family=COLOUR | {"count": "poisson", "true": "categorical"}
    )
    kinds = [*KINDS[:3], "poisson", "categorical"]
    assert named.fit(X, y).families_.tolist() == kinds
    kinds[1] = "auto"
    listed = DivergenceRanker(family=kinds).fit(X, y)
    assert_allclose(listed.scores_, named.scores_, rtol=1e-12)
    # two levels are a Bernoulli variable
    auto = DivergenceRanker(family="auto").fit(X, y)
    found, expected = named.scores_[4], auto.scores_[4]
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
        ("normal", [["red", 1]] * 300, "column 0 of X holds strings"),
        ({"weight": "normal"}, ROWS, "must name columns of X"),
        (["normal"], ROWS, "or hold one family for each"),
        ({"count": "multinomial"}, ROWS, "all columns together"),
        ("multinomial", mixed(gaps=0.1)[0][["size"]], r"NaN.*SimpleImputer\(\)"),
        ({"size": "gamma"}, ROWS, "family='gamma' is not known"),
    ],
)
def test_what_a_table_cannot_have_is_named(family, X, message):
    with pytest.raises(ValueError, match=message):
        MeMdClassifier(family=family).fit(X, mixed()[1])


def test_dates_are_refused():
    for rows in (ROWS.assign(day=DAY), ROWS[["size"]].assign(day=DAY)):
        with pytest.raises(ValueError, match="column 'day' of X holds dates; convert"):
            MeMdClassifier(family="auto").fit(rows, mixed()[1])


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
    with pytest.warns(UserWarning, match='on the training rows .* family="auto"'):
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
    model = MeMdClassifier(family=COLOUR, n_features=None).fit(X, y)
    base, values = contributions(model, X, 1, baseline=np.full(5, np.nan))
    assert base == pytest.approx(np.log(model.class_prior_)[1] - np.log(
        model.class_prior_).mean(), abs=1e-12)  # fmt: skip
    assert_array_equal(values[X.isna().to_numpy()], 0.0)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_joint_densities_have_importances(covariance):
    X, y = load_iris(return_X_y=True)
    found = JointMaxEntClassifier(
        covariance, correlation_shrinkage=0.0, variance_shrinkage=0.0
    ).fit(X, y)
    expected = DivergenceRanker().fit(X, y).scores_
    assert_allclose(found.feature_importances_, expected, rtol=1e-10)
    pooled = JointMaxEntClassifier("pooled").fit(X, y).feature_importances_
    assert pooled.argsort()[2:].tolist() == [3, 2]
