"""Run by torchrun in the tests: fit LSCAE in the group of all processes; every one writes what it found.

Arguments: a .npy file, a folder for results, parameters as JSON, and "stream" to read the file in pieces. With a
parameter "kill" [rank, epoch], that process kills itself there, unless it has been started again.
"""

import json
import os
import signal
import sys
from pathlib import Path

import numpy as np

from tamis import LSCAE, open_source
from tamis.cli.processes import together
from tamis.io.sources import source
from tamis.lscae import rows

path, folder, parameters = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
rank = int(os.environ["RANK"])
victim = parameters.pop("kill", None)


def stumble(epoch):
    if victim == [rank, epoch.number] and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
        os.kill(os.getpid(), signal.SIGKILL)


if "stream" in sys.argv:
    source.BLOCK_BYTES, rows.BUFFER_BYTES = 40 * 80, 160 * 80
    X = open_source(path)
else:
    X = np.load(path)
with together():
    selector = LSCAE(**parameters, callbacks=stumble).fit(X)
found = {
    "selected": selector.selected_.tolist(),
    "objective": selector.objective_,
    "probabilities": selector.selection_probs_.tolist(),
    "peaks": selector.history_["peak_probability"].tolist(),
    "decoder": float(sum(np.abs(value).sum() for value in selector.decoder_weights_.values())),
    "restarts": int(os.environ["TORCHELASTIC_RESTART_COUNT"]),
}
(folder / f"{rank}.json").write_text(json.dumps(found))
