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
Counts of words                   ``make_memd("text")``
Few features, a density for each  :class:`MeMdClassifier`
Only a ranking or a selection     :class:`DivergenceRanker`
The same, without redundancy      :class:`GreedyInformationRanker`
One covariance a class            :class:`JointMaxEntClassifier`
Posteriors, no model of features  :class:`ConditionalMaxEntClassifier`
A density with given moments      :class:`MaxEntDensity`
Moments or genes by code length   :mod:`memdlib.nml`
================================  ====================================
"""

from memdlib._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "PLSA": "topics",
        "ConditionalMaxEntClassifier": "conditional",
        "DivergenceRanker": "generative",
        "GreedyGaussianRanker": "generative",
        "GreedyInformationRanker": "generative",
        "JointMaxEntClassifier": "generative",
        "MaxEntDensity": "densities",
        "MeMdClassifier": "generative",
        "make_memd": "generative",
    },
    "datasets",
    "divergences",
    "families",
    "kernels",
    "moments",
    "nml",
)
__version__ = "0.3.0"
