"""The ledger: published numbers, results, claims and what they come to."""
