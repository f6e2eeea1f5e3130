import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline

from memdlib import MeMdClassifier, make_memd
from memdlib.datasets import simulate_text_counts
from memdlib.generative import MixtureClassifier, normal_scores

KINDS = ["expression", "table", "text"]


def text(seed=3, n_classes=3):
    found = simulate_text_counts(
        n_documents=300, n_words=400, n_classes=n_classes, seed=seed
    )
    return sparse.csr_array(found.X), found.y


def messages():
    rng = np.random.default_rng(4)
    y = np.array(["apples", "pears"])[np.arange(60) % 2]
    common = rng.choice(["tree", "fruit", "sun", "rain", "soil"], size=(60, 6))
    own = np.where(y == "apples", "Apple", "pear")
    return [" ".join([*row, word]) for row, word in zip(common, own, strict=True)], y


@given(st.integers(0, 1000), st.integers(1, 20))
def test_normal_scores_are_quantiles_of_ranks(seed, d):
    X = np.random.default_rng(seed).integers(0, 9, size=(3, d)).astype(float)
    found = normal_scores(X)
    for x, z in zip(X, found, strict=True):
        rank = [(x < v).sum() + ((x == v).sum() + 1) / 2 for v in x]
        expected = stats.norm.ppf((np.array(rank) - 0.5) / d)
        np.testing.assert_allclose(z, expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(normal_scores(np.exp(X)), found)
    with pytest.raises(ValueError, match="NaN"):
        normal_scores(X * np.nan)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pipeline_of_its_own_with_all_overrides(kind):
    model = make_memd(kind, cv=3, random_state=7)
    assert isinstance(model, Pipeline)
    assert (model["memd"].cv, model["memd"].random_state) == (3, 7)
    for _, candidate in model["memd"].estimators:
        last = candidate[0] if isinstance(candidate, list) else candidate
        last = last[-1] if isinstance(last, Pipeline) else last
        last.set_params(**{sorted(last.get_params())[-1]: 0.77})
    other = make_memd(kind)["memd"]
    assert (other.cv, other.random_state) == (5, None)
    assert "0.77" in model["memd"].__repr__(N_CHAR_MAX=10**6)
    assert "0.77" not in other.__repr__(N_CHAR_MAX=10**6)
    with pytest.raises(ValueError, match="Invalid parameter 'folds'"):
        make_memd(kind, folds=3)


def test_there_are_three_kinds():
    with pytest.raises(ValueError, match=r"kind='images' must be one of \['expression"):
        make_memd("images")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_known_of_two_cells_is_what_their_rows_say(kind):
    y = np.repeat([0, 1, 0, 1], [320, 80, 20, 80])
    X = np.repeat([[0.0], [1.0]], [400, 100], axis=0)
    cells = np.array([[0.0], [1.0]])
    if kind == "text":
        X, cells = np.where(X[:, 0], "no", "yes"), ["yes", "no"]
    p = make_memd(kind, random_state=0).fit(X, y).predict_proba(cells)[:, 1]
    np.testing.assert_allclose(p, [0.2, 0.8], atol=0.025)


def test_ones_and_zeros_that_are_the_classes():
    y = np.repeat([0, 1], [70, 30])
    X = y[:, None].astype(float)
    assert make_memd("expression", random_state=0).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("far", [100.0, 1e8])
def test_a_far_class_does_not_blur_the_others(far):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 200)
    X = rng.normal(np.array([0, 4, far])[y])[:, None]
    # log odds of the normal truth: 8 nats between the first two at zero
    model = make_memd("table", random_state=0).fit(X, y)
    assert model.predict_proba([[0.0]])[0, 0] > 0.98


def test_iris_is_as_good_as_linear_discriminant_analysis():
    X, y = load_iris(return_X_y=True)
    ours, theirs = [], []
    for r in range(3):
        train = np.random.default_rng([46, r]).permutation(150) < 105
        own = np.arange((~train).sum()), y[~train]
        for found, model in (
            (ours, make_memd("table", random_state=0)),
            (theirs, LinearDiscriminantAnalysis()),
        ):
            p = model.fit(X[train], y[train]).predict_proba(X[~train])
            found.append(-np.log(p[own]).mean())
    assert np.mean(ours) < np.mean(theirs) + 0.02


def test_scores_do_not_care_for_increasing_functions_of_a_sample():
    rng = np.random.default_rng(5)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 200))
    X[:, :9] += 1.5 * y[:, None]
    wild = np.exp(X * rng.uniform(0.5, 3, size=(30, 1)))
    candidates = make_memd("expression")["memd"].estimators
    kept = [pair for pair in candidates if pair[0].endswith("normal scores")]
    assert len(kept) == 4
    model = MixtureClassifier(kept, random_state=0)
    one, two = model.fit(X, y).predict_proba(X), model.fit(wild, y).predict_proba(wild)
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("differ_in", ["means", "variances"])
def test_genes_select_where_few_features_carry_everything(differ_in):
    rng = np.random.default_rng(9)
    y = np.arange(60) % 2
    X, second = rng.normal(size=(120, 1500)), np.tile(y == 1, 2)
    if differ_in == "means":
        X[second, :6] += 2.0
    else:
        X[second, :6] *= 5.0
    model = make_memd("expression", random_state=0).fit(X[:60], y)["memd"]
    table = model.cv_results_
    uses_all = [name.startswith("correlated") for name in table["name"]]
    assert table["weight"][uses_all].sum() < 0.2
    assert model.score(X[60:], y) > 0.95


def test_tables_weight_class_covariances_by_the_data():
    rng = np.random.default_rng(8)
    y = np.arange(400) % 2
    apart = rng.normal(size=(400, 3)) + 3.0 * y[:, None]
    # the classes differ in the sign of a correlation, and in nothing else
    tilted = rng.normal(size=(400, 2))
    tilted[:, 1] = 0.5 * tilted[:, 1] + np.where(y, 1, -1) * tilted[:, 0]
    linear = make_memd("table", random_state=0).fit(apart, y)["memd"]
    quadratic = make_memd("table", random_state=0).fit(tilted, y)["memd"]
    straight = {"correlated", "linear", "correlated, splines"}
    assert not straight & quadratic.named_estimators_.keys()
    assert quadratic.score(tilted, y) > 0.8
    assert linear.score(apart, y) > 0.99


def test_tables_bend_where_one_feature_does():
    """Classes of equal mean and variance, inside and outside of a gap."""
    rng = np.random.default_rng(12)
    y = np.arange(300) % 2
    near = rng.uniform(0.4, 0.6, 300)
    X = rng.choice([-1.0, 1.0], 300) * np.where(y, near, 1.0 - near)
    X = np.column_stack([X, rng.normal(size=(300, 2))])
    y = (np.abs(X[:, 0]) < 0.5).astype(int)
    model = make_memd("table", random_state=0).fit(X[::2], y[::2])
    assert any("splines" in name for name in model["memd"].named_estimators_)
    assert model.score(X[1::2], y[1::2]) > 0.85


@pytest.mark.parametrize("constant", [0.0, 1e8])
def test_constant_and_two_valued_columns_and_a_class_of_one_row(constant):
    rng = np.random.default_rng(2)
    y = np.array([0] * 30 + [1] * 30 + [2])
    X = np.column_stack([rng.normal(size=61) + y, y > 0, np.full(61, constant)])
    model = make_memd("table", random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9


def test_counts_in_and_posteriors_out():
    X, y = text()
    model = make_memd("text", random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.8
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert cross_val_score(clone(model), X.toarray(), y, cv=2).min() > 0.8
    weighted = TfidfTransformer().fit_transform(X)
    assert make_memd("text", random_state=0).fit(weighted, y).score(weighted, y) > 0.9


def test_a_file_sent_as_text_moves_little():
    """Where the family of counts is thrown off by one attachment, this is not."""
    X, y = text(n_classes=2)
    train, test = slice(0, 150), slice(150, 300)
    rng = np.random.default_rng(0)
    spoilt = X[train].tolil()
    # one message of class 0 with an attachment of the words that tell class 1
    spoilt[int(np.flatnonzero(y[train] == 0)[0])] = 300 * rng.poisson(1.0, X.shape[1])
    spoilt = sparse.csr_array(spoilt)

    def changed(model):
        clean = clone(model).fit(X[train], y[train]).predict(X[test])
        return np.mean(clone(model).fit(spoilt, y[train]).predict(X[test]) != clean)

    ours = changed(make_memd("text", random_state=0))
    assert ours <= 0.05
    assert ours < changed(MeMdClassifier(family="multinomial", n_features=None))


def test_texts_in_any_container_and_counts_of_the_same_words():
    texts, y = messages()
    counter = CountVectorizer().fit(texts)
    counts = counter.transform(texts)
    expected = make_memd("text", random_state=0).fit(counts, y).predict_proba(counts)
    for these in (texts, tuple(texts), np.array(texts), pd.Series(texts)):
        model = make_memd("text", random_state=0).fit(these, y)
        np.testing.assert_array_equal(model.predict_proba(these), expected)
        np.testing.assert_array_equal(model.predict_proba(counts), expected)
    words = model["words"].get_feature_names_out()
    assert words.tolist() == counter.get_feature_names_out().tolist()
    # other words count for nothing
    new = model.predict_proba(["apple zebra", "apple"])
    np.testing.assert_array_equal(new[0], new[1])
    pairs = make_memd("text", random_state=0).set_params(words__ngram_range=(1, 2))
    assert "fruit apple" in pairs.fit(texts, y)["words"].vocabulary_


@pytest.mark.parametrize("wrong", [None, np.nan, 3, ["a"]])
@pytest.mark.parametrize("place", [0, 4])
def test_what_is_no_text_is_named(wrong, place):
    texts, y = messages()
    texts[place] = wrong
    with pytest.raises(
        ValueError, match=rf"X\[{place}\] = .* is no text|inhomogeneous"
    ):
        make_memd("text").fit(texts, y)
