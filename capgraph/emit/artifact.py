"""What a backend returns, and what it is told of its making.

In: nothing → Out: the frozen types at the end of the picture.
Invariant: a backend returns bytes; the same plan, results and making give the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256


@dataclass(frozen=True, slots=True)
class Artifact:
    """One file: its name without a folder, its bytes, its media type and one line on what it is."""

    name: str
    data: bytes = field(repr=False)
    media_type: str
    description: str

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the bytes, in hex."""
        return sha256(self.data).hexdigest()


@dataclass(frozen=True, slots=True)
class Making:
    """The program's version, the model's own time (ISO, UTC) and the command that makes the reports again."""

    version: str
    timestamp: str
    command: str
