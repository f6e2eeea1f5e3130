"""Speed against named peers, and counts of random cases: ``python -m benchmarks``."""
