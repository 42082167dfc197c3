"""
Many features, few rows: a microarray
=====================================

Expression of 1,500 genes in 80 samples. Six pathways of ten genes each move together, in two of them differently in
the two kinds of samples; the rest is noise on the scale that such arrays have.
"""

# %%
# The table is made here, so that it is known which genes belong to a pathway.

import numpy as np
import pandas as pd

from tamis import LSCAE, SelectionDisplay

rng = np.random.default_rng(0)
kind, pathways = rng.integers(2, size=80), rng.standard_normal((80, 6))
pathways[:, :2] += 2 * kind[:, None]
expression = rng.standard_normal((80, 1500))
expression[:, :60] += np.repeat(1.5 * pathways, 10, axis=1)
names = [f"pathway{j // 10}_gene{j % 10}" if j < 60 else f"gene{j}" for j in range(1500)]
X = pd.DataFrame(np.exp(expression), columns=names)

# %%
# The test looks at ranks, so that the skewed scale does not matter. Six genes are asked for, and each of them stands
# for another pathway or for what several share.

selector = LSCAE(n_features_to_select=6, random_state=0).fit(np.log(X))
SelectionDisplay.from_estimator(selector)

# %%
# What was found before anything was trained.

selector.structure_
