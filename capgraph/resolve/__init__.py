"""Declarations → Model: every name bound, every number in its unit, every formula a tree.

In: `Joined` → Out: `Model`, or all that does not fit at once.
Invariant: what `Model` names exists; numbers are within their limits; messages and formulas have been read.
"""

from capgraph.resolve.model import resolve
from capgraph.resolve.setting import resolve_setting

__all__ = ["resolve", "resolve_setting"]
