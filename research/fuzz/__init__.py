"""Damaged files of every format that tamis reads, and what becomes of them."""
