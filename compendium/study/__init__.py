"""Studies: protocols, preparations, peers and stability, with scikit-learn only."""
