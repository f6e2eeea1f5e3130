"""Reviews with stars: a file of any length to presences of words, and an imitation.

The Amazon fine food reviews may not be passed on. Whoever has the file reads it here in
pieces; whoever has not writes one of the same columns.
"""

from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from compendium.data.readers import WORD

# Shares of one to five stars in the imitation.
_STARS = (0.09, 0.05, 0.08, 0.14, 0.64)
_ROWS = 10_000  # read or written at a time
_SYLLABLES = [a + b for a, b in product("bdfgklmnprstvz", "aiou")]


class Reviews(NamedTuple):
    """Which words occur in which review.

    Attributes
    ----------
    X : sparse array of shape (n, d), float64
        One where the word occurs.
    y : ndarray of shape (n,), int64
        1 for four or five stars, 0 for one or two.
    words : list of str, length d
        In alphabetical order.
    repeated : int
        Reviews left out because their text had come before.
    """

    X: csr_array
    y: NDArray[np.int64]
    words: list[str]
    repeated: int


def read_reviews(
    path,
    column: str = "Summary",
    *,
    min_documents: int = 3,
    most_words: int = 100_000,
    once: bool = False,
) -> Reviews:
    """Read reviews in two passes, a piece of the file at a time.

    The first pass counts in how many reviews each word occurs, the second fills a
    sparse array of the size that this gives. Beyond the result, memory is needed for
    one piece, for one counter of all words of the file, and with `once` for eight bytes
    of each text.

    Parameters
    ----------
    path : path-like
        Comma-separated, with the columns Score, Text and `column`.
    column : {"Summary", "Text"}, default="Summary"
        The words of what are counted.
    min_documents : int, default=3
        Words in fewer reviews are left out.
    most_words : int, default=100000
        So are all but so many words that are in the most reviews; of equally frequent
        ones the first in the alphabet are kept.
    once : bool, default=False
        Leave out a review whose whole text has come before.

    Returns
    -------
    Reviews
        Without those of three stars.

    Raises
    ------
    ValueError
        If a column is missing, a score is no number from 1 to 5, or no word or only one
        class is left.

    Notes
    -----
    A word is what :func:`compendium.data.readers.count_words` takes for one.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> from compendium.study.reviews import read_reviews, write_reviews
    >>> with NamedTemporaryFile(suffix=".csv") as file:
    ...     write_reviews(file.name, 200, seed=1)
    ...     reviews = read_reviews(file.name, "Text", most_words=50)
    >>> reviews.X.shape, reviews.X.dtype.name, set(reviews.y.tolist())
    ((189, 50), 'float64', {0, 1})
    """
    spread: Counter[str] = Counter()
    labels, repeated = [], 0
    for stars, texts, left_out in _pieces(path, column, once):
        for text in texts:
            spread.update(_words(text))
        labels.append(stars > 3)
        repeated += left_out
    kept = [(-n, word) for word, n in spread.items() if n >= min_documents]
    kept = sorted(kept)[:most_words]
    y = np.concatenate(labels).astype(np.int64) if labels else np.empty(0, np.int64)
    if not kept or len(np.unique(y)) < 2:
        raise ValueError(
            f"{path}: {len(y)} reviews of other than three stars, of which {y.sum()} "
            f"have more, and {len(kept)} words in at least {min_documents} of them; "
            "two classes and a word are needed"
        )
    entries = -sum(count for count, _ in kept)
    words = sorted(word for _, word in kept)
    del spread, kept
    where = {word: j for j, word in enumerate(words)}
    columns = np.empty(entries, np.int32)
    starts = np.zeros(len(y) + 1, np.int64 if entries > 2**31 - 1 else np.int32)
    row = 0
    for _, texts, _ in _pieces(path, column, once):
        for text in texts:
            found = sorted(where[word] for word in _words(text) if word in where)
            starts[row + 1] = starts[row] + len(found)
            columns[starts[row] : starts[row + 1]] = found
            row += 1
    X = csr_array((np.ones(entries), columns, starts), shape=(len(y), len(words)))
    return Reviews(X, y, words, repeated)


def _pieces(path, column: str, once: bool) -> Iterator[tuple[NDArray, list[str], int]]:
    """Stars and texts of the reviews of a piece, and how many it repeats."""
    how = {"usecols": sorted({"Score", "Text", column}), "dtype": str}
    seen: set[bytes] = set()
    with pd.read_csv(path, **how, keep_default_na=False, chunksize=_ROWS) as pieces:
        for piece in pieces:
            wrong = ~piece["Score"].isin(list("12345"))
            if wrong.any():
                first = piece["Score"][wrong].iloc[0]
                raise ValueError(f"{path}: a score is {first!r}, not from 1 to 5 stars")
            piece = piece[piece["Score"] != "3"]
            new = np.ones(len(piece), bool)
            if once:
                for i, text in enumerate(piece["Text"]):
                    mark = blake2b(text.encode(), digest_size=8).digest()
                    new[i] = mark not in seen
                    seen.add(mark)
            stars = piece["Score"].to_numpy(np.int64)
            yield stars[new], piece[column][new].tolist(), int((~new).sum())


def _words(text: str) -> set[str]:
    return set(WORD.findall(text.lower())) - ENGLISH_STOP_WORDS


def write_reviews(path, n_reviews: int, *, n_words: int = 20_000, seed: int = 0):
    """Write an imitation of Reviews.csv: its columns, with invented words.

    Words are drawn by Zipf's law in Mandelbrot's form. One in ten is more frequent the
    more stars a review has, and one in ten the fewer, by a factor of two a star. One
    review in fifty repeats the text of the one before. Given the stars, the words are
    independent.

    Parameters
    ----------
    path : path-like
    n_reviews : int
    n_words : int, default=20000
        Words of the language, at most 175616.
    seed : int, default=0

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> import pandas as pd
    >>> from compendium.study.reviews import write_reviews
    >>> with NamedTemporaryFile(suffix=".csv") as file:
    ...     write_reviews(file.name, 5)
    ...     pd.read_csv(file.name)["Score"].tolist()
    [5, 4, 5, 1, 5]
    """
    rng = np.random.default_rng([20, seed])
    language = np.array(["".join(parts) for parts in product(_SYLLABLES, repeat=3)])
    language = rng.permutation(language)[:n_words]
    base = 1.0 / (np.arange(len(language)) + 2.7)
    side = rng.choice([-1, 0, 1], len(language), p=[0.1, 0.8, 0.1])
    laws = [np.cumsum(base * 2.0 ** (side * (s - 3))) for s in range(1, 6)]
    for first in range(0, n_reviews, _ROWS):
        rows = np.arange(first, min(first + _ROWS, n_reviews))
        stars = rng.choice(5, len(rows), p=_STARS)
        bodies = _draw(rng, language, laws, stars, 30)
        for i in np.flatnonzero(rng.random(len(rows)) < 0.02):
            bodies[i], stars[i] = bodies[i - 1], stars[i - 1]
        piece = {
            "Id": rows + 1,
            "ProductId": [f"B{i % 997:09d}" for i in rows],
            "UserId": [f"A{i:013d}" for i in rows],
            "ProfileName": "A reader",
            "HelpfulnessNumerator": 0,
            "HelpfulnessDenominator": 0,
            "Score": stars + 1,
            "Time": 1_300_000_000 + rows,
            "Summary": _draw(rng, language, laws, stars, 4),
            "Text": bodies,
        }
        piece = pd.DataFrame(piece)
        piece.to_csv(path, mode="a" if first else "w", header=not first, index=False)


def _draw(rng, language, laws, stars, mean_length) -> list[str]:
    """A text for each number of stars, with commas, quotation marks and line ends."""
    lengths = 1 + rng.poisson(mean_length - 1, len(stars))
    texts = []
    for s, length in zip(stars, lengths, strict=True):
        law = laws[s]
        drawn = language[np.searchsorted(law, law[-1] * rng.random(length))]
        texts.append(f'{drawn[0].capitalize()}, "' + " the ".join(drawn) + '".\n')
    return texts
