"""Speed of memdlib as ratios against named peers: ``python -m benchmarks``."""
