"""Measurements: what people have on file, held against what the model says."""
