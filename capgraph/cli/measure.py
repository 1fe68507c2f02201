"""The commands about measurements: `backtest`, and what `build` holds against them.

In: a plan and a file of measurements → Out: errors by group and the worst rows, or every row as JSON; for reports, all.
Invariant: what cannot be compared is told on standard error; the rest is still shown.
"""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import typer

from capgraph.cli.session import (
    Settings,
    chosen_scenarios,
    chosen_settings,
    default_plan,
    finite,
    load,
    stop,
    written_settings,
)
from capgraph.diagnostics import Diagnostic, did_you_mean, has_errors, known_names
from capgraph.findings import Backtest, Errors
from capgraph.measurement.data import Data
from capgraph.model import Choose, Value
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
    data, more = bind(table, plan.model, changes)
    if data is None or has_errors(more):
        stop((*found, *more), settings, 2)
    settings.show((*found, *more))
    return data


def report_backtests(plan: Plan, files: Sequence[Path], settings: Settings) -> tuple[Backtest, ...]:
    """Hold the plan against the evidence of its model, then against further files.

    A plan may have changed what the model's evidence measures: that is told as a warning, and the reports do without.
    A further file that cannot be used ends the process.
    """
    from capgraph.measurement.backtest import backtest, held_against

    scenario, made = next(iter(plan.model.scenarios)), []
    own = [Path(name) for name in plan.model.evidence]
    for item in own:
        result, found = held_against(plan, scenario, item)
        settings.show([replace(problem, severity="warning") for problem in found])
        made.append(result)
    for item in files:
        result, found = backtest(plan, scenario, load_data(plan, item, {}, settings))
        if result is None:
            stop(found, settings, 2)
        settings.show(found)
        made.append(result)
    return tuple(result for result in made if result is not None)


def run_backtest(
    argument: str | None,
    file: Path | None,
    scenario: str | None,
    texts: Sequence[str],
    rows: Sequence[str],
    by: Sequence[str],
    as_json: bool,
    settings: Settings,
) -> None:
    """Print how far the model is from measurements."""
    from capgraph.measurement.backtest import backtest

    if file is None:
        argument, file = lone_argument(argument)
    plan = load(argument, settings)
    asked = [scenario] if scenario else [next(iter(plan.model.scenarios))]
    (selected,) = chosen_scenarios(plan, asked, settings)
    changes = chosen_settings(plan, texts, settings)
    where = chosen_rows(rows, settings)
    made: list[Backtest] = []
    read: list[Data] = []
    for item in files_of(plan, file, "backtest", settings):
        data = select_rows(plan, selected, load_data(plan, item, changes, settings), where, settings)
        check_columns(by, (*data.settings, *data.labels), settings)
        result, found = backtest(plan, selected, data, by)
        if result is None:
            stop(found, settings)
        settings.show(found)
        made.append(result)
        read.append(data)
    if as_json:
        typer.echo(_json(plan, made, read))
        return
    for number, (result, data) in enumerate(zip(made, read, strict=True)):
        if number:
            typer.echo()
        typer.echo(
            f"{result.data}: {len(result.rows)} rows against {plan.model.plan or plan.model.id}, {selected}"
        )
        _print_read(plan, selected, data)
        _print(plan, argument, result)


def lone_argument(argument: str | None) -> tuple[str | None, Path | None]:
    """Tell a file of measurements from a plan where only one of them is given."""
    if argument is not None and Path(argument).is_file() and Path(argument).suffix not in (".yaml", ".yml"):
        return None, Path(argument)
    return argument, None


def files_of(plan: Plan, file: Path | None, command: str, settings: Settings) -> tuple[Path, ...]:
    """Return the file of measurements that is named, else those of the model."""
    files = (file,) if file else tuple(Path(name) for name in plan.model.evidence)
    if not files:
        message = "no file of measurements is named, and the model has no `evidence:`"
        stop((Diagnostic("CG801", message, None, f"write `capgraph {command} PLAN data.csv`"),), settings, 2)
    return files


def check_columns(asked: Sequence[str], known: Sequence[str], settings: Settings) -> None:
    """End the process with 2 where a column is asked for that there is not."""
    wrong = next((name for name in asked if name not in known), None)
    if wrong is not None:
        way_out = did_you_mean(wrong, known) or f"columns: {known_names(known)}"
        message = f"`{wrong}` is no column that rows could be told apart by"
        stop((Diagnostic("CG803", message, None, way_out),), settings, 2)


def chosen_rows(asked: Sequence[str], settings: Settings) -> dict[str, tuple[str, ...]]:
    """Read `--rows column=text`; a column that is named again may hold either text."""
    made: dict[str, tuple[str, ...]] = {}
    for item in asked:
        name, equals, text = (part.strip() for part in item.partition("="))
        if not equals:
            told = Diagnostic("CG801", f"`{item}` says not which rows", None, "write `--rows column=text`")
            stop((told,), settings, 2)
        made[name] = (*made.get(name, ()), text)
    return made


def select_rows(
    plan: Plan, scenario: str, data: Data, where: Mapping[str, Sequence[str]], settings: Settings
) -> Data:
    """Return the rows that are asked for; none at all end the process with 2."""
    from capgraph.measurement.backtest import select

    check_columns(tuple(where), columns_of(plan, data), settings)
    chosen = select(plan, scenario, data, where)
    if not chosen.size:
        asked = " and ".join(f"{name}={'|'.join(texts)}" for name, texts in where.items())
        told = Diagnostic("CG816", f"no row of {data.source.name} has {asked}", None, "look at the column")
        stop((told,), settings, 2)
    return chosen


def columns_of(plan: Plan, data: Data) -> tuple[str, ...]:
    """Return what rows can be told apart by: what they set, labels, and the choices of the model."""
    choices = (name for name, item in plan.model.quantities.items() if isinstance(item.definition, Choose))
    return tuple(dict.fromkeys((*data.labels, *data.settings, *choices)))


def _print_read(plan: Plan, scenario: str, data: Data) -> None:
    """Say of a program's output what was read from where, and which choices it leaves to the scenario."""
    if not data.tool:
        return
    told = [f"Read as {data.tool}: {', '.join(data.read)}." + (f" Note: {data.note}." if data.note else "")]
    if left := _left_open(plan, scenario, data):
        told.append(f"Not in the file, so as in {scenario}: {', '.join(left)}; `--set` sets them.")
    for text in told:
        typer.echo(
            textwrap.fill(text, 110, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        )


def _left_open(plan: Plan, scenario: str, data: Data) -> tuple[str, ...]:
    """Return the choices that predictions rest on and no row sets, each with what it takes."""
    from capgraph.analysis.derivation import ancestors

    settings = plan.model.scenarios[scenario].settings
    needed = ancestors(plan, data.measured, data.settings)
    left = []
    for name, item in plan.model.quantities.items():
        if isinstance(item.definition, Choose) and name in needed and name not in data.settings:
            left.append(f"{name}={settings[name].value if name in settings else item.definition.default}")
    return tuple(left)


def _print(plan: Plan, argument: str | None, made: Backtest) -> None:
    quantities = plan.model.quantities
    typer.echo()
    head = ("", "rows", "mean error", "median", "90th pct", "bias")
    lines: list[tuple[str, ...]] = []
    for name, errors in made.errors.items():
        if not errors.count:
            continue
        lines.append((f"{quantities[name].label}  [{name}]", *shown_errors(errors)))
        for column, groups in made.groups.items():
            parts = {group: own[name] for group, own in groups.items() if name in own}
            if len(parts) > 1:
                lines.append((f"  by {column}", *[""] * 5))
                lines.extend(
                    (f"    {group or '(none)'}", *shown_errors(item)) for group, item in parts.items()
                )
    print_table([head, *lines])
    for name in made.comparisons:
        _print_worst(plan, argument, made, name)


def shown_errors(errors: Errors) -> tuple[str, ...]:
    """Return count, mean, median, 90th percentile and bias as people read them."""
    sizes = (errors.mean, errors.median, errors.p90)
    return (f"{errors.count:,}", *(f"{100 * size:.1f}%" for size in sizes), f"{100 * errors.bias:+.1f}%")


def print_table(lines: Sequence[Sequence[str]]) -> None:
    """Print lines of equally many cells, the first to the left and the others to the right of their columns."""
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
        told = ", ".join(text for text in (values[row] for values in made.labels.values()) if _is_name(text))
        line = f"  {made.rows[row]}: {pair} ({100 * errors[row]:+.0f}%)"
        typer.echo(_cut(f"{line}  {told}", 160).replace(NARROW_SPACE, " "))
    shown, measured = argument or default_plan(), f"{name}={comparison.measured[rows[0]]:.12g}"
    options = ["--scenario", made.scenario]
    for item in written_settings(made.set_in(rows[0])):
        options += ["--set", item]
    typer.echo(f"Why the first: {shlex.join(['capgraph', 'why', name, shown, *options])}")
    typer.echo(f"What would explain it: {shlex.join(['capgraph', 'diagnose', shown, measured, *options])}")


def _is_name(text: str) -> bool:
    """Say whether a label tells a reader something on its own; a number does not."""
    return bool(text) and not text.lstrip("-").replace(".", "", 1).isdigit()


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _json(plan: Plan, made: Sequence[Backtest], read: Sequence[Data]) -> str:
    units = {name: item.unit_text for name, item in plan.model.quantities.items()}
    document = {
        "model": plan.model.id,
        "plan": plan.model.plan,
        "backtests": [
            {
                "data": item.data,
                "sha256": item.digest,
                "tool": data.tool,
                "read": data.read,
                "scenario": item.scenario,
                "quantities": {
                    name: {
                        "unit": units[name],
                        **error_record(item.errors[name]),
                        "groups": {
                            column: {
                                group: error_record(own[name]) for group, own in groups.items() if name in own
                            }
                            for column, groups in item.groups.items()
                        },
                    }
                    for name in item.comparisons
                },
                "rows": [_row(item, row) for row in range(len(item.rows))],
            }
            for item, data in zip(made, read, strict=True)
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)


def error_record(errors: Errors) -> dict[str, float | int | None]:
    """Return error statistics for programs; of no rows there are none."""
    sizes = {"mean": errors.mean, "median": errors.median, "p90": errors.p90, "bias": errors.bias}
    return {"count": errors.count, **{name: size if errors.count else None for name, size in sizes.items()}}


def _row(made: Backtest, row: int) -> dict[str, object]:
    pairs = {
        name: {"predicted": finite(item.predicted[row]), "measured": finite(item.measured[row])}
        for name, item in made.comparisons.items()
    }
    labels = {name: texts[row] for name, texts in made.labels.items() if texts[row]}
    return {"at": made.rows[row], "set": written_settings(made.set_in(row)), "labels": labels, **pairs}
