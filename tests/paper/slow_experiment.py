"""Run as a script: twelve slow trials, each noted in a second file when it begins."""

import sys
import time
from pathlib import Path

from tamis.paper import runner
from tamis.paper.experiment import Experiment

COUNT = 12


def slow_experiment(log: Path, pause: float) -> Experiment:
    def work(trial, parent):
        with log.open("a") as file:
            file.write(f"{trial['seed']}\n")
        time.sleep(pause)
        return {"score": trial["seed"] ** 2}

    trials = [{"seed": seed} for seed in range(COUNT)]
    return Experiment("slow", "Slow", "?", lambda quick: trials, work, lambda rows: "")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    chosen = slow_experiment(folder / "begun.txt", 0.05)
    runner.experiment = lambda name: chosen
    for _ in runner.Run("slow", folder).go():
        pass
