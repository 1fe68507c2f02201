"""Measurements that the model does not give → the single changes that would reconcile the two, the likeliest first.

In: a plan, a scenario, what is known of the run and what was measured there → Out: `Diagnosis`.
Invariant: every number is the evaluator's with one cause changed; what is known of the run is never changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from capgraph.analysis.basis import parameters_in
from capgraph.analysis.crossing import Floats, Search, crossings, nearest, values_to_try
from capgraph.analysis.derivation import ancestors, is_definition
from capgraph.calculate import calculate
from capgraph.diagnostics import Diagnostic
from capgraph.evaluate import told_failure
from capgraph.findings import Diagnosis, Explanation
from capgraph.model import Choose, Formula, Limits, Lookup, Suspect, Value
from capgraph.plan import Plan

WITHIN = 0.05
MOST_OPTIONS = 50
_NO_MOVE = 1e-9
_NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Cause:
    """What may differ from the model: `settings`, and `vary`, a number to look for or one of `options` to take."""

    vary: str
    now: Value | None
    limits: Limits = _NO_LIMITS
    settings: Mapping[str, Value] = field(default_factory=dict)
    options: tuple[Value, ...] = ()
    suspect: str = ""

    @property
    def start(self) -> float | None:
        """Return the number that the search starts from; nothing where no number is looked for."""
        return None if isinstance(self.now, bool | str) else self.now


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value of a cause; `exact` is false for one that only comes nearest."""

    cause: int
    value: Value | None
    exact: bool = True


def diagnose(
    plan: Plan,
    scenario: str,
    known: Mapping[str, Value],
    measured: Mapping[str, float],
    within: float = WITHIN,
) -> tuple[Diagnosis | None, tuple[Diagnostic, ...]]:
    """Look for what explains measurements, all above zero and in their quantities' units; `known` holds in the run.

    `within` is the largest relative error that is taken for agreement.
    """
    bench = Bench(plan, scenario, known, measured)
    predicted, found = bench.present()
    if found:
        return None, found
    error = bench.error(predicted)
    if error <= within:
        return Diagnosis(scenario, measured, predicted, error, within, (), ()), ()
    causes = _causes(bench)
    if not causes:
        names = " and ".join(f"`{name}`" for name in measured)
        message = f"{names} rest{'s' if len(measured) == 1 else ''} on nothing that could be otherwise"
        help_text = "name a computed quantity, and set fewer of the inputs that it needs"
        return None, (Diagnostic("CG831", message, None, help_text),)
    tried = _best(bench, causes, _candidates(bench, causes), within)
    moving = [item for item in tried if _moves(item, predicted)]
    order = list(plan.model.suspects)
    explanations = sorted(
        (item for item in moving if item.error <= within), key=lambda item: _likelihood(item, order)
    )
    short = sorted((item for item in moving if within < item.error < error), key=lambda item: item.error)
    made = Diagnosis(scenario, measured, predicted, error, within, tuple(explanations), tuple(short))
    if explanations:
        return made, ()
    message = "no single change reconciles the model with what was measured"
    help_text = "look for two causes: `--set` the likelier one, and run it again"
    return made, (Diagnostic("CG832", message, None, help_text, severity="warning"),)


class Bench:
    """Calculates the measured quantities with single causes changed."""

    def __init__(
        self, plan: Plan, scenario: str, known: Mapping[str, Value], measured: Mapping[str, float]
    ) -> None:
        self.plan, self.scenario, self.known, self.measured = plan, scenario, known, measured
        settings = {name: item.value for name, item in plan.model.scenarios[scenario].settings.items()}
        # What was measured is what the model is asked for: it must not be set as well.
        self.given = {name: value for name, value in {**settings, **known}.items() if name not in measured}
        self.needed = ancestors(plan, measured, self.given)
        columns = calculate(plan, {name: [value] for name, value in self.given.items()}, 1)
        self.failures = tuple(item for item in columns.failures if item.step in self.needed)
        self.values = {name: column[0] for name, column in columns.values.items()}

    def present(self) -> tuple[Mapping[str, float], tuple[Diagnostic, ...]]:
        """Return what the model says as it stands, or why it says nothing."""
        found = tuple(told_failure((self.scenario,), self.plan, item) for item in self.failures)
        return {} if found else {name: float(self.values[name]) for name in self.measured}, found

    def error(self, predicted: Mapping[str, float]) -> float:
        """Return the largest size of the relative errors; nan counts as infinite."""
        sizes = [abs(predicted[name] / wanted - 1) for name, wanted in self.measured.items()]
        return max(math.inf if math.isnan(size) else size for size in sizes)

    def predictions(self, changes: Sequence[Mapping[str, Value]]) -> Floats:
        """Return the measured quantities with one change a lane; nan: no value. Shape: (lanes, quantities)."""
        names = dict.fromkeys((*self.given, *(name for change in changes for name in change)))
        lanes = {name: [change.get(name, self.given.get(name)) for change in changes] for name in names}
        columns = calculate(self.plan, lanes, len(changes), tuple(self.measured))
        made: Floats = np.stack(
            [np.asarray(columns.values[name], dtype=float) for name in self.measured], axis=1
        )
        return made


def _causes(bench: Bench) -> tuple[Cause, ...]:
    """Return what could be otherwise: the suspects that the model declares, then the inputs that no suspect covers."""
    suspects = [cause for item in bench.plan.model.suspects.values() if (cause := _suspected(bench, item))]
    covered = {cause.vary for cause in suspects if not cause.settings}
    covered |= {
        name for cause in suspects for name, value in cause.settings.items() if isinstance(value, bool)
    }
    fitted = _fitted(bench)
    names = [*(name for name in bench.plan.model.quantities if name in bench.needed), *fitted]
    bare = (_bare(bench, name, fitted.get(name)) for name in dict.fromkeys(names) if name not in covered)
    return (*suspects, *(cause for cause in bare if cause))


def _suspected(bench: Bench, item: Suspect) -> Cause | None:
    """Return a suspect as a cause; nothing where all of it is so already, or is known to be otherwise."""
    settings = {
        name: setting.value for name, setting in item.settings.items() if setting.value != bench.values[name]
    }
    changed = {*settings, *((item.vary,) if item.vary else ())}
    if not changed & bench.needed or changed & {*bench.known, *bench.measured}:
        return None
    if item.vary is None:
        return Cause("", None, settings=settings, options=(True,), suspect=item.id)
    now = float(bench.values[item.vary])
    return None if math.isnan(now) else Cause(item.vary, now, item.limits, settings, suspect=item.id)


def _fitted(bench: Bench) -> dict[str, Limits]:
    """Return the parameters that were fitted and are in force, with the ends that the fit gives them."""
    model, made = bench.plan.model, {}
    for fit in model.fits.values():
        for name, (low, high) in parameters_in(bench.plan, bench.values, bench.given, fit).items():
            if name in bench.needed:
                # A row's number outside its field's range would be an error.
                hard = _NO_LIMITS
                if fit.catalog is not None:
                    hard = model.catalogs[fit.catalog].fields[name.partition(".")[2]].limits
                made[name] = Limits(low, high, hard.low, hard.high)
    return made


def _bare(bench: Bench, name: str, fitted: Limits | None) -> Cause | None:
    """Return an input as a cause, or what the scenario gives in place of a formula, or a fitted parameter."""
    quantity, now = bench.plan.model.quantities[name], bench.values[name]
    definition = quantity.definition
    computed = isinstance(definition, Formula | Lookup) and name not in bench.given and fitted is None
    if computed or name in bench.known or name in bench.measured or is_definition(quantity):
        return None
    if isinstance(definition, Choose):
        others = tuple(option for option in definition.options if option != now)
        return Cause(name, now, options=others) if len(others) < MOST_OPTIONS else None
    if quantity.unit is None:
        return Cause(name, bool(now), options=(not now,))
    limits = quantity.limits
    if fitted is not None:
        least = limits.minimum if fitted.minimum is None else fitted.minimum
        most = limits.maximum if fitted.maximum is None else fitted.maximum
        limits = Limits(fitted.low, fitted.high, least, most)
    fixed = limits.minimum is not None and limits.minimum == limits.maximum
    return None if fixed or now is None or math.isnan(now) else Cause(name, float(now), limits)


def _change(cause: Cause, value: Value | None) -> Mapping[str, Value]:
    return {**cause.settings, cause.vary: value} if cause.vary and value is not None else cause.settings


def _candidates(bench: Bench, causes: Sequence[Cause]) -> list[Candidate]:
    """Return the values worth a look: each option, the nearest crossings of numbers, else where they come nearest."""
    made = [Candidate(number, value) for number, cause in enumerate(causes) for value in cause.options]
    searched = {number: cause.start for number, cause in enumerate(causes) if cause.start is not None}
    exact = _searched(bench, causes, searched, crossings)
    made += [Candidate(number, value) for number, value in exact]
    # A crossing of one measurement may not be the best for all of them.
    met = {number for number, _ in exact} if len(bench.measured) == 1 else set()
    unmet = {number: start for number, start in searched.items() if number not in met}
    return made + [
        Candidate(number, value, False) for number, value in _searched(bench, causes, unmet, nearest)
    ]


def _searched(
    bench: Bench, causes: Sequence[Cause], starts: Mapping[int, float], search: Search
) -> tuple[tuple[int, float], ...]:
    """Return (cause, value) of what a search over some causes' numbers finds."""
    numbers, wanted = list(starts), np.array(list(bench.measured.values()))
    if not numbers:
        return ()

    def gap(which: NDArray[np.intp], values: Floats) -> Floats:
        lanes = zip(which.tolist(), values.tolist(), strict=True)
        changes = [_change(causes[numbers[item]], value) for item, value in lanes]
        gaps: Floats = bench.predictions(changes) / wanted - 1
        return gaps

    grids = [values_to_try(start, causes[number].limits) for number, start in starts.items()]
    found = search(gap, grids, list(starts.values()))
    return tuple((numbers[which], value) for which, value in found)


def _best(
    bench: Bench, causes: Sequence[Cause], candidates: Sequence[Candidate], within: float
) -> Iterator[Explanation]:
    """Yield of each cause the candidate that reconciles with the least change; else the one that comes nearest."""
    rows = bench.predictions([_change(causes[item.cause], item.value) for item in candidates])
    best: dict[int, tuple[tuple[float, ...], Explanation]] = {}
    for item, row in zip(candidates, rows.tolist(), strict=True):
        made = _explanation(
            bench, causes[item.cause], item.value, dict(zip(bench.measured, row, strict=True))
        )
        reconciles = made.error <= within
        size = _distance(made) if reconciles and not causes[item.cause].options else made.error
        key = (not reconciles, reconciles and not item.exact, size)
        if item.cause not in best or key < best[item.cause][0]:
            best[item.cause] = (key, made)
    for number in sorted(best):
        yield best[number][1]


def _explanation(
    bench: Bench, cause: Cause, value: Value | None, predicted: Mapping[str, float]
) -> Explanation:
    limits = cause.limits
    return Explanation(
        cause=cause.suspect,
        quantity=cause.vary,
        settings=_change(cause, value),
        now=cause.now,
        needed=value if cause.vary else None,
        low=limits.low,
        high=limits.high,
        strain=_strain(cause, value),
        predicted=predicted,
        error=bench.error(predicted),
    )


def _strain(cause: Cause, value: Value | None) -> float:
    """Return how far a value is from plausible, in widths of its range; without a range, in doublings.

    What a suspect sets is plausible, since the model's author says so; another option is one step away.
    """
    if cause.options or not isinstance(value, float):
        return 0.0 if cause.suspect else 1.0
    low, high = cause.limits.low, cause.limits.high
    if low is None or high is None:
        return _doublings(cause.start, value)
    beyond = max(low - value, value - high, 0.0)
    return beyond / (high - low) if beyond and high > low else math.inf if beyond else 0.0


def _doublings(before: float | None, after: float) -> float:
    if before is None or before * after <= 0:
        return 0.0 if before == after else math.inf
    return abs(math.log2(after / before))


def _distance(item: Explanation) -> float:
    """Return the size of a change: in widths of the range, else in doublings, whether it stays inside or not."""
    if not isinstance(item.now, float) or not isinstance(item.needed, float):
        return 1.0
    if item.low is None or item.high is None or item.high <= item.low:
        return _doublings(item.now, item.needed)
    return abs(item.needed - item.now) / (item.high - item.low)


def _likelihood(item: Explanation, suspects: Sequence[str]) -> tuple[float, ...]:
    """Return what explanations are ordered by: in range, up to a width or a doubling beyond it, or further.

    Among those the suspects come first, as the model's author put them; then what leaves less of the error, and what
    changes less.
    """
    band = 0 if item.strain == 0 else 1 if item.strain <= 1 else 2
    place = suspects.index(item.cause) if item.cause else len(suspects)
    return (band, place, round(item.error, 3), _distance(item))


def _moves(item: Explanation, predicted: Mapping[str, float]) -> bool:
    return any(
        not math.isnan(after) and abs(after - predicted[name]) > _NO_MOVE * abs(predicted[name])
        for name, after in item.predicted.items()
    )
