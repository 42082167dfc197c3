"""
Missing cells
=============

NaN is a missing cell: it counts neither as evidence nor as a distance, and needs no imputation before the fit.
"""

# %%
# Cells of a planted table are removed at random, and the selection is made as before.

import matplotlib.pyplot as plt
import numpy as np

from tamis import StructurePursuit
from tamis.synthetic import blobs_with_copies

table = blobs_with_copies(n_nuisance=60, seed=1, n_samples=400)
informative = np.flatnonzero(table.groups >= 0)
rng = np.random.default_rng(0)
shares, found = np.linspace(0, 0.4, 9), []
for share in shares:
    X = np.where(rng.random(table.X.shape) < share, np.nan, table.X)
    selected = StructurePursuit(5).fit(X).selected_
    found.append(len(np.unique(table.groups[np.intersect1d(selected, informative)])))

# %%
# How many of the five hidden features are represented, themselves or by a copy.

figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.plot(100 * shares, found, "o-", color="#0072B2")
ax.set(xlabel="missing cells, %", ylabel="of five structures found", ylim=(0, 5.3))
