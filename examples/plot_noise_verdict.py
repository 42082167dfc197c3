"""
Noise is said to be noise
=========================

Every method returns k features of any table, also of one that holds nothing. ``verdict_`` says of every selector
whether its list may be trusted.
"""

# %%
# A table of independent features, and another in which eight of forty depend on a common cause.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from tamis import LaplacianScore, StructureDisplay, StructurePursuit

rng = np.random.default_rng(0)
noise = rng.standard_normal((300, 40))
structured = noise.copy()
structured[:, :8] += 1.2 * rng.standard_normal((300, 1))

# %%
# The classical Laplacian score, on noise:

with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)  # StructurePursuit warns of filler
    tables = {"noise": noise, "structured": structured}
    verdicts = {name: (LaplacianScore(5).fit(X).verdict_, StructurePursuit(5).fit(X)) for name, X in tables.items()}
verdicts["noise"][0]

# %%
# And on the table with structure, where it finds what is there:

verdicts["structured"][1].verdict_

# %%
# The evidence behind both verdicts.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for ax, (name, X) in zip(axes, tables.items(), strict=True):
    StructureDisplay.from_estimator(verdicts[name][1], X, ax=ax)
    ax.set_title(name)
