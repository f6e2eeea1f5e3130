"""Exact complexities of the conditional model of labels on levels."""
