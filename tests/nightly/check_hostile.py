"""Data that users do give, though nobody should: an answer, or a refusal.

Run it by ``make test-nightly``. Warnings of arithmetic are errors here, as elsewhere.
"""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags

from memdlib import make_memd
from tests.test_contract import DEFAULTS

KINDS = "table", "expression", "text"
MADE = [make_memd(kind, random_state=0) for kind in KINDS]
PLACES = [(3, 1), (3, slice(None)), (slice(None), 1), slice(None)]
VALUES = [np.nan, np.inf, -1.0, 1e308, -1e308, 1e200, 1e15, 1e-170, 1e-308, 5e-324]
SEEDED = [
    model.set_params(random_state=0) if "random_state" in model.get_params() else model
    for model in map(clone, DEFAULTS)
]
NAMES = [*(type(model).__name__ for model in SEEDED), *KINDS]
every = pytest.mark.parametrize("estimator", [*SEEDED, *MADE], ids=NAMES)
# an iteration may stop early, and classes may be small
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def benign():
    """Counts of two classes in five columns."""
    rng, y = np.random.default_rng(7), np.arange(60) % 2
    return rng.poisson(rng.uniform(1.0, 8.0, (2, 5))[y]).astype(float), y


def hostile(X):
    for value in VALUES:
        for where in PLACES:
            Z = X.copy()
            Z[where] = value
            yield Z
        with np.errstate(over="ignore", invalid="ignore"):
            yield X * value
            yield X + value


def answer(model, X):
    if hasattr(model, "predict_log_proba"):
        return model.predict_log_proba(X)
    found = model.transform(X)
    return found.toarray() if sparse.issparse(found) else np.asarray(found, float)


@every
def test_extreme_numbers_have_an_answer_or_a_refusal(estimator):
    X, y = benign()
    fitted = clone(estimator).fit(X, y)
    for Z in hostile(X):
        for model in (clone(estimator), fitted):
            try:
                found = answer(model if model is fitted else model.fit(Z, y), Z)
            except ValueError:
                continue
            kept = np.isnan(Z).any() and not hasattr(model, "predict")  # as it was
            assert kept or not np.isnan(found).any()


def layouts(X):
    """The same numbers in other types and layouts."""
    yield from (X.astype(kind) for kind in ("i1", "u1", "f4", ">f8", "g", "O"))
    yield from (np.repeat(X, 2, axis=0)[::2], X[::-1].copy()[::-1])
    read_only = X.copy()
    read_only.flags.writeable = False
    yield read_only


def sparse_layouts(X):
    rows, columns = np.nonzero(X > -1)
    place = np.tile([rows, columns], 2)
    yield sparse.coo_array((np.tile(X.ravel() / 2, 2), tuple(place)), X.shape)
    yield from (sparse.coo_array(X).asformat(kind) for kind in ("lil", "dok", "bsr"))
    backwards = sparse.csr_array(X[:, ::-1])
    backwards.indices = X.shape[1] - 1 - backwards.indices
    backwards.has_sorted_indices = False
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = (a.astype("i8") for a in (wide.indices, wide.indptr))
    yield from (backwards, wide)


@every
def test_the_same_numbers_have_the_same_answer(estimator):
    X, y = benign()
    expected = answer(clone(estimator).fit(X, y), X)
    thin = get_tags(estimator).input_tags.sparse
    for Z in (*layouts(X), *(sparse_layouts(X) if thin else ())):
        found = answer(clone(estimator).fit(Z, y), Z)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)
