"""The memo as a PDF that carries its own evidence.

In: plan, results, findings, making and the files to attach → Out: PDF/A-3, tagged, with our fonts alone.
Invariant: nothing is read but the fonts and the attachments, and no clock: the same inputs give the same bytes.
"""

from __future__ import annotations

from datetime import datetime

from weasyprint import HTML, Attachment
from weasyprint.urls import URLFetcher, URLFetcherResponse

from capgraph.emit.artifact import Artifact, Making
from capgraph.emit.fonts import font_faces
from capgraph.emit.memo.legible import legible
from capgraph.emit.memo.render import render, view
from capgraph.findings import Findings
from capgraph.plan import Plan
from capgraph.results import Results

_SPREADSHEET = "spreadsheet"


class _Shelf(URLFetcher):  # type: ignore[misc]
    """Hands out the fonts and the attachments by number, and refuses every other address."""

    def __init__(self, attachments: tuple[Artifact, ...]) -> None:
        super().__init__(allowed_protocols=())
        self._attachments = attachments

    def fetch(self, url: str, headers: object = None) -> URLFetcherResponse:
        """Return what stands at `font:N` or `attachment:N`."""
        shelf, _, number = url.partition(":")
        if shelf == "font":
            return URLFetcherResponse(url, font_faces()[int(number)].path.read_bytes())
        if shelf == "attachment":
            item = self._attachments[int(number)]
            return URLFetcherResponse(url, item.data, {"Content-Type": item.media_type})
        raise ValueError(f"nothing is fetched from outside: {url}")


def emit(
    plan: Plan, results: Results, findings: Findings, made: Making, attachments: tuple[Artifact, ...] = ()
) -> Artifact:
    """Return the memo as a PDF."""
    shelf = _Shelf(attachments)
    text = legible(render(view(plan, results, findings, made, attachments), "pdf"))
    data = HTML(string=text, base_url="memo:", url_fetcher=shelf).write_pdf(
        pdf_variant="pdf/a-3a",
        attachments=[_attach(number, item, made, shelf) for number, item in enumerate(attachments)],
    )
    return Artifact(f"{plan.model.plan or plan.model.id}.pdf", data, "application/pdf", "The decision memo")


def _attach(number: int, item: Artifact, made: Making, shelf: _Shelf) -> Attachment:
    time = datetime.fromisoformat(made.timestamp)
    return Attachment(
        url=f"attachment:{number}", url_fetcher=shelf, name=item.name, description=item.description,
        created=time, modified=time,
        # The workbook is data that the memo shows; the resolved plan is the source of both.
        relationship="Data" if _SPREADSHEET in item.media_type else "Source",
    )  # fmt: skip
