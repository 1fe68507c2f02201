"""Measurements × the model → predictions beside what was measured, and how far off they are.

In: a plan, the scenario that rows start from, and their data → Out: `Backtest` and diagnostics.
Invariant: all rows are lanes of one calculation, of no more steps than the predictions need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from capgraph.calculate import calculate
from capgraph.diagnostics import Diagnostic, has_errors
from capgraph.evaluate import scenario_overrides
from capgraph.findings import Backtest, Comparison, Errors
from capgraph.measurement.data import Data, bind
from capgraph.measurement.readers import read_measurements
from capgraph.model import Choose, Value
from capgraph.notation import show_setting
from capgraph.plan import Plan

MOST_GROUPS = 12


def overrides(plan: Plan, scenario: str, data: Data) -> dict[str, list[Value | None]]:
    """Return what each row sets: the scenario's settings, and over them the row's own."""
    rows = [{name: values[row] for name, values in data.settings.items()} for row in range(data.size)]
    own = [{name: value for name, value in row.items() if value is not None} for row in rows]
    made = scenario_overrides(plan, (scenario,) * data.size, own)
    # What was measured is what the model is asked for: it must not be set as well.
    return {name: values for name, values in made.items() if name not in data.measured}


def backtest(
    plan: Plan, scenario: str, data: Data, by: Sequence[str] = ()
) -> tuple[Backtest | None, tuple[Diagnostic, ...]]:
    """Hold the model against measurements, as a whole and by groups that columns name."""
    columns = calculate(plan, overrides(plan, scenario, data), data.size, tuple(data.measured))
    found = tuple(
        _told(data, failure.message, failure.code, failure.step, failure.lanes)
        for failure in columns.failures
    )
    comparisons = {}
    for name, measured in data.measured.items():
        predicted = np.asarray(columns.values[name], dtype=float)
        comparisons[name] = Comparison(name, tuple(predicted.tolist()), tuple(measured.tolist()))
    errors = {name: errors_of(item) for name, item in comparisons.items()}
    if not any(item.count for item in errors.values()):
        message = f"no row of {data.source.name} has both a measurement and a prediction"
        return None, (*found, Diagnostic("CG816", message, None, "see the warnings above"))
    groups = {
        column: _groups(column_of(plan, data, column), comparisons) for column in by or grouping(plan, data)
    }
    lines = tuple(f"{data.source.path or data.source.name}:{line}" for line in data.lines)
    made = Backtest(
        data.source.name,
        data.digest,
        scenario,
        lines,
        data.settings,
        comparisons,
        errors,
        groups,
        data.labels,
    )
    return made, found


def held_against(plan: Plan, scenario: str, path: Path) -> tuple[Backtest | None, tuple[Diagnostic, ...]]:
    """Read a file of measurements and hold the model against it; nothing where the file cannot be used."""
    table, found = read_measurements(path)
    if table is None or has_errors(found):
        return None, found
    data, more = bind(table, plan.model)
    found += more
    if data is None or has_errors(more):
        return None, found
    made, more = backtest(plan, scenario, data)
    return made, (*found, *more)


def grouping(plan: Plan, data: Data) -> tuple[str, ...]:
    """Return the columns that tell rows apart in a few groups: choices that rows set, and labels."""
    names = [name for name in data.settings if isinstance(plan.model.quantities[name].definition, Choose)]
    found = []
    for name in (*names, *data.labels):
        texts = column_of(plan, data, name)
        repeated = len(set(texts)) <= min(MOST_GROUPS, max(data.size // 2, 1))
        if len(set(texts)) > 1 and repeated:
            found.append(name)
    return tuple(found)


def column_of(plan: Plan, data: Data, name: str) -> tuple[str, ...]:
    """Return a label, or what rows set, as texts. Raises KeyError for a column that the data do not have."""
    if name in data.labels:
        return data.labels[name]
    return tuple("" if value is None else show_setting(value) for value in data.settings[name])


def texts_of(plan: Plan, scenario: str, data: Data, name: str) -> tuple[str, ...]:
    """Return a label, what rows set, or the option that a choice takes in each row, whoever sets it."""
    quantity = plan.model.quantities.get(name)
    if quantity is None or not isinstance(quantity.definition, Choose):
        return column_of(plan, data, name)
    return tuple(map(str, calculate(plan, overrides(plan, scenario, data), data.size, (name,)).values[name]))


def select(plan: Plan, scenario: str, data: Data, where: Mapping[str, Sequence[str]]) -> Data:
    """Return the rows in which each column that is named holds one of its texts."""
    kept = set(range(data.size))
    for name, texts in where.items():
        own = texts_of(plan, scenario, data, name)
        kept = {row for row in kept if own[row] in texts}
    return data.only(sorted(kept)) if where else data


def _groups(
    texts: Sequence[str], comparisons: Mapping[str, Comparison]
) -> Mapping[str, Mapping[str, Errors]]:
    """Return the errors of each group, for each quantity, in the order of the groups' names."""
    made: dict[str, dict[str, Errors]] = {}
    for text in sorted(set(texts)):
        rows = [row for row, own in enumerate(texts) if own == text]
        errors = {name: errors_of(item, rows) for name, item in comparisons.items()}
        made[text] = {name: item for name, item in errors.items() if item.count}
    return made


def errors_of(comparison: Comparison, rows: Sequence[int] | None = None) -> Errors:
    """Return the error statistics of some rows, all of them when none are named; a row without either number is out."""
    errors = relative_errors(comparison)
    errors = errors if rows is None else errors[list(rows)]
    errors = errors[np.isfinite(errors)]
    if not errors.size:
        return Errors(0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    size = np.abs(errors)
    return Errors(
        int(errors.size),
        float(size.mean()),
        float(np.median(size)),
        float(np.quantile(size, 0.9)),
        float(errors.mean()),
        _within(size, 0.10),
        _within(size, 0.25),
    )


def _within(size: NDArray[np.float64], bound: float) -> float:
    return float(np.mean(size <= bound))


def relative_errors(comparison: Comparison) -> NDArray[np.float64]:
    """Return (predicted - measured) / measured a row; nan where either is missing. Shape: (rows,)."""
    predicted, measured = (
        np.array(comparison.predicted, dtype=float),
        np.array(comparison.measured, dtype=float),
    )
    errors: NDArray[np.float64] = (predicted - measured) / measured
    return errors


def worst(comparison: Comparison, number: int) -> tuple[int, ...]:
    """Return the rows that are furthest off, the worst first."""
    size = np.abs(relative_errors(comparison))
    order = np.argsort(np.where(np.isfinite(size), -size, np.inf), kind="stable")
    return tuple(int(row) for row in order[:number] if np.isfinite(size[row]))


def _told(data: Data, message: str, code: str, step: str, lanes: Sequence[int]) -> Diagnostic:
    lines = [data.lines[lane] for lane in lanes]
    shown = ", ".join(map(str, lines[:3])) + (f" and {len(lines) - 3} more" if len(lines) > 3 else "")
    what = f"`{step}` has no value in line{'s' * (len(lines) > 1)} {shown} of {data.source.name}"
    return Diagnostic(code, f"{what}: {message}", None, "these rows are left out", severity="warning")
