"""
Impute all features from a panel
================================

Measure few features, compute the others: ``reconstruct`` predicts all features, in the units of the table, from the
selected ones.
"""

# %%
# Half of the rows choose six of thirty measurements of nuclei; the other half shows what they tell about the rest.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import r2_score

from tamis import LSCAE

data = load_breast_cancer(as_frame=True).data
known, unseen = data.iloc[::2], data.iloc[1::2]
selector = LSCAE(n_features_to_select=6, random_state=0).fit(known)
back = selector.reconstruct(selector.transform(unseen))
list(data.columns[selector.selected_])

# %%
# R² of every feature that was not selected, on rows held out.

others = ~selector.support_
quality = r2_score(unseen.loc[:, others], back[:, others], multioutput="raw_values")
order = np.argsort(quality)
figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
ax.barh(data.columns[others][order], quality[order], color="#0072B2")
ax.set(xlabel="R² on rows held out", xlim=(min(0, quality.min()), 1))
