"""Estimates against measurements: how far off the model is, by group, and where most.

In: the case, with the backtests of its findings → Out: a view of each quantity that a file measures.
Invariant: every share and error is the backtest's own; a row is named by its file and line, never by a folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from capgraph.emit.memo.case import Case
from capgraph.emit.memo.cite import column_name, group_name
from capgraph.emit.memo.measured import BacktestView, ErrorRow, ErrorTable, WorstRow
from capgraph.emit.memo.scatter import draw_scatter
from capgraph.findings import Backtest, Errors
from capgraph.measurement.backtest import relative_errors, worst
from capgraph.model import Choose
from capgraph.notation import MINUS, plural, show_setting, show_value

_GROUPS_SHOWN = 8
_WORST_SHOWN = 3
_LONGEST_TOLD, _MOST_TOLD = 40, 68


def backtest_views(case: Case) -> tuple[BacktestView, ...]:
    """Return each measured quantity of each file, in their order."""
    return tuple(
        _view(case, item, number, name)
        for number, item in enumerate(case.findings.backtests)
        for name, errors in item.errors.items()
        if errors.count
    )


def _view(case: Case, item: Backtest, number: int, name: str) -> BacktestView:
    errors = item.errors[name]
    return BacktestView(
        quantity=case.citations.figure(name),
        unit=plural(case.plan.model.quantities[name].unit_text),
        data=item.data,
        count=f"{errors.count:,}",
        median=_share(errors.median),
        mean=_share(errors.mean),
        p90=_share(errors.p90),
        bias=_share(abs(errors.bias)),
        leans="" if _share(abs(errors.bias)) == _share(0.0) else "high" if errors.bias > 0 else "low",
        within_10=f"{errors.within_10:.0%}",
        within_25=f"{errors.within_25:.0%}",
        drawing=draw_scatter(case, item, number, name),
        table=_table(case, item, name),
        worst=tuple(_worst(case, item, name)),
    )


def _table(case: Case, item: Backtest, name: str) -> ErrorTable | None:
    """Return the errors by the column whose groups differ most; of many groups the largest."""
    told = {column: _of(groups, name) for column, groups in item.groups.items()}
    several = {column: groups for column, groups in told.items() if len(groups) > 1}
    if not several:
        return None
    column = max(several, key=lambda column: _spread(several[column].values(), item.errors[name].mean))
    groups = several[column]
    largest = sorted(groups, key=lambda group: -groups[group].count)[:_GROUPS_SHOWN]
    rows = tuple(
        _row(group_name(case.plan, column, group), groups[group]) for group in groups if group in largest
    )
    return ErrorTable(column_name(case.plan, column), rows, len(groups) - len(rows), len(several) - 1)


def _spread(groups: Iterable[Errors], mean: float) -> float:
    """Return how far the groups' mean errors lie from that of all, weighed by their rows."""
    return sum(errors.count * abs(errors.mean - mean) for errors in groups)


def _of(groups: Mapping[str, Mapping[str, Errors]], name: str) -> dict[str, Errors]:
    return {group: errors[name] for group, errors in groups.items() if name in errors}


def _row(group: str, errors: Errors) -> ErrorRow:
    bias = _signed(errors.bias, _share(abs(errors.bias)))
    return ErrorRow(
        group, f"{errors.count:,}", _share(errors.mean), _share(errors.median), _share(errors.p90), bias
    )


def _share(value: float) -> str:
    return f"{100 * value:.1f}%"


def _signed(value: float, text: str) -> str:
    """Write a sign before a share, but before none that is written as zero."""
    return text if not text.strip("0.%") else f"{'+' if value > 0 else MINUS}{text}"


def _worst(case: Case, item: Backtest, name: str) -> Iterator[WorstRow]:
    comparison = item.comparisons[name]
    errors = relative_errors(comparison)
    for row in worst(comparison, _WORST_SHOWN):
        told = ", ".join(_told(case, item, row))
        yield WorstRow(
            place=f"{item.data}:{item.rows[row].rpartition(':')[2]}",
            told=told if len(told) <= _MOST_TOLD else f"{told[: _MOST_TOLD - 1]}…",
            predicted=show_value(comparison.predicted[row]),
            measured=show_value(comparison.measured[row]),
            error=_signed(errors[row], f"{abs(errors[row]):.0%}"),
        )


def _told(case: Case, item: Backtest, row: int) -> Iterator[str]:
    """Yield what tells a row from others: rows that its choices take, its short labels, then the numbers it sets."""
    quantities = case.plan.model.quantities
    own = {column: show_setting(value) for column, value in item.set_in(row).items()}
    choices = [name for name in own if isinstance(quantities[name].definition, Choose)]
    yield from (group_name(case.plan, name, own[name]) for name in choices)
    yield from (texts[row] for texts in item.labels.values() if 0 < len(texts[row]) <= _LONGEST_TOLD)
    yield from (f"{name}={text}" for name, text in own.items() if name not in choices)
