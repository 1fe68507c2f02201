"""What `explain`, `functions`, `units` and `doctor` tell: pages as data files, and tables of the compiler."""
