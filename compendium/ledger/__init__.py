"""The ledger: published figures, results, claims and what they come to."""
