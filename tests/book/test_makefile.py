"""Set-up that is stopped or fails is done again, not taken for done."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

import memdlib
from tests.waiting import wait_until

PROJECT = Path(memdlib.__file__).parents[1]
STUB = """#!/bin/sh
# stands in for Python: makes an environment whose pip takes its time
if [ "$1" = "-c" ]; then exit 0; fi
mkdir -p .venv/bin
pip=.venv/bin/python
printf '#!/bin/sh\\necho "$@" >> started\\nsleep "$NAP"\\nexit "$FATE"\\n' > $pip
chmod +x $pip
"""


def setup(folder, nap=0, fate=0, python=STUB):
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(PROJECT / name, folder)
    stub = folder / "stub"
    stub.write_text(python)
    stub.chmod(0o755)
    with (folder / "said").open("w") as said:
        return subprocess.Popen(
            ["make", "setup", f"PYTHON={stub}"],
            cwd=folder,
            env=os.environ | {"NAP": str(nap), "FATE": str(fate), "MAKEFLAGS": ""},
            stdout=said,
            stderr=said,
            start_new_session=True,
        )


def test_a_failed_set_up_is_not_marked_ready(tmp_path):
    assert setup(tmp_path, fate=1).wait(20) != 0
    assert not (tmp_path / ".venv" / "ready").exists()
    assert setup(tmp_path).wait(20) == 0
    assert (tmp_path / ".venv" / "ready").exists()


def test_an_interrupted_set_up_is_not_marked_ready(tmp_path):
    process = setup(tmp_path, nap=30)
    wait_until((tmp_path / "started").exists)
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(20) != 0
    assert not (tmp_path / ".venv" / "ready").exists()


@pytest.mark.parametrize("uv_works", [True, False])
def test_pip_installs_what_uv_cannot(tmp_path, uv_works):
    uv = tmp_path / ".venv" / "bin" / "uv"
    uv.parent.mkdir(parents=True)
    uv.write_text(f"#!/bin/sh\nexit {0 if uv_works else 2}\n")
    uv.chmod(0o755)
    assert setup(tmp_path).wait(20) == 0
    calls = (tmp_path / "started").read_text()
    assert calls.count("-r .venv/uv.txt") == 1
    assert calls.count("-r requirements.lock") == (not uv_works)
    assert "\nuv==" in "\n" + (tmp_path / ".venv" / "uv.txt").read_text()


def test_an_old_python_is_told_apart(tmp_path):
    old = '#!/bin/sh\necho "memdlib needs Python 3.11" >&2; exit 1\n'
    assert setup(tmp_path, python=old).wait(20) != 0
    assert "needs Python 3.11" in (tmp_path / "said").read_text()
