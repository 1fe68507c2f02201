"""Units: what a text means, how two units convert, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from capgraph.units import (
    UnitError,
    conversion_factor,
    convert,
    known_units,
    parse_unit,
    power,
    product,
    quotient,
    spell,
    spelled_units,
)


@pytest.mark.parametrize(
    ("text", "size", "dimension"),
    [
        ("B", 1, "byte"),
        ("GB", 1000**3, "byte"),
        ("GiB", 1024**3, "byte"),
        ("bit", Fraction(1, 8), "byte"),
        ("KiB/token", 1024, "byte/token"),
        ("TB/s/GPU", 1000**4, "byte/GPU/second"),
        ("ms", Fraction(1, 1000), "second"),
        ("µs", Fraction(1, 10**6), "second"),
        ("μs", Fraction(1, 10**6), "second"),
        ("us", Fraction(1, 10**6), "second"),
        ("week", 7 * 86400, "second"),
        ("year", 12, "month"),
        ("USD/Mtoken", Fraction(1, 10**6), "USD/token"),
        ("USD/GPU-hour", Fraction(1, 3600), "USD/GPU/second"),
        ("GPU-hour", 3600, "GPU*second"),
        ("TFLOP/s", 10**12, "FLOP/second"),
        ("kW", Fraction(1000, 3600), "watt_hour/second"),
        ("kWh", 1000, "watt_hour"),
        ("%", Fraction(1, 100), "1"),
        ("percent", Fraction(1, 100), "1"),
        ("count", 1, "1"),
        ("ratio", 1, "1"),
        ("fraction", 1, "1"),
        ("1", 1, "1"),
        ("1/s", 1, "1/second"),
        ("B^2", 1, "byte^2"),
        ("GB·s", 1000**3, "byte*second"),
        (" GiB / GPU ", 1024**3, "byte/GPU"),
        ("GPU/GPU", 1, "1"),
    ],
)
def test_a_unit_has_a_size_and_a_dimension(text: str, size: Fraction | int, dimension: str) -> None:
    unit = parse_unit(text)
    assert unit.size == size
    assert unit.dimension == parse_unit(dimension).dimension
    assert str(unit) == text.strip()
    assert unit.is_plain == (dimension == "1")


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("", ""),
        ("  ", ""),
        ("gb", "gb"),
        ("m", "m"),
        ("k", "k"),
        ("Ki", "Ki"),
        ("GiB/", ""),
        ("/s", "/"),
        ("GiB per GPU", "per"),
        ("USD/(GPU*hour)", "("),
        ("B**2", "*"),
        ("B^x", "^"),
        ("B^0.5", "^"),
        ("B^-1", "^"),
        ("B^31", "31"),
        ("B^99999999999", "99999999999"),
        ("PB^20", ""),
        ("2", "2"),
        ("$", "$"),
        ("€/month", "€"),
        ("GiB_", "GiB_"),
        ("GPU-", ""),
    ],
)
def test_what_is_no_unit_is_refused_with_the_part_that_is_wrong(text: str, symbol: str) -> None:
    with pytest.raises(UnitError) as caught:
        parse_unit(text)
    assert caught.value.symbol.removesuffix("/1") == symbol
    assert caught.value.is_unknown == (symbol.isidentifier() and symbol != "per")


@pytest.mark.parametrize("left", ["GiB/GPU", "s", "USD/GPU-hour", "count", "%"])
@pytest.mark.parametrize("right", ["GPU/replica", "1/s", "Mtoken", "%", "B^2"])
def test_products_and_quotients_are_those_of_sizes_and_dimensions(left: str, right: str) -> None:
    a, b = parse_unit(left), parse_unit(right)
    assert product(a, b).size == a.size * b.size
    assert quotient(a, b).size == a.size / b.size
    assert quotient(product(a, b), b) == a
    assert product(a, b) == parse_unit(
        f"{left}*{right.replace('1/s', '1')}" + ("/s" if right == "1/s" else "")
    )
    assert power(a, Fraction(2)) == product(a, a)
    assert power(power(a, Fraction(2)), Fraction(1, 2)).dimension == a.dimension


@pytest.mark.parametrize(
    ("source", "target", "steps"),
    [
        ("GiB", "GiB", []),
        ("GiB/GPU", "GiB/GPU", []),
        ("GiB", "KiB", [("KiB_per_GiB", 1048576.0, False)]),
        ("KiB", "GiB", [("KiB_per_GiB", 1048576.0, True)]),
        ("GB", "GiB", [("GB_per_GiB", 1.073741824, True)]),
        ("ms", "s", [("ms_per_s", 1000.0, True)]),
        ("µs", "s", [("us_per_s", 1e6, True)]),
        ("B/TB", "count", [("B_per_TB", 1e12, True)]),
        ("TFLOP/FLOP", "count", [("FLOP_per_TFLOP", 1e12, False)]),
        ("fraction", "%", [("percent_per_one", 100.0, False)]),
        ("token/s", "Mtoken/day", [("s_per_day", 86400.0, False), ("token_per_Mtoken", 1e6, True)]),
        ("USD/GPU-hour", "USD/GPU-s", [("s_per_hour", 3600.0, True)]),
        ("GB^2", "B^2", [("B_per_GB", 1e9, False), ("B_per_GB", 1e9, False)]),
    ],
)
def test_a_conversion_names_its_constants(
    source: str, target: str, steps: list[tuple[str, float, bool]]
) -> None:
    found = convert(parse_unit(source), parse_unit(target))
    assert sorted((step.constant, step.value, step.divide) for step in found) == steps


def test_constants_of_roots_have_names_of_their_own() -> None:
    half = convert(power(parse_unit("GB"), Fraction(1, 2)), power(parse_unit("B"), Fraction(1, 2)))
    quarter = convert(power(parse_unit("GB"), Fraction(1, 4)), power(parse_unit("B"), Fraction(1, 4)))
    assert {step.constant for step in half}.isdisjoint(step.constant for step in quarter)


def test_a_factor_is_exact_as_far_as_a_double_goes() -> None:
    assert conversion_factor(parse_unit("GiB"), parse_unit("GB")) == 1.073741824
    assert conversion_factor(parse_unit("year"), parse_unit("month")) == 12.0


def test_what_is_too_large_to_calculate_with_is_refused() -> None:
    unit = parse_unit("PB^9")
    with pytest.raises(UnitError, match="too large"):
        product(unit, unit)
    with pytest.raises(UnitError, match="exponent beyond"):
        power(parse_unit("B"), Fraction(10**9))


def test_every_unit_that_is_offered_exists_and_keeps_its_spelling() -> None:
    for text in spelled_units():
        unit = parse_unit(text)
        assert parse_unit(spell(unit.terms)) == unit
    assert {"B", "GPU", "USD", "%", "hour"} <= set(known_units())
    assert "GiB" in spelled_units()
