"""MeMd itself: one feature at a time, whole documents, or all features jointly."""
