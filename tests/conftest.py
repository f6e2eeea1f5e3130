"""Settings for all tests; they must be made before NumPy and SciPy are imported."""

import os
import re
from collections import Counter
from functools import wraps

import pytest
from hypothesis import settings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ["SCIPY_ARRAY_API"] = "1"  # scikit-learn leaves a check out without it

settings.register_profile("reproducible", derandomize=True, deadline=None)
settings.load_profile("reproducible")


def unwritten(create):
    """What creates arrays, with signalling NaN in the place of whatever was there."""
    import numpy as np

    signalling = np.array(0x7FF4000000000000).view(np.float64)

    @wraps(create)
    def created(*args, **kwargs):
        found = create(*args, **kwargs)
        if isinstance(found, np.ndarray) and found.dtype == np.float64:
            found[...] = signalling
        return found

    return created


@pytest.hookimpl(tryfirst=True)
def pytest_configure():
    """Let arithmetic on memory that nothing was written to fail, and not by chance."""
    import numpy as np

    np.empty, np.empty_like = unwritten(np.empty), unwritten(np.empty_like)


@pytest.fixture(autouse=True)
def fifty_digits():
    """References have 50 digits in every test, whatever was imported or ran before."""
    import mpmath

    with mpmath.workdps(50):
        yield


def wanted(report):
    """The data set for want of which a test was left out; None for other reasons."""
    from compendium.data import names

    told = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
    found = re.fullmatch(r"Skipped: needs (\w+)", told)
    return found[1] if found and found[1] in names() else None


def judged(report):
    """Make a failure of a test that is left out for anything but a lack of data."""
    if report.skipped and not wanted(report):
        report.outcome = "failed"
        report.longrepr = (
            "tests are left out by pytest.skip('needs <data set>') and for nothing "
            f"else; here: {report.longrepr}"
        )
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return judged((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return judged((yield))


def pytest_terminal_summary(terminalreporter):
    """Say how many tests were left out, and which data they would have needed."""
    left_out = Counter(map(wanted, terminalreporter.stats.get("skipped", [])))
    if left_out:
        told = ", ".join(f"{name} ({n})" for name, n in sorted(left_out.items()))
        total = left_out.total()
        terminalreporter.write_line(f"{total} tests left out for want of data: {told}")
