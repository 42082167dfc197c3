"""
Words of texts
==============

Texts are sparse tables with a feature for each word. Here the texts are the docstrings of numpy, scipy and
scikit-learn, and the words that carry the structure are asked for; the matrix stays sparse.
"""

# %%
# One text for each public function or class with a docstring.

import inspect

import matplotlib.pyplot as plt
import numpy as np
import scipy.signal
import scipy.stats
import sklearn.datasets
import sklearn.ensemble
import sklearn.metrics
from sklearn.feature_extraction.text import TfidfVectorizer

from tamis import LSCAE

modules = [np.linalg, scipy.signal, scipy.stats, sklearn.metrics, sklearn.ensemble, sklearn.datasets]
texts, sources = [], []
for module in modules:
    for name in module.__all__:
        text = inspect.getdoc(getattr(module, name)) or ""
        if len(text) > 400:
            texts.append(text)
            sources.append(module.__name__)
vectorizer = TfidfVectorizer(min_df=8, max_df=0.5, stop_words="english", token_pattern=r"[a-z]{4,}")
X = vectorizer.fit_transform(texts)
words = vectorizer.get_feature_names_out()
X.shape

# %%
# Fifteen words, and how often each module uses them.

selector = LSCAE(n_features_to_select=15, random_state=0).fit(X)
chosen, sources = selector.selected_, np.array(sources)
names = [module.__name__ for module in modules]
share = np.array([np.asarray((X[sources == name][:, chosen] > 0).mean(axis=0)).ravel() for name in names])
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
image = ax.imshow(share, cmap="viridis", vmin=0, vmax=1)
ax.set_xticks(range(len(chosen)), words[chosen], rotation=60, ha="right")
ax.set_yticks(range(len(modules)), names)
figure.colorbar(image, label="share of texts with the word", shrink=0.7)
