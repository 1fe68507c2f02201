"""The commands that explain the language: `schema`, `explain`, `functions`, `units`, `doctor`.

In: what is asked → Out: text on standard output; tables and colour on a terminal, plain lines in a pipe.
Invariant: all content comes from the tables that the compiler itself reads, or from `capgraph.reference`.
"""

from __future__ import annotations

import os
from pathlib import Path

import typer

from capgraph.cli.session import Settings, stop
from capgraph.diagnostics import Diagnostic


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
        "Put this line first in a file, with the path as seen from there, and editors with YAML support use it.",
        err=True,
    )
