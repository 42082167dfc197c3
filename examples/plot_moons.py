"""
Two moons among nuisance and copies
===================================

Sixteen features: the two coordinates of two moons, a noisy copy of each, six features of noise and an exact copy of
each of these. Which two carry the structure?
"""

# %%
# Copied noise is the hard part: two copies reconstruct each other, so that methods that reward reconstruction alone
# take them. ``LSCAE`` tests each feature for dependence first, where copies are no evidence for each other.

import matplotlib.pyplot as plt

from tamis import LSCAE
from tamis.synthetic import moons_with_copies

table = moons_with_copies(n_nuisance=6, seed=0, n_samples=600)
selector = LSCAE(n_features_to_select=2, random_state=0).fit(table.X)
[table.names[j] for j in selector.selected_]

# %%
# The selector says whether its own answer may be trusted.

selector.verdict_

# %%
# The two features, beside two of the noise.

figure, axes = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
for ax, (i, j) in zip(axes, (selector.selected_, (4, 5)), strict=True):
    ax.scatter(table.X[:, i], table.X[:, j], 8, table.labels, cmap="coolwarm")
    ax.set(xlabel=table.names[i], ylabel=table.names[j])
