"""Trials: claims about the artifact that take too long for every run of the tests."""
