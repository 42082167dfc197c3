"""From options to a fitted selector, in the words of the command line."""

import gc
import inspect
import warnings
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from tamis.cli.options import NoStructureFoundError, UsageError, complain
from tamis.cli.progress import Bar, Interruption
from tamis.cli.words import in_options
from tamis.io.readers import Request, Table, fill, read
from tamis.io.readers.report import listed
from tamis.reprs import counted
from tamis.selectors import SELECTORS

NOT_SET = ("n_features_to_select", "must_keep", "never", "groups", "callbacks", "random_state")
"""Parameters that have options of their own, or cannot be written on a command line."""


def read_with_bar(path: Path, request: Request, bar: Bar) -> Table:
    """Read a file while the bar shows how far."""
    bar.stage(f"Reading {path.name}")
    table = read(path, request, lambda done, total: bar.move(done, total, f"{done / 1e6:.0f} MB"))
    if table.in_pieces and request.in_pieces is None and not path.is_dir():
        complain(f"note: {path.name} is large for the free memory and is read in pieces.")
    return table


def allows_missing(method: str) -> bool:
    """Return whether a method takes missing cells as they are, by scikit-learn's tag."""
    from sklearn.utils import get_tags

    return bool(get_tags(SELECTORS[method]()).input_tags.allow_nan)


def fill_for(table: Table, way: str | None, method: str | None) -> Table:
    """Deal with missing cells as asked, by default as the method needs it; None stands for scoring, which needs all.

    The report of the table that is returned says what was done.
    """
    allowed = method is not None and allows_missing(method) if table.report.missing_cells else False
    if way == "keep" and table.report.missing_cells and not allowed:
        what = "scores need every cell" if method is None else f"the method {method} needs every cell"
        raise UsageError(f"--missing keep cannot be had, since {what}; pass --missing median or drop-rows.")
    return fill(table, way or ("keep" if allowed else "median"))


def settable(method: str) -> tuple[list[str], list[str]]:
    """Return the parameters of a method, and the fields of its recipe: what ``--set`` takes."""
    from tamis.lscae.recipe import Recipe

    known = [name for name in inspect.signature(SELECTORS[method]).parameters if name not in NOT_SET]
    return known, [f.name for f in fields(Recipe) if f.name not in known] if "recipe" in known else []


def make_selector(
    method: str, k: int, table: Table, seed: int, *, keep: Sequence[str] = (), never: Sequence[str] = (),
    settings: dict[str, Any],
) -> Any:  # fmt: skip
    """Make an unfitted selector; settings are parameters or fields of its recipe, and others are refused by name."""
    known, of_recipe = settable(method)
    if unknown := [name for name in settings if name not in [*known, *of_recipe]]:
        names = ", ".join([*known, *of_recipe]) or "none"
        raise UsageError(f"the method {method} has no parameter {unknown[0]!r}; it has {names}.")
    kept, banned = table.positions(keep, "--must-keep"), table.positions(never, "--never")
    _check_lists(table, k, kept, banned)
    given: dict[str, Any] = {"random_state": seed} if hasattr(SELECTORS[method](), "random_state") else {}
    given |= {name: value for name, value in settings.items() if name in known}
    given |= {"n_features_to_select": k, "must_keep": kept.tolist(), "never": banned.tolist()}
    groups = None if table.groups is None else table.groups.tolist()
    changes = {f"recipe__{name}": value for name, value in settings.items() if name in of_recipe}
    selector: Any = SELECTORS[method](groups=groups, **given).set_params(**changes)
    # Features that are mostly missing were left out by the reader, but for those that the user keeps.
    selector._max_missing = 1.0
    return selector


def _check_lists(table: Table, k: int, kept: Any, banned: Any) -> None:
    """Refuse what no method can do, in the words of the command line."""
    wanted, refused = table.names_of(kept), table.names_of(banned)
    if both := [name for name in wanted if name in refused]:
        raise UsageError(f"--must-keep and --never both name {listed(both)}; remove it from one of them.")
    if len(wanted) > k:
        names = counted(len(wanted), "feature")
        raise UsageError(f"--must-keep names {names}, more than -k {k}; shorten the list or raise -k.")
    check_rows(table)


def check_rows(table: Table) -> None:
    """Refuse a table with too few rows."""
    from tamis.base import MIN_ROWS

    if table.shape[0] < MIN_ROWS:
        why = f"rows are compared with each other and at least {MIN_ROWS} are needed"
        remedy = "pass --transpose if its features are in rows"
        raise UsageError(f"the table has {counted(table.shape[0], 'row')}, but {why}; {remedy}.")


def size_for(table: Table, k: int | None = None) -> int:
    """Return how many features of the file to choose: as many as asked for, by default as explain the structure.

    A table without structure ends the run.
    """
    from tamis.sizes import NoStructureError, choose_k

    if k is not None:
        if k > (features := len(table.original_names)):
            raise UsageError(f"-k {k} asks for more than the {counted(features, 'feature')} of the table.")
        return k
    try:
        return choose_k(table.X, groups=table.groups).k
    except NoStructureError:
        raise NoStructureFoundError(
            "apart from near copies of each other, no feature depends on another more than by chance, so that no "
            "number can be suggested; see how the file was read (tamis check), collect more rows, or name one by -k."
        ) from None


def fit(selector: Any, table: Table, bar: Bar, state: Interruption, title: str = "Training") -> Any:
    """Fit with a moving bar; an interruption ends training early where the method can be asked to."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
    bar.stage(title)
    parameters, names = selector.get_params(deep=False), table.feature_names.tolist()
    if "callbacks" in parameters:

        def move(epoch: Any) -> bool:
            bar.move(epoch.number, epoch.total, f"J = {epoch.objective:.3f}")
            return state.asked

        selector.set_params(callbacks=[move])
    try:
        with warnings.catch_warnings(record=True, action="always") as caught:
            selector.fit(table.X)
    except (ValueError, TypeError) as error:
        raise UsageError(in_options(str(error), list(parameters), names)) from error
    selector.feature_names_in_ = table.feature_names
    for message in dict.fromkeys(in_options(str(warning.message), names=names) for warning in caught):
        complain(f"note: {message}")
    return selector
