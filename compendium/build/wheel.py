"""The wheel that the built book holds, and how readers get from it what they need.

Until the package has a public address, the book itself is where it comes from: every
rendering builds the wheel next to the first page, and the first cell of a plain
notebook installs that file.
"""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

from compendium.build.pages import citation
from compendium.project import root


def wheel_name(version: str) -> str:
    """Name of the file of a version.

    Examples
    --------
    >>> wheel_name("1.2.3")
    'memdlib-1.2.3-py3-none-any.whl'
    """
    return f"memdlib-{version}-py3-none-any.whl"


def install_missing(modules, source):
    """Install memdlib with all that notebooks need, unless the modules are there."""
    if all(find_spec(module) for module in modules):
        return
    if source.endswith(".whl"):
        here = Path.cwd()
        places = [folder / source for folder in (here, *here.parents)]
        found = next((place for place in places if place.is_file()), None)
        if found is None:
            raise FileNotFoundError(
                f"{source} is not in {here}: get it from the page 'Install and first "
                "steps' of the book, put it there and run this cell again"
            )
        source = f"{found}[notebooks]"
    subprocess.run([sys.executable, "-m", "pip", "install", source], check=True)


def build_wheel(app: Sphinx, error: Exception | None) -> None:
    """Build the wheel of this checkout next to the first page of the book."""
    if error is None and app.builder.name == "html":
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
        command += ["-d", str(app.outdir)]
        done = subprocess.run(command, cwd=root(), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"the wheel cannot be built: {done.stderr}")


class WheelRole(SphinxRole):
    """``{wheel}``: a link to the wheel in the built book; its text is the link's."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        name = wheel_name(citation(root())["version"])
        up = "../" * self.env.docname.count("/")
        text = nodes.literal("", self.text.format(name=name))
        return [nodes.reference("", "", text, refuri=f"{up}{name}")], []


def setup(app: Sphinx) -> dict:
    """Register the extension."""
    app.add_role("wheel", WheelRole())
    app.connect("build-finished", build_wheel)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
