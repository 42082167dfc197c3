"""The command ``tamis``; everything heavy is imported only when a command needs it."""

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    from tamis.cli.app import app

    app(args=None if arguments is None else list(arguments), prog_name="tamis")
