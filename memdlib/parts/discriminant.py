"""The discriminant of pooled second moments, from parts.

In memory a Krylov space is one of the rows where these are fewer. Here rows stay where
they are, and all systems are those of the features: one pass multiplies the centred
rows by a block of columns and back,

    Z' W (Z V) = sum over parts of Z_b' W_b (Z_b V),

for all folds and powers whose spaces still grow. So the choice takes one pass for the
sums of the classes and as many as the space of most products, and so does the fit
after it. What must be held is a basis of d x (K products) entries for each fold and
power, and the rows held out, about 10,000.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from memdlib.families import Family
from memdlib.generative.correlated.krylov import IndicatorRegression
from memdlib.generative.correlated.ridge import (
    Evidence,
    RidgeDiscriminantClassifier,
    check_products,
    class_marginals,
    holds_documents,
    needed_families,
    with_feature_weights,
)
from memdlib.generative.marginals import family_moments
from memdlib.holdout import MOST_HELD_OUT
from memdlib.moments import ClassMoments
from memdlib.parts.mixed import Gathered
from memdlib.parts.work import (
    FoldMoments,
    Parts,
    Pass,
    Reader,
    Result,
    Shares,
    checked_result,
    found_cuts,
    side_by_side,
)

Array = NDArray[np.float64]


def gathered_evidence(
    estimator: RidgeDiscriminantClassifier, parts: Parts, reader: Reader, survey: Result
) -> Evidence:
    """What the fit takes from the rows, by five passes over them.

    Parameters
    ----------
    estimator : RidgeDiscriminantClassifier
    parts : Parts
    reader : Reader
    survey : dict of ndarray
        As :class:`memdlib.parts.work.Survey` finds it.

    Returns
    -------
    Evidence
    """
    seed = check_random_state(estimator.random_state).bytes(8)
    n_rows = int(survey["rows"].sum())
    shares = Shares.of_folds(estimator.validation, MOST_HELD_OUT / n_rows)
    cuts = found_cuts(parts, reader, survey["weight"], shares, seed)
    reader = replace(reader, cuts=cuts)
    held = checked_result(parts, SparseGathered(reader, cuts.n_held_out - 1))
    rows = np.bincount(held["fold"], minlength=cuts.n_held_out)
    folds = np.flatnonzero((rows > 0) & (rows < n_rows)).tolist()
    families = needed_families(estimator)
    work = FoldMarginals(reader, tuple(one for one in families if one is not None))
    found = checked_result(parts, work)
    check_products(found["largest"][None], found["size"], found["most"])
    marginals = [
        {} if one is None else work.marginals(found, one, folds) for one in families
    ]
    weight = reader.weighted(np.arange(len(reader.classes)), survey["weight"])
    return Evidence(
        reader.classes,
        weight / weight.sum(),
        found["largest"] > 0 if holds_documents(estimator) else None,
        *marginals,
        *held_out_rows(held, folds, parts.template()),
        Regressions(parts, reader, estimator.max_iter),
    )


@dataclass(frozen=True)
class SparseGathered(Gathered):
    """Those rows, of which only what is not zero is kept."""

    def _of(self, X, y, weight):
        found = super()._of(X, y, weight)
        X = sparse.csr_array(found.pop("X"))
        data, lengths = X.data.astype(np.float64), np.diff(X.indptr)
        return found | {"data": data, "indices": X.indices, "lengths": lengths}


def held_out_rows(found: Result, folds: list[int], like: Any) -> tuple[Any, ...]:
    """Rows of some folds.

    Parameters
    ----------
    found : dict of ndarray
        As :class:`SparseGathered` finds it.
    folds : list of int
    like : {ndarray, sparse matrix, table} of shape (1, d)
        A row.

    Returns
    -------
    X : ndarray or csr_array of shape (m, d)
    codes, weight, fold : ndarray of shape (m,)
    """
    indptr = np.concatenate([[0], np.cumsum(found["lengths"])])
    shape, own = (len(indptr) - 1, like.shape[1]), np.isin(found["fold"], folds)
    X = sparse.csr_array((found["data"], found["indices"], indptr), shape)[own]
    X = X if sparse.issparse(like) else X.toarray()
    return X, *(found[name][own] for name in ("codes", "weight", "fold"))


@dataclass(frozen=True)
class FoldMarginals(Pass):
    """Moments of each fold and class in some families, and the range of the products.

    Parameters
    ----------
    reader : Reader
    families : tuple of Family
    """

    reader: Reader
    families: tuple[Family, ...]
    name = "marginals"

    def _of(self, X, y, weight):
        X, codes, weight, fold = self.reader.folded(X, y, weight)
        size = abs(X).max(axis=0)
        found = {
            "largest": size.toarray().ravel() if sparse.issparse(X) else size,
            "size": np.float64(X.size),
            "most": weight.max(),
        }
        K = len(self.reader.classes)
        for family in self.families:
            cells = fold * K + codes, self.reader.n_folds * K, weight
            moments = family_moments(family, family.observe(X), *cells)
            found |= _named(family, moments)
        return found

    def _add(self, a, b):
        found = {"size": a["size"] + b["size"]}
        found |= {name: np.maximum(a[name], b[name]) for name in ("largest", "most")}
        for family in self.families:
            both = (_moments(family, part) for part in (a, b))
            found |= _named(family, ClassMoments.merge(*both))
        return found

    def marginals(
        self, found: Result, family: Family, folds: list[int]
    ) -> dict[Any, Any]:
        """Class marginals of all rows (None), and of those outside each fold."""
        moments = FoldMoments(self.reader, _moments(family, found))
        return class_marginals(family, moments.all_rows(), moments.others, folds)


def _named(family, moments: ClassMoments) -> Result:
    return {f"{family.name} {name}": values for name, values in vars(moments).items()}


def _moments(family, found: Result) -> ClassMoments:
    names = "weight", "sums", "location"
    return ClassMoments(*(found[f"{family.name} {name}"] for name in names))


@dataclass(frozen=True)
class Sums(Pass):
    """Sums of the weighted rows times what is known of each, for several systems.

    Parameters
    ----------
    reader : Reader
    features : dict
        Weights of the features, or None; a key ends with the fold that is left out, or
        None.
    name : str
    blocks, shifts : dict of ndarray
        What each row is multiplied by, (d, r), and what is subtracted then, (r,). The
        rows are multiplied by the indicators of the classes if there are none.
    """

    reader: Reader
    features: dict
    name: str
    blocks: dict | None = None
    shifts: dict | None = None

    def _of(self, X, y, weight):
        X, codes, weight, fold = self.reader.folded(X, y, weight)
        X = X.astype(np.float64, copy=False)
        found = {}
        for key in self.features if self.blocks is None else self.blocks:
            Z = with_feature_weights(X, self.features[key])
            if self.blocks is None:
                U = np.eye(len(self.reader.classes))[codes]
            else:
                U = Z @ self.blocks[key] - self.shifts[key]
            U *= np.where(fold == key[-1], 0.0, weight)[:, None]
            found[f"rows {key}"], found[f"weight {key}"] = Z.T @ U, U.sum(axis=0)
        return found


@dataclass(frozen=True)
class Regressions:
    """Regressions on the rows outside some folds, and the spaces of their solutions.

    Parameters
    ----------
    parts : Parts
    reader : Reader
    max_iter : int
    """

    parts: Parts
    reader: Reader
    max_iter: int

    def __call__(
        self, features: dict[Any, Any], penalty: float, tol: float
    ) -> Iterator[tuple[Any, ...]]:
        """As :class:`Evidence` says of its ``regressions``.

        Parameters
        ----------
        features : dict
        penalty, tol : float

        Yields
        ------
        ridge : IndicatorRegression
        space : KrylovSpace
        """
        folded = any(fold is not None for _, fold in features)
        reader = self.reader if folded else replace(self.reader, cuts=None)
        sums = checked_result(self.parts, Sums(reader, features, "sums of classes"))
        ridges, means = {}, {}

        def products(blocks):
            shifts = {key: means[key] @ block for key, block in blocks.items()}
            work = Sums(reader, features, "products", blocks, shifts)
            found = checked_result(self.parts, work)
            return {
                key: found[f"rows {key}"] - np.outer(means[key], found[f"weight {key}"])
                for key in blocks
            }

        for key in features:
            ridges[key] = IndicatorRegression.of_sums(
                sums[f"rows {key}"],
                sums[f"weight {key}"],
                lambda block, key=key: products({key: block})[key],
            )
            means[key] = ridges[key].mean
        growing = {
            key: ridge.growing(penalty, tol, self.max_iter)
            for key, ridge in ridges.items()
        }
        spaces = side_by_side(growing, products)
        for key in features:
            yield ridges.pop(key), spaces.pop(key)
