"""The page of the panels bench: tables between the marks of docs/gene-panels.md, for each half of the sets."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from research.ledger import Ledger, Row
from research.pages import Table, replace_parts
from research.panels import agreement, atlas, batches
from research.panels.bench import ALL, RESULTS, SCORES, SIZES
from research.panels.rivals import LABELLED
from research.panels.sets import SETS

PAGE = Path(__file__).parents[2] / "docs" / "gene-panels.md"
HALVES = {"choosing": False, "confirming": True}
OWN = ("LSCAE", "structure-pursuit")
"""Selectors of tamis beside select_genes, which are shown, and not ranked as if they were ways of others."""


def write_page(results: Path = RESULTS, page: Path = PAGE) -> Path:
    """Write the made parts of the page from the rows."""
    rows = Ledger(results).rows()
    if not rows:
        raise ValueError(f"{results}: holds no rows; run `python -m research.panels run` first.")
    parts = {half: summary(rows, confirms) for half, confirms in HALVES.items()}
    return replace_parts(page, {**parts, "batches": _batches(), "agreement": _agreement(), "atlas": _atlas()})


def _batches() -> str:
    rows = Ledger(batches.RESULTS).rows()
    table = []
    pairs = dict.fromkeys((row["trial"]["way"], row["trial"]["set"]) for row in rows)
    for way, name in sorted(pairs, key=lambda pair: batches.SETS.index(pair[1])):
        own = {row["trial"]["k"]: row for row in rows if row["trial"]["way"] == way and row["trial"]["set"] == name}
        cells = [f"{own[k]['f1']:.3f} ({own[k]['n_batch_only']})" if k in own else "" for k in batches.SIZES]
        table.append([f"{name}, {way}", *cells])
    return Table("batches", "Batches", ["set, way", *(f"k = {k}" for k in batches.SIZES)], table).markdown()


def _agreement() -> str:
    rows = Ledger(agreement.RESULTS).rows()
    table = [[*row["trial"].values(), f"{row['tamis']:.4f}", f"{row['spapros']:.4f}"] for row in rows]
    return Table("agreement", "Agreement", ["panel", "score", "tamis", "Spapros"], table).markdown()


def _atlas() -> str:
    rows = Ledger(atlas.RESULTS).rows()
    if not rows:
        return "Not measured yet."
    row, trial = rows[-1], rows[-1]["trial"]
    return (
        f"{trial['k']} genes of {trial['cells']:,} × {trial['genes']:,}: {row['cpu_seconds'] / 60:.1f} minutes of CPU, "
        f"{row['gigabytes']:.1f} GB at most. {row['markers']:.0%} of the panel and {row['markers_of_all']:.0%} of all "
        "genes are markers of a type."
    )


def summary(rows: Sequence[Row], confirms: bool) -> str:
    """Return the tables of one half of the sets, of the ways that have rows for all sets of it that any way has."""
    known = {(row["trial"]["way"], row["trial"]["set"]): row for row in rows}
    sets = [name for name, one in SETS.items() if one.confirms == confirms and any(key[1] == name for key in known)]
    ways = [way for way in dict.fromkeys(key[0] for key in known) if all((way, name) in known for name in sets)]
    ways = [way for way in ways if way != ALL]
    free = [way for way in ways if way not in (*LABELLED, *OWN)]
    if not sets or not free:
        return "No way has rows on all of these sets yet."
    values = {way: np.array([[_scores(known[way, name], size) for size in SIZES] for name in sets]) for way in ways}
    ranks = dict(zip(free, rankdata([-values[way] for way in free], axis=0).mean(axis=(1, 2, 3)), strict=True))
    table = []
    for way in [*sorted(free, key=lambda one: float(ranks[one])), *(way for way in ways if way not in free)]:
        seconds = float(np.median([known[way, name]["select_seconds"] for name in sets])) / len(SIZES)
        means = [f"{value:.3f}" for value in values[way].mean(axis=(0, 1))]
        at_100 = values[way][:, SIZES.index(100), list(SCORES).index("knn_overlap")].mean()
        rank = f"{ranks[way]:.2f}" if way in ranks else "of tamis" if way in OWN else "with cell types"
        table.append([way, rank, *means, f"{at_100:.3f}", f"{seconds:.1f}"])
    headings = ["way", "mean rank", *SCORES.values(), "kNN overlap at 100", "median seconds"]
    shapes = ", ".join(f"{name} ({'×'.join(str(n) for n in known[ways[0], name]['shape'])})" for name in sets)
    text = f"{shapes}. Means over sets and sizes {SIZES}:\n\n{Table('panels', 'Panels', headings, table).markdown()}"
    whole = [known[ALL, name]["scores"] for name in sets if (ALL, name) in known]
    if len(whole) == len(sets):
        means = [f"{SCORES[name]} {np.mean([one[name] for one in whole]):.3f}" for name in ("kmeans", "leiden")]
        text += f"\n\nClusters by all genes: {', '.join(means)}."
    return text


def _scores(row: Row, size: int) -> list[float]:
    return [row["scores"][str(size)][name] for name in SCORES]
