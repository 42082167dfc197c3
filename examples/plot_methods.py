"""
Methods side by side
====================

All selectors have the same interface, so that they can be compared in a loop: how many of the informative features of
a planted table does each find?
"""

# %%
# Two moons with a noisy copy of each coordinate, among 2 × 10 features of noise that are copies of each other.

import matplotlib.pyplot as plt
import numpy as np

from tamis import SELECTORS
from tamis.synthetic import moons_with_copies

table = moons_with_copies(n_nuisance=10, seed=1, n_samples=400)
names = ["lscae", "structure-pursuit", "laplacian-score", "spec", "mcfs", "udfs", "ndfs", "variance"]
found = {}
for name in names:
    selector = SELECTORS[name](n_features_to_select=2)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=0)
    selected = selector.fit(table.X).selected_
    found[name] = len({group for group in table.groups[selected] if group >= 0})

# %%
# Of the two coordinates, themselves or their copies; ``tamis compare`` makes such a comparison of a file.

figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
ax.barh(list(found), list(found.values()), color="#0072B2")
ax.invert_yaxis()
ax.set(xlabel="of two coordinates found", xticks=np.arange(3))
