"""
Which picks are stable?
=======================

Fit the selector to many halves of the rows, and count how often each feature is chosen.
"""

# %%
# ``StructurePursuit`` takes milliseconds; longer fits are shared among cores by :func:`tamis.fit_many`.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from tamis import StructurePursuit

data = load_breast_cancer()
rng = np.random.default_rng(0)
halves = [rng.permutation(len(data.data))[: len(data.data) // 2] for _ in range(40)]
chosen = np.array([StructurePursuit(6).fit(data.data[rows]).support_ for rows in halves])

# %%
# Where features are nearly copies, such as the radius, the perimeter and the area of a nucleus, halves differ in which
# of them they take: that is no lack of structure, but a choice between equals.

share = chosen.mean(axis=0)
order = np.argsort(-share)[:14]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.barh(np.arange(len(order)), share[order], color="#0072B2")
ax.set_yticks(np.arange(len(order)), data.feature_names[order])
ax.invert_yaxis()
ax.set(xlabel="share of 40 halves in which it is selected")
