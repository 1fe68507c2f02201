"""The memo as a page: its numbers are the evaluator's, its citations lead somewhere, and it stands alone."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from compiling import texts_of
from lxml import html
from memos import SHIPPED, Memo, shipped

from capgraph.analysis.derivation import is_definition
from capgraph.emit.memo.cite import exact
from capgraph.emit.memo.render import derivation
from capgraph.model import Value
from capgraph.notation import show_given, show_in_prose

MODELS = ("small", *SHIPPED)


@pytest.fixture(params=MODELS)
def memo(request: pytest.FixtureRequest) -> Memo:
    """A small model with everything in it, and both models that ship."""
    return shipped(str(request.param))


def _scenario(memo: Memo, element: html.HtmlElement) -> str:
    own = element.xpath("ancestor::*[@data-scenario][1]/@data-scenario")
    return str(own[0]) if own else memo.results.selected


def _evaluated(memo: Memo, element: html.HtmlElement) -> Value | None:
    quantity = str(element.get("data-quantity"))
    lever, suspect = element.get("data-lever"), element.get("data-suspect")
    if suspect is not None:
        return next(item for item in memo.findings.shortfalls if item.suspect == suspect).values[quantity]
    if lever == "together":
        assert memo.findings.together is not None
        return memo.findings.together.values[quantity]
    if lever is not None:
        return next(effect for effect in memo.findings.levers if effect.lever == lever).values[quantity]
    return memo.results.scenarios[_scenario(memo, element)].values[quantity]


def test_every_number_is_the_evaluators(memo: Memo) -> None:
    shown = memo.page.xpath("//data")
    assert len(shown) > 20
    for element in shown:
        entry = memo.plan.model.quantities[str(element.get("data-quantity"))]
        value = _evaluated(memo, element)
        assert element.get("value") == exact(value), entry.id
        if isinstance(value, float):
            written = {write(value, entry.unit_text) for write in (show_in_prose, show_given)}
            # A column of a table says the unit in its head.
            written |= {text.rpartition("\u202f")[0] for text in written}
            assert element.text_content() in written, entry.id


def test_a_written_number_means_its_value(memo: Memo) -> None:
    words = {"million": 1e6, "billion": 1e9}
    for element in memo.page.xpath("//data[@value]"):
        text = element.text_content()
        found = re.match(
            r"(−?[\d,]+(?:\.\d+)?)(?:\u202f(million|billion))?(?:×10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+))?(%?)", text
        )
        if found is None or not re.fullmatch(r"-?[\d.]+(e[+-]?\d+)?", str(element.get("value"))):
            continue
        number = float(found[1].replace(",", "").replace("−", "-")) * words.get(found[2], 1.0)
        number *= 10.0 ** int((found[3] or "0").translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")))
        number /= (
            100
            if found[4] and memo.plan.model.quantities[str(element.get("data-quantity"))].unit_text != "%"
            else 1
        )
        assert number == pytest.approx(float(str(element.get("value"))), rel=0.006), text


def test_every_citation_leads_to_the_line_of_its_number(memo: Memo) -> None:
    anchors = Counter(str(name) for name in memo.page.xpath("//@id"))
    assert [name for name, count in anchors.items() if count > 1] == []
    links = memo.page.xpath("//a[starts-with(@href, '#')]")
    assert len(links) > 20
    for link in links:
        assert link.get("href")[1:] in anchors, link.get("href")
    for link in memo.page.xpath("//a[sup]"):
        mark = link.xpath("string(sup)").strip("[]")
        line = memo.page.get_element_by_id(link.get("href")[1:]).text_content()
        assert line.split()[0].rstrip() == mark, link.get("href")


def test_a_cited_line_leads_back_to_the_sections_that_cite_it(memo: Memo) -> None:
    cited = memo.page.xpath(
        "//section[@id='recommendation' or @id='why' or @id='change' or @id='options']//a[sup]"
    )
    for link in cited:
        section = link.xpath("ancestor::section/@id")[0]
        line = memo.page.get_element_by_id(link.get("href")[1:])
        if line.get("id").startswith("fact-"):
            continue
        assert f"#{section}" in line.xpath(".//a/@href"), (section, line.get("id"))


def test_figures_and_headline_cite(memo: Memo) -> None:
    cited = memo.page.xpath("//section[@id='recommendation' or @id='why' or @id='options']//data")
    assert cited
    assert all(element.getparent().get("href") for element in cited)
    assert memo.page.xpath("//p[@class='headline']//a[sup]")


def test_the_derivation_shows_what_the_evaluator_did(memo: Memo) -> None:
    decision = memo.plan.model.decision
    assert decision is not None
    chain = derivation(memo.plan, memo.results, memo.findings)
    deciding = {option.cost for option in decision.options.values() if option.cost} | {decision.target}
    assert deciding <= {line.quantity.id for line in chain}
    values = memo.results.scenarios[memo.results.selected].values
    for line in chain:
        assert line.value == values[line.quantity.id]
        if line.formula:
            step = memo.page.get_element_by_id(f"step-{line.quantity.id}")
            shown = step.text_content()
            assert line.quantity.label in shown
            assert exact(line.value) in step.xpath(".//data/@value")
            assert line.formula in shown, line.quantity.id
            beside = step.tag == "span" and step.getparent().text_content().startswith("Zero here")
            assert line.numbers in shown or (beside and line.value == 0), line.quantity.id
        elif line.quantity.is_input:
            assert memo.page.get_element_by_id(f"input-{line.quantity.id}") is not None
        elif not line.measured:
            assert memo.page.get_element_by_id(f"fact-{line.quantity.id}") is not None


def test_every_scenario_shows_its_verdict_and_its_checks(memo: Memo) -> None:
    for name, result in memo.results.scenarios.items():
        article = memo.page.get_element_by_id(f"scenario-{name}")
        text = " ".join(article.text_content().split())
        assert result.verdict is not None
        assert " ".join(result.verdict.headline.split()) in text, name
        for check, outcome in result.checks.items():
            label = memo.plan.model.checks[check].label
            in_full = " ".join(f"{label}. {outcome.message}".split()) in text
            assert in_full == (name == memo.results.selected or not outcome.holds), (name, check)
        failing = sum(not outcome.holds for outcome in result.checks.values())
        assert len(article.xpath(".//*[@class='fail']")) == failing
        if name != memo.results.selected and (holding := len(result.checks) - failing):
            assert re.search(rf"\b{holding} checks? holds?\.", text), name


def test_the_text_of_the_decision_is_all_there(memo: Memo) -> None:
    decision = memo.plan.model.decision
    assert decision is not None
    options = decision.options.values()
    texts = [decision.question, *texts_of(*decision.exceptions, *decision.policy, *decision.alerts)]
    texts += [text for option in options for text in (option.label, option.because, option.risk)]
    texts += [
        text for lever in memo.plan.model.levers.values() for text in (lever.label, lever.provenance.because)
    ]
    texts += [
        text for item in memo.plan.model.suspects.values() for text in (item.label, item.provenance.because, item.check)
    ]
    for text in texts:
        assert " ".join(text.split()) in memo.text


def test_every_input_that_has_an_effect_is_in_the_register_with_its_source(memo: Memo) -> None:
    for entry in memo.plan.model.quantities.values():
        if not entry.is_input:
            continue
        line = memo.page.get_element_by_id(f"input-{entry.id}")
        row, around = " ".join(line.text_content().split()), line.getparent().text_content()
        assert entry.label in row
        if is_definition(entry):
            assert around.startswith("Definitions")
            continue
        counted = not around.startswith("Without effect")
        assert " ".join(entry.provenance.source.split()) in row or not counted
        assert entry.provenance.as_of in row or not counted
        assert ("!" in row.split(entry.label)[1]) or not entry.provenance.source.startswith("assumption")


def test_files_and_attachments_stand_with_their_digests(memo: Memo) -> None:
    for name, digest in memo.plan.model.files:
        assert name in memo.text
        assert digest in memo.text
    assert "book.xlsx" in memo.text
    assert "capgraph build model.yaml" in memo.text


def test_the_page_refers_to_nothing_outside_and_runs_nothing(memo: Memo) -> None:
    assert memo.page.xpath("//script | //iframe | //object | //embed | //link | //img | //form") == []
    assert [href for href in memo.page.xpath("//@href") if not str(href).startswith("#")] == []
    assert memo.page.xpath("//@src") == []
    style = memo.page.xpath("string(//style)")
    assert "url(" not in style
    assert "@import" not in style
    assert memo.page.xpath("//meta[@http-equiv='Content-Security-Policy']")


def test_charts_say_in_words_what_they_show(memo: Memo) -> None:
    charts = memo.page.xpath("//*[local-name()='svg']")
    assert len(charts) >= 3
    for chart in charts:
        title = chart.xpath("./*[local-name()='title']")
        assert chart.get("role") == "img"
        assert chart.get("aria-labelledby") == title[0].get("id")
        assert len(title[0].text_content()) > 20
        for mark in chart.xpath(".//*[local-name()='text']"):
            assert 0 <= float(mark.get("x")) <= 640
