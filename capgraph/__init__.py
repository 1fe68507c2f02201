"""capgraph: a declared model of quantities in → numbers, a live workbook and a decision memo out.

The version is written here alone; the build reads it from this line.
"""

__version__ = "0.1.0"
