"""What is installed is memdlib alone, and it works with what it declares to need."""

import zipfile
from email.parser import Parser

import pytest
from packaging.requirements import Requirement

import memdlib
from tests.wheel import PROJECT, build, declared, environment, in_extra, run

BOOK = ("pandas", "pooch", "rdata", "xarray")  # what only the book needs

PROGRAM = """
import importlib.util
import pkgutil
import sys

import numpy as np

assert [name for name in {others!r} if importlib.util.find_spec(name)] == []

import memdlib
from memdlib import datasets, nml

assert memdlib.__file__.startswith(sys.prefix), memdlib.__file__

data = datasets.simulate_gaussian_classes(n_samples=80, n_features=6)
for estimator in (
    memdlib.MeMdClassifier(random_state=0),
    memdlib.JointMaxEntClassifier(),
    memdlib.ConditionalMaxEntClassifier(),
):
    assert estimator.fit(data.X, data.y).score(data.X, data.y) > 0.7
ranker = memdlib.DivergenceRanker(n_features=2)
assert ranker.fit_transform(data.X, data.y).shape == (80, 2)
density = memdlib.MaxEntDensity(2, support=(-9, 9))
assert density.fit(data.X[:, 0]).moment_residual_ < 1e-9
assert abs(nml.multinomial_codelength([27, 11]) - 24.99) < 0.005

for module in pkgutil.walk_packages(memdlib.__path__, "memdlib."):
    try:
        importlib.import_module(module.name)
    except ImportError as error:
        assert module.name == "memdlib.dask", error
        assert "No module named 'dask'" in str(error)
    else:
        assert module.name != "memdlib.dask"
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built here and now without a network."""
    return build(tmp_path_factory.mktemp("wheel"))


def requirements(items, marker=""):
    return {str(Requirement(f"{item}{marker}")) for item in items}


def test_it_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    about = f"memdlib-{memdlib.__version__}.dist-info/"
    inside = {name for name in names if not name.startswith(about)}
    files = PROJECT.joinpath("memdlib").rglob("*")
    sources = (path for path in files if path.suffix == ".py")
    assert inside == {path.relative_to(PROJECT).as_posix() for path in sources}


def test_it_declares_its_packages_and_the_extras(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("/METADATA"))
        about = Parser().parsestr(archive.read(name).decode())
    project = declared()
    expected = requirements(project["dependencies"])
    names = {Requirement(item).name for item in project["dependencies"]}
    assert names == {"numpy", "scipy", "scikit-learn"}
    for extra in project["optional-dependencies"]:
        expected |= requirements(in_extra(extra), f"; extra == '{extra}'")
    assert requirements(about.get_all("Requires-Dist")) == expected
    assert set(about.get_all("Provides-Extra")) == {"dask", "notebooks", "plot"}


def test_it_works_with_what_it_declares_alone(wheel, tmp_path):
    """In an environment of its own, away from the checkout and from the extras."""
    python = environment(tmp_path, wheel)
    program = PROGRAM.format(
        others=(*BOOK, "matplotlib", "dask", "pyarrow", "compendium", "tests")
    )
    run(python, "-I", "-W", "error", "-c", program, cwd=tmp_path, env={})
