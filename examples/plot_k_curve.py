"""
How many features?
==================

``choose_k`` takes as few features as explain the structure of the table on rows held out. Here seven hidden causes
show in 28 features, among 60 of noise: seven features should do.
"""

# %%
# Each cause has four features of its own.

import numpy as np

from tamis import CurveDisplay, choose_k

rng = np.random.default_rng(0)
causes = rng.standard_normal((500, 7))
X = np.hstack([np.repeat(causes, 4, axis=1) + 0.5 * rng.standard_normal((500, 28)), rng.standard_normal((500, 60))])
curve = choose_k(X)
curve.k

# %%
# A second feature of a cause averages noise and adds a little; it is not worth its place.
# ``LSCAE(n_features_to_select="auto")`` and ``tamis select`` without ``-k`` take this number.

CurveDisplay.from_curve(curve)
