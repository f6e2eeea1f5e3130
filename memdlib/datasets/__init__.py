"""Simulated data with known truth."""

from memdlib.datasets.simulate import simulate_gaussian_classes, simulate_text_counts

__all__ = ["simulate_gaussian_classes", "simulate_text_counts"]
