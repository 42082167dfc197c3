"""``python -m benchmarks``: all comparisons with peers, one after the other."""

from benchmarks import baselines, training

training.main()
print()
baselines.main([])
