import pytest

from compendium.ledger.hybrids import share_above


class Values:
    """Evidence with one result."""

    def __init__(self, **values):
        self.all = values

    def values(self, run):
        assert run == "some"
        return self.all


def gap(difference, p):
    return {"difference": difference, "p": p, "low": -1.0, "high": 9.0}


def test_share_above_counts_cells_with_an_embedding():
    family = {
        "FS JS svm - linear": gap(3.0, 1e-6),
        "FS JT svm - linear": gap(1.0, 0.4),
        "FS JS svm - scaled": gap(-1.0, 1e-9),
        "MT-1 JS svm - linear": gap(-2.0, 1e-6),
        "MT-1 JT svm - linear": gap(-0.5, 0.9),
        "data JS svm - linear": gap(5.0, 1e-9),
    }
    evidence = Values(differences={"kernels": family})
    found = share_above(evidence, "some", "kernels", " - linear")
    assert found == {"median": 0.5, "low": 0.25, "high": 0.75}
    assert share_above(evidence, "some", "kernels")["median"] == pytest.approx(0.4)
