"""Command line of the compendium: ``python -m compendium COMMAND``."""

import argparse
import errno
import signal
import sys
from collections.abc import Callable
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

    def command(name: str, work: Callable, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text)
        added.set_defaults(work=work)
        return added

    one = command(
        "store",
        lambda g: chapters.main(g.chapters, g.jobs),
        "execute and store chapters",
    )
    one.add_argument("chapters", nargs="*", help="such as theory/memd; default: all")
    one = command("experiments", lambda g: experiments.main(g), "make or list runs")
    one.add_argument("runs", nargs="*", help="which; default: all")
    one.add_argument("--status", action="store_true", help="list where each is from")
    one.add_argument("--recheck", action="store_true", help="only compare a seventh")
    one.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    command("render", lambda _: render.main(), "render the book as it is stored")
    command("check", lambda _: render.check(), "run the gates on sources and pages")
    one = command("pdf", lambda g: pdf.main(g.pages), "print rendered pages (Chromium)")
    one.add_argument("pages", nargs="*", default=["article"], help="such as memd")
    command("readme", lambda _: readme.main(), "write the README's tables")
    command("export", lambda _: export.main(), "write the ledger for others' tools")
    command("release", lambda _: release.main(), "pack all that a stranger needs")
    given = parser.parse_args(arguments)
    # a shell may have told its background jobs to ignore the first
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.default_int_handler)
    try:
        return given.work(given)
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
