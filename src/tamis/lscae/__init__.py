"""The method: a concrete layer trained on reconstruction and Laplacian score; begin to read at ``fit.py``."""
