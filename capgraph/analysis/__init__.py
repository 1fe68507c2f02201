"""The analyses: what a plan's numbers say about its decision."""
