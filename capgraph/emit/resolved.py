"""Plan → one YAML file that says it all: no includes, no `extends`, no catalog row that is not used.

In: a plan → Out: `Artifact` with YAML text. Invariant: compiled alone, it gives the same values, checks and verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from capgraph.emit.artifact import Artifact
from capgraph.formula.tree import Text, walk
from capgraph.graph import formulas
from capgraph.model import (
    Catalog,
    Choose,
    Column,
    Fit,
    Formula,
    Given,
    Lookup,
    Message,
    Model,
    Provenance,
    Quantity,
    Row,
    Setting,
    Slot,
    Suspect,
    Sweep,
    Value,
)
from capgraph.plan import Plan

Entry = dict[str, Any]


def emit(plan: Plan) -> Artifact:
    """Write the resolved model."""
    model = plan.model
    document: Entry = {
        "model": model.plan or model.id,
        "title": model.title,
        "description": model.description,
        "as_of": model.as_of,
        "key_figures": list(model.key_figures),
        "units": {str(symbol): text for symbol, text in model.units},
        "quantities": {
            item.id: _quantity(item)
            for item in model.quantities.values()
            if not isinstance(item.definition, Lookup)
        },
        "catalogs": {item.id: _catalog(item, _rows_used(model, item)) for item in _catalogs_used(model)},
        "charts": {
            item.id: _kept({"label": item.label, "parts": list(item.parts), "whole": item.whole})
            for item in model.charts.values()
        },
        "measurements": {item.id: _column(item) for item in model.columns.values()},
        "fits": {item.id: _fit(item) for item in model.fits.values() if _keeps(model, item)},
        "scenarios": {
            item.id: {"label": item.label, "set": _settings(item.settings), **_told(item.provenance)}
            for item in model.scenarios.values()
        },
        "sweeps": {item.id: _sweep(item) for item in model.sweeps.values()},
        "checks": {
            item.id: {
                "label": item.label,
                "condition": item.text,
                "message": _message(item.message),
                "severity": item.severity,
            }
            for item in model.checks.values()
        },
        "levers": {
            item.id: _kept(
                {
                    "label": item.label,
                    "set": _settings(item.settings),
                    "shows": list(item.shows),
                    **_told(item.provenance),
                }
            )
            for item in model.levers.values()
        },
        "suspects": {item.id: _suspect(item) for item in model.suspects.values()},
        "decision": _decision(model),
    }
    text = yaml.dump(_kept(document), Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=110)
    text = _evidence(model) + text
    name = f"{model.plan or model.id}.resolved.yaml"
    return Artifact(
        name,
        text.encode(),
        "application/yaml",
        "The resolved plan: every formula, value, source and scenario in one file",
    )


def _evidence(model: Model) -> str:
    """Name the files of measurements in a comment: the plan does without them, and lacks rows they take."""
    if not model.evidence:
        return ""
    names = ", ".join(" ".join(Path(name).name.split()) for name in model.evidence)
    return f"# Held against {names}; catalog rows that only measurements take are not in this file.\n"


def _column(item: Column) -> Entry:
    meaning = {"measures" if item.measures else "sets": item.quantity}
    return _kept({**meaning, "unit": item.unit.text if item.unit else None, "by": item.by})


def _keeps(model: Model, fit: Fit) -> bool:
    """Say whether what a fit gave values to is written."""
    if fit.catalog is None:
        return True
    used = next((item for item in _catalogs_used(model) if item.id == fit.catalog), None)
    return used is not None and fit.row in _rows_used(model, used)


def _fit(item: Fit) -> Entry:
    parameters = {name: list(ends) for name, ends in item.parameters.items()}
    where = {name: list(texts) for name, texts in item.where.items()}
    made = {
        "of": item.of,
        "catalog": item.catalog,
        "row": item.row,
        "parameters": parameters,
        "rows": item.rows,
    }
    told = {
        "date": item.date,
        "data": item.data,
        "sha256": item.sha256,
        "where": where,
        "scenario": item.scenario,
    }
    return _kept({**made, "error": item.error, **told})


def _kept(entry: Mapping[str, Any]) -> Entry:
    return {key: value for key, value in entry.items() if value not in (None, "", [], {})}


def _told(provenance: Provenance) -> Entry:
    return _kept({"because": provenance.because, "source": provenance.source, "as_of": provenance.as_of})


def _quantity(item: Quantity) -> Entry:
    entry: Entry = {"label": item.label, "unit": item.unit_text or None}
    match item.definition:
        case Given(value=value):
            entry["value"] = value
        case Choose():
            entry |= {
                "choose": item.definition.catalog or list(item.definition.options),
                "default": item.definition.default,
            }
        case Formula():
            entry |= {"unit": item.unit_text or "yes/no", "formula": item.definition.text}
    limits = item.limits
    if limits.low is not None:
        entry["range"] = [limits.low, limits.high]
    return _kept(entry | {"min": limits.minimum, "max": limits.maximum} | _told(item.provenance))


def _suspect(item: Suspect) -> Entry:
    entry: Entry = {"label": item.label, "set": _settings(item.settings), "vary": item.vary}
    if item.limits.low is not None:
        entry["range"] = [item.limits.low, item.limits.high]
    return _kept(entry | {"check": item.check, "shows": list(item.shows)} | _told(item.provenance))


def _catalogs_used(model: Model) -> Iterable[Catalog]:
    used = {
        item.definition.catalog for item in model.quantities.values() if isinstance(item.definition, Choose)
    }
    return (catalog for catalog in model.catalogs.values() if catalog.id in used)


def _rows_used(model: Model, catalog: Catalog) -> set[str]:
    """Return the rows that a default, a scenario, a lever or a suspect takes, and those that formulas compare with."""
    choices = {
        item.id: item.definition for item in model.quantities.values() if isinstance(item.definition, Choose)
    }
    of_catalog = {name: choice for name, choice in choices.items() if choice.catalog == catalog.id}
    rows = {choice.default for choice in of_catalog.values()}
    changes = (
        *(item.settings for item in model.scenarios.values()),
        *(item.settings for item in model.levers.values()),
        *(item.settings for item in model.suspects.values()),
    )
    for sweep in model.sweeps.values():
        rows |= set(map(str, sweep.values)) if sweep.over in of_catalog else set()
    for settings in changes:
        rows |= {str(setting.value) for name, setting in settings.items() if name in of_catalog}
    return rows | _rows_compared(model, catalog, rows)


def _rows_compared(model: Model, catalog: Catalog, rows: set[str]) -> set[str]:
    """Return a row for each text of a formula that is its id or stands in it: a text that no row has is an error."""
    nodes = (node for _, expr in formulas(model) for node in walk(expr))
    texts = {node.value for node in nodes if isinstance(node, Text)}
    looked_up = {
        item.definition.field
        for item in model.quantities.values()
        if isinstance(item.definition, Lookup) and item.definition.catalog == catalog.id
    }
    found = texts & catalog.rows.keys()
    for field, text in ((field, text) for field in looked_up for text in texts):
        having = [name for name, row in catalog.rows.items() if row.values.get(field) == text]
        if having and not rows & set(having):
            found.add(having[0])
    return found


def _catalog(catalog: Catalog, rows: set[str]) -> Entry:
    fields = {
        item.id: _kept(
            {
                "label": item.label,
                "unit": item.unit.text if item.unit else None,
                "type": None if item.unit else item.kind,
            }
        )
        for item in catalog.fields.values()
    }
    kept = {row.id: _row(row) for row in catalog.rows.values() if row.id in rows}
    return {"label": catalog.label, "fields": fields, "rows": kept}


def _row(row: Row) -> Entry:
    told = {**_told(row.provenance), "note": row.note, "unverified": ", ".join(row.unverified)}
    return {"name": row.name, **row.values, **_kept(told)}


def _settings(settings: Mapping[str, Setting]) -> dict[str, Value]:
    return {name: setting.value for name, setting in settings.items()}


def _sweep(sweep: Sweep) -> Entry:
    values = list(sweep.values)
    entry = {"label": sweep.label, "over": sweep.over, "values": values, "shows": list(sweep.shows)}
    return _kept(entry | {"scale": sweep.scale if sweep.scale == "log" else None} | _told(sweep.provenance))


def _decision(model: Model) -> Entry | None:
    decision = model.decision
    if decision is None:
        return None
    return _kept(
        {
            "question": decision.question,
            "target": decision.target,
            "options": {
                item.id: _kept(
                    {
                        "label": item.label,
                        "cost": item.cost,
                        "shows": list(item.shows),
                        "because": item.because,
                        "risk": item.risk,
                    }
                )
                for item in decision.options.values()
            },
            "rules": [
                _kept({"when": item.text, "option": item.option, "headline": _message(item.headline)})
                for item in decision.rules
            ],
            "exceptions": [_message(item) for item in decision.exceptions],
            "policy": [_message(item) for item in decision.policy],
            "alerts": [_message(item) for item in decision.alerts],
        }
    )


def _message(message: Message) -> str:
    return "".join(part if isinstance(part, str) else _slot(part) for part in message)


def _slot(slot: Slot) -> str:
    if slot.unit is None:
        return f"{{{slot.quantity}}}"
    return f"{{{slot.quantity}:{slot.decimals} {slot.unit.text or '-'}}}"
