"""Models and reports that the tests of the memo and of the analyses share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

from compiling import Run, run_path, run_text
from lxml import html

from capgraph.analysis.findings import find
from capgraph.emit.artifact import Artifact, Making
from capgraph.emit.html import emit as emit_page
from capgraph.emit.pdf import emit as emit_paper
from capgraph.findings import Findings
from capgraph.plan import Plan
from capgraph.resources import models_root
from capgraph.results import Results

MADE = Making("0.1.0", "2026-11-30T00:00:00+00:00", "capgraph build model.yaml")
WORKBOOK = Artifact(
    "book.xlsx",
    b"PK\x03\x04 a workbook",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "The live workbook",
)
RESOLVED = Artifact("plan.json", b'{"plan": 1}', "application/json", "The resolved plan")
SHIPPED = ("llm-serving", "object-storage", "published-answers")

SMALL = """
model: shop
title: Rent or buy a press
description: Two ways to print.
as_of: 2026-11-01
section: Demand
quantities:
  pages:
    {label: Pages a month, unit: count/month, value: 1000, range: [400, 5000],
     source: "order book, 2026", as_of: 2026-10-01}
  price: {label: Price of a page, unit: USD/count, value: 0.05, range: [0.02, 0.09]}
  rent_price: {label: Rent of the press, unit: USD/month, value: 80, source: "assumption: a quote"}
  most_pages: {label: Most pages in a month, unit: count/month, value: 3000, source: "press manual"}
  bought:
    {label: Pages bought, unit: count/month, formula: pages * 1, because: Orders are printed., source: "order book"}
  buy_cost: {label: Cost of buying pages, unit: USD/month, formula: bought * price, because: Each page is paid.}
  rent_cost: {label: Cost of renting the press, unit: USD/month, formula: rent_price, because: The press is paid.}
  ratio:
    {label: Buying against renting, unit: ratio, formula: buy_cost / rent_cost, because: Above 1 renting is cheaper.}
key_figures: [bought, buy_cost, rent_cost]
scenarios:
  base: {label: Today}
  busy: {label: Busy season, extends: base, because: The fair is on., set: {pages: 4000}}
  counted: {label: As counted, extends: base, set: {bought: 900}}
charts:
  bill: {label: What the bill is made of, parts: [buy_cost, rent_cost]}
checks:
  few:
    {label: Fewer than 3000 pages, condition: "pages < most_pages", message: "There are {pages:0}.", severity: warning}
levers:
  duplex: {label: Print on both sides, because: Half the paper., set: {price: 0.03}, shows: [buy_cost, ratio]}
  fewer: {label: Print fewer pages, set: {pages: 500}, shows: [buy_cost]}
decision:
  question: Rent a press, or buy pages?
  target: ratio
  options:
    buy: {label: Buy pages, cost: buy_cost, shows: [bought], because: No press to keep., risk: Prices rise.}
    rent: {label: Rent a press, cost: rent_cost, shows: [ratio], because: Pages are free., risk: Idle in summer.}
  rules:
    - {when: rent_cost < buy_cost, option: rent, headline: "Rent: {rent_cost:0} against {buy_cost:0}."}
    - {option: buy, headline: "Buy: {buy_cost:0} against {rent_cost:0}, {ratio:2 -} of it."}
  exceptions: [The press is needed in the night.]
  policy: [Print drafts on one page.]
  alerts: [More than 1600 pages in a month.]
"""


@dataclass(frozen=True)
class Memo:
    """A model's results, its memo as a page, and as paper once it is asked for."""

    plan: Plan
    results: Results
    findings: Findings
    page: html.HtmlElement

    @cached_property
    def paper(self) -> bytes:
        """The memo as a PDF."""
        return emit_paper(self.plan, self.results, self.findings, MADE, (WORKBOOK, RESOLVED)).data

    @property
    def text(self) -> str:
        """The page's text, blanks collapsed."""
        return " ".join(str(self.page.text_content()).split())


def memo_of(run: Run) -> Memo:
    """Write both memos of a model that is right."""
    assert run.plan is not None
    assert run.results is not None, run.found
    findings = find(run.plan, run.results)
    page = emit_page(run.plan, run.results, findings, MADE, (WORKBOOK, RESOLVED))
    return Memo(run.plan, run.results, findings, html.document_fromstring(page.data.decode()))


@cache
def memo_of_text(text: str) -> Memo:
    """Write both memos of a model that is a text."""
    return memo_of(run_text(text))


@cache
def shipped(name: str) -> Memo:
    """Write both memos of a model that ships, or of the small one of this file."""
    return memo_of(run_text(SMALL) if name == "small" else run_path(models_root() / name / "model.yaml"))
