import numpy as np
import pytest
from scipy import sparse

from memdlib import MeMdClassifier
from memdlib.validation import (
    NONNEGATIVE,
    POSITIVE,
    UNIT_INTERVAL,
    check_choice,
    check_integer,
    check_priors,
    check_real,
    check_real_array,
    check_sample_weight,
    count_features,
    sum_duplicates,
    validate_batch,
    validate_labelled,
)


def test_weights_pass_through_and_scalars_spread():
    assert check_sample_weight(None, [0, 1]).tolist() == [1, 1]
    assert check_sample_weight(3, [0, 1]).tolist() == [3, 3]
    for weight in ([0, 2], [1e-100, 1.0], [2.0**53 - 1, 1], np.float32([0.1, 2])):
        found = check_sample_weight(weight, [0, 1])
        assert found.tolist() == list(weight) and found.dtype == np.float64


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2, 3], r"shape == \(3,\), expected \(2,\)"),
        ([1, -1], "Negative values in data passed to `sample_weight`"),
        ([np.inf, 1], "Input sample_weight contains infinity"),
        ([0, 0], "at least one non-zero number"),
        (np.nan, "from inf to nan"),
        ([1, 1e308], r"from 1 to 1e\+308; .* divide them by their mean"),
        ([2.0**53, 2], r"sum to at most 9\.0072e\+15: divide"),
        ([1, 5e-324], "sample_weight ranges from 4.94066e-324 to 1; .* 1e-100"),
        ([1, np.nextafter(1e-100, 0)], "divide them by their mean"),
        ([0, np.nextafter(2.0**53, np.inf)], "divide them by their mean"),
    ],
)
def test_bad_weights_are_named(weight, message):
    with pytest.raises(ValueError, match=message):
        check_sample_weight(weight, [0, 1])


@pytest.mark.parametrize("factor", [1e300, 1e-101, 0.0, -1.0, np.inf, np.nan])
def test_weights_of_classes_stay_in_range(factor):
    given = MeMdClassifier(), np.eye(4), [0, 0, 1, 1]
    validate_labelled(*given, None, class_weight={0: 1e-100, 1: 2.0**51})
    with pytest.raises(
        ValueError, match="class_weight.*(weights must be fin|ranges fr)"
    ):
        validate_labelled(*given, [1, 0, 1, 1], class_weight={0: 1.0, 1: factor})


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_values_whose_squares_are_no_numbers_are_refused(kind):
    X, y, model = np.arange(1.0, 9).reshape(4, 2), [0, 1, 0, 1], MeMdClassifier()
    for scale in (1.2e99, 1e-100):
        validate_labelled(model, kind(X * [1.0, scale]), y, None)
    for factor in (1e100, -1e200, 1e-101, -1e-300):
        message = "value of feature 1 of X .*: rescale the feature"
        with pytest.raises(ValueError, match=message):
            validate_labelled(model, kind(X * [1.0, factor]), y, None)
    assert model.fit(kind(X), y).predict(kind(X * 1e-300)).shape == (4,)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [(None, 7), (7, 7), (np.int64(2), 2), (0.2, 2), (1e-9, 1), (1, 1), (1.0, 7)],
)
def test_counts_and_shares(asked, meant):
    assert count_features(asked, 7, "k") == meant


@pytest.mark.parametrize("available", [10, 50, 100, 1000])
def test_a_share_in_per_cent_is_not_rounded_up_by_a_rounding_error(available):
    found = [count_features(p / 100, available, "k") for p in range(1, 101)]
    assert found == [-(-p * available // 100) for p in range(1, 101)]


@pytest.mark.parametrize("asked", [8, 0, -1, 1.01, 0.0, True, "3", np.nan, 1j])
def test_impossible_counts(asked):
    message = r"^k=.* is out of range: X has 7 features; pass 1 to 7, a share in \(0"
    with pytest.raises(ValueError, match=message):
        count_features(asked, 7, "k")


@pytest.mark.parametrize(
    "value", [-5e-324, np.nan, np.inf, "0.5", None, 1j, [0.5], True, np.False_]
)
def test_numbers_out_of_range_are_named(value):
    for interval in (UNIT_INTERVAL, NONNEGATIVE, POSITIVE):
        with pytest.raises(ValueError, match=r"^a=.* must be a float in the range"):
            check_real(value, "a", interval)
    with pytest.raises(ValueError, match=r"^a=1\.5 must be a float .* \[0.0, 1.0\]"):
        check_real(1.5, "a", UNIT_INTERVAL)


@pytest.mark.parametrize("value", [0, -1, 2.0, 2.5, True, np.True_, "2", None])
def test_what_is_no_integer_is_named(value):
    assert check_integer(np.int64(3), "a") == 3
    assert check_integer(0, "a", minimum=0) == 0
    with pytest.raises(ValueError, match="^a=.* must be an integer, 1 or more"):
        check_integer(value, "a")


@pytest.mark.parametrize("value", ["z", None, ["x"], 3])
def test_unknown_words_are_named(value):
    assert check_choice("x", "a", ("x", "y")) == "x"
    with pytest.raises(ValueError, match=r"^a=.* must be one of \['x', 'y'\]"):
        check_choice(value, "a", ("x", "y"))


def test_duplicates_are_summed_in_a_copy_only_where_there_are_any():
    for X in (sparse.csr_array(np.eye(3)), np.eye(3)):
        assert sum_duplicates(X) is X
    assert sum_duplicates(sparse.lil_array(X)).shape == (3, 3)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_of_weight_zero_are_left_out_before_classes_are_read(kind):
    X, y = np.arange(8.0).reshape(4, 2), np.array(["a", "b", "c", "a"])
    given = MeMdClassifier(), kind(X), y, [1.0, 2.0, 0.0, 0.0]
    X, codes, weight, classes = validate_labelled(*given)
    X = X.toarray() if sparse.issparse(X) else X
    assert X.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert (codes.tolist(), weight.tolist()) == ([0, 1], [1.0, 2.0])
    assert classes.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="only one class"):
        validate_labelled(MeMdClassifier(), kind(X), ["a", "b"], [1.0, 0.0])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (sparse.csr_array(np.eye(2)), r"p is sparse; pass p\.toarray"),
        ([1j], "p must be real numbers, .* complex128 is not a real type"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "p must be real numbers, .* not a"),
        (np.array([3], dtype="m8[s]"), "p must be real numbers, .* not a real type"),
        ([[1.0], [1.0, 2.0]], "p must be real numbers, in rows of equal length"),
        (["a"], "p must be real numbers"),
    ],
)
def test_arrays_that_are_not_real_are_named(values, message):
    with pytest.raises(ValueError, match=message):
        check_real_array(values, "p")


def test_real_arrays_are_doubles_and_not_copied_without_need():
    X = np.array([1.0, np.nan])
    assert check_real_array(X, "p") is X
    assert check_real_array(np.float32([0.5]), "p").dtype == np.float64


@pytest.mark.parametrize(
    "priors",
    [[0.5], [0.5, 0.25, 0.25], [1.5, -0.5], [0.5, 0.6], [0.5, 0.4], [[0.5] * 2]],
)
def test_priors_that_are_none_are_named(priors):
    assert check_priors(None, 2) is None
    assert check_priors([0, 1], 2).tolist() == [0.0, 1.0]
    assert check_priors(np.float32([0.25, 0.75]), 2).dtype == np.float64
    with pytest.raises(ValueError, match=r"^priors=.* must be 2 numbers"):
        check_priors(priors, 2)


def test_data_become_floating_point_rows_of_labelled_classes():
    X, y, model = np.arange(8).reshape(4, 2), np.array(list("abca")), MeMdClassifier()
    found, codes, weight, classes = validate_labelled(model, X, y, None)
    assert found.dtype == np.float64 and weight.tolist() == [1.0] * 4
    assert (codes.tolist(), classes.tolist()) == ([0, 1, 2, 0], ["a", "b", "c"])
    assert validate_labelled(model, np.float32(X), y, None)[0].dtype == np.float32
    with pytest.raises(ValueError, match=r"only one class \('a'\); a divergence"):
        validate_labelled(model, X, ["a"] * 4, None)
    assert validate_labelled(model, X, ["a"] * 4, None, several=False)[3].tolist() == [
        "a"
    ]
    with pytest.raises(ValueError, match="X has 1 features, but .* expecting 2"):
        validate_labelled(model, X[:, :1], y, None, reset=False)


def test_batches_have_the_classes_of_the_first():
    X, y, model = np.arange(8.0).reshape(4, 2), ["b", "b", "c", "b"], MeMdClassifier()

    def read(X, y, classes, known):
        return validate_batch(model, X, y, [1, 2, 3, 4], classes, known)

    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        read(X, y, None, None)
    with pytest.raises(ValueError, match=r"\['b'\] must hold at least two classes"):
        read(X, y, ["b"], None)
    _, codes, weight, known = read(X, y, ["c", "a", "b"], None)
    assert (codes.tolist(), known.tolist()) == ([1, 1, 2, 1], ["a", "b", "c"])
    assert weight.tolist() == [1.0, 2.0, 3.0, 4.0]
    for classes in (None, ["a", "b", "c"]):
        found = read(X, ["c"] * 4, classes, known)
        assert found[1].tolist() == [2] * 4 and found[3].tolist() == known.tolist()
    with pytest.raises(ValueError, match="in the first call to partial_fit; pass"):
        read(X, y, ["a", "b"], known)
    with pytest.raises(ValueError, match="label 'd' is not among the classes"):
        read(X, ["a", "d", "a", "a"], None, known)
    with pytest.raises(ValueError, match="X has 1 features"):
        read(X[:, :1], y, None, known)


def test_ends_of_intervals_are_inside_or_outside_as_documented():
    for value in (5e-324, np.float32(0.25), 1e308):
        assert check_real(value, "a", NONNEGATIVE) == value
        assert check_real(value, "a", POSITIVE) == value
    for interval, value in ((UNIT_INTERVAL, np.nextafter(1.0, 2.0)), (POSITIVE, 0.0)):
        with pytest.raises(ValueError, match="^a="):
            check_real(value, "a", interval)
