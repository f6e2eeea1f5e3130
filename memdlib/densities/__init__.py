"""From moments to a density: supports, Newton on the dual, the moment problem."""

from typing import TYPE_CHECKING

from memdlib.densities.measures import InfeasibleMomentsError, RoundedMomentsError
from memdlib.densities.moment_problem import NotConvergedError
from memdlib.densities.newton import solve_dual
from memdlib.densities.support import Support, gauss_legendre, read_support
from memdlib.on_use import on_use

if TYPE_CHECKING:
    from memdlib.densities.density import MaxEntDensity
    from memdlib.densities.display import MaxEntDensityDisplay

__all__ = [
    "InfeasibleMomentsError",
    "MaxEntDensity",
    "MaxEntDensityDisplay",
    "NotConvergedError",
    "RoundedMomentsError",
    "Support",
    "gauss_legendre",
    "read_support",
    "solve_dual",
]

__getattr__, __dir__ = on_use(
    __name__,
    {"density": ["MaxEntDensity"], "display": ["MaxEntDensityDisplay"]},
)
