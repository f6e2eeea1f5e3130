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


@pytest.mark.parametrize("kind", faults.MOUNTS)
@pytest.mark.parametrize("runner", RUNNERS)
def test_a_folder_takes_nothing_more(bench, monkeypatch, kind, runner):
    program = RUNNERS[runner].format(file=bench.result)

    def finish(*before):
        command = [*before, sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    monkeypatch.setattr(bench, "finish", finish)
    monkeypatch.setattr(bench, "complete", lambda size: write(bench, size))
    folder = bench.result.parent
    wrong = {"lies": "yet the run was said to be made"}
    if kind == "full":  # what is written in place is cut where the room ends
        wrong["writes"] = r"holds \['r.json'\]: Traceback"
    if runner in wrong:
        with pytest.raises(Damage, match=wrong[runner]):
            faults.refused(bench, kind, folder, 5)
        return
    said = faults.refused(bench, kind, folder, 5)
    assert said == "no room" or said.startswith("OSError")
    assert bench.sizes() == (5, 5)
    assert [path.name for path in folder.parent.iterdir()] == ["results"]
