import sys
from types import ModuleType

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import Pipeline

from memdlib import make_memd
from memdlib.generative.chosen import ChosenMeMdClassifier


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


def test_text_is_made_by_its_own_module(monkeypatch):
    module = ModuleType("memdlib.generative.text")
    module.text_pipeline = lambda **overrides: ("text", overrides)
    monkeypatch.setitem(sys.modules, "memdlib.generative.text", module)
    assert make_memd("text", power=0.1) == ("text", {"power": 0.1})


def test_what_there_is_not():
    with pytest.raises(ValueError, match="kind='images' must be one of"):
        make_memd("images")
    with pytest.raises(ValueError, match="'folds' is no parameter for kind='table'"):
        make_memd("table", folds=3)
