"""Generative maximum-entropy classification with divergence feature selection.

One chain runs through the package: data -> moments -> mean parameters -> natural
parameters -> divergence of each feature -> ranking -> linear score -> class.

Which to use when
-----------------
================================  ====================================
You have, or want                 Use
================================  ====================================
A table of measurements           ``make_memd("table")``
Gene expression, wide and short   ``make_memd("expression")``
Texts, or word counts             ``make_memd("text")``
Few features, a density for each  :class:`MeMdClassifier`
Only a ranking or a selection     :class:`DivergenceRanker`
The same, without redundancy      :class:`GreedyInformationRanker`
One covariance per class          :class:`JointMaxEntClassifier`
Posteriors, no feature model      :class:`ConditionalMaxEntClassifier`
A density with given moments      :class:`MaxEntDensity`
Moments or genes by code length   :mod:`memdlib.nml`
================================  ====================================
"""

from memdlib import datasets as datasets
from memdlib import divergences as divergences
from memdlib import kernels as kernels
from memdlib import nml as nml
from memdlib.conditional import ConditionalMaxEntClassifier
from memdlib.densities import MaxEntDensity
from memdlib.generative import (
    DivergenceRanker,
    GreedyGaussianRanker,
    GreedyInformationRanker,
    JointMaxEntClassifier,
    MeMdClassifier,
    make_memd,
)
from memdlib.topics import PLSA

__all__ = [
    "PLSA",
    "ConditionalMaxEntClassifier",
    "DivergenceRanker",
    "GreedyGaussianRanker",
    "GreedyInformationRanker",
    "JointMaxEntClassifier",
    "MaxEntDensity",
    "MeMdClassifier",
    "make_memd",
]
__version__ = "0.3.0"
