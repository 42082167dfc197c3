"""Speed, memory and robustness of whole fits, as ratios within one run."""
