"""Pooled second moments: whitened, regularised, and the penalised discriminant."""
