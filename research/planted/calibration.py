"""From rows to tables: false discoveries on planted and on noise tables, verdicts on noise, suggested numbers."""

from collections.abc import Sequence

import numpy as np

from research.ledger import Row
from research.pages import Table, select_rows
from research.planted.fits import ALL_KINDS, TESTED
from research.planted.kinds import COPIED_NUISANCE, STRUCTURED_NUISANCE
from research.planted.noise import FDR, LAWS, SHAPES
from research.planted.sizes import GROUPS
from research.planted.tables import of_method, shown

DEPENDENT_NUISANCE = (*COPIED_NUISANCE, *STRUCTURED_NUISANCE)
"""Kinds whose nuisance features depend on each other, so that the test may rightly call them structured."""

MIN_SHOWN = 0.995
"""Kinds on which the test finds a larger share, and no noise, are not listed."""

TOLERANCE = 1


def structure(rows: Sequence[Row]) -> Table:
    """Make the table of the test on planted tables: its power, and the false share with its bound."""
    lines = []
    for method in TESTED:
        own = [row for row in of_method(rows, method) if "power" in row]
        for name, dependent in (("independent", False), ("dependent", True)):
            found = [row for row in own if (row["trial"]["kind"] in DEPENDENT_NUISANCE) is dependent]
            if found:
                shares = np.array([row["false_share"] for row in found])
                power = float(np.mean([row["power"] for row in found]))
                lines.append([method, name, str(len(found)), shown(power, 3), shown(float(shares.mean()), 3)])
                error = float(shares.std() / np.sqrt(len(shares)))
                lines[-1] += ["–", "–"] if dependent else _against(float(shares.mean()), error)
    headings = ["method", "nuisance", "tables", "power", "false share", "bound", ""]
    return Table("structure", "Structure", headings, lines)


def structure_by_kind(rows: Sequence[Row]) -> Table:
    """Make the table of the kinds on which the test misses features, or finds noise."""
    lines = []
    for kind in ALL_KINDS:
        found = [row for row in of_method(rows, TESTED[1]) if row["trial"]["kind"] == kind and "power" in row]
        if found:
            power, false = (float(np.mean([row[name] for row in found])) for name in ("power", "false_share"))
            if power < MIN_SHOWN or false > FDR:
                lines.append([kind.replace("_", " "), shown(power), shown(false)])
    return Table("structure-kinds", "Structure by kind", ["kind", "power", "false share"], lines)


def noise(rows: Sequence[Row]) -> Table:
    """Make the table of noise tables in which something is called structured, by law."""
    lines = []
    for law in (*LAWS, *SHAPES):
        found = select_rows(rows, law=law)
        if found:
            called = np.array([row["n_structured"] > 0 for row in found])
            error = float(np.sqrt(FDR * (1 - FDR) / len(found)))
            lines.append([law, str(len(found)), f"{called.mean():.3f}", *_against(float(called.mean()), error)])
    return Table("noise", "Noise", ["law", "tables", "share with structure", "bound", ""], lines)


def _against(value: float, error: float) -> list[str]:
    """Return the bound of a share of false discoveries, two standard errors above the level, and whether it holds."""
    bound = FDR + 2 * error
    return [shown(bound, 3), "holds" if value <= bound else "**above**"]


def noise_verdicts(rows: Sequence[Row]) -> Table:
    """Make the table of the verdicts on selections from noise, a method per row."""
    lines = []
    for method in dict.fromkeys(row["trial"]["method"] for row in rows):
        found = select_rows(rows, method=method)
        trusted = sum(row["trusted"] for row in found)
        lines.append([method, str(len(found)), str(trusted), "holds" if not trusted else "**trusted**"])
    return Table("noise-verdicts", "Verdicts on noise", ["method", "tables", "trusted", ""], lines)


def sizes(rows: Sequence[Row]) -> Table:
    """Make the table of the suggested numbers of features, by the number of groups."""
    lines = []
    for groups in (*GROUPS, 0):
        found = sorted(select_rows(rows, groups=groups), key=lambda row: row["trial"]["seed"])
        if found:
            ks = ", ".join("none" if row["k"] is None else str(row["k"]) for row in found)
            lines.append([str(groups) if groups else "0 (noise)", ks, f"{sum(map(_is_close, found))} of {len(found)}"])
    headings = ["groups", "suggested k", f"within ±{TOLERANCE} (noise: none)"]
    return Table("sizes", "Sizes", headings, lines)


def sizes_summary(rows: Sequence[Row]) -> str:
    """Return a sentence about the suggestions with structure, and one about those without."""
    noise_only = select_rows(rows, groups=0)
    grouped = [row for row in rows if row["trial"]["groups"]]
    parts = []
    if grouped:
        share = np.mean([_is_close(row) for row in grouped])
        parts.append(f"Within ±{TOLERANCE} of the number of groups on {share:.0%} of {len(grouped)} tables.")
    if noise_only:
        count = sum(map(_is_close, noise_only))
        parts.append(f"No number is suggested for {count} of {len(noise_only)} noise tables.")
    return " ".join(parts)


def _is_close(row: Row) -> bool:
    if not row["trial"]["groups"]:
        return row["k"] is None
    return row["k"] is not None and abs(row["k"] - row["trial"]["groups"]) <= TOLERANCE
