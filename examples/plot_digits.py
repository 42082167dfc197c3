"""
Twenty pixels of handwritten digits
===================================

Which 20 of 64 pixels tell the digits apart, and how much of an image do they hold?
"""

# %%
# Pixels at the margin are constant, or nearly so, and are left out.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from tamis import LSCAE

X, y = load_digits(return_X_y=True)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)  # constant pixels
    selector = LSCAE(n_features_to_select=20, random_state=0).fit(X[:700])

# %%
# ``reconstruct`` computes all pixels from the selected ones, here of images that the selector has not seen.

unseen = X[700:706]
back = selector.reconstruct(selector.transform(unseen))
figure, axes = plt.subplots(3, 6, figsize=(8, 4.2), layout="constrained")
rows = (unseen, np.where(selector.support_, unseen, np.nan), back)
for row, images, title in zip(axes, rows, ("image", "20 pixels", "reconstructed"), strict=True):
    for ax, image in zip(row, images, strict=True):
        ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
    row[0].set_ylabel(title)
