"""The commands that explain the language: `schema`, `explain`, `functions`, `units`, `doctor`.

In: what is asked → Out: text on standard output; tables and colour on a terminal, plain lines in a pipe.
Invariant: all content comes from the tables that the compiler itself reads, or from `capgraph.reference`.
"""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from capgraph.cli.session import Settings, stop
from capgraph.diagnostics import Diagnostic, did_you_mean

if TYPE_CHECKING:
    from capgraph.reference.language import Entry
    from capgraph.reference.unit_table import UnitEntry

_WIDEST = 100
_BLOCK = re.compile(r"^```.*?^```$|(?-s:(?:^.+\n?)+)", re.MULTILINE | re.DOTALL)
_COLUMNS = ("written", "meaning", "in Excel")


def run_schema(output: Path | None, settings: Settings) -> None:
    """Print the JSON Schema of model files, or write it and say how a file leads an editor to it."""
    from capgraph.schema import schema_text

    if output is None:
        typer.echo(schema_text(), nl=False)
        return
    from capgraph.cli.files import refusal, write_files
    from capgraph.emit.artifact import Artifact

    artifact = Artifact(
        output.name, schema_text().encode(), "application/schema+json", "The shape of model files"
    )
    written = refusal(output.parent, [output.name]) or write_files(output.parent, (artifact,))
    if isinstance(written, Diagnostic):
        stop((written,), settings, 2)
    typer.echo(f"# yaml-language-server: $schema={os.fspath(output)}")
    typer.echo(
        "Put this line first in a file, with the path as seen from there: editors with YAML support read it.",
        err=True,
    )


def run_explain(asked: str | None, settings: Settings) -> None:
    """Print the page of a code, or all codes with their titles."""
    from capgraph.reference.codes import codes, page, stage

    known = codes()
    if asked is None:
        for heading, members in groupby(known, stage):
            typer.echo(
                f"{_bold(heading)}\n" + "\n".join(f"  {code}  {page(code).title}" for code in members) + "\n"
            )
        _say("`capgraph explain CODE` shows what a code means, with a wrong example and a right one.")
        return
    digits = re.fullmatch(r"(?:(?:error|warning)\[)?(?:CG)?(\d+)\]?", asked.strip(), re.IGNORECASE)
    code = f"CG{digits[1]}" if digits else asked
    if code not in known:
        way_out = did_you_mean(code, known) or "`capgraph explain` lists all codes"
        stop((Diagnostic("CG804", f"no message has the code `{asked}`", None, way_out),), settings, 2)
    found = page(code)
    typer.echo(f"{_bold(f'{found.code}: {found.title}')}\n")
    typer.echo(found.text if not sys.stdout.isatty() else "\n\n".join(_blocks(found.text, _width())))


def _blocks(text: str, width: int) -> Iterator[str]:
    """Yield the blocks of a page for a terminal: paragraphs filled, examples indented, headings in bold."""
    for block in _BLOCK.findall(text):
        if block.startswith("```"):
            inside = "\n".join(block.splitlines()[1:-1])
            yield typer.style(textwrap.indent(inside, "    "), fg="cyan")
        elif block.startswith("    "):
            yield typer.style(block.rstrip(), fg="cyan")
        elif block.startswith("## "):
            yield _bold(block.removeprefix("## ").rstrip())
        else:
            yield textwrap.fill(block, width)


def run_functions(as_json: bool) -> None:
    """Print what a formula may hold."""
    from capgraph.reference.language import OPERATORS, functions, reductions

    parts = {"functions": functions(), "reductions": reductions(), "operators": OPERATORS}
    if as_json:
        _print_json({name: [asdict(entry) for entry in entries] for name, entries in parts.items()})
        return
    _table("Functions", _COLUMNS, map(_row, parts["functions"]))
    _table("Reductions over a sweep", _COLUMNS, map(_row, parts["reductions"]))
    _say("In Excel, `values` is a column of the sweep's table, `fitting` its values where the condition holds, and "
         "`position` the numbers of those rows.")  # fmt: skip
    typer.echo()
    _table("Operators, the tightest first", _COLUMNS, map(_row, parts["operators"]))
    _say("Numbers are written 1500, 1_500, 1.5e3 or 30%; texts in quotes; true and false as they are. A field of a "
         "chosen row is choice.field.")  # fmt: skip


def _row(entry: Entry) -> tuple[str, ...]:
    examples = (f"{text} → {_plain(result)}" for text, result in entry.examples)
    apart = "\n" if sys.stdout.isatty() else "  "
    return (entry.written, apart.join((entry.gives, f"Units: {entry.units}.", *examples)), entry.excel)


def _plain(result: float | bool) -> str:
    return str(result).lower() if isinstance(result, bool) else f"{result:g}"


def run_units(as_json: bool) -> None:
    """Print the units and prefixes."""
    from capgraph.reference.unit_table import prefixes, units

    known = units()
    if as_json:
        _print_json({"units": [*map(_unit_record, known)], "prefixes": [asdict(item) for item in prefixes()]})
        return
    for group, members in groupby(known, lambda item: item.group):
        rows = ((item.name, ", ".join(item.symbols), item.meaning) for item in members)
        _table(group, ("unit", "also", "is"), rows)
    rows = ((", ".join(item.symbols), item.name, item.factor) for item in prefixes())
    _table("Prefixes, before any unit", ("prefix", "name", "times"), rows)
    _say(
        "Units are joined by `*` and `/`, as in GiB/GPU, token/s/replica or USD/GPU-hour; `^2` is a power. "
        "Case counts. A model defines units of its own under `units:`."
    )


def _unit_record(item: UnitEntry) -> dict[str, object]:
    dimension = {base: str(exponent) for base, exponent in item.dimension}
    return {**asdict(item), "size": float(item.size), "dimension": dimension}


def run_doctor() -> None:
    """Print what is installed and whether it works; exit with 1 if a build would fail."""
    from capgraph.reference.doctor import examine

    stopped = False
    for item in examine():
        mark, colour = ("ok", "green") if item.works else ("--", "yellow") if item.optional else ("NO", "red")
        told = f"{item.name:<21} {item.told}"
        if sys.stdout.isatty():
            told = textwrap.fill(told, _width() - 4, subsequent_indent=" " * 26)
        typer.echo(f"{typer.style(mark, fg=colour, bold=True)}  {told}")
        if item.stops:
            stopped = True
            typer.echo(f"      do this: {item.way_out}")
    if stopped:
        raise typer.Exit(1)


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table as wide as the terminal; in a pipe, a line a row."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    is_terminal = sys.stdout.isatty()
    console = Console(highlight=False, width=None if is_terminal else 10_000)
    table = Table(box=box.SIMPLE_HEAD if is_terminal else None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    with console.capture() as capture:
        console.print(table)
    _say(_bold(title))
    typer.echo("\n".join(line.rstrip() for line in capture.get().splitlines()).strip("\n") + "\n")


def _say(text: str) -> None:
    typer.echo(textwrap.fill(text, _width()) if sys.stdout.isatty() else text)


def _print_json(document: object) -> None:
    typer.echo(json.dumps(document, ensure_ascii=False, indent=1))


def _bold(text: str) -> str:
    return typer.style(text, bold=True)


def _width() -> int:
    from shutil import get_terminal_size

    return min(get_terminal_size().columns, _WIDEST)
