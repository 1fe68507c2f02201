"""The fonts that reports embed: nothing in → the font files of this installation out.

Invariant: every face comes from a wheel that capgraph depends on, never from the machine's own fonts, so a
report looks the same everywhere. Text is set in Source Sans Pro (SIL OFL 1.1), whose digits are all of one
width. DejaVu Sans Mono sets code and the few signs that Source Sans Pro lacks (⌈ ⌉ ✗ ⇒, and Greek in its italics);
it comes in the wheel of python-barcode, a fifth of a megabyte, which is not imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

TEXT_FAMILY = "Source Sans Pro"
CODE_FAMILY = "DejaVu Sans Mono"
FALLBACK_FAMILY = CODE_FAMILY

Style = Literal["normal", "italic"]

_SOURCE_SANS_FOLDER = "files"
_DEJAVU_FOLDER = "fonts"

_Cut = tuple[str, int, Style, str]
_SOURCE_SANS: tuple[_Cut, ...] = (
    (TEXT_FAMILY, 400, "normal", "SourceSansPro-Regular.ttf"),
    (TEXT_FAMILY, 400, "italic", "SourceSansPro-It.ttf"),
    (TEXT_FAMILY, 600, "normal", "SourceSansPro-Semibold.ttf"),
    (TEXT_FAMILY, 600, "italic", "SourceSansPro-SemiboldIt.ttf"),
    (TEXT_FAMILY, 700, "normal", "SourceSansPro-Bold.ttf"),
    (TEXT_FAMILY, 700, "italic", "SourceSansPro-BoldIt.ttf"),
)
_DEJAVU: tuple[_Cut, ...] = ((CODE_FAMILY, 400, "normal", "DejaVuSansMono.ttf"),)


@dataclass(frozen=True, slots=True)
class FontFace:
    """One cut of a family, as a CSS `@font-face` rule names it, and the TrueType file that holds it."""

    family: str
    weight: int
    style: Style
    path: Path


def font_faces() -> tuple[FontFace, ...]:
    """Return every face that reports may use, text family first."""
    return _faces("font_source_sans_pro", _SOURCE_SANS_FOLDER, _SOURCE_SANS) + _faces(
        "barcode", _DEJAVU_FOLDER, _DEJAVU
    )


def _faces(package: str, folder: str, cuts: tuple[_Cut, ...]) -> tuple[FontFace, ...]:
    root = _package_folder(package) / folder
    return tuple(FontFace(family, weight, style, root / file) for family, weight, style, file in cuts)


def _package_folder(package: str) -> Path:
    # Finding the spec does not run the package, of which only a file is wanted.
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"the package {package}, which carries fonts, is missing", name=package)
    return Path(spec.origin).parent
