"""The command line: the only part that touches the terminal, the clock, argv and output files."""
