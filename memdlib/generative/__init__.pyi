from memdlib.generative.calibration import Calibration as Calibration
from memdlib.generative.calibration import fit_calibration as fit_calibration
from memdlib.generative.correlated import (
    CorrelatedMeMdClassifier as CorrelatedMeMdClassifier,
)
from memdlib.generative.displays import AccuracyCurveDisplay as AccuracyCurveDisplay
from memdlib.generative.displays import RankingDisplay as RankingDisplay
from memdlib.generative.documents import (
    MultinomialMeMdClassifier as MultinomialMeMdClassifier,
)
from memdlib.generative.explanations import contributions as contributions
from memdlib.generative.greedy import GreedyGaussianRanker as GreedyGaussianRanker
from memdlib.generative.greedy import GreedyInformationRanker as GreedyInformationRanker
from memdlib.generative.joint import JointMaxEntClassifier as JointMaxEntClassifier
from memdlib.generative.marginals import ClassMarginals as ClassMarginals
from memdlib.generative.memd import MeMdClassifier as MeMdClassifier
from memdlib.generative.mixture import MixtureClassifier as MixtureClassifier
from memdlib.generative.ranking import DivergenceRanker as DivergenceRanker
from memdlib.generative.ranking import rank as rank
from memdlib.generative.recommended import make_memd as make_memd
from memdlib.generative.recommended import normal_scores as normal_scores
from memdlib.generative.regularised import (
    RegularisedMeMdClassifier as RegularisedMeMdClassifier,
)
from memdlib.generative.weighting import DivergenceWeighter as DivergenceWeighter
