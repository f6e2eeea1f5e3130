import base64
import hashlib

import pytest

from compendium.installation import faults, main

LOCK = "one==1\n"
PYPROJECT = '[project]\nname = "a"\n'


def record(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode()
    return f"{name},sha256={digest.rstrip('=')},{len(content)}\n"


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """An environment with one package of a module and a script."""
    monkeypatch.chdir(tmp_path)
    packages = tmp_path / ".venv/lib/python3.11/site-packages"
    files = {"one.py": b"1\n", "one,two.txt": b"", "../../../bin/one": b"#!one\n"}
    lines = []
    for name, content in files.items():
        path = packages / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        quoted = f'"{name}"' if "," in name else name
        lines.append(record(quoted, content))
    about = packages / "one-1.dist-info"
    about.mkdir()
    lines.append("one-1.dist-info/RECORD,,\n")
    (about / "RECORD").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "requirements.lock").write_text(LOCK)
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    return tmp_path / ".venv"


def call(command):
    return main([command, ".venv", "requirements.lock", "pyproject.toml"])


def test_what_is_whole_is_marked_and_up_to_date(environment):
    assert list(faults(environment)) == []
    assert call("compare") == 1  # it has no mark
    assert call("mark") == 0
    assert call("compare") == 0


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("one.py", None, "one.py of one-1 is missing"),
        ("one.py", b"", "one.py of one-1 has another size"),
        ("one.py", b"2\n", "one.py of one-1 has another content"),
        ("one,two.txt", None, "one,two.txt of one-1 is missing"),
        (
            "../../../bin/one",
            b"#!two\n",
            "../../../bin/one of one-1 has another content",
        ),
        ("one-1.dist-info/RECORD", None, "RECORD is missing"),
    ],
)
def test_what_is_not_as_recorded_is_named(environment, capsys, name, content, fault):
    path = environment / "lib/python3.11/site-packages" / name
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    assert call("mark") == 1
    said = capsys.readouterr().out
    assert fault in said and ".venv is not whole (1 of its files): run" in said
    assert not (environment / "ready").exists()
    assert call("compare") == 1


@pytest.mark.parametrize(
    ("name", "text", "status"),
    [
        ("requirements.lock", LOCK + "two==2\n", 1),
        ("pyproject.toml", PYPROJECT + 'version = "2"\n', 1),
        ("pyproject.toml", PYPROJECT + "[tool.ruff]\n", 0),
    ],
)
def test_another_source_is_another_environment(environment, name, text, status):
    assert call("mark") == 0
    (environment.parent / name).write_text(text)
    assert call("compare") == status


def test_another_python_and_another_folder_are_another_environment(
    environment, monkeypatch
):
    assert call("mark") == 0
    with monkeypatch.context() as patch:
        patch.setattr("sys.version", "3.10")
        assert call("compare") == 1
    moved = environment.parent.with_name("moved")
    environment.parent.rename(moved)
    monkeypatch.chdir(moved)
    assert call("compare") == 1
