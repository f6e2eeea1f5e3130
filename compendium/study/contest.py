"""Classifiers side by side: who takes part, what each tunes, and what is measured."""

from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectKBest, chi2, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from compendium.study.relevance import RelevantRedundantSelector, level_information
from memdlib.generative import MeMdClassifier, make_memd

LABELS = {
    "make_memd": "make_memd",
    "plain": "plain MeMd",
    "shrunken": "shrunken MeMd",
    "svm": "linear SVM",
    "logistic": "L2 logistic",
    "lasso": "L1 logistic",
    "naive_bayes": "naive Bayes",
    "lda": "LDA, Ledoit-Wolf",
    "centroids": "shrunken centroids",
    "f_logistic": "F, then logistic",
    "information_logistic": "information, then logistic",
    "mrmr_logistic": "mRMR, then logistic",
    "forest": "random forest",
    "boosting": "gradient boosting",
    "complement": "ComplementNB",
    "gaussian_text": "GaussianNB on words",
    "chi2_logistic": "chi-squared, then logistic",
    "logistic_loss": "L2 logistic, C by log-loss",
}
# Those that take part on all kinds of data, each once.
EVERYWHERE = tuple(LABELS)[:14]
FEW = 500  # features that reach a method which could not afford all of them

_COSTS = {
    "expression": (1e-4, 1e-3, 1e-2, 1e-1, 1.0),
    "table": (1e-3, 1e-2, 1e-1, 1.0, 10.0),
    "text": (0.1, 0.3, 1.0, 3.0, 10.0),
}
_LASSO_COSTS = {
    "expression": (0.03, 0.1, 0.3, 1.0),
    "table": (0.01, 0.1, 1.0, 10.0),
    "text": (0.3, 1.0, 3.0, 10.0, 30.0),
}
_SIZES = {"expression": (10, 30, 100, 300), "text": (30, 100, 300, 1000, 3000)}
_SMOOTHINGS = (0.01, 0.03, 0.1, 0.3, 1.0)


class CalibratedSVM(ClassifierMixin, BaseEstimator):
    """A support vector machine with a chosen cost, and posteriors by a sigmoid.

    Parameters
    ----------
    machine : classifier
        With a parameter ``C``.
    costs : sequence of float
    folds : int
        Of the rows, for the cost and again for the sigmoid.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    cost_ : float

    Notes
    -----
    ``predict`` is the machine's own decision; a sigmoid may move it.
    """

    def __init__(self, machine, costs, folds):
        self.machine = machine
        self.costs = costs
        self.folds = folds

    def fit(self, X, y):
        """Choose the cost, then fit the sigmoid to scores of rows held out."""
        search = GridSearchCV(self.machine, {"C": list(self.costs)}, cv=self.folds)
        self._machine = search.fit(X, y).best_estimator_
        self.cost_ = search.best_params_["C"]
        # the class refuses a number of folds where a class has fewer rows than folds
        self._sigmoid = CalibratedClassifierCV(
            clone(self._machine), cv=search.cv, ensemble=False
        ).fit(X, y)
        self.classes_ = self._machine.classes_
        return self

    def predict(self, X):
        """Predict the class of each row."""
        return self._machine.predict(X)

    def predict_proba(self, X):
        """Posterior probabilities, (n, K)."""
        return self._sigmoid.predict_proba(X)


class StoppedBoosting(ClassifierMixin, BaseEstimator):
    """Gradient boosting of trees, as many as serve a fifth of the rows, held out.

    That many are then fitted to all rows.

    Parameters
    ----------
    most : int, default=100
        Iterations at most.
    random_state : int, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    n_iter_ : int
    """

    def __init__(self, most=100, random_state=None):
        self.most = most
        self.random_state = random_state

    def fit(self, X, y):
        """Find the number of iterations, then use all rows."""
        common = {"min_samples_leaf": 5, "random_state": self.random_state}
        first = HistGradientBoostingClassifier(
            max_iter=self.most,
            early_stopping=True,
            validation_fraction=0.2,
            n_iter_no_change=10,
            **common,
        )
        # the last ones are those that no longer helped
        self.n_iter_ = max(1, first.fit(X, y).n_iter_ - 10)
        self._model = HistGradientBoostingClassifier(
            max_iter=self.n_iter_, early_stopping=False, **common
        ).fit(X, y)
        self.classes_ = self._model.classes_
        return self

    def predict(self, X):
        """Predict the class of each row."""
        return self._model.predict(X)

    def predict_proba(self, X):
        """Posterior probabilities, (n, K)."""
        return self._model.predict_proba(X)


def contestants(
    kind: str, d: int, *, folds: int = 5, iterations: int = 100
) -> dict[str, BaseEstimator]:
    """All classifiers that take part, unfitted.

    Parameters
    ----------
    kind : {"expression", "table", "text"}
        As for :func:`memdlib.make_memd`; "text" means sparse counts.
    d : int
        Features.
    folds : int, default=5
        In which each tunes what it tunes, inside ``fit``.
    iterations : int, default=100
        Of gradient boosting at most.

    Returns
    -------
    dict
        Name, a key of :data:`LABELS`, to estimator.

    Raises
    ------
    ValueError
        If there is no such kind.
    """
    if kind not in _COSTS:
        raise ValueError(f"kind={kind!r} must be one of {list(_COSTS)}")
    build = _text if kind == "text" else _dense
    found = {"make_memd": make_memd(kind)} | build(kind, d, folds)
    few = min(d, FEW)
    found["lda"] = make_pipeline(
        *_few(kind, few),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    )
    found["centroids"] = _search(
        make_pipeline(*_few(kind, few if kind == "text" else d), NearestCentroid()),
        {"nearestcentroid__shrink_threshold": [None, 0.5, 1.0, 2.0, 4.0]},
        folds,
    )
    found["boosting"] = make_pipeline(
        *_few(kind, min(d, 200)), StoppedBoosting(iterations)
    )
    found["forest"] = RandomForestClassifier(200)
    return {name: found[name] for name in LABELS if name in found}


def _search(model, grid, folds, scoring=None):
    return GridSearchCV(model, grid, cv=folds, scoring=scoring)


def _dense_words(X):
    return X.toarray()


def _few(kind, k) -> list:
    """Scaled, with the features of largest F; of words, their weights, filled in."""
    best = SelectKBest(f_classif, k=k)
    if kind == "text":
        weights = TfidfTransformer(sublinear_tf=True)
        return [weights, best, FunctionTransformer(_dense_words, accept_sparse=True)]
    return [best, StandardScaler()]


def _selected(selector, sizes, name, folds, prepare, scale):
    """A choice of features, its size tuned, in front of logistic regression."""
    chain = make_pipeline(*prepare, selector, scale, LogisticRegression(max_iter=500))
    step = type(selector).__name__.lower()
    grid = {f"{step}__{name}": sizes, "logisticregression__C": [0.01, 0.1, 1.0, 10.0]}
    return _search(chain, grid, folds)


def _dense(kind, d, folds) -> dict:
    costs = list(_COSTS[kind])
    sizes = [k for k in _SIZES["expression"] if k < d] if d > 100 else []
    sizes = sizes or sorted({max(1, round(share * d)) for share in (0.25, 0.5, 1.0)})
    pool = min(d, 200)
    few = sorted({min(k, pool) for k in (5, 10, 20, 50)} if d > 100 else set(sizes))
    lasso = LogisticRegression(
        # LIBLINEAR penalises the intercept, too; a large scale makes that slight
        l1_ratio=1.0,
        solver="liblinear",
        intercept_scaling=10.0,
        max_iter=200,
        tol=1e-3,
    )
    logistic = LogisticRegression(max_iter=500, tol=1e-3)
    rotate = StandardScaler(), PCA(svd_solver="full")

    def selected(selector, values, name):
        return _selected(selector, values, name, folds, [], StandardScaler())

    return {
        "plain": MeMdClassifier(validation=5),
        "shrunken": MeMdClassifier(validation=5, shrinkage="auto"),
        "svm": make_pipeline(
            *rotate, CalibratedSVM(SVC(kernel="linear"), costs, folds)
        ),
        "logistic": make_pipeline(*rotate, _search(logistic, {"C": costs}, folds)),
        "logistic_loss": make_pipeline(
            *rotate, _search(logistic, {"C": costs}, folds, "neg_log_loss")
        ),
        "lasso": make_pipeline(
            StandardScaler(),
            _search(
                OneVsRestClassifier(lasso),
                {"estimator__C": list(_LASSO_COSTS[kind])},
                folds,
            ),
        ),
        "naive_bayes": GaussianNB(),
        "f_logistic": selected(SelectKBest(f_classif), sizes, "k"),
        "information_logistic": selected(SelectKBest(level_information), sizes, "k"),
        "mrmr_logistic": selected(
            RelevantRedundantSelector(pool=pool), few, "n_features"
        ),
    }


def _text(kind, d, folds) -> dict:
    costs = list(_COSTS[kind])
    wide = [0.3, 1.0, 3.0, 10.0, 30.0, 100.0]
    sizes = [k for k in _SIZES["text"] if k < d]
    counts = MeMdClassifier(family="multinomial")

    def tfidf(model, grid, scoring=None):
        chain = make_pipeline(TfidfTransformer(sublinear_tf=True), model)
        grid = {f"{chain.steps[-1][0]}__{k}": v for k, v in grid.items()}
        return _search(chain, grid, folds, scoring)

    def one_rest(**how):
        return OneVsRestClassifier(LogisticRegression(solver="liblinear", **how))

    def selected(score):
        weights = [TfidfTransformer(sublinear_tf=True)]
        return _selected(SelectKBest(score), sizes, "k", folds, weights, MaxAbsScaler())

    return {
        "plain": MeMdClassifier(family="bernoulli"),
        "shrunken": _search(counts, {"smoothing": list(_SMOOTHINGS)}, folds),
        "svm": make_pipeline(
            TfidfTransformer(sublinear_tf=True),
            CalibratedSVM(LinearSVC(), costs, folds),
        ),
        "logistic": tfidf(one_rest(), {"estimator__C": wide}),
        "logistic_loss": tfidf(one_rest(), {"estimator__C": wide}, "neg_log_loss"),
        "lasso": tfidf(
            one_rest(l1_ratio=1.0), {"estimator__C": list(_LASSO_COSTS[kind])}
        ),
        "naive_bayes": _search(MultinomialNB(), {"alpha": list(_SMOOTHINGS)}, folds),
        "complement": tfidf(ComplementNB(), {"alpha": list(_SMOOTHINGS)}),
        "gaussian_text": make_pipeline(*_few(kind, min(d, FEW)), GaussianNB()),
        "f_logistic": selected(f_classif),
        "information_logistic": selected(level_information),
        "chi2_logistic": selected(chi2),
        "mrmr_logistic": _selected(
            RelevantRedundantSelector(),
            [10, 30, 100],
            "n_features",
            folds,
            [TfidfTransformer(sublinear_tf=True)],
            MaxAbsScaler(),
        ),
    }
