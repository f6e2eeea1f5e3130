"""A claim as a dot plot: printed number, our result with its spread, all settings.

Pictures are SVG inside the page, drawn when the page is computed. They take their
colours from the style sheet, so that they turn with the page into the dark, and tell
everything by shape as well: a bar is printed, a dot with whiskers is our result, a mark
below is another setting, filled if it agrees; the shaded part of the axis is where a
number agrees.
"""

import html
import math
from collections.abc import Callable

from compendium.build.display import number
from compendium.build.verdicts import finding_text, power_of_ten, published_text
from compendium.ledger.claims import REPRODUCED, Claim, Finding, accepted

# Width and height in CSS pixels: the plot in a closed card, and the one in an open one.
SMALL, LARGE = (96, 18), (310, 64)

_LEAST = 1e-17  # an error of zero, on an axis of powers of ten


def has_plot(claim: Claim) -> bool:
    """Whether there is anything to draw: a result of ours."""
    return bool(claim.findings)


def small_plot(claim: Claim) -> str:
    """Printed number and our result under the setting chosen, without words."""
    width, height = SMALL
    first, *_ = claim.findings
    place = _axis(claim, [first], width, 5)
    y = height / 2
    parts = [_line("axis", 0, y, width, y), *_marks(claim, first, place, y, 6, width)]
    return _svg(SMALL, parts, 'aria-hidden="true"')


def large_plot(claim: Claim) -> str:
    """The same over all settings, with an axis and a text alternative."""
    width, height = LARGE
    first, *others = claim.findings
    place = _axis(claim, claim.findings, width, 18)
    y, below, bottom = 16, 34, height - 16
    parts = [
        *_marks(claim, first, place, y, 10, width, bottom),
        *(_setting(finding, place(finding.value), below) for finding in others),
        _line("axis", 0, bottom, width, bottom),
    ]
    for value, label in _ticks(claim, place, width):
        x = place(value)
        parts.append(_line("axis", x, bottom, x, bottom + 4))
        parts.append(
            f'<text x="{x:.1f}" y="{height - 1}" text-anchor="middle" '
            f'font-size="11">{label}</text>'
        )
    said = html.escape(alternative(claim), quote=True)
    return _svg(LARGE, parts, f'role="img" aria-label="{said}"')


def alternative(claim: Claim) -> str:
    """What :func:`large_plot` shows, in words."""
    first, *others = claim.findings
    printed = published_text(claim)
    words = [f"printed {printed}"] if printed else []
    words.append(f"our result {finding_text(claim)}")
    if others:
        values = [other.value for other in others]
        whole = all(value.is_integer() for value in values)
        digits = 0 if whole else 1 if first.spread is not None else 2
        ends = " to ".join(number(f(values), digits) for f in (min, max))
        agree = sum(other.verdict == REPRODUCED for other in others)
        words.append(f"other settings {ends}, {agree} of {len(others)} agree")
    return f"Dot plot: {'; '.join(words)}."


def _in_powers(claim: Claim) -> bool:
    """Whether the axis is one of powers of ten: errors of an identity."""
    first = claim.findings[0]
    return claim.published is None and claim.rule == "absolute" and first.low is None


def _bounds(claim: Claim) -> tuple[float, float]:
    """From where to where a number agrees; no part of the axis if the rule decides."""
    if claim.rule == "spreads":
        return math.inf, -math.inf
    if _in_powers(claim):
        return -math.inf, claim.bound
    return accepted(claim.rule, claim.bound, claim.published or 0.0)


def _ends(finding: Finding) -> tuple[float, float]:
    """The whiskers of a finding."""
    if finding.spread is not None:
        return finding.value - finding.spread, finding.value + finding.spread
    if finding.low is not None:
        return finding.low, finding.high
    return finding.value, finding.value


def _axis(claim: Claim, shown, width: float, margin: float) -> Callable:
    """From a number to its place; everything that is drawn lies inside."""
    powers = _in_powers(claim)

    def scale(value: float) -> float:
        return math.log10(max(abs(value), _LEAST)) if powers else value

    values = [end for finding in shown for end in _ends(finding)]
    values += [claim.published] if claim.published is not None else []
    values += [end for end in _bounds(claim) if math.isfinite(end)]
    least, most = (f(map(scale, values)) for f in (min, max))
    if most == least:
        least, most = least - 0.5, most + 0.5
    step = (width - 2 * margin) / (most - least)
    return lambda value: margin + (scale(value) - least) * step


def _marks(claim, first, place, y, size, width, bottom=None) -> list[str]:
    """Where a number agrees, the printed one, and ours with its whiskers."""
    parts, (start, end) = [], _bounds(claim)
    if start <= end:
        left = place(start) if math.isfinite(start) else 0.0
        right = place(end) if math.isfinite(end) else width
        tall = bottom or 2 * y
        parts.append(
            f'<rect class="accepted" x="{left:.1f}" y="0" '
            f'width="{max(right - left, 2):.1f}" height="{tall:.1f}" '
            'fill="currentColor" fill-opacity="0.12"/>'
        )
    if claim.published is not None:
        x = place(claim.published)
        parts.append(_line("printed", x, y - size, x, y + size, 3))
    left, right = map(place, _ends(first))
    if right > left:
        parts.append(_line("spread", left, y, right, y, 2))
    radius = 3.2 if bottom is None else 4.5
    parts.append(
        f'<circle class="result" cx="{place(first.value):.1f}" cy="{y:.1f}" '
        f'r="{radius:.1f}" fill="currentColor"/>'
    )
    return parts


def _setting(finding: Finding, x: float, y: float) -> str:
    name, fill = "fails", "none"
    if finding.verdict == REPRODUCED:
        name, fill = "agrees", "currentColor"
    return (
        f'<circle class="{name}" cx="{x:.1f}" cy="{y}" r="3" fill="{fill}" '
        'stroke="currentColor"/>'
    )


def _ticks(claim: Claim, place: Callable, width: float) -> list[tuple[float, str]]:
    """Round numbers on the axis, at most six, each with its label."""
    if _in_powers(claim):
        powers = [10.0**p for p in range(-17, 0) if 16 <= place(10.0**p) <= width - 16]
        powers = powers[:: max(1, math.ceil(len(powers) / 4))]
        return [(p, power_of_ten(p).removeprefix("1 × ")) for p in powers]
    # the axis is straight: two places give all of it
    one, slope = place(0.0), place(1.0) - place(0.0)
    least, most = (16 - one) / slope, (width - 16 - one) / slope
    rough = (most - least) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(f * power for f in (1, 2, 5, 10) if f * power >= rough)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    first, last = math.ceil(least / step), math.floor(most / step)
    return [(k * step, number(k * step, digits)) for k in range(first, last + 1)]


def _line(name: str, x1, y1, x2, y2, width: float = 1) -> str:
    return (
        f'<line class="{name}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" '
        f'y2="{y2:.1f}" stroke="currentColor" stroke-width="{width}"/>'
    )


def _svg(size: tuple[int, int], parts: list[str], attributes: str) -> str:
    width, height = size
    return (
        f'<svg class="dots" {attributes} width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{"".join(parts)}</svg>'
    )
