"""Set-up by the real installers: what is stopped or changed is done again, whole."""

import base64
import hashlib
import os
import shutil
import signal
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import pytest
from packaging.requirements import Requirement

import memdlib
from tests.waiting import wait_until

PROJECT = Path(memdlib.__file__).parents[1]
PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "memdlib"
version = "1"
[tool.hatch.build.targets.wheel]
packages = ["memdlib"]
"""
METADATA = "Metadata-Version: 2.1\nName: {}\nVersion: {}\n"
WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
# Files of an installed package that its installer has made.
MADE = {"RECORD", "INSTALLER", "REQUESTED", "uv_cache.json", "direct_url.json"}


def write_wheel(folder, name, version, files):
    """Write a wheel of files, with its RECORD; return its line of a lock."""
    about = f"{name}-{version}.dist-info"
    metadata = METADATA.format(name, version)
    files = files | {f"{about}/METADATA": metadata, f"{about}/WHEEL": WHEEL}
    path = folder / f"{name}-{version}-py3-none-any.whl"
    record = []
    with ZipFile(path, "w") as archive:
        for member, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
            record.append(f"{member},sha256={digest.rstrip('=')},{len(data)}\n")
            entry = ZipInfo(member)
            entry.external_attr = 0o100755 << 16 if "/scripts/" in member else 0
            archive.writestr(entry, data)
        record.append(f"{about}/RECORD,,\n")
        archive.writestr(f"{about}/RECORD", "".join(record))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{name}=={version} \\\n    --hash=sha256:{digest}\n"


def needed():
    """Names of what a set-up needs: uv, and what builds the package itself."""
    names = ["uv", "hatchling", "editables"]
    for name in names:
        for line in distribution(name).requires or ():
            requirement = Requirement(line)
            marker = requirement.marker
            if requirement.name not in names and (marker is None or marker.evaluate()):
                names.append(requirement.name)
    return names


def files_of(package):
    """Files of an installed package, by their names in its wheel."""
    name = wheel_name(package)
    files = {}
    for file in package.files:
        if file.suffix == ".pyc" or file.name in MADE:
            continue
        if file.parts[0] != "..":
            files[str(file)] = file.read_binary()
        elif name == "uv":  # programs; other packages have scripts that are generated
            member = f"{name}-{package.version}.data/scripts/{file.name}"
            files[member] = file.read_binary()
    return files


def wheel_name(package):
    """Name of an installed package as the name of its wheel has it."""
    return package.metadata["Name"].replace("-", "_")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """A folder of the wheels that a set-up needs, one of many files, and their lock."""
    folder = tmp_path_factory.mktemp("wheels")
    # uv copies folders in the order of the disk, so that some come after the .dist-info
    many = {f"many{number % 20}/{number}.txt": "content" for number in range(4000)}
    lock = []
    for name in needed():
        package = distribution(name)
        files = files_of(package)
        lock.append(write_wheel(folder, wheel_name(package), package.version, files))
    lock.append(write_wheel(folder, "many", "1", many))
    (folder / "requirements.lock").write_text("".join(lock))
    return folder


class Checkout:
    """A small checkout that is set up from wheels in a folder, without an index."""

    def __init__(self, folder, wheels):
        self.folder = folder
        self.wheels = wheels
        self.ready = folder / ".venv" / "ready"
        self.packages = folder / ".venv/lib/python{}.{}/site-packages".format(
            *sys.version_info
        )
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "MAKEFLAGS", "MAKELEVEL", "MEMDLIB_DATA")
            and not name.startswith(("PIP_", "UV_"))
        } | {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(wheels),
            "UV_NO_CONFIG": "1",
            "UV_NO_INDEX": "1",
            "UV_FIND_LINKS": str(wheels),
            "UV_CACHE_DIR": str(wheels / "cache"),
        }

    def start(self, *arguments, **environment):
        return subprocess.Popen(
            ["make", "setup", f"PYTHON={sys.executable}", *arguments],
            cwd=self.folder,
            env=self.environment | environment,
            encoding="utf-8",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def set_up(self, *arguments, **environment):
        """Exit status and what was said."""
        process = self.start(*arguments, **environment)
        said, _ = process.communicate(timeout=300)
        return process.returncode, said

    def is_whole(self):
        """Is every file of every wheel there, as it is in the wheel?"""
        for wheel in self.wheels.glob("*.whl"):
            with ZipFile(wheel) as archive:
                for member in archive.namelist():
                    if ".data/" in member or member.endswith("/RECORD"):
                        continue  # goes elsewhere; has more lines when installed
                    path = self.packages / member
                    if not path.is_file() or path.read_bytes() != archive.read(member):
                        return False
        return True

    def python(self, code):
        """What the interpreter of the environment prints."""
        command = [self.folder / ".venv/bin/python", "-c", code]
        return subprocess.run(
            command,
            cwd=self.folder.parent,
            env=self.environment,
            encoding="utf-8",
            capture_output=True,
            check=True,
        ).stdout.strip()


@pytest.fixture
def checkout(tmp_path, wheels):
    folder = tmp_path / "a b ü"
    for name in ("memdlib", "compendium"):
        (folder / name).mkdir(parents=True)
    (folder / "memdlib/__init__.py").touch()
    (folder / "pyproject.toml").write_text(PYPROJECT)
    shutil.copy(wheels / "requirements.lock", folder)
    shutil.copy(PROJECT / "Makefile", folder)
    shutil.copy(PROJECT / "compendium/installation.py", folder / "compendium")
    return Checkout(folder, wheels)


def check_kill(checkout, pattern):
    """A set-up is killed once such a file is there, and the next one is whole."""
    process = checkout.start()
    wait_until(lambda: any(checkout.packages.glob(pattern)), 300)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not checkout.ready.exists()
    status, said = checkout.set_up()
    assert status == 0, said
    assert checkout.ready.exists() and checkout.is_whole()
    place = checkout.python("import memdlib; print(memdlib.__file__)")
    assert place == str(checkout.folder / "memdlib/__init__.py")


def test_a_set_up_that_is_killed_is_done_again(checkout):
    # a package of which not all files are there yet; other moments are tried at night
    check_kill(checkout, "many-1.dist-info/METADATA")


def test_a_package_with_another_hash_is_not_installed(checkout):
    lock = checkout.folder / "requirements.lock"
    lock.write_text(lock.read_text()[:-65] + "0" * 64 + "\n")
    status, said = checkout.set_up()
    assert status != 0 and "many" in said and "0" * 64 in said
    assert not checkout.ready.exists()


def test_pip_installs_what_uv_cannot(checkout):
    status, said = checkout.set_up(UV_FIND_LINKS="")
    assert status == 0 and "uv cannot install them; pip takes a minute" in said
    assert checkout.ready.exists() and checkout.is_whole()


def test_an_old_python_is_told_apart(tmp_path, checkout):
    old = tmp_path / "python3.10"  # answers as an old Python does
    old.write_text('#!/bin/sh\necho "memdlib needs Python 3.11" >&2; exit 1\n')
    old.chmod(0o755)
    status, said = checkout.set_up(f"PYTHON={old}")
    assert status != 0 and "needs Python 3.11" in said


@pytest.mark.parametrize("given", ["a b/ü", "{}/a b/ü"])
def test_the_folder_of_data_may_have_spaces(tmp_path, checkout, given):
    environment = checkout.environment | {"MEMDLIB_DATA": given.format(checkout.folder)}
    shown = subprocess.run(
        ["make", "--eval", "shown: ; @printenv MEMDLIB_DATA", "shown"],
        cwd=checkout.folder,
        env=environment,
        encoding="utf-8",
        capture_output=True,
        check=True,
    )
    assert shown.stdout == f"{checkout.folder}/a b/ü\n"


def test_a_clone_has_the_same_bytes_whatever_git_does_with_ends_of_lines(tmp_path):
    names = (".gitattributes", ".ci/run", "Makefile", "book/front-newsgroups.png")
    source, clone = tmp_path / "source", tmp_path / "clone"
    (source / ".ci").mkdir(parents=True)
    (source / "book").mkdir()
    for name in names:
        shutil.copy(PROJECT / name, source / name)
    git = ["git", "-c", "user.name=a", "-c", "user.email=b"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *command], cwd=source, check=True)
    convert = ["-c", "core.autocrlf=true"]
    subprocess.run(["git", "clone", "-q", *convert, source, clone], check=True)
    for name in names:
        assert (clone / name).read_bytes() == (PROJECT / name).read_bytes()
