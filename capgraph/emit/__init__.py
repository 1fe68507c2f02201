"""The backends: each turns a plan, its results and the findings into the bytes of one file."""
