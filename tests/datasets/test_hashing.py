"""The hash of numbers depends on their values alone."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from memdlib.datasets.hashing import content_sha256


@given(hnp.arrays(np.float64, (3, 4), elements=st.floats(-1e6, 1e6)))
def test_hash_depends_on_values_alone(X):
    expected = content_sha256(X)
    assert content_sha256(np.asfortranarray(X)) == expected
    assert content_sha256(X.astype(">f8")) == expected
    assert content_sha256(np.repeat(X, 2, axis=1)[:, ::2]) == expected
    assert content_sha256(X + 1e7) != expected


def test_hash_of_integers_is_free_of_their_width():
    y = np.array([0, 1, 2])
    assert content_sha256(y.astype(np.int8)) == content_sha256(y)
    assert content_sha256(y.astype(float)) != content_sha256(y)
