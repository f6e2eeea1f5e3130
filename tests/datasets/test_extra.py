"""What is not installed is asked for by the name of the extra."""

import sys

import pytest

from memdlib.datasets import fetch, load
from memdlib.datasets.extra import from_extra
from memdlib.datasets.readers import READERS


def test_a_package_that_is_there():
    assert from_extra("json", "a test").dumps([1]) == "[1]"


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("pandas", lambda: load("iris", as_frame=True)),
        ("pandas", lambda: READERS["csv_class_last"]("lost")),
        ("pandas", lambda: READERS["orange_tab"]("lost")),
        ("pandas", lambda: READERS["tsv_genes_by_samples"]("lost")),
        ("pandas", lambda: READERS["amazon_reviews"]("lost")),
        ("rdata", lambda: READERS["r_list"]("lost")),
        ("rdata", lambda: READERS["r_train_test"]("lost", train="a", test="b")),
        ("rdata", lambda: READERS["r_srbct"]("lost", n_train=1)),
    ],
)
def test_a_package_that_is_not_installed(monkeypatch, package, call):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"{package}.*'memdlib\[data\]'"):
        call()


def test_what_needs_no_package_of_the_extra(folders, monkeypatch, make_entry):
    """Looking into the mirror, and the sets of scikit-learn."""
    for package in ("pandas", "pooch", "rdata", "xarray"):
        monkeypatch.setitem(sys.modules, package, None)
    assert load("iris").X.shape == (150, 4)
    path = folders[0] / "tiny.bin"
    path.write_bytes(b"tiny")
    assert fetch.locate(make_entry(b"tiny", path="tiny.bin")) == [path]
    path.unlink()
    monkeypatch.delenv("MEMDLIB_CACHE")
    with pytest.raises(ImportError, match=r"pooch.*'memdlib\[data\]'"):
        fetch.locate(make_entry(b"tiny", path="tiny.bin"))
