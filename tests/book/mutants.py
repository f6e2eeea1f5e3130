"""Formulas of memdlib and how to break them, each with a check that must notice."""

import numpy as np

from compendium.study import error_bounds
from memdlib import (
    ConditionalMaxEntClassifier,
    JointMaxEntClassifier,
    MaxEntDensity,
    divergences,
    kernels,
    moments,
    nml,
    topics,
)
from memdlib.conditional import ConditionalDual, iterative_scaling
from memdlib.densities import InfeasibleMomentsError
from memdlib.families import Exponential, Multinomial, Normal, TruncatedExponential
from memdlib.generative import ClassMarginals
from memdlib.generative.pooled import InverseRoot
from memdlib.nml import alphabet


def scaled(factor):
    return lambda f: lambda *a, **k: factor * f(*a, **k)


def unweighted(f):
    """Equal weights in the place of those given."""
    return lambda *a, **k: f(a[0], a[1], np.full(len(a[2]), 1 / len(a[2])), *a[3:], **k)


def without_weights(f):
    return lambda P, weights=None: f(P)


def blunted(f):
    """The densities of moments a little off."""
    return lambda self, mu: f(self, np.asarray(mu) * (1 - 1e-4))


def always_answered(f):
    """The density of fewer moments where there is none."""

    def broken(self, mu):
        try:
            return f(self, mu)
        except InfeasibleMomentsError:
            return f(MaxEntDensity(2), [0.0, 1.0])

    return broken


def half_penalised(f):
    return lambda Z, codes, n, weight, penalty: f(Z, codes, n, weight, 0.5 * penalty)


def sharpened(p):
    p = p**1.01
    return p / p.sum(axis=1, keepdims=True)


def reversed_classes(f):
    """The class itself in the place of its complement."""

    def broken(self):
        pairs = f(self)
        parts = pairs.weight, pairs.sums, pairs.location
        return type(pairs)(*(values[:, ::-1] for values in parts))

    return broken


def worst_first(f):
    return lambda *a, **k: 1 / f(*a, **k)


# where the formula stands, its name, what breaks it, and the tag of the check
MUTANTS = {
    "sign of J": (Normal, "jeffreys", scaled(-1), "witness-thm-margin"),
    "J without 1/2": (Normal, "jeffreys", scaled(2), "witness-thm-margin"),
    "complement and class": (
        moments.ClassMoments,
        "one_vs_rest",
        reversed_classes,
        "witness-prop-complement",
    ),
    "sign of natural parameters": (
        Exponential,
        "natural",
        scaled(-1),
        "witness-prop-me-table",
    ),
    "entropy in bits": (
        TruncatedExponential,
        "entropy",
        scaled(1 / np.log(2)),
        "witness-prop-me-table",
    ),
    "moments a little off": (
        MaxEntDensity,
        "from_moments",
        blunted,
        "witness-thm-ex-duality",
    ),
    "an answer where there is none": (
        MaxEntDensity,
        "from_moments",
        always_answered,
        "witness-prop-ex-faces",
    ),
    "natural parameters of the normal law": (
        Normal,
        "natural",
        scaled(1.001),
        "witness-thm-ex-bijection",
    ),
    "half the charge": (
        ConditionalDual,
        "of",
        half_penalised,
        "witness-thm-ex-relaxed",
    ),
    "half the penalty": (
        ConditionalDual,
        "of",
        half_penalised,
        "witness-prop-cl-ridge",
    ),
    "twice the step of scaling": (
        iterative_scaling,
        "constant_step",
        scaled(2),
        "witness-prop-cl-projections",
    ),
    "improved scaling backwards": (
        iterative_scaling,
        "varying_step",
        scaled(-1),
        "witness-thm-cl-scaling",
    ),
    "probabilities to the power 1.01": (
        ConditionalMaxEntClassifier,
        "predict_proba",
        lambda f: lambda self, X: sharpened(f(self, X)),
        "witness-prop-cl-ridge",
    ),
    "priors forgotten": (
        JointMaxEntClassifier,
        "predict_proba",
        lambda f: lambda self, X: f(self, X) / self.class_prior_,
        "witness-prop-cl-naive",
    ),
    "J in bits": (
        divergences,
        "jeffreys",
        scaled(1 / np.log(2)),
        "witness-lem-dv-gibbs",
    ),
    "J of normals doubled": (Normal, "jeffreys", scaled(2), "witness-thm-dv-remark"),
    "KL of normals negated": (Normal, "kl", scaled(-1), "witness-thm-dv-remark"),
    "sign of KL": (divergences, "kl", scaled(-1), "witness-prop-ad-chain"),
    "KL in bits": (divergences, "kl", scaled(1 / np.log(2)), "witness-lem-dv-gibbs"),
    "JS without weights": (
        divergences,
        "jensen_shannon",
        without_weights,
        "witness-thm-mi",
    ),
    "JS in bits": (
        divergences,
        "jensen_shannon",
        scaled(1 / np.log(2)),
        "witness-thm-mi",
    ),
    "JS_GM counted twice": (Normal, "js_gm", scaled(2), "second-prop-cost"),
    "JS_GM of a shift and of a scale": (
        Normal,
        "js_gm",
        scaled(2),
        "witness-prop-ej-scale",
    ),
    "JS_GM without 1/2": (divergences, "js_gm", scaled(2), "witness-prop-gm-bound"),
    "JS_GM without weights": (
        divergences,
        "js_gm",
        without_weights,
        "witness-prop-gm-bound",
    ),
    "the covariance's sign": (Normal, "js_gm", scaled(-1), "witness-prop-gm-near-far"),
    "log-normaliser doubled": (
        Normal,
        "log_normaliser",
        scaled(2),
        "witness-thm-gm-normalised",
    ),
    "JS of two classes in bits": (
        divergences,
        "jensen_shannon",
        scaled(1 / np.log(2)),
        "witness-thm-dv-f",
    ),
    "whitened twice": (
        InverseRoot,
        "__call__",
        lambda f: lambda self, A: f(self, f(self, A)),
        "witness-thm-co-whitened",
    ),
    "words counted twice": (
        Multinomial,
        "jeffreys",
        scaled(2),
        "witness-thm-ad-multinomial",
    ),
    "worst features first": (
        ClassMarginals,
        "divergences",
        worst_first,
        "witness-cor-features",
    ),
    "complexity in bits": (
        alphabet,
        "alphabet_complexity",
        scaled(1 / np.log(2)),
        "witness-thm-cr-kraft",
    ),
    "error in bits": (
        nml,
        "conditional_error",
        scaled(1 / np.log(2)),
        "witness-prop-dn-model",
    ),
    "error of a fit in bits": (
        nml,
        "conditional_error",
        scaled(1 / np.log(2)),
        "witness-prop-dn-gap",
    ),
    "complexity of labels in bits": (
        nml,
        "conditional_complexity",
        scaled(1 / np.log(2)),
        "witness-prop-dn-boundary-sum",
    ),
    "complexity of an alphabet halved": (
        alphabet,
        "alphabet_complexity",
        scaled(0.5),
        "witness-cor-gm-minimax",
    ),
    "distances of classes doubled": (
        error_bounds,
        "bhattacharyya_distances",
        scaled(2),
        "witness-prop-rk-pairs",
    ),
    "an answer without a certificate": (
        topics,
        "fold_in",
        lambda f: lambda *a: (np.full((len(a[0]), len(a[2])), 1 / len(a[2])), f(*a)[1]),
        "witness-prop-pl-fold",
    ),
    "gradients halved": (
        topics,
        "fisher_scores",
        scaled(0.5),
        "witness-prop-ge-gradient",
    ),
    "Jensen-Shannon in bits": (
        divergences,
        "jensen_shannon",
        scaled(1 / np.log(2)),
        "witness-thm-cs-half",
    ),
    "kernels of another order": (
        kernels,
        "weighted_jt_kernel",
        lambda f: lambda *a, q=1.0, **k: f(*a, q=0.9 * q, **k),
        "witness-prop-ik-cells",
    ),
}
