from compendium.build.cells import cells_of
from compendium.build.chapters import sources
from compendium.build.notebooks import code_cells, read_source
from compendium.project import root

TEXT = """# A chapter

```python
not_a_cell = 1
```

```{code-cell} ipython3
plain = 1
```

```{code-cell} ipython3
:tags: [remove-input, margin]
:label: named

tagged = f\"\"\"
{plain}
\"\"\"
```
"""


def test_cells_come_with_line_and_tags():
    first, second = cells_of(TEXT)
    assert (first.line, first.tags, first.code) == (8, (), "plain = 1\n")
    assert (second.line, second.tags) == (14, ("remove-input", "margin"))
    assert TEXT.splitlines()[second.line] == 'tagged = f"""'


def test_cells_of_the_book_are_those_that_run():
    for path in sources(root()):
        found, run = cells_of(path.read_text()), code_cells(read_source(path))
        assert [c.code.strip() for c in found] == [c.source.strip() for c in run]
        assert [list(c.tags) for c in found] == [
            c.metadata.get("tags", []) for c in run
        ]
