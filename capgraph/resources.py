"""Where the models and templates that ship are: nothing in → a folder out.

Invariant: an installed wheel reads its own `_data`, a checkout its top-level folders; never a mixture.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def models_root() -> Path:
    """Return the folder that holds one folder per model that ships."""
    return _shipped("models")


def templates_root() -> Path:
    """Return the folder that holds one folder of templates per kind of report."""
    return _shipped("templates")


def _shipped(name: str) -> Path:
    data = _PACKAGE / "_data"
    return (data if data.is_dir() else _PACKAGE.parent) / name
