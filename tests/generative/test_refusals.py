"""Parameters that have no meaning, and what the messages name."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from memdlib import MeMdClassifier, generative
from memdlib.families import Binomial
from memdlib.generative import MixtureClassifier

PLAIN = ("plain", MeMdClassifier(n_features=None))
CASES = [
    (MeMdClassifier(n_features=5), "n_features=5 is out of range: X has 4 features"),
    (MeMdClassifier(n_features_grid=[2, 5]), "integers from 1 to 4, the number of"),
    (MeMdClassifier(family="beta"), "family='beta' is not known"),
    (MeMdClassifier(family="bernoulli", alpha=0), "use alpha > 0"),
    (MeMdClassifier(family=Binomial(), n_features=3), "MultinomialMeMdClassifier"),
    (MeMdClassifier(alpha=np.inf), "'alpha' .* Got inf instead"),
    (MeMdClassifier(priors=[0.5, 0.5]), r"priors=\[0.5, 0.5\] must be 3 numbers, one"),
    (MeMdClassifier(priors=[1.2, 0.1, -0.3]), "nonnegative and sum to 1"),
    (MeMdClassifier(class_weight={1: 0.0}), "gives class 1 the weight 0.0; class"),
    (generative.CorrelatedMeMdClassifier(5), "X has 4 features"),
    (generative.CorrelatedMeMdClassifier(priors=[0.5, 0.5]), "must be 3 numbers"),
    (MixtureClassifier(["naive"]), "estimators holds 'naive'; give pairs"),
    (MixtureClassifier([("a", KNeighborsClassifier())]), "fit takes sample_weight"),
    (MixtureClassifier([("a", [])]), "estimators holds"),
    (MixtureClassifier([PLAIN, PLAIN]), "they must be unique"),
    (MixtureClassifier([("class shares", PLAIN[1])]), "they must be unique"),
]


@pytest.mark.parametrize(("model", "message"), CASES, ids=str)
def test_parameters_without_meaning_are_named(model, message):
    X, y = load_iris(return_X_y=True)
    X[:50, 0] = 0.0  # a word that one class never has
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert vars(model).keys() == model.get_params().keys()
