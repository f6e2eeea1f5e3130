import pytest

from compendium.ledger.published import first_column, printed_numbers, printed_rows


@pytest.fixture
def table(project):
    text = 'row,a,b,words\nx,86.40,,"one, two"\ny_z,1e2,-3,\n'
    project.write("data/published/table.csv", text)
    return project


def test_rows_are_text_as_printed(table):
    rows = printed_rows("table", table.root)
    assert rows[0] == {"row": "x", "a": "86.40", "b": "", "words": "one, two"}
    assert first_column(rows) == ["x", "y_z"]
    assert printed_rows("table") == rows  # of the checkout that is at hand


def test_numbers_leave_out_what_is_none(table):
    assert printed_numbers("table", "x", table.root) == {"a": 86.4}
    assert printed_numbers("table", "y_z", table.root) == {"a": 100.0, "b": -3.0}
    with pytest.raises(ValueError, match=r"no row 'y'; it has \['x', 'y_z'\]"):
        printed_numbers("table", "y", table.root)
    with pytest.raises(FileNotFoundError, match="lost"):
        printed_numbers("lost", "x", table.root)
