"""A fit that was interrupted anywhere goes on to the same bits."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from memdlib import DivergenceRanker, MeMdClassifier
from memdlib.generative import CorrelatedMeMdClassifier
from memdlib.parts import ArrayChunks, fit_chunks, serial, wide
from tests.parts.comparing import EXACT, FOUND, counts, in_parts


class Stopped(Exception):
    pass


class Steps:
    """Progress that counts the chunks that are read."""

    taken = 0

    def __call__(self, *_):
        self.taken += 1


def stop_after(n):
    """Progress that stops the fit after n chunks, in whatever pass."""
    left = iter(range(n))

    def note(*_):
        if next(left, None) is None:
            raise Stopped

    return note


def same_bits(one, other):
    for name in (*EXACT, *FOUND):
        a, b = (getattr(model, name, None) for model in (one, other))
        np.testing.assert_array_equal(a, b)
        if a is not None and np.asarray(a).dtype != object:
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes(), name


@pytest.mark.parametrize(
    ("kind", "every", "as_list"),
    [(int, 1, True), (object, 1, False), (object, 4, True)],
)
def test_stopped_after_any_chunk(tmp_path, kind, every, as_list):
    X, y = counts()
    y = y if kind is int else np.array(["ape", "bee", "cow"], dtype=object)[y]
    parts = in_parts(X / 3, y)
    chunks = parts if as_list else dict(enumerate(parts)).values()

    def model():
        return MeMdClassifier(random_state=0)

    one, n_steps = fit_chunks(model(), chunks), 6 * len(parts)
    path = tmp_path / "fit.npz"
    for n in range(n_steps):
        with pytest.raises(Stopped):
            fit_chunks(
                model(), chunks, checkpoint=path, every=every, progress=stop_after(n)
            )
        left = Steps()
        other = fit_chunks(model(), chunks, checkpoint=path, every=every, progress=left)
        same_bits(one, other)
        assert not list(tmp_path.iterdir())
        assert left.taken >= n_steps - 1 - n
        assert every > 1 or left.taken == n_steps - 1 - n


def test_a_fixed_number_of_features_needs_no_seed(tmp_path):
    X, y = counts()
    model, path = DivergenceRanker(n_features=2), tmp_path / "fit.npz"
    with pytest.raises(Stopped):
        fit_chunks(
            model, in_parts(X, y), checkpoint=path, every=1, progress=stop_after(8)
        )
    same_bits(
        fit_chunks(DivergenceRanker(n_features=2), in_parts(X, y)),
        fit_chunks(model, in_parts(X, y), checkpoint=path),
    )


def test_the_checkpoint_is_small_and_holds_no_pickle(tmp_path):
    X, y = counts()
    path = tmp_path / "fit.npz"
    with pytest.raises(Stopped):
        fit_chunks(
            MeMdClassifier(n_features=2),
            in_parts(X, np.array(list("abc"), dtype=object)[y]),
            checkpoint=path,
            progress=stop_after(6),
        )
    assert path.stat().st_size < 5000
    with np.load(path, allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)


def test_checkpoints_that_are_not_those_of_the_fit(tmp_path):
    X, y = counts()
    path = tmp_path / "fit.npz"

    def fit(random_state=0, X=X, **more):
        model = MeMdClassifier(random_state=random_state)
        return fit_chunks(model, in_parts(X, y), checkpoint=path, every=1, **more)

    # an integer of NumPy is one too
    with pytest.raises(Stopped):
        fit(random_state=np.int64(0), progress=stop_after(3))
    before = path.read_bytes()
    for other in ({"random_state": 1}, {"X": X[:, 1:]}, {"classes": [0, 1, 2]}):
        with pytest.raises(ValueError, match=r"checkpoint of another fit.*remove"):
            fit(**other)
        assert path.read_bytes() == before
    with pytest.raises(ValueError, match="random_state=None draws other rows"):
        fit(random_state=None)
    for broken in (b"", b"PK" + before[2:200], b"no archive"):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match=r"is no checkpoint; remove"):
            fit()
    np.savez(path, other=np.ones(2))
    with pytest.raises(ValueError, match="is no checkpoint"):
        fit()


def test_a_file_half_written_does_not_replace_the_one_before(tmp_path, monkeypatch):
    X, y = counts()
    path, model = tmp_path / "fit.npz", MeMdClassifier(n_features=2)
    with pytest.raises(Stopped):
        fit_chunks(
            model, in_parts(X, y), checkpoint=path, every=1, progress=stop_after(3)
        )
    before = path.read_bytes()

    def full(file, **arrays):
        file.write(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="no space left"):
        fit_chunks(model, in_parts(X, y), checkpoint=path, every=1)
    assert path.read_bytes() == before


def as_table(X, y):
    return pd.DataFrame(np.asarray(X)).rename(columns=str), y


FORMS = {
    "arrays": lambda X, y: (X, y),
    "columns": lambda X, y: (np.asfortranarray(X), y),
    "sparse": lambda X, y: (sparse.csr_array(X), y),
    "tables": as_table,
    "text": lambda X, y: (X, np.array(list("abc"), dtype=object)[y]),
    "weights": lambda X, y: (X, y, 1.0 + y),
}


def chunks_of(form, changed=None, column=0):
    """Five chunks of forty rows; in one of them one value, or the labels, changed."""
    X, y = counts()
    order = np.random.default_rng(3).permutation(len(y))
    found = []
    for i, (rows, labels) in enumerate(
        in_parts(X[order], y[order], cuts=range(0, 201, 40))
    ):
        if i == changed and column is None:
            labels = labels[::-1]
        elif i == changed:
            rows = rows + (np.arange(240).reshape(40, 6) == 6 * 39 + column)
        found.append(FORMS[form](rows, labels))
    return found


def fit_stopped(path, model, chunks, after):
    with pytest.raises(Stopped):
        fit_chunks(
            model, chunks, checkpoint=path, every=1, progress=stop_after(after - 1)
        )


CHANGED = "^chunk {} has other {} than the fit that .* keeps has read; .* remove"


@pytest.mark.parametrize("column", [0, 5, None])
@pytest.mark.parametrize(
    ("form", "as_list"), [(form, i % 2 == 0) for i, form in enumerate(FORMS)]
)
def test_other_data_of_the_same_shape_are_refused(tmp_path, form, as_list, column):
    """After three chunks of the first of five passes over rows, and of the last one."""
    path = tmp_path / "fit.npz"

    def given(*changes):
        chunks = chunks_of(form, *changes)
        return chunks if as_list else dict(enumerate(chunks)).values()

    def model():
        return MeMdClassifier(random_state=0)

    for done, seen in ((5 + 3, range(3)), (25 + 3, (0, 2, 3, 4))):
        fit_stopped(path, model(), given(), done)
        before = path.read_bytes()
        for changed in seen:
            what = "labels or weights" if column is None else "values"
            with pytest.raises(ValueError, match=CHANGED.format(changed, what)):
                fit_chunks(model(), given(changed, column), checkpoint=path)
            path.write_bytes(before)
        same_bits(
            fit_chunks(model(), given()),
            fit_chunks(model(), given(), checkpoint=path, every=1),
        )


def test_what_need_not_be_read_again_is_not_seen(tmp_path):
    """As the docstring of the fit says."""
    path, model = tmp_path / "fit.npz", DivergenceRanker(n_features=2)
    fit_stopped(path, model, chunks_of("arrays"), 5 + 3)
    other = fit_chunks(model, chunks_of("arrays", 1), checkpoint=path)
    same_bits(fit_chunks(model, chunks_of("arrays")), other)


def test_labels_that_change_after_the_look_at_them_are_refused(tmp_path):
    path, model = tmp_path / "fit.npz", MeMdClassifier(n_features=2)
    fit_stopped(path, model, chunks_of("arrays"), 3)
    with pytest.raises(ValueError, match=CHANGED.format(2, "labels or weights")):
        fit_chunks(model, chunks_of("arrays", 2, None), checkpoint=path)


def test_data_that_change_between_two_passes_are_refused(tmp_path):
    class Changing(ArrayChunks):
        reads = 0

        def __getitem__(self, i):
            X, y = super().__getitem__(i)
            self.reads += 1
            return X + (self.reads > 20), y

    X, y = counts()
    with pytest.raises(ValueError, match=CHANGED.format(".", "values")):
        fit_chunks(
            MeMdClassifier(random_state=0),
            Changing(X, y, rows=20),
            checkpoint=tmp_path / "fit.npz",
        )


@pytest.mark.parametrize("done", [5, 7])
def test_strips_of_columns_of_other_data_are_refused(tmp_path, monkeypatch, done):
    monkeypatch.setattr(wide, "_ENTRIES", 30 * 10)
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 40)), np.arange(30) % 3
    path, model = tmp_path / "fit.npz", CorrelatedMeMdClassifier()

    def given(column=None):
        other = X + np.outer(np.arange(30) == 20, np.arange(40) == column)
        return in_parts(other, y, cuts=(0, 15, 30))

    fit_stopped(path, model, given(), done)
    for column in (0, 25, 39):
        with pytest.raises(
            ValueError, match=r"^strip of columns \d has other values than"
        ):
            fit_chunks(model, given(column), checkpoint=path)
    same_bits(fit_chunks(model, given()), fit_chunks(model, given(), checkpoint=path))


def test_the_checkpoint_of_another_version_is_refused(tmp_path, monkeypatch):
    path, model = tmp_path / "fit.npz", MeMdClassifier(random_state=0)
    fit_stopped(path, model, chunks_of("arrays"), 3)
    monkeypatch.setattr(serial, "version", {"memdlib": "0.0.1"}.__getitem__)
    with pytest.raises(ValueError, match=r"of another fit, .*not of \['0\.0\.1'"):
        fit_chunks(model, chunks_of("arrays"), checkpoint=path)


def test_damaged_files_are_named(tmp_path):
    """Bytes changed, left out, put in and cut off, at random places."""
    path, model = tmp_path / "fit.npz", MeMdClassifier(random_state=0)
    chunks = chunks_of("text")
    fit_stopped(path, model, chunks, 12)
    whole = path.read_bytes()
    rng = np.random.default_rng(11)
    for _ in range(75):
        a, b = np.sort(rng.integers(len(whole), size=2))
        flipped = bytearray(whole)
        flipped[a] ^= 1 << rng.integers(8)
        for broken in (
            bytes(flipped),
            whole[:a],
            whole[:a] + whole[b + 1 :],
            whole[:a] + rng.bytes(3) + whole[a:],
        ):
            path.write_bytes(broken)
            with pytest.raises(ValueError, match=r"is no checkpoint; remove the file"):
                fit_chunks(model, chunks, checkpoint=path)
            assert path.read_bytes() == broken
    path.write_bytes(whole)
    same_bits(fit_chunks(model, chunks), fit_chunks(model, chunks, checkpoint=path))


def test_a_folder_is_no_checkpoint(tmp_path):
    with pytest.raises(ValueError, match="is no checkpoint; remove the file"):
        fit_chunks(DivergenceRanker(), chunks_of("arrays"), checkpoint=tmp_path)
