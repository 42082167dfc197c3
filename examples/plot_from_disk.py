"""
A table that stays on disk
==========================

Tables larger than memory are read in pieces: ``.npy``, Parquet, ``.h5ad``, Zarr, or your own source of rows.
"""

# %%
# A file of 8,000 rows; only batches of it are in memory during the fit.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from tamis import LSCAE, open_source
from tamis.synthetic import blobs_with_copies

table = blobs_with_copies(n_nuisance=40, seed=0, n_samples=8_000)
path = Path(tempfile.mkdtemp()) / "table.npy"
np.save(path, table.X)
selector = LSCAE(n_features_to_select=5, random_state=0).fit(open_source(path))
[table.names[j] for j in selector.selected_]

# %%
# How training went: J falls while the temperature does.

history = selector.history_
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.plot(history["epoch"], history["objective"], color="#0072B2")
ax.set(xlabel="epoch", ylabel="J")
