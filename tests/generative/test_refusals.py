"""Parameters that have no meaning, and what the messages name."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from memdlib import (
    DivergenceRanker,
    GreedyGaussianRanker,
    GreedyInformationRanker,
    JointMaxEntClassifier,
    MeMdClassifier,
    generative,
)
from memdlib.families import Binomial
from memdlib.generative import DivergenceWeighter, MixtureClassifier

PLAIN = ("plain", MeMdClassifier(n_features=None))
CASES = [
    (MeMdClassifier(n_features=5), "n_features=5 is out of range: X has 4 features"),
    (MeMdClassifier(n_features="all"), "a str among {'auto'}, an int .* Got 'all' ins"),
    (MeMdClassifier(n_features_grid="all"), "a str among {'every'} .* Got 'all' inst"),
    (MeMdClassifier(n_features_grid=[2, 5]), "integers from 1 to 4, the number of"),
    (MeMdClassifier(validation=1), "'validation' .* Got 1 instead"),
    (MeMdClassifier(validation=1.0), "'validation' .* Got 1.0 instead"),
    (MeMdClassifier("js_am"), "{'js_gm', 'jeffreys', 'js'}. Got 'js_am' instead"),
    (MeMdClassifier(family="beta"), "family='beta' is not known"),
    (MeMdClassifier(family="bernoulli", smoothing=0), "use smoothing > 0"),
    (MeMdClassifier(family=Binomial(), n_features=3), "MultinomialMeMdClassifier"),
    (MeMdClassifier(shrinkage=-0.1), "'shrinkage' .* Got -0.1 instead"),
    (MeMdClassifier(shrinkage="lw"), "a str among {'auto'} or a float .* Got 'lw' in"),
    (MeMdClassifier(smoothing=np.inf), "'smoothing' .* Got inf instead"),
    (MeMdClassifier(priors=[0.5, 0.5]), r"priors=\[0.5, 0.5\] must be 3 numbers, one"),
    (MeMdClassifier(priors=[1.2, 0.1, -0.3]), "zero or above and of sum 1"),
    (MeMdClassifier(class_weight="equal"), "'class_weight' .* Got 'equal' instead"),
    (MeMdClassifier(class_weight={1: 0.0}), "gives class 1 the weight 0.0; weights"),
    (generative.MultinomialMeMdClassifier("kl"), "'divergence' .* Got 'kl' instead"),
    (JointMaxEntClassifier("tied"), "'covariance' .* {'full', 'pooled', 'diagonal'}"),
    (JointMaxEntClassifier(shrinkage=np.nan), r"range \[0.0, 1.0\]. Got nan instead"),
    (DivergenceRanker(n_features=0), "an int in the range .* Got 0 instead"),
    (DivergenceRanker(n_features=1.5), r"the range \(0.0, 1.0\] or None. Got 1.5"),
    (DivergenceRanker(smoothing=-1.0), r"in the range \[0.0, inf\). Got -1.0 instead"),
    (GreedyGaussianRanker(5), "n_features=5 is out of range: X has 4 features"),
    (GreedyGaussianRanker(2, shrinkage=2), "among {'auto'} or .* Got 2 instead"),
    (GreedyInformationRanker(5), "n_features=5 is out of range: X has 4 features"),
    (generative.CorrelatedMeMdClassifier(5), "X has 4 features"),
    (generative.CorrelatedMeMdClassifier(priors=[0.5, 0.5]), "must be 3 numbers"),
    (generative.RegularisedMeMdClassifier(0.0), "'class_shrinkage' .* Got 0.0"),
    (generative.RegularisedMeMdClassifier(1.5), "'class_shrinkage' .* Got 1.5"),
    (generative.RegularisedMeMdClassifier(variance_shrinkage=-1.0), "Got -1.0"),
    (DivergenceWeighter(-1), "power"),
    (DivergenceWeighter(sublinear_tf="bm25"), "sublinear_tf"),
    (DivergenceWeighter(smoothing=0), "smoothing"),
    (DivergenceWeighter(use_idf="yes"), "use_idf"),
    (MixtureClassifier(["naive"]), "estimators holds 'naive'; give pairs"),
    (MixtureClassifier([("a", KNeighborsClassifier())]), "fit takes sample_weight"),
    (MixtureClassifier([("a", [])]), "estimators holds"),
    (MixtureClassifier([PLAIN, PLAIN]), "each must be another"),
    (MixtureClassifier([("class shares", PLAIN[1])]), "each must be another"),
    (MixtureClassifier("all"), "'estimators' parameter"),
    (MixtureClassifier(cv=1), "'cv' parameter"),
    (MixtureClassifier(lead=0.0), "'lead' parameter"),
    (MixtureClassifier(verbose=-1), "'verbose' parameter"),
    (MixtureClassifier(n_jobs=1.5), "'n_jobs' parameter"),
    (MixtureClassifier(wide="all"), "'wide' parameter"),
    (MixtureClassifier(margin=None), "'margin' parameter"),
]


@pytest.mark.parametrize(("model", "message"), CASES, ids=str)
def test_parameters_without_meaning_are_named(model, message):
    X, y = load_iris(return_X_y=True)
    X[:50, 0] = 0.0  # a word that one class never has
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert vars(model).keys() == model.get_params().keys()
