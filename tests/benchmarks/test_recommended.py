from benchmarks import recommended


def test_both_sides_do_the_same_work(monkeypatch):
    monkeypatch.setattr(recommended, "TABLE", (300, 30))
    monkeypatch.setattr(recommended, "WIDE", [(200, 40)])
    monkeypatch.setattr(recommended, "TEXTS", (200, 2000))
    found = recommended.comparisons()
    assert [one.peer for one in found] == [
        "forest",
        "one RBF SVM",
        "LDA",
        "the data",
        "one LinearSVC",
        "the data",
    ]
    assert all(one.ours > 0 and one.theirs > 0 for one in found)
