"""Break a formula of memdlib, and the chapter that proves it must notice.

Each mutant names a formula, how it is broken, and the chapter. The cells of the chapter
are run one by one with the broken formula; a cell that checks a statement (tag witness
or second) must fail an assertion.
"""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

from compendium.build import display
from compendium.build.notebooks import read_source
from compendium.build.statements import chapters_with_statements, statements_of
from compendium.project import root
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
from memdlib.generative import ClassMarginals, greedy
from memdlib.generative.correlated.pooled import InverseRoot
from memdlib.nml import exact
from memdlib.nml.codes import alphabet, interval

CHECKS = re.compile(r"(witness|second)-")


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


MUTANTS = {
    "sign of J": (Normal, "jeffreys", scaled(-1), "margin-and-j"),
    "J without 1/2": (Normal, "jeffreys", scaled(2), "margin-and-j"),
    "complement and class": (
        moments.ClassMoments,
        "one_vs_rest",
        reversed_classes,
        "memd",
    ),
    "sign of natural parameters": (
        Exponential,
        "natural",
        scaled(-1),
        "maximum-entropy",
    ),
    "entropy in bits": (
        TruncatedExponential,
        "entropy",
        scaled(1 / np.log(2)),
        "maximum-entropy",
    ),
    "moments a little off": (
        MaxEntDensity,
        "from_moments",
        blunted,
        "existence",
    ),
    "an answer where there is none": (
        MaxEntDensity,
        "from_moments",
        always_answered,
        "existence",
    ),
    "natural parameters of the normal law": (
        Normal,
        "natural",
        scaled(1.001),
        "existence",
    ),
    "half the charge": (ConditionalDual, "of", half_penalised, "existence"),
    "half the penalty": (ConditionalDual, "of", half_penalised, "conditional"),
    "twice the step of scaling": (
        iterative_scaling,
        "constant_step",
        scaled(2),
        "conditional",
    ),
    "improved scaling backwards": (
        iterative_scaling,
        "varying_step",
        scaled(-1),
        "conditional",
    ),
    "probabilities to the power 1.01": (
        ConditionalMaxEntClassifier,
        "predict_proba",
        lambda f: lambda self, X: sharpened(f(self, X)),
        "conditional",
    ),
    "priors forgotten": (
        JointMaxEntClassifier,
        "predict_proba",
        lambda f: lambda self, X: f(self, X) / self.class_prior_,
        "classifiers",
    ),
    "J in bits": (divergences, "jeffreys", scaled(1 / np.log(2)), "divergences"),
    "J of normals doubled": (Normal, "jeffreys", scaled(2), "divergences"),
    "KL of normals negated": (Normal, "kl", scaled(-1), "divergences"),
    "sign of KL": (divergences, "kl", scaled(-1), "additivity"),
    "KL in bits": (divergences, "kl", scaled(1 / np.log(2)), "divergences"),
    "JS without weights": (
        divergences,
        "jensen_shannon",
        without_weights,
        "from-js-to-gm",
    ),
    "JS in bits": (
        divergences,
        "jensen_shannon",
        scaled(1 / np.log(2)),
        "from-js-to-gm",
    ),
    "JS_GM counted twice": (Normal, "js_gm", scaled(2), "memd"),
    "JS_GM of a shift and of a scale": (Normal, "js_gm", scaled(2), "rankings"),
    "JS_GM without 1/2": (divergences, "js_gm", scaled(2), "from-js-to-gm"),
    "JS_GM without weights": (divergences, "js_gm", without_weights, "from-js-to-gm"),
    "the covariance's sign": (Normal, "js_gm", scaled(-1), "from-js-to-gm"),
    "log-normaliser doubled": (Normal, "log_normaliser", scaled(2), "from-js-to-gm"),
    "JS of two classes in bits": (
        divergences,
        "jensen_shannon",
        scaled(1 / np.log(2)),
        "divergences",
    ),
    "whitened twice": (
        InverseRoot,
        "__call__",
        lambda f: lambda self, A: f(self, f(self, A)),
        "correlation",
    ),
    "words counted twice": (Multinomial, "jeffreys", scaled(2), "additivity"),
    "worst features first": (
        ClassMarginals,
        "divergences",
        worst_first,
        "margin-and-j",
    ),
    "complexity in bits": (
        alphabet,
        "alphabet_complexity",
        scaled(1 / np.log(2)),
        "codes-and-regret",
    ),
    "error in bits": (
        nml,
        "conditional_error",
        scaled(1 / np.log(2)),
        "discriminative-nml",
    ),
    "error of a fit in bits": (
        nml,
        "conditional_error",
        scaled(1 / np.log(2)),
        "discriminative-nml-computed",
    ),
    "boundary counted half": (
        exact,
        "boundary_sum",
        scaled(0.5),
        "discriminative-nml",
    ),
    "complexity of an alphabet halved": (
        alphabet,
        "alphabet_complexity",
        scaled(0.5),
        "maximum-entropy-nml",
    ),
    "slopes of a map a little off": (
        interval,
        "stretch",
        lambda f: lambda u, t: (f(u, t)[0], 0.999 * f(u, t)[1]),
        "maximum-entropy-nml",
    ),
    "distances of classes doubled": (
        greedy,
        "bhattacharyya_distances",
        scaled(2),
        "rankings",
    ),
    "error of several genes in bits": (
        nml,
        "joint_error",
        scaled(1 / np.log(2)),
        "beyond-one-gene",
    ),
    "an answer without a certificate": (
        topics,
        "fold_in",
        lambda f: lambda *a: (np.full((len(a[0]), len(a[2])), 1 / len(a[2])), f(*a)[1]),
        "plsa",
    ),
    "gradients halved": (
        topics,
        "fisher_scores",
        scaled(0.5),
        "generative-embeddings",
    ),
    "Jensen-Shannon in bits": (
        divergences,
        "jensen_shannon",
        scaled(1 / np.log(2)),
        "chi-squared",
    ),
    "kernels of another order": (
        kernels,
        "weighted_jt_kernel",
        lambda f: lambda *a, q=1.0, **k: f(*a, q=0.9 * q, **k),
        "information-kernels",
    ),
}


CHAPTERS = chapters_with_statements(root())


def run_until_a_check_fails(path):
    """Tag of the check whose assertion failed, or None if the chapter ran through."""
    scope = {"__name__": "chapter"}
    for cell in read_source(path).cells:
        if cell.cell_type != "code":
            continue
        tags = [t for t in cell.metadata.get("tags", []) if CHECKS.match(t)]
        try:
            exec(compile(cell.source, path.name, "exec"), scope)
        except AssertionError:
            if tags:
                return tags[0]
            raise
        finally:
            plt.close("all")
    return None


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_formula_is_noticed(monkeypatch, capsys, name):
    holder, attribute, breaking, chapter = MUTANTS[name]
    monkeypatch.setattr(holder, attribute, breaking(getattr(holder, attribute)))
    monkeypatch.setattr(display, "display", lambda *a, **k: None)
    (path,) = (p for p in CHAPTERS if p.stem == chapter)
    with plt.rc_context(), np.errstate(all="ignore"):
        assert run_until_a_check_fails(path) is not None


def test_every_chapter_that_states_has_a_mutant():
    chapters = {path.stem for path in CHAPTERS if statements_of(path)}
    # no free lunch holds for every rule, and AUC is a fact on any scores
    free = {"lecture"}
    assert {chapter for *_, chapter in MUTANTS.values()} == chapters - free
