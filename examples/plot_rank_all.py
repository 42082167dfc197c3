"""
A ranking of all features
=========================

``ranking_`` orders all features, not only the selected ones: the curve of what the first k explain compares whole
rankings.
"""

# %%
# Three rankings of 30 measurements of nuclei.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from tamis import CurveDisplay, LaplacianScore, StructurePursuit, VarianceScore

X = load_breast_cancer().data
selectors = {
    "structure pursuit": StructurePursuit(15),
    "Laplacian score": LaplacianScore(15),
    "variance": VarianceScore(15),
}

# %%
# Features that tell the same do not add up: a ranking by score alone takes many of them first.

figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for (name, selector), colour in zip(selectors.items(), ("#0072B2", "#E69F00", "#009E73"), strict=True):
    CurveDisplay.from_estimator(selector.fit(X), X, ax=ax)
    ax.lines[-1].set(color=colour, label=name)
ax.legend()
