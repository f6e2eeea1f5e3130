"""Arguments without meaning are refused in words, whichever public function gets them.

Only by ValueError or TypeError, and not in the words that NumPy or Python have for what
went wrong inside.
"""

import re
from inspect import signature

import numpy as np
import pytest

from memdlib import (
    PLSA,
    MaxEntDensity,
    MeMdClassifier,
    datasets,
    densities,
    divergences,
    families,
    generative,
    kernels,
    make_memd,
    moments,
    nml,
    topics,
)

X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 0.0], [4.0, 1.0]])
Y = np.array([0, 0, 1, 1])
P = np.array([[0.5, 0.5], [0.25, 0.75]])
HALF = [0.5, 0.5]
MEMD = MeMdClassifier(n_features=None).fit(X, Y)
NML = nml.NMLClassifier(n_moments=1, n_bins=2).fit(X, Y)
TOPICS = PLSA(2, random_state=0).fit(X)
DENSITY = MaxEntDensity(2).fit([1.0, 2.0, 4.0])

# each function with arguments that it takes
CALLS = [
    (divergences.kl, {"p": P, "q": P}),
    (divergences.jeffreys, {"p": P, "q": P}),
    (divergences.jensen_shannon, {"P": P, "weights": HALF}),
    (divergences.jensen_tsallis, {"P": P, "q": 2.0, "weights": HALF}),
    (divergences.js_gm, {"P": P, "weights": HALF}),
    (kernels.js_kernel, {"X": P, "Y": P}),
    (kernels.exponential_js_kernel, {"X": P, "Y": P, "t": 1.0}),
    (kernels.jt_kernel, {"X": P, "Y": P, "q": 1.0}),
    (kernels.weighted_jt_kernel, {"X": P, "Y": P, "q": 1.0, "version": "A"}),
    (
        moments.class_moments,
        {"X": X, "codes": Y, "n_classes": 2, "order": 2, "sample_weight": None},
    ),
    (moments.joint_moments, {"X": X, "codes": Y, "n_classes": 2}),
    (moments.translate, {"sums": X, "weight": np.ones(4), "shift": np.ones(4)}),
    (moments.translate_natural, {"lam": X, "location": np.ones(4)}),
    (nml.conditional_codelength, {"x": [1, 1, 2], "labels": [0, 1, 1], "n_moments": 1}),
    (
        nml.conditional_complexity,
        {"level_counts": [3, 4], "n_moments": 1, "level_values": None},
    ),
    (
        nml.conditional_complexity_estimate,
        {
            "level_counts": [3, 4],
            "n_moments": 1,
            "method": "auto",
            "n_draws": 100,
            "random_state": 0,
        },
    ),
    (nml.conditional_error, {"level_counts": [3, 4], "ones": [1, 2], "n_moments": 1}),
    (nml.count_levels, {"levels": [[0, 1], [1, 0]], "labels": [0, 1], "n_levels": 2}),
    (nml.discrete_codelength, {"counts": [1, 2], "levels": [0.0, 1.0], "n_moments": 1}),
    (nml.discrete_complexity, {"n": 4, "levels": [0.0, 1.0], "n_moments": 1}),
    (nml.exponential_complexity, {"n": 3, "mean_range": (0.1, 1.0), "upper": np.inf}),
    (
        nml.feature_codelengths,
        {"counts": [[3, 4]], "ones": [[1, 2]], "n_moments": [1], "level_values": None},
    ),
    (
        nml.gaussian_complexity,
        {"n": 3, "mean_range": (0, 1), "scale_range": (0.1, 1), "scale": None},
    ),
    (nml.geometric_complexity, {"n": 3, "largest_sum": 5}),
    (nml.multinomial_codelength, {"counts": [1, 2]}),
    (nml.multinomial_complexity, {"n": 4, "n_levels": 2}),
    (topics.fisher_scores, {"model": TOPICS, "X": X}),
    (topics.free_energy_terms, {"model": TOPICS, "X": X}),
    (topics.log_likelihoods, {"model": TOPICS, "X": X}),
    (topics.posterior_divergences, {"model": TOPICS, "X": X}),
    (topics.maxent_scores, {"X": X, "lam": MEMD.natural_params_[0]}),
    (
        topics.fold_in,
        {"counts": X, "components": TOPICS.components_, "prior": np.array(HALF)},
    ),
    (
        generative.fit_calibration,
        {"scores": [np.log([*P, *P])], "codes": Y, "sample_weight": None},
    ),
    (generative.contributions, {"model": MEMD, "X": X, "label": 1}),
    (families.get_family, {"family": "normal"}),
    (make_memd, {"kind": "table"}),
    (densities.gauss_legendre, {"n_nodes": 4}),
    (DENSITY.from_moments, {"mu": [0.0, 1.0]}),
    (DENSITY.fit, {"x": [1.0, 2.0, 4.0]}),
    (datasets.simulate_gaussian_classes, {"n_samples": 20, "n_features": 5}),
    (MEMD.accuracy_curve, {"X": X, "y": Y, "n_features_grid": [1]}),
    (NML.accuracy_curve, {"X": X, "y": Y, "n_features_grid": [1]}),
    (MEMD.predict, {"X": X}),
    (NML.predict, {"X": X}),
    (TOPICS.transform, {"X": X}),
]
MEANS = {"normal": [0.5, 1.0], "polynomial": [0.5, 0.33], "categorical": [0.4, 0.6]}


def family_calls():
    """The methods of every family, with two members of one feature."""
    names = [*families.family_names(), "categorical"]
    for name in names:
        family = families.Categorical()
        if name != "categorical":
            family = families.get_family(name)
        mu = np.tile(MEANS.get(name, [0.4]), (2, 1, 1))
        lam = family.natural(mu)
        yield family.natural, {"mu": mu}
        yield family.mean, {"lam": lam}
        yield family.log_normaliser, {"lam": lam}
        yield family.entropy, {"mu": mu}
        yield family.kl, {"mu1": mu[0], "mu2": mu[1]}
        yield family.jeffreys, {"mu1": mu[0], "mu2": mu[1]}
        yield family.js_gm, {"mu": mu, "weights": HALF}
        yield family.jensen_shannon, {"mu": mu, "weights": HALF}
        yield family.log_density, {"X": [0.0], "lam": lam[0]}


GARBAGE = [
    None,
    "x",
    2.5,
    [],
    object(),
    [1, [2]],
    np.array(["a", "b", "a"]),
    np.array(["2020-01-01"] * 4, "M8[D]"),
    1,
    {},
    np.ones((1, 1, 3)),
    np.nan,
    np.ones((2, 2)) * 1j,
    -1,
    [1],
]
# what the insides say of a wrong type
INSIDE = (
    "ufunc|subscriptable|not iterable|has no attribute|unhashable|unsupported operand|"
    r"Cannot cast|interpreted as|no len\(\)|not supported between|unpack"
)


def name(call):
    owner = getattr(call, "__self__", None)
    return f"{type(owner).__name__}.{call.__name__}" if owner else call.__name__


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("call", "valid"),
    [pytest.param(*case, id=name(case[0])) for case in [*CALLS, *family_calls()]],
)
def test_garbage_is_refused_in_words(call, valid):
    call(**valid)
    obscure = []
    for parameter in valid:
        assert parameter in signature(call).parameters
        for value in GARBAGE:
            try:
                call(**(valid | {parameter: value}))
            except (TypeError, ValueError) as error:
                if re.search(INSIDE, str(error)):
                    obscure.append((parameter, value, error))
    assert not obscure
