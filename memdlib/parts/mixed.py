"""Mixtures of candidates from data in parts: what decides among them fits into memory.

Ten thousand rows held out tell weights and temperatures well enough, so these rows are
gathered, and as many others, from which steps of candidates learn. What takes all rows,
the moments of the classifiers, adds up over parts: those of all candidates in the same
passes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from memdlib.estimator import set_fitted
from memdlib.generative.correlated.regularised import RegularisedMeMdClassifier
from memdlib.generative.correlated.whitened import CorrelatedMeMdClassifier
from memdlib.generative.recommended.held_out import TrainingRows
from memdlib.generative.recommended.mixed import (
    Candidate,
    MixedMeMdClassifier,
    Mixture,
    PreparedRows,
    alike,
    checked_candidates,
    seeded,
    weigh,
)
from memdlib.holdout import MOST_HELD_OUT
from memdlib.parts.prepared import Prepared, Through, after
from memdlib.parts.tall import TallMoments
from memdlib.parts.work import (
    Parts,
    Pass,
    Plan,
    Reader,
    Result,
    Shares,
    carried_out,
    checked_result,
    found_cuts,
)

# So many rows would be gathered anyway, held out or not.
_IN_MEMORY = 2 * MOST_HELD_OUT

# Candidates for which moments that add up over parts may suffice.
_POOLED = (CorrelatedMeMdClassifier, RegularisedMeMdClassifier)


def fit_mixed(
    estimator: MixedMeMdClassifier,
    parts: Parts,
    reader: Reader,
    survey: Result,
    fit_parts: Callable,
) -> MixedMeMdClassifier:
    """Fit a mixture of candidates.

    Parameters
    ----------
    estimator : MixedMeMdClassifier
        Knows the number and names of the features.
    parts : Parts
    reader : Reader
    survey : dict of ndarray
        Of :class:`memdlib.parts.work.Survey`.
    fit_parts : callable
        :func:`memdlib.parts.fit.fit_parts`, for candidates that moments do not suffice.

    Returns
    -------
    MixedMeMdClassifier
    """
    classes, K, n_rows = reader.classes, len(reader.classes), survey["rows"].sum()
    if n_rows <= _IN_MEMORY:
        rows = checked_result(parts, Gathered(reader))
        estimator.fit(rows["X"], classes[rows["codes"]], rows["weight"])
        validate_data(estimator, parts.template(), dtype=None, ensure_all_finite=False)
        return estimator
    rng = check_random_state(estimator.random_state)
    seed = rng.bytes(8)
    candidates = seeded(checked_candidates(estimator), rng)
    share = MOST_HELD_OUT / n_rows
    shares = Shares.of_folds(estimator.validation, share, sample=share)
    cuts = found_cuts(parts, reader, survey["weight"], shares, seed)
    work = Gathered(replace(reader, cuts=cuts), shares.n_held_out)
    rows = checked_result(parts, work)
    X, codes, fold = np.asarray(rows["X"], np.float64), rows["codes"], rows["fold"]

    def fitted(chosen: list[Candidate], f: int, left: np.ndarray) -> list[Candidate]:
        """Candidates fitted to the rows that are left without fold f."""
        own = fold != f
        sample = X[own], classes[codes[own]], rows["weight"][own]
        cut = replace(reader, cuts=cuts if f < shares.n_held_out else None)
        return _fitted(chosen, sample, Left(parts, cut, f), classes[left], fit_parts)

    scores = np.full((len(candidates), len(fold), K), -np.inf)
    known = np.zeros(len(fold), dtype=bool)
    for f in range(shares.n_held_out):
        test = fold == f
        left = survey["rows"] > np.bincount(codes[test], minlength=K)
        if test.any() and left.sum() > 1:
            known |= test & left[codes]
            prepared, at = PreparedRows(X[test]), np.ix_(test, left)
            for found, own in zip(scores, fitted(candidates, f, left), strict=True):
                found[at] = own.model.predict_log_proba(prepared(own.steps))
    found = weigh(
        list(scores[:, known]), codes[known], rows["weight"][known], estimator.lead
    )

    def fit_all(chosen):
        return fitted(chosen, shares.n_held_out, np.ones(K, dtype=bool))

    prior = survey["weight"] / survey["weight"].sum()
    mixture = Mixture.of(classes, prior, candidates, found, fit_all)
    return set_fitted(estimator, mixture)


def _fitted(candidates, sample, left: "Left", classes, fit_parts) -> list[Candidate]:
    """Candidates whose steps have learnt from a sample, their models from all rows."""
    prepared, ready, groups = PreparedRows(sample[0]), [], {}
    for steps, group in alike(candidates):
        rows = TrainingRows(prepared(steps), *sample[1:])
        ready.extend(candidate.prepared(rows) for candidate in group)
    for place, candidate in enumerate(ready):
        groups.setdefault(tuple(map(id, candidate.steps)), []).append(place)
    models, plans = [clone(candidate.model) for candidate in ready], []
    for group in groups.values():
        steps, pooled = ready[group[0]].steps, []
        step = make_pipeline(*steps) if steps else None
        parts = Prepared(left, step) if steps else left
        for place in group:
            if isinstance(models[place], _POOLED) and models[place].moments_suffice:
                pooled.append(models[place])
            else:
                fit_parts(models[place], parts, classes)
        if pooled:
            plan = _of_moments(pooled, parts.template(), classes)
            plans.append(after(step, plan) if steps else plan)
    carried_out(left, plans)
    return [
        replace(candidate, model=model)
        for candidate, model in zip(ready, models, strict=True)
    ]


def _of_moments(models: list, template, classes) -> Plan:
    """Fit classifiers to moments that they share."""
    shares = [isinstance(model, RegularisedMeMdClassifier) for model in models]
    known = clone(models[0])
    validate_data(known, template)
    found = yield from TallMoments.plan(Reader(known, classes), by_class=any(shares))
    moments = {kind: found.as_shares() if kind else found.all_rows() for kind in shares}
    for model, kind in zip(models, shares, strict=True):
        model.fit_moments(moments[kind], classes)


@dataclass(frozen=True)
class Gathered(Pass):
    """The rows themselves that are in one of the first folds, in the order of the data.

    Parameters
    ----------
    reader : Reader
    last : int, default=0
        Fold.
    """

    reader: Reader
    last: int = 0
    name = "rows that are kept"

    def _of(self, X, y, weight):
        X, codes, weight, fold = self.reader.folded(X, y, weight)
        found = {"X": X, "codes": codes, "weight": weight, "fold": fold}
        return {name: values[fold <= self.last] for name, values in found.items()}

    def _add(self, a, b):
        return {name: np.concatenate([a[name], b[name]]) for name in a}


@dataclass(frozen=True)
class WithoutFold(Through):
    """A pass over the rows that are not in one fold, as arrays.

    Parameters
    ----------
    work : Pass
    reader : Reader
    fold : int
    """

    reader: Reader
    fold: int

    def _of(self, X, y, weight):
        X, codes, weight, fold = self.reader.folded(X, y, weight)
        own = fold != self.fold
        y = self.reader.classes[codes[own]]
        return self.work.of(X[own].astype(np.float64), y, weight[own])


@dataclass(frozen=True)
class Left(Parts):
    """Rows that are not in one fold.

    Parameters
    ----------
    parts : Parts
    reader : Reader
    fold : int
    """

    parts: Parts
    reader: Reader
    fold: int

    def template(self):
        return np.zeros((1, self.reader.estimator.n_features_in_))

    def reduce(self, work: Pass):
        return self.parts.reduce(WithoutFold(work, self.reader, self.fold))

    def reduce_strips(self, work, shape):
        raise ValueError(
            "of many rows in parts, candidates that choose n_features or weight "
            f"classes need no fewer rows ({shape[0]}) than features ({shape[1]}); fix "
            "n_features and leave class_weight out, or select features"
        )
