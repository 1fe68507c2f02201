"""The report's fonts: there, what they say they are, and with every sign that reports print."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from typing import cast

import pytest
from fontTools.ttLib import TTFont
from pypdf import PdfReader
from pypdf.generic import DictionaryObject
from weasyprint import HTML
from weasyprint.text.fonts import FontConfiguration

from capgraph.emit.fonts import CODE_FAMILY, FALLBACK_FAMILY, TEXT_FAMILY, FontFace, font_faces

SIGNS = "×·÷≤≥√−→€µηα≈±≠–—…’“”\u00a0\u202f✓"
FALLBACK_SIGNS = "⌈⌉⌊⌋⇒✗\u2009"
DIGITS = "0123456789"

FACES = font_faces()


def _name(face: FontFace) -> str:
    return face.path.name


def _signs(face: FontFace) -> set[str]:
    with TTFont(face.path) as font:
        return {chr(code) for code in font.getBestCmap()}


FALLBACK = next(face for face in FACES if face.family == FALLBACK_FAMILY)


def test_faces_are_distinct_and_cover_every_role() -> None:
    roles = [(face.family, face.weight, face.style) for face in FACES]
    assert len(set(roles)) == len(roles)
    text = {(TEXT_FAMILY, weight, style) for weight in (400, 600, 700) for style in ("normal", "italic")}
    assert {*text, (CODE_FAMILY, 400, "normal")} == set(roles)


@pytest.mark.parametrize("face", FACES, ids=_name)
def test_face_is_what_it_says(face: FontFace) -> None:
    with TTFont(face.path) as font:
        assert (font["name"].getDebugName(16) or font["name"].getDebugName(1)) == face.family
        assert font["OS/2"].usWeightClass == face.weight
        assert bool(font["head"].macStyle & 2) == (face.style == "italic")


@pytest.mark.parametrize("face", [face for face in FACES if face.style == "normal"], ids=_name)
def test_upright_face_has_every_sign(face: FontFace) -> None:
    assert set(SIGNS) - _signs(face) == set()


@pytest.mark.parametrize("face", [face for face in FACES if face.family == TEXT_FAMILY], ids=_name)
def test_fallback_has_what_the_text_face_lacks(face: FontFace) -> None:
    assert set(SIGNS + FALLBACK_SIGNS) - _signs(face) - _signs(FALLBACK) == set()


@pytest.mark.parametrize("face", FACES, ids=_name)
def test_digits_are_of_one_width(face: FontFace) -> None:
    with TTFont(face.path) as font:
        glyphs = font.getBestCmap()
        assert len({font["hmtx"][glyphs[ord(digit)]][0] for digit in DIGITS}) == 1


def test_finding_the_fonts_imports_nothing_of_their_packages() -> None:
    program = "import sys; from capgraph.emit.fonts import font_faces; font_faces(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "capgraph.emit.fonts" in done.stdout.split()
    assert not {"barcode", "font_source_sans_pro"} & set(done.stdout.split())


def test_a_page_set_in_these_fonts_embeds_them_alone() -> None:
    rules = "".join(
        f"@font-face{{font-family:'{face.family}';font-weight:{face.weight};font-style:{face.style};"
        f"src:url('{face.path.as_uri()}')}}"
        for face in FACES
    )
    body = f"<p>{SIGNS}{FALLBACK_SIGNS} <b>{SIGNS}</b> <i>{SIGNS}</i> <code>{SIGNS}</code></p>"
    style = (
        f"{rules} p{{font-family:'{TEXT_FAMILY}','{FALLBACK_FAMILY}'}} code{{font-family:'{CODE_FAMILY}'}}"
    )
    html = HTML(string=f"<html lang=en><title>Signs</title><style>{style}</style>{body}</html>")
    pdf = html.write_pdf(font_config=FontConfiguration())
    resources = cast(DictionaryObject, PdfReader(BytesIO(pdf)).pages[0]["/Resources"])
    fonts = cast(DictionaryObject, resources["/Font"])
    embedded = {str(cast(DictionaryObject, font.get_object())["/BaseFont"]) for font in fonts.values()}
    names = {name.partition("+")[2].replace("-", "").replace(" ", "") for name in embedded}
    assert len(names) >= 4
    assert {name for name in names if not name.startswith(("SourceSansPro", "DejaVuSans"))} == set()
