from benchmarks import recommended


def test_both_sides_do_the_same_work(monkeypatch):
    monkeypatch.setattr(recommended, "TABLE", (90, 25))
    monkeypatch.setattr(recommended, "WIDE", [(90, 25)])
    monkeypatch.setattr(recommended, "TEXTS", (60, 2000))
    found = recommended.comparisons()
    peers = ["forest", "one RBF SVM", "LDA", "the data", "one LinearSVC", "the data"]
    assert [one.peer for one in found] == peers
    assert all(one.ours > 0 and one.theirs > 0 for one in found)
