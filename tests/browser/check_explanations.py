"""Figures that a reader can move, in headless Chromium, beside memdlib.

Run it by ``make test-browser``, as :mod:`tests.browser.check_pages`. Each figure goes
through states drawn at random; every number that it shows is computed again.
"""

import json
import re
from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize, special, stats

from memdlib import MaxEntDensity, nml
from memdlib.families import MultivariateNormal, Normal
from tests.browser.check_pages import CHOSEN, CONTRAST, DESKTOP, PHONE, WIDEST

N_STATES = 4
PATIENCE = 120  # seconds that a loaded machine may take for a page


def least_error(entropy):
    """The error of two classes that leaves this entropy, on [0, 1/2]."""
    if entropy <= 0:
        return 0.0
    return optimize.brentq(
        lambda u: stats.entropy([u, 1 - u]) - entropy, 0, 0.5, xtol=1e-15, rtol=1e-14
    )


def two_classes(state):
    """Divergences of two normal densities, Bayes error and its bounds."""
    means = np.array([state["m1"], state["m2"]])
    widths = np.array([state["s1"], state["s2"]])
    weights = np.array([state["prior"], 1 - state["prior"]])
    family = Normal()
    mu = family.mean_parameters(means, widths**2)[:, None]
    js = family.jensen_shannon(mu, weights)[0][0]
    gm = family.js_gm(mu, weights)[0]
    lam = family.natural(mu[:, 0])
    offset = np.log(weights) - family.log_normaliser(lam)
    change = lam[1] - lam[0]
    quadratic = [change[1], change[0], offset[0] - offset[1]]
    cuts = np.roots(np.trim_zeros(quadratic, "f"))
    ends = [-np.inf, *np.sort(cuts[np.isreal(cuts)].real), np.inf]
    error = 0.0
    for low, high in pairwise(ends):
        z = (np.array([[low], [high]]) - means) / widths
        z = np.where(z[0] > 0, -z[::-1], z)  # the tail that is nearer
        error += np.min(weights * np.diff(stats.norm.cdf(z), axis=0))
    room = stats.entropy(weights)
    return {
        "J": family.jeffreys(*mu)[0],
        "JS_GM": gm,
        "JS": js,
        "H": room,
        "upper": (room - js) / np.log(4),
        "error": error,
        "lower": least_error(room - js),
        "floor": least_error(room - gm),
    }


def correlation(state):
    """J of two features alone and together; errors of two linear rules."""
    rho, shift = state["rho"], np.array([state["d1"], state["d2"]])
    covariance = np.array([[1.0, rho], [rho, 1.0]])
    means = np.array([-shift / 2, shift / 2])
    joint, one = MultivariateNormal(), Normal()
    together = np.stack([joint.mean_parameters(mean, covariance) for mean in means])
    alone = one.mean_parameters(means, 1.0)
    of_each = one.jeffreys(*alone)
    # both log-ratios are linear: their weights are differences of parameters of x
    naive = -np.diff(one.natural(alone)[..., 0], axis=0)[0]
    bayes = -np.diff(joint.natural(together)[..., 0], axis=0)[0]
    least, wrong = (
        stats.norm.sf(w @ shift / 2 / np.sqrt(w @ covariance @ w)) if w.any() else 0.5
        for w in (bayes, naive)
    )
    return {
        "one": of_each[0],
        "two": of_each[1],
        "sum": of_each.sum(),
        "both": joint.jeffreys(*together),
        "least": least,
        "naive": wrong,
    }


def moments(state):
    """Density of largest entropy on [0, 1], or the atoms that an edge leaves."""
    m = round(state["m"])
    shares = np.array([state[f"c{k}"] for k in range(1, m + 1)])
    # the matrix of the orthogonal polynomials: its powers have the moments, its
    # eigenvalues are the atoms if it falls apart
    steps = np.append(shares, np.full(8, 0.5))
    steps *= np.append(1.0, 1.0 - steps[:-1])
    edge = np.flatnonzero((shares == 0) | (shares == 1))
    diagonal = steps[0::2] + np.append(0.0, steps[1:-1:2])[: len(steps[0::2])]
    beside = np.sqrt(steps[0::2] * np.append(steps[1::2], 0.0)[: len(steps[0::2])])[:-1]
    matrix = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    power, mu = np.eye(len(matrix))[0], []
    for _ in range(m):
        power = matrix @ power
        mu.append(power[0])
    found = {f"mu{k}": value for k, value in enumerate(mu, 1)}
    if edge.size:
        with pytest.raises(ValueError, match="moment|strictly"):
            MaxEntDensity(m, support=(0, 1)).from_moments(mu)
        cut = np.flatnonzero(beside < 1e-12)[0] + 1
        places, vectors = np.linalg.eigh(matrix[:cut, :cut])
        for k, (place, weight) in enumerate(zip(places, vectors[0] ** 2, strict=True)):
            found |= {f"place{k}": place, f"weight{k}": weight}
        return found | {"entropy": -np.inf}
    density = MaxEntDensity(m, support=(0, 1)).from_moments(mu)
    found |= {"entropy": density.entropy_, "lambda0": density.log_normaliser_}
    parameters = enumerate(density.natural_params_, 1)
    return found | {f"lambda{k}": value for k, value in parameters}


def labels(state):
    """Code lengths of six ones and six zeros at their levels, by number of moments."""
    levels = np.array([state[f"p{k}"] for k in range(1, 13)])
    counts = np.bincount(levels, minlength=6)[1:]
    ones = np.bincount(levels[:6], minlength=6)[1:]
    fits = [(12 * np.log(2), nml.multinomial_codelength([6, 6]) - 12 * np.log(2))]
    for m in range(1, 6):
        error = nml.conditional_error(counts, ones, m)
        fits.append((error, nml.conditional_complexity(counts, m)))
    found = {}
    for m, (error, complexity) in enumerate(fits):
        found |= {f"error{m}": error, f"complexity{m}": complexity}
        found[f"total{m}"] = error + complexity
    return found


def die(state):
    """Entropies of two dice with one mean, and the divergence between them."""
    faces = np.arange(1, 7)
    weights = np.array([state[f"w{face}"] for face in faces])

    def tilted(theta):
        mass = weights * np.exp(-theta * (faces - state["mean"]))
        return mass / mass.sum()

    theta = optimize.brentq(
        lambda theta: tilted(theta) @ faces - state["mean"], -20, 20, xtol=1e-14
    )
    best = MaxEntDensity(1, levels=faces).from_moments([state["mean"]])
    entropy = special.entr(tilted(theta)).sum()
    kl = special.rel_entr(tilted(theta), best.pdf(faces)).sum()
    return {
        "most": best.entropy_,
        "entropy": entropy,
        "kl": kl,
        "sum": entropy + kl,
        "lambda": best.natural_params_[0],
        "factor": np.exp(-best.natural_params_[0]),
    }


def bayes_margins(state):
    """Margins of five points of each class, and J of densities with given moments."""
    points = np.array([[state[f"x{5 * k + i}"] for i in range(1, 6)] for k in (0, 1)])
    means, variances = points.mean(axis=1), points.var(axis=1)
    variances[np.ptp(points, axis=1) == 0] = 0.0
    shrunk = variances + state["shrink"] * (variances.mean() - variances)
    shifted = means + np.array([state["shift"], 0.0])
    if shrunk.min() == 0:
        return {"half": np.inf}
    family = Normal()
    mu = family.mean_parameters(shifted, shrunk)
    densities = stats.norm(shifted, np.sqrt(shrunk))
    ratio = densities.logpdf(points[:, :, None]) @ [1, -1]
    margins = ratio * [[1], [-1]]
    # what the proof loses where densities have other moments than the points
    mismatch = family.mean_parameters(means, variances) - mu
    slope = np.diff(family.natural(mu), axis=0)[0]
    return {
        "sum": margins.sum(),
        "half": 5 * family.jeffreys(*mu),
        "difference": 5 * slope @ (mismatch[0] - mismatch[1]),
        "smallest": margins.min(),
        "wrong": np.sum(margins < 0),
    }


def genes(state):
    """What the chapter computed for one number of genes."""
    names = "accuracy", "sd", "colon", "training", "heldout"
    return {name: state[name][state["S"]] for name in names}


def chain(state):
    """Divergence of one measurement of wines, and the posterior of a bottle."""
    means = np.array(state["means"])[:, state["rank"]]
    widths = np.array(state["sds"])[:, state["rank"]]
    priors = np.array(state["priors"])
    family = Normal()
    mu = family.mean_parameters(means, widths**2)
    log_p = [family.log_density(state["x"], lam) for lam in family.natural(mu)]
    chances = special.softmax(np.ravel(log_p) + np.log(priors))
    names = (f"grower{k + 1}" for k in range(3))
    divergence = family.js_gm(mu[:, None], priors)[0]
    return {"value": divergence, **dict(zip(names, chances, strict=True))}


# name of the figure: its page, and what computes its numbers from a state
FIGURES = {
    "me-gap": ("maximum-entropy", die),
    "margin-points": ("margin-and-j", bayes_margins),
    "dv-two-classes": ("divergences", two_classes),
    "me-region": ("existence", moments),
    "ad-correlation": ("additivity", correlation),
    "dn-levels": ("discriminative-nml", labels),
    "gn-sizes": ("genes", genes),
    "front-chain": ("index", chain),
}
NAMES = list(FIGURES)
DECIMALS = {"dn-levels": 2}  # of the numbers that it shows; others have three digits
SOME = ["dv-two-classes", "me-region", "me-gap"]  # of one kind of handle each

READ = """box => ({
    state: JSON.parse(box.dataset.state),
    numbers: [...box.querySelectorAll("data")].map(
        e => [e.dataset.name, e.value, e.textContent]),
})"""
FOCUSED = """() => {
    const e = document.activeElement;
    return [e.closest(".explain") && (e.type ?? e.getAttribute("role")),
        e.ariaLabel ?? e.labels?.[0]?.textContent ?? e.textContent, e.ariaValueText];
}"""
SEEN = "e => [scrollY, e.closest('svg').getBoundingClientRect().top]"
SMALLEST = """box => {
    const svg = box.querySelector("svg");
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    return Math.min(...[...box.querySelectorAll("*")].filter(e => e.checkVisibility()
        && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())).map(
        e => parseFloat(getComputedStyle(e).fontSize)
            * (e.ownerSVGElement ? scale : 1)));
}"""
CUT = """box => [...box.querySelectorAll("svg text")].filter(e => {
    const around = e.getBoundingClientRect();
    return around.left < 0 || around.right > innerWidth;
}).map(e => e.textContent)"""
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")


def opened(visit, name, size=DESKTOP, script=""):
    one = visit(size, script)
    one.page.set_default_timeout(1000 * PATIENCE)
    page = one.open(f"book/notebooks/{FIGURES[name][0]}.html")
    box = page.locator(f"#{name} .explain")
    box.scroll_into_view_if_needed()
    return one, page, box


def read(text):
    """The number that a text shows."""
    plain = text.translate(RAISED).replace("∞", "inf")
    return float(re.sub(r" · 10(-?\d+)", r"e\1", plain))


def given(box, name):
    """What a figure starts from."""
    return json.loads(box.page.locator(f"#{name}-moves").inner_text())


def compare(box, name):
    """Every number of a figure against that of memdlib; the state it is in."""
    found = box.evaluate(READ)
    expected = FIGURES[name][1](given(box, name) | found["state"])
    assert {key for key, *_ in found["numbers"]} == set(expected)
    for key, value, text in found["numbers"]:
        exact, about = expected[key], (key, found["state"])
        assert np.isclose(float(value), exact, rtol=1e-6, atol=1e-9), about
        if name in DECIMALS:
            assert abs(read(text) - exact) < 0.51 * 10 ** -DECIMALS[name], about
            continue
        assert np.isclose(read(text), exact, rtol=6e-3, atol=1e-9), about
        if 1e-3 <= abs(exact) < 1e6:  # rounded to the digits that it shows
            half = 0.501 * 10.0 ** -len(text.partition(".")[2])
            assert abs(read(text) - exact) <= half, about
    return found["state"]


def settle(page, box):
    """Wait until the sentence under a figure has been said."""
    said = "box => box.dataset.said === box.dataset.state"
    page.wait_for_function(said, arg=box.element_handle())


def random_handles(box, rng):
    """Move some of the handles by random keys."""
    handles = box.locator(".handle:visible")
    for place in rng.choice(handles.count(), size=4, replace=False):
        key = ["ArrowLeft", "ArrowRight", "PageUp", "Home"][rng.integers(4)]
        handles.nth(int(place)).press(key)


@pytest.mark.parametrize("name", NAMES)
def test_every_number_is_that_of_memdlib(visit, name):
    one, page, box = opened(visit, name)
    rng = np.random.default_rng([19, *map(ord, name)])
    start = compare(box, name)
    assert start.items() <= given(box, name).items()  # it opens as it is drawn
    seen = {json.dumps(start)}
    for _ in range(N_STATES):
        for field in box.locator("input[type=range]").all():
            ends = (field.get_attribute(key) for key in ("min", "max", "step"))
            low, high, step = map(float, ends)
            steps = rng.integers(0, round((high - low) / step) + 1)
            if field.is_enabled():
                field.fill(f"{low + steps * step:.10g}")
        if box.locator(".handle").count() > box.locator("input[type=range]").count():
            random_handles(box, rng)
        settle(page, box)
        seen.add(json.dumps(compare(box, name)))
    assert len(seen) > N_STATES / 2
    for button in box.locator("button").all():
        button.click()
        settle(page, box)
        assert button.get_attribute("aria-pressed") == "true"
        compare(box, name)
    box.locator("button", has_text="Reset").click()
    assert compare(box, name) == start
    assert one.problems == []


@pytest.mark.parametrize("name", SOME)
def test_the_keyboard_reaches_and_moves_everything(visit, name):
    _, page, box = opened(visit, name)
    box.locator("button").first.focus()
    for _ in range(box.locator("button, .handle:visible, input:enabled").count()):
        role, label, value = page.evaluate(FOCUSED)
        assert role in ("button", "slider", "range") and label.strip()
        if role != "button":
            before = box.evaluate(READ)["state"]
            for key in ("ArrowRight", "ArrowLeft", "ArrowLeft"):
                page.keyboard.press(key)
                if box.evaluate(READ)["state"] != before:
                    break
            assert box.evaluate(READ)["state"] != before, label
            assert value.strip()
        page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED)[0] != "button"
    assert box.locator("[role=status]").get_attribute("aria-live") == "polite"


@pytest.mark.parametrize("name", SOME)
def test_a_finger_on_a_phone_drags_every_handle(base, browser, name):
    phone = {"viewport": dict(zip(("width", "height"), PHONE, strict=True))}
    with browser.new_context(**phone, has_touch=True, is_mobile=True) as context:
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(f"{base}/book/notebooks/{FIGURES[name][0]}.html")
        finger = context.new_cdp_session(page)

        def touch(kind, *points):
            event = {"type": kind, "touchPoints": points}
            finger.send("Input.dispatchTouchEvent", event)

        handles = page.locator(f"#{name} .explain .handle:visible")
        handles.first.wait_for()
        for handle in handles.all():
            handle.evaluate("e => e.scrollIntoView({block: 'center'})")
            before, at = handle.get_attribute("data-state"), handle.evaluate(SEEN)
            around = handle.locator(".grip").bounding_box()
            x, y = around["x"] + around["width"] / 2, around["y"] + around["height"] / 2
            for dx, dy in ((-40, 25), (40, -25)):
                touch("touchStart", {"x": x, "y": y})
                for part in (0.25, 0.5, 0.75, 1.0):
                    touch("touchMove", {"x": x + dx * part, "y": y + dy * part})
                touch("touchEnd")
                if handle.get_attribute("data-state") != before:
                    break
            assert handle.get_attribute("data-state") != before
            # numbers above may take a line more: then the page or the picture stays
            moved = np.abs(np.subtract(handle.evaluate(SEEN), at))
            assert moved.min() < 2


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("script", ["", CHOSEN], ids=["light", "dark"])
def test_on_a_phone_it_can_be_read(visit, name, script):
    one, page, box = opened(visit, name, PHONE, script)
    for button in box.locator("button").all():
        button.click()
        assert page.evaluate(WIDEST) == ""
        assert box.evaluate(SMALLEST) >= 9
        assert box.evaluate(CUT) == []
    picture = box.locator(".explain-picture").bounding_box()
    numbers = box.locator(".explain-readout").bounding_box()
    # both are seen below the header
    assert picture["y"] + picture["height"] - numbers["y"] < PHONE[1] - 60
    for what in (".explain-about", ".explain button", ".explain th", ".explain-says"):
        assert min(page.evaluate(CONTRAST, f"#{name} {what}")) > 4.5, what
    assert one.problems == []


@pytest.mark.parametrize("name", SOME)
def test_without_a_script_and_in_print_stands_the_drawn_figure(base, browser, name):
    for scripts in (False, True):
        with browser.new_context(java_script_enabled=scripts) as context:
            page = context.new_page()
            page.set_default_timeout(1000 * PATIENCE)
            page.goto(f"{base}/book/notebooks/{FIGURES[name][0]}.html")
            if scripts:
                page.wait_for_selector(f"#{name} .explain")
                page.emulate_media(media="print")
                # a picture that was hidden is loaded once it comes into view
                drawn = page.locator(f"#{name} img.only-light")
                drawn.evaluate("e => e.scrollIntoView()")
                drawn.wait_for(state="visible")
            seen = {"img.only-light": True, "img.only-dark": False}
            seen |= {"figcaption": True, ".explain": False}
            for part, visible in seen.items():
                assert page.locator(f"#{name} {part}").is_visible() == visible
