"""Dot plots, read back out of the SVG."""

import re
from xml.etree import ElementTree

import pytest

from compendium.build.dots import LARGE, SMALL, alternative, large_plot, small_plot
from compendium.ledger.claims import Finding, accepted, read_claims
from compendium.project import root
from tests.compendium.build.test_verdicts import claim, found

CLAIMS = [one for one in read_claims(root()) if one.findings]


def parts(svg, name):
    return [e for e in ElementTree.fromstring(svg) if e.get("class") == name]


def places(svg):
    """Places of the bar, the dot, the whiskers and the shaded part."""
    (dot,) = parts(svg, "result")
    bar = [float(e.get("x1")) for e in parts(svg, "printed")]
    ends = [float(e.get(k)) for e in parts(svg, "spread") for k in ("x1", "x2")]
    shade = [
        (float(e.get("x")), float(e.get("x")) + float(e.get("width")))
        for e in parts(svg, "accepted")
    ]
    return bar, float(dot.get("cx")), ends, shade


@pytest.mark.parametrize("one", CLAIMS, ids=lambda one: one.id)
@pytest.mark.parametrize(("draw", "size"), [(small_plot, SMALL), (large_plot, LARGE)])
def test_every_plot_is_whole_and_inside_its_box(one, draw, size):
    svg = draw(one)
    assert "nan" not in svg and "inf" not in svg
    for element in ElementTree.fromstring(svg):
        for key in ("x", "x1", "x2", "cx"):
            assert 0 <= float(element.get(key, 0)) <= size[0]
    bar, dot, ends, shade = places(svg)
    assert len(bar) == (one.published is not None)
    assert bool(shade) == (one.rule != "spreads")
    first = one.findings[0]
    if first.verdict == "reproduced" and shade:
        assert all(shade[0][0] - 0.1 <= x <= shade[0][1] + 0.1 for x in [dot, *ends])
    others = parts(svg, "agrees") + parts(svg, "fails")
    assert len(others) == (len(one.findings) - 1 if draw is large_plot else 0)


def test_places_are_those_of_the_numbers():
    one = claim(rule="absolute", bound=2.0, findings=found(87.0, low=86.0, high=88.0))
    bar, dot, ends, ((left, right),) = places(large_plot(one))
    step = (right - left) / 4.0
    assert bar[0] == pytest.approx((left + right) / 2, abs=0.1)
    assert dot - bar[0] == pytest.approx(0.6 * step, abs=0.1)
    assert [end - dot for end in ends] == pytest.approx([-step, step], abs=0.1)
    texts = [
        (e.text, float(e.get("x")))
        for e in ElementTree.fromstring(large_plot(one))
        if e.tag.endswith("text")
    ]
    assert texts == [
        (f"{value}", pytest.approx(left + (value - 84.4) * step, abs=0.2))
        for value in (85, 86, 87, 88)
    ]


@pytest.mark.parametrize(
    ("kind", "value", "inside"),
    [("at_least", 9.0, True), ("at_least", 2.0, False), ("at_most", 2.0, True)],
)
def test_a_bound_shades_the_side_that_agrees(kind, value, inside):
    one = claim(rule=kind, bound=4.0, published=None, findings=found(value))
    _, dot, _, ((left, right),) = places(large_plot(one))
    assert (left <= dot <= right) == inside
    start, end = accepted(kind, 4.0, 0.0)
    assert (left == 0) == (start == -float("inf"))
    assert (right == LARGE[0]) == (end == float("inf"))


def test_errors_stand_on_powers_of_ten():
    one = claim(rule="absolute", bound=1e-9, published=None, findings=found(1e-13))
    svg = large_plot(one)
    _, dot, _, ((left, right),) = places(svg)
    assert left == 0 and dot < right
    assert re.findall(">(10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)<", svg) == ["10⁻¹³", "10⁻¹¹", "10⁻⁹"]
    nothing = claim(rule="absolute", bound=1e-9, published=None, findings=found(0.0))
    assert places(large_plot(nothing))[1] == dot  # the left end of its axis


def test_other_settings_are_filled_where_they_agree():
    findings = (
        *found(86.0, spread=1.0),
        Finding("log", 85.0, (), "reproduced"),
        Finding("body", 70.0, (), "differs"),
    )
    svg = large_plot(claim(findings=findings))
    (agrees,), (fails,) = parts(svg, "agrees"), parts(svg, "fails")
    assert agrees.get("fill") == "currentColor" and fails.get("fill") == "none"
    assert float(fails.get("cx")) < float(agrees.get("cx"))
    assert alternative(claim(findings=findings)) == (
        "Dot plot: printed 86.40; our result 86.00 ± 1.00; "
        "other settings 70 to 85, 1 of 2 agree."
    )
    assert ElementTree.fromstring(svg).get("aria-label").startswith("Dot plot")
