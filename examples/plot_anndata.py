"""
A gene panel from an AnnData object
===================================

``tamis.select_genes`` writes a panel into ``adata.var``, as scanpy does, and ``evaluate_panel`` compares it with random
and highly variable genes.
"""

# %%
# Counts of 300 genes in 400 cells of five types, each with eight markers.

import anndata
import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

import tamis

rng = np.random.default_rng(0)
types = rng.integers(5, size=400)
rates = np.tile(rng.gamma(1.0, 1.0, 300), (400, 1))
for kind in range(5):
    rates[np.ix_(types == kind, range(8 * kind, 8 * kind + 8))] += 4
depth = rng.uniform(0.5, 1.5, (400, 1))
adata = anndata.AnnData(
    csr_matrix(rng.poisson(rates * depth).astype(np.float32)),
    obs=pd.DataFrame(
        {"cell_type": pd.Categorical([f"type {kind}" for kind in types])}, index=[f"c{i}" for i in range(400)]
    ),
    var=pd.DataFrame(index=[f"marker{j // 8}_{j % 8}" if j < 40 else f"gene{j}" for j in range(300)]),
)
tamis.select_genes(adata, 10, random_state=0)
adata.var.query("tamis_selected").sort_values("tamis_rank")[["tamis_rank", "tamis_score", "tamis_programme"]]

# %%
# Mean expression of the panel in the cell types, which took no part in choosing it.

tamis.pl.panel_heatmap(adata, "cell_type")

# %%
# The panel beside random and highly variable ones of its size; larger is better.

panel = adata.var_names[adata.var["tamis_selected"]]
tamis.pl.panel_comparison(tamis.evaluate_panel(adata, panel, cell_type_key="cell_type"))
