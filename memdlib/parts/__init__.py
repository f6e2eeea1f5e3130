"""Fits from data in parts, out of core or on a cluster, with the numbers of one fit."""

from memdlib.parts.chunks import ArrayChunks, ShardChunks, TableChunks
from memdlib.parts.fit import fit_parts
from memdlib.parts.predicted import Predictions, predict_chunks
from memdlib.parts.serial import fit_chunks
from memdlib.parts.work import Parts

__all__ = [
    "ArrayChunks",
    "Parts",
    "Predictions",
    "ShardChunks",
    "TableChunks",
    "fit_chunks",
    "fit_parts",
    "predict_chunks",
]
