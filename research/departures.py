"""What each departure from the paper earns: the default with one of them taken back, on planted tables and real sets.

``python -m research.departures run`` does what is missing; ``page`` writes the table of docs/deviations.md.
Real sets need a data folder (TAMIS_DATA); their labels only score.
"""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from research.ledger import Row, Trial
from research.pages import Rows, Table, replace_parts, select_rows
from research.planted.bench import DOCS, Bench
from research.planted.kinds import planted_table
from research.planted.recovery import TABLES
from research.quality.scores import score_selection
from research.quality.sets import load
from tamis import LSCAE, Recipe
from tamis.lscae import refine
from tamis.lscae.objective import TERMS, Term, View, reconstruction
from tamis.structure import directions, sample

SEEDS = range(2)
PAPER_TABLES = tuple(name for name in TABLES if name.split()[-1] not in ("3", "6", "10"))
KINDS = (
    *("copied_nuisance", "correlated_nuisance", "clusters_with_copies", "moons_copied_nuisance", "rare_cluster"),
    *("many_factors", "factor_nuisance", "block_and_pairs", "far_factors", "gross_cells"),
)
SETS = ("lung_small", "sorlie", "christensen", "Yale")
SET_K = 20

VARIANTS: dict[str, dict[str, Any]] = {
    "the default": {},
    "no test: all features are candidates and goal": {"structure_first": False},
    "no shortlist": {"shortlist": 1_000_000},
    "directions each alike": {},
    "directions with several modes like others": {},
    "self-loops": {"self_loops": True},
    "bandwidth by nearest neighbour": {"bandwidth": "nearest"},
    "graph on the units' outputs": {"graph_on": "concrete"},
    "the graph decodes alone": {},
    "a network decodes": {"decoder": "network"},
    "no exchanges": {"max_exchanged": 0},
    "directions may have no feature": {},
    "far cells as they are": {},
    "learning rate 0.3": {"selector_lr": 0.3},
}
"""What is taken back, and the fields of the recipe that do it; what has none is patched."""


@contextmanager
def _taken_back(variant: str) -> Iterator[None]:
    power = 0.0 if variant == "directions each alike" else directions.POWER
    gain = 1.0 if variant == "directions with several modes like others" else directions.MODAL_GAIN
    terms = {"reconstruction": Term(_by_the_graph)} if variant == "the graph decodes alone" else {}
    represent: Any = refine.represent_directions
    if variant == "directions may have no feature":
        represent = _unchanged
    with (
        patch.object(directions, "POWER", power),
        patch.object(directions, "MODAL_GAIN", gain),
        patch.object(sample, "FAR", 1e9 if variant == "far cells as they are" else sample.FAR),
        patch.object(refine, "represent_directions", represent),
        patch.dict(TERMS, terms),
    ):
        yield


def _unchanged(_: Any, selected: Any) -> Any:
    return selected


def _by_the_graph(view: View) -> Any:
    return reconstruction(replace(view, linear=None))


def trials(methods: Iterable[str]) -> list[Trial]:
    """Return every table and set with every variant."""
    tables = [*PAPER_TABLES, *KINDS, *SETS]
    return [{"method": method, "table": table, "seed": seed} for method, seed, table in product(methods, SEEDS, tables)]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Fit once and compare with the answer, or score with labels."""
    variant, table, seed = trial["method"], trial["table"], trial["seed"]
    begun = time.perf_counter()
    if table in SETS:
        X, y = load(table)
        found: Row = score_selection(X, y, _fit(variant, SET_K, X, seed), seed)
    elif table in TABLES:
        made = TABLES[table](seed + 500)
        k = len(set(made.groups.tolist()) - {-1})
        found = {"share": made.groups_found(_fit(variant, k, made.X, seed)) / k}
    else:
        planted = planted_table(table, seed + 500)
        found = {"share": planted.share_found(_fit(variant, planted.k, planted.X, seed))}
    return found | {"seconds": round(time.perf_counter() - begun, 2)}


def _fit(variant: str, k: int, X: Any, seed: int) -> Any:
    with _taken_back(variant):
        return LSCAE(k, recipe=Recipe(**VARIANTS[variant]), random_state=seed).fit(X).selected_


def write_page(rows: Rows, page: Path = DOCS / "deviations.md") -> Path:
    """Write the table of what is lost without each departure."""
    return replace_parts(page, {"departures": summary(rows).markdown()})


def summary(rows: Rows) -> Table:
    """Make the table: shares found on planted tables, and scores on real sets."""
    headings = ["taken back", "the paper's tables", "other planted tables", "k-means", "NMI", "5-NN", "R²"]
    return Table("departures", "Departures", headings, [_line(rows, variant) for variant in VARIANTS])


def _line(rows: Rows, variant: str) -> list[str]:
    own = select_rows(rows, method=variant)
    shares = [[row["share"] for row in own if row["trial"]["table"] in some] for some in (PAPER_TABLES, KINDS)]
    cells = [f"{np.mean(part):.2f}" if part else "–" for part in shares]
    scored = [row for row in own if row["trial"]["table"] in SETS]
    for score in ("kmeans_accuracy", "nmi", "knn_accuracy", "r2"):
        cells.append(f"{100 * np.mean([row[score] for row in scored]):.1f}" if scored else "–")
    return [variant, *cells]


def describe(row: Row) -> str:
    """Return a line about a row."""
    return f"{' '.join(map(str, row['trial'].values()))}: {row.get('share', row.get('nmi'))}"


BENCH = Bench("departures", tuple(VARIANTS), trials, work, describe, write_page)

if __name__ == "__main__":
    sys.exit(BENCH.main())
