"""The memo as a PDF: its text, its structure, what it carries, and the same bytes every time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from compiling import run_text, texts_of
from memos import RESOLVED, SHIPPED, SMALL, WORKBOOK, memo_of, shipped
from pypdf import PdfReader
from pypdf.generic import DictionaryObject

MODELS = ("small", *SHIPPED)
OURS = re.compile(r"/[A-Z]{6}\+Memo-(?:Source-Sans-Pro|DejaVu-Sans-Mono)(?:-\w+)*")


@pytest.fixture(params=MODELS)
def name(request: pytest.FixtureRequest) -> str:
    """A small model with everything in it, and both models that ship."""
    return str(request.param)


def reader(name: str) -> PdfReader:
    """Open a model's memo."""
    return PdfReader(BytesIO(shipped(name).paper))


def text_of(name: str) -> str:
    """Return the text of all pages."""
    return "".join(page.extract_text() for page in reader(name).pages)


def words(text: str) -> str:
    """Return the text without citations and blanks, which a line break may stand for."""
    return re.sub(r"\[(?:[AF]?\d+)\]|\s", "", text)


def at(node: Any, *names: str | int) -> Any:
    """Return what stands in a PDF object under the names, one inside the other."""
    for name in names:
        node = node.get_object()[name]
    return node.get_object()


def fonts(pdf: PdfReader) -> dict[str, Any]:
    """Return the fonts of all pages by their names."""
    found = {}
    for page in pdf.pages:
        for font in at(page, "/Resources").get("/Font", DictionaryObject()).get_object().values():
            found[str(at(font, "/BaseFont"))] = font
    return found


def test_first_page_says_the_headline_and_the_question(name: str) -> None:
    memo, first = shipped(name), words(reader(name).pages[0].extract_text())
    verdict, decision = memo.results.scenarios[memo.results.selected].verdict, memo.plan.model.decision
    assert verdict is not None
    assert decision is not None
    assert words(verdict.headline) in first
    assert words(decision.question) in first
    assert words(memo.plan.model.title) in first


def test_the_decision_fits_two_pages(name: str) -> None:
    pdf = reader(name)
    front = words("".join(page.extract_text() for page in pdf.pages[:2]))
    decision = shipped(name).plan.model.decision
    assert decision is not None
    for text in (*texts_of(*decision.exceptions), *(option.label for option in decision.options.values())):
        assert words(text) in front


def test_paper_says_what_the_page_says(name: str) -> None:
    memo, text = shipped(name), words(text_of(name))
    for step in memo.page.xpath("//p[@class='step']/b[1]"):
        assert words(step.text_content()) in text
    for outcome in memo.results.scenarios[memo.results.selected].checks.values():
        assert words(outcome.message)[:40] in text
    for result in memo.results.scenarios.values():
        for outcome in result.checks.values():
            assert outcome.holds or words(outcome.message)[:40] in text


def test_attachments_are_carried_whole_and_say_what_they_are(name: str) -> None:
    pdf = reader(name)
    assert {key: data for key, (data, *_) in pdf.attachments.items()} == {
        WORKBOOK.name: WORKBOOK.data,
        RESOLVED.name: RESOLVED.data,
    }
    carried = {at(item, "/UF"): item for item in at(pdf.root_object, "/AF")}
    assert {key: at(item, "/AFRelationship") for key, item in carried.items()} == {
        WORKBOOK.name: "/Data",
        RESOLVED.name: "/Source",
    }
    assert at(carried[WORKBOOK.name], "/EF", "/F", "/Subtype") == f"/{WORKBOOK.media_type}"


def test_fonts_are_ours_and_embedded(name: str) -> None:
    found = fonts(reader(name))
    assert found
    for base, font in found.items():
        assert OURS.fullmatch(base), base
        descriptor = at(font, "/DescendantFonts", 0, "/FontDescriptor")
        assert "/FontFile2" in descriptor or "/FontFile3" in descriptor


def test_it_is_tagged_archival_and_in_english(name: str) -> None:
    pdf = reader(name)
    root = pdf.root_object
    assert at(root, "/MarkInfo", "/Marked")
    assert at(root, "/Lang") == "en"
    xmp = at(root, "/Metadata").get_data().decode()
    assert 'pdfaid:part="3"' in xmp
    assert 'pdfaid:conformance="A"' in xmp
    assert "/OutputIntents" in root
    assert pdf.metadata is not None
    assert pdf.metadata.title == shipped(name).plan.model.title
    assert str(pdf.metadata.creation_date_raw).startswith("D:20261130")


def test_charts_have_alternative_text(name: str) -> None:
    pending: list[Any] = [at(reader(name).root_object, "/StructTreeRoot")]
    figures = []
    while pending:
        node = pending.pop().get_object()
        if isinstance(node, list):
            pending += node
        elif isinstance(node, DictionaryObject):
            figures += [node] if node.get("/S") == "/Figure" and "/A" in node else []
            pending += [node["/K"]] if "/K" in node else []
    assert len(figures) >= 3
    assert all(len(str(figure["/Alt"])) > 20 for figure in figures)


def test_sections_are_bookmarks_and_links_lead_to_pages(name: str) -> None:
    pdf = reader(name)
    titles = [item.title for item in _flat(pdf.outline)]
    for heading in shipped(name).page.xpath("//section/h2"):
        assert any(title.endswith(heading.text_content()) for title in titles)
    notes = [note.get_object() for page in pdf.pages for note in page.get("/Annots", [])]
    assert len(notes) > 20
    targets = pdf.named_destinations
    for link in notes:
        assert link["/Subtype"] == "/Link"
        assert link["/Dest"] in targets if "/Dest" in link else at(link, "/A", "/S") == "/GoTo"


def _flat(outline: Sequence[Any]) -> list[Any]:
    return [item for part in outline for item in (_flat(part) if isinstance(part, list) else [part])]


DIGESTS = """
import sys
from hashlib import sha256
sys.path.insert(0, sys.argv[1])
from memos import MADE, RESOLVED, SMALL, WORKBOOK, find
from compiling import run_text
from capgraph.emit import html, pdf
run = run_text(SMALL)
found = find(run.plan, run.results)
for backend in (html, pdf):
    print(sha256(backend.emit(run.plan, run.results, found, MADE, (WORKBOOK, RESOLVED)).data).hexdigest())
"""


def test_same_bytes_in_another_process_place_and_time_zone(tmp_path: Path) -> None:
    def digests(**changed: str) -> str:
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])} | changed
        command = [sys.executable, "-c", DIGESTS, str(Path(__file__).parent)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path
        )
        return done.stdout

    # A machine without fonts of its own: the signs of other weights must not come from there either.
    bare = tmp_path / "fonts.conf"
    bare.write_text("<fontconfig></fontconfig>", "utf-8")
    one = digests(PYTHONHASHSEED="1", TZ="Asia/Tokyo", LC_ALL="C.UTF-8", FONTCONFIG_FILE=str(bare))
    assert one == digests(PYTHONHASHSEED="2", TZ="America/Lima", HOME=str(tmp_path))
    assert len(one.split()) == 2


def test_weasyprint_finds_nothing_to_warn_of(caplog: pytest.LogCaptureFixture) -> None:
    memo_of(run_text(SMALL))
    assert [record.getMessage() for record in caplog.records if record.name.startswith("weasyprint")] == []
