"""What resolving knows so far: the names that are legal, the diagnostics, and how texts become values.

In: raw scalars → Out: numbers in a unit, units, formula trees with every reference bound.
Invariant: each failure is reported once, at its place, with the names that are legal there.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from capgraph.diagnostics import MOST_OFFERS, Diagnostic, Severity, Span, did_you_mean, known_names
from capgraph.formula.functions import FUNCTIONS
from capgraph.formula.parser import parse_formula
from capgraph.formula.tree import Expr, Reduce, Reference, walk
from capgraph.model import Catalog, Choose, Limits, Lookup, Provenance, Quantity, Value
from capgraph.units import Symbol, Unit, UnitError, known_units, parse_unit, spelled_units, without_below
from capgraph.yamltree import Scalar

_NUMBER = re.compile(
    r"\s*([+-]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]{1,3})?)\s*(\S.*)?", re.DOTALL
)
_NAME = re.compile(r"[^\W\d]\w*")
RESERVED = frozenset({"and", "or", "not", "true", "false", "if", *FUNCTIONS})
BASIS = frozenset({"GPU", "replica", "node", "sequence", "request", "user"})
YES_NO = {"true": True, "yes": True, "false": False, "no": False}


@dataclass
class Scope:
    """The names bound so far and everything found wrong; `quantities` gains the lookups that formulas use."""

    quantities: dict[str, Quantity] = field(default_factory=dict)
    catalogs: dict[str, Catalog] = field(default_factory=dict)
    units: tuple[Symbol, ...] = ()
    """The units that the model defines."""
    sweeps: frozenset[str] = frozenset()
    """The names of the sweeps that are declared."""
    found: list[Diagnostic] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    """Ids that are declared, but wrongly (`catalog.field`, `catalog/row`): naming them is no second mistake."""

    @cached_property
    def settable(self) -> dict[str, Quantity]:
        """The quantities that a scenario may set; asked for when all are known."""
        return {name: item for name, item in self.quantities.items() if not isinstance(item.definition, Lookup)}

    def report(
        self, code: str, message: str, span: Span | None, help_text: str = "", severity: Severity = "error"
    ) -> None:
        """Collect one diagnostic."""
        self.found.append(Diagnostic(code, message, span, help_text, severity=severity))

    def check_name(self, name: Scalar, kind: str) -> bool:
        """Report an id that formulas could not name."""
        if not _NAME.fullmatch(name):
            near = re.sub(r"\W+", "_", name).strip("_")
            self.report(
                "CG205",
                f"`{name}` cannot be the name of a {kind}",
                name.span,
                f"write `{near or 'a_name'}`: letters, digits and `_`",
            )
            return False
        if name in RESERVED:
            self.report(
                "CG205", f"`{name}` is a word of the formula language", name.span, "choose another name"
            )
            return False
        return True

    def unit(self, text: Scalar) -> Unit | None:
        """Read a unit."""
        try:
            return parse_unit(str(text), self.units)
        except UnitError as error:
            if error.symbol in self.broken:
                return None
            whole = r"(?<!\w){}(?!\w)" if error.symbol.isalnum() else "{}"
            place = re.search(whole.format(re.escape(error.symbol)), text) if error.symbol else None
            span = text.within(*place.span()) if place else text.span
            self.report("CG501", str(error), span, self._unit_help(error))
            return None

    def _unit_help(self, error: UnitError) -> str:
        if not error.is_unknown:
            return "write a unit as `GiB`, `GiB/GPU`, `token/s/replica` or `USD/GPU-hour`"
        near = self._near(error.symbol, (*self.units, *spelled_units()))
        return (
            near
            or f"units: {known_names((*self.units, *known_units()), 12)}; a model may define its own under `units:`"
        )

    def number(self, text: Scalar, unit: Unit) -> float | None:
        """Read a number, with or without a unit of the same dimension, as a number in `unit`."""
        found = _NUMBER.fullmatch(text.rstrip())
        if not found or not _is_finite(found[1]) or (found[2] or "").startswith(","):
            way_out = "write `1500`, `1_500`, `1.5e3`, `30%` or `80 GB`"
            self.report("CG207", f"`{_short(text)}` is not a number", text.span, way_out)
            return None
        digits = found[1].replace("_", "")
        if not found[2]:
            return float(digits)
        given = self.unit(text.part(*found.span(2)))
        if given is None:
            return None
        target = unit if given.dimension == unit.dimension else without_below(unit, self._basis())
        if given.dimension != target.dimension:
            self.report(
                "CG502",
                f"`{_short(text)}` is in {given}, the quantity in {unit}",
                text.span,
                f"give it in {unit} or a multiple",
            )
            return None
        try:
            return float(Fraction(digits) * given.size / target.size)
        except (OverflowError, ValueError):  # too large for a double; too many digits to read
            self.report("CG207", f"`{_short(text)}` is too large for a number", text.span, "check its unit")
            return None

    def _basis(self) -> frozenset[str]:
        """Return the units that count things: those that ship, and a model's own that are no multiple of another."""
        return BASIS | {symbol for symbol in self.units if symbol.dimension == ((str(symbol), Fraction(1)),)}

    def limits(
        self,
        low_high: tuple[Scalar, Scalar] | None,
        least: Scalar | None,
        most: Scalar | None,
        unit: Unit | None,
    ) -> Limits:
        """Read a range and hard limits."""
        if unit is None:
            return Limits()
        low, high = (self.number(item, unit) for item in low_high) if low_high else (None, None)
        if low is None or high is None:
            low = high = None  # half a range bounds nothing
        if low is not None and high is not None and low > high and low_high:
            message = f"the range runs backwards: {low_high[0]} to {low_high[1]}"
            self.report("CG211", message, low_high[0].span, "write `[low, high]`")
            return Limits()
        minimum = self.number(least, unit) if least is not None else None
        maximum = self.number(most, unit) if most is not None else None
        limits = Limits(low, high, minimum, maximum)
        if least is not None and minimum is not None and maximum is not None and minimum > maximum:
            message = f"`min` is {minimum:g} {unit}, above `max`, {maximum:g} {unit}"
            self.report("CG211", message, least.span, "exchange the two")
            return Limits(low, high)
        if low_high and low is not None and high is not None and is_beyond(low, high, limits):
            beyond = "below `min`" if minimum is not None and low < minimum else "above `max`"
            message = f"the range {low:g} to {high:g} {unit} reaches {beyond}"
            self.report("CG211", message, low_high[0].span, "narrow the range, or widen the limits")
        return limits

    def within_limits(self, name: str, value: float, limits: Limits, unit: Unit, span: Span) -> None:
        """Report a number outside the hard limits of its quantity."""
        for bound, word, outside in (
            (limits.minimum, "least", limits.minimum is not None and value < limits.minimum),
            (limits.maximum, "most", limits.maximum is not None and value > limits.maximum),
        ):
            if outside:
                self.report(
                    "CG307",
                    f"`{name}` is {value:g} {unit}; it is at {word} {bound:g}",
                    span,
                    "correct the value, or the limit",
                )

    def formula(self, text: Scalar) -> Expr | None:
        """Read a formula and bind its references."""
        tree = parse_formula(text)
        if isinstance(tree, Diagnostic):
            self.found.append(tree)
            return None
        bound = [
            self.bind(node.name, node.span) if isinstance(node, Reference) else self._bind_sweep(node)
            for node in walk(tree)
            if isinstance(node, Reference | Reduce)
        ]
        return tree if all(bound) else None

    def _bind_sweep(self, node: Reduce) -> bool:
        if node.sweep in self.sweeps:
            return True
        help_text = self._near(node.sweep, self.sweeps, "sweeps: ") if self.sweeps else "no sweep is declared"
        self.report("CG312", f"unknown sweep `{node.sweep}`", node.sweep_span, help_text)
        return False

    def bind(self, name: str, span: Span, what: str = "quantity") -> bool:
        """Make sure that a name is a quantity or the field of a chosen row; a new lookup becomes a quantity."""
        if name in self.quantities:
            return True
        if name in self.broken or name.partition(".")[0] in self.broken:
            return False
        choice, dot, wanted = name.partition(".")
        if dot:
            return self._bind_field(choice, wanted, span)
        if name in RESERVED:
            help_text = f"a function's arguments stand in brackets: `{name}(…)`"
        else:
            help_text = self._near(name, self.quantities) or "declare it, or check its name"
        self.report("CG401", f"unknown {what} `{name}`", span, help_text)
        return False

    def _bind_field(self, choice: str, wanted: str, span: Span) -> bool:
        quantity = self.quantities.get(choice)
        if (
            quantity is None
            or not isinstance(quantity.definition, Choose)
            or quantity.definition.catalog is None
        ):
            choices = [
                item.id
                for item in self.quantities.values()
                if isinstance(item.definition, Choose) and item.definition.catalog
            ]
            state = "is not defined" if quantity is None else "is no choice from a catalog"
            help_text = (
                self._near(choice, choices, "choices: ") if choices else "declare it with `choose: my_catalog`"
            )
            self.report("CG401", f"`{choice}` in `{choice}.{wanted}` {state}", span, help_text)
            return False
        catalog = self.catalogs[quantity.definition.catalog]
        if f"{catalog.id}.{wanted}" in self.broken or catalog.id in self.broken:
            return False
        column = catalog.fields.get(wanted)
        if column is None:
            help_text = self._near(wanted, catalog.fields, "fields: ", 20)
            self.report("CG402", f"the catalog `{catalog.id}` has no field `{wanted}`", span, help_text)
            return False
        name = f"{choice}.{wanted}"
        self.quantities[name] = Quantity(
            name, f"{column.label}", quantity.section, column.unit, Lookup(choice, catalog.id, wanted), Limits(),
            Provenance(column.origin, f"Read from the row that {quantity.label} takes."),
        )  # fmt: skip
        return True

    def option(self, quantity: Quantity, text: Scalar) -> str | None:
        """Read which option a choice is set to."""
        assert isinstance(quantity.definition, Choose)
        options = quantity.definition.options
        if text in options:
            return str(text)
        if quantity.definition.catalog is not None:
            if f"{quantity.definition.catalog}/{text}" in self.broken:
                return None
            what, where = "row", f"the catalog `{quantity.definition.catalog}`"
        else:
            what, where = "option", f"the choice `{quantity.id}`"
        help_text = self._near(text, options, f"{what}s: ")
        self.report("CG302", f"{where} has no {what} `{_short(text)}`", text.span, help_text)
        return None

    def setting(self, quantity: Quantity, text: Scalar) -> Value | None:
        """Read a value for any quantity: an option, a yes/no, or a number within its limits."""
        if isinstance(quantity.definition, Choose):
            return self.option(quantity, text)
        if quantity.unit is None:
            return self.yes_no(text)
        value = self.number(text, quantity.unit)
        if value is not None:
            self.within_limits(quantity.id, value, quantity.limits, quantity.unit, text.span)
        return value

    def yes_no(self, text: Scalar) -> bool | None:
        """Read a yes/no."""
        value = YES_NO.get(text.lower())
        if value is None:
            self.report("CG207", f"`{_short(text)}` is not a yes/no", text.span, "write `true` or `false`")
        return value

    def _near(self, name: str, legal: Collection[str], list_as: str = "", limit: int = 8) -> str:
        """Offer the legal name nearest to a wrong one, or some of all; only to the first of many mistakes."""
        if len(self.found) >= MOST_OFFERS:
            return "check the name" if list_as else ""
        return did_you_mean(name, legal) or (list_as and f"{list_as}{known_names(legal, limit)}")

    def known(self, name: Scalar, legal: Collection[str], what: str, code: str) -> bool:
        """Report a name that is none of the legal ones."""
        if name in legal:
            return True
        if name not in self.broken:
            self.report(
                code,
                f"unknown {what} `{_short(name)}`",
                name.span,
                self._near(name, legal, f"{what}s: "),
            )
        return False


def is_beyond(low: float, high: float, limits: Limits) -> bool:
    """Say whether a range reaches beyond hard limits."""
    below = limits.minimum is not None and low < limits.minimum
    return below or (limits.maximum is not None and high > limits.maximum)


def _is_finite(text: str) -> bool:
    return abs(float(text.replace("_", ""))) < float("inf")


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}…"
