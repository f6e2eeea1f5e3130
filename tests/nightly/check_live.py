"""What is recorded of Pyodide is what npm has of it; run by ``make test-nightly``."""

from packaging.requirements import Requirement

from tests.pyodide import fetched, needed, recorded
from tests.wheel import declared, in_extra


def test_the_record_is_that_of_the_release(tmp_path):
    """The packages of the first cell, and IPython, which any kernel has."""
    stored = recorded()
    lock = fetched(stored["pyodide"], tmp_path)
    items = [*declared()["dependencies"], *in_extra("plot"), "ipython"]
    names = {Requirement(item).name for item in items}
    assert needed(lock, names) | {"pyodide": stored["pyodide"]} == stored
