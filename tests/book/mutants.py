"""Formulas of memdlib and how to break them, each with a check that must notice."""

import numpy as np

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
        return type(pairs)(*(part[:, ::-1] for part in vars(pairs).values()))

    return broken


def worst_first(f):
    return lambda *a, **k: 1 / f(*a, **k)


# where the formula stands, its name, what breaks it, and the test that must notice
MUTANTS = {
    "sign of J": (Normal, "jeffreys", scaled(-1), "test_thm_margin_witness"),
    "J without 1/2": (Normal, "jeffreys", scaled(2), "test_thm_margin_witness"),
    "complement and class": (
        moments.ClassMoments,
        "one_vs_rest",
        reversed_classes,
        "test_prop_complement_witness",
    ),
    "sign of natural parameters": (
        Exponential,
        "natural",
        scaled(-1),
        "test_prop_me_table_witness",
    ),
    "entropy in bits": (
        TruncatedExponential,
        "entropy",
        scaled(1 / np.log(2)),
        "test_prop_me_table_witness",
    ),
    "moments a little off": (
        MaxEntDensity,
        "from_moments",
        blunted,
        "test_thm_ex_duality_witness",
    ),
    "an answer where there is none": (
        MaxEntDensity,
        "from_moments",
        always_answered,
        "test_prop_ex_faces_witness",
    ),
    "natural parameters of the normal law": (
        Normal,
        "natural",
        scaled(1.001),
        "test_thm_ex_bijection_witness",
    ),
    "half the charge": (
        ConditionalDual,
        "of",
        half_penalised,
        "test_thm_ex_relaxed_witness",
    ),
    "half the penalty": (
        ConditionalDual,
        "of",
        half_penalised,
        "test_prop_cl_ridge_witness",
    ),
    "twice the step of scaling": (
        iterative_scaling,
        "constant_step",
        scaled(2),
        "test_thm_cl_scaling_witness",
    ),
    "improved scaling backwards": (
        iterative_scaling,
        "varying_step",
        scaled(-1),
        "test_thm_cl_scaling_witness",
    ),
    "probabilities to the power 1.01": (
        ConditionalMaxEntClassifier,
        "predict_proba",
        lambda f: lambda self, X: sharpened(f(self, X)),
        "test_prop_cl_ridge_witness",
    ),
    "priors forgotten": (
        JointMaxEntClassifier,
        "predict_proba",
        lambda f: lambda self, X: f(self, X) / self.class_prior_,
        "test_prop_cl_naive_witness",
    ),
    "J in bits": (
        divergences,
        "jeffreys",
        scaled(1 / np.log(2)),
        "test_lem_dv_gibbs_witness",
    ),
    "J of normals doubled": (
        Normal,
        "jeffreys",
        scaled(2),
        "test_thm_dv_remark_witness",
    ),
    "KL of normals negated": (Normal, "kl", scaled(-1), "test_thm_dv_remark_witness"),
    "sign of KL": (divergences, "kl", scaled(-1), "test_prop_ad_chain_witness"),
    "KL in bits": (
        divergences,
        "kl",
        scaled(1 / np.log(2)),
        "test_lem_dv_gibbs_witness",
    ),
    "JS without weights": (
        divergences,
        "jensen_shannon",
        without_weights,
        "test_thm_mi_witness",
    ),
    "JS in bits": (
        divergences,
        "jensen_shannon",
        scaled(1 / np.log(2)),
        "test_thm_mi_witness",
    ),
    "JS_GM counted twice": (Normal, "js_gm", scaled(2), "test_prop_cost_second"),
    "JS_GM without 1/2": (
        divergences,
        "js_gm",
        scaled(2),
        "test_prop_gm_bound_witness",
    ),
    "JS_GM without weights": (
        divergences,
        "js_gm",
        without_weights,
        "test_prop_gm_bound_witness",
    ),
    "the covariance's sign": (
        Normal,
        "js_gm",
        scaled(-1),
        "test_prop_gm_near_far_witness",
    ),
    "JS of two classes in bits": (
        divergences,
        "jensen_shannon",
        scaled(1 / np.log(2)),
        "test_thm_dv_f_witness",
    ),
    "whitened twice": (
        InverseRoot,
        "__call__",
        lambda f: lambda self, A: f(self, f(self, A)),
        "test_thm_co_whitened_witness",
    ),
    "words counted twice": (
        Multinomial,
        "jeffreys",
        scaled(2),
        "test_thm_ad_multinomial_witness",
    ),
    "worst features first": (
        ClassMarginals,
        "divergences",
        worst_first,
        "test_cor_features_witness",
    ),
    "complexity in bits": (
        alphabet,
        "alphabet_complexity",
        scaled(1 / np.log(2)),
        "test_thm_cr_kraft_witness",
    ),
    "error in bits": (
        nml,
        "conditional_error",
        scaled(1 / np.log(2)),
        "test_prop_dn_model_witness",
    ),
    "error of a fit in bits": (
        nml,
        "conditional_error",
        scaled(1 / np.log(2)),
        "test_prop_dn_gap_witness",
    ),
    "complexity of labels in bits": (
        nml,
        "conditional_complexity",
        scaled(1 / np.log(2)),
        "test_prop_dn_boundary_sum_witness",
    ),
    "complexity of an alphabet halved": (
        alphabet,
        "alphabet_complexity",
        scaled(0.5),
        "test_cor_gm_minimax_witness",
    ),
    "an answer without a certificate": (
        topics,
        "fold_in",
        lambda f: lambda *a: (np.full((len(a[0]), len(a[2])), 1 / len(a[2])), f(*a)[1]),
        "test_prop_pl_fold_witness",
    ),
    "gradients halved": (
        topics,
        "fisher_scores",
        scaled(0.5),
        "test_prop_ge_gradient_witness",
    ),
    "Jensen-Shannon in bits": (
        divergences,
        "jensen_shannon",
        scaled(1 / np.log(2)),
        "test_thm_cs_half_witness",
    ),
    "kernels of another order": (
        kernels,
        "weighted_jt_kernel",
        lambda f: lambda *a, q=1.0, **k: f(*a, q=0.9 * q, **k),
        "test_prop_ik_cells_witness",
    ),
}
