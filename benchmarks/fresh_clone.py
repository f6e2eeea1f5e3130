"""Time the README's commands in a fresh clone: ``python -m benchmarks.fresh_clone``.

Clones the committed state into a temporary folder, runs set-up, ``make book`` and
``make test`` there, and writes what they took to ``benchmarks/fresh_clone.json``, from
which the chapter *Reproduce this book* makes its table.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STEPS = ("setup", "book", "test")
REPORT = Path(__file__).with_suffix(".json")


def measure(clone: Path, target: str) -> float:
    """Seconds that one make target takes in a clone; stops if it fails."""
    start = time.perf_counter()
    subprocess.run(["make", target], cwd=clone, check=True)
    return time.perf_counter() - start


def main() -> None:
    """Measure every step and write the report."""
    project = Path(__file__).resolve().parents[1]
    data = os.environ.get("MEMDLIB_DATA")
    with tempfile.TemporaryDirectory(prefix="memdlib-") as scratch:
        clone = Path(scratch, "clone")
        subprocess.run(["git", "clone", "--quiet", project, clone], check=True)
        seconds = {step: round(measure(clone, step)) for step in STEPS}
    report = json.loads(REPORT.read_text(encoding="utf-8")) if REPORT.is_file() else {}
    report["with data" if data else "without data"] = seconds
    report["machine"] = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    REPORT.write_text(
        json.dumps(report, indent=1, sort_keys=True) + "\n", encoding="utf-8"
    )
    print(json.dumps(report, indent=1, sort_keys=True))


if __name__ == "__main__":
    sys.exit(main())
