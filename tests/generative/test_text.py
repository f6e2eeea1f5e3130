import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline

from memdlib import MeMdClassifier
from memdlib.datasets import simulate_text_counts
from memdlib.generative.text import text_pipeline


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
    model = text_pipeline(penalties=2.0, powers=(0.5,), folds=3, random_state=1)
    last = model[-1]
    assert (last.penalties, last.powers, last.folds) == (2.0, (0.5,), 3)
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


def test_rows_that_are_weighted_already():
    X, y = text()
    weighted = TfidfTransformer().fit_transform(X)
    model = text_pipeline(random_state=0).fit(weighted, y)
    assert model.score(weighted, y) > 0.9
