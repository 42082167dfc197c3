"""The command ``tamis``; everything heavy is imported only when a command needs it."""

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    import gc

    from tamis.extras import EXTRAS, require

    # Ctrl-C and SIGTERM end the process at any moment, also while modules are imported or it is ending. Only the main
    # thread may see to it; whoever runs the command in another one has handlers of their own.
    with suppress(ValueError):
        signal.signal(signal.SIGINT, quit_at_once)
        signal.signal(signal.SIGTERM, quit_at_once)
    try:
        require("The command tamis", *EXTRAS["cli"])
    except ImportError as error:
        sys.exit(str(error))
    # Collecting garbage while some thousand modules are imported finds none and takes a fifth of the time until
    # training starts; `fit` turns it on again.
    gc.disable()
    from tamis.cli.app import app

    app(args=None if arguments is None else list(arguments), prog_name="tamis")


def quit_at_once(number: int, frame: Any) -> None:  # noqa: ARG001 (a signal handler)
    """Remove what is unfinished, say one word, and exit with 128 plus the number of the signal.

    An exception would do as long as no library swallows it, turns it into another or prints a traceback, which
    imports of compiled modules, threads and the end of the interpreter do.
    """
    try:
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, signal.SIG_IGN)
        # Only what is imported whole already can have begun something.
        for module, clean in (("tamis.io.files", "remove_unfinished"), ("tamis.cli.results", "remove_empty")):
            getattr(sys.modules.get(module), clean, bool)()
        shown = "\033[?25h" if os.isatty(2) else ""  # the bar hides the cursor
        os.write(2, f"{shown}tamis: {'interrupted' if number == signal.SIGINT else 'terminated'}.\n".encode())
    finally:
        os._exit(128 + number)
