"""A guard against slow code: whole default fits relative to the Laplacian score on the same table.

``python -m research.speed guard`` compares with the kept ratios, and fails where one is 1.5 times worse. Ratios of the
same code differ between processors, by up to 1.7, so the largest of those measured is kept: ``--write`` keeps those of
now where they are larger. Without the file of kept ratios it begins anew.
"""

import json
from pathlib import Path

from research.speed.growth import grouped_table
from research.speed.measure import fit_cpu_seconds

KEPT = Path(__file__).with_name("results") / "guard.json"
TABLES = {
    "600 × 100, k = 10": (600, 100, 10),
    "150 × 2,000, k = 20": (150, 2000, 20),
    "3,000 × 200, k = 50": (3000, 200, 50),
}
METHODS = ("lscae", "structure-pursuit")
LIMIT, TURNS = 1.5, 4


def ratios() -> dict[str, float]:
    """Measure the ratio of every method and table, the methods alternating."""
    found: dict[str, float] = {}
    for name, (n, d, k) in TABLES.items():
        X, best = grouped_table(n, d, seed=0), dict[str, float]()
        for _ in range(TURNS):
            for method in (*METHODS, "laplacian-score"):
                best[method] = min(fit_cpu_seconds(method, X, k), best.get(method, float("inf")))
        found |= {f"{method}, {name}": best[method] / best["laplacian-score"] for method in METHODS}
    return found


def guard(write: bool) -> int:
    """Print the ratios beside the kept ones; return 1 if one is much worse."""
    found, kept = ratios(), json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if write:
        kept = {name: max(round(ratio, 2), kept.get(name, 0.0)) for name, ratio in found.items()}
        KEPT.write_text(json.dumps(kept, indent=2) + "\n")
    slow = [name for name, ratio in found.items() if ratio > LIMIT * kept[name]]
    for name, ratio in found.items():
        print(f"{name}: {ratio:.1f} × laplacian-score, kept {kept[name]:.1f}{'  TOO SLOW' if name in slow else ''}")
    return 1 if slow else 0
