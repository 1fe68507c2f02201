"""The memo as one HTML file: nothing is fetched, nothing runs.

In: plan, results, findings, making → Out: a page for a browser, a phone, a printer, in light or dark.
Invariant: the file refers to nothing outside itself; the same inputs give the same bytes.
"""

from __future__ import annotations

from capgraph.emit.artifact import Artifact, Making
from capgraph.emit.memo.render import render, view
from capgraph.findings import Findings
from capgraph.plan import Plan
from capgraph.results import Results


def emit(
    plan: Plan, results: Results, findings: Findings, made: Making, attachments: tuple[Artifact, ...] = ()
) -> Artifact:
    """Return the memo as an HTML page; the attachments are named by their digests only."""
    text = render(view(plan, results, findings, made, attachments), "page")
    return Artifact(
        f"{plan.model.plan or plan.model.id}.html", text.encode(), "text/html", "The decision memo as a page"
    )
