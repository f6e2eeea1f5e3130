"""Classifiers side by side: who takes part, what each tunes, and what is measured."""

import tomllib
from pathlib import Path

from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectKBest, chi2, f_classif
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    OneHotEncoder,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC

from compendium.study.preparations import PreparedClassifier
from compendium.study.relevance import RelevantRedundantSelector, level_information
from memdlib.generative import MeMdClassifier, make_memd

_GRIDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
LABELS = _GRIDS["labels"]
EVERYWHERE = tuple(LABELS)[: _GRIDS["everywhere"]]
_LOSS = "neg_log_loss"
FEW = 500  # features that reach a method which could not afford all of them


class CalibratedSearch(ClassifierMixin, BaseEstimator):
    """A classifier with a chosen setting, and posteriors by a sigmoid.

    Parameters
    ----------
    machine : classifier
        With scores, and no posteriors of its own.
    grid : dict
        Parameter to the values among which accuracy chooses.
    folds : int
        Of the rows, for the setting and again for the sigmoid.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    best_params_ : dict
    best_score_ : float
        Accuracy on rows held out, of the setting that is chosen.

    Notes
    -----
    ``predict`` is the machine's own decision; a sigmoid may move it.
    """

    def __init__(self, machine, grid, folds):
        self.machine = machine
        self.grid = grid
        self.folds = folds

    def fit(self, X, y):
        """Choose the setting, then fit the sigmoid to scores of rows held out."""
        search = _search(self.machine, self.grid, self.folds).fit(X, y)
        self._machine = search.best_estimator_
        self.best_params_, self.best_score_ = search.best_params_, search.best_score_
        # the folds of the search, of which some hold out no row of a rare class; given
        # only their number, the sigmoid refuses a class with fewer rows
        folds = list(StratifiedKFold(self.folds).split(X, y))
        self._sigmoid = CalibratedClassifierCV(
            clone(self._machine), cv=folds, ensemble=False
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
    best_score_ : float
        Minus the least log-loss on the rows held out.
    """

    def __init__(self, most=100, random_state=None):
        self.most = most
        self.random_state = random_state

    def fit(self, X, y):
        """Find the number of iterations, then use all rows."""
        common = {"min_samples_leaf": 5, "random_state": self.random_state}
        stop = {"early_stopping": True, "validation_fraction": 0.2}
        first = HistGradientBoostingClassifier(max_iter=self.most, **stop, **common)
        first.fit(X, y)
        # a score for each number of iterations from none on: those that came after the
        # best did not help, and where it is the last, none came after it
        self.n_iter_ = max(1, int(first.validation_score_.argmax()))
        self.best_score_ = first.validation_score_.max()
        stop = {"early_stopping": False, "max_iter": self.n_iter_}
        self._model = HistGradientBoostingClassifier(**stop, **common).fit(X, y)
        self.classes_ = self._model.classes_
        return self

    def predict(self, X):
        """Predict the class of each row."""
        return self._model.predict(X)

    def predict_proba(self, X):
        """Posterior probabilities, (n, K)."""
        return self._model.predict_proba(X)


class StoppedCatBoost(ClassifierMixin, BaseEstimator):
    """CatBoost, which encodes categories itself, stopped like :class:`StoppedBoosting`.

    A missing category is a category of its own; numbers may be missing.

    Parameters
    ----------
    most : int, default=200
        Iterations at most. CatBoost adapts its learning rate to them.
    random_state : int, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    n_iter_ : int
    best_score_ : float
        Minus the least log-loss on the rows held out.

    References
    ----------
    .. [1] Prokhorenkova et al., CatBoost: unbiased boosting with categorical features,
       Advances in Neural Information Processing Systems 31 (2018).
    """

    def __init__(self, most=200, random_state=None):
        self.most = most
        self.random_state = random_state

    def fit(self, X, y):
        """Find the number of iterations, then use all rows."""
        # here, since whoever needs only the names of the classifiers would wait for it
        from catboost import CatBoostClassifier

        X = _without_missing_categories(X)
        common = {
            "cat_features": _categories(X),
            "random_seed": self.random_state,
            "thread_count": 1,
            "verbose": False,
            "allow_writing_files": False,
        }
        X_train, X_held_out, y_train, y_held_out = train_test_split(
            X, y, test_size=0.2, stratify=y, random_state=self.random_state
        )
        first = CatBoostClassifier(
            iterations=self.most, early_stopping_rounds=20, **common
        )
        first.fit(X_train, y_train, eval_set=(X_held_out, y_held_out))
        self.n_iter_ = first.get_best_iteration() + 1
        (loss,) = first.get_best_score()["validation"].values()
        self.best_score_ = -loss
        # the rate that it chooses depends on the rows held out and on the iterations
        rate = first.get_all_params()["learning_rate"]
        self._model = CatBoostClassifier(
            iterations=self.n_iter_, learning_rate=rate, **common
        ).fit(X, y)
        self.classes_ = self._model.classes_
        return self

    def predict(self, X):
        """Predict the class of each row."""
        return self._model.predict(_without_missing_categories(X)).ravel()

    def predict_proba(self, X):
        """Posterior probabilities, (n, K)."""
        return self._model.predict_proba(_without_missing_categories(X))


def _categories(X) -> list[str]:
    """Columns of a frame that hold no numbers; an array has none."""
    return list(make_column_selector(dtype_exclude="number")(X)) if _framed(X) else []


def _framed(X) -> bool:
    return hasattr(X, "columns")


def _without_missing_categories(X):
    """CatBoost takes strings only, and no gaps among them."""
    if not _framed(X):
        return X
    levels = {name: X[name].astype(object).fillna("missing") for name in _categories(X)}
    return X.assign(**levels)


def _marked_categories(X):
    """Their type tells scikit-learn's boosting which columns hold categories."""
    return X.astype(dict.fromkeys(_categories(X), "category"))


def _known_columns(X) -> list[str]:
    """Columns with ten values or more.

    Scikit-learn's boosting fails on a number that no row has, and where few have it,
    all of these may be held out.
    """
    return list(X.columns[X.notna().sum() >= 10])


def contestants(
    kind: str, d: int, *, folds: int = 5, iterations: int = 100
) -> dict[str, BaseEstimator]:
    """All classifiers that take part, unfitted.

    On expression values all but the SVM that is named so choose, as the recommended one
    does, between the values and normal scores of each sample.

    Parameters
    ----------
    kind : {"expression", "table", "text", "mixed"}
        As for :func:`memdlib.make_memd`; "text" means sparse counts, "mixed" a frame
        with categories and gaps, on which a few take part.
    d : int
        Features.
    folds : int, default=5
        In which each tunes what it tunes, inside ``fit``.
    iterations : int, default=100
        Of gradient boosting at most; CatBoost may take twice as many.

    Returns
    -------
    dict
        Name, a key of :data:`LABELS`, to estimator.
    """
    if kind == "mixed":
        return _mixed(d, folds, iterations)
    build = _text if kind == "text" else _dense
    found = {"make_memd": make_memd(kind)} | build(kind, d, folds)
    few = min(d, FEW)
    found["lda"] = make_pipeline(*_few(kind, few), _lda())
    near = make_pipeline(*_few(kind, few if kind == "text" else d), NearestCentroid())
    shrunken = {"nearestcentroid__shrink_threshold": [None, 0.5, 1.0, 2.0, 4.0]}
    found["centroids"] = _search(near, shrunken, folds)
    best = _few(kind, min(d, 200))
    found["boosting"] = make_pipeline(*best, StoppedBoosting(iterations))
    if kind == "table":
        best = _few(kind, min(d, 200))
        found["catboost"] = make_pipeline(*best, StoppedCatBoost(2 * iterations))
    found["forest"] = RandomForestClassifier(200, oob_score=kind == "expression")
    if kind == "expression":
        untuned = "plain", "shrunken", "naive_bayes", "lda"
        found |= {m: _search(found[m], {}, folds) for m in untuned}
        peers = found.keys() - {"make_memd", "svm_raw"}
        found |= {m: PreparedClassifier(found[m]) for m in peers}
    return {name: found[name] for name in LABELS if name in found}


def _search(model, grid, folds, scoring=None):
    return GridSearchCV(model, grid, cv=folds, scoring=scoring)


def _lda():
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")


def _dense_words(X):
    return X.toarray()


def _few(kind, k) -> list:
    """Scaled, with the features of largest F; of words, their weights, filled in."""
    best = SelectKBest(f_classif, k=k)
    if kind == "text":
        weights = TfidfTransformer(sublinear_tf=True)
        return [weights, best, FunctionTransformer(_dense_words, accept_sparse=True)]
    return [best, StandardScaler()]


def _chosen(kind, selector, sizes, folds):
    """Logistic regression behind a choice of features, whose number is tuned."""
    prepare, scale = [], StandardScaler()
    if kind == "text":
        prepare, scale = [TfidfTransformer(sublinear_tf=True)], MaxAbsScaler()
    chain = make_pipeline(*prepare, selector, scale, LogisticRegression(max_iter=500))
    name = "k" if isinstance(selector, SelectKBest) else "n_features"
    grid = {f"{type(selector).__name__.lower()}__{name}": sizes}
    costs = {"logisticregression__C": _GRIDS["few_costs"][kind]}
    return _search(chain, grid | costs, folds)


def _rotated(model):
    return make_pipeline(StandardScaler(), PCA(svd_solver="full"), model)


def _dense(kind, d, folds) -> dict:
    costs = _GRIDS["costs"][kind]
    sizes = [k for k in _GRIDS["sizes"]["expression"] if k < d] if d > 100 else []
    sizes = sizes or sorted({max(1, round(share * d)) for share in (0.25, 0.5, 1.0)})
    pool = min(d, 200)
    few = sorted({min(k, pool) for k in (5, 10, 20, 50)} if d > 100 else set(sizes))
    # LIBLINEAR penalises the intercept, too; a large scale makes that slight
    how = {"l1_ratio": 1.0, "solver": "liblinear", "intercept_scaling": 10.0}
    lasso = OneVsRestClassifier(LogisticRegression(**how, max_iter=200, tol=1e-3))
    lassos = {"estimator__C": _GRIDS["lasso_costs"][kind]}
    logistic = LogisticRegression(max_iter=500, tol=1e-3)
    machine, mrmr = SVC(kernel="linear"), RelevantRedundantSelector(pool=pool)
    svm = _rotated(CalibratedSearch(machine, {"C": costs}, folds))
    by_kind = _wide(svm, costs, folds) if kind == "expression" else _table(d, folds)
    found = {
        "plain": MeMdClassifier(cv=5),
        "shrunken": MeMdClassifier(cv=5, variance_shrinkage="auto"),
        "svm": svm,
        "logistic": _rotated(_search(logistic, {"C": costs}, folds)),
        "logistic_loss": _rotated(_search(logistic, {"C": costs}, folds, _LOSS)),
        "lasso": make_pipeline(StandardScaler(), _search(lasso, lassos, folds)),
        "naive_bayes": GaussianNB(),
        "mrmr_logistic": _chosen(kind, mrmr, few, folds),
    }
    for name, score in (("f", f_classif), ("information", level_information)):
        found[f"{name}_logistic"] = _chosen(kind, SelectKBest(score), sizes, folds)
    return found | by_kind


def _wide(svm, costs, folds) -> dict:
    """The support vector machine as it is, and peers on few principal components."""

    def reduced(model):
        return make_pipeline(PCA(svd_solver="full"), model)

    shares = {"pca__n_components": _GRIDS["others"]["variances"]}
    svc = reduced(SVC(kernel="linear"))
    machine = CalibratedSearch(svc, shares | {"svc__C": costs}, folds)
    logistic = reduced(LogisticRegression(max_iter=500, tol=1e-3))
    search = _search(logistic, shares | {"logisticregression__C": costs}, folds)
    found = {"pca_svm": _rotated(machine), "pca_logistic": _rotated(search)}
    return {"svm_raw": svm} | found


def _table(d, folds) -> dict:
    grid = {"C": [1.0, 10.0, 100.0], "gamma": [0.3 / d, 1.0 / d]}
    machine = CalibratedSearch(SVC(), grid, folds)
    return {"rbf_svm": make_pipeline(StandardScaler(), machine)}


def _mixed(d, folds, iterations) -> dict:
    """Peers on numbers filled, marked and scaled, and indicators of the categories.

    Three take the frame itself: the recommended classifier, and those kinds of boosting
    that know categories and gaps.
    """
    numbers = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True, add_indicator=True),
        StandardScaler(),
    )
    levels = OneHotEncoder(
        min_frequency=3, handle_unknown="infrequent_if_exist", sparse_output=False
    )
    prepare = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (levels, make_column_selector(dtype_exclude="number")),
    )
    logistic = LogisticRegression(max_iter=500, tol=1e-3)
    costs = {"C": _GRIDS["costs"]["table"]}
    found = {
        "rbf_svm": _table(d, folds)["rbf_svm"][-1],
        "logistic_loss": _search(logistic, costs, folds, _LOSS),
        "lda": _lda(),
        "boosting": StoppedBoosting(iterations),
        "forest": RandomForestClassifier(200),
    }
    found = {name: make_pipeline(prepare, model) for name, model in found.items()}
    mark = FunctionTransformer(_marked_categories)
    known = make_column_transformer(
        ("passthrough", _known_columns), verbose_feature_names_out=False
    ).set_output(transform="pandas")
    found["native_boosting"] = make_pipeline(mark, known, StoppedBoosting(iterations))
    found["catboost"] = StoppedCatBoost(2 * iterations)
    found["make_memd"] = make_memd("table")
    return {name: found[name] for name in LABELS if name in found}


def _text(kind, d, folds) -> dict:
    costs, others = _GRIDS["costs"][kind], _GRIDS["others"]
    sizes = [k for k in _GRIDS["sizes"][kind] if k < d]
    wide = {"estimator__C": others["wide_costs"]}
    lassos = {"estimator__C": _GRIDS["lasso_costs"][kind]}
    smoothings = others["smoothings"]

    def tfidf(model):
        return make_pipeline(TfidfTransformer(sublinear_tf=True), model)

    def searched(model, grid, scoring=None):
        name = type(model).__name__.lower()
        grid = {f"{name}__{key}": values for key, values in grid.items()}
        return _search(tfidf(model), grid, folds, scoring)

    def one_rest(**how):
        return OneVsRestClassifier(LogisticRegression(solver="liblinear", **how))

    ridge, few = RidgeClassifier(solver="sparse_cg", tol=1e-3), [10, 30, 100]
    found = {
        "plain": MeMdClassifier(family="bernoulli"),
        "shrunken": _search(
            MeMdClassifier(family="multinomial"), {"alpha": smoothings}, folds
        ),
        "svm": tfidf(CalibratedSearch(LinearSVC(), {"C": costs}, folds)),
        "ridge": tfidf(CalibratedSearch(ridge, {"alpha": others["ridges"]}, folds)),
        "logistic": searched(one_rest(), wide),
        "logistic_loss": searched(one_rest(), wide, _LOSS),
        "lasso": searched(one_rest(l1_ratio=1.0), lassos),
        "naive_bayes": _search(MultinomialNB(), {"alpha": smoothings}, folds),
        "complement": searched(ComplementNB(), {"alpha": smoothings}),
        "gaussian_text": make_pipeline(*_few(kind, min(d, FEW)), GaussianNB()),
        "mrmr_logistic": _chosen(kind, RelevantRedundantSelector(), few, folds),
    }
    scores = {"f": f_classif, "information": level_information, "chi2": chi2}
    for name, score in scores.items():
        found[f"{name}_logistic"] = _chosen(kind, SelectKBest(score), sizes, folds)
    return found
