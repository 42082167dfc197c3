"""One cause at a time: LSCAE with a single parameter changed, on tables whose answer is known.

Run: python -m experiments.planted            (does what is missing)
     python -m experiments.planted page       (writes docs/design-notes/one-cause-at-a-time.md and its plot)
"""

import sys
import time
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np

from experiments import ledger
from experiments.pages import bar_chart, write_page
from tamis import LSCAE
from tamis.neural import polish
from tamis.synthetic import PlantedTable, blobs_with_copies, moons_with_copies, moons_with_uniform

SEEDS = range(100, 103)

TABLES = {
    "moons, 15 nuisance, exact copies": lambda seed: moons_with_copies(15, seed),
    "moons, 15 nuisance, near copies": lambda seed: moons_with_copies(15, seed, nuisance_copy_noise=0.05),
    "moons, 50 uniform nuisance": lambda seed: moons_with_uniform(50, seed),
    "blobs, 100 nuisance": lambda seed: blobs_with_copies(100, seed),
}

CHANGES: dict[str, dict[str, Any]] = {
    "the defaults": {},
    "one restart": {"n_init": 1},
    "error balanced, not its odds": {"balance": "error"},
    "unweighted reconstruction": {"weighted_reconstruction": False},
    "error balanced, unweighted": {"balance": "error", "weighted_reconstruction": False},
    "score does not fade": {"score_weight": (1.0, 1.0)},
    "score fades to nothing": {"score_weight": (1.0, 0.0)},
    "reconstruction without ramp": {"reconstruction_warmup": 0.0},
    "diffusion time chosen": {"diffusion_steps": "auto"},
    "diffusion time 8": {"diffusion_steps": 8},
    "no screening": {"screening": False},
    "a network decodes": {"decoder": "network"},
    "a network decodes, no screening": {"decoder": "network", "screening": False},
    "no exchanges": {},
    "neither exchanges nor screening": {"screening": False},
    "bandwidth by nearest neighbour": {"bandwidth": "nearest"},
    "bandwidth half as wide": {"bandwidth": ("mean", 0.025)},
    "bandwidth twice as wide": {"bandwidth": ("mean", 0.1)},
    "self-loops": {"self_loops": True},
    "score not normalised": {"normalize_score": False},
    "graph on the units' outputs": {"graph_on": "concrete"},
    "graph of 64 rows": {"batch_size": 64, "max_epochs": 16},
    "exponential annealing": {"annealing": "exponential"},
    "selector lr 0.03": {"selector_lr": 0.03},
    "selector lr 0.1": {"selector_lr": 0.1},
    "selector lr 1": {"selector_lr": 1.0},
    "no redundancy penalty": {"redundancy_penalty": 0.0},
    "indirect logits": {"indirect_size": 32},
}


def work(table: str, change: str, seed: int) -> dict[str, Any]:
    """Fit once and compare with the answer."""
    planted: PlantedTable = TABLES[table](seed)
    k = len(set(planted.groups.tolist()) - {-1})
    start = time.perf_counter()
    most = 0 if "exchanges" in change else polish.MOST_UNITS
    with patch.object(polish, "MOST_UNITS", most):
        selector = LSCAE(k, random_state=seed, check_stability=False, **CHANGES[change]).fit(planted.X)
    return {
        "k": k,
        "groups": planted.groups_found(selector.selected_),
        "nuisance": planted.nuisance_picked(selector.selected_),
        "steps": selector.diffusion_steps_,
        "objectives": np.round(selector.restart_objectives_, 4).tolist(),
        "verdict": selector.convergence_,
        "seconds": round(time.perf_counter() - start, 2),
    }


def page() -> None:
    """Draw the share of informative groups found for every change."""
    rows = ledger.read("planted")
    shares = {
        change: {
            table: [
                row["groups"] / row["k"]
                for row in rows
                if row["trial"]["table"] == table and row["trial"]["change"] == change
            ]
            for table in TABLES
        }
        for change in CHANGES
    }
    done = {change: tables for change, tables in shares.items() if all(tables.values())}
    bar_chart(done, "share of the informative groups found", "one-cause-at-a-time.png")
    lines = ["| change | " + " | ".join(TABLES) + " |", "|---" * (len(TABLES) + 1) + "|"]
    for change, tables in done.items():
        cells = [
            f"{np.mean(values):.2f} ({sum(value == 1 for value in values)} of {len(values)})"
            for values in tables.values()
        ]
        lines.append(f"| {change} | " + " | ".join(cells) + " |")
    write_page("one-cause-at-a-time", "\n".join(lines))


def main() -> None:
    """Run what is missing and print the rows, or write the page."""
    if sys.argv[1:] == ["page"]:
        return page()
    trials = [
        {"table": table, "change": change, "seed": seed} for seed, change, table in product(SEEDS, CHANGES, TABLES)
    ]
    for row in ledger.run("planted", trials, work):
        print(*row["trial"].values(), row["groups"], row["nuisance"], row["seconds"], flush=True)
    return None


if __name__ == "__main__":
    main()
