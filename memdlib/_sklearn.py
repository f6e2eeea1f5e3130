"""Names that are private in scikit-learn, imported in this module and nowhere else.

Estimators say by ``_parameter_constraints`` what their parameters may be, in the
classes that scikit-learn's own use; weights, feature names and the want of matplotlib
are checked by its functions, with its messages. Code of our own would say the same in
other words. If one of these names moves, one import changes.
"""

from sklearn import utils
from sklearn.utils import _optional_dependencies, _param_validation, validation

Interval = _param_validation.Interval
StrOptions = _param_validation.StrOptions
validate_params = _param_validation.validate_params

check_feature_names_in = validation._check_feature_names_in
check_sample_weight = validation._check_sample_weight
check_matplotlib_support = _optional_dependencies.check_matplotlib_support
safe_indexing = utils._safe_indexing
