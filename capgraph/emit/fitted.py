"""Calibrations → a plan file that holds the fitted values, with their ranges, sources and `fits:`.

In: a plan, what was fitted and where it came from → Out: `Artifact` with YAML text.
Invariant: compiled, the file gives the plan's numbers with the fitted values in place; nothing else changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from capgraph.emit.artifact import Artifact
from capgraph.measurement.calibration import Calibration
from capgraph.measurement.refit import Placed
from capgraph.model import Fit, Given, Model
from capgraph.plan import Plan

MARK = "# Written by `capgraph calibrate`; it writes over this file again."

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A calibration, where its values belong, its data as the plan file names them, and which rows of them count."""

    calibration: Calibration
    placed: tuple[Placed, ...]
    data: str
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()


def emit(plan: Plan, made: Sequence[Fitted], name: str, extends: str, date: str) -> Artifact:
    """Write a plan with fitted values over the one that they were fitted for."""
    document: Entry = {"extends": extends, "quantities": {}, "catalogs": {}, "fits": {}}
    for fitted in made:
        for placed in fitted.placed:
            _values(document, plan.model, fitted, placed, date)
            for of in fitted.calibration.of:
                if placed.group.each[of].after.count:
                    name_of, entry = _fit(plan.model, fitted, placed, of, date)
                    document["fits"][name_of] = entry
    kept = {key: value for key, value in document.items() if value}
    text = yaml.dump(kept, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=110)
    return Artifact(name, f"{MARK}\n{text}".encode(), "application/yaml", "The fitted values as a plan")


def _values(document: Entry, model: Model, fitted: Fitted, placed: Placed, date: str) -> None:
    told = {"source": _source(fitted, placed, date), "as_of": date}
    catalog, row = placed.place.catalog, placed.place.row
    if catalog is None or row is None:
        for name, item in placed.estimates.items():
            entry: Entry = {"value": item.value, "range": [item.low, item.high], **told}
            quantity = model.quantities[name]
            if not isinstance(quantity.definition, Given) and quantity.provenance.because:
                # A value in place of a formula drops what was said of the formula.
                entry["because"] = quantity.provenance.because
            document["quantities"][name] = entry
        return
    numbers = {name: item.value for name, item in placed.estimates.items()}
    known = {
        name for name, value in model.catalogs[catalog].rows[row].values.items() if isinstance(value, float)
    }
    # The source of a row speaks of all its numbers.
    whole = known <= set(numbers)
    rows = document["catalogs"].setdefault(catalog, {})
    rows[row] = {**rows.get(row, {}), **numbers, **(told if whole else {})}


def _source(fitted: Fitted, placed: Placed, date: str) -> str:
    errors = {of: own.after for of, own in placed.group.each.items() if own.after.count}
    told = ", ".join(f"of {of} {_percent(own.mean)} ({own.count} rows)" for of, own in errors.items())
    if len(errors) == 1:
        ((of, own),) = errors.items()
        told = f"of {of} {_percent(own.mean)}"
        return f"fitted to {own.count} rows of {fitted.calibration.data}: mean error {told}, {date}"
    return f"fitted to rows of {fitted.calibration.data}: mean error {told}, {date}"


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"


def _is_of(fit: Fit, of: str, placed: Placed) -> bool:
    """Say whether a fit of the model is for the same place and quantity."""
    here = (fit.of, fit.catalog, fit.row) == (of, placed.place.catalog, placed.place.row)
    return here and (fit.row is not None or set(fit.parameters) == set(placed.estimates))


def _fit(model: Model, fitted: Fitted, placed: Placed, of: str, date: str) -> tuple[str, Entry]:
    made, errors = fitted.calibration, placed.group.each[of].after
    known = next((fit for fit in model.fits.values() if _is_of(fit, of, placed)), None)
    entry: Entry = {
        "of": of,
        "together": [name for name in made.of if name != of],
        "catalog": placed.place.catalog,
        "row": placed.place.row,
        "parameters": {name: [item.low, item.high] for name, item in placed.estimates.items()},
        "rows": errors.count,
        "error": _percent(errors.mean),
        "date": date,
        "data": fitted.data,
        "sha256": made.digest,
        "where": {name: list(texts) if len(texts) > 1 else texts[0] for name, texts in fitted.where},
        "scenario": made.scenario if known or made.scenario != next(iter(model.scenarios)) else None,
    }
    # Of an entry that is laid over, what it says of its rows must not stay.
    kept = {key: value for key, value in entry.items() if known or value not in (None, {}, [])}
    default = f"{placed.place.row or '-'.join(placed.estimates)}-{of}"
    return known.id if known else default, {key: value for key, value in kept.items() if value is not None}
