"""Spreadsheet programs that calculate our workbooks again, from the formulas alone."""
