"""A bar that a fit moves, in terminals and in notebooks."""

from typing import TYPE_CHECKING, Any, Self

from tamis.extras import require

if TYPE_CHECKING:
    from rich.console import Console

    from tamis.lscae.training import Epoch


class ProgressBar:
    """Show how far training is and how J falls; a callback of :class:`tamis.LSCAE`.

    It is rich's bar, which notebooks show, too.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where it is shown.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from tamis import LSCAE, ProgressBar
    >>> with ProgressBar() as bar:  # doctest: +SKIP
    ...     LSCAE(4, callbacks=bar).fit(load_wine().data)
    """

    def __init__(self, console: "Console | None" = None) -> None:
        require("ProgressBar", "rich")
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        told = TextColumn("J = {task.fields[objective]}")
        self._progress = Progress(TextColumn("Training"), BarColumn(), told, TimeRemainingColumn(), console=console)
        self._task = self._progress.add_task("", total=None, objective="–")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def __call__(self, epoch: "Epoch") -> None:
        """Move to the end of an epoch."""
        objective = f"{epoch.objective:.2f}"
        self._progress.update(self._task, completed=epoch.number, total=epoch.total, objective=objective)

    def __deepcopy__(self, memo: Any) -> Self:
        # scikit-learn's clone copies parameters; the copies move the same bar.
        return self
