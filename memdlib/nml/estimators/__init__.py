"""Estimators to the scikit-learn contract: quantiser, selector and classifier."""
