"""Package, changelog and citation say the same of a version."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]


def test_version_changelog_and_citation_agree():
    about = yaml.load((ROOT / "CITATION.cff").read_text(), yaml.BaseLoader)
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    heading = re.search(r"(?m)^## (\S+) \((.*)\)$", (ROOT / "CHANGELOG.md").read_text())
    assert package["version"] == heading[1] == about["version"]
    assert about.get("date-released", "unreleased") == heading[2]
    assert about["license"] == package["license"]
    assert about["keywords"] == package["keywords"]
    assert f"Edition {about['version']}." in (ROOT / "_config.yml").read_text()
