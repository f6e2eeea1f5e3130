"""A tiny project that the machinery can be tried on."""

import json
import os
import signal
import subprocess
import textwrap

import pytest

HEADER = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

"""
LOCK = "numpy==1.0\npandas==1.0\nscikit-learn==1.0\nscipy==1.0\n"


def cell(code, tags=""):
    head = f":tags: [{tags}]\n" if tags else ""
    return f"```{{code-cell}} ipython3\n{head}{textwrap.dedent(code).strip()}\n```\n\n"


class Project:
    """Folder with the parts of a compendium, and short ways to fill it."""

    def __init__(self, root):
        self.root = root
        self.write("_toc.yml", "format: jb-book\nroot: book/notebooks/index\n")
        self.write("requirements.lock", LOCK)
        self.write("memdlib/__init__.py", "")
        self.write("data/published/table.csv", "row,a,b\nx,86.40,\n")
        self.write("book/experiments/runs.toml", "")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def chapter(self, name, *cells):
        return self.write(
            f"book/chapters/{name}.md", HEADER + f"# {name}\n\n" + "".join(cells)
        )

    def result(self, run, values):
        text = json.dumps({"values": values, "parameters": {"run": run}})
        return self.write(f"data/results/{run}.json", text)

    def commit(self):
        """Commit everything, always at the same time."""
        git = ["git", "-C", str(self.root), "-c", "user.name=a", "-c", "user.email=b"]
        then = os.environ | {"GIT_COMMITTER_DATE": "1700000000 +0000"}
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "one"]):
            subprocess.run([*git, *command], check=True, env=then)

    def files(self):
        """Every file but the sources' own, with its bytes."""
        found = (p for p in self.root.rglob("*") if p.is_file())
        return {str(p.relative_to(self.root)): p.read_bytes() for p in found}


@pytest.fixture
def signals():
    """The command line takes over two signals."""
    before = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def project(tmp_path, monkeypatch):
    made = Project(tmp_path / "project")
    monkeypatch.setenv("MEMDLIB_PROJECT", str(made.root))
    monkeypatch.chdir(made.root)
    return made
