"""What the README computes: its figure and its findings."""

from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path

import nbformat

from compendium.book.verdicts import sentence_text, table_text
from compendium.execution.notebooks import figures
from compendium.ledger.claims import Claim, read_claims
from compendium.project import root, write_whole

# What a reader of four lines should know, each with what our runs find.
HEADLINES = {
    "text-outperforms-discriminative": "in our runs on whole messages MeMd is ahead of "
    "both the SVM and DME on {ours}; in the published table it is {table}",
    "text-few-genes": "our runs keep {ours}",
    "text-few-genes-enough": "{ours}, beside a linear SVM with all genes",
    "text-few-words": "our runs keep {ours}",
    "margin-equals-j": "{ours} in our runs",
}
PICTURE = "front-newsgroups"  # of the first page of the book
BEGIN = "<!-- headlines: begin -->"
END = "<!-- headlines: end -->"


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
    for name, words in HEADLINES.items():
        if claim := by_id.get(name):
            said = words.format(ours=sentence_text(claim), table=table_text(claim))
            verdict = "proved" if claim.kind == "proved" else claim.verdict
            lines.append(f"- *{claim.statement}*: **{verdict}**; {said}")
    return "\n".join(lines)


def figure(project: Path) -> bytes:
    """The picture of the first page, as PNG, out of its stored notebook."""
    notebook = nbformat.read(project / "book/notebooks/index.ipynb", as_version=4)
    pictures = {about["name"]: data for about, data, _ in figures(notebook)}
    return b64decode(pictures[PICTURE]["image/png"])


def generated(project: Path) -> str:
    """The README as it should be, with the findings between their marks."""
    text = (project / "README.md").read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"README.md needs the marks {BEGIN} and {END}, once each")
    before, remainder = text.split(BEGIN)
    _, after = remainder.split(END)
    return f"{before}{BEGIN}\n{headlines(read_claims(project))}\n{END}{after}"


def main() -> int:
    """Write the findings into the README, and its figure."""
    project = root()
    write_whole(project / "README.md", generated(project))
    write_whole(project / "book" / f"{PICTURE}.png", figure(project))
    print("README.md: findings and figure written")
    return 0
