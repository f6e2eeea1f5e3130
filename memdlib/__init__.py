"""Generative maximum-entropy classification with divergence feature selection.

One chain runs through the package: data -> moments -> mean parameters -> natural
parameters -> divergence of each feature -> ranking -> linear score -> class.
"""

from memdlib.classifiers import MeMdClassifier
from memdlib.conditional import ConditionalMaxEntClassifier
from memdlib.density import MaxEntDensity
from memdlib.joint import JointMaxEntClassifier
from memdlib.ranking import DivergenceRanker

__all__ = [
    "ConditionalMaxEntClassifier",
    "DivergenceRanker",
    "JointMaxEntClassifier",
    "MaxEntDensity",
    "MeMdClassifier",
]
__version__ = "0.1.0"
