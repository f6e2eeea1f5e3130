"""What the browser has: its record is right, and the chapters run with its versions.

Run it by ``make test-nightly``.
"""

import sys

import pytest
from packaging.requirements import Requirement

from tests.book.test_archive import check_notebook, kernel_of, unpack
from tests.book.test_live import LIVE
from tests.pyodide import fetched, needed, recorded
from tests.wheel import declared, in_extra, run


def test_the_record_is_that_of_the_release(tmp_path):
    """The packages of the first cell, and IPython, which any kernel has."""
    stored = recorded()
    lock = fetched(stored["pyodide"], tmp_path)
    items = [*declared()["dependencies"], *in_extra("plot"), "ipython"]
    names = {Requirement(item).name for item in items}
    assert needed(lock, names) | {"pyodide": stored["pyodide"]} == stored


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The archive, and an environment with the versions of packages in the browser.

    A version that does not exist for this Python gives way to the last one before it.
    """
    made = tmp_path_factory.mktemp("made")
    folder = unpack(made, tmp_path_factory.mktemp("unpacked"))
    run(sys.executable, "-m", "venv", "--without-pip", str(made / "env"))
    python = str(made / "env" / "bin" / "python")
    versions = recorded()["versions"]
    items = [*declared()["dependencies"], *in_extra("plot")]
    names = {Requirement(item).name for item in items}
    wanted = [f"{name}<={versions[name]}" for name in sorted(names)]
    install = (sys.executable, "-m", "uv", "pip", "install", "-q", "--python", python)
    run(*install, *wanted, "pillow", "ipykernel")
    (wheel,) = folder.glob("*.whl")
    run(*install, "--no-deps", str(wheel))
    with kernel_of(made, python):
        yield folder


@pytest.mark.parametrize("name", LIVE)
def test_a_notebook_shows_the_same_with_the_versions_of_the_browser(unpacked, name):
    check_notebook(unpacked, name)
