from benchmarks.size import LARGE, measure


def test_nodes_lines_and_assignments_are_counted_by_kind():
    text = '"""Doc\n\nstring."""\n\nx = [\n1,\n]  # comment\n# comment\na, b = 2, x\n'
    size = measure(text)
    # the docstring is a statement and an expression
    assert (size.files, size.nodes, size.lines) == (1, 2 + 4 + 7, 4)
    assert (size.assignments, size.tuple_assignments) == (2, 1)


def test_functions_are_dense_or_large_without_their_docstrings():
    short = 'def f():\n    """Many words, (1, 2, 3)."""\n' + "    x = 1\n" * 12
    assert (measure(short).long_functions, measure(short).dense_functions) == (1, 0)
    dense = "def g():\n" + "    x = [1, 2, 3, 4, 5]\n" * 12
    assert measure(dense).dense_functions == 1
    assert measure(dense).large_functions == []
    large = "def h():\n" + "    x = 1\n" * LARGE
    assert measure(large).large_functions == [f"h {3 * LARGE}"]
    both = measure(dense) + measure(large)
    assert (both.files, both.long_functions, both.dense_functions) == (2, 2, 1)
