"""A fit that was interrupted anywhere goes on to the same bits."""

import numpy as np
import pytest

from memdlib import DivergenceRanker, MeMdClassifier
from memdlib.parts import fit_chunks
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


@pytest.mark.parametrize("kind", [int, object])
@pytest.mark.parametrize("every", [1, 4])
@pytest.mark.parametrize("as_list", [False, True])
def test_stopped_after_any_chunk(tmp_path, kind, every, as_list):
    X, y = counts()
    y = y if kind is int else np.array(["ape", "bee", "cow"], dtype=object)[y]
    parts = in_parts(X / 3, y)
    chunks = parts if as_list else dict(enumerate(parts)).values()

    def model():
        return MeMdClassifier(random_state=0)

    one, n_steps = fit_chunks(model(), chunks), 4 * len(parts)
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
