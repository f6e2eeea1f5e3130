"""Set-ups that take long to try; run by ``make test-nightly``."""

import shutil

import pytest

from tests.book.test_makefile import Checkout, check_kill, checkout, wheels

__all__ = ["checkout", "wheels"]


@pytest.mark.parametrize(
    "pattern", ["../../../bin/python", "hatchling*/RECORD", "memdlib*"]
)
def test_a_set_up_that_is_killed_is_done_again(checkout, pattern):
    check_kill(checkout, pattern)


def test_set_up_is_done_again_where_what_it_was_made_from_is_another(checkout):
    first, second = checkout.start(), checkout.start()
    said = first.communicate()[0] + second.communicate()[0]
    assert first.returncode == second.returncode == 0
    assert said.count("Setting up .venv from requirements.lock") == 1
    assert checkout.is_whole()

    with (checkout.folder / "pyproject.toml").open("a") as settings:
        settings.write("[tool.ruff]\n")
    (checkout.folder / "requirements.lock").touch()
    assert checkout.set_up() == (0, "")

    copy = Checkout(checkout.folder.with_name("copy"), checkout.wheels)
    shutil.copytree(checkout.folder, copy.folder, symlinks=True)
    assert "Setting up" in copy.set_up()[1]
    place = copy.python("import memdlib; print(memdlib.__file__)")
    assert place == str(copy.folder / "memdlib/__init__.py")

    lock = copy.folder / "requirements.lock"
    lock.write_text(lock.read_text().partition("many==")[0])
    assert "Setting up" in copy.set_up()[1]
    assert copy.ready.exists() and not (copy.packages / "many0").exists()
