"""Private names of scikit-learn, imported only in this module.

Estimators declare valid parameters in ``_parameter_constraints``, with the same classes
as scikit-learn's own estimators. Its functions also check weights, feature names and
whether matplotlib or pandas is installed, with its messages; our own code would
duplicate them in other words. If one of these names moves, a single import changes.
"""

from sklearn import utils
from sklearn.utils import _optional_dependencies, _param_validation, validation

Interval = _param_validation.Interval
StrOptions = _param_validation.StrOptions
validate_params = _param_validation.validate_params

check_feature_names_in = validation._check_feature_names_in
check_sample_weight = validation._check_sample_weight
check_matplotlib_support = _optional_dependencies.check_matplotlib_support
check_pandas_support = _optional_dependencies.check_pandas_support
safe_indexing = utils._safe_indexing
