"""What is fitted: names → parameters with their limits, and the model's predictions as a function of them.

In: a plan, data and names (`decode_efficiency`, `profile.decode_efficiency`) → Out: `Parameter`s, a `Predictor`.
Invariant: only the steps that move with a parameter are calculated again; rows and sets of parameters are all lanes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from capgraph.calculate import Override, calculate, narrowed
from capgraph.diagnostics import Diagnostic, did_you_mean, known_names
from capgraph.expression import Array
from capgraph.graph import cone, reached
from capgraph.measurement.backtest import overrides
from capgraph.measurement.data import Data
from capgraph.measurement.least_squares import Axis, Numbers
from capgraph.model import Lookup, Quantity
from capgraph.plan import Plan

WIDENED = 3.0
"""A stated range is widened so many times where the model has no hard limit: it says what is likely."""
ANYWHERE = 1e4
MOVES = 1e-9


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that is fitted: a quantity, or the field of the row that `choice` takes. Its id is that of the step."""

    id: str
    unit: str
    low: float | None
    high: float | None
    choice: str | None = None
    catalog: str | None = None
    field: str | None = None
    expected: tuple[float, float] | None = None

    def axis(self, start: float) -> Axis:
        """Return the limits for a fit that starts at a value; where the model states none, the value's own sign."""
        guess = start if np.isfinite(start) and start else 1.0
        ends = sorted((guess / ANYWHERE, guess * ANYWHERE))
        low, high = (
            end if own is None else own for own, end in zip((self.low, self.high), ends, strict=True)
        )
        if not np.isfinite(start) and self.expected is not None:
            start = sum(self.expected) / 2
        elif not np.isfinite(start):
            start = float(np.sqrt(low * high)) if low > 0 else (low + high) / 2
        return Axis(low, high, min(max(start, low), high), self.expected)


@dataclass(frozen=True, slots=True)
class Observations:
    """Measurements of some quantities, one an entry: a row of the file stands here once for each of them that it has.

    `data` has one row an entry; `target` is the number, in `of`, of the quantity that was measured.
    """

    data: Data
    of: tuple[str, ...]
    target: NDArray[np.intp]
    measured: Numbers

    def pick(self, values: Mapping[str, Array], entries: NDArray[np.intp]) -> Numbers:
        """Return what was predicted of each entry's own quantity. Shape: that of `entries`."""
        columns = np.stack([np.asarray(values[name], dtype=float) for name in self.of])
        return np.asarray(columns[self.target[entries], np.arange(entries.size)])


def observations(data: Data, of: Sequence[str]) -> Observations:
    """Return the measurements of some quantities, quantity by quantity."""
    rows = [np.flatnonzero(np.isfinite(data.measured[name])) for name in of]
    target = np.concatenate([np.full(own.size, number) for number, own in enumerate(rows)])
    measured = np.concatenate([data.measured[name][own] for name, own in zip(of, rows, strict=True)])
    return Observations(data.only(np.concatenate(rows).tolist()), tuple(of), target, measured)


def parameters(
    plan: Plan, scenario: str, data: Data, names: Sequence[str], of: Sequence[str]
) -> tuple[tuple[Parameter, ...], tuple[Diagnostic, ...]]:
    """Read the names of what is to be fitted to some quantities."""
    made = [_parameter(plan, scenario, data, name, of) for name in dict.fromkeys(names)]
    wrong = tuple(item for item in made if isinstance(item, Diagnostic))
    return tuple(item for item in made if isinstance(item, Parameter)), wrong


def _parameter(plan: Plan, scenario: str, data: Data, name: str, of: Sequence[str]) -> Parameter | Diagnostic:
    quantity, numbers, told = (
        plan.model.quantities.get(name),
        needed(plan, of),
        " and ".join(f"`{name}`" for name in of),
    )
    if quantity is None or quantity.unit is None:
        state = (
            "is no number" if quantity is not None else "is no quantity and no `choice.field` of a formula"
        )
        way_out = did_you_mean(name, numbers) or f"numbers that {told} needs: {known_names(numbers)}"
        return Diagnostic("CG820", f"`{name}` cannot be fitted: it {state}", None, way_out)
    if name not in numbers:
        message = f"`{name}` cannot be fitted to measurements of {told}: nothing there needs it"
        return Diagnostic("CG820", message, None, f"numbers that are needed: {known_names(numbers)}")
    for given, where in (
        (data.settings, f"each row of {data.source.name}"),
        (plan.model.scenarios[scenario].settings, f"the scenario `{scenario}`"),
    ):
        if name in given:
            message = f"`{name}` cannot be fitted: {where} sets it"
            return Diagnostic("CG820", message, None, "leave it out there, or fit another")
    return _limited(plan, quantity)


def needed(plan: Plan, of: Sequence[str]) -> tuple[str, ...]:
    """Return the numbers that some quantities are calculated from."""
    steps = reached(plan.uses, of) - set(of)
    return tuple(
        name for name, item in plan.model.quantities.items() if name in steps and item.unit is not None
    )


def _limited(plan: Plan, quantity: Quantity) -> Parameter:
    limits, definition = quantity.limits, quantity.definition
    if isinstance(definition, Lookup):
        # A row's number outside its field's range is an error: here the range is the limit.
        column = plan.model.catalogs[definition.catalog].fields[definition.field]
        at = (definition.choice, definition.catalog, definition.field, column.expected)
        return Parameter(quantity.id, quantity.unit_text, column.limits.low, column.limits.high, *at)
    low, high = limits.minimum, limits.maximum
    if limits.low is not None and limits.high is not None:
        width = WIDENED * (limits.high - limits.low)
        under = limits.low / WIDENED if limits.low > 0 else limits.low - width
        low = under if low is None else low
        high = max(limits.high * WIDENED, limits.high + width) if high is None else high
    return Parameter(quantity.id, quantity.unit_text, low, high)


@dataclass
class Predictor:
    """The model's predictions of what was measured, as a function of the parameters; a row is an observation."""

    plan: Plan
    scenario: str
    seen: Observations
    fit: tuple[Parameter, ...]
    given: Mapping[str, Override] = field(init=False)
    before: Numbers = field(init=False)
    """The predictions with the values that the model has. Shape: (rows,)."""
    usable: NDArray[np.bool_] = field(init=False)
    """Which rows have a prediction, if need be with parameters in the middle of their limits."""
    fixed: dict[str, Array] = field(init=False)
    """The columns that stay: what rows set, and the steps that move with no parameter but are read by one that does."""
    narrow: Plan = field(init=False)
    """The plan with no more steps than a prediction needs."""
    own: Mapping[str, Array] = field(init=False)
    """The parameters and choices of each row as the model has them."""

    def __post_init__(self) -> None:
        plan, data, of = self.plan, self.seen.data, self.seen.of
        every = np.arange(data.size)
        self.given = overrides(plan, self.scenario, data)
        ids = tuple(item.id for item in self.fit)
        choices = tuple(item.choice for item in self.fit if item.choice is not None)
        self.own = calculate(plan, self.given, data.size, (*of, *ids, *choices)).values
        self.before = self.seen.pick(self.own, every)
        # A row of a catalog may lack what is to be fitted.
        starts = {name: np.asarray(self.own[name], dtype=float).copy() for name in ids}
        for item in self.fit:
            starts[item.id][~np.isfinite(starts[item.id])] = item.axis(np.nan).start
        steps = frozenset[str]().union(*(cone(plan.uses, name, of) for name in ids))
        # Besides what parameters move, that is what moves with none of them but is predicted as well.
        read = {need for step in steps - set(ids) for need in plan.uses[step]} | set(of)
        values = calculate(plan, {**self.given, **starts}, data.size, read).values
        predicted = self.seen.pick(values, every)
        self.usable = np.isfinite(predicted) & (predicted > 0)
        # Inside a sweep, a step that moves with its input is not the outer lane's.
        swept = any(steps & set(table.steps) for table in plan.sweeps.values())
        given = {name: _array(own) for name, own in self.given.items() if swept or name in steps}
        self.fixed = given if swept else {**given, **{name: values[name] for name in read - steps}}
        self.narrow = narrowed(plan, of, {**self.fixed, **starts})

    def predict(self, values: Numbers, rows: NDArray[np.intp]) -> Numbers:
        """Return predictions. Shapes: (sets, parameters) and (rows,) → (sets, rows); nan where there is none."""
        sets = len(values)
        lanes = np.tile(rows, sets)
        made: dict[str, Override] = {name: column[lanes] for name, column in self.fixed.items()}
        for number, item in enumerate(self.fit):
            made[item.id] = values[:, number].repeat(rows.size)
        columns = calculate(self.narrow, made, lanes.size)
        return self.seen.pick(columns.values, lanes).reshape(sets, rows.size)

    def starts(self, rows: NDArray[np.intp]) -> Numbers:
        """Return where a fit to some rows starts: the middle one of their values. Shape: (parameters,)."""
        made = []
        for number, item in enumerate(self.fit):
            value = self.value_before(number, rows)
            made.append(item.axis(np.nan if value is None else value).start)
        return np.array(made)

    def value_before(self, number: int, rows: NDArray[np.intp]) -> float | None:
        """Return the value that a parameter has in some rows, the middle one where it differs."""
        own = np.asarray(self.own[self.fit[number].id], dtype=float)[rows]
        own = own[np.isfinite(own)]
        return float(np.quantile(own, 0.5, method="lower")) if own.size else None

    def moved(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which predictions move with which parameter, wherever the others stay. Shape: (rows, parameters)."""
        starts = self.starts(rows)
        sets, owners = [starts], [-1]
        for number, item in enumerate(self.fit):
            axis = item.axis(float(starts[number]))
            for place in axis.spread(3)[1:]:
                changed = starts.copy()
                changed[number] = axis.outward(np.array([place]))[0]
                sets.append(changed)
                owners.append(number)
        predicted = self.predict(np.array(sets), rows)
        with np.errstate(invalid="ignore"):
            moves = np.abs(predicted / predicted[0] - 1) > MOVES
        return np.array(
            [moves[np.array(owners) == number].any(axis=0) for number in range(len(self.fit))]
        ).T.reshape(rows.size, len(self.fit))

    def options(self, rows: NDArray[np.intp]) -> Mapping[str, tuple[str, ...]]:
        """Return the options that some rows take, for each choice whose row holds a parameter."""
        names = dict.fromkeys(item.choice for item in self.fit if item.choice is not None)
        return {name: tuple(dict.fromkeys(str(option) for option in self.own[name][rows])) for name in names}


def _array(values: Override) -> Array:
    return values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
