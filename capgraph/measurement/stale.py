"""Fits whose data have changed since → warnings.

In: a model → Out: a diagnostic for each fit whose file of measurements is there with another SHA-256 than it states.
Invariant: a file that is not there is no reason to warn: a plan travels without its data. A file is read once.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from capgraph.diagnostics import Diagnostic, Source
from capgraph.measurement.files import digest, read_text
from capgraph.model import Model


def stale_fits(model: Model) -> tuple[Diagnostic, ...]:
    """Return a warning for each fit that was made from another state of its data."""
    digest_of = cache(_digest)
    found = []
    for fit in model.fits.values():
        path = Path(fit.origin.source.path).parent / fit.data
        if not fit.sha256 or not path.is_file() or fit.sha256 == digest_of(path):
            continue
        message = f"{fit.data} has changed since the fit `{fit.id}` was made: its SHA-256 is another"
        way_out = "fit again: `capgraph calibrate --refit` says which values changed"
        found.append(Diagnostic("CG227", message, fit.origin, way_out, severity="warning"))
    return tuple(found)


def _digest(path: Path) -> str:
    source = read_text(path)
    return digest(source) if isinstance(source, Source) else ""
