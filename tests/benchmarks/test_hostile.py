"""How ``python -m benchmarks.hostile`` judges, on estimators and functions made up."""

import time
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import GaussianNB

from benchmarks import hostile
from benchmarks.hostile import (
    ESTIMATORS,
    TWO_CLASSES,
    Outcome,
    answers,
    judged,
    of_estimators,
)
from benchmarks.hostile_inputs import asked, benign, fits, layouts
from memdlib import JointMaxEntClassifier
from memdlib.divergences import kl


def warn():
    warnings.warn("overflow", RuntimeWarning, stacklevel=1)


@pytest.mark.parametrize(
    ("work", "kind"),
    [
        (lambda: 1, "fine"),
        (lambda: kl([0.5, 0.6], [0.5, 0.5]), "clear"),
        (lambda: JointMaxEntClassifier().fit([[1.0], [2.0]], [0, 0]), "clear"),
        (lambda: JointMaxEntClassifier().fit([["a"], ["b"]], [0, 1]), "clear"),
        (lambda: np.asarray(["a"], dtype=float), "NumPy's"),
        (lambda: np.max([]), "obscure"),
        (lambda: [][0], "obscure"),
        (lambda: 1 / 0, "obscure"),
        (lambda: np.linalg.inv(np.zeros((2, 2))), "obscure"),
        (warn, "obscure"),
    ],
)
def test_outcomes(work, kind):
    assert judged(work).kind == kind


def test_what_takes_too_long_is_stopped(monkeypatch):
    monkeypatch.setattr(hostile, "SECONDS", 0.05)
    assert judged(lambda: time.sleep(5.0)) == Outcome("slow", "more than 0.05 s")


class Improper(GaussianNB):
    def predict_proba(self, X):
        return 0.9 * super().predict_proba(X)


class NotANumber(GaussianNB):
    def predict_log_proba(self, X):
        return np.nan * super().predict_log_proba(X)


class LeavesATrace(GaussianNB):
    def fit(self, X, y):
        self.trace_ = 1
        raise ValueError("no")


@pytest.mark.parametrize("model", [Improper(), NotANumber(), LeavesATrace()], ids=str)
def test_answers_that_are_none_are_silent_errors(model):
    assert judged(lambda: answers(model, benign(3))).kind == "silent"


def test_other_answers_to_the_same_data_are_silent_errors(monkeypatch):
    class Narrow(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            small = getattr(X, "dtype", None) == np.int8
            return super().fit(np.asarray(X) * [-1 if small else 1, 1, 1, 1, 1], y)

        def decision_function(self, X):
            return self.predict_log_proba(X)

    monkeypatch.setattr(hostile, "ESTIMATORS", {"narrow": Narrow()})
    found = dict(of_estimators(["narrow"]))
    assert found["narrow, X int8"].kind == "silent"
    assert found["narrow, X Fortran"] == Outcome("fine")


def test_inputs_that_say_the_same_do():
    X = benign(3).X
    for kind, Z in layouts(X).items():
        same = Z.toarray() if sparse.issparse(Z) else np.asarray(Z, dtype=float)
        np.testing.assert_array_equal(same, X, err_msg=kind)
    for name, case in (fits(benign(2)) | asked(benign(2))).items():
        assert case.same is None or case.same.X.dtype == float, name


def test_every_estimator_has_benign_data():
    for name, model in ESTIMATORS.items():
        if "GenerativeEmbedding" not in name:
            assert answers(model, benign(2 if name in TWO_CLASSES else 3))
