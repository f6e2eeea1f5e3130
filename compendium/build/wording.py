"""Results that are typed in words: shares, counts and comparisons that code can print.

A number in digits is easily seen; *nearly half*, *two in seven* or *four of them* says
a result as well, and goes on saying it when the data or the code change. Words count as
a result in prose and in the captions of figures. They do not where nothing was
measured: in statements and proofs, and in a sentence about how a sample is split or
drawn.
"""

import ast
import re
from collections.abc import Iterator

from compendium.build.cells import cells_of

_MANY = (
    r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty"
    r"|fifty)"
)
_COUNT = rf"(?:one|{_MANY}|\d+)"
_PART = r"(?:third|quarter|fifth|sixth|seventh|eighth|ninth|tenth|hundredth)"
_SHARE = rf"(?:half|(?:a|one)[ -]{_PART}|{_COUNT}[ -]{_PART}s)"
_HEDGE = (
    r"(?:nearly|about|almost|roughly|some|over|more than|less than|fewer than|under|by"
    r"|at least|at most|only|just)"
)
_NOUN = r"(?:them|these|those|the|all|our|its|their|which)"
_RESULT = re.compile(
    rf"\b{_HEDGE} {_SHARE}\b|\b{_SHARE} of {_NOUN}\b"
    rf"|\b{_COUNT} (?:in|out of) (?:{_COUNT}|a hundred|a thousand)\b"
    rf"|\b(?:none|{_MANY}) of (?:them|these|those)\b|\b\d+ of (?:the |all )?\d+\b"
    r"|\b(?:shares?|have|has) (?:none|nothing) (?:of|in common)\b|\bshares? none\b",
    re.IGNORECASE,
)
_PROVED = re.compile(
    r"(?ms)^(?P<mark>:{3,}|`{3,})\{prf:(?:theorem|proposition|lemma|corollary|definition"
    r"|algorithm|proof)\}.*?^(?P=mark)[ \t]*$"
)
# a sentence that says how something is done, not what came out
_DONE = re.compile(r"(?i)\b(?:train|fold|split|sets? aside|dr[ae]w|shr[iu]nk|half-way)")
_SENTENCE_END = re.compile(r"[.:;?!]\s|\n\n")


def worded_results(text: str, prose: str) -> Iterator[tuple[int, str]]:
    """Line and wording of each result that is typed in words.

    Parameters
    ----------
    text : str
        MyST source.
    prose : str
        The same with all that is not prose blanked out.
    """
    prose = _PROVED.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), prose)
    for found, sentence in _in_sentences(prose):
        if not _DONE.search(sentence):
            yield prose.count("\n", 0, found.start()) + 1, found.group()
    for cell in cells_of(text):
        for node in ast.walk(cell.tree()):
            if isinstance(node, ast.keyword) and node.arg in ("caption", "alt"):
                for part in ast.walk(node.value):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        for found, sentence in _in_sentences(part.value):
                            if not _DONE.search(sentence):
                                yield part.lineno, found.group()


def _in_sentences(text: str) -> Iterator[tuple[re.Match, str]]:
    """Wordings that state a result, each with the sentence that holds it."""
    flat = re.sub(r"(?<!\n)\n(?!\n)", " ", text)
    ends = [0, *(m.end() for m in _SENTENCE_END.finditer(flat)), len(flat)]
    for found in _RESULT.finditer(flat):
        start = max(end for end in ends if end <= found.start())
        stop = min(end for end in ends if end >= found.end())
        yield found, flat[start:stop]
