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
# The first two of them, of every tenth row.

i, j = selector.selected_[:2]
figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.scatter(table.X[::10, i], table.X[::10, j], 5, table.labels[::10], cmap="viridis")
ax.set(xlabel=table.names[i], ylabel=table.names[j])
