import os
from importlib.metadata import files

import pytest
from fontTools.ttLib import TTFont

from compendium.book.fonts import CHARACTERS, FACES, write_fonts
from compendium.project import root

KILOBYTES = 40  # of a face


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fonts")
    write_fonts(folder)
    return folder


def packaged(package, name):
    return TTFont(next(p for p in files(package) if p.name == name).locate())


@pytest.mark.parametrize(
    ("package", "name"), [(p, name) for p, faces in FACES.items() for name in faces]
)
def test_a_subset_is_small_and_has_all_that_the_book_writes(written, package, name):
    path = written / FACES[package][name]
    assert path.read_bytes()[:4] == b"wOF2"
    assert path.stat().st_size < 1000 * KILOBYTES
    whole, subset = packaged(package, name), TTFont(path)
    sources = [*root().glob("book/**/*.md"), *root().glob("data/*.toml")]
    text = {ord(c) for source in sources for c in source.read_text(encoding="utf-8")}
    wanted = {c for c in text if c in whole.getBestCmap()}
    assert len(wanted) > 90 and wanted <= set(subset.getBestCmap()) <= CHARACTERS
    for letter in "aEß0":
        of_whole, of_subset = (f.getBestCmap()[ord(letter)] for f in (whole, subset))
        assert whole["hmtx"][of_whole][0] == subset["hmtx"][of_subset][0]


@pytest.mark.parametrize("package", FACES)
def test_the_reserved_name_is_left_to_the_originals(written, package):
    licence = (written / f"{package}-LICENSE.txt").read_text(errors="replace")
    assert "Reserved Font Name 'Source'" in licence and "Open Font License" in licence
    for name in FACES[package].values():
        records = {r.nameID: str(r) for r in TTFont(written / name)["name"].names}
        assert not any("Source" in records[number] for number in (1, 4, 6))
        assert "SIL Open Font License" in records[13]


def test_two_builds_make_the_same_files(written, tmp_path):
    write_fonts(tmp_path / "again")
    for path in written.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


def test_only_a_subset_that_is_behind_is_made_again(written):
    kept, behind = sorted(written.glob("*.woff2"))[:2]
    before = kept.stat().st_mtime_ns
    os.utime(behind, (0, 0))
    write_fonts(written)
    assert kept.stat().st_mtime_ns == before
    assert behind.stat().st_mtime > 0
