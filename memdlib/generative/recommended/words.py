"""Texts as counts of words; counts as they are."""

from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from memdlib._types import Estimator, MatrixLike
from memdlib.estimator import all_or_nothing
from memdlib.validation import check_parameters


class WordCounter(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Count the words of texts; pass counts through.

    A list, tuple, one-dimensional array or Series whose first element is a string holds
    texts, one an element. All else is taken for counts, and goes on as it is: the next
    step looks at it.

    Parameters
    ----------
    vectorizer : transformer, default=None
        Of texts to counts; None takes
        :class:`sklearn.feature_extraction.text.CountVectorizer`, words of two letters
        or more in lower case.

    Attributes
    ----------
    vectorizer_ : transformer or None
        Fitted; None if counts were given.
    n_features_in_ : int
        Only if counts were given in a matrix or a frame; ``feature_names_in_`` if they
        have names.

    Examples
    --------
    >>> counter = WordCounter()
    >>> counter.fit_transform(["to be or not", "to be"]).toarray().tolist()
    [[1, 1, 1, 1], [1, 0, 0, 1]]
    >>> counter.get_feature_names_out().tolist()
    ['be', 'not', 'or', 'to']
    """

    vectorizer_: Estimator | None

    _parameter_constraints: ClassVar[dict] = {
        "vectorizer": [None, BaseEstimator],
    }

    def __init__(self, vectorizer: Estimator | None = None) -> None:
        self.vectorizer = vectorizer

    @all_or_nothing
    def fit(self, X: MatrixLike | str, y: None = None) -> Self:
        """Learn the words, if there are texts.

        Parameters
        ----------
        X : sequence of n str, or {array-like, sparse matrix} of shape (n, d)
        y : None
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If some elements are texts and others are not, or no text holds a word.
        """
        check_parameters(self)
        self.vectorizer_ = None
        if holds_texts(X):
            made = CountVectorizer() if self.vectorizer is None else self.vectorizer
            self.vectorizer_ = clone(made).fit(X)
        elif getattr(X, "ndim", 1) == 2:
            validate_data(self, X, skip_check_array=True)
        return self

    def transform(self, X: MatrixLike | str) -> MatrixLike:
        """Count words that the texts of ``fit`` hold.

        Parameters
        ----------
        X : sequence of n str, or {array-like, sparse matrix} of shape (n, d)
            As in ``fit``.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n, d)

        Raises
        ------
        ValueError
            If counts were given to ``fit`` and texts are now, or some elements are
            texts and others are not.
        """
        check_is_fitted(self, "vectorizer_")
        texts = holds_texts(X)
        if self.vectorizer_ is not None:
            # counts of the same words will do, too
            return self.vectorizer_.transform(X) if texts else X
        if texts:
            raise ValueError(
                "X holds texts, but counts were given to fit; give counts of the same "
                "words, or fit to texts"
            )
        return X

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Words, or the names of the columns of counts.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Of columns of counts that have no names.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self, "vectorizer_")
        if self.vectorizer_ is not None:
            return self.vectorizer_.get_feature_names_out()
        return super().get_feature_names_out(input_features)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.positive_only = True
        return tags


def holds_texts(X: MatrixLike | str) -> bool:
    """Whether data are texts, one an element.

    Parameters
    ----------
    X : sequence of n str, or anything else

    Returns
    -------
    bool
        True if X is one-dimensional and its first element a string.

    Raises
    ------
    ValueError
        If other elements are not strings then.
    """
    if not hasattr(X, "__iter__") or isinstance(X, str) or getattr(X, "ndim", 1) != 1:
        return False
    if not isinstance(next(iter(X), None), str):
        return False
    for i, value in enumerate(X):
        if not isinstance(value, str):
            raise ValueError(
                f"X[{i}] = {value!r} is no text, as X[0] is; give strings alone, an "
                "empty one where there is no text"
            )
    return True
