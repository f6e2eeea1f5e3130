"""The claims page: a card for each claim, an index, counts and filters, as HTML.

A card is closed to one or two lines, its ``details`` element opens it without a script,
and so does its address, ``claims.html#<claim id>``. The script ``claims.js`` adds the
filters; without it every card is shown. The pieces stand in ``claims.html``.
"""

from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path

from IPython.display import HTML, display
from jinja2 import Environment

from compendium.book import verdicts
from compendium.book.display import number
from compendium.book.verdicts import slug, without_unit
from compendium.data.registry import entries
from compendium.execution.runs import duration, runs
from compendium.ledger.claims import AGREES, MEANINGS, VERDICTS, Claim, counts
from compendium.ledger.columns import placebo
from compendium.ledger.names import NAMES
from compendium.ledger.settings import SETTINGS
from compendium.ledger.tables import Evidence
from compendium.project import root

_SIGNS = {"absolute": "±", "at_least": "≥", "at_most": "≤"}

_templates = Environment(autoescape=True)
_templates.filters["slug"] = slug
_PIECES = _templates.from_string(
    Path(__file__).with_name("claims.html").read_text("utf-8"),
    {"NAMES": NAMES, "AGREES": AGREES, "MEANINGS": MEANINGS}
    | {"number": number, "said": verdicts},
).module


class Cards:
    """Cards of claims, with the placebos that stand beside them.

    Parameters
    ----------
    claims : sequence of Claim
        All of the ledger.
    evidence : Evidence
    """

    def __init__(self, claims: Sequence[Claim], evidence: Evidence):
        self.claims = claims
        self._placebo = cache(partial(placebo, evidence))
        self._seconds = evidence.seconds
        self._runs = runs(root())

    def group(self, name: str) -> str:
        """The cards of one group, as a list."""
        cards = [self.card(claim) for claim in self.claims if claim.group == name]
        if not cards:
            raise ValueError(f"the ledger has no group of claims named {name!r}")
        return f'<ul class="claims">{"".join(cards)}</ul>'

    def show(self, name: str) -> None:
        """Show the cards of one group."""
        show_html(self.group(name))

    def card(self, claim: Claim) -> str:
        """One claim, closed to its statement, numbers and verdict."""
        parts = [*_numbers(claim), [*self._placebos(claim)], self._check_takes(claim)]
        return str(_PIECES.card(claim, *parts))

    def _check_takes(self, claim: Claim) -> str:
        """Time and data that a check of a claim needs; empty if nothing can be run."""
        parts = []
        if claim.records:
            seconds = sum(map(self._seconds, claim.records))
            parts.append(f"{duration(seconds)} of processor time when stored")
            sets = {name for run in claim.records for name in self._runs[run].sets()}
            downloads = len(sets & set(entries()))  # the others are in scikit-learn
            noun = "data set" if downloads == 1 else "data sets"
            parts.append(f"{downloads or 'no'} {noun} to download")
        if claim.statements:
            parts.append("with the tests of its proof")
        return "; ".join(parts)

    def _placebos(self, claim: Claim) -> Iterator[str]:
        """What our results of the other methods come to beside the same figure."""
        if not claim.method:
            return
        for method in SETTINGS[claim.table]:
            if method == claim.method:
                continue
            frame = self._placebo(claim.table, method, claim.column)
            for line in frame[frame["row"] == claim.row].itertuples():
                ours = f"{number(line.ours, 2)} ± {number(line.sd, 2)}"
                word = "would agree" if line.agrees else "would not agree"
                yield f"our {NAMES[method]}, {ours}, {word} with this figure"


def _numbers(claim: Claim) -> tuple[str, str]:
    """What is claimed, and what we find, as short as a closed card has room for."""
    claimed = verdicts.published_text(claim)
    our_result = verdicts.finding_text(claim)
    if not claimed and claim.rule:
        sign = "≤" if our_result.startswith("error") else _SIGNS[claim.rule]
        claimed = f"{sign} {verdicts.bound(claim)}"
    if claim.published is None:
        our_result = without_unit(our_result.removeprefix("error below "), claim)
    return claimed, our_result


def counts_matrix(claims: Sequence[Claim]) -> str:
    """Number of claims by group and verdict; each count leads to its claims."""
    queries = ["", *(f"verdict={slug(verdict)}" for verdict in VERDICTS)]
    rows = [(f"table={slug(name)}", name, *ns) for name, *ns in verdicts.tally(claims)]
    rows.append(("", "all", str(len(claims)), *map(str, counts(claims).values())))
    return str(_PIECES.matrix(rows, queries))


def meanings() -> str:
    """Each verdict with what it means."""
    return str(_PIECES.meanings())


def filters(claims: Sequence[Claim]) -> str:
    """Form that filters the cards; hidden until the script shows it."""
    choices = {
        "source": {c.source: NAMES[c.source] for c in claims if not c.ours},
        "table": {slug(claim.group): claim.group for claim in claims},
        "verdict": {slug(verdict): verdict for verdict in VERDICTS},
    }
    return str(_PIECES.filters(choices))


def show_html(text: str) -> None:
    """Show a piece of HTML."""
    display(HTML(text))
