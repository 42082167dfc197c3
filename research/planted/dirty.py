"""Planted tables with missing cells, and with features that are categories: how much is still found."""

import warnings
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.ledger import Row, Trial
from research.pages import Table, select_rows
from research.planted.fits import ALL_KINDS
from research.planted.kinds import COPIED_NUISANCE, STRUCTURED_NUISANCE, PlantedTable, planted_table
from tamis import LSCAE

MISSING = (0, 5, 20, 40)
"""Percentages of the cells that are missing, at random."""

CATEGORIES = "categories"
DIRTS = (*MISSING, CATEGORIES)
N_SEEDS, KINDS_PER_SEED, MAX_CELLS = 10, 6, 400_000
CATEGORICAL_SHARE, LEVELS = 0.2, (3, 7)


def trials(seeds: Iterable[int]) -> list[Trial]:
    """Return tables of kinds drawn at random, clean and with each kind of dirt."""
    tables = [(kind, seed) for seed in seeds for kind in kinds_of(seed)]
    every = [{"kind": kind, "seed": seed, "dirt": dirt} for (kind, seed), dirt in product(tables, DIRTS)]
    # Cut into different categories, copies of noise depend on each other.
    return [trial for trial in every if trial["dirt"] != CATEGORIES or trial["kind"] not in COPIED_NUISANCE]


def kinds_of(seed: int) -> list[str]:
    """Return some kinds whose tables of that seed are not large."""
    solved = [kind for kind in ALL_KINDS if kind not in STRUCTURED_NUISANCE]
    drawn = np.random.default_rng([2, seed]).permutation(solved).tolist()
    return [kind for kind in drawn if planted_table(kind, seed).X.size <= MAX_CELLS][:KINDS_PER_SEED]


def work(trial: Trial, parent: Row | None) -> Row:  # noqa: ARG001
    """Make the table dirty, select as many features as it has informative groups, and compare with the answer."""
    table, rng = planted_table(trial["kind"], trial["seed"]), np.random.default_rng([3, trial["seed"]])
    X, owner = table.X, np.arange(table.X.shape[1])
    if trial["dirt"] == CATEGORIES:
        X, owner = with_categories(X, rng)
    elif trial["dirt"]:
        X = np.where(rng.random(X.shape) < trial["dirt"] / 100, np.nan, X)
    groups = owner if trial["dirt"] == CATEGORIES else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = LSCAE(table.k, groups=groups, random_state=trial["seed"]).fit(X)
    chosen = np.unique(owner[selector.support_])
    found = {"shape": list(X.shape), "share_found": table.share_found(chosen)}
    return found if groups is None else found | _categories(table, owner, selector)


def with_categories(X: NDArray[Any], rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Replace a fifth of the features by indicators of their quantiles; return the table and the feature of each."""
    blocks: list[NDArray[Any]] = []
    for x in X.T:
        edges = np.unique(np.quantile(x, np.linspace(0, 1, rng.integers(*LEVELS) + 1))[1:-1])
        codes, is_categorical = np.searchsorted(edges, x), rng.random() < CATEGORICAL_SHARE
        blocks.append((codes[:, None] == np.unique(codes)).astype(float) if is_categorical else x[:, None])
    return np.hstack(blocks), np.repeat(np.arange(X.shape[1]), [block.shape[1] for block in blocks])


def _categories(table: PlantedTable, owner: NDArray[np.intp], selector: LSCAE) -> Row:
    """Return how many informative categories there are, how many are called structured, and if all are whole."""
    categories = np.flatnonzero((np.bincount(owner) > 1) & (table.groups >= 0))
    structured = np.array([selector.structure_.structured[owner == feature].any() for feature in categories])
    whole = all(len(set(selector.support_[owner == feature])) == 1 for feature in np.unique(owner))
    return {"n_categories": len(categories), "n_structured": int(structured.sum()), "whole": whole}


def describe(row: Row) -> str:
    """Return a line about a row."""
    return f"{' '.join(map(str, row['trial'].values()))} {row['shape']}: {row['share_found']:.2f}"


def page_table(rows: Sequence[Row]) -> Table:
    """Return the means over all tables, relative to the same ones when clean."""
    clean, lines = {_key(row): row["share_found"] for row in select_rows(rows, dirt=0)}, []
    for dirt in DIRTS:
        found = select_rows(rows, dirt=dirt)
        if found:
            label = "a fifth of the features categories" if dirt == CATEGORIES else f"{dirt} % of the cells missing"
            share = np.mean([row["share_found"] for row in found])
            before = np.mean([clean[_key(row)] for row in found])
            lines.append([label, str(len(found)), f"{share:.3f}", f"{share / before:.3f}"])
    return Table("dirty", "Dirty tables", ["table", "tables", "found", "relative"], lines)


def categories_found(rows: Sequence[Row]) -> str:
    """Return a sentence about the informative categories."""
    found = select_rows(rows, dirt=CATEGORIES)
    total, structured = (sum(row[name] for row in found) for name in ("n_categories", "n_structured"))
    whole = "every category was chosen or left as a whole" if all(row["whole"] for row in found) else "some were parted"
    return f"Of {total} informative categories {structured} were called structured; {whole}."


def _key(row: Row) -> tuple[str, int]:
    return row["trial"]["kind"], row["trial"]["seed"]
