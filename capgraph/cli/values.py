"""The commands that print numbers: `check`, `eval`, `why`.

In: a plan and what is asked of it → Out: text, CSV or JSON on standard output.
Invariant: `--json` and `--csv` give exact numbers in the quantities' units; tables round for people.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import typer

from capgraph.cli.session import (
    Settings,
    chosen_quantities,
    chosen_scenarios,
    chosen_settings,
    default_plan,
    load,
    stop,
)
from capgraph.diagnostics import has_errors
from capgraph.model import Value
from capgraph.notation import NARROW_SPACE, show_number, show_value
from capgraph.plan import Plan
from capgraph.results import Results

if TYPE_CHECKING:
    from capgraph.analysis.derivation import Line

Output = Literal["table", "csv", "json"]


def run_check(argument: str | None, settings: Settings) -> None:
    """Compile and evaluate; say what was checked."""
    plan = load(argument, settings)
    from capgraph.evaluate import evaluate

    results, found = evaluate(plan)
    if results is None or has_errors(found):
        stop(found, settings)
    model = plan.model
    failing = [
        (name, check)
        for name, result in results.scenarios.items()
        for check, item in result.checks.items()
        if not item.holds
    ]
    inputs = sum(item.is_input for item in model.quantities.values())
    counted = (
        f"{_count(len(model.quantities), 'quantity', 'quantities')} ({_count(inputs, 'input')})",
        _count(len(model.catalogs), "catalog"),
        _count(len(model.scenarios), "scenario"),
        _count(len(model.checks), "check"),
    )
    typer.echo(f"{model.plan or model.id}: no errors. {', '.join(counted)}")
    for name, check in failing:
        typer.echo(
            f"  {name}: {model.checks[check].severity}: {results.scenarios[name].checks[check].message}"
        )


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def run_eval(
    names: Sequence[str], scenarios: Sequence[str], texts: Sequence[str], output: Output, settings: Settings
) -> None:
    """Print values of the scenarios, with changes."""
    argument, asked = _split(names)
    plan = load(argument, settings)
    shown = chosen_scenarios(plan, scenarios, settings)
    quantities = chosen_quantities(plan, asked, settings)
    results = evaluate_with(plan, shown, chosen_settings(plan, texts, settings), settings)
    if output == "json":
        print(results_json(plan, results, quantities))
    elif output == "csv":
        _print_csv(plan, results, quantities)
    else:
        _print_table(plan, results, quantities)


def _split(names: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Tell the plan from the quantities: the first name is the plan if there is such a plan."""
    from pathlib import Path

    from capgraph.join import locate

    if not names or isinstance(locate(names[0]), Path):
        return (names[0], names[1:]) if names else (default_plan(), ())
    looks_like_plan = any(mark in names[0] for mark in "/\\.-") or (
        len(names) > 1 and not names[0].isidentifier()
    )
    return (names[0], names[1:]) if looks_like_plan else (default_plan(), names)


def evaluate_with(
    plan: Plan, scenarios: Sequence[str], changes: dict[str, Value], settings: Settings
) -> Results:
    """Evaluate scenarios with changes laid over each; a value that is missing ends the process."""
    from capgraph.evaluate import evaluate_scenarios

    results, found = evaluate_scenarios(plan, scenarios, changes)
    if results is None:
        stop(found, settings)
    return results


def results_json(plan: Plan, results: Results, quantities: Sequence[str]) -> str:
    """Return the results for programs."""
    units = {name: plan.model.quantities[name].unit_text for name in quantities}
    scenarios = {
        scenario: {
            "values": {name: {"value": result.values[name], "unit": units[name]} for name in quantities},
            "checks": {
                name: {
                    "pass": item.holds,
                    "severity": plan.model.checks[name].severity,
                    "message": item.message,
                }
                for name, item in result.checks.items()
            },
            "verdict": {"option": result.verdict.option, "headline": result.verdict.headline}
            if result.verdict
            else None,
        }
        for scenario, result in results.scenarios.items()
    }
    document = {"model": plan.model.id, "plan": plan.model.plan, "scenarios": scenarios}
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)


def _print_csv(plan: Plan, results: Results, quantities: Sequence[str]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["quantity", "unit", *results.scenarios])
    for name in quantities:
        values = [result.values[name] for result in results.scenarios.values()]
        cells = [repr(value) if isinstance(value, float) else show_value(value) for value in values]
        writer.writerow([name, plan.model.quantities[name].unit_text, *cells])


def _print_table(plan: Plan, results: Results, quantities: Sequence[str]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 10_000)
    table = Table("quantity", box=box.SIMPLE_HEAD, pad_edge=False)
    for scenario in results.scenarios:
        table.add_column(Text(scenario), justify="right")
    table.add_column("unit")
    for name in quantities:
        values = [result.values[name] for result in results.scenarios.values()]
        cells = [show_number(value, 4) if isinstance(value, float) else show_value(value) for value in values]
        # Not as they are: rich would read `[4 TB]` in a name as its own mark-up.
        table.add_row(*map(Text, (name, *cells, plan.model.quantities[name].unit_text)))
    with console.capture() as capture:
        console.print(table)
    _say("\n".join(line.rstrip() for line in capture.get().strip("\n").splitlines()))
    for scenario, result in results.scenarios.items():
        if result.verdict is not None:
            _say(f"\n{scenario}: {result.verdict.headline}")


def run_why(
    quantity: str, argument: str | None, scenario: str | None, texts: Sequence[str], settings: Settings
) -> None:
    """Print the derivation of one quantity."""
    from capgraph.analysis.derivation import derive

    plan = load(argument, settings)
    (name,) = chosen_quantities(plan, [quantity], settings)
    selected = chosen_scenarios(
        plan, [scenario] if scenario else [next(iter(plan.model.scenarios))], settings
    )[0]
    changes = chosen_settings(plan, texts, settings)
    results = evaluate_with(plan, (selected,), changes, settings)
    lines = derive(plan, selected, results.scenarios[selected], (name,), frozenset(changes))
    numbers = {line.quantity.id: line.number for line in lines}
    _say(f"{name} in {selected}: {show_value(lines[-1].value, lines[-1].quantity.unit_text)}\n")
    for line in lines:
        _say_line(line, numbers)


def _say_line(line: Line, numbers: Mapping[str, int]) -> None:
    item = line.quantity
    _say(f"{line.number:>3}. {item.label}  [{item.id}]")
    if line.formula:
        cited = ", ".join(str(numbers[need]) for need in line.needs)
        _say(f"     = {line.formula}" + (f"   (from {cited})" if cited else ""))
        _say(f"     = {line.numbers}")
    _say(f"     = {show_value(line.value, item.unit_text)}")
    if line.set_at:
        # The source speaks of the base value, not of this one.
        _say(f"     set at {line.set_at}" + (", in place of its formula" if line.measured else ""))
        return
    told = item.provenance
    if told.because:
        _say(f"     why: {told.because}")
    if told.source:
        _say(f"     source: {told.source}" + (f", {told.as_of}" if told.as_of else ""))
    _say(f"     at {told.origin}")


def _say(text: str) -> None:
    """Print a line with ordinary spaces, which a search in the output finds."""
    typer.echo(text.replace(NARROW_SPACE, " "))
