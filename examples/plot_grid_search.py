"""
Search over recipes
===================

Every scientific choice of the method is a field of :class:`tamis.Recipe`, and a parameter for scikit-learn's searches.
Here two of them are varied, and a classifier on the selected features tells what each is worth.
"""

# %%
# Labels take part in the choice of settings only; every selection is made without them.

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from tamis import LSCAE
from tamis.synthetic import moons_with_copies

table = moons_with_copies(n_nuisance=6, seed=0, n_samples=300)
model = make_pipeline(LSCAE(2, random_state=0), KNeighborsClassifier())
grid = {"lscae__recipe__self_loops": [False, True], "lscae__recipe__structure_first": [True, False]}
search = GridSearchCV(model, grid, cv=2).fit(table.X, table.labels)
search.best_params_

# %%
# Self-loops in the graph hide the structure, unless the features were tested for it first.

results = pd.DataFrame(search.cv_results_)
scores = results.pivot(
    index="param_lscae__recipe__self_loops", columns="param_lscae__recipe__structure_first", values="mean_test_score"
)
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
scores.plot.bar(rot=0, ylim=(0.5, 1.02), color=["#E69F00", "#0072B2"], ax=ax)
ax.set(xlabel="self-loops", ylabel="accuracy, 2 folds")
ax.legend(title="structure first", loc="lower left")
