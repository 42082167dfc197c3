"""Quality of selections on real sets: every selector, four sizes, scored by labels and by reconstruction."""
