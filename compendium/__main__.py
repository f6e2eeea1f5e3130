"""Command line of the compendium: ``python -m compendium COMMAND``."""

import argparse
import errno
import signal
import sys
from pathlib import Path

from compendium.artifact import export, release
from compendium.build import chapters, experiments, pdf, readme, render
from compendium.data import DatasetError

# A disk that takes nothing more; its messages need no traceback.
_NO_ROOM = (errno.EACCES, errno.EDQUOT, errno.ENOSPC, errno.EROFS)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m compendium", description=__doc__)
    parser.add_argument("--jobs", type=int, help="notebooks at a time; default: cores")
    commands = parser.add_subparsers(dest="command", required=True)
    store = commands.add_parser("store", help="execute chapters and store them")
    store.add_argument("chapters", nargs="*", help="such as theory/memd; default: all")
    make = commands.add_parser("experiments", help="make runs, or look at them")
    make.add_argument("runs", nargs="*", help="which; default: all")
    make.add_argument("--status", action="store_true", help="list where each is from")
    make.add_argument("--recheck", action="store_true", help="only compare a seventh")
    make.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    commands.add_parser("render", help="render the book from the stored notebooks")
    commands.add_parser("check", help="run the gates on sources and pages")
    prints = commands.add_parser("pdf", help="print rendered pages (Chromium)")
    prints.add_argument("pages", nargs="*", default=["article"], help="such as memd")
    commands.add_parser("readme", help="write the README's tables")
    commands.add_parser("export", help="write claims and results for others' tools")
    commands.add_parser("release", help="pack all that a stranger needs")
    given = parser.parse_args(arguments)
    # a shell may have told its background jobs to ignore the first
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.default_int_handler)
    try:
        match given.command:
            case "store":
                return chapters.main(given.chapters, given.jobs)
            case "experiments":
                return experiments.main(given)
            case "render":
                return render.main()
            case "check":
                return render.check()
            case "pdf":
                return pdf.main(given.pages)
            case "readme":
                return readme.main()
            case "export":
                return export.main()
            case "release":
                return release.main()
    except DatasetError as error:
        print(f"error: {error}")
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        print(
            f"error: {error}; what was stored before is kept: make room, and run the "
            "same command again"
        )
    except KeyboardInterrupt:
        print(
            "\ninterrupted: what was finished is kept, nothing is half-written; "
            "run the same command to go on"
        )
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main())
