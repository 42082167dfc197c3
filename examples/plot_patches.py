"""
Pixels of photographs
=====================

Patches of 12 × 12 pixels from two photographs: neighbouring pixels are nearly copies of each other, so that a good
selection spreads over the patch, and one by variance does not care.
"""

# %%
# A thousand patches in grey.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_images
from sklearn.feature_extraction.image import extract_patches_2d

from tamis import StructurePursuit, VarianceScore

photographs = [image.mean(axis=2) for image in load_sample_images().images]
patches = [extract_patches_2d(image, (12, 12), max_patches=500, random_state=0) for image in photographs]
X = np.vstack(patches).reshape(1000, -1)

# %%
# ``StructurePursuit`` is the quick sibling of ``LSCAE``: it explains the same structure in closed form.

figure, axes = plt.subplots(1, 2, figsize=(7, 3.6), layout="constrained")
for ax, selector in zip(axes, (StructurePursuit(12), VarianceScore(12)), strict=True):
    selector.fit(X)
    ax.imshow(selector.support_.reshape(12, 12), cmap="Blues")
    ax.set(title=type(selector).__name__, xticks=[], yticks=[])
