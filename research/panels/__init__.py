"""Gene panels on single-cell sets: select_genes beside what people use without cell types."""
