import ast

import pytest

from compendium.build.tolerances import hidden_tolerances, lint_tolerances


@pytest.mark.parametrize(
    "code",
    [
        "np.isclose(a, b)",
        "np.isclose(a, b, rtol=1e-12)",
        "np.allclose(a, b, rtol=0, atol=1e-12)",
        "np.allclose(a, b, 0, atol=1e-12)",
        "np.testing.assert_allclose(a, b, **tolerances, atol=1e-12)",
        "scipy_thing(a, b, atol=1e-12)",
        "pytest.approx(1, abs=1e-3)",
    ],
)
def test_what_says_all_it_allows_passes(code):
    assert hidden_tolerances(ast.parse(code)) == []


@pytest.mark.parametrize("name", ["np.isclose", "allclose", "testing.assert_allclose"])
def test_an_absolute_tolerance_alone_is_found(name):
    tree = ast.parse(f"x = 1\nassert {name}(a, b, atol=1e-12)")
    assert hidden_tolerances(tree) == [2]


def test_cells_and_tests_are_read(project):
    cell = "```{code-cell} ipython3\nnp.isclose(a, b, atol=1)\n```\n"
    project.write("book/theory/one.md", f"# One\n\n{cell}")
    project.write("tests/a/test_b.py", "\n\nallclose(a, b, atol=1)\n")
    found = lint_tolerances(project.root)
    assert [problem.split(": ")[0] for problem in found] == [
        "book/theory/one.md:4",
        "tests/a/test_b.py:3",
    ]
