"""The formula language: one closed tree, one open table of functions, one printer per notation."""
