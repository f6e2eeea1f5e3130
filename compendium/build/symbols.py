r"""Symbols: those that the formulas of a chapter use, and those that the page declares.

A symbol is a letter with its typeface, ``n``, ``\lambda`` or ``\mathcal{C}``, or a word
such as ``\mathrm{KL}``. With a subscript, a star or an accent it is another one if the
page lists it so, as it does ``m`` and ``m_i``, ``p`` and ``p^*``. A few letters are
free: a sentence that uses them says what they are.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compendium.build.contents import chapters
from compendium.build.statements import chapters_with_statements

EVERYWHERE, FREE = "## In all chapters", "## Free letters"  # headings of the page

_NOT_TEXT = re.compile(
    r"(?ms)\A---\n.*?\n---\n|^```\{code-cell\}.*?^```[ \t]*$|`[^`\n]+`"
)
_FORMULA = re.compile(
    r"(?ms)\$\$(?P<display>.*?)\$\$|^```\{math\}\n(?P<block>.*?)^```"
    r"|(?<![\\$])\$(?P<inline>[^$]+?)\$"
)
_NO_SYMBOL = re.compile(
    r"(?m)^:\w+:.*$"  # options of a formula
    r"|\\(?:text|tag|begin|end|operatorname\*?)\{[^{}]*\}|\\mathrm\{[a-z]+\}"
    r"|(?<![A-Za-z\\])d(?=\\?[a-zA-Z])"  # a differential
)
_GEOMETRIC = re.compile(r"\\mathrm\{JS\}_(\{?)(GM?)")  # one name with its subscript
_MARKED = re.compile(
    r"(?:\\(?P<accent>bar|hat|tilde)\s*\{?\s*)?"
    r"(?:\\(?P<face>mathcal|mathbb|mathrm)\s*\{?(?P<name>[A-Za-z]+)\}?"
    r"|(?P<command>\\[A-Za-z]+)|(?P<letter>[A-Za-z]))"
    r"(?(accent)\}?)"
    r"(?P<marks>(?:\^\*|\^\{\*\}|_)?)"
)
_GREEK = re.compile(
    r"\\(?:var)?(?:alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu"
    r"|xi|pi|rho|sigma|tau|phi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Phi"
    r"|Psi|Omega)\Z|\\ell\Z"
)
_ROW = re.compile(r"^\| (?P<symbols>\$.*?\$) \| (?P<meaning>.*) \| (?P<where>.*) \|$")
_REF = re.compile(r"\{ref\}`([\w-]+)`")
# Words that say what kind of thing a letter stands for, as in "the eigenvalue $t$".
_KIND = re.compile(
    r"(?:eigenvalue|share|measure|norm|order|rate|step|length|threshold|temperature"
    r"|penalty|strength|constant|matrix|error|density|distribution|code|parameter"
    r"|weight|prior|feature|class|row|instance|divergence|normaliser|probability|score"
    r"|topic|level|word|document|multiplier)\Z"
)
_CALLED = re.compile(
    r"\b(?P<before>[a-z-]+)\s+\$(?P<of>[^$]+)\$"
    r"|\$(?P<is>[^$]+)\$\s+(?:is|be|are)\s+(?:the|an?)\s+(?:[a-z]+est\s+)?(?P<after>[a-z-]+)"
)
_LABEL = re.compile(r"(?m)^\(([\w-]+)\)=$")


@dataclass(frozen=True)
class Symbol:
    """A symbol that the page declares.

    Parameters
    ----------
    form : str
        With its marks, as in :func:`written`.
    meaning : str
    chapters : tuple of str
        Labels of the chapters that use it; for all chapters, of one that defines it.
    part : str
        Heading under which it stands.
    """

    form: str
    meaning: str
    chapters: tuple[str, ...]
    part: str


def formulas(text: str) -> Iterator[str]:
    r"""Each formula of a text, as it is written.

    Examples
    --------
    >>> list(formulas("$a$ and `$b$`\n$$c$$"))
    ['a', 'c']
    """
    for match in _FORMULA.finditer(_NOT_TEXT.sub(" ", text)):
        yield match["display"] or match["block"] or match["inline"]


def written(text: str) -> Iterator[tuple[str, str]]:
    r"""Each symbol in the formulas of a text: with its marks, and without.

    Examples
    --------
    >>> list(written(r"$\bar p_k = \lambda$ and `code`"))
    [('\\bar p', 'p'), ('k', 'k'), ('\\lambda', '\\lambda')]
    """
    for formula in formulas(text):
        formula = _GEOMETRIC.sub(r"\\mathrm{JS\2}\1", formula)
        formula = re.sub(r"\\[,;!: ]", " ", _NO_SYMBOL.sub(" ", formula))
        for mark in _MARKED.finditer(formula):
            plain = mark["letter"] or mark["command"]
            if mark["face"]:
                plain = rf"\{mark['face']}{{{mark['name']}}}"
            elif mark["command"] and not _GREEK.match(plain):
                continue
            yield _marked(plain, mark["accent"], mark["marks"]), plain


def _marked(plain: str, accent: str | None, marks: str) -> str:
    """A symbol with an accent, or else a star, or else a subscript."""
    if accent:
        return rf"\{accent} {plain}" if len(plain) == 1 else rf"\{accent}{plain}"
    return plain + ("" if not marks else "_" if marks == "_" else "^*")


def declared(project: Path) -> list[Symbol]:
    """All symbols of the page, in its order.

    Raises
    ------
    ValueError
        If a line of a table cannot be read.
    """
    found = []
    for symbols, meaning, labels, part in _rows(project):
        for single in re.findall(r"\$[^$]+\$", symbols):
            form, _ = next(written(single))
            found.append(Symbol(form, meaning, labels, part))
    return found


def _rows(project: Path) -> Iterator[tuple[str, str, tuple[str, ...], str]]:
    """Lines of the tables: symbols, meaning, labels of chapters, heading."""
    part, page = "", project / "book" / "symbols.md"
    for line in page.read_text().splitlines() if page.is_file() else ():
        if line.startswith("## "):
            part = line
        if not line.startswith("| $"):
            continue
        row = _ROW.match(line)
        labels = tuple(_REF.findall(row["where"])) if row else ()
        if row is None or not (labels or part == FREE):
            raise ValueError(f"symbols.md: a line that cannot be read: {line}")
        yield row["symbols"], row["meaning"], labels, part


def by_chapter(project: Path) -> list[str]:
    """The symbols of each chapter that not all chapters have, as folded MyST tables.

    Parameters
    ----------
    project : Path

    Returns
    -------
    list of str
        Lines.
    """
    lines = []
    rows = [row for row in _rows(project) if row[3] not in (EVERYWHERE, FREE)]
    for chapter in chapters(project):
        own = [
            f"| {symbols} | {meaning} |"
            for symbols, meaning, labels, _ in rows
            if chapter.label in labels
        ]
        if own:
            lines += [f":::{{dropdown}} {chapter.number}. {chapter.title}"]
            lines += ["| symbol | meaning |", "| :--- | :--- |", *own, ":::", ""]
    return lines


def called(text: str) -> Iterator[tuple[str, str]]:
    r"""What single symbols are called: each symbol, without its marks, and the word.

    Examples
    --------
    >>> list(called(r"norm $q$, the shares $\pi_k$ of $n$; $m$ is the largest step"))
    [('q', 'norm'), ('\\pi', 'share'), ('m', 'step')]
    """
    for match in _CALLED.finditer(_NOT_TEXT.sub(" ", text)):
        word = match["before"] or match["after"]
        word = re.sub(r"(?<=[sx])es\Z|ies\Z|(?<!s)s\Z", _singular, word)
        formula = match["of"] or match["is"]
        first = next(written(f"${formula}$"), None)
        alone = re.fullmatch(r"[^-+=<>/(,|^]+(?:[=<>,].*)?", formula, re.DOTALL)
        if first and alone and _KIND.match(word):
            yield first[1], word


def _singular(ending: re.Match) -> str:
    return "y" if ending[0] == "ies" else ""


def lint_symbols(project: Path) -> list[str]:
    r"""Symbols that are not declared, declared twice, or declared and not used.

    A symbol of all chapters that a chapter calls by a word of another kind, as in "the
    share $\lambda$", is reported, too: its meaning on the page has to hold that word.

    Parameters
    ----------
    project : Path

    Returns
    -------
    list of str
    """
    symbols, problems = declared(project), []
    free = {s.form for s in symbols if s.part == FREE}
    listed, labels = {s.form for s in symbols}, set()
    for path in chapters_with_statements(project):
        text = path.read_text()
        label = _LABEL.search(text)[1]
        labels.add(label)
        here = [s for s in symbols if s.part == EVERYWHERE or label in s.chapters]
        known = {s.form for s in here}
        used = {form if form in listed else plain for form, plain in written(text)}
        problems += [
            f"symbols.md: {form} has two meanings in {label}"
            for form in sorted(known)
            if len({s.meaning for s in here if s.form == form}) > 1
        ]
        problems += [
            f"{path.relative_to(project)}: {form} is not on the page of symbols"
            for form in sorted(used - known)
            if not {form, form.rstrip("_")} & free
        ]
        problems += [
            f"{path.relative_to(project)}: {name} is called {word}, and the page "
            "of symbols does not say so"
            for name, word in dict.fromkeys(called(text))
            if _everywhere(symbols, name) and not _says(here, name, word)
        ]
        problems += [
            f"symbols.md: {s.form} is not used in {label}"
            for s in here
            if label in s.chapters and s.form not in used
        ]
    unknown = {label for s in symbols for label in s.chapters} - labels
    return problems + [
        f"symbols.md: no chapter is {label}" for label in sorted(unknown)
    ]


def _everywhere(symbols: list[Symbol], name: str) -> bool:
    return any(s.part == EVERYWHERE and s.form.rstrip("_") == name for s in symbols)


def _says(here: list[Symbol], name: str, word: str) -> bool:
    """Whether a meaning in this chapter, of the symbol or of a marked one, has it."""
    stem = re.sub(r"(?:y|e)\Z", "", word)
    meanings = (s.meaning for s in here if s.form.rstrip("_") == name)
    return any(re.search(rf"\b{stem}", meaning) for meaning in meanings)
