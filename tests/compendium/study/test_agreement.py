import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.sparse import csr_array

from compendium.study.agreement import level_scores, presence_scores, rank_correlations
from memdlib.datasets import simulate_gaussian_classes, simulate_text_counts
from memdlib.divergences import js_gm
from memdlib.nml import NMLFeatureSelector


@pytest.fixture(scope="module")
def words():
    text = simulate_text_counts(
        n_documents=150, n_words=60, n_classes=3, random_state=2
    )
    present = (text.X.toarray() > 0).astype(float)
    present[:, 3], present[:, 5] = 0.0, 1.0  # never and always
    return present, text.y


@pytest.fixture(scope="module", params=[2, 3])
def genes(request):
    data = simulate_gaussian_classes(
        90, n_features=12, n_informative=4, n_classes=request.param, random_state=4
    )
    return data.X, data.y


def compare(found, levels, values, y):
    """Statistics of tables of classes and levels, and of variances of values."""
    for j, column in enumerate(levels.T):
        table = pd.crosstab(y, column).to_numpy()
        if table.shape[1] < 2:
            assert {score[j] for score in found.values()} == {0.0}
            continue
        for name, power in (("Pearson", 1), ("G", 0)):
            right = stats.chi2_contingency(table, correction=False, lambda_=power)[0]
            assert found[name][j] == pytest.approx(right, rel=1e-10)
        groups = [values[y == k, j] for k in np.unique(y)]
        assert found["F"][j] == pytest.approx(stats.f_oneway(*groups)[0], rel=1e-8)


def test_statistics_of_words_are_those_of_their_tables(words):
    present, y = words
    found = presence_scores(csr_array(present), y)
    compare(found, present, present, y)
    sizes = np.bincount(y)
    for column, score in zip(present.T, found["JS_GM"], strict=True):
        rates = (np.bincount(y, column) + column.mean()) / (sizes + 1)
        P = np.column_stack([rates, 1 - rates])
        assert score == pytest.approx(js_gm(P, sizes / len(y)), rel=1e-10)
    assert found["chi2"].max() <= found["Pearson"].max()


def test_statistics_of_genes_are_those_of_five_levels(genes):
    X, y = genes
    found = level_scores(X, y)
    levels = np.stack([pd.qcut(column, 5, labels=False) for column in X.T], axis=1)
    compare(found, levels, X, y)
    assert ("NML" in found) == ("NML, 1" in found) == (len(np.unique(y)) == 2)
    if "NML" in found:
        code = NMLFeatureSelector(n_moments=2, strategy="quantile", intercept=True).fit(
            X, y
        )
        order = np.argsort(-found["NML, 1"], kind="stable")
        assert order.tolist() == code.order_.tolist()
        assert (found["NML"] < 0).all()


def test_correlations_are_spearmans_and_ties_share_a_rank(words):
    present, y = words
    found = presence_scores(present, y)
    matrix = rank_correlations(found)
    for i, one in enumerate(found.values()):
        for j, two in enumerate(found.values()):
            right = stats.spearmanr(one.round(9), two.round(9))[0]
            assert matrix[i, j] == pytest.approx(right, abs=2e-3)
    assert matrix[list(found).index("F"), list(found).index("Pearson")] > 0.999
