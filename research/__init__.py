"""Experiments around tamis, outside the wheel: trials become rows of text, and pages are made from rows."""
