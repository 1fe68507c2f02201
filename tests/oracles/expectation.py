"""What a workbook must show: a layout and the evaluator's results in → every cell that shows otherwise.

The cells that hold steps are named by the layout; what they must hold comes from the evaluator alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from openpyxl.utils import get_column_letter

from capgraph.analysis.findings import find
from capgraph.calculate import calculate
from capgraph.emit.xlsx.decision import verdict_label
from capgraph.emit.xlsx.layout import ACTIVE, CHECKS, SUMMARY, Layout, lay_out
from capgraph.evaluate import scenario_overrides, scenario_result
from capgraph.model import Value
from capgraph.plan import Fetch, Plan
from capgraph.results import ScenarioResult
from oracles.cells import Cell, same
from oracles.workbooks import Built

Look = Callable[[str, str], Cell]
"""Return the value of a cell by sheet and address."""


def layout_of(built: Built) -> Layout:
    """Return the map of a built workbook."""
    return lay_out(built.plan, built.results, find(built.plan, built.results))


def results_after(plan: Plan, changes: Mapping[str, Mapping[str, Value]]) -> dict[str, ScenarioResult]:
    """Return each scenario's results with what is changed in it."""
    scenarios = tuple(plan.model.scenarios)
    overrides = scenario_overrides(plan, scenarios, [changes.get(name, {}) for name in scenarios])
    columns = calculate(plan, overrides, len(scenarios))
    return {name: scenario_result(plan, columns, lane) for lane, name in enumerate(scenarios)}


def mismatches(
    layout: Layout, results: Mapping[str, ScenarioResult], selected: str, look: Look
) -> Iterator[str]:
    """Yield a line for each cell that does not show what the evaluator says of its scenario."""
    columns = [(get_column_letter(number), scenario) for number, scenario in layout.columns()]
    for letter, scenario in ((get_column_letter(ACTIVE), selected), *columns):
        for name, value in results[scenario].values.items():
            title, row = layout.home(("step", name))
            found = look(title, f"{letter}{row}")
            if not _shows(layout.plan, name, found, value):
                yield f"{title}!{letter}{row} {name} in {scenario}: {found!r} instead of {value!r}"
        yield from _statuses(layout, results[scenario], letter, scenario, look)
    yield from _sentences(layout, results[selected], look)


def _shows(plan: Plan, name: str, found: Cell, value: Value | None) -> bool:
    if value is None and isinstance(plan.by_id[name], Fetch):
        return found in ("n/a", "#N/A")
    if value is None:
        return isinstance(found, str) and found.startswith("#")
    return same(found, value)


def _statuses(
    layout: Layout, result: ScenarioResult, letter: str, scenario: str, look: Look
) -> Iterator[str]:
    rows = layout.rows[CHECKS]
    for name, outcome in result.checks.items():
        fails = "FAIL" if layout.plan.model.checks[name].severity == "error" else "warn"
        found, wanted = look(CHECKS, f"{letter}{rows['status', name]}"), "pass" if outcome.holds else fails
        if found != wanted:
            yield f"check {name} in {scenario}: {found!r} instead of {wanted!r}"
    if ("verdict", "option") in rows:
        found = look(CHECKS, f"{letter}{rows['verdict', 'option']}")
        if found != verdict_label(layout, result):
            yield f"verdict in {scenario}: {found!r} instead of {verdict_label(layout, result)!r}"
    if (found := look(CHECKS, f"{letter}{rows['overall', 'integrity']}")) != "pass":
        yield f"integrity in {scenario}: {found!r}"


def _sentences(layout: Layout, result: ScenarioResult, look: Look) -> Iterator[str]:
    for name, outcome in result.checks.items():
        found = look(CHECKS, f"B{layout.rows[CHECKS]['status', name]}")
        if found != outcome.message:
            yield f"message of {name}: {found!r} instead of {outcome.message!r}"
    if result.verdict is not None and ("verdict", "option") in layout.rows[CHECKS]:
        found = look(SUMMARY, "B6")
        if found != result.verdict.headline:
            yield f"headline: {found!r} instead of {result.verdict.headline!r}"


def edits_as_changes(
    plan: Plan, base: Mapping[str, Value], own: Sequence[tuple[str, str, Value]] = ()
) -> dict[str, dict[str, Value]]:
    """Return what edits mean: of base cells, where no scenario overrides them, and of scenarios' own cells."""
    changes: dict[str, dict[str, Value]] = {
        name: {quantity: value for quantity, value in base.items() if quantity not in scenario.settings}
        for name, scenario in plan.model.scenarios.items()
    }
    for scenario, quantity, value in own:
        changes[scenario][quantity] = value
    return changes
