"""Settings for all tests; they must be made before NumPy and SciPy are imported."""

import os

from hypothesis import settings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ["SCIPY_ARRAY_API"] = "1"  # scikit-learn leaves a check out without it

settings.register_profile("reproducible", derandomize=True, deadline=None)
settings.load_profile("reproducible")
