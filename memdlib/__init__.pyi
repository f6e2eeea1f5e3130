from memdlib import conditional as conditional
from memdlib import datasets as datasets
from memdlib import densities as densities
from memdlib import divergences as divergences
from memdlib import families as families
from memdlib import generative as generative
from memdlib import kernels as kernels
from memdlib import moments as moments
from memdlib import nml as nml
from memdlib import topics as topics
from memdlib.conditional import (
    ConditionalMaxEntClassifier as ConditionalMaxEntClassifier,
)
from memdlib.densities import MaxEntDensity as MaxEntDensity
from memdlib.generative import DivergenceRanker as DivergenceRanker
from memdlib.generative import GreedyGaussianRanker as GreedyGaussianRanker
from memdlib.generative import GreedyInformationRanker as GreedyInformationRanker
from memdlib.generative import JointMaxEntClassifier as JointMaxEntClassifier
from memdlib.generative import MeMdClassifier as MeMdClassifier
from memdlib.generative import make_memd as make_memd
from memdlib.topics import PLSA as PLSA

__version__: str
