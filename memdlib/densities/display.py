"""A display of densities in scikit-learn's style.

It needs matplotlib (``pip install 'memdlib[plot]'``), which is imported on use.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memdlib._types import Axes

Array = NDArray[np.float64]


@dataclass
class Display:
    """Base of displays: the axes that they were drawn on, and the figure.

    Attributes
    ----------
    ax_, figure_ : Axes and Figure of matplotlib
    """

    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    def _on(self, ax: Axes | None) -> Axes:
        """The axes given, or those of a new figure, from here on also in ``ax_``.

        Raises
        ------
        ImportError
            If matplotlib is not there.
        """
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError as error:
                raise ImportError(
                    "displays need matplotlib; install it with "
                    "pip install 'memdlib[plot]'"
                ) from error
            ax = pyplot.subplots()[1]
        self.ax_, self.figure_ = ax, ax.figure
        return ax


@dataclass
class MaxEntDensityDisplay(Display):
    """Densities against x, over the histogram of a sample if one is given.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Where the densities are drawn; the levels, if the support is finite.
    pdf : ndarray of shape (n, B)
    levels : bool
        Whether the densities are probabilities of levels, drawn as points.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of Line2D

    Examples
    --------
    >>> from memdlib import MaxEntDensity
    >>> density = MaxEntDensity(1, (0, 2)).from_moments([1.2])
    >>> display = MaxEntDensityDisplay.from_density(density)
    >>> display.pdf.shape
    (400, 1)
    """

    x: Array
    pdf: Array
    levels: bool
    lines_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_density(
        cls, density, *, sample: ArrayLike | None = None, ax: Axes | None = None
    ) -> "MaxEntDensityDisplay":
        """Draw fitted densities.

        Parameters
        ----------
        density : MaxEntDensity
        sample : array_like, default=None
            Drawn as a histogram.
        ax : matplotlib Axes, default=None

        Returns
        -------
        MaxEntDensityDisplay
        """
        support = density._fitted.support
        if support.levels is not None:
            x = np.array(support.levels)
        else:
            ends = density.ppf([1e-3, 1.0 - 1e-3])
            x = np.linspace(ends[0].min(), ends[1].max(), 400)
        pdf = density.pdf(x).reshape(len(x), -1)
        found = cls(x, pdf, support.levels is not None)
        return found.plot(sample=sample, ax=ax)

    def plot(
        self, *, sample: ArrayLike | None = None, ax: Axes | None = None
    ) -> "MaxEntDensityDisplay":
        """Draw the densities.

        Parameters
        ----------
        sample : array_like, default=None
        ax : matplotlib Axes, default=None

        Returns
        -------
        MaxEntDensityDisplay

        Raises
        ------
        ImportError
            If matplotlib is missing; names the remedy.
        """
        ax = self._on(ax)
        if sample is not None:
            values = np.ravel(sample)
            if self.levels:
                share = (values[:, None] == self.x).mean(axis=0)
                ax.bar(self.x, share, color="0.5", alpha=0.3)
            else:
                ax.hist(values, bins="auto", density=True, color="0.5", alpha=0.3)
        style = {"marker": "o", "linestyle": "none"} if self.levels else {"marker": ""}
        self.lines_ = ax.plot(self.x, self.pdf, **style)
        ax.set(xlabel="x", ylabel="probability" if self.levels else "density")
        return self
