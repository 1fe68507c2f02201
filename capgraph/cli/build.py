"""The command `build`: all reports of a plan.

In: a plan and a folder → Out: the reports, the verdict, and the time of each stage.
Invariant: nothing is written before everything is made.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import typer

from capgraph import __version__
from capgraph.cli.files import refusal, write_files
from capgraph.cli.measure import report_backtests
from capgraph.cli.session import Settings, default_plan, load, spinner, stated_time, stop
from capgraph.diagnostics import Diagnostic, has_errors
from capgraph.emit.artifact import Artifact, Making
from capgraph.findings import Backtest, Findings
from capgraph.plan import Plan
from capgraph.results import Results

KINDS = ("xlsx", "pdf", "html", "json")
# A sheet has 16,384 columns; long before that nobody reads it. 100,000 values take half a minute and a gigabyte.
MAX_SCENARIOS = 1_000
MAX_VALUES = 100_000


@dataclass
class _Stages:
    """Times the stages; on a terminal the one that runs is shown."""

    times: list[tuple[str, float]] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        with spinner(f"{name} …"):
            yield
        self.times.append((name, time.perf_counter() - start))


def run_build(
    argument: str | None, output: Path | None, only: str, measurements: Sequence[Path], settings: Settings
) -> None:
    """Build the reports of a plan."""
    kinds = _kinds(only, settings)
    stages = _Stages()
    with stages.stage("compile"):
        plan = load(argument, settings)
    if set(kinds) != {"json"} and (wrong := _too_large(plan)):
        stop((wrong,), settings, 2)
    folder = output or Path("reports") / (plan.model.plan or plan.model.id)
    name = plan.model.plan or plan.model.id
    backtests: tuple[Backtest, ...] = ()
    if measurements or plan.model.evidence:
        with stages.stage("measurements"):
            backtests = report_backtests(plan, measurements, settings)
    with stages.stage("evaluate"):
        results, findings = _evaluated(plan, backtests, settings)
    if wrong := refusal(folder, [f"{name}.{kind}" for kind in kinds]):
        stop((wrong,), settings, 2)
    made = _making(plan, argument, measurements, settings)
    artifacts = _artifacts(plan, results, findings, made, kinds, stages, settings)
    with stages.stage("write"):
        written = write_files(folder, artifacts)
    if isinstance(written, Diagnostic):
        stop((written,), settings, 2)
    _report(plan, results, written, artifacts, stages)


def _kinds(only: str, settings: Settings) -> tuple[str, ...]:
    asked = [kind.strip() for kind in only.split(",") if kind.strip()]
    wrong = next((kind for kind in asked if kind not in KINDS), None)
    if wrong is not None or not asked:
        message = f"`{wrong}` is not a report" if wrong else "--only names no report"
        stop((Diagnostic("CG801", message, None, f"reports: {', '.join(KINDS)}"),), settings, 2)
    return tuple(kind for kind in KINDS if kind in asked)


def _too_large(plan: Plan) -> Diagnostic | None:
    scenarios, quantities = len(plan.model.scenarios), len(plan.model.quantities)
    found, way_out = None, "write a plan with fewer of them, or build `--only json`"
    if scenarios > MAX_SCENARIOS:
        found = f"{scenarios:,} scenarios; a report has room for {MAX_SCENARIOS:,}"
    elif scenarios * quantities > MAX_VALUES:
        values = f"{quantities:,} quantities in {scenarios:,} scenarios, {scenarios * quantities:,} values"
        found = f"{values}; a report has room for {MAX_VALUES:,}"
    return Diagnostic("CG704", f"the model has {found}", None, way_out) if found else None


def _evaluated(plan: Plan, backtests: tuple[Backtest, ...], settings: Settings) -> tuple[Results, Findings]:
    from capgraph.analysis.findings import find
    from capgraph.evaluate import evaluate

    results, found = evaluate(plan)
    if results is None or has_errors(found):
        stop(found, settings)
    return results, find(plan, results, backtests)


def _making(plan: Plan, argument: str | None, measurements: Sequence[Path], settings: Settings) -> Making:
    """Say how and by what the reports are made; the time is SOURCE_DATE_EPOCH, or the model's date, never the clock."""
    command = ["capgraph", "build", argument or default_plan()]
    for file in measurements:
        command += ["--measurements", os.fspath(file)]
    return Making(
        __version__, stated_time(plan, settings).strftime("%Y-%m-%dT%H:%M:%SZ"), shlex.join(command)
    )


def _artifacts(
    plan: Plan,
    results: Results,
    findings: Findings,
    made: Making,
    kinds: tuple[str, ...],
    stages: _Stages,
    settings: Settings,
) -> tuple[Artifact, ...]:
    """Make what is asked for; the memo carries the workbook, so that is made for it too."""
    artifacts: dict[str, Artifact] = {}
    if "xlsx" in kinds or "pdf" in kinds:
        with stages.stage("workbook"):
            from capgraph.emit import xlsx

            artifacts["xlsx"] = xlsx.emit(plan, results, findings, made)
    if "pdf" in kinds:
        with stages.stage("memo (PDF)"):
            _need_pango(settings)
            from capgraph.emit import pdf, resolved

            artifacts["pdf"] = pdf.emit(
                plan, results, findings, made, (artifacts["xlsx"], resolved.emit(plan))
            )
    if "html" in kinds:
        with stages.stage("memo (HTML)"):
            from capgraph.emit import html, resolved

            attachments = (*((artifacts["xlsx"],) if "xlsx" in artifacts else ()), resolved.emit(plan))
            artifacts["html"] = html.emit(plan, results, findings, made, attachments)
    if "json" in kinds:
        from capgraph.cli.values import results_json

        text = results_json(plan, results, tuple(plan.model.quantities)) + "\n"
        name = f"{plan.model.plan or plan.model.id}.json"
        artifacts["json"] = Artifact(name, text.encode(), "application/json", "The results for programs")
    return tuple(artifacts[kind] for kind in kinds)


def _need_pango(settings: Settings) -> None:
    """End the process where WeasyPrint does not find the libraries that it draws text with."""
    try:
        import weasyprint  # noqa: F401
    except (OSError, ImportError):
        message = "the PDF cannot be drawn: WeasyPrint or a library that it needs (Pango) is missing"
        way_out = "`capgraph doctor` says what to install; `--only xlsx,html` does without"
        stop((Diagnostic("CG703", message, None, way_out),), settings, 2)


def _report(
    plan: Plan, results: Results, written: tuple[Path, ...], artifacts: tuple[Artifact, ...], stages: _Stages
) -> None:
    verdict = results.scenarios[results.selected].verdict
    if verdict is not None:
        typer.echo(f"{verdict.headline}\n")
    for path, artifact in zip(written, artifacts, strict=True):
        typer.echo(f"  {os.fspath(path)}  ({len(artifact.data) / 1024:,.0f} KiB)")
    shown = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in stages.times)
    typer.echo(f"\n{sum(seconds for _, seconds in stages.times):.1f} s: {shown}")
