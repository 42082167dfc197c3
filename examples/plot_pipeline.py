"""
A step in a pipeline: cluster on few features
=============================================

Selectors are scikit-learn transformers. Here k-means runs on all features and on those selected, of a table in which
most features are noise.
"""

# %%
# Four clusters in five features, three noisy copies of each, and 80 of noise.

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamis import LSCAE, LaplacianScore, RandomSubset, StructurePursuit, VarianceScore
from tamis.synthetic import blobs_with_copies

table = blobs_with_copies(n_nuisance=80, seed=0, n_samples=400)
selectors = {
    "all features": "passthrough",
    "random": RandomSubset(5, random_state=0),
    "variance": VarianceScore(5),
    "Laplacian score": LaplacianScore(5),
    "structure pursuit": StructurePursuit(5),
    "LSCAE": LSCAE(5, random_state=0),
}
scores = {}
for name, selector in selectors.items():
    model = make_pipeline(selector, StandardScaler(), KMeans(4, n_init=5, random_state=0))
    scores[name] = adjusted_rand_score(table.labels, model.fit_predict(table.X))

# %%
# The pipeline is shown with its selector.

model

# %%
# Agreement of the clusters with the planted ones.

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.barh(list(scores), list(scores.values()), color="#0072B2")
ax.invert_yaxis()
ax.set(xlabel="adjusted Rand index")
