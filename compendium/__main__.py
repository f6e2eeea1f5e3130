"""Command line of the compendium: ``python -m compendium COMMAND``."""

import argparse
import errno
import os
import signal
import sys
from importlib import import_module

from compendium.data import DatasetError
from compendium.project import GitError

# What to do about a disk that takes nothing more; its messages need no traceback.
_REMEDIES = {
    errno.EACCES: "allow writing here",
    errno.EROFS: "allow writing here, or take a copy of the checkout",
    errno.EDQUOT: "make room",
    errno.ENOSPC: "make room",
}


# Each with the function that does it, and what it does.
COMMANDS = {
    "store": ("execution.chapters.main", "execute and store chapters"),
    "experiments": ("execution.experiments.main", "make or list runs"),
    "check-claim": ("artifact.check_claim.main", "make the runs of a claim again"),
    "tables": ("tables.write.main", "derive the tidy tables of results"),
    "check": ("book.check.main", "run the gates on sources and pages"),
    "pdf": ("book.binding.main", "print rendered pages (Chromium)"),
    "live": ("book.live.main", "make a site that runs the chapters in the browser"),
    "student": ("book.student.main", "write notebooks without solutions"),
    "readme": ("book.readme.main", "write the README's tables"),
    "export": ("artifact.export.main", "write the ledger for others' tools"),
    "release": ("artifact.release.main", "pack all that a stranger needs"),
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m compendium", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    added = {c: commands.add_parser(c, help=text) for c, (_, text) in COMMANDS.items()}
    help_ = "such as theory/memd; default: all"
    added["store"].add_argument("chapters", nargs="*", help=help_)
    runs = added["experiments"]
    runs.add_argument("names", nargs="*", help="which; default: all")
    what = {"dest": "what", "action": "store_const"}
    runs.add_argument(
        "--status", **what, const="status", help="list where each is from"
    )
    runs.add_argument("--recheck", **what, const="recheck", help="compare a seventh")
    for part in (added["store"], runs):
        part.add_argument(
            "--jobs", type=int, help="notebooks at a time; default: cores"
        )
    help_ = "as in claims.html#margin-equals-j; default: the cheapest of each source"
    added["check-claim"].add_argument("claim", nargs="?", help=help_)
    added["pdf"].add_argument(
        "pages", nargs="*", default=["article"], help="as memd, or book"
    )
    added["live"].add_argument("--pyodide", help="folder of a release of Pyodide")
    given = vars(parser.parse_args(arguments))
    module, _, work = COMMANDS[given.pop("command")][0].rpartition(".")
    # a shell may have told its background jobs to ignore the first
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.default_int_handler)
    try:
        status = getattr(import_module(f"compendium.{module}"), work)(**given)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # a reader such as head, who has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (DatasetError, GitError) as error:
        print(f"error: {error}")
    except OSError as error:
        if error.errno not in _REMEDIES:
            raise
        print(
            f"error: {error}; what was stored before is kept: "
            f"{_REMEDIES[error.errno]}, and run the same command again"
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
