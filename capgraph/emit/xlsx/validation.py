"""What a reader may type: an input in → the rule that its cells follow, and the message beside them.

Invariant: lists are ranges with a name, so they hold rows that a reader adds; a blank that is no choice is
refused.
"""

from __future__ import annotations

from openpyxl.worksheet.datavalidation import DataValidation

from capgraph.emit.xlsx.layout import Layout
from capgraph.emit.xlsx.page import clean
from capgraph.model import Choose, Field, Limits, Quantity

_LONGEST_TITLE, _LONGEST_PROMPT = 32, 255
_ANY = 1e300


def input_rule(layout: Layout, quantity: Quantity) -> DataValidation:
    """Return the rule of an input's cells."""
    if isinstance(quantity.definition, Choose):
        catalog = quantity.definition.catalog
        key = ("list", quantity.id) if catalog is None else ("column", catalog, "id")
        where = (
            "the list on Units" if catalog is None else f"an id of the sheet {layout.tables[catalog].title}"
        )
        rule = list_rule(layout.names[key], f"Choose {where}.")
    elif quantity.unit is None:
        rule = list_rule(layout.names["list", "yes/no"], "Choose yes or no.")
    else:
        rule = _number_rule(quantity)
    return _told(rule, quantity.label, f"{rule.prompt or ''} {quantity.provenance.because}")


def list_rule(name: str, prompt: str) -> DataValidation:
    """Return the rule that a cell holds one of a named range."""
    # Excel takes any text at all for a list with blanks in it if blanks are allowed.
    rule = DataValidation(type="list", formula1=name, allow_blank=False, showDropDown=False)
    return _told(rule, "", prompt)


def field_rule(field: Field, first_cell: str, yes_no: str) -> DataValidation | None:
    """Return the rule of a catalog column: a number within its limits, or "n/a"."""
    if field.kind == "text":
        return None
    if field.kind == "yes/no":
        return list_rule(yes_no, "Choose yes or no; leave blank what is not known.")
    limits, low, high = field.limits, field.limits.low, field.limits.high
    bounds = [f"{first_cell}>={low!r}"] * (low is not None) + [f"{first_cell}<={high!r}"] * (high is not None)
    formula = f'OR({first_cell}="n/a",AND({",".join((f"ISNUMBER({first_cell})", *bounds))}))'
    rule = DataValidation(type="custom", formula1=formula, allow_blank=True)
    return _told(
        rule, field.label, f"A number{_limits(limits, field.unit.text if field.unit else '')}, or n/a."
    )


def _number_rule(quantity: Quantity) -> DataValidation:
    limits = quantity.limits
    low = -_ANY if limits.minimum is None else limits.minimum
    high = _ANY if limits.maximum is None else limits.maximum
    rule = DataValidation(
        type="decimal", operator="between", formula1=f"{low!r}", formula2=f"{high!r}", allow_blank=True
    )
    hard = Limits(limits.minimum, limits.maximum)
    rule.prompt = f"A number in {quantity.unit_text}{_limits(hard, quantity.unit_text)}."
    if limits.low is not None and limits.high is not None:
        rule.prompt += f" Stated range: {limits.low:g} to {limits.high:g}."
    return rule


def _limits(limits: Limits, unit: str) -> str:
    low, high = limits.low, limits.high
    if low is None and high is None:
        return ""
    if high is None:
        return f", at least {low:g}"
    return f", at most {high:g}" if low is None else f", from {low:g} to {high:g}"


def _told(rule: DataValidation, title: str, prompt: str) -> DataValidation:
    rule.promptTitle = clean(title)[:_LONGEST_TITLE] or None
    rule.prompt = _shortened(prompt)
    rule.errorTitle = "Not a possible value"
    rule.error = _shortened(prompt)
    rule.showInputMessage = rule.showErrorMessage = True
    return rule


def _shortened(text: str) -> str:
    cleaned = clean(text).strip()
    return cleaned if len(cleaned) <= _LONGEST_PROMPT else f"{cleaned[: _LONGEST_PROMPT - 1]}…"
