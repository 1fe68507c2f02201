"""Text of a model that tries to be more than text, or is hard to set."""

from __future__ import annotations

import json
from io import BytesIO
from itertools import cycle

import pdfplumber
import pytest
from compiling import run_text
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html
from memos import SMALL, Memo, memo_of
from pypdf import PdfReader
from test_memo_paper import OURS, fonts

from capgraph.emit.memo.legible import legible

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "image": "<img src=https://example.org/x.png onerror=alert(1)>",
    "closing": "</style></title></p></td></svg><h1>Signed</h1>",
    "template": "{{ 7 * 7 }} {% for x in memo %}{{ x.__class__ }}{% endfor %} {# note #}",
    "entity": "&lt;b&gt; &amp; &#0; &copy",
    "quotes": "\"quoted\" 'and' `ticked`",
    "long": "antidisestablishmentarianism" * 30,
    "right to left": "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd, \u0645\u0631\u062d\u0628\u0627 (12)",
    "override": "abc \u202egnp.exe\u202c def",
    "emoji": "fire \U0001f525 family \U0001f468\u200d\U0001f469\u200d\U0001f467 flag \U0001f1e9\U0001f1ea",
    "far east": "\u65e5\u672c\u8a9e \u1f00\u03c1\u03c7\u03ae \ud55c\uad6d\uc5b4",
    "address": "javascript:alert(1) file:///etc/passwd url(http://example.org)",
    "maths": "$x_1$ \\frac{1}{2} =1+1 @sum -1",
}
LABELLED = (
    "Rent or buy a press", "Two ways to print.", "Pages a month", "order book, 2026", "Orders are printed.", "Today",
    "Busy season", "The fair is on.", "What the bill is made of", "Fewer than 3000 pages", "Print on both sides",
    "Half the paper.", "Rent a press, or buy pages?", "Buy pages", "No press to keep.", "Prices rise.", "Demand",
)  # fmt: skip
MESSAGES = ("The press is needed in the night.", "Print drafts on one page.", "More than 1600 pages in a month.")
"""Texts with values in braces; other braces are an error of the model."""
BRACES = str.maketrans("{}", "[]")


def hostile(*texts: str) -> Memo:
    """Write the memos of the small model with the texts, in turn, in every place that takes one."""
    model = SMALL
    for label, text in zip(LABELLED, cycle(texts), strict=False):
        quoted = next(form for form in (f'"{label}"', label) if form in model)
        model = model.replace(quoted, json.dumps(f"{label} {text}", ensure_ascii=False))
    for label, text in zip(MESSAGES, cycle(texts), strict=False):
        model = model.replace(label, json.dumps(f"{label} {text.translate(BRACES)}", ensure_ascii=False))
    return memo_of(run_text(model))


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in HOSTILE.items()])
def test_on_the_page_it_stays_text(text: str) -> None:
    memo = hostile(text)
    assert memo.page.xpath("//script | //img | //iframe") == []
    assert len(memo.page.xpath("//h1")) == 1
    assert memo.page.xpath("//@onerror") == []
    assert [href for href in memo.page.xpath("//@href") if not str(href).startswith("#")] == []
    shown = " ".join(text.split())
    for label in LABELLED:
        assert f"{label} {shown}" in memo.text, label
    for label in MESSAGES:
        assert f"{label} {shown.translate(BRACES)}" in memo.text, label


def test_on_paper_it_stays_text() -> None:
    pdf = PdfReader(BytesIO(hostile(*HOSTILE.values()).paper))
    assert pdf.metadata is not None
    assert str(pdf.metadata.title) == f"Rent or buy a press {HOSTILE['script']}"
    text = "".join(page.extract_text() for page in pdf.pages)
    for sign in (
        "alert(1)",
        "__class__",
        "{% for x in memo %}",
        "file:///etc/passwd",
        "\\frac{1}{2}",
        "\ufffd",
    ):
        assert sign in text.replace("\n", "") or sign in text.replace("\n", " "), sign
    assert all(OURS.fullmatch(base) for base in fonts(pdf))
    assert "/JavaScript" not in str(pdf.root_object.get("/Names"))
    notes = [note.get_object() for page in pdf.pages for note in page.get("/Annots", [])]
    assert [note for note in notes if "/URI" in str(note.get("/A"))] == []


def test_a_long_word_stays_inside_the_page() -> None:
    margin = 14
    with pdfplumber.open(BytesIO(hostile(HOSTILE["long"]).paper)) as pdf:
        for page in pdf.pages:
            assert margin < min(sign["x0"] for sign in page.chars)
            assert max(sign["x1"] for sign in page.chars) < page.width - margin


def test_a_sign_without_a_glyph_is_replaced_and_the_rest_stays() -> None:
    assert legible("a \U0001f525 b") == "a \ufffd b"
    assert legible("\U0001f468\u200d\U0001f469") == "\ufffd\u200d\ufffd" or legible("\u200d") == ""
    plain = "80 GiB/GPU × 2 ÷ 3 − 1 ≤ 4 ≥ √ → € µ η α ⌈x⌉ ✓ ✗ ◆ „“ 10⁻¹⁴ \u202f|\u00a0|"
    assert legible(plain) == plain


@settings(max_examples=15)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60))
def test_any_text_comes_back_from_the_page(text: str) -> None:
    from capgraph.emit.memo.render import environment

    written = environment("page").from_string("<p>{{ text }}</p>").render(text=text)
    assert html.fragment_fromstring(written).text_content() == text
