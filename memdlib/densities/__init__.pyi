from memdlib.densities.density import MaxEntDensity as MaxEntDensity
from memdlib.densities.moment_problem import (
    InfeasibleMomentsError as InfeasibleMomentsError,
)
from memdlib.densities.moment_problem import NotConvergedError as NotConvergedError
from memdlib.densities.moment_problem import RoundedMomentsError as RoundedMomentsError
from memdlib.densities.moment_problem import solve_dual as solve_dual
from memdlib.densities.support import Support as Support
from memdlib.densities.support import gauss_legendre as gauss_legendre
from memdlib.densities.support import read_support as read_support
