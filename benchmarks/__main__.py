"""``python -m benchmarks``: all comparisons with peers, one after the other."""

from benchmarks import baselines, performance

performance.main(["anew"])
print()
baselines.main([])
