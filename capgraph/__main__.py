"""`python -m capgraph`."""

from capgraph.cli.main import run

run()
