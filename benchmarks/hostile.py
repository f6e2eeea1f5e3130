"""What memdlib says to hostile calls: fine, clear, obscure, silently wrong or slow.

    python -m benchmarks.hostile

Each estimator is fitted to every input of :mod:`benchmarks.hostile_inputs` and asked
for all that it answers; each function gets every hostile value of each argument.

- *fine*: numbers, of the right shape, probabilities of sum one; the same as those of
  the same data in float64;
- *clear*: a ValueError, TypeError or error of the package, raised by a check (the last
  frame is a ``raise`` of memdlib, or is of scikit-learn);
- *NumPy's*: its refusal to convert what is no array of numbers, which names value or
  type, as scikit-learn passes it on;
- *obscure*: any other error, or a RuntimeWarning that computations of memdlib give off,
  whatever comes after it;
- *silent*: answers that are no numbers, or other answers to the same data;
- *slow*: more than ``SECONDS``.
"""

import argparse
import linecache
import re
import signal
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

import memdlib
from benchmarks.hostile_inputs import Case, arguments, asked, benign, fits
from memdlib import (
    PLSA,
    ConditionalMaxEntClassifier,
    DivergenceRanker,
    GreedyGaussianRanker,
    GreedyInformationRanker,
    JointMaxEntClassifier,
    MaxEntDensity,
    MeMdClassifier,
    divergences,
    kernels,
    make_memd,
    nml,
    topics,
)
from memdlib.densities import InfeasibleMomentsError, NotConvergedError
from memdlib.generative import (
    CorrelatedMeMdClassifier,
    DivergenceWeighter,
    MixtureClassifier,
    MultinomialMeMdClassifier,
    RegularisedMeMdClassifier,
    fit_calibration,
    normal_scores,
)
from memdlib.generative.memd import size_grid
from memdlib.nml import LevelQuantiser, NMLClassifier, NMLFeatureSelector
from memdlib.topics import GenerativeEmbedding

SECONDS = 10.0
OUTCOMES = ("fine", "clear", "NumPy's", "obscure", "silent", "slow")
CLEAR = (ValueError, TypeError, NotConvergedError, InfeasibleMomentsError)
_MEMDLIB, _SCIKIT_LEARN = (Path(one.__file__).parent for one in (memdlib, sklearn))
_CONVERSION = (
    "could not convert string to float",
    r"(float|int)\(\) argument must be a string",
    "inhomogeneous shape",
)
# Answers to the same data may differ by rounding; posteriors by what is left where an
# iteration stops, whose moments are met to 1e-6.
ROUNDING, POSTERIORS = 1e-6, 1e-4

_topics = PLSA(2, random_state=0, max_iter=100)
ESTIMATORS = {
    "MeMdClassifier()": MeMdClassifier(random_state=0),
    **{
        f'MeMdClassifier(family="{family}")': MeMdClassifier(
            family=family, random_state=0
        )
        for family in ("poisson", "bernoulli", "geometric", "exponential")
    },
    'MeMdClassifier(shrinkage="auto")': MeMdClassifier(
        shrinkage="auto", random_state=0
    ),
    "JointMaxEntClassifier()": JointMaxEntClassifier(),
    "ConditionalMaxEntClassifier()": ConditionalMaxEntClassifier(),
    "MixtureClassifier()": MixtureClassifier(random_state=0),
    "CorrelatedMeMdClassifier()": CorrelatedMeMdClassifier(),
    "RegularisedMeMdClassifier()": RegularisedMeMdClassifier(),
    "MultinomialMeMdClassifier()": MultinomialMeMdClassifier(random_state=0),
    "NMLClassifier()": NMLClassifier(n_moments=2),
    'make_memd("table")': make_memd("table", random_state=0),
    'make_memd("expression")': make_memd("expression", random_state=0),
    'make_memd("text")': make_memd("text", random_state=0),
    "DivergenceRanker()": DivergenceRanker(),
    "GreedyGaussianRanker()": GreedyGaussianRanker(),
    "GreedyInformationRanker()": GreedyInformationRanker(),
    "NMLFeatureSelector()": NMLFeatureSelector(n_moments=2),
    "LevelQuantiser()": LevelQuantiser(),
    "DivergenceWeighter()": DivergenceWeighter(),
    "PLSA()": _topics,
    **{
        f'GenerativeEmbedding("{kind}")': GenerativeEmbedding(kind, _topics)
        for kind in ("MT-2", "MT-1", "FESS-1", "FS", "LLR", "TOP", "PD")
    },
}
TWO_CLASSES = ("NMLClassifier()", "NMLFeatureSelector()", 'GenerativeEmbedding("TOP")')

_rng = np.random.default_rng(3)
_P, _Q = _rng.dirichlet(np.ones(4), size=(2, 6))
_W, _CODES = _rng.dirichlet(np.ones(6)), np.arange(6) % 2
_LEVELS = np.array([[0, 1], [1, 1], [2, 0], [0, 0], [1, 2], [2, 1]])
_PLSA = PLSA(2, random_state=0).fit(_LEVELS)
# Functions that take array-likes, and benign arguments; not those for arrays that
# others have checked, such as the sums of memdlib.moments.
FUNCTIONS: dict[str, tuple[Callable, tuple]] = {
    "js_kernel": (kernels.js_kernel, (_P, _Q)),
    "jt_kernel": (kernels.jt_kernel, (_P, _Q, 1.5)),
    "weighted_jt_kernel": (kernels.weighted_jt_kernel, (3 * _P, _Q, 1.0)),
    'weighted_jt_kernel, "B"': (
        lambda X, Y, q: kernels.weighted_jt_kernel(X, Y, q, "B"),
        (3 * _P, _Q, 0.5),
    ),
    "exponential_js_kernel": (kernels.exponential_js_kernel, (_P, _Q, 2.0)),
    "kl": (divergences.kl, (_P, _Q)),
    "jeffreys": (divergences.jeffreys, (_P, _Q)),
    "jensen_shannon": (divergences.jensen_shannon, (_P, _W)),
    "jensen_tsallis": (divergences.jensen_tsallis, (_P, 1.5, _W)),
    "js_gm": (divergences.js_gm, (_P, _W)),
    "fit_calibration": (
        lambda one, other, codes, weight: fit_calibration([one, other], codes, weight),
        (np.log(_P[:, :2]), np.log(_Q[:, :2]), _CODES, np.ones(6)),
    ),
    "normal_scores": (normal_scores, (_P,)),
    "size_grid": (size_grid, (np.array([1, 3, 9]), 9)),
    "MaxEntDensity().fit": (MaxEntDensity().fit, (_P[:, 0], None, np.ones(6))),
    "MaxEntDensity().from_moments": (
        MaxEntDensity().from_moments,
        (np.array([1.0, 3.0]),),
    ),
    "MaxEntDensity(4).from_moments": (
        MaxEntDensity(4).from_moments,
        (np.array([0.0, 1.0, 0.1, 2.8]),),
    ),
    "MaxEntDensity(2, (0, 1)).from_moments": (
        MaxEntDensity(2, (0.0, 1.0)).from_moments,
        (np.array([0.4, 0.2]),),
    ),
    "MaxEntDensity(support=levels).from_moments": (
        lambda levels, mu: MaxEntDensity(2, levels).from_moments(mu),
        (np.arange(5.0), np.array([2.0, 6.0])),
    ),
    "log_likelihoods": (lambda X: topics.log_likelihoods(_PLSA, X), (_LEVELS,)),
    "fisher_scores": (lambda X: topics.fisher_scores(_PLSA, X), (_LEVELS,)),
    "free_energy_terms": (lambda X: topics.free_energy_terms(_PLSA, X), (_LEVELS,)),
    "posterior_divergences": (
        lambda X: topics.posterior_divergences(_PLSA, X),
        (_LEVELS,),
    ),
    "maxent_scores": (
        topics.maxent_scores,
        (_P[:, :2], np.array([[0.0, 0.5], [1.0, 0.5]])),
    ),
    "conditional_complexity": (
        nml.conditional_complexity,
        (np.array([2, 3, 1]), 2, np.array([1.0, 2.0, 3.0])),
    ),
    "conditional_complexity_estimate": (
        nml.conditional_complexity_estimate,
        (np.array([2, 3, 1]), 2, np.array([1.0, 2.0, 3.0])),
    ),
    "conditional_codelength": (
        nml.conditional_codelength,
        (np.array([1, 1, 2, 2, 3, 3]), _CODES, 2),
    ),
    "conditional_error": (
        nml.conditional_error,
        (np.array([2, 3, 1]), np.array([1, 1, 0]), 2),
    ),
    "multinomial_codelength": (nml.multinomial_codelength, (np.array([2, 3, 1]),)),
    "multinomial_complexity": (nml.multinomial_complexity, (6, 3)),
    "geometric_complexity": (
        lambda n, largest: nml.geometric_complexity(n, largest_sum=largest),
        (5, 12),
    ),
    "gaussian_complexity": (
        lambda n, means, scales: nml.gaussian_complexity(
            n, mean_range=means, scale_range=scales
        ),
        (5, np.array([-1.0, 1.0]), np.array([0.1, 2.0])),
    ),
    "alphabet_complexity": (nml.alphabet_complexity, (6, np.array([0, 1, 3]), 1)),
    "alphabet_codelength": (
        nml.alphabet_codelength,
        (np.array([2, 3, 1]), np.array([0, 1, 3]), 1),
    ),
    "count_levels": (nml.count_levels, (_LEVELS, _CODES)),
    "feature_codelengths": (
        lambda counts, ones: nml.feature_codelengths(counts, ones, (1, 2)),
        (np.array([[2, 2, 2], [1, 3, 2]]), np.array([[1, 1, 1], [1, 0, 2]])),
    ),
}
# Element by element: nan makes nan.
ELEMENTWISE = ("maxent_scores",)
# Not compared: the log of counts about 1e6 leaves some ten digits of rows of length
# one, and then the order of the rows alone moves posteriors by 0.02. In single
# precision the weighted words are rounded, and some rows fall into other folds.
FEW_DIGITS = {
    ('make_memd("text")', case)
    for case in ("plus 1e6, sparse", "X float32", "X csr of float32")
}


class Outcome(NamedTuple):
    """What became of a call.

    Parameters
    ----------
    kind : str
        One of ``OUTCOMES``.
    why : str
        The error, or what is wrong with the answer; empty if fine.
    """

    kind: str
    why: str = ""


class TooSlow(BaseException):
    """Raised in a call that takes too long; none of its handlers may catch it."""


class WrongAnswer(Exception):
    """An answer that is none."""


def judged(work: Callable[[], object], says: str = "") -> Outcome:
    """Do work that may raise, and name the outcome.

    Parameters
    ----------
    work : callable
        Raises :class:`WrongAnswer` if it finds one.
    says : str, default=""
        Regular expression that the message of an error must hold.

    Returns
    -------
    Outcome
    """

    def late(*_):
        raise TooSlow

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            work()
            outcome = Outcome("fine")
        except TooSlow:
            outcome = Outcome("slow", f"more than {SECONDS:g} s")
        except WrongAnswer as wrong:
            outcome = Outcome("silent", str(wrong))
        except Exception as error:
            outcome = _of_error(error, says)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)
    stray = [
        one
        for one in given
        if issubclass(one.category, (RuntimeWarning, np.exceptions.ComplexWarning))
        and not re.search("sklearn|array_api", one.filename)
    ]
    if stray and outcome.kind in ("fine", "clear", "NumPy's"):
        one = stray[0]
        text = f"{one.category.__name__}: {one.message}"
        return Outcome("obscure", f"{text} [{_place(one)}], then {outcome.kind}")
    return outcome


def _of_error(error, says):
    frame = traceback.extract_tb(error.__traceback__)[-1]
    statement = linecache.getline(frame.filename, frame.lineno).strip()
    where = Path(frame.filename)
    checked = where.is_relative_to(_SCIKIT_LEARN) or (
        where.is_relative_to(_MEMDLIB) and statement.startswith("raise")
    )
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    why = f"{text[:150]} [{_place(frame)}]"
    if not re.search(says, text):
        return Outcome("obscure", f"{why}, no remedy")
    if isinstance(error, CLEAR) and checked:
        return Outcome("clear", text)
    if isinstance(error, CLEAR) and re.search("|".join(_CONVERSION), text):
        return Outcome("NumPy's", why)
    return Outcome("obscure", why)


def _place(frame):
    return "/".join(frame.filename.split("/")[-3:]) + f":{frame.lineno}"


def weight_options(model: BaseEstimator, weight) -> dict:
    """Options of ``fit`` by which weights reach each step that takes them."""
    if weight is None:
        return {}
    steps = model.steps if isinstance(model, Pipeline) else [("", model)]
    return {
        f"{name}__sample_weight" if name else "sample_weight": weight
        for name, step in steps
        if has_fit_parameter(step, "sample_weight")
    }


def answers(model: BaseEstimator, case: Case) -> dict[str, np.ndarray]:
    """Fit a copy and ask it for everything; refuse answers that are none.

    Parameters
    ----------
    model : estimator
    case : Case

    Returns
    -------
    dict of str to ndarray
        Posteriors and transformed rows, of those that it has.

    Raises
    ------
    WrongAnswer
    """
    model, extra = clone(model), weight_options(model, case.weight)
    before = set(vars(model))
    try:
        model.fit(case.X, case.y, **extra)
    except Exception as error:
        if set(vars(model)) != before:
            raise WrongAnswer(f"a fit that failed left a trace: {error}") from error
        raise
    X, found = case.X if case.X_test is None else case.X_test, {}
    if hasattr(model, "predict"):
        place = np.searchsorted(model.classes_, model.predict(X))
        log_p = model.predict_log_proba(X)
        found["posterior"] = model.predict_proba(X)
        _check(found["posterior"].sum(axis=1), "sum of posteriors", 1.0)
        if np.isnan(log_p).any() or (log_p > 1e-12).any():
            raise WrongAnswer("log posteriors are nan or above zero")
        if np.isnan(model.decision_function(X)).any():
            raise WrongAnswer("scores are nan")
        own = np.take_along_axis(log_p, place[:, None], axis=1)[:, 0]
        _check(own, "log posterior of the label", log_p.max(axis=1))
    elif hasattr(model, "transform"):
        Z = model.transform(X)
        Z = Z.toarray() if sparse.issparse(Z) else np.asarray(Z)
        found["transformed rows"] = Z = Z.astype(np.float64)
        if not np.isfinite(Z).all():
            raise WrongAnswer("transformed rows are no numbers")
    last = model[-1] if isinstance(model, Pipeline) else model
    for name in ("feature_divergences_", "coef_", "class_prior_", "mean_params_"):
        if np.isnan(np.asarray(getattr(last, name, 0.0))).any():
            raise WrongAnswer(f"{name} holds nan")
    return found


def _check(found, name, expected, tol=ROUNDING):
    found, expected = np.asarray(found), np.asarray(expected)
    if not np.allclose(found, expected, rtol=tol, atol=tol, equal_nan=True):
        with np.errstate(invalid="ignore"):
            far = np.nanmax(np.abs(found - expected))
        raise WrongAnswer(f"{name} off by {far:.2g}")


def of_estimators(only: list[str]) -> Iterator[tuple[str, Outcome]]:
    """Each call of some estimators, and what became of it.

    Parameters
    ----------
    only : list of str
        Keys of ``ESTIMATORS``.

    Yields
    ------
    call : str
    outcome : Outcome
    """
    for name in only:
        model, base = ESTIMATORS[name], benign(2 if name in TWO_CLASSES else 3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = answers(model, base)
        weighted = has_fit_parameter(
            model[-1] if isinstance(model, Pipeline) else model, "sample_weight"
        )
        for what, case in (fits(base) | asked(base)).items():
            if case.weight is not None and not weighted:
                continue

            key = name, what

            def work(model=model, case=case, base=base, plain=plain, key=key):
                found = answers(model, case)
                if case.same is not None and key not in FEW_DIGITS:
                    same = plain if case.same is base else answers(model, case.same)
                    for part, expected in same.items():
                        tol = POSTERIORS if part == "posterior" else ROUNDING
                        _check(found[part], f"{part} of the same data", expected, tol)

            yield f"{name}, {what}", judged(work, case.says)


def of_functions(only: list[str]) -> Iterator[tuple[str, Outcome]]:
    """Each call of some functions, and what became of it.

    Parameters
    ----------
    only : list of str
        Keys of ``FUNCTIONS``.

    Yields
    ------
    call : str
    outcome : Outcome
    """
    for name in only:
        _, given = FUNCTIONS[name]
        for place, values in enumerate(given):
            if values is None:
                continue
            for what, (value, same) in arguments(values).items():

                def work(name=name, place=place, value=value, same=same, what=what):
                    function, given = FUNCTIONS[name]
                    found = numbers(function(*_put(given, place, value)))
                    nan = what in ("nan last", "None", "objects")
                    nan = nan and name in ELEMENTWISE
                    if not nan and any(np.isnan(part).any() for part in found):
                        raise WrongAnswer("nan")
                    if same is not None:
                        expected = numbers(function(*_put(given, place, same)))
                        for part, right in zip(found, expected, strict=True):
                            _check(part, "answer to the same", right)

                yield f"{name}, argument {place}: {what}", judged(work)


def _put(given, place, value):
    return (*given[:place], value, *given[place + 1 :])


def numbers(answer: object) -> list[np.ndarray]:
    """All numbers of an answer, whatever holds them.

    Parameters
    ----------
    answer : object
        Number, array, dataclass, tuple, dict or object with fitted attributes.

    Returns
    -------
    list of ndarray of float64
    """
    if sparse.issparse(answer):
        return [answer.toarray()]
    if is_dataclass(answer):
        answer = [getattr(answer, f.name) for f in fields(answer)]
    elif isinstance(answer, MaxEntDensity):
        # residual, gap and condition are certificates, of the size of rounding
        answer = [answer.natural_params_, answer.log_normaliser_, answer.entropy_]
    if isinstance(answer, dict):
        answer = list(answer.values())
    if isinstance(answer, list | tuple):
        return [part for one in answer for part in numbers(one)]
    answer = np.asarray(answer)
    return [answer.astype(np.float64)] if answer.dtype.kind in "fiub" else []


def cause(call: str, outcome: Outcome) -> tuple[str, str]:
    """What cases share: the outcome without its digits."""
    return outcome.kind, re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "#", outcome.why)


def main(names: list[str]) -> None:
    """Print counts, and each call that is obscure, silent or slow, by its cause.

    Parameters
    ----------
    names : list of str
        Estimators and functions, by the beginning of their names; all if empty.
    """
    chosen = [
        [name for name in known if not names or name.startswith(tuple(names))]
        for known in (ESTIMATORS, FUNCTIONS)
    ]
    counts, causes = Counter(), {}
    print(f"{'':48}" + "".join(f"{kind:>9}" for kind in OUTCOMES))
    for calls, known in zip((of_estimators, of_functions), chosen, strict=True):
        for name in known:
            found = list(calls([name]))
            own = Counter(outcome.kind for _, outcome in found)
            print(f"{name:48}" + "".join(f"{own[k]:9}" for k in OUTCOMES), flush=True)
            counts += own
            for call, outcome in found:
                if outcome.kind in ("obscure", "silent", "slow"):
                    causes.setdefault(cause(call, outcome), []).append((call, outcome))
    print(f"{'all':48}" + "".join(f"{counts[kind]:9}" for kind in OUTCOMES))
    for (kind, why), cases in sorted(causes.items(), key=lambda item: -len(item[1])):
        print(f"\n{kind}, {len(cases)} calls: {why}")
        for call, outcome in cases:
            print(f"  {call}: {outcome.why}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile")
    parser.add_argument("names", nargs="*")
    main(parser.parse_args().names)
