"""Discriminative maximum entropy: classifier, its dual, iterative scaling."""

from memdlib.conditional.classifier import ConditionalMaxEntClassifier
from memdlib.conditional.dual import ConditionalDual

__all__ = ["ConditionalDual", "ConditionalMaxEntClassifier"]
