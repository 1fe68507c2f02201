"""The commands about measurements: `backtest`.

In: a plan and a file of measurements → Out: errors by group and the worst rows, or every row as JSON.
Invariant: what cannot be compared is told on standard error; the rest is still shown.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from capgraph.cli.session import Settings, chosen_scenarios, chosen_settings, default_plan, load, stop
from capgraph.diagnostics import Diagnostic, did_you_mean, has_errors, known_names
from capgraph.findings import Backtest, Errors
from capgraph.measurement.data import Data
from capgraph.model import Value
from capgraph.notation import NARROW_SPACE, show_number
from capgraph.plan import Plan

WORST_SHOWN = 5


def load_data(plan: Plan, file: Path, changes: Mapping[str, Value], settings: Settings) -> Data:
    """Read a file of measurements and bind it to the plan; a file that cannot be used ends the process with 2."""
    from capgraph.measurement.data import bind
    from capgraph.measurement.readers import read_measurements

    table, found = read_measurements(file)
    if table is None or has_errors(found):
        stop(found, settings, 2)
    data, more = bind(table, plan.model)
    if data is None or has_errors(more):
        stop((*found, *more), settings, 2)
    settings.show((*found, *more))
    return data.setting(changes)


def run_backtest(
    argument: str | None,
    file: Path | None,
    scenario: str | None,
    texts: Sequence[str],
    by: Sequence[str],
    as_json: bool,
    settings: Settings,
) -> None:
    """Print how far the model is from measurements."""
    from capgraph.measurement.backtest import backtest

    if file is None:
        argument, file = _lone_argument(argument)
    plan = load(argument, settings)
    asked = [scenario] if scenario else [next(iter(plan.model.scenarios))]
    (selected,) = chosen_scenarios(plan, asked, settings)
    changes = chosen_settings(plan, texts, settings)
    files = [file] if file else [Path(name) for name in plan.model.evidence]
    if not files:
        message = "no file of measurements is named, and the model has no `evidence:`"
        stop((Diagnostic("CG801", message, None, "write `capgraph backtest PLAN data.csv`"),), settings, 2)
    made: list[Backtest] = []
    for item in files:
        data = load_data(plan, item, changes, settings)
        _check_groups(by, data, settings)
        result, found = backtest(plan, selected, data, by)
        if result is None:
            stop(found, settings)
        settings.show(found)
        made.append(result)
    if as_json:
        typer.echo(_json(plan, made))
        return
    for number, result in enumerate(made):
        if number:
            typer.echo()
        _print(plan, argument, result)


def _lone_argument(argument: str | None) -> tuple[str | None, Path | None]:
    """Tell a file of measurements from a plan where only one of them is given."""
    if argument is not None and Path(argument).is_file() and Path(argument).suffix not in (".yaml", ".yml"):
        return None, Path(argument)
    return argument, None


def _check_groups(by: Sequence[str], data: Data, settings: Settings) -> None:
    known = (*data.settings, *data.labels)
    wrong = next((name for name in by if name not in known), None)
    if wrong is not None:
        way_out = did_you_mean(wrong, known) or f"columns: {known_names(known)}"
        message = f"`{wrong}` is no column that rows could be grouped by"
        stop((Diagnostic("CG803", message, None, way_out),), settings, 2)


def _print(plan: Plan, argument: str | None, made: Backtest) -> None:
    quantities = plan.model.quantities
    typer.echo(
        f"{made.data}: {len(made.rows)} rows against {plan.model.plan or plan.model.id}, {made.scenario}\n"
    )
    head = ("", "rows", "mean error", "median", "90th pct", "bias")
    lines: list[tuple[str, ...]] = []
    for name, errors in made.errors.items():
        if not errors.count:
            continue
        lines.append((f"{quantities[name].label}  [{name}]", *_shown(errors)))
        for column, groups in made.groups.items():
            parts = {group: own[name] for group, own in groups.items() if name in own}
            if len(parts) > 1:
                lines.append((f"  by {column}", *[""] * 5))
                lines.extend((f"    {group or '(none)'}", *_shown(item)) for group, item in parts.items())
    _print_table([head, *lines])
    for name in made.comparisons:
        _print_worst(plan, argument, made, name)


def _shown(errors: Errors) -> tuple[str, ...]:
    sizes = (errors.mean, errors.median, errors.p90)
    return (f"{errors.count:,}", *(f"{100 * size:.1f}%" for size in sizes), f"{100 * errors.bias:+.1f}%")


def _print_table(lines: Sequence[Sequence[str]]) -> None:
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        cells = (text.rjust(width) for text, width in zip(line[1:], widths[1:], strict=True))
        typer.echo("  ".join((line[0].ljust(widths[0]), *cells)).rstrip())


def _print_worst(plan: Plan, argument: str | None, made: Backtest, name: str) -> None:
    from capgraph.measurement.backtest import relative_errors, worst

    comparison, unit = made.comparisons[name], plan.model.quantities[name].unit_text
    rows = worst(comparison, WORST_SHOWN)
    if not rows:
        return
    errors = relative_errors(comparison)
    typer.echo(f"\nFurthest off in {name}, predicted and measured in {unit}:")
    for row in rows:
        pair = f"{show_number(comparison.predicted[row], 4)} for {show_number(comparison.measured[row], 4)}"
        told = ", ".join(text for text in (values[row] for values in made.labels.values()) if text)
        line = f"  {made.rows[row]}: {pair} ({100 * errors[row]:+.0f}%)"
        typer.echo(_cut(f"{line}  {told}", 160).replace(NARROW_SPACE, " "))
    command = ["capgraph", "why", name, argument or default_plan(), "--scenario", made.scenario]
    for item in made.settings[rows[0]]:
        command += ["--set", item]
    typer.echo(f"Why the first: {shlex.join(command)}")


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _json(plan: Plan, made: Sequence[Backtest]) -> str:
    units = {name: item.unit_text for name, item in plan.model.quantities.items()}
    document = {
        "model": plan.model.id,
        "plan": plan.model.plan,
        "backtests": [
            {
                "data": item.data,
                "sha256": item.digest,
                "scenario": item.scenario,
                "quantities": {
                    name: {
                        "unit": units[name],
                        **_record(item.errors[name]),
                        "groups": {
                            column: {
                                group: _record(own[name]) for group, own in groups.items() if name in own
                            }
                            for column, groups in item.groups.items()
                        },
                    }
                    for name in item.comparisons
                },
                "rows": [_row(item, row) for row in range(len(item.rows))],
            }
            for item in made
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)


def _record(errors: Errors) -> dict[str, float | int | None]:
    sizes = {"mean": errors.mean, "median": errors.median, "p90": errors.p90, "bias": errors.bias}
    return {"count": errors.count, **{name: size if errors.count else None for name, size in sizes.items()}}


def _row(made: Backtest, row: int) -> dict[str, object]:
    pairs = {
        name: {"predicted": _finite(item.predicted[row]), "measured": _finite(item.measured[row])}
        for name, item in made.comparisons.items()
    }
    labels = {name: texts[row] for name, texts in made.labels.items() if texts[row]}
    return {"at": made.rows[row], "set": list(made.settings[row]), "labels": labels, **pairs}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
