"""Fits whose data have changed since → warnings.

In: a model → Out: a diagnostic for each fit whose file of measurements is there with another SHA-256 than it states.
Invariant: a file that is not there is no reason to warn: a plan travels without its data.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from capgraph.diagnostics import Diagnostic
from capgraph.measurement.readers import read_measurements
from capgraph.model import Model


def stale_fits(model: Model) -> tuple[Diagnostic, ...]:
    """Return a warning for each fit that was made from another state of its data."""
    found = []
    for fit in model.fits.values():
        path = Path(fit.origin.source.path).parent / fit.data
        if not fit.sha256 or not path.is_file() or fit.sha256 in _digests(path, fit.sha256):
            continue
        message = f"{fit.data} has changed since the fit `{fit.id}` was made: its SHA-256 is another"
        way_out = "fit again: `capgraph calibrate --refit` says which values changed"
        found.append(Diagnostic("CG227", message, fit.origin, way_out, severity="warning"))
    return tuple(found)


def _digests(path: Path, wanted: str) -> tuple[str, ...]:
    """Return the digest of a file's bytes, and where that is another, of its text as it is read."""
    digest = sha256(path.read_bytes()).hexdigest()
    if digest == wanted:
        return (digest,)
    table, _ = read_measurements(path)
    text = table.source.text if table is not None else ""
    return digest, sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
