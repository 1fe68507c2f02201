"""Formulas of rows: the key of a row and a way to name things → the formula that the row holds there.

Invariant: the active column and the scenarios' columns get the same formula; only the names of its operands
differ.
"""

from __future__ import annotations

from capgraph.emit.xlsx.formula import print_excel, truth
from capgraph.emit.xlsx.layout import Key, Layout
from capgraph.emit.xlsx.page import Cached, Failed
from capgraph.emit.xlsx.references import ByName, InColumn
from capgraph.model import Choose
from capgraph.plan import Compute, Fetch, Read
from capgraph.results import Results

MISSING = "n/a"


def row_formula(layout: Layout, key: Key, spelling: ByName) -> str:
    """Return the formula of a row: a step, the row that a choice picks, or a measured value."""
    kind, name = key
    if kind == "pick":
        return f"MATCH({spelling.quantity(name)},{layout.names['column', _catalog(layout, name), 'id']},0)"
    if kind == "measured":
        return _override(key, spelling)
    step = layout.steps.get(name)
    match step:
        case Read():
            return _given(layout, key, spelling)
        case Fetch():
            formula = _fetched(layout, step, spelling)
        case Compute():
            formula = print_excel(step.expr, spelling)
        case None:
            # A rule without a condition: it always holds.
            return truth(True)
    if ("measured", name) not in layout.names:
        return formula
    measured = spelling.place(("measured", name))
    quantity = layout.plan.model.quantities[name]
    is_number = quantity.unit is not None
    return (
        f'IF({measured}="",{formula},{measured})'
        if is_number
        else f'IF({measured}="",{formula},{measured}="yes")'
    )


def row_value(layout: Layout, results: Results, key: Key, scenario: str) -> Cached:
    """Return the value of a row in a scenario."""
    kind, name = key
    if kind == "pick":
        rows = layout.plan.model.catalogs[_catalog(layout, name)].rows
        return float(tuple(rows).index(str(results.scenarios[scenario].values[name])) + 1)
    if kind == "measured":
        setting = layout.plan.model.scenarios[scenario].settings.get(name)
        value = "" if setting is None else setting.value
        return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
    value_there = results.scenarios[scenario].values.get(name, True)
    if value_there is not None:
        return value_there
    step = layout.steps[name]
    assert isinstance(step, Fetch)
    is_text = layout.plan.model.catalogs[step.catalog].fields[step.field].kind == "text"
    return Failed("#N/A") if is_text else MISSING


def _catalog(layout: Layout, choice: str) -> str:
    definition = layout.plan.model.quantities[choice].definition
    assert isinstance(definition, Choose)
    assert definition.catalog is not None
    return definition.catalog


def _given(layout: Layout, key: Key, spelling: ByName) -> str:
    if not isinstance(spelling, InColumn):
        return spelling.place(key)
    override, base = spelling.given(key)
    effective = f'IF({override}="",{base},{override})'
    quantity = layout.plan.model.quantities[key[1]]
    is_flag = quantity.unit is None and not isinstance(quantity.definition, Choose)
    return f'{effective}="yes"' if is_flag else effective


def _override(key: Key, spelling: ByName) -> str:
    if not isinstance(spelling, InColumn):
        return spelling.place(key)
    override, _ = spelling.given(key)
    return f'IF({override}="","",{override})'


def _fetched(layout: Layout, step: Fetch, spelling: ByName) -> str:
    column = layout.names["column", step.catalog, step.field]
    cell = f"INDEX({column},{spelling.place(('pick', step.choice))})"
    match layout.plan.model.catalogs[step.catalog].fields[step.field].kind:
        case "number":
            return f'IF({cell}="","{MISSING}",{cell})'
        case "yes/no":
            return f'IF(OR({cell}="",{cell}="{MISSING}"),"{MISSING}",{cell}="yes")'
        case "text":
            # A text has no arithmetic to make an error of "n/a": it is one at once.
            return f'IF(OR({cell}="",{cell}="{MISSING}"),NA(),{cell})'
