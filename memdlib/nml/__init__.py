"""Normalised maximum likelihood: code lengths that choose among models."""
