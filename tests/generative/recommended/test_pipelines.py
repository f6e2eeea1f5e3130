import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from memdlib import MeMdClassifier, make_memd
from memdlib.datasets import simulate_text_counts
from memdlib.generative import (
    CorrelatedMeMdClassifier,
    DivergenceWeighter,
    RegularisedMeMdClassifier,
    RidgeDiscriminantClassifier,
    top_features,
)
from memdlib.generative.recommended.features import KernelFeatures, LinearSplines
from memdlib.generative.recommended.mixed import MixedMeMdClassifier
from memdlib.generative.recommended.pipelines import text_pipeline
from memdlib.generative.recommended.samples import normal_scores
from memdlib.generative.recommended.words import WordCounter


@pytest.mark.parametrize("kind", ["expression", "table"])
def test_a_pipeline_that_fits_and_predicts(kind):
    X, y = load_iris(return_X_y=True)
    model = make_memd(kind, random_state=0)
    assert isinstance(model, Pipeline)
    assert isinstance(model[-1], MixedMeMdClassifier)
    model.fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9
    np.testing.assert_array_equal(clone(model).fit(X, y).classes_, [0, 1, 2])


def test_scores_do_not_care_for_increasing_functions_of_a_sample():
    rng = np.random.default_rng(5)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 200))
    X[:, :9] += 1.5 * y[:, None]
    wild = np.exp(X * rng.uniform(0.5, 3, size=(30, 1)))
    scores = make_memd("expression")[-1].estimators[:4]
    assert all(name.endswith("normal scores") for name, _ in scores)
    for _, model in scores:
        model.set_params(classifier__random_state=0)
        one, two = clone(model).fit(X, y), clone(model).fit(wild, y)
        np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(wild))


def test_overrides_reach_the_classifier():
    model = make_memd("expression", validation=3, random_state=7)
    params = model[-1].get_params()
    assert (params["validation"], params["random_state"]) == (3, 7)
    # one call does not change the next
    assert make_memd("expression")[-1].validation == 5


@pytest.mark.parametrize("kind", ["expression", "table"])
def test_every_pipeline_has_candidates_of_its_own(kind):
    one, two = make_memd(kind)[-1], make_memd(kind)[-1]
    for _, model in one.estimators:
        last = model[-1] if isinstance(model, Pipeline) else model
        last.set_params(**{sorted(last.get_params())[-1]: 0.77})
    assert "0.77" in whole(one)
    later = make_memd(kind)[-1]
    for other in (two, later):
        assert "0.77" not in whole(other)


def whole(model):
    """Its settings, in words that no line is too short for."""
    return model.__repr__(N_CHAR_MAX=10**6)


def test_the_settings_are_those_that_the_book_reports():
    """One choice for all data sets of a kind, made before any of them was scored.

    Results in the book carry the names "table", "expression" and "text": with other
    settings they would be results of something else.
    """
    table, genes = (make_memd(kind)[-1] for kind in ("table", "expression"))

    def after(step, model):
        return Pipeline([("features", step), ("classifier", model)])

    pooled = CorrelatedMeMdClassifier(variance_shrinkage="auto")
    shrunken = MeMdClassifier(shrinkage="auto", validation=3)
    few, more = (
        CorrelatedMeMdClassifier(
            n_features=share, shrinkage=1.0, variance_shrinkage="auto"
        )
        for share in (0.01, 0.1)
    )
    scores = FunctionTransformer(normal_scores)
    candidates = [
        ("correlated, normal scores", after(scores, pooled)),
        ("shrunken, normal scores", after(scores, shrunken)),
        ("1%, normal scores", after(scores, few)),
        ("10%, normal scores", after(scores, more)),
        ("correlated", pooled),
        ("selected", MeMdClassifier(validation=3)),
    ]
    assert whole(genes) == whole(MixedMeMdClassifier(candidates))
    near, far, own = (
        RegularisedMeMdClassifier(0.6, 0.5, 0.3),
        RegularisedMeMdClassifier(0.2, 0.9, 0.3),
        RegularisedMeMdClassifier(0.2, "auto", 0.3),
    )
    plain, splines = CorrelatedMeMdClassifier(), LinearSplines(8, 240)
    candidates = [
        ("correlated", plain),
        ("linear", CorrelatedMeMdClassifier(shrinkage=1e-6)),
        ("regularised, 0.6, 0.5", near),
        ("regularised, 0.2, 0.9", far),
        ("regularised, 0.2, auto", own),
        ("correlated, splines", after(splines, plain)),
        ("regularised, 0.6, 0.5, splines", after(splines, near)),
        ("regularised, 0.2, 0.9, splines", after(splines, far)),
        ("kernel, 0.3", after(KernelFeatures(0.3, 200), plain)),
        ("kernel, 1.0", after(KernelFeatures(1.0, 200), plain)),
    ]
    assert whole(table) == whole(MixedMeMdClassifier(candidates, lead=None))
    counter, weights, text = (step for _, step in make_memd("text").steps)
    assert whole(counter) == whole(WordCounter())
    assert whole(weights) == whole(DivergenceWeighter(power=0.0))
    ridge = RidgeDiscriminantClassifier(powers=(0.0, 0.25, 0.5), family="multinomial")
    assert whole(text) == whole(ridge)


def test_text_is_made_by_its_own_module():
    ours, theirs = make_memd("text", powers=(0.1,)), text_pipeline(powers=(0.1,))
    assert [name for name, _ in ours.steps] == [name for name, _ in theirs.steps]
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("differ_in", ["means", "variances"])
def test_genes_select_where_few_features_carry_everything(differ_in):
    rng = np.random.default_rng(9)
    y = np.arange(60) % 2
    X, second = rng.normal(size=(120, 1500)), np.tile(y == 1, 2)
    if differ_in == "means":
        X[second, :6] += 2.0
    else:
        X[second, :6] *= 5.0
    model = make_memd("expression", random_state=0).fit(X[:60], y)[-1]
    table = model.cv_results_
    uses_all = [name.startswith("correlated") for name in table["name"]]
    assert table["weight"][uses_all].sum() < 0.2
    assert model.score(X[60:], y) >= 0.95


def test_tables_weight_class_covariances_by_the_data():
    rng = np.random.default_rng(8)
    y = np.arange(400) % 2
    apart = rng.normal(size=(400, 3)) + 3.0 * y[:, None]
    # the classes differ in the sign of a correlation, and in nothing else
    tilted = rng.normal(size=(400, 2))
    tilted[:, 1] = 0.5 * tilted[:, 1] + np.where(y, 1, -1) * tilted[:, 0]
    linear = make_memd("table", random_state=0).fit(apart, y)[-1]
    quadratic = make_memd("table", random_state=0).fit(tilted, y)[-1]
    straight = ["correlated", "linear", "correlated, splines"]
    assert not set(straight) & set(quadratic.names_)
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
    splines = [name for name in model[-1].names_ if "splines" in name]
    assert splines
    assert model.score(X[1::2], y[1::2]) > 0.85


def test_what_there_is_not():
    with pytest.raises(ValueError, match="kind='images' must be one of"):
        make_memd("images")
    with pytest.raises(ValueError, match="'folds' is no parameter for kind='table'"):
        make_memd("table", folds=3)


def text(seed=3, n_classes=3):
    found = simulate_text_counts(
        n_documents=300, n_words=400, n_classes=n_classes, seed=seed
    )
    return sparse.csr_array(found.X), found.y


def test_counts_in_and_posteriors_out():
    X, y = text()
    model = text_pipeline(random_state=0)
    assert isinstance(model, Pipeline)
    model.fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.8
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    scores = cross_val_score(clone(model), X, y, cv=3)
    assert scores.min() > 0.8


def test_parameters_reach_the_classifier():
    model = text_pipeline(penalties=2.0, powers=(0.5,), validation=3, random_state=1)
    last = model[-1]
    assert (last.penalties, last.powers, last.validation) == (2.0, (0.5,), 3)
    with pytest.raises(ValueError, match="'smoothing' is no parameter.*'penalties'"):
        text_pipeline(smoothing=2.0)


def test_tokens_never_seen_say_nothing():
    X, y = text()
    wide = sparse.csr_array(sparse.hstack([X, sparse.csr_array((300, 50))]))
    model = text_pipeline(powers=0.5, random_state=0).fit(wide, y)
    junk = sparse.hstack([X[:20], sparse.csr_array(np.full((20, 50), 9.0))])
    np.testing.assert_allclose(
        model.predict_log_proba(sparse.csr_array(junk)),
        model.predict_log_proba(wide[:20]),
        rtol=0,
        atol=1e-10,
    )


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

    ours = changed(text_pipeline(random_state=0))
    assert ours <= 0.05
    assert ours < changed(MeMdClassifier(family="multinomial", n_features=None))


def test_texts_in_and_words_out():
    texts, y = messages()
    for given in (texts, tuple(texts), np.array(texts), np.array(texts, dtype=object)):
        model = make_memd("text", random_state=0).fit(given, y)
        counter = CountVectorizer().fit(texts)
        counted = make_memd("text", random_state=0).fit(counter.transform(texts), y)
        np.testing.assert_array_equal(
            model.predict_proba(given), counted.predict_proba(counter.transform(texts))
        )
    words = counter.get_feature_names_out().tolist()
    assert model[:-1].get_feature_names_out().tolist() == words
    found = top_features(model, texts, 1)
    assert {found[k][0][0] for k in ("apples", "pears")} == {"apple", "pear"}
    # counts of the same words will do, and other words count for nothing
    rows = counter.transform(texts)
    np.testing.assert_array_equal(model.predict_proba(rows), model.predict_proba(texts))
    new = model.predict_proba(["apple zebra", "apple"])
    np.testing.assert_array_equal(new[0], new[1])


def messages():
    rng = np.random.default_rng(4)
    y = np.array(["apples", "pears"])[np.arange(60) % 2]
    common = rng.choice(["tree", "fruit", "sun", "rain", "soil"], size=(60, 6))
    own = np.where(y == "apples", "Apple", "pear")
    return [" ".join([*row, word]) for row, word in zip(common, own, strict=True)], y


def test_rows_that_are_weighted_already():
    X, y = text()
    weighted = TfidfTransformer().fit_transform(X)
    model = text_pipeline(random_state=0).fit(weighted, y)
    assert model.score(weighted, y) > 0.9


def test_what_is_refused_is_told_with_all_there_is():
    with pytest.raises(
        ValueError,
        match=r"^kind='tables' must be one of \['expression', 'table', 'text'",
    ):
        make_memd("tables")
    for kind in ("expression", "table"):
        known = list(MixedMeMdClassifier().get_params(deep=False))
        with pytest.raises(ValueError, match="is no parameter for kind=") as told:
            make_memd(kind, lead=1.0, fold=3, seed=4)
        message = f"'fold' is no parameter for kind={kind!r}; there are {known}"
        assert str(told.value) == message
    known = list(RidgeDiscriminantClassifier().get_params(deep=False))
    for make in (text_pipeline, lambda **options: make_memd("text", **options)):
        with pytest.raises(ValueError, match="is no parameter of the") as told:
            make(tol=0.1, lead=3.0)
        assert str(told.value) == (
            f"'lead' is no parameter of the classifier of texts; there are {known}"
        )


@pytest.mark.parametrize("kind", ["expression", "table", "text"])
def test_the_last_step_has_one_name_and_all_overrides(kind):
    model = make_memd(kind, validation=4, random_state=7)
    assert model.steps[-1][0] == "memd"
    assert (model[-1].validation, model[-1].random_state) == (4, 7)
    other = make_memd(kind)[-1]
    assert (other.validation, other.random_state) == (5, None)
    assert (
        other.get_params(deep=False).keys() == model[-1].get_params(deep=False).keys()
    )
