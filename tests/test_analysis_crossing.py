"""Where a function meets a wanted number: against closed forms, whatever its shape."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from capgraph.analysis.crossing import Floats, crossings, nearest, values_to_try
from capgraph.model import Limits

FREE = Limits()


def found(
    function: Callable[[Floats], Floats], start: float, limits: Limits = FREE
) -> tuple[list[float], float]:
    """Return the crossings of one input, in ascending order, and where it comes nearest."""

    def gap(_: NDArray[np.intp], values: Floats) -> Floats:
        return np.asarray(function(values))[:, None]

    grids = [values_to_try(start, limits)]
    return sorted(value for _, value in crossings(gap, grids, [start])), nearest(gap, grids, [start])[0][1]


def test_a_line_is_met_where_it_is() -> None:
    values, place = found(lambda x: 3 * x - 7, 1.0)
    assert values == pytest.approx([7 / 3], rel=1e-15)
    assert place == pytest.approx(7 / 3, rel=1e-6)


def test_both_sides_are_looked_at() -> None:
    values, _ = found(lambda x: (x - 2) * (x - 50), 10.0)
    assert values == pytest.approx([2, 50], rel=1e-14)


def test_the_nearest_crossing_of_several_is_taken() -> None:
    values, _ = found(np.cos, 0.1, Limits(minimum=0.0, maximum=20.0))
    assert values == pytest.approx([math.pi / 2], rel=1e-14)


def test_a_jump_is_taken_on_the_side_that_is_nearer() -> None:
    values, _ = found(lambda x: np.where(x < 5, -0.1, 0.4), 1.0)
    assert values[0] < 5
    assert values == pytest.approx([5])
    values, _ = found(lambda x: np.where(x < 5, -0.4, 0.1), 1.0)
    assert values[0] >= 5


def test_of_a_plateau_the_near_edge_is_taken() -> None:
    values, _ = found(lambda x: np.floor(x) - 7, 3.2)
    assert values == [7.0]
    values, _ = found(lambda x: np.floor(x) - 7, 30.0)
    assert values == [pytest.approx(8.0)]
    assert values[0] < 8


def test_what_has_no_value_is_stepped_over() -> None:
    values, _ = found(lambda x: np.where((x > 2) & (x < 3), np.nan, x - 4), 1.0)
    assert values == pytest.approx([4], rel=1e-15)
    assert found(lambda x: np.full(x.shape, np.nan), 1.0)[0] == []


def test_what_is_never_met_comes_nearest_somewhere() -> None:
    values, place = found(lambda x: (x - 3) ** 2 + 1, 1.0, Limits(minimum=0.0, maximum=10.0))
    assert values == []
    assert place == pytest.approx(3, abs=1e-6)


def test_what_is_met_already_stays() -> None:
    assert found(lambda x: x - 4, 4.0)[0] == [4.0]


@pytest.mark.parametrize(
    ("value", "limits", "ends"),
    [
        (50.0, Limits(), (0, 50_000)),
        (50.0, Limits(10, 60, 5, 100), (5, 100)),
        (0.0, Limits(), (0, 1e6)),
        (0.0, Limits(0, 0.7), (0, 700)),
        (-3.0, Limits(), (-3000, 3000)),
        (20.0, Limits(-5, 40), (-5000, 20_000)),
        (5.0, Limits(minimum=5, maximum=5), (5, 5)),
    ],
)
def test_an_input_is_followed_to_its_limits(value: float, limits: Limits, ends: tuple[float, float]) -> None:
    values = values_to_try(value, limits)
    assert (values[0], values[-1]) == pytest.approx(ends)
    assert value in values
    assert (np.diff(values) > 0).all()


@given(
    st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.sampled_from([0.5, 1.0, 2.0, -1.0]), st.floats(0.01, 100)
)
def test_what_is_found_put_in_gives_what_was_wanted(
    start: float, scale: float, power: float, ratio: float
) -> None:
    wanted = scale * (start * ratio) ** power
    values, _ = found(lambda x: scale * np.maximum(x, 1e-300) ** power / wanted - 1, start)
    assert min(abs(scale * value**power / wanted - 1) for value in values) < 1e-12
