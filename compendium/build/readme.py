"""What the README computes: its figure and its findings."""

from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path

import nbformat

from compendium.build.notebooks import figures
from compendium.build.readable import FIGURE
from compendium.build.verdicts import finding_text, published_text
from compendium.ledger.claims import Claim, read_claims
from compendium.project import root, write_whole

# What a reader of three lines should know: a theorem, a success and a failure.
HEADLINES = ("margin-equals-j", "text-few-genes", "text-outperforms-discriminative")
PICTURE = "front-newsgroups"  # of the first page of the book
BEGIN, END = "<!-- headlines: begin -->", "<!-- headlines: end -->"


def headlines(claims: Sequence[Claim]) -> str:
    """Some claims with their verdicts.

    Parameters
    ----------
    claims : sequence of Claim

    Returns
    -------
    str
        A list in Markdown; claims that the ledger lacks are left out.
    """
    by_id = {claim.id: claim for claim in claims}
    lines = []
    for claim in (by_id[name] for name in HEADLINES if name in by_id):
        line = f"- *{claim.statement}*: **{claim.verdict}**"
        if claim.published is not None:
            line += f", published {published_text(claim)}"
        lines.append(line + f", we find {finding_text(claim)}" * bool(claim.findings))
    return "\n".join(lines)


def figure(project: Path) -> bytes:
    """The picture of the first page, as PNG, out of its stored notebook."""
    notebook = nbformat.read(project / "book/notebooks/index.ipynb", as_version=4)
    (picture,) = (
        output.data["image/png"]
        for output in figures(notebook)
        if output.data[FIGURE]["name"] == PICTURE
    )
    return b64decode(picture)


def generated(project: Path) -> str:
    """The README as it should be, with the findings between their marks."""
    text = (project / "README.md").read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"README.md needs the marks {BEGIN} and {END}, once each")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{headlines(read_claims(project))}\n{END}{after}"


def main() -> int:
    """Write the findings into the README, and its figure."""
    project = root()
    write_whole(project / "README.md", generated(project))
    write_whole(project / "book" / f"{PICTURE}.png", figure(project))
    print("README.md: findings and figure written")
    return 0
