"""Measurements × the model → parameters that bring the predictions nearest, by groups, and how far to trust them.

In: a plan, the scenario that rows start from, their data and what is to be fitted → Out: `Calibration`, diagnostics.
Invariant: what the data cannot support is told and keeps its value; every error is that of the values given back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from capgraph.diagnostics import Diagnostic
from capgraph.findings import Comparison, Errors
from capgraph.measurement.backtest import errors_of, texts_of
from capgraph.measurement.calibration import WHOLE, Calibration, Closeness, Estimate, GroupFit
from capgraph.measurement.data import Data
from capgraph.measurement.least_squares import (
    SINGULAR,
    Axis,
    Numbers,
    Predict,
    Solution,
    rounded,
    shares,
    solve,
)
from capgraph.measurement.parameters import Observations, Parameter, Predictor, observations
from capgraph.plan import Plan

FOLDS = 5
ALIKE = 0.95
COLLINEAR = 30.0
ROWS_A_PARAMETER = 3

Told = Callable[[str], None]


def calibrate(
    plan: Plan,
    scenario: str,
    data: Data,
    fit: Sequence[Parameter],
    of: Sequence[str],
    by: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    folds: int = FOLDS,
    tell: Told = lambda _: None,
) -> tuple[Calibration | None, tuple[Diagnostic, ...]]:
    """Fit parameters to measurements of some quantities; without groups, those of the rows that hold them."""
    work = _Work(plan, scenario, observations(data, of), tuple(fit), folds, tell)
    made = work.calibration(_grouping(fit, by), leave_out)
    return made, tuple(work.found)


def _grouping(fit: Sequence[Parameter], by: Sequence[str]) -> tuple[str, ...]:
    choices = (item.choice for item in fit if item.choice is not None)
    return tuple(by) or tuple(dict.fromkeys(choices))


@dataclass
class _Work:
    plan: Plan
    scenario: str
    seen: Observations
    fit: tuple[Parameter, ...]
    folds: int
    tell: Told
    found: list[Diagnostic] = field(default_factory=list)
    predictor: Predictor = field(init=False)

    def __post_init__(self) -> None:
        self.predictor = Predictor(self.plan, self.scenario, self.seen, self.fit)

    def calibration(self, by: tuple[str, ...], leave_out: Sequence[str]) -> Calibration | None:
        members = self._members(by)
        groups = [self._group(name, rows) for name, rows in members.items()]
        fitted = [group for group in groups if group.solution is not None]
        if not fitted:
            # Nothing else is left to be shown: what stood in the way of each group is why.
            self.found = [replace(item, severity="error") for item in self.found] or [self._no_rows()]
            return None
        before, after, folds = self.predictor.before.copy(), self.predictor.before.copy(), self._nothing()
        for group in fitted:
            after[group.rows] = group.predict(group.values)
            self.tell(f"{group.name}: {self.folds}-fold")
            for out in self._parts(group):
                folds[group.rows[out]] = group.without(out)
        rows = np.concatenate([group.rows for group in groups])
        left_out = {column: self._left_out(column, fitted) for column in leave_out}
        data, pairs = self.seen.data, (before, after, folds)
        return Calibration(
            data.source.name,
            data.digest,
            self.scenario,
            self.seen.of,
            self.fit,
            by,
            self._closeness(pairs, rows),
            self._each(pairs, rows),
            {group.name: self._told(group, pairs) for group in groups},
            {group.name: self.predictor.options(group.rows) for group in groups},
            left_out,
        )

    def _parts(self, group: _Group) -> Iterator[NDArray[np.intp]]:
        """Yield the numbers of the observations of each fold; those of one row of the file are in one fold."""
        lines = np.array(self.seen.data.lines)[group.rows]
        names = np.unique(lines)
        for own in shares(names.size, min(self.folds, names.size)):
            yield np.flatnonzero(np.isin(lines, names[own]))

    def _no_rows(self) -> Diagnostic:
        of = " or ".join(f"`{name}`" for name in self.seen.of)
        message = f"no row of {self.seen.data.source.name} has both a measurement and a prediction of {of}"
        return Diagnostic("CG816", message, None, "`capgraph backtest` says what is wrong with the rows")

    def _members(self, by: tuple[str, ...]) -> dict[str, NDArray[np.intp]]:
        """Return the rows of each group that can be compared, in the order of the groups' names."""
        texts = [texts_of(self.plan, self.scenario, self.seen.data, name) for name in by]
        usable = np.flatnonzero(self.predictor.usable)
        members: dict[str, list[int]] = {}
        for row in usable:
            members.setdefault(", ".join(own[row] or "(none)" for own in texts), []).append(int(row))
        return {name: np.array(members[name]) for name in sorted(members)}

    def _group(self, name: str, rows: NDArray[np.intp]) -> _Group:
        """Fit a group, with as many of the parameters as its rows can tell of."""
        self.tell(name or "fitting")
        moved = self.predictor.moved(rows)
        free = [number for number in range(len(self.fit)) if moved[:, number].any()]
        for number in set(range(len(self.fit))) - set(free):
            self._warn(name, "CG823", f"no prediction moves with `{self.fit[number].id}`, so it keeps its value",
                       "leave it out, or measure where it counts")  # fmt: skip
        rows = rows[moved.any(axis=1)] if free else rows
        group = _Group(name, rows, tuple(free), self.predictor, self.seen.measured[rows])
        if not free or not self._enough(group):
            return group
        group.solve()
        still = [number for number, own in zip(free, group.found.still, strict=True) if own]
        if still:
            for number in still:
                self._warn(name, "CG823", f"where the fit is best, no prediction moves with `{self.fit[number].id}`, "
                           "so it keeps its value", "leave it out, or measure where it counts")  # fmt: skip
            group.free = tuple(number for number in free if number not in still)
            group.solution = None
            if not group.free:
                return group
            group.solve()
        self._judge(group)
        return group

    def _enough(self, group: _Group) -> bool:
        rows, parameters = group.rows.size, len(group.free)
        unknown = sum(self.fit[number].expected is None for number in group.free)
        counted = f"{rows} row{'s' * (rows != 1)} for {parameters} parameter{'s' * (parameters != 1)}"
        if rows < max(unknown + 1, 2):
            self._warn(group.name, "CG821", f"{counted} cannot be fitted; the values stay",
                       "measure more rows, fit fewer parameters, or make groups larger with --by")  # fmt: skip
            return False
        if rows < ROWS_A_PARAMETER * parameters:
            self._warn(
                group.name,
                "CG822",
                f"{counted} are few",
                f"{ROWS_A_PARAMETER * parameters} rows or more make it firm",
            )
        return True

    def _judge(self, group: _Group) -> None:
        """Tell what is doubtful in a group's fit; one that the data do not settle is dropped."""
        names, found = [self.fit[number].id for number in group.free], group.found
        if found.condition > SINGULAR:
            pairs = self._alike(names, found) or [f"`{names[0]}` and {len(names) - 1} more"]
            self._warn(group.name, "CG824", f"{pairs[0]} move every prediction alike, so the data cannot settle them; "
                       "the values stay", "fix one of them, or measure rows that tell them apart")  # fmt: skip
            group.solution = None
            return
        alike = self._alike(names, found)
        for pair in alike or (["the parameters"] if found.condition > COLLINEAR else []):
            self._warn(
                group.name,
                "CG825",
                f"{pair} can hardly be told apart",
                "fix one of them, or measure rows that do",
            )
        for name, value, error, at_limit in zip(
            names, found.values, found.errors, found.at_limit, strict=True
        ):
            if at_limit:
                self._warn(group.name, "CG826", f"`{name}` ends at its limit, {value:g}",
                           "look for what the model leaves out, or correct its limits")  # fmt: skip
            elif error > abs(value) and not alike:
                self._warn(group.name, "CG827", f"`{name}` is {value:.3g} with a standard error of {error:.2g}",
                           "the data say little of it: fix it, or measure where it counts")  # fmt: skip

    def _alike(self, names: Sequence[str], found: Solution) -> list[str]:
        return [
            f"`{names[one]}` and `{names[other]}` (correlation {found.correlation[one, other]:+.3f})"
            for one, other in combinations(range(len(names)), 2)
            if abs(found.correlation[one, other]) >= ALIKE
        ]

    def _warn(self, group: str, code: str, message: str, way_out: str) -> None:
        where = f"{group}: " if group else ""
        self.found.append(Diagnostic(code, where + message, None, way_out, severity="warning"))

    def _left_out(self, column: str, groups: Sequence[_Group]) -> Mapping[str, Mapping[str, Errors]]:
        """Return the errors on each group of a column, by measured quantity, when its rows have no part in the fit."""
        texts = np.array(texts_of(self.plan, self.scenario, self.seen.data, column), dtype=object)
        predicted = self._nothing()
        for number, group in enumerate(groups, 1):
            own = texts[group.rows]
            self.tell(f"{group.name}: without each {column} ({number} of {len(groups)})")
            for text in dict.fromkeys(own.tolist()):
                out = np.flatnonzero(own == text)
                predicted[group.rows[out]] = group.without(out)
        every = np.concatenate([group.rows for group in groups])
        made = {}
        for number, name in enumerate(self.seen.of):
            rows = every[self.seen.target[every] == number]
            parts = {text: rows[texts[rows] == text] for text in sorted(set(texts[rows].tolist()))}
            made[name] = {text or "(none)": self._errors(predicted, own) for text, own in parts.items()}
            made[name][WHOLE] = self._errors(predicted, rows)
        return made

    def _nothing(self) -> Numbers:
        return np.full(self.seen.data.size, np.nan)

    def _errors(self, predicted: Numbers, rows: NDArray[np.intp]) -> Errors:
        pair = Comparison("", tuple(predicted[rows].tolist()), tuple(self.seen.measured[rows].tolist()))
        return errors_of(pair)

    def _closeness(self, pairs: Sequence[Numbers], rows: NDArray[np.intp]) -> Closeness:
        before, after, folds = (self._errors(predicted, rows) for predicted in pairs)
        return Closeness(before, after, folds)

    def _each(self, pairs: Sequence[Numbers], rows: NDArray[np.intp]) -> Mapping[str, Closeness]:
        return {
            name: self._closeness(pairs, rows[self.seen.target[rows] == number])
            for number, name in enumerate(self.seen.of)
        }

    def _told(self, group: _Group, pairs: Sequence[Numbers]) -> GroupFit:
        return GroupFit(
            group.name,
            self._closeness(pairs, group.rows),
            self._each(pairs, group.rows),
            self._estimates(group),
            self._correlation(group),
        )

    def _estimates(self, group: _Group) -> Mapping[str, Estimate]:
        if group.solution is None:
            return {}
        found, made = group.found, {}
        for place, number in enumerate(group.free):
            item = self.fit[number]
            value, error = float(group.values[place]), float(found.errors[place])
            low, high = (rounded(float(end), error) for end in (found.low[place], found.high[place]))
            least, most = item.axis(group.starts[number]).low, item.axis(group.starts[number]).high
            made[item.id] = Estimate(
                item.id,
                self.predictor.value_before(number, group.rows),
                value,
                error if np.isfinite(error) else None,
                max(min(low, value), least),
                min(max(high, value), most),
            )
        return made

    def _correlation(self, group: _Group) -> Mapping[tuple[str, str], float]:
        """Return the correlation of each pair, without parameters at their limits: those are given."""
        if group.solution is None:
            return {}
        found = group.found
        free = [place for place, at_limit in enumerate(found.at_limit) if not at_limit]
        names = [self.fit[number].id for number in group.free]
        return {
            (names[one], names[other]): float(found.correlation[one, other])
            for one, other in combinations(free, 2)
        }


@dataclass
class _Group:
    """Rows with one set of parameters, of which `free` ones (by number) are fitted."""

    name: str
    rows: NDArray[np.intp]
    free: tuple[int, ...]
    predictor: Predictor
    measured: Numbers
    solution: Solution | None = None
    starts: Numbers = field(init=False)
    values: Numbers = field(init=False)
    """The fitted parameters as they are given back, rounded."""

    def __post_init__(self) -> None:
        self.starts = self.predictor.starts(self.rows)

    @property
    def found(self) -> Solution:
        assert self.solution is not None
        return self.solution

    def solve(self) -> None:
        """Fit to all rows."""
        self.solution = solve(self._predict(self.rows), self.measured, self._axes(self.starts))
        self.values = np.array(
            [rounded(float(v), float(e)) for v, e in zip(self.found.values, self.found.errors, strict=True)]
        )

    def predict(self, values: Numbers) -> Numbers:
        """Return the predictions of all rows with some values of the free parameters."""
        (predicted,) = self._predict(self.rows)(values[None, :])
        return np.asarray(predicted)

    def without(self, out: NDArray[np.intp]) -> Numbers:
        """Return predictions of some rows, by number, from a fit to the others; nan where those are too few."""
        kept = np.setdiff1d(np.arange(self.rows.size), out)
        unknown = sum(self.predictor.fit[number].expected is None for number in self.free)
        if kept.size < max(unknown + 1, 2):
            return np.full(out.size, np.nan)
        starts = self.starts.copy()
        starts[list(self.free)] = self.values
        made = solve(self._predict(self.rows[kept]), self.measured[kept], self._axes(starts), starts=1)
        (predicted,) = self._predict(self.rows[out])(made.values[None, :])
        return np.asarray(predicted)

    def _axes(self, starts: Numbers) -> tuple[Axis, ...]:
        fit = self.predictor.fit
        return tuple(
            fit[number].axis(float(self.starts[number])).at(float(starts[number])) for number in self.free
        )

    def _predict(self, rows: NDArray[np.intp]) -> Predict:
        def predict(values: Numbers) -> Numbers:
            whole = np.tile(self.starts, (len(values), 1))
            whole[:, list(self.free)] = values
            return self.predictor.predict(whole, rows)

        return predict
