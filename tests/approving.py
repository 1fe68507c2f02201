"""Output that a person has read and approved, as a text file beside the tests.

`UPDATE_APPROVED=1 pytest …` rewrites the files; read the difference before you commit it.
"""

from __future__ import annotations

import os
from pathlib import Path

APPROVED = Path(__file__).parent / "approved"


def approve(name: str, text: str, folder: Path = APPROVED) -> None:
    """Compare a text with the approved one."""
    path = folder / name
    if os.environ.get("UPDATE_APPROVED"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert path.is_file(), f"{path.name} is not approved yet: run with UPDATE_APPROVED=1 and read it"
    assert text == path.read_text("utf-8")
