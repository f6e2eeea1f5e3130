"""The typefaces of the pages: subsets of packaged fonts, as woff2.

A page needs a tenth of what a font has: the characters of the book, kerning, ligatures,
small capitals and two kinds of figures. The licence of the fonts reserves the name
*Source* for unchanged copies, so that a subset has another.
"""

from importlib.metadata import files as package_files
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

# Packages, and what each brings: files of the pages by the names of the packaged fonts.
FACES = {
    "font-source-serif-pro": {
        "SourceSerifPro-Regular.ttf": "serif-regular.woff2",
        "SourceSerifPro-It.ttf": "serif-italic.woff2",
        "SourceSerifPro-Semibold.ttf": "serif-semibold.woff2",
        "SourceSerifPro-SemiboldIt.ttf": "serif-semibold-italic.woff2",
    },
    "font-source-sans-pro": {
        "SourceSansPro-Regular.ttf": "sans-regular.woff2",
        "SourceSansPro-It.ttf": "sans-italic.woff2",
        "SourceSansPro-Semibold.ttf": "sans-semibold.woff2",
    },
}
_BLOCKS = (
    range(0x20, 0x180),  # Latin, with the letters of European names
    range(0x300, 0x400),  # accents that are put on letters; Greek
    range(0x2000, 0x20A0),  # dashes, quotation marks, raised and lowered figures
    range(0x2190, 0x2300),  # arrows, signs of mathematics
    range(0x25A0, 0x2600),  # triangles, circles, the end of a proof
)
CHARACTERS = frozenset(code for block in _BLOCKS for code in block)
_FEATURES = ["kern", "liga", "ccmp", "locl", "mark", "mkmk", "lnum", "tnum", "smcp"]
_COPYRIGHT = 0
_FAMILY = 1
_FULL = 4
_POSTSCRIPT = 6
_LICENCE = 13
_ADDRESS = 14


def write_fonts(folder: Path) -> None:
    """Write the subsets of all faces, beside the licences of their packages.

    Parameters
    ----------
    folder : Path
    """
    folder.mkdir(exist_ok=True)
    for package, faces in FACES.items():
        for path in package_files(package):
            if path.name in faces:
                source = Path(path.locate())
                target = folder / faces[path.name]
                if is_behind(target, source):
                    write_subset(source, target)
            elif path.name == "LICENSE.txt":
                licence = folder / f"{package}-LICENSE.txt"
                licence.write_bytes(path.read_binary())


def is_behind(target: Path, source: Path) -> bool:
    """Whether a subset is not there, or older than its font or this module."""
    if not target.is_file():
        return True
    made_from = [source, Path(__file__)]
    return target.stat().st_mtime < max(path.stat().st_mtime for path in made_from)


def write_subset(source: Path, target: Path) -> None:
    """Write what the pages need of a font.

    Parameters
    ----------
    source, target : Path
        The font, and a file ``.woff2`` after which the subset is named.
    """
    options = Options(layout_features=_FEATURES, hinting=False)
    options.name_IDs = [_COPYRIGHT, _LICENCE, _ADDRESS]
    font = TTFont(source, recalcTimestamp=False)  # equal in every build
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=CHARACTERS)
    subsetter.subset(font)
    name = "Compendium " + target.stem.replace("-", " ").title()
    for number in (_FAMILY, _FULL):
        font["name"].setName(name, number, 3, 1, 0x409)
    font["name"].setName(name.replace(" ", ""), _POSTSCRIPT, 3, 1, 0x409)
    font.flavor = "woff2"
    font.save(target)
