"""Run as a script: twelve slow trials, each noted in a second file when it begins."""

import sys
import time
from pathlib import Path

# The script runs with the tests' folder as its path, and research is not installed.
sys.path.insert(0, str(Path(__file__).parents[2]))

from research.ledger import Ledger
from research.runner import Runner

COUNT = 12

if __name__ == "__main__":
    folder = Path(sys.argv[1])

    def work(trial, parent):
        with (folder / "begun.txt").open("a") as file:
            file.write(f"{trial['seed']}\n")
        time.sleep(0.05)
        return {"score": trial["seed"] ** 2}

    for _ in Runner(Ledger(folder / "slow.jsonl"), work).run([{"seed": seed} for seed in range(COUNT)]):
        pass
