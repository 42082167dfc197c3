"""
Categories are selected as wholes
=================================

The levels of a category are features of their own after one-hot encoding. ``groups`` selects or leaves out all of them
together; k counts groups.
"""

# %%
# Customers of three kinds: the plan and the region are categories, of which the region has nothing to do with the rest.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from tamis import StructurePursuit

rng = np.random.default_rng(0)
kind = rng.integers(3, size=500)
customers = pd.DataFrame(
    {
        "plan": np.where(rng.random(500) < 0.85, np.array(["basic", "standard", "premium"])[kind], "basic"),
        "region": rng.choice(["north", "south", "east", "west"], 500),
        "visits": rng.poisson(4 + 6 * kind),
        "minutes": 20 + 15 * kind + 10 * rng.standard_normal(500),
        "shoe_size": rng.normal(42, 2, 500),
    }
)
X = pd.get_dummies(customers, dtype=float)
groups = [name.split("_")[0] if name.startswith(("plan", "region")) else name for name in X.columns]
selector = StructurePursuit(2, groups=groups).fit(X)
selector.selected_groups_

# %%
# Evidence of each feature; the levels of a category have that of the category.

frame = selector.structure_.to_frame()
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.barh(
    frame.index, -np.log10(frame["pvalue"].clip(lower=1e-16)), color=np.where(frame["structured"], "#0072B2", "#999999")
)
ax.invert_yaxis()
ax.set(xlabel="−log₁₀ p; blue: above chance")
