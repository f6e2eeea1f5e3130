"""All metadata say the same, and the files at hand are those that are made."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from pybtex.database import parse_string

from compendium.artifact.metadata import metadata_files, publication, unknown
from compendium.build.pages import bibtex

ROOT = Path(__file__).parents[3]
# of the Citation File Format, CC BY 4.0
SCHEMA = json.loads(Path(__file__).with_name("cff-1.2.0.json").read_text())
FILLED = """
released = "2031-02-03"
repository = "https://github.com/a/b"
doi = "10.5281/zenodo.1"
[[authors]]
family-names = "Doe"
given-names = "Jo"
orcid = "https://orcid.org/0000-0001-2345-6789"
"""


def validate_cff(text):
    about = yaml.load(text, yaml.BaseLoader)  # days stay text
    jsonschema.Draft7Validator(SCHEMA).validate(about)
    return about


@pytest.fixture
def filled(project):
    """A tiny project whose publisher knows everything."""
    for name in ("pyproject.toml", "book/references.bib"):
        project.write(name, (ROOT / name).read_text())
    project.write("publication.toml", FILLED)
    return project.root


@pytest.mark.parametrize(("name", "text"), metadata_files(ROOT).items())
def test_the_files_are_those_that_are_made(name, text):
    assert (ROOT / name).read_text() == text, "call 'make metadata'"


def test_the_citation_keeps_to_its_schema(filled):
    for project in (ROOT, filled):
        text = metadata_files(project)["CITATION.cff"]
        validate_cff(text)
        with pytest.raises(jsonschema.ValidationError, match="is a required property"):
            validate_cff(re.sub("(?m)^title:.*\n(  .*\n)*", "", text))


def test_version_changelog_and_citation_agree():
    texts = metadata_files(ROOT)
    about = validate_cff(texts["CITATION.cff"])
    heading = re.search(r"(?m)^## (\S+) \((.*)\)$", (ROOT / "CHANGELOG.md").read_text())
    versions = {json.loads(texts[name])["version"] for name in texts if "json" in name}
    assert versions == {heading[1]} == {about["version"]}
    assert about.get("date-released", "unreleased") == heading[2]


def test_what_a_publisher_fills_stands_in_every_file(filled):
    texts = metadata_files(filled)
    about = validate_cff(texts["CITATION.cff"])
    meta, zenodo = (json.loads(texts[n]) for n in ("codemeta.json", ".zenodo.json"))
    (entry,) = parse_string(texts["CITATION.bib"], "bibtex").entries.values()
    assert about["date-released"] == meta["datePublished"] == "2031-02-03"
    assert zenodo["publication_date"] == "2031-02-03" and entry.fields["year"] == "2031"
    assert about["doi"] == meta["identifier"] == zenodo["doi"] == entry.fields["doi"]
    assert about["repository-code"] == meta["codeRepository"] == entry.fields["url"]
    (author,) = about["authors"]
    assert author["family-names"] == meta["author"][0]["familyName"] == "Doe"
    assert zenodo["creators"] == [{"name": "Doe, Jo", "orcid": "0000-0001-2345-6789"}]
    assert str(entry.persons["author"][0]) == "Doe, Jo"
    assert unknown(filled) == []


def test_nothing_is_invented_for_what_is_not_known():
    empty, texts = unknown(ROOT), metadata_files(ROOT)
    everything = "".join(texts.values())
    for field, word in {"doi": "doi", "authors": "orcid", "released": "date"}.items():
        assert (field in empty) == (word not in everything.lower())


def test_a_day_that_is_none_is_refused(filled):
    (filled / "publication.toml").write_text(FILLED.replace("02-03", "02-30"))
    with pytest.raises(ValueError, match=r"publication.toml: released is '2031-02-30'"):
        publication(filled)


def test_before_the_release_a_bibliography_says_so():
    about = {"title": "T", "authors": [{"name": "all"}], "version": "1"}
    assert "note    = {unreleased}" in bibtex(about) and "year" not in bibtex(about)
