"""Runs of experiments: which there are, and what each of them makes.

``book/experiments/runs.toml`` lists the runs. Each leaves one result,
``data/results/<run>.json``, and one lab record, ``book/records/<run>.ipynb``.
"""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """One run of an experiment.

    Parameters
    ----------
    name : str
        Name of its result and of its lab record.
    title : str
        Heading of the lab record.
    notebook : str
        MyST notebook in ``book/experiments``.
    data : str or list of str
        Data sets that it needs; none for simulated cases.
    parameters : dict
    times : sequence of str
        Patterns of keys, besides :data:`TIMES`, whose values no comparison reads.
    """

    name: str
    title: str
    notebook: str
    data: str | list[str] = ()
    parameters: dict = field(default_factory=dict)
    times: list[str] = ()

    def sets(self) -> list[str]:
        """Names of the data sets."""
        return [self.data] if isinstance(self.data, str) else list(self.data)

    def arguments(self) -> dict:
        """Parameters handed to the notebook."""
        given = self.parameters | {"run": self.name}
        if isinstance(self.data, str):
            given["dataset"] = self.data
        return given

    def source(self) -> str:
        """Its notebook, as a path in the checkout."""
        return f"book/experiments/{self.notebook}"

    def made(self) -> tuple[str, str]:
        """Its result and its lab record, as paths in the checkout."""
        return f"data/results/{self.name}.json", f"book/records/{self.name}.ipynb"


def runs(project: Path) -> dict[str, Run]:
    """All runs listed in ``runs.toml``, by name."""
    listed = tomllib.loads(
        (project / "book/experiments/runs.toml").read_text(encoding="utf-8")
    )
    return {name: Run(name=name, **entry) for name, entry in listed.items()}


def duration(seconds: float) -> str:
    """Time of a run as a person says it.

    Examples
    --------
    >>> duration(26), duration(1503)
    ('26 s', '25 min')
    """
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
