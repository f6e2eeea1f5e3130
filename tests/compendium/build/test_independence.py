"""Each way to share code is planted; the gate names statement, function and line."""

import textwrap

import pytest

from compendium.build.cells import cells_of
from compendium.build.independence import FREE, lint_independence, shared_code
from compendium.build.statements import Statement
from compendium.project import root

SETUP = """
    import numpy as np
    from scipy import stats
    from memdlib import MaxEntDensity, divergences
    from memdlib.datasets import simulate_gaussian_classes
    from memdlib.divergences import jeffreys, kl
    from memdlib.families import Exponential, Normal
"""


def problems(witness, second, *, earlier="", named=("memdlib.divergences.kl",)):
    """What the gate says of three cells: an earlier one, a witness and a second."""
    cells = [SETUP, earlier, witness, second]
    text = "".join(
        f"```{{code-cell}} ipython3\n{textwrap.dedent(cell).strip()}\n```\n"
        for cell in cells
    )
    assert len(cells_of(text)) == 4
    statement = Statement("thm-a", "theorem", "A", root(), True, named, 2, 3)
    return shared_code("a.md", text, [statement])


def test_statement_function_and_lines_are_named():
    found = problems("x = jeffreys(p, q)", "y = 2 * jeffreys(p, q)\nz = y\nassert z")
    assert found == [
        "a.md:16: second-thm-a uses memdlib.divergences.jeffreys, as the witness does "
        "(line 13)"
    ]


@pytest.mark.parametrize(
    ("earlier", "witness", "second"),
    [
        ("", "kl(p, q)", "x = kl(p, q)\ny = x + 1"),
        ("", "kl(p, q)", "x = divergences.kl(p, q)\ny = x"),
        ("", "jeffreys(p, q)", "assert abs(jeffreys(p, q) - 1) < 1e-9"),
        ("def f(x): return x", "f(1)", "assert f(1) == 1"),
        ("f = lambda x: x", "f(1)", "assert f(1) == 1"),
        ("", "def f(x): return x\nf(1)", "assert f(1) == 1"),
        ("def f(x): return g(x)\ndef g(x): return x", "f(1)", "y = g(1)"),
        ("def f(x): return kl(*x)", "f(1)", "if kl(p, q) > 1: y = 2"),
        ("model = MaxEntDensity(2)", "model.fit(x)", "p = model.pdf(x)\ny = p + 1"),
        ("", "model = MaxEntDensity(2)", "p = [m.pdf(x) for m in [model]]\ny = p"),
        ("", "m = {2: kl(p, q)}", "for n, x in m.items():\n    y = x + n"),
        ("", "Normal().jeffreys(a, b)", "y = Exponential().jeffreys(a, b)"),
        ("f = Normal()", "f.natural(a)", "y = [-g.natural(a) for g in [f]]"),
        ("", "x = jeffreys(p, q)", "e = [x]\ny = e[0] + 1"),
        ("", "kl(p, q)", "e = [kl(p, q)]\ne.append(1)\ny = e[0]"),
        ("", "jeffreys(p, q)", "e = [jeffreys(p, q)]\nchecked('a', e)"),
        ("", "kl(p, q)", "def g(x):\n    return kl(x, q)\n\nassert g(p) == 0"),
    ],
)
def test_shared_code_is_found(earlier, witness, second):
    assert problems(witness, f"{second}\nz = y", earlier=earlier) != []


@pytest.mark.parametrize(
    ("earlier", "witness", "second"),
    [
        ("", "jeffreys(p, q)", "y = np.sum((p - q) * np.log(p / q))\nassert y > 0"),
        # what the statement is about may be compared with
        ("", "kl(p, q)", "assert np.isclose(kl(p, q), np.sum(p * np.log(p / q)))"),
        ("", "kl(p, q)", "x = kl(p, q)\ny = np.sum(p)\nassert x == y"),
        ("", "kl(p, q)", "y = [kl(p, q)]\nshow_table(y)"),
        ("", "kl(p, q)", "checked('a', 'b', error=kl(p, q), within=1)"),
        ("", "kl(p, q)", "e = [kl(p, q)]\ne.append(kl(q, p))\nchecked('a', max(e))"),
        ("", "kl(p, q)", "e = 0\ne = max(e, kl(p, q))\nchecked('a', e)"),
        # results of the witness may be compared with, data are common
        ("", "x = jeffreys(p, q)", "y = np.log(2)\nassert x == y"),
        ("", "x = jeffreys(p, q)", "e = [x - 1]\ne.append(2)\nchecked('a', e)"),
        (
            "data = simulate_gaussian_classes()",
            "jeffreys(data.X, q)",
            "y = data.X.sum()\nz = y + 1",
        ),
        ("def random_p(): return kl(1, 2)", "random_p()", "p = random_p()\ny = p + 1"),
        # a family is a name for moments; a name that a function hides is another
        ("", "Normal().jeffreys(a, b)", "y = Normal().mean_parameters(a, b)\nz = y"),
        ("def p(x): return x", "p(1)", "y = [p for p in q]\nf = lambda p: p\nz = y"),
        ("def p(x): return x", "p(1)", "p = 2\ny = p + 1\nz = y"),
        (
            "",
            "b = {2: jeffreys(p, q)}",
            "for n, x in b.items():\n    y = np.log(n)\n    assert x == y",
        ),
        # an index is not what gets the value
        ("b = {}\nb[tuple(p)] = kl(p, q)", "kl(p, q)", "y = tuple(p)\nz = y + 1"),
        ("", "stats.norm(0, 1).entropy()", "y = stats.norm(0, 1).entropy()\nz = y"),
    ],
)
def test_what_is_not_shared_passes(earlier, witness, second):
    assert problems(witness, second, earlier=earlier) == []


def test_a_family_that_a_statement_names_may_be_compared_with():
    second = "assert Normal().entropy(mu) == stats.norm(0, 1).entropy()"
    named = ("memdlib.families.Normal",)
    assert problems("Normal().entropy(mu)", second, named=named) == []
    assert problems("Normal().entropy(mu)", second) != []


def test_a_name_that_does_not_exist_is_left_to_the_run():
    earlier = "from memdlib.divergences import lk\nfrom memdlib.nowhere import f"
    found = problems("lk(p, q)", "y = lk(p, q)\nz = f(y)\nw = z", earlier=earlier)
    assert "uses memdlib.divergences.lk" in found[0]


def test_what_is_free_is_short_and_has_a_reason():
    assert len(FREE) <= 4
    assert all(len(reason.split()) > 4 for reason in FREE.values())


def test_no_second_computation_of_the_book_shares_code():
    assert lint_independence(root()) == []
