"""
Search over recipes
===================

Every scientific choice of the method is a field of :class:`tamis.Recipe`, and a parameter for scikit-learn's searches.
Here the number of features and the recipe are chosen by how well a regression on the selected features predicts a
target.
"""

# %%
# Labels take part in the choice of settings only; every selection is made without them.

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamis import LSCAE

X, y = load_wine(return_X_y=True)
model = make_pipeline(LSCAE(random_state=0), StandardScaler(), LogisticRegression())
grid = {"lscae__n_features_to_select": [2, 5], "lscae__recipe__self_loops": [False, True]}
search = GridSearchCV(model, grid, cv=2).fit(X, y)
search.best_params_

# %%
# Accuracy of all settings.

results = pd.DataFrame(search.cv_results_)
table = results.pivot(
    index="param_lscae__n_features_to_select", columns="param_lscae__recipe__self_loops", values="mean_test_score"
)
ax = table.plot.bar(rot=0, ylim=(0.5, 1), color=["#0072B2", "#E69F00"])
ax.set(xlabel="number of features", ylabel="accuracy, 2 folds")
ax.legend(title="self-loops", loc="lower right")
plt.tight_layout()
