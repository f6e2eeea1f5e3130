"""What the complexity of the conditional model is made of, for those who look inside.

The model on its levels, the boundary and its closed form, certified fits, the exact
ways to the sum and the approximations. Functions here take what `level_model` returns,
and check nothing.
"""

from memdlib.nml._engine.approximate import fisher_complexity
from memdlib.nml._engine.boundary import (
    boundary_sum,
    complexity_bounds,
    elementary_symmetric,
    on_boundary,
    within_bounds,
)
from memdlib.nml._engine.complexity import exact_complexity, forget
from memdlib.nml._engine.draws import monte_carlo_complexity
from memdlib.nml._engine.enumeration import enumerated_complexity
from memdlib.nml._engine.fits import LogitSolver
from memdlib.nml._engine.level_model import level_model
from memdlib.nml._engine.rule import gauss_complexity
from memdlib.nml._engine.saturated import (
    saturated_complexity,
    saturated_log_likelihood,
)
from memdlib.nml._engine.statistic_table import (
    statistic_lattice,
    table_work,
    tabulated_complexity,
)

__all__ = [
    "LogitSolver",
    "boundary_sum",
    "complexity_bounds",
    "elementary_symmetric",
    "enumerated_complexity",
    "exact_complexity",
    "fisher_complexity",
    "forget",
    "gauss_complexity",
    "level_model",
    "monte_carlo_complexity",
    "on_boundary",
    "saturated_complexity",
    "saturated_log_likelihood",
    "statistic_lattice",
    "table_work",
    "tabulated_complexity",
    "within_bounds",
]
