import inspect

import matplotlib as mpl
import numpy as np
import pytest

from memdlib import MaxEntDensity
from memdlib.densities import MaxEntDensityDisplay


@pytest.fixture(autouse=True)
def _without_a_screen():
    mpl.use("Agg")
    yield
    mpl.pyplot.close("all")


def test_densities_and_their_sample_are_drawn():
    x = np.random.default_rng([48, 1]).normal(size=(200, 2))
    display = MaxEntDensityDisplay.from_density(MaxEntDensity(2).fit(x), sample=x)
    assert len(display.lines_) == 2
    assert display.pdf.shape == (400, 2)
    np.testing.assert_allclose(
        np.trapezoid(display.pdf, display.x, axis=0), 1, rtol=0, atol=0.01
    )
    assert display.ax_.get_ylabel() == "density"
    assert len(display.ax_.patches) > 3


def test_levels_are_points():
    die = MaxEntDensity(1, range(1, 7)).from_moments([4.5])
    display = MaxEntDensityDisplay.from_density(die, sample=[1, 4, 4, 6])
    assert display.pdf.sum() == pytest.approx(1)
    assert [patch.get_height() for patch in display.ax_.patches] == [
        0.25, 0, 0, 0.5, 0, 0.25
    ]  # fmt: skip
    again = display.plot(ax=display.ax_)
    assert again.ax_.get_ylabel() == "probability"


def test_a_display_is_told_by_its_data():
    display = MaxEntDensityDisplay(np.array([0.0, 1.0]), np.ones((2, 1)), False)
    told = repr(display)
    assert display.ax_ is display.figure_ is display.lines_ is None
    assert repr(display.plot()) == told and "_=" not in told
    given = list(inspect.signature(MaxEntDensityDisplay).parameters)
    assert given == ["x", "pdf", "levels"]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("x", "density")
    assert display.figure_ is display.ax_.figure
