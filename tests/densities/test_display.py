import inspect

import matplotlib as mpl
import numpy as np
import pytest

from memdlib import MaxEntDensity
from memdlib.densities import MaxEntDensityDisplay


@pytest.fixture(autouse=True)
def _without_a_screen():
    mpl.use("Agg")
    with mpl.rc_context():
        mpl.rcdefaults()  # whatever style was chosen before
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


def test_densities_are_drawn_between_their_outermost_thousandths():
    x = np.random.default_rng([48, 2]).normal(size=(90, 2)) * [1, 3] + [0, 5]
    density = MaxEntDensity(2).fit(x)
    axes = mpl.pyplot.subplots()[1]
    display = MaxEntDensityDisplay.from_density(density, sample=x[:, 0], ax=axes)
    assert display.ax_ is axes and not display.levels
    ends = density.ppf([0.001, 0.999])
    assert display.x[0] == ends[0].min() and display.x[-1] == ends[1].max()
    np.testing.assert_allclose(np.diff(display.x, 2), 0, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(display.pdf, density.pdf(display.x))
    for j, line in enumerate(display.lines_):
        assert (line.get_linestyle(), line.get_marker()) == ("-", "")
        np.testing.assert_array_equal(
            line.get_xydata().T, [display.x, display.pdf[:, j]]
        )
    area = sum(bar.get_width() * bar.get_height() for bar in axes.patches)
    assert area == pytest.approx(1.0)
    alone = MaxEntDensityDisplay.from_density(density)
    assert alone.ax_ is not axes and not alone.ax_.patches


def test_levels_are_drawn_as_points_at_the_levels():
    die = MaxEntDensity(1, [1, 2, 5]).from_moments([[2.5], [3.0]])
    display = MaxEntDensityDisplay.from_density(die)
    assert display.levels and display.x.tolist() == [1, 2, 5]
    np.testing.assert_array_equal(display.pdf, die.pdf([1, 2, 5]))
    assert [line.get_linestyle() for line in display.lines_] == ["None", "None"]
    assert [line.get_marker() for line in display.lines_] == ["o", "o"]
    assert display.ax_.get_ylabel() == "probability"
