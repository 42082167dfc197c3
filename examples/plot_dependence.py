"""
What counts as structure
========================

A feature carries structure if it depends on another one, in any of several ways, or has several modes.
"""

# %%
# Six pairs: a line, a parabola, a ring, two clusters, one feature with two modes beside noise, and two of noise.

import matplotlib.pyplot as plt
import numpy as np

from tamis import find_structure

rng = np.random.default_rng(0)
n = 600
x, noise, angle = rng.standard_normal(n), rng.standard_normal((n, 12)), rng.uniform(0, 2 * np.pi, n)
side = rng.choice([-3.0, 3.0], n)
pairs = {
    "line": (x, x + noise[:, 0]),
    "parabola": (noise[:, 1], noise[:, 1] ** 2 + noise[:, 2]),
    "ring": (3 * np.cos(angle) + 0.3 * noise[:, 3], 3 * np.sin(angle) + 0.3 * noise[:, 4]),
    "clusters": (side + noise[:, 5], side + noise[:, 6]),
    "two modes": (rng.choice([-3.0, 3.0], n) + noise[:, 7], noise[:, 8]),
    "noise": (noise[:, 9], noise[:, 10]),
}
X = np.column_stack([feature for pair in pairs.values() for feature in pair])
structure = find_structure(X, random_state=0)

# %%
# Axes of features above chance are labelled.

figure, axes = plt.subplots(2, 3, figsize=(8, 5), layout="constrained")
for number, (ax, (name, (a, b))) in enumerate(zip(axes.flat, pairs.items(), strict=True)):
    ax.scatter(a, b, 4, color="#0072B2")
    words = ["structured" if structure.structured[2 * number + i] else "chance" for i in range(2)]
    ax.set(title=name, xlabel=words[0], ylabel=words[1], xticks=[], yticks=[])
