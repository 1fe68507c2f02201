"""The fonts that reports embed: nothing in → the font files of this installation out.

Invariant: every face comes from a wheel that capgraph depends on, never from the machine's own fonts, so a
report looks the same everywhere. Text is set in Source Sans Pro (SIL OFL 1.1), whose digits are all of one
width; DejaVu, from matplotlib's wheel, sets code and the few signs that Source Sans Pro lacks (⌈ ⌉ ✗, and
Greek in its italics).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

TEXT_FAMILY = "Source Sans Pro"
FALLBACK_FAMILY = "DejaVu Sans"
CODE_FAMILY = "DejaVu Sans Mono"

Style = Literal["normal", "italic"]

_SOURCE_SANS_FOLDER = "files"
_DEJAVU_FOLDER = "mpl-data/fonts/ttf"

_Cut = tuple[str, int, Style, str]
_SOURCE_SANS: tuple[_Cut, ...] = (
    (TEXT_FAMILY, 400, "normal", "SourceSansPro-Regular.ttf"),
    (TEXT_FAMILY, 400, "italic", "SourceSansPro-It.ttf"),
    (TEXT_FAMILY, 600, "normal", "SourceSansPro-Semibold.ttf"),
    (TEXT_FAMILY, 600, "italic", "SourceSansPro-SemiboldIt.ttf"),
    (TEXT_FAMILY, 700, "normal", "SourceSansPro-Bold.ttf"),
    (TEXT_FAMILY, 700, "italic", "SourceSansPro-BoldIt.ttf"),
)
_DEJAVU: tuple[_Cut, ...] = (
    (FALLBACK_FAMILY, 400, "normal", "DejaVuSans.ttf"),
    (FALLBACK_FAMILY, 400, "italic", "DejaVuSans-Oblique.ttf"),
    (FALLBACK_FAMILY, 700, "normal", "DejaVuSans-Bold.ttf"),
    (FALLBACK_FAMILY, 700, "italic", "DejaVuSans-BoldOblique.ttf"),
    (CODE_FAMILY, 400, "normal", "DejaVuSansMono.ttf"),
    (CODE_FAMILY, 700, "normal", "DejaVuSansMono-Bold.ttf"),
)


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
        "matplotlib", _DEJAVU_FOLDER, _DEJAVU
    )


def _faces(package: str, folder: str, cuts: tuple[_Cut, ...]) -> tuple[FontFace, ...]:
    root = _package_folder(package) / folder
    return tuple(FontFace(family, weight, style, root / file) for family, weight, style, file in cuts)


def _package_folder(package: str) -> Path:
    # Finding the spec does not run the package: importing matplotlib would cost half a second.
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"the package {package}, which carries fonts, is missing", name=package)
    return Path(spec.origin).parent
