"""One experiment of the paper per file, each with an ``EXPERIMENT``; :mod:`tamis.paper.catalogue` lists them."""
