"""A calibration: fitted parameters, how near they bring predictions, and how far to trust them.

In: nothing → Out: the frozen types that `calibrate` makes, and that the command line and the plan's writer read.
Invariant: numbers are in the parameters' own units; errors are relative to the measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from capgraph.findings import Errors
from capgraph.measurement.parameters import Parameter

WHOLE = ""
"""The group of all rows, where none are asked for."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A parameter in its unit: before and after, its standard error, and the 95 % interval within its limits.

    `error` is None for a parameter at its limit, of which the data say no more; `before` where it had no value.
    """

    parameter: str
    before: float | None
    value: float
    error: float | None
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Closeness:
    """How near predictions are before and after the fit, and (`folds`) to rows that were left out of it."""

    before: Errors
    after: Errors
    folds: Errors


@dataclass(frozen=True, slots=True)
class GroupFit:
    """A group's fit; without estimates it keeps its values. `each` is by measured quantity.

    `correlation` holds each pair of estimates.
    """

    group: str
    whole: Closeness
    each: Mapping[str, Closeness]
    estimates: Mapping[str, Estimate]
    correlation: Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Parameters fitted to measurements of the quantities `of`, by the groups of some columns.

    `left_out` holds, by column and measured quantity, the errors on each of the column's groups when nothing of that
    group was fitted to; those of all of them come last, under `WHOLE`.
    """

    data: str
    digest: str
    scenario: str
    of: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    by: tuple[str, ...]
    whole: Closeness
    each: Mapping[str, Closeness]
    groups: Mapping[str, GroupFit]
    options: Mapping[str, Mapping[str, tuple[str, ...]]]
    """By group, the rows of catalogs that its measurements take, for each choice whose row holds a parameter."""
    left_out: Mapping[str, Mapping[str, Mapping[str, Errors]]]
