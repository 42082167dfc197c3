"""The command ``tamis``; everything heavy is imported only when a command needs it."""

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    import gc

    # Collecting garbage while some thousand modules are imported finds none and takes a fifth of the time until
    # training starts; `fit` turns it on again.
    gc.disable()
    from tamis.cli.app import app

    app(args=None if arguments is None else list(arguments), prog_name="tamis")
