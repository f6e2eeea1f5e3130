"""Documents without a known word, and the containers that texts come in."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from memdlib import MeMdClassifier, make_memd
from memdlib.generative import (
    DivergenceWeighter,
    MultinomialMeMdClassifier,
    fit_calibration,
)
from tests.generative.conftest import word_counts

MULTINOMIAL = {
    "make_memd": make_memd("text", random_state=0),
    "balanced": make_memd("text", random_state=0, class_weight="balanced"),
    "documents": MultinomialMeMdClassifier(n_features=None),
    "documents, 20 words": MultinomialMeMdClassifier(n_features=20),
    "words": MeMdClassifier(family="multinomial", n_features=None),
    "words, 20": MeMdClassifier(family="multinomial", n_features=20),
    "weighted": make_pipeline(
        DivergenceWeighter(), MultinomialMeMdClassifier(n_features=None)
    ),
}
FORMS = {"dense": sparse.csr_array.toarray, "sparse": sparse.csr_array}


def documents(n_classes, seed):
    """Counts of documents with shares of the classes as different as 1 : 2 : 3 : 4."""
    X, y = word_counts(1200, 800, seed, n_classes=n_classes, lift=20.0)
    rank = np.arange(len(y)) // n_classes
    kept = rank * n_classes < len(y) * (1 + y) / n_classes
    return X[kept], y[kept]


def as_texts(X):
    """Texts with the given counts of words."""
    words = np.array([f"word{j}" for j in range(X.shape[1])])
    return [" ".join(np.repeat(words, row)) for row in X.toarray().astype(int)]


def assert_class_shares(posteriors, y):
    """One row of the calibration in n comes from elsewhere, which moves them little."""
    shares = np.bincount(y) / len(y)
    expected = np.tile(shares, (len(posteriors), 1))
    assert_allclose(posteriors, expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize("name", MULTINOMIAL)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("n_classes", "seed"), [(2, 0), (4, 1)])
def test_a_document_without_words_has_the_class_shares(name, form, n_classes, seed):
    """Of a multinomial model, which is conditional on the length of the document.

    The same holds if it has words that occur in no training document, but not if the
    number of all words outside of a selection is itself a count of the model.
    """
    X, y = documents(n_classes, seed)
    X = sparse.csr_array(sparse.hstack([X, sparse.csr_array((len(y), 2))]))
    new = np.zeros((2, X.shape[1]))
    new[1, -2:] = [1, 3]
    new = FORMS[form](sparse.csr_array(new))
    model = clone(MULTINOMIAL[name]).fit(FORMS[form](X), y)
    shares = np.arange(n_classes) if name == "balanced" else y
    if name == "documents, 20 words":
        new = new[:1]
    assert_class_shares(model.predict_proba(new), shares)
    assert model.score(X, y) > np.bincount(y).max() / len(y) + 0.05


@pytest.mark.parametrize("name", MULTINOMIAL)
def test_a_text_without_known_words_has_the_class_shares(name):
    X, y = documents(3, 2)
    model = clone(MULTINOMIAL[name])
    if "make_memd" not in name:
        model = make_pipeline(CountVectorizer(), model)
    model.fit(as_texts(X), y)
    new = ["", "zebra", "quagga zebra zebra", "?! ..."]
    shares = np.arange(3) if name == "balanced" else y
    assert_class_shares(model.predict_proba(new), shares)


@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
def test_missing_words_are_evidence_where_each_word_is_drawn_for_itself(family):
    """So the class shares are not right for an empty document; Bayes' rule is."""
    X, y = documents(2, 4)
    X = X[:, :50]
    model = MeMdClassifier(family=family, n_features=None).fit(X, y)
    log_joint = np.log(np.bincount(y) / len(y))
    for k in (0, 1):
        mean = model.mean_params_[k, :, 0]
        law = {"bernoulli": stats.bernoulli, "poisson": stats.poisson}[family](mean)
        log_joint[k] += law.logpmf(0).sum()
    expected = np.exp(log_joint - np.logaddexp.reduce(log_joint))
    found = model.predict_proba(np.zeros((1, 50)))[0]
    assert_allclose(found, expected, rtol=1e-9)
    assert abs(found[0] - y.tolist().count(0) / len(y)) > 0.02


def test_calibration_of_evidence_adds_the_class_shares():
    """The multiplier is that of a grid search in log odds; zero scores say nothing."""
    rng = np.random.default_rng(5)
    codes = (np.arange(300) % 5 == 0).astype(int)
    odds = 3.0 * codes - 1.5 + rng.normal(size=300)
    score = np.column_stack([np.zeros(300), odds])
    log_prior = np.log([0.8, 0.2])
    found = fit_calibration([score], codes, expected_log_odds=None, log_prior=log_prior)
    share = 0.5 / 301

    def objective(log_beta):
        p = 1 / (1 + np.exp(-np.exp(log_beta) * odds - np.log(0.25)))
        p = (1 - share) * np.where(codes, p, 1 - p) + share / 2
        return -np.log(p).sum() + log_beta**2 / 2

    best = minimize_scalar(objective, bracket=(0.0, 1.0), tol=1e-10).x
    assert_allclose(found.multipliers, np.exp(best), rtol=1e-5)
    posteriors = np.exp(found.log_posterior([np.zeros((1, 2))]))
    expected = (1 - share) * np.array([0.8, 0.2]) + share / 2
    assert_allclose(posteriors, [expected], rtol=1e-12)


TEXTS = ["good film", "bad one", "", "good"] * 15
LABELS = np.array(["yes", "no", "no", "yes"] * 15)


@pytest.mark.parametrize(
    "column",
    [
        tuple,
        np.array,
        pl.Series,
        pd.Series,
        pa.array,
        lambda texts: pa.chunked_array([texts[:7], texts[7:]]),
        lambda texts: pl.DataFrame({"text": texts})["text"],
        lambda texts: pa.table({"text": texts})["text"],
    ],
)
def test_texts_are_taken_from_columns_of_any_library(column):
    expected = make_memd("text", random_state=0).fit(TEXTS, LABELS)
    model = make_memd("text", random_state=0).fit(column(TEXTS), LABELS)
    assert_array_equal(
        model.predict_proba(column(TEXTS)), expected.predict_proba(TEXTS)
    )


@pytest.mark.parametrize(
    "table",
    [
        lambda texts: pl.DataFrame({"text": texts}),
        lambda texts: pa.table({"text": texts}),
        lambda texts: pd.DataFrame({"text": [None, *texts[1:]]}),
        lambda texts: pd.DataFrame({"n": range(len(texts)), "text": texts}),
        lambda texts: pl.DataFrame({"n": range(len(texts)), "text": texts}),
        lambda texts: pd.DataFrame({"text": texts}, np.arange(len(texts)) + 0.5),
    ],
)
def test_a_table_with_a_column_of_texts_is_told_to_pass_the_column(table):
    frame = table(TEXTS)
    with pytest.raises(ValueError, match=r'pass one column of texts, like df\["text"'):
        make_memd("text").fit(frame, LABELS)
    texts = frame["text"]
    texts = texts.fillna("") if hasattr(texts, "fillna") else texts
    model = make_memd("text", random_state=0).fit(texts, LABELS)
    assert model.score(texts, LABELS) > 0.7


@pytest.mark.parametrize("empty", [[], np.array([], str), pd.Series([], dtype=str)])
def test_no_texts_are_no_samples(empty):
    model = make_memd("text", random_state=0).fit(TEXTS, LABELS)
    for call in (lambda: clone(model).fit(empty, []), lambda: model.predict(empty)):
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            call()


def test_one_document_of_counts_is_a_row():
    X, y = documents(2, 6)
    X = X.toarray()
    model = make_memd("text", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"got 1D array instead.*X\.reshape\(1, -1\)"):
        model.predict(X[0])
    assert_array_equal(model.predict(X[0].reshape(1, -1)), model.predict(X[:1]))
