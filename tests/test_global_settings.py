"""Global settings of scikit-learn change no answer, and no estimator fails under them.

Its own checks under all of them: ``make test-nightly``.
"""

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    TunedThresholdClassifierCV,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler
from sklearn.utils import get_tags
from sklearn.utils._param_validation import StrOptions

from memdlib import DivergenceRanker, JointMaxEntClassifier, MeMdClassifier, make_memd
from memdlib.dask import fit as fit_blocks
from memdlib.generative import MixtureClassifier
from memdlib.topics import PLSA, GenerativeEmbedding, fisher_scores
from tests.scikit_learn import SETTINGS, checks, run
from tests.test_contract import CLASSIFIERS, DEFAULTS, OTHERS

# some weights, which are drawn, make one class much larger than the others
pytestmark = pytest.mark.filterwarnings("ignore:accuracy is")

AUTO = [MeMdClassifier(family="auto"), DivergenceRanker(family="auto")]
FRAMES_INSIDE = MixtureClassifier(
    [
        ("length", make_pipeline(Normalizer(), JointMaxEntClassifier())),
        ("scale", make_pipeline(StandardScaler(), JointMaxEntClassifier())),
        (
            "root",
            make_pipeline(
                FunctionTransformer(np.sqrt, feature_names_out="one-to-one"),
                JointMaxEntClassifier(),
            ),
        ),
        (
            "frame",
            make_pipeline(
                StandardScaler().set_output(transform="pandas"), JointMaxEntClassifier()
            ),
        ),
    ],
    cv=2,
    random_state=0,
)


def counts():
    """Counts of five words in documents of two classes."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.poisson(1 + 2 * np.eye(2)[y] @ rng.random((2, 5)))
    return X.astype(float), y


def columns():
    """A frame of numbers, with gaps, and a category."""
    X, _ = counts()
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame.loc[::9, "a"] = np.nan
    return frame.assign(level=np.where(X[:, 1] > 1, "high", "low"))


def texts():
    """Texts with the counts of words."""
    X, _ = counts()
    words = np.array(["engine", "orbit", "probe", "brake", "wheel"])
    return [" ".join(np.repeat(words, row)) for row in X.astype(int)]


def recommended(kind):
    return make_memd(kind, cv=2, random_state=0)


OFFERED = {
    "table": (recommended("table"), columns),
    "table, polars": (recommended("table"), lambda: pl.from_pandas(columns())),
    "expression": (recommended("expression"), lambda: counts()[0]),
    "text": (recommended("text"), texts),
    "text, counts": (recommended("text"), lambda: sparse.csr_array(counts()[0])),
    "text, frame": (
        recommended("text"),
        lambda: pd.DataFrame(counts()[0], columns=list("abcde")),
    ),
    "frames inside": (FRAMES_INSIDE, lambda: counts()[0]),
}


def answers(model, X):
    """All that a fitted model says of X, as arrays."""
    found = []
    for method in ("predict_proba", "predict", "transform"):
        if hasattr(model, method):
            answer = getattr(model, method)(X)
            dense = answer.toarray() if sparse.issparse(answer) else answer
            found.append(np.asarray(dense))
    return found


def assert_same_answers(estimator, X, y):
    """Under all settings as under the default ones."""
    model = clone(estimator)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    expected = answers(clone(model).fit(X, y), X)
    for setting in SETTINGS.values():
        with config_context(**setting):
            found = answers(clone(model).fit(X, y), X)
        for one, other in zip(found, expected, strict=True):
            assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("estimator", [*DEFAULTS, *AUTO], ids=str)
def test_settings_change_no_answer(estimator):
    assert_same_answers(estimator, *counts())


@pytest.mark.parametrize("name", OFFERED)
def test_settings_change_no_answer_of_what_is_recommended(name):
    model, data = OFFERED[name]
    assert_same_answers(model, data(), counts()[1])


@pytest.mark.parametrize("kind", ["MT-1", "FS", "LLR", "TOP", "PD"])
def test_settings_change_no_answer_of_embeddings(kind):
    embedding = GenerativeEmbedding(kind, plsa=PLSA(2, tol=0.1))
    assert_same_answers(embedding, *counts())


@pytest.mark.parametrize("setting", ["pandas", "polars"])
def test_functions_of_a_topic_model_return_arrays_under_settings(setting):
    X, _ = counts()
    model = PLSA(2, random_state=0).fit(X)
    with config_context(**SETTINGS[setting]):
        found = fisher_scores(model, X)
    assert_allclose(found, fisher_scores(model, X))


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("estimator", AUTO, ids=str)
def test_scikit_learn_contract_of_auto_under_settings(estimator, setting):
    for case in checks([estimator], setting):
        model, check = case.values
        run(check, model, setting)


@pytest.mark.parametrize("kind", ["expression", "table", "text"])
def test_scikit_learn_contract_of_the_recommended_in_part(kind):
    """The others, and under settings: ``make test-nightly``."""
    fast = {
        "check_estimator_tags_renamed",
        "check_n_features_in_after_fitting",
        "check_positive_only_tag_during_fit",
        "check_readonly_memmap_input",
    }
    cases = [case.values for case in checks([recommended(kind)])]
    chosen = [case for case in cases if case[1].func.__name__ in fast]
    assert len(chosen) >= 3
    for model, check in chosen:
        run(check, model)


def test_tables_may_be_sparse_and_hold_gaps_and_words():
    tags = get_tags(make_memd("table")).input_tags
    assert tags.sparse and tags.allow_nan and tags.string and tags.categorical


def test_word_counts_are_positive_and_may_be_sparse():
    tags = get_tags(make_memd("text")).input_tags
    assert tags.positive_only and tags.sparse and tags.string and tags.two_d_array
    with pytest.raises(ValueError, match="Negative values"):
        make_memd("text").fit(-counts()[0], counts()[1])


@pytest.mark.parametrize("name", ["table", "expression", "text", "text, frame"])
def test_output_of_pipelines_can_be_set(name):
    model, data = OFFERED[name]
    X, y = data(), counts()[1]
    expected = clone(model).fit(X, y).predict_proba(X)
    for container in ("default", "pandas", "polars"):
        model = clone(model).set_output(transform=container)
        assert_allclose(model.fit(X, y).predict_proba(X), expected, rtol=1e-9)


@pytest.mark.parametrize("estimator", [*DEFAULTS, *AUTO], ids=str)
def test_validation_of_parameters_can_be_skipped(estimator):
    """Estimators whose constraints nothing satisfies are fitted if nobody asks."""
    X, y = counts()
    model = clone(estimator)
    names = model.get_params(deep=False)
    model._parameter_constraints = {name: [StrOptions({"nothing"})] for name in names}
    with pytest.raises(ValueError, match="must be a str among {'nothing'}"):
        model.fit(X, y)
    with config_context(skip_parameter_validation=True):
        model.fit(X, y)
    assert answers(model, X)


def test_validation_of_parameters_can_be_skipped_for_blocks():
    X, y = counts()
    model = JointMaxEntClassifier()
    model._parameter_constraints = {"covariance": [StrOptions({"nothing"})]}
    blocks = da.from_array(X), da.from_array(y)
    with pytest.raises(ValueError, match="must be a str among {'nothing'}"):
        fit_blocks(model, *blocks)
    with config_context(skip_parameter_validation=True):
        assert fit_blocks(model, *blocks).score(X, y) > 0.6


@pytest.mark.parametrize("name", ["table", "expression", "text", "frames inside"])
def test_weights_reach_the_last_step_of_a_pipeline(name):
    """By name, or by a request where metadata are routed; both are a fit."""
    model, data = OFFERED[name]
    X, y = data(), counts()[1]
    weight = np.where(y == 1, 5.0, 1.0)
    plain = clone(model).fit(X, y).predict_proba(X)
    if name == "frames inside":
        by_name = clone(model).fit(X, y, sample_weight=weight)
    else:
        by_name = clone(model).fit(X, y, memd__sample_weight=weight)
    with config_context(enable_metadata_routing=True):
        routed = weighted(model).fit(X, y, sample_weight=weight)
    found = by_name.predict_proba(X)
    assert_allclose(routed.predict_proba(X), found, rtol=1e-9)
    assert found[:, 1].mean() > plain[:, 1].mean() + 0.1


def weighted(model):
    """A copy whose classifier asks for weights in ``fit`` and ``score``."""
    copy = clone(model)
    classifier = copy["memd"] if hasattr(copy, "named_steps") else copy
    classifier.set_fit_request(sample_weight=True)
    classifier.set_score_request(sample_weight=True)
    return copy


def meta_estimators(model):
    """Of scikit-learn, around a copy of a classifier that asks for weights."""
    score = make_scorer(balanced_accuracy_score).set_score_request(sample_weight=True)
    logistic = LogisticRegression().set_fit_request(sample_weight=True)
    named = [("memd", weighted(model))]
    return [
        TunedThresholdClassifierCV(weighted(model), scoring=score, cv=2),
        CalibratedClassifierCV(weighted(model), cv=2),
        StackingClassifier(named, logistic, cv=2),
        VotingClassifier(named, voting="soft"),
        GridSearchCV(weighted(model), {}, cv=2),
    ]


@pytest.mark.parametrize(
    "model", [*CLASSIFIERS, *OTHERS, MeMdClassifier(family="auto")], ids=str
)
def test_meta_estimators_route_weights(model):
    assert_weights_count_in_meta_estimators(model, *counts())


@pytest.mark.parametrize("name", ["table", "text"])
def test_meta_estimators_route_weights_to_what_is_recommended(name):
    model, data = OFFERED[name]
    assert_weights_count_in_meta_estimators(model, data(), counts()[1])


def assert_weights_count_in_meta_estimators(model, X, y):
    weight = np.where(y == 1, 5.0, 1.0)
    with config_context(enable_metadata_routing=True):
        for meta in meta_estimators(model):
            plain = clone(meta).fit(X, y).predict_proba(X)[:, 1].mean()
            found = meta.fit(X, y, sample_weight=weight).predict_proba(X)[:, 1].mean()
            assert found > plain + 0.05


@pytest.mark.parametrize("name", ["expression", "text", "text, counts"])
def test_groups_are_routed_to_the_folds(name):
    model, data = OFFERED[name]
    X, y = data(), counts()[1]
    folds = GroupKFold(3)
    groups = np.arange(60) % 7
    with config_context(enable_metadata_routing=True):
        routed = cross_validate(model, X, y, cv=folds, params={"groups": groups})
    expected = cross_validate(model, X, y, cv=list(folds.split(y, groups=groups)))
    assert_allclose(routed["test_score"], expected["test_score"])
