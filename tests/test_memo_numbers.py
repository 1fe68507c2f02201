"""Numbers for people: what is written, and that it means the value it was written from."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capgraph.notation import (
    show_change,
    show_constant,
    show_decimals,
    show_exact,
    show_given,
    show_in_prose,
    show_number,
    show_value,
    without_unit,
)


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (14400.0, "USD/month", "14,400\u202fUSD/month"),
        (12719.52, "USD/month", "12,720\u202fUSD/month"),
        (2.5, "USD/GPU-hour", "2.50\u202fUSD/GPU-hour"),
        (0.925926, "USD/Mtoken", "0.926\u202fUSD/Mtoken"),
        (3.0, "USD/Mtoken", "3\u202fUSD/Mtoken"),
        (1234567.0, "USD/month", "1,230,000\u202fUSD/month"),
        (317557029.0, "token/day", "318,000,000\u202ftoken/day"),
        (169.61484, "GiB/replica", "170\u202fGiB/replica"),
        (0.0251923, "fraction", "2.52%"),
        (2.5, "%", "2.5%"),
        (3.0, "ratio", "3"),
        (9999.0, "count", "9,999"),
        (12345.0, "count", "12,300"),
        (2.1e14, "FLOP/request", "2.1×10¹⁴\u202fFLOP/request"),
        (1.5e-7, "s", "1.5×10⁻⁷\u202fs"),
        (-7956.3, "USD/month", "−7,956\u202fUSD/month"),
        (0.0, "s", "0\u202fs"),
        (9.999, "s", "10\u202fs"),
        (True, "yes/no", "yes"),
        (False, "", "no"),
        ("h100", "", "h100"),
        (None, "s", "n/a"),
    ],
)
def test_a_value_as_people_write_it(value: float | bool | str | None, unit: str, shown: str) -> None:
    assert show_value(value, unit) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (90e6, "token/day", "90\u202fmillion\u202ftoken/day"),
        (70553706496.0, "parameter", "70.6\u202fbillion\u202fparameters"),
        (999_700_000.0, "token", "1\u202fbillion\u202ftokens"),
        (999_999.0, "token", "1,000,000\u202ftokens"),
        (2e6, "count", "2,000,000"),
        (12720.0, "USD/month", "12,720\u202fUSD/month"),
        (0.5, "fraction", "50%"),
    ],
)
def test_a_value_inside_a_sentence(value: float, unit: str, shown: str) -> None:
    assert show_in_prose(value, unit) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (70553706496.0, "parameter", "70,553,706,496\u202fparameters"),
        (79.19, "GiB/GPU", "79.19\u202fGiB/GPU"),
        (0.07, "fraction", "7%"),
        (0.9997, "fraction", "99.97%"),
        (2.5, "USD/GPU-hour", "2.50\u202fUSD/GPU-hour"),
        (131072.0, "token/sequence", "131,072\u202ftoken/sequence"),
        (46.566128730773926, "GiB/replica", "46.5661\u202fGiB/replica"),
        (1e-9, "s", "1×10⁻⁹\u202fs"),
        (True, "", "yes"),
    ],
)
def test_an_input_keeps_its_digits(value: float | bool, unit: str, shown: str) -> None:
    assert show_given(value, unit) == shown


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (100.0, 126.0, "+26%"),
        (100.0, 71.0, "−29%"),
        (100.0, 280.0, "×2.8"),
        (100.0, 5.0, "×0.05"),
        (100.0, 100.0, "unchanged"),
        (0.0, 5.0, ""),
        (-3.0, 5.0, ""),
        (100.0, 0.0, "×0"),
    ],
)
def test_a_change(before: float, after: float, shown: str) -> None:
    assert show_change(before, after) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (1.0, "node", "1\u202fnode"),
        (-1.0, "node", "−1\u202fnode"),
        (12.0, "node", "12\u202fnodes"),
        (0.0, "node", "0\u202fnodes"),
        (90.1, "month", "90.1\u202fmonths"),
        (252.0, "drive", "252\u202fdrives"),
        (6.0, "GPU", "6\u202fGPUs"),
        (2.0, "query", "2\u202fqueries"),
        (2.0, "box", "2\u202fboxes"),
        (2.0, "day", "2\u202fdays"),
        (5.0, "min", "5\u202fmin"),
        (5.0, "USD", "5\u202fUSD"),
        (5.0, "kW", "5\u202fkW"),
        (5.0, "s", "5\u202fs"),
        (5.0, "Mtoken", "5\u202fMtoken"),
        (5.0, "ktoken", "5\u202fktoken"),
        (5.0, "drive/node", "5\u202fdrive/node"),
        (5.0, "GPU-hour", "5\u202fGPU-hour"),
        (5.0, "rack_unit", "5\u202frack_unit"),
    ],
)
def test_a_unit_that_is_a_word_has_a_plural(value: float, unit: str, shown: str) -> None:
    for write in (show_value, show_in_prose, show_given):
        assert write(value, unit) == shown
    assert without_unit(shown, unit) == shown.partition("\u202f")[0]


def test_a_conversion_factor_is_in_full() -> None:
    assert show_constant(1048576.0) == "1,048,576"
    assert show_constant(931.3225746154785) == "931.323"


def _read(text: str) -> float:
    mantissa, _, power = text.replace(",", "").replace("−", "-").partition("×10")
    return float(mantissa) * 10.0 ** int(
        (power or "0").translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))
    )


NUMBERS = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e20, max_value=1e20)


@given(NUMBERS)
def test_a_shown_number_is_right_to_three_figures(value: float) -> None:
    assert _read(show_number(value)) == pytest.approx(value, rel=5.001e-3, abs=1e-300)


@given(st.decimals(min_value=-1_000_000, max_value=1_000_000, places=5) | st.integers(-(10**14), 10**14))
def test_a_typed_number_reads_back_the_same(value: Decimal | int) -> None:
    assert _read(show_exact(float(value))) == float(value)


@given(st.floats(min_value=-1e9, max_value=1e9), st.integers(min_value=0, max_value=6))
def test_decimals_are_as_many_as_asked_for(value: float, decimals: int) -> None:
    text = show_decimals(value, decimals)
    assert len(text.partition(".")[2]) == decimals
    assert float(text.replace(",", "")) == pytest.approx(value, abs=0.5000001 * 10.0**-decimals + 1e-15 * abs(value))
    assert not text.startswith("-0") or float(text.replace(",", "")) != 0
