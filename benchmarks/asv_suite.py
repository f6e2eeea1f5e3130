"""Speed, memory and accuracy over the history of the project, by airspeed velocity.

The work is that of ``python -m benchmarks``. asv (https://asv.readthedocs.io) is no
dependency; install it where memdlib is installed, and call it in ``benchmarks``:

    pip install asv && asv machine --yes
    asv check --python=same          # does every benchmark load?
    asv run --quick --python=same    # each once, on the code as it stands: 2 minutes
    asv run v0.1..main && asv publish   # over the history, in environments of its own

asv leaves ``PYTHONPATH`` aside. Its results are in ``_build/asv``.
"""

from benchmarks import dense_fit_and_rank, sparse_choose_size, sparse_fit_and_rank
from memdlib import JointMaxEntClassifier, MeMdClassifier


class Genes:
    """Few samples of many features, dense."""

    shape = 190, 16063, 14

    def setup(self):
        self.X, self.y = dense_fit_and_rank.workload(*self.shape)
        self.model = MeMdClassifier(n_features=50)
        self.fitted = MeMdClassifier(n_features=50).fit(self.X[::2], self.y[::2])

    def time_fit(self):
        self.model.fit(self.X, self.y)

    def peakmem_fit(self):
        self.model.fit(self.X, self.y)

    def time_predict(self):
        self.fitted.predict(self.X)

    def time_fit_diagonal(self):
        JointMaxEntClassifier("diagonal").fit(self.X, self.y)

    def track_accuracy(self):
        return self.fitted.score(self.X[1::2], self.y[1::2])


class Words:
    """Documents, sparse, for each family of counts."""

    shape = 11314, 50000, 20
    learnable = 4000, 2000, 5
    params = ("bernoulli", "multinomial")
    param_names = ("family",)

    def setup(self, family):
        self.X, self.y = sparse_fit_and_rank.workload(*self.shape)
        self.model = MeMdClassifier(family=family, n_features=0.02)
        self.fitted = MeMdClassifier(family=family, n_features=0.02)
        self.fitted.fit(self.X[::2], self.y[::2])

    def time_fit(self, family):
        self.model.fit(self.X, self.y)

    def peakmem_fit(self, family):
        self.model.fit(self.X, self.y)

    def time_predict(self, family):
        self.fitted.predict(self.X)

    def track_accuracy(self, family):
        X, y = sparse_fit_and_rank.workload(*self.learnable)
        model = MeMdClassifier(family=family, n_features=0.25)
        return model.fit(X[::2], y[::2]).score(X[1::2], y[1::2])


class ChooseSize:
    """The number of words chosen on documents set aside."""

    shape = sparse_choose_size.SHAPES[0]

    def setup(self):
        self.X, self.y = sparse_choose_size.workload(*self.shape)
        self.model = MeMdClassifier(family="multinomial", random_state=0)

    def time_fit(self):
        self.model.fit(self.X, self.y)

    def track_n_selected(self):
        return int(self.model.fit(self.X, self.y).n_selected_)


class Import:
    """The package in a fresh interpreter."""

    def timeraw_import(self):
        return "from memdlib import MeMdClassifier"
