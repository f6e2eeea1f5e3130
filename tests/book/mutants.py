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
from memdlib.nml import discrete


def scaled(factor):
    return lambda f: lambda *a, **k: factor * f(*a, **k)


negated, doubled, halved = scaled(-1), scaled(2), scaled(0.5)
blurred, in_bits = scaled(1.001), scaled(1 / np.log(2))


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


def sharpened(f):
    """Probabilities to the power 1.01."""

    def broken(self, X):
        p = f(self, X) ** 1.01
        return p / p.sum(axis=1, keepdims=True)

    return broken


def without_priors(f):
    return lambda self, X: f(self, X) / self.class_prior_


def whitened_twice(f):
    return lambda self, A: f(self, f(self, A))


def undecided(f):
    """Even shares in the place of those that are certified."""
    return lambda *a: (np.full((len(a[0]), len(a[2])), 1 / len(a[2])), f(*a)[1])


def of_lower_order(f):
    return lambda *a, q=1.0, **k: f(*a, q=0.9 * q, **k)


def reversed_classes(f):
    """The class itself in the place of its complement."""

    def broken(self):
        pairs = f(self)
        return type(pairs)(*(part[:, ::-1] for part in vars(pairs).values()))

    return broken


def worst_first(f):
    return lambda *a, **k: 1 / f(*a, **k)


# where the formula stands, its name, what breaks it, and the test that must notice
MUTANTS = [
    (Normal, "jeffreys", negated, "thm_margin_witness"),
    (Normal, "jeffreys", doubled, "thm_margin_witness"),
    (moments.ClassMoments, "one_vs_rest", reversed_classes, "prop_complement_witness"),
    (Exponential, "natural", negated, "prop_me_table_witness"),
    (TruncatedExponential, "entropy", in_bits, "prop_me_table_witness"),
    (MaxEntDensity, "from_moments", blunted, "thm_ex_duality_witness"),
    (MaxEntDensity, "from_moments", always_answered, "prop_ex_faces_witness"),
    (Normal, "natural", blurred, "thm_ex_bijection_witness"),
    (ConditionalDual, "of", half_penalised, "thm_ex_relaxed_witness"),
    (ConditionalDual, "of", half_penalised, "prop_cl_ridge_witness"),
    (iterative_scaling, "constant_step", doubled, "thm_cl_scaling_witness"),
    (iterative_scaling, "varying_step", negated, "thm_cl_scaling_witness"),
    (ConditionalMaxEntClassifier, "predict_proba", sharpened, "prop_cl_ridge_witness"),
    (JointMaxEntClassifier, "predict_proba", without_priors, "prop_cl_naive_witness"),
    (divergences, "jeffreys", in_bits, "lem_dv_gibbs_witness"),
    (Normal, "jeffreys", doubled, "thm_dv_remark_witness"),
    (Normal, "kl", negated, "thm_dv_remark_witness"),
    (divergences, "kl", negated, "prop_ad_chain_witness"),
    (divergences, "kl", in_bits, "lem_dv_gibbs_witness"),
    (divergences, "jensen_shannon", without_weights, "thm_mi_witness"),
    (divergences, "jensen_shannon", in_bits, "thm_mi_witness"),
    (Normal, "js_gm", doubled, "prop_cost_second"),
    (divergences, "js_gm", doubled, "prop_gm_bound_witness"),
    (divergences, "js_gm", without_weights, "prop_gm_bound_witness"),
    (Normal, "js_gm", negated, "prop_gm_near_far_witness"),
    (divergences, "jensen_shannon", in_bits, "thm_dv_f_witness"),
    (InverseRoot, "__call__", whitened_twice, "thm_co_whitened_witness"),
    (Multinomial, "jeffreys", doubled, "thm_ad_multinomial_witness"),
    (ClassMarginals, "divergences", worst_first, "cor_features_witness"),
    (discrete, "discrete_complexity", in_bits, "thm_cr_kraft_witness"),
    (nml, "conditional_error", in_bits, "prop_dn_model_witness"),
    (nml, "conditional_error", in_bits, "prop_dn_gap_witness"),
    (nml, "conditional_complexity", in_bits, "prop_dn_boundary_sum_witness"),
    (discrete, "discrete_complexity", halved, "cor_gm_minimax_witness"),
    (topics, "fold_in", undecided, "prop_pl_fold_witness"),
    (topics, "fisher_scores", halved, "prop_ge_gradient_witness"),
    (divergences, "jensen_shannon", in_bits, "thm_cs_half_witness"),
    (kernels, "weighted_jt_kernel", of_lower_order, "prop_ik_cells_witness"),
]
