"""Models that say little: the memo says no more, and leaves no empty section."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
from memos import SHIPPED, SMALL, Memo, memo_of_text, shipped
from pypdf import PdfReader


def without(*keys: str) -> str:
    """Return the small model without some of its top-level parts."""
    text = SMALL
    for key in keys:
        text = re.sub(rf"(?m)^{key}:.*\n(?:^[ ].*\n)*", "", text)
    return text


BARE = "model: bare\nquantities:\n  a: {unit: count, value: 1}\n  b: {unit: count, formula: a * 2}\n"
SPARSE = {
    "one quantity": "model: m\nquantities:\n  a: {unit: count, value: 1}\n",
    "bare": BARE,
    "key figures": BARE + "key_figures: [b]\n",
    "no decision": without("decision"),
    "no decision, no levers": without("decision", "levers"),
    "no levers": without("levers"),
    "no charts": without("charts"),
    "no checks": without("checks"),
    "a suspect without texts": BARE + "suspects:\n  c: {vary: a, range: [0, 2], shows: [b]}\n",
    "one scenario": re.sub(r"(?m)^  (?:busy|counted): .*\n", "", SMALL),
    "no scenarios": without("scenarios"),
    "no ranges": re.sub(r", range: \[.*?\]", "", SMALL),
    "no target": SMALL.replace("  target: ratio\n", ""),
    "no sources": re.sub(r',\s+source: ".*?"', "", SMALL),
    "no reasons": re.sub(r", because: [^,}]*|, risk: [^}]*|because: [^,]*, ", "", SMALL),
    "no texts": re.sub(r"(?m)^  (?:exceptions|policy|alerts|question): .*\n", "", SMALL),
    "one option": re.sub(r"(?m)^    rent: .*\n|^    - \{when.*\n", "", SMALL),
    "options without cost": re.sub(r", cost: \w+", "", SMALL),
    "no rule holds": re.sub(r"(?m)^    - \{option: buy.*\n", "", SMALL),
    "nothing costs anything": SMALL.replace("value: 0.05", "value: 0").replace("[0.02, 0.09]", "[0, 0]"),
    "failing check": SMALL.replace("value: 3000", "value: 300").replace(
        "severity: warning", "severity: error"
    ),
}


@pytest.fixture(params=[*SPARSE, *SHIPPED])
def memo(request: pytest.FixtureRequest) -> Memo:
    """A model that lacks something, and for comparison those that lack nothing."""
    text = SPARSE.get(str(request.param))
    return memo_of_text(text) if text else shipped(str(request.param))


def test_nothing_is_empty(memo: Memo) -> None:
    for element in memo.page.xpath(
        "//section | //article | //p | //li | //ul | //dl | //dt | //dd | //h2 | //h3 | //th"
    ):
        assert element.text_content().strip(), element.tag
    for section in memo.page.xpath("//section"):
        heading = section.find("h2").text_content()
        assert len(section.text_content().strip()) > len(heading) + 3, heading
    for table in memo.page.xpath("//table"):
        rows = table.xpath(".//tr")
        assert table.xpath(".//td")
        for row in rows:
            spans = sum(int(cell.get("colspan", "1")) for cell in row.xpath("./th | ./td"))
            assert spans == len(rows[0].xpath("./th | ./td"))


def test_no_word_of_the_program_shows_through(memo: Memo) -> None:
    for word in ("None", "undefined", "nan", "inf", "()", "[]", "  ,", " .", ",,", "..", "StrictUndefined"):
        pattern = rf"(?<![\w(]){re.escape(word)}(?!\w)" if word.isalpha() else re.escape(word)
        body = memo.page.find("body")
        text = " ".join(str(part) for part in body.xpath(".//text()[not(ancestor::code)]"))
        assert not re.search(pattern, re.sub(r"\s+", " ", text).replace("...", "")) or word == " .", word


def test_contents_list_the_sections(memo: Memo) -> None:
    listed = memo.page.xpath("//nav//a/@href")
    assert listed == [f"#{section.get('id')}" for section in memo.page.xpath("//main/section")]


def test_paper_has_pages_and_the_title(memo: Memo) -> None:
    pdf = PdfReader(BytesIO(memo.paper))
    assert (memo.plan.model.title or memo.plan.model.id) in pdf.pages[0].extract_text().replace("\n", " ")


def test_a_model_without_decision_or_key_figures_shows_what_nothing_else_uses() -> None:
    memo = shipped("photo-archive")
    assert memo.page.xpath("//main/section/@id")[:3] == ["result", "change", "derivation"]
    result = memo.page.get_element_by_id("result")
    assert result.xpath(".//data/@data-quantity") == ["cost"]
    assert result.xpath("string(.//data)") == "3,864\u202fUSD/month"
    assert memo.page.xpath("//p[@class='step']/@id") == ["step-stored", "step-cost"]
    assert len(PdfReader(BytesIO(memo.paper)).pages) == 1


def test_many_parts_of_a_whole_end_in_other() -> None:
    names = [f"part_{number}" for number in range(9)]
    quantities = "".join(
        f"  {name}: {{unit: count, value: {number + 1}}}\n" for number, name in enumerate(names)
    )
    text = f"model: m\nquantities:\n{quantities}  all: {{unit: count, formula: {' + '.join(names)}}}\n"
    text += f"charts:\n  parts: {{label: Parts, parts: [{', '.join(names)}], whole: all}}\n"
    drawn = memo_of_text(text).page.xpath("//figure")[0]
    assert "Other (Part 0, Part 1, Part 2, Part 3): 10" in drawn.text_content()
    fills = drawn.xpath(".//*[name()='rect'][@height='17']/@style")
    assert len(fills) == len(set(fills)) == 6


def test_a_failing_check_stands_on_the_first_page() -> None:
    memo = memo_of_text(SPARSE["failing check"])
    assert "Fewer than 3000 pages" in memo.page.xpath("string(//div[@class='warning'])")
    assert "Fewer than 3000 pages" in PdfReader(BytesIO(memo.paper)).pages[0].extract_text()


def test_without_a_rule_that_holds_nothing_is_recommended() -> None:
    memo = memo_of_text(SPARSE["no rule holds"])
    assert "recommends nothing" in memo.page.xpath("string(//section[@id='recommendation'])")
    assert memo.page.xpath("//tr[@class='chosen']//span[text()='Recommended']") == []


def test_sources_are_missed_where_there_are_none() -> None:
    memo = memo_of_text(SPARSE["no sources"])
    assert "have no source" in memo.page.xpath("string(//section[@id='recommendation'])")
    assert "no source" in memo.page.get_element_by_id("input-pages").text_content()
