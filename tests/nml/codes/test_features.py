import numpy as np
import pytest
from scipy import sparse

from memdlib.nml import (
    conditional_codelength,
    conditional_complexity_estimate,
    count_levels,
    feature_codelengths,
)
from memdlib.nml.exact import forget


def test_counts_are_those_of_a_loop():
    rng = np.random.default_rng([5, 7])
    levels, labels = rng.integers(0, 3, size=(11, 4)), rng.integers(0, 2, size=11)
    counts, ones = count_levels(levels, labels, 4)
    for j in range(4):
        for level in range(4):
            here = [y for x, y in zip(levels[:, j], labels, strict=True) if x == level]
            assert counts[j, level] == len(here)
            assert ones[j, level] == sum(here)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("values", [None, [-2.0, -1.0, 0.0, 1.0, 2.0]])
def test_many_features_are_single_ones(values, intercept):
    rng = np.random.default_rng([5, 5])
    levels = rng.integers(0, 5, size=(16, 20))
    levels[:, 3] = 2
    levels[:, 4] = rng.integers(1, 3, size=16)
    y = rng.integers(0, 2, size=16)
    levels[:, 5] = 4 * y
    moments = (1, 2, 3, 7)
    found = feature_codelengths(*count_levels(levels, y), moments, values, intercept)
    x = np.arange(1.0, 6.0) if values is None else np.array(values)
    for j in range(20):
        for i, m in enumerate(moments):
            one = conditional_codelength(x[levels[:, j]], y, m, intercept)
            assert found.error[j, i] == pytest.approx(one.error, abs=1e-12)
            assert found.complexity[j, i] == pytest.approx(one.complexity, abs=1e-12)
            assert found.uncertainty[j, i] == one.uncertainty < 1e-12
            assert found.method[j, i] == one.method
    assert found.total.shape == (20, 4)
    assert np.isfinite(found.total).all()
    assert (found.total == found.error + found.complexity).all()
    constant = found.total[3]
    assert constant == pytest.approx(constant[0], abs=1e-12)


def test_more_levels_than_are_used():
    levels = [[0], [1], [1]]
    few = feature_codelengths(*count_levels(levels, [0, 1, 1]), [1])
    more = feature_codelengths(*count_levels(levels, [0, 1, 1], 3), [1])
    assert few.total == pytest.approx(more.total, abs=1e-14)


def test_complexities_carry_the_error_of_their_way():
    counts = [[100] * 4, [110] * 4, [9, 0, 0, 391]]
    found = feature_codelengths(counts, [[7] * 4, [7] * 4, [7, 0, 0, 7]], [3])
    assert found.method.ravel().tolist() == ["gauss", "gauss", "saturated"]
    assert (found.uncertainty[:2] < 1e-6).all()
    assert found.uncertainty[2, 0] < 1e-12
    alone = conditional_complexity_estimate(counts[0], 3)
    assert found.complexity[0, 0] == alone.complexity


def test_threads_change_nothing_and_progress_is_printed_on_request(capsys):
    rng = np.random.default_rng([5, 8])
    table = count_levels(rng.integers(0, 4, size=(14, 30)), np.arange(14) % 2)
    forget()
    alone = feature_codelengths(*table, (1, 2))
    assert capsys.readouterr() == ("", "")
    forget()
    threads = feature_codelengths(*table, (1, 2), n_jobs=2, verbose=1)
    np.testing.assert_array_equal(threads.total, alone.total)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "[NML] errors for n_moments=1: 30 features",
        "[NML] errors for n_moments=2: 30 features",
        "[NML] complexities of 52 models",
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: count_levels([0, 1], [0, 1]), "levels has shape"),
        (lambda: count_levels([[0.5]], [0]), "levels is float64; give level ind"),
        (lambda: count_levels([[-1]], [0]), "levels is negative; give level ind"),
        (lambda: count_levels([[2]], [0], 2), "levels holds 2, but n_levels is 2"),
        (lambda: count_levels([[0]], [0], 1.0), "n_levels=1.0 must be an integer"),
        (lambda: count_levels([[0]], [3]), "labels holds 3"),
        (lambda: feature_codelengths([[2]], [[1]], [0]), "n_moments=0 must be"),
        (lambda: feature_codelengths([[2]], [[1]], []), "n_moments is empty"),
        (lambda: feature_codelengths([[2]], [[3]], [1]), "ones holds 3.0"),
        (lambda: feature_codelengths([[2]], [[1]], [1], [1, 2]), "level_values has"),
        (lambda: feature_codelengths([[2]], [[1]], 3), "n_moments=3 must be several"),
        (lambda: feature_codelengths([[2j]], [[1]]), "counts must be real numbers"),
        (
            lambda: feature_codelengths([[2]], sparse.csr_array([[1]])),
            r"ones is sparse; pass ones.toarray\(\)",
        ),
        (lambda: count_levels([[0], [1]], [1, None]), "labels holds None"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
