"""Planted tables: how often methods find the features that carry structure."""
