"""Units that a model defines: a dimension of their own, or so many of another; two models never mix theirs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from capgraph.compiler import compile_model
from capgraph.evaluate import evaluate
from capgraph.resolve import resolve_setting
from capgraph.units import UnitError, convert, define_base_unit, define_unit, parse_unit

MODEL = """
model: racks
units: {shelf: base, rack: RACK shelf, EUR: base, kEUR: 1000 EUR}
quantities:
  shelves: {unit: shelf, value: 30, source: plan}
  racks: {unit: rack, formula: shelves}
  whole: {unit: rack, formula: ceil(racks)}
  price: {unit: EUR/rack, value: 2 kEUR/rack, source: quote}
  rate: {unit: USD/EUR, value: 1.1, source: bank}
  cost: {unit: USD, formula: whole * price * rate}
"""


def _write(folder: Path, text: str) -> Path:
    (folder / "model.yaml").write_text(text, "utf-8")
    return folder / "model.yaml"


@pytest.mark.parametrize(
    ("shelves", "racks", "cost"), [(12, 2.5, 6600.0), (10, 3.0, 6600.0), (25, 1.2, 4400.0)]
)
def test_a_model_calculates_with_its_units(shelves: int, racks: float, cost: float, tmp_path: Path) -> None:
    compilation = compile_model(_write(tmp_path, MODEL.replace("RACK", str(shelves))))
    assert compilation.plan is not None, compilation.diagnostics
    results, _ = evaluate(compilation.plan)
    assert results is not None
    values = results.scenarios["base"]
    assert (values.number("racks"), values.number("cost")) == pytest.approx((racks, cost), rel=1e-14)
    assert "shelf_per_rack" in compilation.plan.constants
    assert resolve_setting(compilation.plan.model, "price=1 kEUR/shelf")[1] == pytest.approx(shelves * 1000)


@pytest.mark.parametrize(
    ("units", "codes"),
    [
        ("{shelf: base, rack: 12 shlf}", ["CG501"]),
        ("{rack: 12 shelf, shelf: base}", ["CG501"]),
        ("{GPU: base}", ["CG508"]),
        ("{GiB: 3 byte}", ["CG508"]),
        ("{shelf: twelve}", ["CG508"]),
        ("{shelf: 0 GPU}", ["CG508"]),
        ("{9shelf: base}", ["CG205"]),
    ],
)
def test_wrong_definitions_are_told_once(units: str, codes: list[str], tmp_path: Path) -> None:
    text = f"units: {units}\nquantities: {{a: {{unit: rack, value: 1}}, b: {{unit: count, value: 1, source: s}}}}\n"
    found = compile_model(_write(tmp_path, text)).diagnostics
    assert [item.code for item in found if "`rack`" not in item.message or "12" in item.message] == codes


def test_one_name_in_two_models_keeps_two_sizes() -> None:
    small, large = (define_unit("rack", Fraction(size), parse_unit("node")) for size in (10, 40))
    for rack, size in ((small, 10.0), (large, 40.0), (small, 10.0)):
        (step,) = convert(parse_unit("rack", (rack,)), parse_unit("node"))
        assert (step.constant, step.value, step.divide) == ("node_per_rack", size, False)


def test_a_known_name_is_refused() -> None:
    with pytest.raises(UnitError):
        define_base_unit("token")


def test_a_thing_of_the_model_may_be_left_out_of_a_number(tmp_path: Path) -> None:
    text = MODEL.replace("RACK", "12")
    text += "  load: {unit: GB/shelf, value: 3 GiB, source: s}\n"
    plan = compile_model(_write(tmp_path, text)).plan
    assert plan is not None
    results, _ = evaluate(plan)
    assert results is not None
    assert results.scenarios["base"].number("load") == pytest.approx(3.221225472, rel=1e-15)
