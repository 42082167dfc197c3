"""``python -m benchmarks``: all comparisons with peers, one after the other."""

import sys

from benchmarks import baselines, performance

performance.main(sys.argv[1:])
print()
baselines.main([])
