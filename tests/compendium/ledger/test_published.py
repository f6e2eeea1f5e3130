import pytest

from compendium.ledger.published import printed_numbers


@pytest.fixture
def table(project):
    text = 'row,a,b,words\nx,86.40,,"one, two"\ny_z,1e2,-3,\n'
    project.write("data/published/table.csv", text)
    return project


def test_numbers_leave_out_what_is_none(table):
    assert printed_numbers("table", "x", table.root) == {"a": 86.4}
    assert printed_numbers("table", "y_z", table.root) == {"a": 100.0, "b": -3.0}
    with pytest.raises(ValueError, match=r"no row 'y'; it has \['x', 'y_z'\]"):
        printed_numbers("table", "y", table.root)
    with pytest.raises(FileNotFoundError, match="lost"):
        printed_numbers("lost", "x", table.root)
