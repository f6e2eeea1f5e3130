"""The forms in which rdata hands out a list with a matrix and a factor."""

import hashlib

import numpy as np
import pandas as pd
import pytest
import rdata
import xarray as xr
from rdata.conversion import to_r

from memdlib.datasets import DatasetError, catalogue, load
from memdlib.datasets.readers import READERS, Table, r_list

VALUES = np.array([[1.5, 2.0], [3.0, 4.0], [5.0, -6.0]])
LABELS = ["t", "n", "t"]


def matrix_with_dimnames(data, converter):
    """Teach rdata to write what it reads as a DataArray."""
    matrix = converter.convert_to_r_object(data.values.ravel(order="F"))
    names = [
        data.coords[dimension].values if dimension in data.coords else None
        for dimension in data.dims
    ]
    matrix.attributes = converter.convert_to_r_attributes(
        {"dim": np.array(data.shape, dtype=np.int32), "dimnames": names}
    )
    matrix.info.attributes = True
    return matrix


def write(path, x, y):
    constructors = {**to_r.DEFAULT_CLASS_MAP, xr.DataArray: matrix_with_dimnames}
    rdata.write_rda(path, {"set": {"x": x, "y": y}}, constructor_dict=constructors)
    return path


def named(rows, columns):
    coords = {"a": rows, "b": columns}
    known = {dim: names for dim, names in coords.items() if names is not None}
    return xr.DataArray(VALUES, dims=["a", "b"], coords=known)


FORMS = {
    "ndarray": (VALUES, None, None),
    "dimnames": (named(["s1", "s2", "s3"], ["g1", "g2"]), ["s1", "s2", "s3"], True),
    "numbered": (named(["1", "2", "3"], ["g1", "g2"]), None, True),
    "columns only": (named(None, ["g1", "g2"]), None, True),
    "data frame": (
        pd.DataFrame(VALUES, columns=["g1", "g2"], index=pd.RangeIndex(1, 4)),
        None,
        True,
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("y", [pd.Categorical(LABELS), np.array(LABELS)])
def test_r_list_gives_one_form_for_all(tmp_path, form, y):
    x, rows, has_columns = FORMS[form]
    table = r_list(write(tmp_path / "set.rda", x, y))
    np.testing.assert_array_equal(table.X, VALUES)
    assert table.labels == LABELS
    assert table.sample_names == rows
    assert table.feature_names == (["g1", "g2"] if has_columns else None)


@pytest.fixture
def make_set(folders, monkeypatch, make_entry):
    """Put a file into the mirror and an entry for it into the registry."""

    def make(x, **changes):
        path = write(folders[0] / "tiny.rda", x, pd.Categorical(LABELS))
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        entry = make_entry(file="tiny.rda", sha256=sha256, **changes)
        monkeypatch.setattr(catalogue, "entries", lambda: {"tiny": entry})
        return entry

    return make


def test_load_normalises_a_registered_set(make_set):
    entry = make_set(FORMS["dimnames"][0])
    data = load("tiny")
    assert data.X.dtype == np.float64 and data.X.flags.c_contiguous
    np.testing.assert_array_equal(data.X, VALUES)
    assert data.y.dtype == np.int64 and data.y.tolist() == [1, 0, 1]
    assert data.target_names.tolist() == ["normal", "tumour"]
    assert data.feature_names.tolist() == ["g1", "g2"]
    assert data.sample_names.tolist() == ["s1", "s2", "s3"]
    assert (data.name, data.sha256) == ("tiny", entry.sha256)
    assert (data.source, data.licence) == ("made for a test", "none")
    assert entry.url in data.DESCR and "normal 1, tumour 2" in data.DESCR


def test_load_names_what_the_file_leaves_unnamed(make_set):
    make_set(VALUES)
    data = load("tiny")
    assert data.feature_names.tolist() == ["feature0000", "feature0001"]
    assert data.sample_names is None


@pytest.mark.parametrize(
    "changes",
    [{"shape": (2, 3)}, {"classes": {"normal": 2, "tumour": 1}}, {"labels": {}}],
)
def test_registry_that_states_other_facts_is_an_error(make_set, changes):
    make_set(VALUES, **changes)
    with pytest.raises(DatasetError, match="'tiny'.*r_list.*registry states"):
        load("tiny")


def test_keyword_only_parameters_of_a_reader_are_options(make_set, monkeypatch):
    def first_rows(path, *, rows=3):
        table = r_list(path)
        return Table(table.X[:rows], table.labels[:rows])

    monkeypatch.setitem(READERS, "first_rows", first_rows)
    make_set(VALUES, reader="first_rows")
    assert load("tiny").X.shape == (3, 2)
    assert load("tiny", rows=2).X.shape == (2, 2)
    with pytest.raises(TypeError, match="unknown option row for .*'tiny'.* takes rows"):
        load("tiny", row=2)
