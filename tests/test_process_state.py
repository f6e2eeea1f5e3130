"""What fits leave behind in the process: nothing, in threads and after interrupts."""

import pickle
import random
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_info

from memdlib import MaxEntDensity, MeMdClassifier, make_memd
from memdlib.generative import MixtureClassifier
from memdlib.generative.memd import held_out_folds
from tests.scikit_learn import public

# a fit of seconds at their defaults
SMALLER = {"n_moments": 2, "n_bins": 3, "n_components": 2}


def estimators():
    for kind in sorted(
        public(BaseEstimator) - {MaxEntDensity}, key=lambda k: k.__name__
    ):
        model = kind()
        settings = {"random_state": 0} | SMALLER
        names = model.get_params()
        yield model.set_params(**{k: v for k, v in settings.items() if k in names})


ALL = list(estimators())


def counts():
    """Two classes, one of them with fewer rows than there are folds."""
    rng = np.random.default_rng(0)
    y = np.append(np.arange(60) % 2, [2, 2])
    return rng.poisson(rng.uniform(1, 6, (3, 5))[y]).astype(float), y


def two_classes():
    X, y = counts()
    return X[y < 2], y[y < 2]


def answer(model, X):
    result = getattr(model, "predict_proba", getattr(model, "transform", None))(X)
    return result.toarray() if hasattr(result, "toarray") else np.asarray(result)


def filters():
    """Warning filters, but for those that scikit-learn's own validation sets."""
    return {
        f for f in warnings.filters if not (f[0] == "error" and f[2] is not Warning)
    }


def test_threads_leave_limits_filters_and_error_handling_as_they_were():
    X, y = two_classes()
    tasks = [*ALL, make_memd("expression", random_state=0, cv=2)] * 2
    expected = [answer(clone(model).fit(X, y), X) for model in tasks]
    before = threadpool_info(), filters(), np.geterr()
    # a thread is interrupted as often as it can be
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            fitted = list(pool.map(lambda model: clone(model).fit(X, y), tasks))
    finally:
        sys.setswitchinterval(interval)
    assert (threadpool_info(), filters(), np.geterr()) == before
    for model, value in zip(fitted, expected, strict=True):
        assert_array_equal(answer(model, X), value)


def test_candidates_in_threads_leave_the_filters():
    X, y = counts()
    before = filters()
    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(
            lambda s: MixtureClassifier(random_state=s).fit(X, y), range(24)
        ):
            assert filters() == before
    assert filters() == before


@pytest.mark.parametrize("seed", range(20))
def test_folds_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    n_folds = int(rng.integers(2, 7))
    codes = np.append(rng.permutation(np.repeat(range(4), rng.integers(2, 12, 4))), 4)
    fold, n_held_out = held_out_folds(codes, n_folds, np.random.RandomState(seed))
    n_held_out_first = min(n_folds, np.bincount(codes).max())
    assert n_held_out == n_held_out_first
    splitter = StratifiedKFold(
        n_held_out, shuffle=True, random_state=np.random.RandomState(seed)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        tests = [test for _, test in splitter.split(codes[:-1], codes[:-1])]
    for f, test in enumerate(tests):
        assert_array_equal(np.flatnonzero(fold == f), test)
    assert fold[-1] == n_held_out


class Interrupt:
    """Trace function that raises KeyboardInterrupt at one of the lines that run."""

    def __init__(self, line, filename=""):
        self.line = line
        self.filename = filename
        self.n_lines = 0

    def __call__(self, frame, event, arg):
        if event == "line" and self.filename in frame.f_code.co_filename:
            self.n_lines += 1
            if self.n_lines == self.line:
                raise KeyboardInterrupt
        return self

    def run(self, call, *args):
        """Whether the call was interrupted."""
        before = sys.gettrace()
        sys.settrace(self)
        try:
            call(*args)
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False


@pytest.mark.parametrize("model", ALL, ids=str)
def test_an_interrupt_at_any_line_leaves_everything_as_it_was(model):
    X, y = two_classes()
    fitted = clone(model).fit(X, y)
    expected = answer(fitted, X)
    before = pickle.dumps(vars(fitted))
    state = threadpool_info(), list(warnings.filters), np.geterr()
    # at random lines, and at those of np.errstate, which alone could leave its setting
    for filename, n_interrupts in (("", 12), ("_ufunc_config", 12)):
        count = Interrupt(0, filename)
        count.run(clone(model).fit, X, y)
        lines = range(1, count.n_lines)
        if len(lines) > n_interrupts:
            lines = random.Random(0).sample(lines, n_interrupts)
        for line in lines:
            interrupted = Interrupt(line, filename).run(fitted.fit, 2 * X, y)
            assert interrupted
            assert pickle.dumps(vars(fitted)) == before
            assert (threadpool_info(), warnings.filters, np.geterr()) == state
    assert_array_equal(answer(fitted.fit(X, y), X), expected)


@pytest.mark.parametrize("model", ALL, ids=str)
def test_a_fitted_estimator_answers_at_every_line_of_a_fit_that_fails(model):
    """As a thread would see it that predicts at the same time."""
    X, y = two_classes()
    fitted = clone(model).fit(X, y)
    expected = answer(fitted, X[:2])
    seen = []

    def look(frame, event, arg):
        if "memdlib" not in frame.f_code.co_filename:
            return None
        seen.append(np.array_equal(answer(fitted, X[:2]), expected))
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        with pytest.raises(ValueError, match="absolute value"):
            fitted.fit(X * 1e200, y)
    finally:
        sys.settrace(before)
    assert len(seen) > 10
    assert all(seen)


def test_fit_returns_the_estimator_itself_with_new_attributes_only():
    X, y = two_classes()
    model = MeMdClassifier(n_features=2)
    model.mark = "mine"
    assert model.fit(X, y) is model
    assert model.mark == "mine"
    assert not hasattr(model, "feature_names_in_")
