"""One experiment of the paper per file, each with an ``EXPERIMENT``; :mod:`research.paper.catalogue` lists them."""
