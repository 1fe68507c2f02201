"""The command `capgraph`: arguments in, commands out.

In: argv → Out: an exit code: 0 fine, 1 the model has errors, 2 wrong use, 3 a bug of ours.
Invariant: results go to standard output, diagnostics to standard error; heavy imports wait for their command.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Annotated

import typer

from capgraph import __version__
from capgraph.cli.session import Settings
from capgraph.cli.show import Format
from capgraph.cli.stream import open_stream

app = typer.Typer(
    help="Compile a declared capacity plan into numbers, a live workbook and a decision memo.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # it would take `[the first]` for its own mark-up, and show nothing of it
    context_settings={"help_option_names": ["-h", "--help"]},
)

PlanArgument = Annotated[
    str | None,
    typer.Argument(metavar="[PLAN]", help="A YAML file, a folder with model.yaml, or a model that ships."),
]
ScenarioOption = Annotated[
    list[str] | None, typer.Option("--scenario", "-s", help="Only this scenario; may be repeated.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set a quantity in every scenario shown."),
]
DataArgument = Annotated[
    Path | None,
    typer.Argument(metavar="[DATA]", help="A CSV or a benchmark's result [the model's `evidence:`]."),
]
StartOption = Annotated[
    str | None, typer.Option("--scenario", "-s", help="What rows leave unset is as here [the first].")
]
RowsOption = Annotated[
    list[str] | None,
    typer.Option("--rows", metavar="COLUMN=TEXT", help="Only rows whose column holds it; may be repeated."),
]


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def main(
    context: typer.Context,
    form: Annotated[
        str | None, typer.Option("--format", help="How diagnostics are shown: full, concise or json.")
    ] = None,
    traceback: Annotated[bool, typer.Option("--traceback", help="Show the traceback of a bug.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Compile a declared capacity plan into numbers, a live workbook and a decision memo."""
    chosen: dict[str | None, Format | None] = {
        None: None,
        "full": "full",
        "concise": "concise",
        "json": "json",
    }
    if form not in chosen:
        raise typer.BadParameter(f"{form!r} is none of full, concise, json", param_hint="--format")
    context.obj = Settings(chosen[form])
    context.call_on_close(context.obj.close)


@app.command()
def build(
    context: typer.Context,
    plan: PlanArgument = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Where the reports go [reports/<plan>]."),
    ] = None,
    only: Annotated[
        str, typer.Option(help="Which reports, by comma: xlsx, pdf, html, json.")
    ] = "xlsx,pdf,html",
    measurements: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Measurements to hold the model against, beside its own; may be repeated."
        ),
    ] = None,
) -> None:
    """Check, evaluate and write all reports. Print the verdict, the files and the time of each stage."""
    from capgraph.cli.build import run_build

    run_build(plan, output, only, measurements or [], context.obj)


@app.command()
def check(context: typer.Context, plan: PlanArgument = None) -> None:
    """Show every diagnostic; exit with 1 if any is an error."""
    from capgraph.cli.values import run_check

    run_check(plan, context.obj)


@app.command("eval")
def evaluate(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[PLAN] [QUANTITY]...", help="The plan, then quantities.")
    ] = None,
    scenario: ScenarioOption = None,
    settings: SetOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with checks and verdicts.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Print the values, a column a scenario."""
    from capgraph.cli.values import run_eval

    if as_json and as_csv:
        raise typer.BadParameter("choose one of --json and --csv")
    run_eval(
        names or [],
        scenario or [],
        settings or [],
        "json" if as_json else "csv" if as_csv else "table",
        context.obj,
    )


@app.command()
def why(
    context: typer.Context,
    quantity: Annotated[str, typer.Argument(help="The quantity to derive.")],
    plan: PlanArgument = None,
    scenario: Annotated[
        str | None, typer.Option("--scenario", "-s", help="In this scenario [the first].")
    ] = None,
    settings: SetOption = None,
) -> None:
    """Print how a number comes about. Name, formula, the same with numbers, result, why, source."""
    from capgraph.cli.values import run_why

    run_why(quantity, plan, scenario, settings or [], context.obj)


@app.command()
def backtest(
    context: typer.Context,
    plan: PlanArgument = None,
    data: DataArgument = None,
    by: Annotated[
        list[str] | None, typer.Option("--by", metavar="COLUMN", help="Group by this column; may be repeated.")
    ] = None,
    scenario: StartOption = None,
    settings: SetOption = None,
    rows: RowsOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with every row.")] = False,
) -> None:
    """Hold predictions against measurements. Errors as a whole and by group, and the rows furthest off.

    DATA is a CSV, or what one of these writes: vllm bench serve, a vLLM or SGLang server's start-up log, SGLang's
    bench_serving, GenAI-Perf, AIPerf, GuideLLM, trtllm-bench, Prometheus (a scrape, or a query's answer).
    """
    from capgraph.cli.measure import run_backtest

    run_backtest(plan, data, scenario, settings or [], rows or [], by or [], as_json, context.obj)


@app.command()
def calibrate(
    context: typer.Context,
    plan: PlanArgument = None,
    data: DataArgument = None,
    fit: Annotated[
        list[str] | None,
        typer.Option(
            "--fit", metavar="NAME,…", help="What is fitted: quantities, or choice.field of catalog rows."
        ),
    ] = None,
    of: Annotated[
        list[str] | None,
        typer.Option("--of", metavar="QUANTITY,…", help="To whose measurements [the only ones there are]."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", metavar="COLUMN,…", help="One set of values a group [the rows that hold them]."),
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option("--leave-out", metavar="COLUMN,…", help="Errors on each group, fitted without it."),
    ] = None,
    rows: RowsOption = None,
    scenario: StartOption = None,
    settings: SetOption = None,
    folds: Annotated[int, typer.Option(min=2, max=100, help="Parts of the cross-validation.")] = 5,
    refit: Annotated[
        bool,
        typer.Option("--refit", help="Fit what the model's `fits:` say; exit with 1 if other values ship."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the values as a plan, dated as the reports are."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Fit parameters to measurements. Values stay within their limits; says how far to trust them."""
    from capgraph.cli.calibrate import Asked, run_calibrate, run_refit

    if refit:
        if data or fit or of or by or leave_out or rows or scenario or settings:
            raise typer.BadParameter("takes what it needs from the model's `fits:`", param_hint="--refit")
        run_refit(plan, folds, output, as_json, context.obj)
        return
    asked = Asked(
        _names(fit),
        _names(of),
        _names(by),
        _names(leave_out),
        tuple(rows or ()),
        scenario,
        tuple(settings or ()),
        folds,
    )
    run_calibrate(plan, data, asked, output, as_json, context.obj)


def _names(texts: list[str] | None) -> tuple[str, ...]:
    return tuple(name for text in texts or () for name in map(str.strip, text.split(",")) if name)


@app.command()
def diagnose(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PLAN] QUANTITY=VALUE...", help="The plan, then what was measured."),
    ] = None,
    scenario: Annotated[
        str | None, typer.Option("--scenario", "-s", help="What the run was planned as [the first].")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="What is known of the run, and so explains nothing."
        ),
    ] = None,
    within: Annotated[
        str, typer.Option(metavar="SHARE", help="The largest relative error that counts as agreement.")
    ] = "5%",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, with every change that was tried.")
    ] = False,
) -> None:
    """Explain a measurement that the model does not give. Single changes that would, the likeliest first.

    Numbers are moved to where the prediction meets the measurement, choices and switches are tried. What lies within
    its stated range comes first, what the model declares under `suspects:` before other inputs.
    """
    from capgraph.cli.diagnose import run_diagnose

    run_diagnose(names or [], scenario, settings or [], within, as_json, context.obj)


@app.command("schema")
def print_schema(
    context: typer.Context,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write it [standard output].")
    ] = None,
) -> None:
    """Print the JSON Schema of model files, for editors."""
    from capgraph.cli.reference import run_schema

    run_schema(output, context.obj)


@app.command()
def explain(
    context: typer.Context,
    code: Annotated[str | None, typer.Argument(metavar="[CODE]", help="As in CG401 [all codes].")] = None,
) -> None:
    """Print what a message means. With a wrong example, a right one and the way out."""
    from capgraph.cli.reference import run_explain

    run_explain(code, context.obj)


@app.command()
def functions(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Print the functions, reductions and operators of formulas."""
    from capgraph.cli.reference import run_functions

    run_functions(as_json)


@app.command()
def units(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Print the units and prefixes."""
    from capgraph.cli.reference import run_units

    run_units(as_json)


@app.command()
def doctor() -> None:
    """Print what is installed and whether it works. Exit with 1 if a build would fail."""
    from capgraph.cli.reference import run_doctor

    run_doctor()


def run() -> None:
    """Run the command line; what nobody foresaw is our bug, and says so."""
    # A compilation makes a hundred thousand small objects that all live to the end: collecting often finds nothing.
    gc.set_threshold(100_000, 50, 50)
    sys.stdout, sys.stderr = open_stream(sys.stdout), open_stream(sys.stderr)
    try:
        app()
    except Exception as error:
        if "--traceback" in sys.argv:
            raise
        print(f"error[CG900]: this is a bug of capgraph: {type(error).__name__}: {error}", file=sys.stderr)
        print("  = help: run `capgraph --traceback …` and report what it prints", file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    run()
