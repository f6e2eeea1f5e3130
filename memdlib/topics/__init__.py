"""Topics: pLSA, and what its models say of a document as numbers for a classifier."""

from memdlib.topics.embedding import GenerativeEmbedding
from memdlib.topics.plsa import PLSA, fold_in
from memdlib.topics.scores import (
    fisher_scores,
    free_energy_terms,
    log_likelihoods,
    maxent_scores,
    posterior_divergences,
)

__all__ = [
    "PLSA",
    "GenerativeEmbedding",
    "fisher_scores",
    "fold_in",
    "free_energy_terms",
    "log_likelihoods",
    "maxent_scores",
    "posterior_divergences",
]
