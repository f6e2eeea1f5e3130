"""Names, options, the registered sets if at hand, and what is said if they are not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from compendium.data import MissingDataError, catalogue, fingerprint, load, names
from compendium.data.registry import entries
from tests.data import at_hand, load_or_skip


@pytest.mark.parametrize("call", [load, fingerprint])
def test_unknown_name_is_answered_with_those_that_are_known(call):
    with pytest.raises(ValueError, match="unknown data set 'colom'; there") as caught:
        call("colom")
    assert all(known in str(caught.value) for known in names())


@pytest.mark.parametrize("name", sorted(entries()))
def test_registered_set_or_how_to_get_it(tmp_path, monkeypatch, name):
    """With the files, their content; without them and a network, the way to them."""
    entry = entries()[name]
    closed = "http://127.0.0.1:1/tiny.bin"  # nobody listens there
    files = [replace(f, url=closed if f.url else "") for f in entry.files]
    apart = replace(entry, files=tuple(files))
    monkeypatch.setattr(catalogue, "entries", lambda: {name: apart})
    monkeypatch.setenv("MEMDLIB_CACHE", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    if at_hand(name):
        data = load(name)  # checks the shape and the classes that the registry states
        n, d = data.X.shape
        assert (n, d) == entry.shape
        assert len(data.y) == n and len(data.feature_names) == d
        for names_of_rows in (data.sample_names, data.split):
            assert names_of_rows is None or len(names_of_rows) == n
        if isinstance(data.X, pd.DataFrame):
            assert "?" not in data.X.to_numpy()
            return
        assert data.X.dtype == np.float64
        values = data.X.data if sparse.issparse(data.X) else data.X
        assert np.isfinite(values).all()
    else:
        with pytest.raises(MissingDataError) as caught:
            load(name)
        message, file = str(caught.value), entry.files[0]
        folder = tmp_path.joinpath(file.path).parent
        for fact in (repr(name), file.path, file.expected()[1], str(folder)):
            assert fact in message


def test_files_of_leukemia_agree():
    whole, part = load_or_skip("leukemia"), load_or_skip("leukemia_5147")
    place = {name: j for j, name in enumerate(whole.feature_names)}
    columns = [place[name] for name in part.feature_names]
    np.testing.assert_array_equal(whole.X[:, columns], part.X)
    np.testing.assert_array_equal(whole.y, part.y)
    assert whole.split.tolist() == part.split.tolist()
    assert np.bincount(whole.y[whole.split == "train"]).tolist() == [27, 11]
