"""Experiments behind the defaults: one script a question; results are appended to docs/design-notes/results."""
