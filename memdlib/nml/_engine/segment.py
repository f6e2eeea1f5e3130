"""Maximum likelihood where the logits obey one linear relation, by a root on a segment.

With one parameter less than levels, the expected label counts that have the moments of
the observed ones are k - a s: a segment in the direction a of the relation. By duality
the supremum of the log-likelihood is the least saturated log-likelihood on it, where
the logits of the expected counts obey the relation: one equation for one number s.
"""

import numpy as np
from numpy.typing import NDArray

from memdlib.nml._engine import compiled
from memdlib.nml._engine.compiled_segment import segment_roots
from memdlib.nml._engine.newton import empirical_logits, tabulated_logits
from memdlib.nml._engine.saturated import saturated_log_likelihood

Array = NDArray[np.float64]

# Cases at a time: their arrays stay in the cache of a core.
_BATCH = 4096
# Sum of w d^4 below which the step before was the last that matters, and nats by which
# a value at an end may be too large.
_SETTLED = 1e-13
_LATE_STEPS = 6
# Rough steps before, in single precision, which takes half the time.
_ROUGH = 2
# Longest step, on a scale where one doubles or halves the odds of s by 0.7.
_LONGEST = 5.0


def maximise_on_segment(
    counts: Array, relation: Array, ones: Array
) -> tuple[Array, NDArray[np.intp]]:
    """Supremum of the log-likelihood of interior label counts.

    Parameters
    ----------
    counts : ndarray of shape (L,)
        Samples at each level.
    relation : ndarray of shape (L,)
        No component is zero; the logits have ``relation @ logits = 0``.
    ones : ndarray of shape (L, B)
        Labels 1 at each level.

    Returns
    -------
    value : ndarray of shape (B,)
        Nats, to about 1e-14.
    unsettled : ndarray
        Cases whose root rounding cannot tell from an end of the segment, and whose
        value is not known to be the one there; their values mean nothing.

    Examples
    --------
    Label counts 1 and 2 at levels of 4 samples each, with logits in the ratio 1 to 2.

    >>> value, unsettled = maximise_on_segment(
    ...     np.array([4.0, 4.0]), np.array([2.0, -1.0]), np.array([[1.0], [2.0]])
    ... )
    >>> value.round(12).tolist(), unsettled.tolist()
    ([-5.444603595881], [])
    """
    value, rest = _by_roots(counts, relation, ones)
    if not rest.size:
        return value, rest
    at_end = _at_ends(counts, relation, ones[:, rest])
    value[rest] = at_end
    return value, rest[np.isnan(at_end)]


def _by_roots(
    counts: Array, relation: Array, ones: Array
) -> tuple[Array, NDArray[np.intp]]:
    """Values at the roots that settle, and the cases whose root does not."""
    if compiled.available():
        root = segment_roots(counts, relation, ones, *tabulated_logits(counts))
        value = np.empty(root.size)
        with np.errstate(all="ignore"):
            for at in range(0, root.size, _BATCH):
                here = slice(at, at + _BATCH)
                value[here] = _value(counts, relation, ones[:, here], root[here])
        # rounding can put the root on the end itself, where the value is nan
        return value, np.flatnonzero(np.isnan(value))
    value = np.empty(ones.shape[1])
    late, places = [np.empty(0, dtype=np.intp)], [np.empty(0)]
    with np.errstate(all="ignore"):
        for at in range(0, ones.shape[1], _BATCH):
            part = ones[:, at : at + _BATCH]
            ends = _ends(counts, relation, part)
            place = _rough(counts, relation, part, *ends)
            value[at : at + _BATCH], place, left = _improve(
                counts, relation, part, place, *ends, 1
            )
            late.append(at + left)
            places.append(place[left])
        rest = np.concatenate(late)
        if rest.size:
            part = ones[:, rest]
            value[rest], _, left = _improve(
                counts,
                relation,
                part,
                np.concatenate(places),
                *_ends(counts, relation, part),
                _LATE_STEPS,
            )
            rest = rest[left]
    return value, rest


def _ends(counts: Array, relation: Array, ones: Array) -> tuple[Array, Array]:
    """Least and largest s with k - a s between 0 and the counts."""
    first = ones / relation[:, None]
    second = first - (counts / relation)[:, None]
    # a row at a time: reductions along the short axis are slow
    low, high = np.minimum(first, second), np.maximum(first, second)
    for lower, upper in zip(low[1:], high[1:], strict=True):
        np.maximum(low[0], lower, out=low[0])
        np.minimum(high[0], upper, out=high[0])
    return low[0], high[0]


def _at_ends(counts: Array, relation: Array, ones: Array) -> Array:
    """Values at the ends of the segment that are suprema; nan where neither is.

    By duality each bounds the supremum from above. One level is pure there; the logits
    of the others and the relation tell its own, and with it a likelihood, which is less
    by no more than what that level is from being pure.
    """
    found, cases = np.full(ones.shape[1], np.nan), np.arange(ones.shape[1])
    n = counts[:, None]
    with np.errstate(all="ignore"):
        for end in _ends(counts, relation, ones):
            mean = np.clip(ones - relation[:, None] * end, 0.0, n)
            logits, pure = np.log(mean / (n - mean)), (mean * (n - mean)).argmin(axis=0)
            sign = np.sign(logits[pure, cases])
            logits[pure, cases] = 0.0
            logit = -(relation @ logits) / relation[pure]
            gap = counts[pure] * np.logaddexp(0.0, -sign * logit)
            known = (gap < _SETTLED) & np.isfinite(logit)
            found[known] = saturated_log_likelihood(n, mean[:, known])
    return found


def _start(
    counts: Array, relation: Array, ones: Array, low: Array, high: Array
) -> Array:
    """Place of the multiplier of a least-squares fit, on the scale of `_improve`."""
    logits, weight = empirical_logits(counts[:, None], ones)
    root = (relation @ logits) / (relation**2 @ (1.0 / weight))
    share = np.clip((root - low) / (high - low), 0.02, 0.98)
    return np.log(share / (1.0 - share))


def _rough(
    counts: Array, relation: Array, ones: Array, low: Array, high: Array
) -> Array:
    """Place after a few steps from the start; the start where they overflow."""
    case = [part.astype(np.float32) for part in (counts, relation, ones, low, high)]
    place = start = _start(*case)
    for _ in range(_ROUGH):
        place = _step(*case, place)[0]
    return np.where(np.isfinite(place), place, start).astype(np.float64)


def _step(
    counts: Array, relation: Array, ones: Array, low: Array, high: Array, place: Array
) -> tuple[Array, Array, Array]:
    """Place after a step of Halley's method; root before, and change of its logits.

    The place is the logit of s between the ends. On this scale the equation is nearly
    linear, also towards the ends, where one logit goes to infinity.
    """
    width = high - low
    share = 1.0 / (1.0 + np.exp(-place))
    root = low + width * share
    mean = ones - relation[:, None] * root
    first, second = 1.0 / mean, 1.0 / (counts[:, None] - mean)
    mean *= second
    level = relation @ np.log(mean)
    total = np.add(first, second, out=mean)
    second -= first
    second *= total
    # derivatives by s, and then by the place
    slope, bend = -(relation**2 @ total), relation**3 @ second
    speed = width * share * (1.0 - share)
    bend = bend * speed + slope * (1.0 - 2.0 * share)
    slope *= speed
    change = -level / slope
    change /= np.clip(1.0 + 0.5 * change * bend * speed / slope, 0.5, 2.0)
    return place + np.clip(change, -_LONGEST, _LONGEST), root, total


def _improve(
    counts: Array,
    relation: Array,
    ones: Array,
    place: Array,
    low: Array,
    high: Array,
    n_steps: int,
) -> tuple[Array, Array, NDArray[np.intp]]:
    """Value and place after some steps, and what is not settled."""
    for _ in range(n_steps):
        place, root, total = _step(counts, relation, ones, low, high, place)
    moved = low + (high - low) / (1.0 + np.exp(-place)) - root
    remainder = (relation**4 @ total**3) * (moved * moved) ** 2
    value = _value(counts, relation, ones, root + moved)
    # rounding can put the root on the end itself, where the value is nan
    rest = np.flatnonzero(~((remainder < _SETTLED) & np.isfinite(value)))
    return value, place, rest


def _value(counts: Array, relation: Array, ones: Array, root: Array) -> Array:
    """Saturated log-likelihood at a place of the segment."""
    mean = ones - relation[:, None] * root
    other = counts[:, None] - mean
    value = mean * np.log(mean)
    value += other * np.log(other)
    return value.sum(axis=0) - counts @ np.log(counts)
