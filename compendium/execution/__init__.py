"""Execution: chapters and experiments, from their sources to stored notebooks."""
