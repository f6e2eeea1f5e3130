"""Mixtures of candidates from data in parts: what decides among them fits into memory.

Ten thousand rows held out tell weights and temperatures well enough, so these rows are
gathered, and as many others, from which steps of candidates learn. What takes all rows,
the moments of the classifiers, adds up over parts: those of all candidates in the same
passes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from memdlib.estimator import set_fitted
from memdlib.generative.correlated.pooled import PooledMoments
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
    fit_parts: Callable[..., Any],
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
    sample = fold == shares.n_held_out
    learnt = X[sample], classes[codes[sample]], rows["weight"][sample]
    candidates = list(_prepared(candidates, *learnt))
    # without the sample
    cut = replace(reader, cuts=cuts.up_to(shares.n_held_out))
    moments = _shared_moments(candidates, ByFold(parts, cut), K)

    def fitted(chosen, f: int = -1):
        """Candidates fitted to the rows that are not in a fold, or to all."""
        left, found = _left(survey["rows"], codes[fold == f]), {}
        for candidate in chosen:
            model, steps = clone(candidate.model), candidate.steps
            key = tuple(map(id, steps)), _with_ranges(model)
            if _moments_suffice(model):
                if key not in found:
                    shared = moments[key[0]]
                    of = shared.with_ranges if key[1] else shared.pooled
                    found[key] = _of_classes(of(f), left)
                model.fit_moments(found[key], classes[left])
            else:
                others = WithoutFold(parts, cut, f)
                if steps:
                    others = Prepared(others, make_pipeline(*steps))
                fit_parts(model, others, classes[left])
            yield replace(candidate, model=model)

    scores = np.full((len(candidates), len(fold), K), -np.inf)
    known = np.zeros(len(fold), dtype=bool)
    for f in range(shares.n_held_out):
        test = fold == f
        left = _left(survey["rows"], codes[test])
        if test.any() and left.sum() > 1:
            known |= test & left[codes]
            prepared, at = PreparedRows(X[test]), np.ix_(test, left)
            for found, own in zip(scores, fitted(candidates, f), strict=True):
                found[at] = own.model.predict_log_proba(prepared(own.steps))
    found = weigh(
        list(scores[:, known]), codes[known], rows["weight"][known], estimator.lead
    )
    prior = survey["weight"] / survey["weight"].sum()
    mixture = Mixture.of(classes, prior, candidates, found, fitted)
    return set_fitted(estimator, mixture)


def _prepared(candidates, X, y, weight) -> Iterator[Candidate]:
    """The same, their steps fitted to a sample."""
    prepared = PreparedRows(X)
    for steps, group in alike(candidates):
        rows = TrainingRows(prepared(steps), y, weight)
        yield from (candidate.prepared(rows) for candidate in group)


def _left(n_rows, codes) -> NDArray[np.bool_]:
    """Classes that have rows beside some of these."""
    return n_rows > np.bincount(codes, minlength=len(n_rows))


def _moments_suffice(model) -> bool:
    return isinstance(model, _POOLED) and model.moments_suffice


def _with_ranges(model) -> bool:
    return isinstance(model, RegularisedMeMdClassifier)


def _shared_moments(candidates, parts: "ByFold", n_classes: int) -> dict[Any, Any]:
    """Moments after the steps of candidates that these suffice."""
    models, plans = {}, []
    for candidate in candidates:
        if _moments_suffice(candidate.model):
            key = tuple(map(id, candidate.steps))
            models.setdefault(key, (candidate.steps, []))[1].append(candidate.model)
    for steps, group in models.values():
        row, known = parts.template(), clone(group[0])
        step = make_pipeline(*steps) if steps else None
        validate_data(known, step.transform(row) if steps else row)
        reader = CellReader(known, np.arange(n_classes), n=parts.reader.n_folds)
        plan = TallMoments.plan(reader, by_class=any(map(_with_ranges, group)))
        plans.append(after(step, plan) if steps else plan)
    return dict(zip(models, carried_out(parts, plans), strict=True))


def _of_classes(moments: PooledMoments, left) -> PooledMoments:
    """Moments of those classes that have rows."""
    if left.all():
        return moments
    grams = moments.class_grams
    return replace(
        moments,
        weight=moments.weight[left],
        means=moments.means[left],
        rest=moments.rest[left],
        class_grams=None if grams is None else grams[left],
    )


@dataclass(frozen=True)
class CellReader(Reader):
    """Reads rows whose labels are fold * K + class.

    Parameters
    ----------
    estimator, classes, by_class, family, cuts
        As of :class:`memdlib.parts.work.Reader`; the classes are 0 to K - 1.
    n : int, default=1
        Folds.
    """

    n: int = 1

    @property
    def n_folds(self) -> int:
        return self.n

    def folded(self, X: Any, y: ArrayLike, weight: ArrayLike | None) -> tuple[Any, ...]:
        K = len(self.classes)
        cells = Reader(self.estimator, np.arange(self.n * K))
        X, cell, weight = cells.rows(X, y, weight)
        return X, cell % K, weight, cell // K


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
class Labelled(Through):
    """A pass over arrays of rows, labelled by fold * K + class.

    Parameters
    ----------
    work : Pass
    reader : Reader
    """

    reader: Reader

    def _of(self, X, y, weight):
        X, codes, weight, fold = self.reader.folded(X, y, weight)
        y = fold * len(self.reader.classes) + codes
        return self.work.of(X.astype(np.float64, copy=False), y, weight)


@dataclass(frozen=True)
class Kept(Through):
    """A pass over arrays of those rows that are not in a fold.

    Parameters
    ----------
    work : Pass
    reader : Reader
    fold : int
        -1 keeps all.
    """

    reader: Reader
    fold: int

    def _of(self, X, y, weight):
        X, codes, weight, fold = self.reader.folded(X, y, weight)
        own = fold != self.fold
        y = self.reader.classes[codes[own]]
        return self.work.of(X[own].astype(np.float64), y, weight[own])


@dataclass(frozen=True)
class ByFold(Parts):
    """The same rows, labelled by fold and class.

    Parameters
    ----------
    parts : Parts
    reader : Reader
    """

    parts: Parts
    reader: Reader

    def template(self) -> NDArray[np.float64]:
        return np.zeros((1, self.reader.estimator.n_features_in_))

    def reduce(self, work: Pass) -> Result | None:
        return self.parts.reduce(Labelled(work, self.reader))

    def reduce_strips(self, work: Pass, shape: tuple[int, int]) -> Result | None:
        raise ValueError(
            "of many rows in parts, candidates that choose n_features or weight "
            f"classes need no fewer rows ({shape[0]}) than features ({shape[1]}); fix "
            "n_features and leave class_weight out, or select features"
        )


@dataclass(frozen=True)
class WithoutFold(ByFold):
    """Those rows that are not in a fold.

    Parameters
    ----------
    parts : Parts
    reader : Reader
    fold : int
        -1 keeps all.
    """

    fold: int

    def reduce(self, work: Pass) -> Result | None:
        return self.parts.reduce(Kept(work, self.reader, self.fold))
