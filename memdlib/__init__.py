"""Generative maximum-entropy classification with divergence feature selection.

One chain runs through the package: data -> moments -> mean parameters -> natural
parameters -> divergence of each feature -> ranking -> linear score -> class.
"""

from typing import TYPE_CHECKING

from memdlib.generative.joint import JointMaxEntClassifier
from memdlib.generative.memd import MeMdClassifier
from memdlib.generative.ranking import DivergenceRanker
from memdlib.on_use import on_use

if TYPE_CHECKING:
    from memdlib.conditional.classifier import ConditionalMaxEntClassifier
    from memdlib.densities.density import MaxEntDensity
    from memdlib.generative.greedy import GreedyGaussianRanker, GreedyInformationRanker
    from memdlib.generative.recommended import make_memd
    from memdlib.topics.plsa import PLSA

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
__version__ = "0.2.0"

__getattr__, __dir__ = on_use(
    __name__,
    {
        "conditional.classifier": ["ConditionalMaxEntClassifier"],
        "densities.density": ["MaxEntDensity"],
        "generative.greedy": ["GreedyGaussianRanker", "GreedyInformationRanker"],
        "generative.recommended": ["make_memd"],
        "topics.plsa": ["PLSA"],
    },
)
