"""Sentences of the README that hold numbers: ``python -m research.readme`` writes them from the kept rows."""

import json
from pathlib import Path
from statistics import fmean

from research.ledger import Ledger
from research.pages import replace_parts
from research.planted import tables
from research.planted.seeds import HALVES

ROOT = Path(__file__).parents[1]
PLANTED = ROOT / "research" / "planted" / "results"


def found() -> str:
    """Return how many informative features of planted tables are found, by LSCAE and by the best simple rival."""
    shares, rows = {}, []
    for name in ("lscae", "structure-pursuit", "random", *tables.SIMPLE):
        rows = tables.in_half(Ledger(PLANTED / "fits" / f"{name}.jsonl").rows(), HALVES[1])
        shares[name] = fmean(row["share_found"] for row in rows)
    own, pursuit = shares.pop("lscae"), shares.pop("structure-pursuit")
    rival, kinds = max(shares, key=shares.__getitem__), {row["trial"]["kind"] for row in rows}
    return (
        f"- **It finds what is there.** Of the informative features of {len(rows)} random tables of {len(kinds)} "
        f"kinds, `LSCAE` finds {own:.0%}, `StructurePursuit` {pursuit:.0%}, the best simple rival ({rival}) "
        f"{shares[rival]:.0%} and a random choice {shares['random']:.0%}: [planted tables](docs/planted.md)."
    )


def noise() -> str:
    """Return how many selections from noise are trusted."""
    rows = Ledger(PLANTED / "noise_verdicts.jsonl").rows()
    methods, trusted = {row["trial"]["method"] for row in rows}, sum(row["trusted"] for row in rows)
    return (
        f"- **Noise is said to be noise.** `verdict_` judges every method alike: of {len(rows)} selections that "
        f"{len(methods)} methods made from noise, {trusted} are called trustworthy: "
        "[trust and verdicts](docs/guides/trust.md)."
    )


def files() -> str:
    """Return what came of damaged files."""
    rows = json.loads((ROOT / "docs" / "reliability" / "fuzz.json").read_text())["rows"].values()
    total = sum(sum(row.values()) for row in rows)
    good = sum(row.get("read", 0) + row.get("clean error", 0) for row in rows)
    return (
        f"- **Files are not trusted.** Of {total:,} damaged files, {good:,} were read or refused in a sentence, "
        f"{total - good:,} crashed, hung or took all memory: [reliability](docs/reliability.md)."
    )


def main(readme: Path = ROOT / "README.md") -> Path:
    """Write the sentences."""
    return replace_parts(readme, {"found": found(), "noise": noise(), "files": files()})


if __name__ == "__main__":
    print(main())
