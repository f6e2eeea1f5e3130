"""The bench on which faults are tried tells whole files from others."""

import json
import subprocess
import sys

import pytest

from compendium.artifact.trials import faults
from compendium.artifact.trials.faults import Bench, Damage


@pytest.fixture
def bench(tmp_path):
    made = Bench(tmp_path / "bench")
    write(made, 4)
    return made


def write(bench, size):
    values = {"size": size, "filler": [size] * 4000}
    provenance = {"parameters": {"size": size}}
    result = json.dumps({"values": values, "provenance": provenance})
    bench.result.write_text(result)
    outputs = [{"text": [f"{size}\n"]}, {"data": {}}]
    about = {"memdlib": {"digest": "d"}}
    bench.record.write_text(
        json.dumps({"cells": [{"outputs": outputs}], "metadata": about})
    )


def test_whole_files_are_told_from_others(bench):
    assert bench.sizes() == (4, 4)
    text = bench.result.read_text()
    bench.result.write_text(text.replace('"filler": [4, 4', '"filler": [4, 5', 1))
    with pytest.raises(Damage, match="mixes two runs"):
        bench.sizes()
    bench.result.write_text(text[:-7])
    with pytest.raises(Damage, match="is not whole"):
        bench.sizes()
    bench.result.unlink()
    assert bench.sizes() == (None, 4)


RUNNERS = {
    "fails": "import sys; print('no room'); sys.exit(1)",
    "lies": "print('made')",
    "writes": "open('{file}', 'a').write('x' * 10**6)",
}


@pytest.fixture
def run_by(bench, monkeypatch):
    """Lets one of the runners make the run."""

    def use(runner):
        program = RUNNERS[runner].format(file=bench.result)

        def finish(*before):
            command = [*before, sys.executable, "-c", program]
            done = subprocess.run(command, capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr

        monkeypatch.setattr(bench, "finish", finish)
        monkeypatch.setattr(bench, "complete", lambda size: write(bench, size))

    return use


# What is written in place is cut where the room ends; nothing is written elsewhere.
SOUND = [(k, "fails") for k in faults.MOUNTS]
SOUND += [(k, "writes") for k in faults.MOUNTS if k != "full"]


@pytest.mark.parametrize(("kind", "runner"), SOUND)
def test_a_folder_takes_nothing_more(bench, run_by, kind, runner):
    run_by(runner)
    folder = bench.result.parent
    said = faults.refused(bench, kind, folder, 5)
    assert said == "no room" or said.startswith("OSError")
    assert str(bench.folder) not in said
    assert bench.sizes() == (5, 5)
    assert [path.name for path in folder.parent.iterdir()] == ["results"]


@pytest.mark.parametrize("kind", faults.MOUNTS)
def test_a_runner_that_says_it_made_the_run_is_found_out(bench, run_by, kind):
    run_by("lies")
    with pytest.raises(Damage, match="yet the run was said to be made"):
        faults.refused(bench, kind, bench.result.parent, 5)


def test_a_file_that_is_cut_is_found_out(bench, run_by):
    run_by("writes")
    with pytest.raises(Damage, match=r"holds \['r.json'\]: Traceback"):
        faults.refused(bench, "full", bench.result.parent, 5)
