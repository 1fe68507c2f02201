"""The command `calibrate`: parameters fitted to measurements, shown, and written as a plan.

In: a plan, measurements and what to fit, or the model's own `fits:` → Out: tables or JSON, and a plan file.
Invariant: a file that something else wrote is never replaced; what is written is what was shown.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from capgraph.cli.files import refusal, write_files
from capgraph.cli.measure import (
    check_columns,
    chosen_rows,
    columns_of,
    error_record,
    files_of,
    load_data,
    lone_argument,
    print_table,
    select_rows,
    shown_errors,
)
from capgraph.cli.session import (
    Settings,
    chosen_scenarios,
    chosen_settings,
    find,
    load,
    spinner,
    stated_time,
    stop,
)
from capgraph.diagnostics import Diagnostic, did_you_mean, known_names
from capgraph.findings import Errors
from capgraph.notation import show_number
from capgraph.plan import Plan
from capgraph.resources import models_root

if TYPE_CHECKING:
    from capgraph.emit.fitted import Fitted
    from capgraph.measurement.calibration import Calibration, Closeness, Estimate, GroupFit
    from capgraph.measurement.data import Data
    from capgraph.measurement.refit import Difference, Job


STRONG = 0.5
MOST_PAIRS = 6


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks for."""

    fit: tuple[str, ...]
    of: tuple[str, ...]
    by: tuple[str, ...]
    leave_out: tuple[str, ...]
    rows: tuple[str, ...]
    scenario: str | None
    texts: tuple[str, ...]
    folds: int


def run_calibrate(
    argument: str | None,
    file: Path | None,
    asked: Asked,
    output: Path | None,
    as_json: bool,
    settings: Settings,
) -> None:
    """Fit parameters, print what came of it, and write the plan."""
    from capgraph.measurement.refit import place

    if file is None:
        argument, file = lone_argument(argument)
    if not asked.fit:
        told = Diagnostic(
            "CG801", "nothing is named to be fitted", None, "write `--fit my_input,choice.field`"
        )
        stop((told,), settings, 2)
    plan = load(argument, settings)
    _refuse(argument, output, settings)
    if output is not None and asked.texts:
        message = "a plan that is written cannot hold what --set sets for this run alone"
        way_out = "set it in a scenario, and name that with --scenario"
        stop((Diagnostic("CG801", message, None, way_out),), settings, 2)
    (scenario,) = chosen_scenarios(plan, [asked.scenario or next(iter(plan.model.scenarios))], settings)
    changes = chosen_settings(plan, asked.texts, settings)
    path = _only(files_of(plan, file, "calibrate", settings), settings)
    where = chosen_rows(asked.rows, settings)
    data = select_rows(plan, scenario, load_data(plan, path, changes, settings), where, settings)
    of = _measured(data, asked.of, settings)
    check_columns((*asked.by, *asked.leave_out), columns_of(plan, data), settings)
    made = _calibrated(plan, scenario, data, of, asked, settings)
    placed, wrong = place(made) if output is not None else ((), ())
    if wrong:
        stop(wrong, settings, 2)
    if as_json:
        typer.echo(json.dumps(_record(made), ensure_ascii=False, indent=1))
    else:
        _print(plan, made)
    if output is not None:
        from capgraph.emit.fitted import Fitted

        _write(
            plan,
            argument,
            (Fitted(made, placed, _seen_from(output, path), tuple(where.items())),),
            output,
            settings,
        )


def _only(files: Sequence[Path], settings: Settings) -> Path:
    if len(files) > 1:
        names = ", ".join(path.name for path in files)
        told = Diagnostic(
            "CG801", f"the model has several files of measurements: {names}", None, "name one of them"
        )
        stop((told,), settings, 2)
    return files[0]


def _measured(data: Data, asked: Sequence[str], settings: Settings) -> tuple[str, ...]:
    names = tuple(data.measured)
    wrong = next((name for name in asked if name not in names), None)
    if wrong is not None:
        way_out = did_you_mean(wrong, names) or f"measured are {known_names(names)}"
        told = Diagnostic("CG803", f"`{wrong}` is not measured in {data.source.name}", None, way_out)
        stop((told,), settings, 2)
    if not asked and len(names) > 1:
        told = Diagnostic(
            "CG801",
            f"{data.source.name} measures several quantities: {known_names(names)}",
            None,
            f"say which ones the fit is to, as in `--of {names[0]}`",
        )
        stop((told,), settings, 2)
    return tuple(dict.fromkeys(asked)) or names


def _calibrated(
    plan: Plan, scenario: str, data: Data, of: tuple[str, ...], asked: Asked, settings: Settings
) -> Calibration:
    from capgraph.measurement.calibrate import calibrate
    from capgraph.measurement.parameters import parameters

    fit, wrong = parameters(plan, scenario, data, asked.fit, of)
    if wrong:
        stop(wrong, settings, 2)
    with spinner("fitting …") as tell:
        made, found = calibrate(plan, scenario, data, fit, of, asked.by, asked.leave_out, asked.folds, tell)
    if made is None:
        stop(found, settings)
    settings.show(found)
    return made


def run_refit(
    argument: str | None, folds: int, output: Path | None, as_json: bool, settings: Settings
) -> None:
    """Fit again what the model's `fits:` say, and hold the values that ship against it."""
    from capgraph.emit.fitted import Fitted
    from capgraph.measurement.refit import differences, jobs, place

    plan = load(argument, settings)
    _refuse(argument, output, settings)
    todo, wrong = jobs(plan)
    if not todo and not wrong:
        nothing = Diagnostic(
            "CG801", "the model has no `fits:`", None, "write `capgraph calibrate PLAN data.csv --fit …`"
        )
        stop((nothing,), settings, 2)
    if wrong:
        stop(wrong, settings)
    fitted: list[Fitted] = []
    told: list[Difference] = []
    # What ships is held against values and errors of the fit: without a plan to write, nothing shows the folds.
    folds = folds if output is not None else 0
    for job in todo:
        data = select_rows(plan, job.scenario, load_data(plan, job.path, {}, settings), job.where, settings)
        made = _calibrated(plan, job.scenario, data, job.of, _asked(job, folds), settings)
        placed, wrong = place(made)
        if wrong:
            stop(wrong, settings)
        told.extend(differences(plan, job, made, placed))
        where = tuple(job.fits[0].where.items())
        fitted.append(Fitted(made, placed, _seen_from(output or job.path, job.path), where))
    if as_json:
        typer.echo(json.dumps([_difference(item) for item in told], ensure_ascii=False, indent=1))
    else:
        _print_differences(told)
    if output is not None:
        _write(plan, argument, fitted, output, settings)
    if wrong_ones := sorted({item.fit for item in told if not item.same}):
        message = (
            f"{len(wrong_ones)} of {sum(len(job.fits) for job in todo)} fits are not what their data give: "
        )
        way_out = "write the refitted values with -o, and take them over"
        stop((Diagnostic("CG829", message + ", ".join(wrong_ones), None, way_out),), settings)


def _asked(job: Job, folds: int) -> Asked:
    return Asked(job.parameters, job.of, (), (), (), job.scenario, (), folds)


def _print_differences(told: Sequence[Difference]) -> None:
    """Print a line a fit that is what its data give, and all of one that is not."""
    lines = [("fit", "", "ships", "refitted", "standard error", "")]
    for fit in dict.fromkeys(item.fit for item in told):
        own = [item for item in told if item.fit == fit]
        if all(item.same for item in own):
            lines.append((fit, "all", "", "", "", "same"))
            continue
        for item in own:
            texts = (_text(item.shipped), _text(item.refitted), _text(item.error))
            lines.append((fit, item.what, *texts, "same" if item.same else "differs"))
    print_table(lines)


def _text(value: float | str | None) -> str:
    if isinstance(value, str):
        return value[:12]
    return "" if value is None else f"{value:.6g}"


def _difference(item: Difference) -> dict[str, object]:
    return {
        "fit": item.fit,
        "what": item.what,
        "shipped": item.shipped,
        "refitted": item.refitted,
        "standard_error": item.error,
        "same": item.same,
    }


def _refuse(argument: str | None, output: Path | None, settings: Settings) -> None:
    """End the process, before any work is done, where the plan could not be written."""
    if output is None:
        return
    from capgraph.emit.fitted import MARK

    if output.suffix not in (".yaml", ".yml"):
        told = Diagnostic(
            "CG828", f"{output} would be no plan: its name does not end in .yaml", None, "end it so"
        )
        stop((told,), settings, 2)
    if output.is_file() and not output.read_bytes().startswith(MARK.encode()):
        message = f"{output} exists, and was not written by `capgraph calibrate`"
        stop(
            (Diagnostic("CG828", message, None, "choose another name with -o, or move that file"),),
            settings,
            2,
        )
    if output.exists() and os.path.realpath(output) == os.path.realpath(find(argument, settings)):
        message = f"{output} is the plan that the values are fitted for; it cannot extend itself"
        stop((Diagnostic("CG828", message, None, "choose another name with -o"),), settings, 2)
    if wrong := refusal(output.parent, [output.name]):
        stop((wrong,), settings, 2)


def _write(
    plan: Plan, argument: str | None, fitted: Sequence[Fitted], output: Path, settings: Settings
) -> None:
    from capgraph.emit.fitted import emit

    source = find(argument, settings)
    shipped = source.resolve().parent
    extends = shipped.name if shipped.parent == models_root().resolve() else _seen_from(output, source)
    date = stated_time(plan, settings).date().isoformat()
    written = write_files(output.parent, (emit(plan, fitted, output.name, extends, date),))
    if isinstance(written, Diagnostic):
        stop((written,), settings, 2)
    typer.echo(f"Written: {os.fspath(output)}, which extends {extends}", err=True)


def _seen_from(output: Path, path: Path) -> str:
    """Return a path as a file that is written names it."""
    return Path(os.path.relpath(os.path.realpath(path), os.path.realpath(output.parent))).as_posix()


def _print(plan: Plan, made: Calibration) -> None:
    labels = " and ".join(f"{plan.model.quantities[name].label} [{name}]" for name in made.of)
    grouped = f", by {', '.join(made.by)}" if made.by else ""
    count = made.whole.after.count
    typer.echo(f"{labels}\nfitted to {count:,} measurements of {made.data}, {made.scenario}{grouped}\n")
    print_table(list(_error_lines(made)))
    for group in made.groups.values():
        _print_group(made, group)
    for column, each in made.left_out.items():
        typer.echo(f"\nFitted without each {column} in turn, errors on what was left out:")
        print_table(list(_left_out_lines(each)))


def _left_out_lines(each: Mapping[str, Mapping[str, Errors]]) -> Iterator[tuple[str, ...]]:
    yield ("", "rows", "mean error", "median", "90th pct", "bias")
    for name, errors in each.items():
        if len(each) > 1:
            yield (name, *[""] * 5)
        for text, item in errors.items():
            # Where a group is all that there is, nothing is left to fit to.
            yield (f"  {text or 'all'}", *(shown_errors(item) if item.count else ("none", *[""] * 4)))


def _error_lines(made: Calibration) -> Iterator[tuple[str, ...]]:
    yield ("", "rows", "before", "after", "left out", "median", "90th pct", "bias")
    for name in made.of:
        shown = {group.group: group for group in made.groups.values() if group.each[name].after.count}
        if len(made.of) > 1:
            yield (name, *[""] * 7)
        if len(made.groups) > 1:
            for group in shown.values():
                kept = "" if group.estimates else " (keeps its values)"
                yield (f"  {group.group}{kept}", *_sizes(group.each[name]))
        yield ("  all" if len(made.of) > 1 else "all", *_sizes(made.each[name]))


def _sizes(item: Closeness) -> tuple[str, ...]:
    errors = (item.before, item.after, item.folds)
    means = (f"{100 * own.mean:.1f}%" if own.count else "" for own in errors)
    return (f"{item.after.count:,}", *means, *shown_errors(item.after)[2:])


def _print_group(made: Calibration, group: GroupFit) -> None:
    if not group.estimates:
        return
    units = {item.id: item.unit for item in made.parameters}
    typer.echo(f"\n{group.group or 'Parameters'}")
    lines: list[tuple[str, ...]] = [("", "before", "after", "± std error", "95% from", "to", "")]
    lines.extend(_estimate(item, units[item.parameter]) for item in group.estimates.values())
    print_table(lines)
    pairs = sorted(group.correlation.items(), key=lambda item: -abs(item[1]))
    strong = [f"{one} ~ {other} {size:+.2f}" for (one, other), size in pairs if abs(size) >= STRONG]
    if pairs:
        typer.echo(f"  correlated: {'; '.join(strong[:MOST_PAIRS]) or f'no pair by {STRONG:g} or more'}")


def _estimate(item: Estimate, unit: str) -> tuple[str, ...]:
    before = "" if item.before is None else show_number(item.before, 4)
    error = "at its limit" if item.error is None else show_number(item.error, 2)
    low, high = show_number(item.low, 4), show_number(item.high, 4)
    return (f"  {item.parameter}", before, show_number(item.value, 4), error, low, high, unit)


def _record(made: Calibration) -> dict[str, object]:
    return {
        "of": list(made.of),
        "data": made.data,
        "sha256": made.digest,
        "scenario": made.scenario,
        "by": list(made.by),
        "quantities": _errors(made.each),
        "groups": {group.group: _group(group) for group in made.groups.values()},
        "left_out": {
            column: {
                name: {text or "all": error_record(item) for text, item in errors.items()}
                for name, errors in each.items()
            }
            for column, each in made.left_out.items()
        },
    }


def _errors(each: Mapping[str, Closeness]) -> dict[str, object]:
    return {
        name: {
            "before": error_record(item.before),
            "after": error_record(item.after),
            "folds": error_record(item.folds),
        }
        for name, item in each.items()
    }


def _group(group: GroupFit) -> dict[str, object]:
    estimates = {
        name: {
            "before": item.before,
            "value": item.value,
            "standard_error": item.error,
            "low": item.low,
            "high": item.high,
        }
        for name, item in group.estimates.items()
    }
    correlation = [[one, other, size] for (one, other), size in group.correlation.items()]
    return {"quantities": _errors(group.each), "parameters": estimates, "correlation": correlation}
