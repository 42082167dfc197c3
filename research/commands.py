"""What the commands of all benches share: errors as one sentence, lists as users write them."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path


def run_command(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> int:
    """Run the command that a parser finds; the exit code is 1 if a trial failed, 2 if an option or file is wrong."""
    options = parser.parse_args(arguments)
    try:
        return options.command(options)
    except (ValueError, LookupError, ImportError) as error:
        print(f"error: {error.args[0]}", file=sys.stderr)
        return 2


def listed(text: str | None) -> list[str]:
    """Return the entries of a list such as ``a,b``."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def data_option() -> argparse.ArgumentParser:
    """Return a parent parser with ``--data-dir``."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(
        "--data-dir", type=_folder, metavar="FOLDER", help="folder with the data sets; default: TAMIS_DATA"
    )
    return parser


def jobs_option() -> argparse.ArgumentParser:
    """Return a parent parser with ``--jobs``."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--jobs", "-j", type=_jobs, default=1, help="trials at a time; -1 takes all cores")
    return parser


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text}: there is no such folder.")
    return Path(text)


def _jobs(text: str) -> int:
    if int(text) == 0:
        raise argparse.ArgumentTypeError("takes a number of trials at a time, or -1 for all cores; got 0.")
    return int(text)
