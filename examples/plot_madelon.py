"""
Twenty of 500 features: a table like MADELON
============================================

MADELON, of the 2003 feature selection challenge, hides 5 informative features and 15 linear combinations of them among
480 of noise. :func:`sklearn.datasets.make_classification` is its generator, and the test for structure needs no labels.
"""

# %%
# The features are not shuffled here, so that the first twenty are those to be found.

from sklearn.datasets import make_classification

from tamis import StructureDisplay, find_structure

X, _ = make_classification(
    1500, 500, n_informative=5, n_redundant=15, n_clusters_per_class=16, shuffle=False, random_state=0
)
structure = find_structure(X, random_state=0)
structure

# %%
# Evidence of all features: those above chance stand far apart from the others.

StructureDisplay(structure).plot()

# %%
# How many of the first twenty pass, and how many of the rest.

int(structure.structured[:20].sum()), int(structure.structured[20:].sum())
