"""Calibrations ↔ the fits that a model declares: where fitted values belong, and whether those that ship are right.

In: a model's `fits:` → Out: `Job`s, one a calibration that gives them again, and what differs from it.
Invariant: a place (a quantity, or the row of a catalog) gets the values of one group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from capgraph.diagnostics import Diagnostic
from capgraph.measurement.calibration import Calibration, Estimate, GroupFit
from capgraph.measurement.parameters import needed
from capgraph.model import Choose, Fit, Given
from capgraph.plan import Plan

SAME = 0.02
"""Values that differ by less than so many standard errors are the same but for rounding."""
SAME_RATIO = 1e-6
SAME_ERROR = 1e-4


@dataclass(frozen=True, slots=True)
class Place:
    """Where fitted values are written: quantities (no catalog), or the row of a catalog."""

    catalog: str | None
    row: str | None


@dataclass(frozen=True, slots=True)
class Placed:
    """The values for a place, by quantity or field, and the group whose measurements gave them."""

    place: Place
    estimates: Mapping[str, Estimate]
    group: GroupFit


@dataclass(frozen=True, slots=True)
class Job:
    """Fits that one calibration gives: to the same measurements, of the same parameters; `parameters` are step ids."""

    fits: tuple[Fit, ...]
    of: tuple[str, ...]
    parameters: tuple[str, ...]
    scenario: str
    where: Mapping[str, tuple[str, ...]]
    path: Path


@dataclass(frozen=True, slots=True)
class Difference:
    """What ships of a fit beside what the data give; `refitted` is None where they give none."""

    fit: str
    what: str
    shipped: float | str
    refitted: float | str | None
    error: float | None
    same: bool


def place(made: Calibration) -> tuple[tuple[Placed, ...], tuple[Diagnostic, ...]]:
    """Say where fitted values belong; two groups that claim one place are an error."""
    placed: dict[Place, Placed] = {}
    for name, group in made.groups.items():
        for item in made.parameters:
            estimate = group.estimates.get(item.id)
            if estimate is None:
                continue
            options = made.options[name][item.choice] if item.choice is not None else (None,)
            where = Place(item.catalog, options[0])
            known = placed.get(where)
            if len(options) > 1 or (known is not None and known.group.group != name):
                return (), (_claimed(made, item.id, where),)
            values = {**(known.estimates if known else {}), item.field or item.id: estimate}
            placed[where] = Placed(where, values, group)
    return tuple(placed.values()), ()


def _claimed(made: Calibration, parameter: str, where: Place) -> Diagnostic:
    groups = ", ".join(made.by)
    message = f"`{parameter}` has a value for each group by {groups}, and a plan has room for one"
    way_out = "take one group with --rows, or make the parameter a field of a catalog"
    if where.row is not None:
        message = (
            f"the row `{where.row}` of `{where.catalog}` would get the values of several groups by {groups}"
        )
        way_out = "group by the choice of the row alone: leave --by out"
    return Diagnostic("CG828", message, None, way_out)


def jobs(plan: Plan) -> tuple[tuple[Job, ...], tuple[Diagnostic, ...]]:
    """Return the calibrations that a model's fits came from."""
    made: dict[object, list[Fit]] = {}
    for fit in plan.model.fits.values():
        where = tuple((name, texts) for name, texts in fit.where.items())
        key = (
            fit.of,
            fit.catalog,
            tuple(sorted(fit.parameters)),
            where,
            fit.scenario,
            fit.data,
            fit.origin.source,
        )
        made.setdefault(key, []).append(fit)
    done = [_job(plan, tuple(fits)) for fits in made.values()]
    found = tuple(item for item in done if isinstance(item, Diagnostic))
    return tuple(item for item in done if isinstance(item, Job)), found


def _job(plan: Plan, fits: tuple[Fit, ...]) -> Job | Diagnostic:
    first = fits[0]
    names, where, of = tuple(first.parameters), dict(first.where), (first.of, *first.together)
    if first.catalog is not None:
        feeding = set(needed(plan, of))
        choices = [
            name
            for name, item in plan.model.quantities.items()
            if isinstance(item.definition, Choose)
            and item.definition.catalog == first.catalog
            and all(f"{name}.{parameter}" in feeding for parameter in names)
        ]
        if len(choices) != 1:
            state = "no choice" if not choices else f"more than one choice ({', '.join(choices)})"
            message = (
                f"{state} of `{first.catalog}` brings the parameters of the fit `{first.id}` to `{first.of}`"
            )
            return Diagnostic("CG829", message, first.origin, "correct `of`, `catalog` or the parameters")
        choice = choices[0]
        names = tuple(f"{choice}.{name}" for name in names)
        where[choice] = tuple(dict.fromkeys(str(fit.row) for fit in fits))
    scenario = first.scenario or next(iter(plan.model.scenarios))
    return Job(fits, of, names, scenario, where, Path(first.origin.source.path).parent / first.data)


def differences(plan: Plan, job: Job, made: Calibration, placed: Sequence[Placed]) -> tuple[Difference, ...]:
    """Hold what ships against what the data give."""
    by_place = {item.place: item for item in placed}
    told: list[Difference] = []
    for fit in job.fits:
        own = by_place.get(Place(fit.catalog, fit.row))
        for name in fit.parameters:
            estimate = own.estimates.get(name) if own is not None else None
            told.append(_difference(fit, name, _shipped(plan, fit, name), estimate))
        if own is not None:
            now = own.group.each[fit.of].after
            same = abs(now.mean - fit.error) < SAME_ERROR
            told.append(
                Difference(fit.id, "rows", float(fit.rows), float(now.count), None, fit.rows == now.count)
            )
            told.append(Difference(fit.id, "error", fit.error, now.mean, None, same))
        if fit.sha256:
            told.append(
                Difference(fit.id, "sha256", fit.sha256, made.digest, None, fit.sha256 == made.digest)
            )
    return tuple(told)


def _shipped(plan: Plan, fit: Fit, name: str) -> float | None:
    if fit.catalog is not None and fit.row is not None:
        value = plan.model.catalogs[fit.catalog].rows[fit.row].values.get(name)
    else:
        definition = plan.model.quantities[name].definition
        value = definition.value if isinstance(definition, Given) else None
    return value if isinstance(value, float) else None


def _difference(fit: Fit, name: str, shipped: float | None, estimate: Estimate | None) -> Difference:
    if estimate is None or shipped is None:
        return Difference(fit.id, name, "none" if shipped is None else shipped, None, None, False)
    tolerated = max(SAME * (estimate.error or 0.0), SAME_RATIO * abs(estimate.value))
    pairs = zip((shipped, *fit.parameters[name]), (estimate.value, estimate.low, estimate.high), strict=True)
    same = all(abs(one - other) <= tolerated for one, other in pairs)
    return Difference(fit.id, name, shipped, estimate.value, estimate.error, same)
