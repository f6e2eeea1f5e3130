"""A page of the book as ordinary Markdown, with the numbers that the page prints.

Sphinx has resolved every reference by the time it writes a page. What it knows then is
written here without roles and directives, for viewers that know neither.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from docutils import nodes
from myst_nb.sphinx_ext import HideCodeCellNode
from sphinx import addnodes
from sphinx_design.dropdown import dropdown_main
from sphinx_design.shared import PassthroughTextElement
from sphinx_exercise.nodes import is_exercise_node, is_solution_node
from sphinx_proof.nodes import NODE_TYPES, proof_node, unenumerable_node

_STATEMENTS = (*NODE_TYPES.values(), unenumerable_node)
_SILENT = (nodes.target, nodes.comment, nodes.raw, nodes.title, nodes.system_message)
_FLAT = (nodes.compound, nodes.document, nodes.container, HideCodeCellNode)
_TEXT = (nodes.paragraph, addnodes.compact_paragraph, nodes.rubric)
_MARKS = {nodes.strong: "**", nodes.emphasis: "*"}
_SPECIAL = re.compile(r"([\\`*<$])|((?<!\w)_|_(?!\w))")
_LEADING = re.compile(r"^(\d+)?([-+#>.)])(?=\s)")


@dataclass(frozen=True)
class Shown:
    """One output of a cell, as the page shows it.

    Parameters
    ----------
    kind : {"text", "figure", "markdown", "html"}
    text : str
        The text itself; the caption of a figure; Markdown; nothing for HTML.
    """

    kind: str
    text: str


@dataclass(frozen=True)
class CodeBlock:
    """Place of a code cell among the text.

    Parameters
    ----------
    index : int
        Of the cell in the stored notebook.
    open : bool
        Whether the page shows its code, folded or not.
    shown : tuple of Shown
        Its outputs.
    """

    index: int
    open: bool
    shown: tuple[Shown, ...]


@dataclass
class Page:
    """What a page prints beside its text.

    Parameters
    ----------
    numbers : mapping of str to mapping of str to tuple of int
        Numbers by kind ("theorem", "figure", ...) and identifier.
    sections : mapping of str to tuple of int
        Numbers of sections by anchor; "" is the page itself.
    labels : mapping of str to str
        How figures and tables are called, as in "Fig. %s".
    site : str, default=""
        Address of the page; links inside the book are plain text without it.

    Attributes
    ----------
    cited : dict of str to str
        Works that the text has cited so far, in full, with the place in the list.
    """

    numbers: Mapping[str, Mapping[str, tuple[int, ...]]]
    sections: Mapping[str, tuple[int, ...]]
    labels: Mapping[str, str]
    site: str = ""
    cited: dict[str, str] = field(default_factory=dict, init=False)

    def blocks(self, node: nodes.Node, depth: int = 0) -> list[str | CodeBlock]:
        """Blocks of Markdown and places of code cells, in their order.

        Parameters
        ----------
        node : Node
            Resolved document, or a part of it.
        depth : int, default=0
            Of the headings around it.

        Raises
        ------
        ValueError
            If a node is of a kind that was never translated.
        """
        if isinstance(node, _SILENT):
            return []
        if isinstance(node, _TEXT):
            text = _LEADING.sub(r"\1\\\2", self.inline(node).strip())
            return [text] if text else []
        if isinstance(node, nodes.section):
            return self._section(node, depth)
        if isinstance(node, nodes.container) and node.get("nb_element") == "cell_code":
            return [self._cell(node)]
        if isinstance(node, nodes.math_block):
            return [self._formula(node)]
        if isinstance(node, nodes.literal_block):
            return [fenced(node.astext(), node.get("language", ""))]
        if isinstance(node, nodes.bullet_list | nodes.enumerated_list):
            return [self._list(node)]
        if isinstance(node, nodes.table):
            return self._table(node)
        if isinstance(node, nodes.figure):
            return [self.caption(node)]
        if isinstance(node, nodes.block_quote):
            return _quoted(self._inside(node, depth))
        if isinstance(node, proof_node):
            return _proof(self._inside(node[0], depth))
        if isinstance(node, _STATEMENTS):
            return _quoted([self._heading(node), *self._inside(node, depth)])
        if is_exercise_node(node) or is_solution_node(node):
            return [self._heading(node), *self._inside(node, depth)]
        if isinstance(node, dropdown_main):
            title, content = node.children
            opened = f"<details><summary>{title[0].astext()}</summary>"
            return [opened, *self._inside(content, depth), "</details>"]
        if isinstance(node, nodes.Admonition):
            title = node.next_node(nodes.title)
            name = self.inline(title) if title else node.tagname.title()
            return _quoted([f"**{name}.**", *self._inside(node, depth)])
        if isinstance(node, PassthroughTextElement):
            return [self.inline(node).strip()]
        if isinstance(node, _FLAT):
            return self._inside(node, depth)
        raise ValueError(
            f"a plain notebook cannot show <{node.tagname}>, which holds "
            f"{node.astext()[:60]!r}: say how in compendium/build/markdown.py"
        )

    def inline(self, node: nodes.Node) -> str:
        """Text with marks, in one line."""
        if isinstance(node, nodes.Text):
            text = " ".join(re.split(r"[ \t]*\n[ \t]*", str(node)))
            return _SPECIAL.sub(r"\\\g<0>", text)
        if isinstance(node, nodes.math):
            return f"${' '.join(node.astext().split())}$"
        if isinstance(node, nodes.literal):
            text, mark = node.astext(), "``" if "`" in node.astext() else "`"
            return f"{mark}{text}{mark}"
        if isinstance(node, addnodes.download_reference | nodes.raw | nodes.target):
            return ""
        if isinstance(node, nodes.image):
            return node.get("alt", "")
        text = "".join(self.inline(child) for child in node.children)
        for kind, mark in _MARKS.items():
            if isinstance(node, kind) and text.strip():
                return f"{mark}{text.strip()}{mark}"
        if "verdict" in node.get("classes", []):
            return f"**{text}**"
        return self._linked(node, text) if isinstance(node, nodes.reference) else text

    def caption(self, figure: nodes.Node) -> str:
        """Number and caption of a figure or a table, in one paragraph."""
        words = figure.next_node(nodes.caption) or figure.next_node(nodes.title)
        kind = figure.tagname
        number = self._number(kind, figure)
        name = f"**{self.labels[kind] % number}.** " if number else ""
        return name + (self.inline(words).strip() if words else "")

    def _inside(self, node, depth) -> list[str | CodeBlock]:
        return [block for child in node.children for block in self.blocks(child, depth)]

    def _section(self, node, depth) -> list[str | CodeBlock]:
        title = node.children[0] if node.children else None
        if not isinstance(title, nodes.title):
            return self._inside(node, depth)
        anchors = [""] if depth == 0 else [f"#{name}" for name in node["ids"]]
        found = [self.sections[name] for name in anchors if name in self.sections]
        number = f"{'.'.join(map(str, found[0]))}. " if found else ""
        heading = f"{'#' * (depth + 1)} {number}{self.inline(title)}"
        return [heading, *self._inside(node, depth + 1)]

    def _number(self, kind: str, node: nodes.Element) -> str:
        for name in node["ids"]:
            if name in self.numbers.get(kind, {}):
                return ".".join(map(str, self.numbers[kind][name]))
        return ""

    def _heading(self, node: nodes.Element) -> str:
        """Name, number and title of a statement, an exercise or a solution."""
        kind = node.get("countertype", node.get("type", ""))
        number, title = self._number(kind, node), self.inline(node[0]).strip()
        if is_solution_node(node):
            return f"**{title}**"
        name = node.get("realtype", kind).title()
        return (
            " ".join(filter(None, (f"**{f'{name} {number}'.strip()}**", title))) + "."
        )

    def _linked(self, node: nodes.reference, text: str) -> str:
        if "bibtex-citation" in node.parent.get("classes", []):
            self.cited[node["reftitle"]] = node["refuri"]
        uri = node.get("refuri", "")
        if re.match(r"https?:|mailto:", uri):
            return f"[{text}]({uri})"
        if self.site and uri:
            return f"[{text}]({_joined(self.site, uri)})"
        return text

    def _formula(self, node: nodes.math_block) -> str:
        text = node.astext().strip()
        if node.get("nowrap"):
            return text
        aligned = re.search(r"\\\\|(?<!\\)&", text)
        if aligned and not text.startswith(r"\begin{"):
            text = f"\\begin{{aligned}}\n{text}\n\\end{{aligned}}"
        number = self._number("displaymath", node) or node.get("number")
        tag = f"\n\\tag{{{number}}}" if number else ""
        return f"$$\n{text}{tag}\n$$"

    def _list(self, node: nodes.Element) -> str:
        start, lines = node.get("start", 1), []
        for place, item in enumerate(node.children, start):
            mark = "- " if isinstance(node, nodes.bullet_list) else f"{place}. "
            blocks = self._inside(item, 0)
            if any(isinstance(block, CodeBlock) for block in blocks):
                raise ValueError("a plain notebook cannot show a code cell in a list")
            text = "\n\n".join(blocks).replace("\n", "\n" + " " * len(mark))
            lines.append(mark + text)
        return re.sub(r"(?m)^ +$", "", "\n".join(lines))

    def _table(self, node: nodes.table) -> list[str]:
        head, *body = [self._row(row) for row in node.findall(nodes.row)]
        first = node.next_node(nodes.row)
        marks = [_alignment(entry) for entry in first.children]
        rows = [f"| {' | '.join(row)} |" for row in (head, marks, *body)]
        title = node.next_node(nodes.title)
        return [*([self.caption(node)] if title else []), "\n".join(rows)]

    def _row(self, row: nodes.row) -> list[str]:
        cells = []
        for entry in row.children:
            text = " ".join(self.inline(child).strip() for child in entry.children)
            # a bar would end the cell, even inside a formula
            text = re.sub(r"(?<!\\)\$[^$]*\$", _without_bars, text)
            cells.append(re.sub(r"(?<!\\)\|", r"\|", text))
        return cells

    def _cell(self, node: nodes.container) -> CodeBlock:
        parts = list(node.findall(nodes.container))
        is_open = any(p.get("nb_element") == "cell_code_source" for p in parts)
        shown = [
            item
            for part in parts
            if part.get("nb_element") == "cell_code_output"
            for child in part.children
            for item in self._shown(child)
        ]
        return CodeBlock(node["cell_index"], is_open, tuple(shown))

    def _shown(self, node: nodes.Node) -> Iterator[Shown]:
        if isinstance(node, nodes.literal_block):
            yield Shown("text", node.astext().rstrip("\n"))
        elif isinstance(node, nodes.figure):
            yield Shown("figure", self.caption(node))
        elif isinstance(node, nodes.raw):
            yield Shown("html", "")
        elif not isinstance(node, nodes.image):  # it is an output of code that stays
            for block in self.blocks(node):
                yield Shown("markdown", block)


def fenced(text: str, language: str = "") -> str:
    """Text in a fence that it does not end itself."""
    mark = "```" if "```" not in text else "~~~"
    language = "python" if language.startswith("ipython") else language
    language = "" if language in ("none", "default", "myst-ansi") else language
    return f"{mark}{language}\n{text}\n{mark}"


def _joined(site: str, uri: str) -> str:
    return re.sub(r"[^/]+/\.\./", "", "/".join((*site.split("/")[:-1], uri)))


def _quoted(blocks: list[str | CodeBlock]) -> list[str | CodeBlock]:
    """Blocks with a rule at their left; formulas in one line, as viewers need there."""
    found: list[str | CodeBlock] = []
    for block in blocks:
        if isinstance(block, CodeBlock):
            found.append(block)
            continue
        if block.startswith("$$") and "%" not in block:
            block = " ".join(block.split("\n"))
        lines = [f"> {line}".rstrip() for line in block.split("\n")]
        if found and isinstance(found[-1], str):
            lines = [found.pop(), ">", *lines]
        found.append("\n".join(lines))
    return found


def _proof(blocks: list[str | CodeBlock]) -> list[str | CodeBlock]:
    """A proof with its name in italics, as printed, and an end mark."""
    first, *rest = blocks
    if isinstance(first, str):
        first = re.sub(r"^(Proof[^.]*\.)", r"*\1*", first)
    return [first, *rest, "∎"]


def _alignment(entry: nodes.entry) -> str:
    return "---:" if "text-right" in entry["classes"] else ":---"


def _without_bars(formula: re.Match) -> str:
    return formula[0].replace(r"\|", r"\Vert ").replace("|", r"\vert ")
