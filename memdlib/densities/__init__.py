"""From moments to a density: supports, Newton on the dual, the moment problem."""

from memdlib.densities.density import MaxEntDensity
from memdlib.densities.display import MaxEntDensityDisplay
from memdlib.densities.measures import InfeasibleMomentsError, RoundedMomentsError
from memdlib.densities.moment_problem import NotConvergedError, solve_dual
from memdlib.densities.support import Support, gauss_legendre, read_support

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
