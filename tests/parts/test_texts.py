"""The pipeline of texts in parts against the one fitted to all of them."""

import dask.array as da
import dask.bag
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from memdlib import make_memd
from memdlib.datasets import simulate_text_counts
from memdlib.generative import RidgeDiscriminantClassifier
from memdlib.generative.correlated import ridge
from memdlib.generative.correlated.krylov import growing_space, krylov_space
from memdlib.generative.recommended.words import WordCounter
from memdlib.generative.weighting import DivergenceWeighter
from memdlib.parts import ArrayChunks, TableChunks, discriminant, fit_chunks
from memdlib.parts.chunks import _TEXT
from memdlib.parts.dask import fit_distributed, predict_blocks
from memdlib.parts.work import side_by_side
from tests.generative.correlated.test_krylov import problem
from tests.parts.comparing import in_parts
from tests.parts.test_dask import SIZES, sparse_blocks
from tests.parts.test_serial import Steps, Stopped, stop_after

FOUND = (
    "classes_",
    "class_prior_",
    "coef_",
    "intercept_",
    "multipliers_",
    "uniform_share_",
    "penalty_",
    "power_",
    "validation_log_loss_",
    "feature_weights_",
)

# Large penalties and few folds take few passes.
HOW = {"penalties": (2.0, 6.0), "tol": 1e-8, "validation": 3, "random_state": 0}
MODELS = {
    "plain": RidgeDiscriminantClassifier(**HOW),
    "power": RidgeDiscriminantClassifier(powers=0.5, divergence="js_gm", **HOW),
    "second": RidgeDiscriminantClassifier(family="poisson", **HOW),
    "balanced": RidgeDiscriminantClassifier(
        powers=(0.0, 0.25), family="bernoulli", class_weight="balanced", **HOW
    ),
}


@pytest.fixture
def exact(monkeypatch):
    """Systems of the folds solved as well as the last one, which tests compare."""
    monkeypatch.setattr(ridge, "FOLD_TOL", 0.0)


def set_aside_at_most(monkeypatch, most):
    for module in (ridge, discriminant):
        monkeypatch.setattr(module, "MOST_HELD_OUT", most)


def documents(n=200, d=60, K=3, seed=4):
    """Counts of classes in order: most parts do not have them all."""
    text = simulate_text_counts(n_documents=n, n_words=d, n_classes=K, seed=seed)
    order = np.argsort(text.y, kind="stable")
    return sparse.csr_array(text.X)[order], text.y[order]


def texts(X):
    """Texts of these counts, of words in no order of the columns."""
    words = [f"w{7 * j % 61:02}" for j in range(X.shape[1])]
    dense = X.toarray().astype(int)
    return np.array([" ".join(np.repeat(words, row)) for row in dense], dtype=object)


def random_weights(y, seed=2):
    return np.random.default_rng([18, seed]).integers(4, size=len(y)) * 1.0


def agree(one, other, X, within=1e-7):
    for name in FOUND:
        a, b = getattr(one[-1], name), getattr(other[-1], name)
        assert (a is None) == (b is None), name
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=0, atol=within, err_msg=name)
    a, b = one.predict_log_proba(X), other.predict_log_proba(X)
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def fitted_by_steps(model, X, y, weight):
    """All steps know the weights, as they do in parts."""
    rows, model = X, clone(model)
    for step in model[:-1]:
        known = (
            {"sample_weight": weight} if isinstance(step, DivergenceWeighter) else {}
        )
        rows = step.fit(rows, y, **known).transform(rows)
    model[-1].fit(rows, y, weight)
    return model


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, np.asarray])
@pytest.mark.parametrize("d", [60, 400])
def test_the_discriminant_is_that_of_all_rows(exact, name, kind, d):
    X, y = documents(d=d)
    X, weight = DivergenceWeighter(power=0).fit_transform(X), random_weights(y)
    X = X.toarray() if kind is np.asarray else kind(X)
    for columns in ((X, y), (X, y, weight)):
        one, other = (make_pipeline(clone(MODELS[name])) for _ in range(2))
        one[-1].fit(*columns)
        agree(one, fit_chunks(other, in_parts(*columns)), X)


def test_dense_rows_of_any_sign(exact):
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(RidgeDiscriminantClassifier(family="normal", **HOW))
    cuts = 0, 10, 60, 60, 150
    X = X - X.mean(axis=0)
    for values in (X, X.astype(np.float32)):
        one = clone(model).fit(values, y)
        agree(one, fit_chunks(clone(model), in_parts(values, y, cuts=cuts)), X)


@pytest.mark.parametrize("most", [1, 30, 70, 130, 199])
@pytest.mark.parametrize("weighted", [False, True])
def test_as_many_rows_are_held_out_as_in_memory(exact, monkeypatch, most, weighted):
    set_aside_at_most(monkeypatch, most)
    X, y = documents()
    model = make_memd("text", **HOW)
    weight = random_weights(y) if weighted else np.ones(len(y))
    one = fitted_by_steps(model, X, y, weight)
    agree(one, fit_chunks(clone(model), in_parts(X, y, weight)), X)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 20), data=st.data())
def test_however_they_are_cut_and_ordered(seed, data):
    X, y = documents(n=40, d=50, seed=seed)
    inner = data.draw(st.lists(st.integers(0, 40), max_size=3).map(sorted))
    order = np.random.default_rng(seed).permutation(40)
    model = RidgeDiscriminantClassifier(powers=(0.0, 0.5), **HOW)
    one = fit_chunks(make_pipeline(model), in_parts(X, y, cuts=(0, 40)))
    chunks = in_parts(X[order], y[order], cuts=(0, *inner, 40))
    other = fit_chunks(make_pipeline(clone(model)), chunks)
    agree(one, other, X)


@pytest.mark.parametrize("how", ["array", "list", "series", "text"])
def test_texts_have_the_words_of_all(exact, how):
    X, y = documents()
    X, model = texts(X), make_memd("text", **HOW)
    X[17], X[55] = "", "and a word that no other text holds"
    one = clone(model).fit(X, y)
    made = {
        "array": np.asarray,
        "list": list,
        "series": pd.Series,
        "text": lambda part: part.astype(str),
    }[how]
    chunks = [(made(part), labels) for part, labels in in_parts(X, y)]
    other = fit_chunks(clone(model), chunks)
    names = [model[0].get_feature_names_out().tolist() for model in (one, other)]
    assert names[0] == names[1]
    agree(one, other, ["", "xyz qqq", "w01 w02 w02"])
    unknown = other.predict_proba(["", "xyz qqq"])
    K = len(other.classes_)
    share = other[-1].uniform_share_
    expected = (1 - share) * other[-1].class_prior_ + share / K
    np.testing.assert_allclose(unknown, [expected] * 2, rtol=1e-12)
    agree(one, fit_chunks(clone(model), ArrayChunks(X, y, rows=30)), X)


def test_rows_of_weight_zero_have_no_words():
    X, y = documents()
    X, weight = texts(X), np.ones(len(y))
    X[7], weight[7] = "nothing of this counts", 0.0
    found = fit_chunks(WordCounter(), in_parts(X, y, weight))
    expected = WordCounter().fit(np.delete(X, 7)).get_feature_names_out()
    np.testing.assert_array_equal(found.get_feature_names_out(), expected)


@pytest.mark.parametrize(
    "vectorizer",
    [
        CountVectorizer(ngram_range=(1, 2)),
        CountVectorizer(analyzer="char", lowercase=False),
        CountVectorizer(stop_words=["w01"], token_pattern=r"(?s).\w+"),
        CountVectorizer(vocabulary=["w05", "w03"]),
        CountVectorizer(binary=True),
    ],
)
def test_words_of_other_vectorizers(vectorizer):
    X, y = documents()
    X = texts(X)
    X[3] = "Wéird\ud800 words\x00 \n\n too"
    one, other = WordCounter(vectorizer).fit(X), WordCounter(clone(vectorizer))
    other = fit_chunks(other, in_parts(X, y))
    a, b = one.get_feature_names_out(), other.get_feature_names_out()
    assert a.tolist() == b.tolist()
    assert (one.transform(X) != other.transform(X)).nnz == 0


@pytest.mark.parametrize(
    "vectorizer",
    [
        TfidfVectorizer(),
        CountVectorizer(min_df=2),
        CountVectorizer(max_df=1),
        CountVectorizer(max_features=5),
    ],
)
def test_words_that_need_all_texts_at_once(vectorizer):
    X, y = documents()
    with pytest.raises(ValueError, match="need all texts at once; in parts give"):
        fit_chunks(WordCounter(vectorizer), in_parts(texts(X), y))


@pytest.mark.parametrize("power", [0.0, 0.5])
@pytest.mark.parametrize("how", [{}, {"idf": False, "divergence": "js_gm"}])
@pytest.mark.parametrize("kind", [sparse.csr_array, np.asarray])
def test_weights_of_words(power, how, kind):
    X, y = documents()
    X, weight = X.toarray() if kind is np.asarray else X, random_weights(y)
    model = DivergenceWeighter(power, **how)
    one = clone(model).fit(X, y, weight)
    other = fit_chunks(clone(model), in_parts(X, y, weight))
    np.testing.assert_allclose(other.weights_, one.weights_, rtol=1e-12)
    assert other.n_features_in_ == 60


@pytest.mark.parametrize("known", [False, True])
def test_a_class_that_rows_outside_a_fold_do_not_hold(exact, known):
    X, y = documents()
    y = np.where(np.arange(len(y)) == 150, 9, y)
    model = make_memd("text", **HOW)
    one = clone(model).fit(X, y)
    classes = [0, 1, 2, 9] if known else None
    agree(one, fit_chunks(clone(model), in_parts(X, y), classes=classes), X)


def test_where_no_row_can_be_held_out():
    X, y = documents()
    X, y = X[[0, 199]], y[[0, 199]]
    model = make_memd("text", **HOW)
    one = clone(model).fit(X, y)
    other = fit_chunks(clone(model), in_parts(X, y, cuts=(0, 1, 2)))
    assert np.isnan(other[-1].validation_log_loss_).all()
    agree(one, other, X)


def changed(part, column, values):
    parts = [list(columns) for columns in in_parts(*documents())]
    parts[part][column] = values(parts[part][column])
    return [tuple(columns) for columns in parts]


MIXED = in_parts(texts(documents()[0]), documents()[1])


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        (changed(3, 0, lambda X: -X), "Negative values"),
        (changed(3, 0, lambda X: X * np.nan), "NaN"),
        (changed(3, 0, lambda X: X[:, 1:]), "59 features"),
        (changed(3, 0, lambda X: X[1:]), "49 rows of X and 50 labels"),
        (changed(3, 0, texts), "counts were given to fit"),
        ([*MIXED[:-1], in_parts(*documents())[-1]], "others do not"),
        ([*MIXED[:-1], (np.array([7] * 110, object), MIXED[-1][1])], "others do not"),
        ([*MIXED[:-1], (np.array(["a"] * 109 + [None]), MIXED[-1][1])], "is no text"),
        ([(np.array(["a", "b", ""]), [0, 1, 1])], "no text holds a word"),
        ([(np.array(["ab", "cd"]), [1, 1])], "one class only"),
        (["ab", "cd"], "rows without labels"),
    ],
)
def test_what_cannot_be_fitted(chunks, message):
    model = make_memd("text", random_state=0).fit(*documents())
    before = [dict(vars(step)) for step in model]
    with pytest.raises(ValueError, match=message):
        fit_chunks(model, chunks)
    assert [vars(step) for step in model] == before


@pytest.mark.parametrize("wrong", [{"penalties": 0.0}, {"powers": -1}, {"tol": 2}])
def test_parameters_are_checked(wrong):
    model = RidgeDiscriminantClassifier(**wrong)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        fit_chunks(model, in_parts(*documents()))


def test_values_whose_products_overflow():
    X, y = documents()
    X = X.toarray() * 1.0
    X[5, 7] = 1e200
    with pytest.raises(ValueError, match="feature 7 holds 1e.200, and weights are"):
        fit_chunks(RidgeDiscriminantClassifier(random_state=0), in_parts(X, y))


def test_a_residual_above_the_tolerance_is_told():
    X, y = documents()
    model = make_memd("text", penalties=1e-6, max_iter=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="2 products.*raise max_iter=2 or tol"):
        other = fit_chunks(clone(model), in_parts(X, y))
    with pytest.warns(ConvergenceWarning):
        one = clone(model).fit(X, y)
    assert other[-1].residual_ == pytest.approx(one[-1].residual_, rel=1e-6)
    assert other[-1].n_iter_ == 2


def test_how_often_the_data_are_read():
    X, y = documents(n=150, d=400)
    names, model = [], make_memd("text", penalties=3.0, random_state=0)

    def note(name, done, total):
        if done == 1:
            names.append(name)

    fit_chunks(model, in_parts(texts(X), y, cuts=(0, 70, 150)), progress=note)
    assert names[:9] == [
        "words",
        "classes",
        "moments",
        "classes",
        "spread",
        "hashes",
        "rows set aside",
        "rows that are kept",
        "marginals",
    ]
    assert set(names[9:]) == {"sums of classes", "products"}
    # of all powers at once, and of the last fit
    assert names[9:].count("sums of classes") == 2
    last = names[::-1].index("sums of classes")
    # one more for the residual
    assert last == model[-1].n_iter_ + 1


def same_bits(one, other):
    assert one[0].get_feature_names_out().tolist() == (
        other[0].get_feature_names_out().tolist()
    )
    assert one[1].weights_.tobytes() == other[1].weights_.tobytes()
    for name in FOUND:
        a, b = (np.asarray(getattr(model[-1], name)) for model in (one, other))
        assert a.tobytes() == b.tobytes() or a[()] is b[()] is None, name


@pytest.mark.parametrize("kind", ["texts", "counts"])
def test_stopped_and_resumed_with_the_same_bits(tmp_path, kind):
    X, y = documents(n=200)
    X = texts(X) if kind == "texts" else X
    model, path, all_steps = make_memd("text", **HOW), tmp_path / "f", Steps()
    one = fit_chunks(clone(model), in_parts(X, y), progress=all_steps)
    for n in range(0, all_steps.taken, 29):
        how = {"checkpoint": path, "every": 1}
        with pytest.raises(Stopped):
            fit_chunks(clone(model), in_parts(X, y), progress=stop_after(n), **how)
        left = Steps()
        other = fit_chunks(clone(model), in_parts(X, y), progress=left, **how)
        same_bits(one, other)
        assert left.taken == all_steps.taken - 1 - n
    with pytest.raises(ValueError, match="random_state=None draws other rows"):
        fit_chunks(make_memd("text"), in_parts(X, y), checkpoint=path)


@pytest.mark.parametrize("weighted", [False, True])
def test_dask_arrays(exact, weighted):
    X, y = documents()
    model, weight = make_memd("text", **HOW), random_weights(y) if weighted else None
    blocks = sparse_blocks(X.toarray())
    other = fit_distributed(clone(model), blocks, y, weight)
    one = fitted_by_steps(model, X, y, np.ones(len(y)) if weight is None else weight)
    agree(one, other, X)
    found = predict_blocks(other, blocks).compute()
    np.testing.assert_array_equal(found, one.predict(X))


@pytest.mark.parametrize("how", ["array", "series"])
def test_dask_texts(exact, how):
    X, y = documents()
    X, model = texts(X), make_memd("text", **HOW)
    if how == "array":
        columns = da.from_array(X, chunks=(SIZES,)), y
    else:
        frame = dd.from_pandas(pd.DataFrame({"text": X, "y": y}), npartitions=3)
        columns = frame["text"], frame["y"]
    one = clone(model).fit(X, y)
    other = fit_distributed(clone(model), *columns)
    agree(one, other, X)
    found = predict_blocks(other, columns[0]).compute()
    np.testing.assert_array_equal(found, one.predict(X))


def test_a_bag_is_no_array():
    bag = dask.bag.from_sequence(["ab", "cd"])
    with pytest.raises(TypeError, match="X is a Bag; give a dask array, data frame or"):
        fit_distributed(make_memd("text"), bag, [0, 1])


def test_a_column_of_texts_in_files(exact, tmp_path):
    X, y = documents()
    X, model = texts(X), make_memd("text", **HOW)
    table = pa.table({"text": X, "more": np.arange(200), "y": y})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=60)
    chunks = TableChunks(tmp_path / "t.parquet", "y", features="text")
    assert [part[0].shape for part in chunks] == [(60,), (60,), (60,), (20,)]
    agree(clone(model).fit(X, y), fit_chunks(clone(model), chunks), X)
    with pytest.raises(ValueError, match="no column 'words'"):
        TableChunks(tmp_path / "t.parquet", "y", features="words")


def test_texts_of_an_array_are_some_thousand_a_chunk():
    chunks = ArrayChunks(np.array(["a"] * 5000, dtype=object))
    assert [len(X) for (X,) in chunks] == [2**22 // _TEXT, 5000 - 2**22 // _TEXT]


def test_spaces_grow_side_by_side_until_each_is_done():
    asked, growing = [], {}
    for name, rank in (("low", 2), ("high", 30)):
        G, B = problem(11, rank=rank, K=2)
        growing[name] = (G, B)

    def products(blocks):
        asked.append(sorted(blocks))
        return {name: growing[name][0] @ block for name, block in blocks.items()}

    how = {"shift": 0.1, "tol": 1e-9, "max_iter": 40}
    steps = {name: growing_space(B, **how) for name, (_, B) in growing.items()}
    found = side_by_side(steps, products)
    alone = {
        name: krylov_space(lambda U, G=G: G @ U, B, **how)
        for name, (G, B) in growing.items()
    }
    assert asked[0] == ["high", "low"] and asked[-1] == ["high"]
    assert len(asked) == alone["high"].n_iter
    for name, space in alone.items():
        assert found[name].n_iter == space.n_iter
        np.testing.assert_allclose(found[name].solution(0.5), space.solution(0.5))
