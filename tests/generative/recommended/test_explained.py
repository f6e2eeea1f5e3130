import matplotlib as mpl
import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PowerTransformer

from memdlib import MeMdClassifier, make_memd
from memdlib.generative import (
    ContributionDisplay,
    CorrelatedMeMdClassifier,
    MixedMeMdClassifier,
    RegularisedMeMdClassifier,
    contributions,
    normal_scores,
    top_features,
)
from memdlib.generative.recommended.explained import joint_by_column
from memdlib.generative.recommended.features import KernelFeatures, LinearSplines


def two_classes():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:160, :8], y[:160]


def centred(score):
    return score - score.mean(axis=1, keepdims=True)


def candidates(*steps):
    return [
        ("correlated", CorrelatedMeMdClassifier()),
        ("scores", make_pipeline(FunctionTransformer(normal_scores), MeMdClassifier())),
        *[(f"step {i}", make_pipeline(s, RegularisedMeMdClassifier()))
          for i, s in enumerate(steps)],
    ]  # fmt: skip


@pytest.mark.parametrize("load", [two_classes, lambda: load_wine(return_X_y=True)])
@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(LinearSplines(), RegularisedMeMdClassifier(0.5)),
        make_pipeline(PowerTransformer(), LinearSplines(), CorrelatedMeMdClassifier()),
        make_pipeline(
            FunctionTransformer(normal_scores),
            make_pipeline(LinearSplines(4), MeMdClassifier()),
        ),
    ],
)
def test_functions_of_one_feature_are_folded_back_onto_it(load, model):
    X, y = load()
    model.fit(X, y)
    found = joint_by_column(model, X)
    assert all(v.shape == X.shape for v in found.values)
    log_p = model.predict_log_proba(X)
    np.testing.assert_allclose(
        log_softmax(found.total, axis=1), log_p, rtol=1e-9, atol=1e-9
    )
    # what a feature adds to a score without pairs depends on this feature alone
    if isinstance(model[-1], CorrelatedMeMdClassifier):
        other = X.copy()
        other[:, 1:] = X[::-1, 1:]
        again = joint_by_column(model, other)
        for v, w in zip(found.values, again.values, strict=True):
            np.testing.assert_allclose(w[:, 0], v[:, 0], rtol=1e-12)


@pytest.mark.parametrize("load", [two_classes, lambda: load_wine(return_X_y=True)])
def test_a_mixture_averages_what_its_models_add(load):
    X, y = load()
    steps = LinearSplines(), KernelFeatures(random_state=0)
    model = MixedMeMdClassifier(candidates(*steps), random_state=0).fit(X, y)
    found, results = contributions(model, X), model.cv_results_
    posterior, predicted = model.predict_proba(X), model.predict(X)
    np.testing.assert_array_equal(model.classes_[posterior.argmax(axis=1)], predicted)
    own = np.arange(len(X)), posterior.argmax(axis=1)
    expected, left_out, kept = 0.0, np.zeros(len(X)), np.zeros(len(X))
    eps, K = model.uniform_share_, len(model.classes_)
    for name, member, weight in zip(
        model.names_, model.estimators_, model.estimator_weights_, strict=True
    ):
        T = results["temperature"][results["name"] == name][0]
        tempered = log_softmax(member.predict_log_proba(X) / T, axis=1)
        q = (1 - eps) * np.exp(tempered) + eps / K
        share = weight * q[own] / posterior[own]
        if name == "step 1":
            left_out += share
            continue
        kept += share
        expected = expected + share[:, None] * centred(tempered)
    expected = expected / kept[:, None]
    assert "step 1" in model.names_ and left_out.any()
    np.testing.assert_allclose(found.left_out, left_out, rtol=0, atol=1e-9)
    total = found.total
    if K == 2:
        expected, total = 2.0 * expected[:, 1:], total[:, None]
    np.testing.assert_allclose(total, expected, rtol=1e-7, atol=1e-7)


def test_a_single_model_is_exact_but_for_its_temperature():
    X, y = two_classes()
    member = CorrelatedMeMdClassifier()
    model = MixedMeMdClassifier([("one", member)], random_state=0).fit(X, y)
    temperature = model.cv_results_["temperature"][0]
    found = contributions(model, X)
    alone = contributions(member.fit(X, y), X)
    np.testing.assert_allclose(
        temperature * found.values[0], alone.values[0], rtol=1e-9
    )
    assert not found.left_out.any()


def test_a_mixture_of_kernels_is_refused_and_a_remedy_named():
    X, y = two_classes()
    kernel = make_pipeline(KernelFeatures(random_state=0), CorrelatedMeMdClassifier())
    model = MixedMeMdClassifier([("kernel", kernel)], random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"functions of several .*permutation_imp"):
        contributions(model, X)
    rotated = make_pipeline(PCA(2), MeMdClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="PCA takes functions of several features"):
        joint_by_column(rotated, X)


@pytest.mark.parametrize("kind", ["expression", "table"])
def test_the_recommended_classifiers_are_explained(kind):
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = make_memd(kind, random_state=0).fit(X[::2], y[::2])
    found = contributions(model, X[1::2])
    assert found.feature_names.tolist() == X.columns.tolist()
    assert (found.left_out is not None) and (found.left_out < 1).all()
    np.testing.assert_allclose(sum(found.values), 0, rtol=0, atol=1e-9)
    agree = found.total.argmax(axis=1) == model.predict(X[1::2])
    assert agree.mean() > 0.95
    top = top_features(model, X[1::2], n=3)
    assert all(len(best) == 3 for best in top.values())
    mpl.use("Agg")
    shown = ContributionDisplay.from_estimator(model, X[1:2])
    assert "average of the models" in shown.ax_.get_xlabel()
    assert shown.label == str(model.predict(X[1:2])[0])
    mpl.pyplot.close("all")


def test_splines_of_features_that_do_not_vary():
    X, y = np.ones((8, 2)), np.arange(8) % 2
    model = make_pipeline(LinearSplines(), CorrelatedMeMdClassifier()).fit(X, y)
    found = joint_by_column(model, X)
    assert found.values[0].shape == (8, 2) and not found.values[0].any()
