"""Package, changelog and citation say the same of a version."""

import re
import tomllib
from pathlib import Path

import yaml

from compendium.build.pages import bibtex, unknown

ROOT = Path(__file__).parents[3]


def test_version_changelog_and_citation_agree():
    about = yaml.load((ROOT / "CITATION.cff").read_text(), yaml.BaseLoader)
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    heading = re.search(r"(?m)^## (\S+) \((.*)\)$", (ROOT / "CHANGELOG.md").read_text())
    assert package["version"] == heading[1] == about["version"]
    assert about.get("date-released", "unreleased") == heading[2]
    assert about["license"] == package["license"]
    assert about["keywords"] == package["keywords"]


def test_what_is_not_known_is_listed(project):
    project.write("CITATION.cff", "doi: 10.5281/zenodo.1\n")
    assert unknown(project.root) == ["date-released", "repository-code"]


def test_before_the_release_a_bibliography_says_so():
    about = {"title": "T", "authors": [{"name": "all"}], "version": "1"}
    assert "note    = {unreleased}" in bibtex(about) and "year" not in bibtex(about)
