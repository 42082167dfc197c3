"""
Your say: must keep, never
==========================

Features that have to be measured anyway are kept, and the others are chosen around them; features that are too
expensive are never chosen, but count as data to be explained.
"""

# %%
# What wine's selection of four becomes when alcohol is measured anyway and flavanoids cannot be.

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from tamis import CurveDisplay, StructurePursuit

X = load_wine(as_frame=True).data
free = StructurePursuit(6).fit(X)
bound = StructurePursuit(6, must_keep=["alcohol"], never=["flavanoids"]).fit(X)
list(X.columns[free.selected_]), list(X.columns[bound.selected_])

# %%
# What the restrictions cost: share of the structure that the first features explain on rows held out.

figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
CurveDisplay.from_estimator(free, X, ax=ax)
CurveDisplay.from_estimator(bound, X, ax=ax)
for line, colour, label in zip(ax.lines, ("#0072B2", "#D55E00"), ("free", "must keep, never"), strict=True):
    line.set(color=colour, label=label)
ax.legend()
