"""The claims page: a card for each claim, an index, counts and filters, as HTML.

A card is closed to one or two lines, its ``details`` element opens it without a script,
and so does its address, ``claims.html#<claim id>``. The script ``claims.js`` adds the
filters; without it every card is shown.
"""

from collections.abc import Sequence
from functools import cache, partial
from html import escape

from IPython.display import HTML, display

from compendium.build.display import number
from compendium.build.verdicts import (
    badge,
    bound,
    finding_text,
    published_text,
    slug,
    table_text,
    tally,
    tolerance_text,
)
from compendium.ledger.claims import (
    MEANINGS,
    REPRODUCED,
    VERDICTS,
    Claim,
    Finding,
    counts,
)
from compendium.ledger.columns import placebo
from compendium.ledger.names import NAMES
from compendium.ledger.settings import SETTINGS
from compendium.ledger.tables import Evidence

_SIGNS = {"absolute": "±", "at_least": "≥", "at_most": "≤"}


def short_name(claim: Claim) -> str:
    """The claim in a few words: the cell of a table, or else its statement."""
    if claim.table in SETTINGS:
        return f"{NAMES[claim.column]}, {NAMES[claim.row]}"
    return NAMES.get(claim.row, claim.statement)


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
        return (
            f'<li class="claim" data-source="{"" if claim.ours else claim.source}" '
            f'data-table="{slug(claim.group)}" data-verdict="{slug(claim.verdict)}">'
            f'<details><summary><span class="says">{escape(claim.statement)}</span>'
            f'<span class="numbers">{_numbers(claim)}</span>'
            f"{badge(claim.verdict)}</summary>"
            f'<div class="inside" id="{claim.id}">{self._inside(claim)}</div>'
            "</details></li>\n"
        )

    def _inside(self, claim: Claim) -> str:
        lines = {
            "Source": _source(claim),
            "Printed": f"{published_text(claim)} {claim.unit}".strip()
            if claim.published is not None
            else "",
            "The printed table says": escape(table_text(claim)),
            "Our result": _result(claim),
            "Judged by": escape(tolerance_text(claim)) + _distance(claim),
            "Settings": _settings(claim),
            "Placebo": self._placebos(claim),
            "Reason": escape(claim.reason),
            "Records": _records(claim),
            "Link": f'<a href="#{claim.id}">claims.html#{claim.id}</a>',
        }
        shown = [f"<dt>{k}</dt><dd>{text}</dd>" for k, text in lines.items() if text]
        return f"<dl>{''.join(shown)}</dl>"

    def _placebos(self, claim: Claim) -> str:
        """What our results of the other methods come to beside the same figure."""
        if not claim.method:
            return ""
        parts = []
        for method in SETTINGS[claim.table]:
            if method == claim.method:
                continue
            frame = self._placebo(claim.table, method, claim.column)
            for line in frame[frame["row"] == claim.row].itertuples():
                ours = f"{number(line.ours, 2)} ± {number(line.sd, 2)}"
                word = "would agree" if line.agrees else "would not agree"
                parts.append(f"our {NAMES[method]}, {ours}, {word} with this figure")
        return "; ".join(parts)


def _numbers(claim: Claim) -> str:
    """What is claimed, and what we find, as short as a closed card has room for."""
    claimed, found = published_text(claim), finding_text(claim)
    if not claimed and claim.rule:
        sign = "≤" if found.startswith("error") else _SIGNS[claim.rule]
        claimed = f"{sign} {bound(claim)}"
    if claim.published is None:
        found = found.removeprefix("error below ")
        found = found.removesuffix(claim.unit).rstrip()
    claimed = f'<span class="unseen">claimed </span>{claimed}' if claimed else ""
    found = f' → <span class="unseen">our result </span>{found}' if found else ""
    return claimed + found


def _source(claim: Claim) -> str:
    """Where the statement is made, and whose words they are."""
    name = f'<a href="../bibliography.html">{NAMES[claim.source]}</a>'
    place = f"{name}, {escape(claim.locator)}"
    return f"ours, on {place}" if claim.ours else f"{place}; in our words"


def _result(claim: Claim) -> str:
    if not claim.findings:
        return ""
    text = finding_text(claim)
    if claim.published is not None:
        text = f"{text} {claim.unit}"
    return f"{escape(text)}; {escape(claim.findings[0].label)}"


def _distance(claim: Claim) -> str:
    """How far the printed figure is, where the rule counts standard deviations."""
    first = claim.findings[0] if claim.findings else None
    if first is None or first.z is None:
        return ""
    runs = "one run" if first.runs == 1 else f"{first.runs} runs"
    far = f"{number(first.z, 1)} standard deviations"
    return f". The printed figure is {far} away if it is a mean over {runs}"


def _settings(claim: Claim) -> str:
    """All settings tried: how many agree, and which they are."""
    if len(claim.findings) < 2:
        return ""
    agree = sum(finding.verdict == REPRODUCED for finding in claim.findings)
    counted = f"{agree} of {len(claim.findings)} agree"
    if claim.method:
        link = f"every-setting.html#{claim.table}-{claim.method}"
        return f'{counted}; <a href="{link}">all of them, figure by figure</a>'
    lines = [
        f"<li>{escape(finding.label)}: {escape(_alone(claim, index, finding))} "
        f"{badge(finding.verdict)}</li>"
        for index, finding in enumerate(claim.findings)
    ]
    return f"{counted}<ul>{''.join(lines)}</ul>"


def _alone(claim: Claim, index: int, finding: Finding) -> str:
    """A finding without the unit, which stands beside the first."""
    return finding_text(claim, index).removesuffix(claim.unit).rstrip()


def _records(claim: Claim) -> str:
    """Links to lab records, and the command that makes them again."""
    runs = dict.fromkeys(run for f in claim.findings for run in f.records)
    if not runs:
        return ""
    links = ", ".join(f'<a href="../records/{run}.html">{run}</a>' for run in runs)
    names = " ".join(runs)
    quoted = f'"{names}"' if len(runs) > 1 else names
    return f"{links}; made again by <code>make experiments RUNS={quoted}</code>"


def index(claims: Sequence[Claim]) -> str:
    """Every claim as a link to its card, by group."""
    parts = []
    for group in dict.fromkeys(claim.group for claim in claims):
        links = "".join(
            f'<li><a href="#{claim.id}">{escape(short_name(claim))}</a></li>'
            for claim in claims
            if claim.group == group
        )
        parts.append(f"<p>{group}</p><ul>{links}</ul>")
    summary = f"<summary>Index of all {len(claims)} cards</summary>"
    return f'<details class="claim-index">{summary}{"".join(parts)}</details>'


def counts_matrix(claims: Sequence[Claim]) -> str:
    """Number of claims by group and verdict; each count leads to its claims."""
    groups = [row[0] for row in tally(claims)]
    rows = [
        *tally(claims),
        ["all", str(len(claims)), *map(str, counts(claims).values())],
    ]
    # a phone has room for the mark alone; screen readers keep the word
    heads = "".join(
        f'<th scope="col"><span class="verdict verdict-{slug(verdict)}">'
        f'<span class="word">{verdict}</span></span></th>'
        for verdict in VERDICTS
    )
    lines = []
    for name, *numbers in rows:
        table = {"table": slug(name)} if name in groups else {}
        cells = [
            _count(n, table | ({"verdict": slug(verdict)} if verdict else {}))
            for n, verdict in zip(numbers, ("", *VERDICTS), strict=True)
        ]
        lines.append(f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>')
    return (
        '<table class="claim-counts"><thead><tr><th scope="col">claims</th>'
        f'<th scope="col">all</th>{heads}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def _count(n: str, query: dict[str, str]) -> str:
    if n == "0":
        return "<td>0</td>"
    text = "&amp;".join(f"{key}={value}" for key, value in query.items())
    return f'<td><a href="?{text}#claim-filters">{n}</a></td>'


def meanings() -> str:
    """Each verdict with what it means."""
    lines = [f"<dt>{badge(v)}</dt><dd>{text}</dd>" for v, text in MEANINGS.items()]
    return f'<dl class="verdict-meanings">{"".join(lines)}</dl>'


def filters(claims: Sequence[Claim]) -> str:
    """Form that filters the cards; hidden until the script shows it."""
    choices = {
        "source": [
            "Source",
            {c.source: NAMES[c.source] for c in claims if not c.ours},
        ],
        "table": ["Table", {slug(claim.group): claim.group for claim in claims}],
        "verdict": ["Verdict", {slug(verdict): verdict for verdict in VERDICTS}],
    }
    parts = []
    for name, (title, options) in choices.items():
        lines = "".join(f'<option value="{k}">{v}</option>' for k, v in options.items())
        parts.append(
            f'<label>{title}<select name="{name}"><option value="">all</option>{lines}'
            "</select></label>"
        )
    return (
        '<form id="claim-filters" role="search" aria-label="Filter the claims" hidden>'
        f'{"".join(parts)}<label>Text<input type="search" name="text" '
        'autocomplete="off"></label><button type="reset">Show all</button>'
        '<p role="status" aria-live="polite"></p></form>'
    )


def show_html(text: str) -> None:
    """Show a piece of HTML."""
    display(HTML(text))
