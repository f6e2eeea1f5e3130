import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import Pipeline

from memdlib import make_memd
from memdlib.generative.chosen import ChosenMeMdClassifier
from memdlib.generative.text import text_pipeline


@pytest.mark.parametrize("kind", ["expression", "table"])
def test_a_pipeline_that_fits_and_predicts(kind):
    X, y = load_iris(return_X_y=True)
    model = make_memd(kind, random_state=0)
    assert isinstance(model, Pipeline)
    assert isinstance(model[-1], ChosenMeMdClassifier)
    model.fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9
    np.testing.assert_array_equal(clone(model).fit(X, y).classes_, [0, 1, 2])


def test_expression_does_not_care_for_increasing_functions_of_a_sample():
    rng = np.random.default_rng(5)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 200))
    X[:, :9] += 1.5 * y[:, None]
    wild = np.exp(X * rng.uniform(0.5, 3, size=(30, 1)))
    fixed = {"preparations": ["normal_scores"], "models": ["correlated"]}
    one = make_memd("expression", **fixed).fit(X, y)
    two = make_memd("expression", **fixed).fit(wild, y)
    assert one.predict(X).tolist() == two.predict(wild).tolist()
    np.testing.assert_array_equal(
        one[-1].best_estimator_.whitened_means_,
        two[-1].best_estimator_.whitened_means_,
    )


def test_overrides_reach_the_classifier():
    model = make_memd("expression", n_folds=3, criterion="accuracy", margin=0.5)
    params = model[-1].get_params()
    assert (params["n_folds"], params["criterion"], params["margin"]) == (
        3,
        "accuracy",
        0.5,
    )
    assert params["preparations"][0] == "normal_scores"
    # one call does not change the next
    assert make_memd("expression")[-1].n_folds == 5


@pytest.mark.parametrize("kind", ["expression", "table"])
def test_every_pipeline_has_candidates_of_its_own(kind):
    one, two = make_memd(kind)[-1], make_memd(kind)[-1]
    pairs = [m for m in one.models if not isinstance(m, str)]
    assert pairs
    for _, model in pairs:
        model.set_params(**{sorted(model.get_params())[-1]: 0.77})
    later = make_memd(kind)[-1]
    for other in (two, later):
        assert "0.77" not in repr(other.models)


def test_text_is_made_by_its_own_module():
    ours, theirs = make_memd("text", powers=(0.1,)), text_pipeline(powers=(0.1,))
    assert [name for name, _ in ours.steps] == [name for name, _ in theirs.steps]
    assert repr(ours) == repr(theirs)


def test_genes_select_where_few_features_carry_everything():
    rng = np.random.default_rng(9)
    y = np.arange(60) % 2
    X = rng.normal(size=(120, 1500))
    X[:, :6] *= np.where(np.tile(y, 2), 4.0, 1.0)[:, None]
    fixed = {"preparations": ["unchanged"], "random_state": 0}
    model = make_memd("expression", **fixed).fit(X[:60], y)[-1]
    assert model.chosen_["model"] == "selected"
    assert model.score(X[60:], y) > 0.9


def test_tables_choose_how_far_class_covariances_are_shrunken():
    rng = np.random.default_rng(8)
    y = np.arange(400) % 2
    apart = rng.normal(size=(400, 3)) + 3.0 * y[:, None]
    # the classes differ in the sign of a correlation, and in nothing else
    tilted = rng.normal(size=(400, 2))
    tilted[:, 1] = 0.5 * tilted[:, 1] + np.where(y, 1, -1) * tilted[:, 0]
    linear = make_memd("table", random_state=0).fit(apart, y)[-1]
    quadratic = make_memd("table", random_state=0).fit(tilted, y)[-1]
    assert quadratic.chosen_["model"].startswith("regularised")
    assert quadratic.best_estimator_.class_shrinkage < 0.5
    assert quadratic.score(tilted, y) > 0.8
    assert linear.score(apart, y) > 0.99


def test_what_there_is_not():
    with pytest.raises(ValueError, match="kind='images' must be one of"):
        make_memd("images")
    with pytest.raises(ValueError, match="'folds' is no parameter for kind='table'"):
        make_memd("table", folds=3)
