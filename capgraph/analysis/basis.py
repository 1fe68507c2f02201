"""What each number rests on: a measurement, a fit to measurements, or assumptions alone.

In: a plan and its results → Out: the fits that hold in the selected scenario, and a `Basis` of each number.
Invariant: a model without fits and measurements gets none; a value that a scenario sets ends what it would rest on,
and a branch that is not taken bears on nothing.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal

from capgraph.analysis.derivation import ancestors, is_definition, names_in
from capgraph.analysis.taken import taken
from capgraph.findings import Basis
from capgraph.formula.tree import reductions
from capgraph.model import Choose, Fit, Formula, Given, Lookup, Quantity, Value
from capgraph.plan import Plan
from capgraph.results import Results

MEASURED: Literal["measured"] = "measured"
_NOTHING: Mapping[str, Basis] = MappingProxyType({})


def fits_in_force(plan: Plan, results: Results) -> tuple[Fit, ...]:
    """Return the fits whose parameters the selected scenario takes, with values within what was fitted."""
    return tuple(fit for fit in plan.model.fits.values() if parameters_of(plan, results, fit))


def parameters_of(plan: Plan, results: Results, fit: Fit) -> Mapping[str, tuple[float, float]]:
    """Return the range of each quantity that a fit gives a value to in the selected scenario."""
    scenario = results.selected
    return parameters_in(
        plan, results.scenarios[scenario].values, plan.model.scenarios[scenario].settings, fit
    )


def parameters_in(
    plan: Plan, values: Mapping[str, Value | None], given: Container[str], fit: Fit
) -> Mapping[str, tuple[float, float]]:
    """Return the range of each quantity that a fit gives a value to: inputs, or `choice.field` of the chosen row.

    None where the fit is out of force: what is `given` otherwise is no parameter, and formulas have to lead from all
    others to what the fit predicts.
    """
    found: dict[str, tuple[float, float]] = {}
    feeding = ancestors(plan, (fit.of,))
    for names in _places(plan, values, fit):
        own = {step: fit.parameters[name] for name, step in names.items() if step not in given}
        if feeding >= own.keys():
            found |= own
    for name, (low, high) in found.items():
        value = values[name]
        # A plan may have changed the value: then the fit says nothing of it.
        if not isinstance(value, float) or not low <= value <= high:
            return {}
    return found


def _places(plan: Plan, values: Mapping[str, Value | None], fit: Fit) -> Iterator[Mapping[str, str]]:
    """Yield the steps that parameters stand for: themselves, or the fields of each choice that takes the fit's row."""
    if fit.catalog is None:
        yield {name: name for name in fit.parameters}
        return
    for item in plan.model.quantities.values():
        definition = item.definition
        if (
            isinstance(definition, Choose)
            and definition.catalog == fit.catalog
            and values.get(item.id) == fit.row
        ):
            yield {name: f"{item.id}.{name}" for name in fit.parameters}


def bases(plan: Plan, results: Results) -> Mapping[str, Basis]:
    """Return what the numbers of the selected scenario rest on; other inputs are told by their source alone."""
    model = plan.model
    if not (model.fits or model.evidence):
        return _NOTHING
    settings = model.scenarios[results.selected].settings
    fitted: dict[str, tuple[str, ...]] = {}
    for fit in fits_in_force(plan, results):
        for name in (fit.of, *parameters_of(plan, results, fit)):
            fitted[name] = (*fitted.get(name, ()), fit.id)
    formulas = taken(plan, results.scenarios[results.selected], settings, targets=())
    rests: dict[str, tuple[str, ...]] = {}
    whole: dict[str, tuple[str, ...]] = {}
    found: dict[str, Basis] = {}
    for step in plan.steps:
        own = fitted.get(step.id, ())
        whole[step.id] = _joined(own, plan.uses[step.id], whole)
        expr = formulas.get(step.id)
        # At other points of a sweep other branches may be taken.
        swept = expr is not None and bool(reductions(expr))
        below = plan.uses[step.id] if expr is None else names_in(expr)
        rests[step.id] = whole[step.id] if swept else _joined(own, below, rests)
        if step.id in settings:
            rests[step.id] = whole[step.id] = ()
        entry = model.quantities.get(step.id)
        basis = _basis(plan, results, entry, rests[step.id], step.id in settings) if entry else None
        if basis is not None:
            found[step.id] = basis
    return found


def _joined(own: tuple[str, ...], names: Iterable[str], rests: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*own, *(fit for name in names for fit in rests.get(name, ())))))


def _basis(
    plan: Plan, results: Results, entry: Quantity, fits: tuple[str, ...], is_set: bool
) -> Basis | None:
    if entry.unit is None or is_definition(entry):
        return None
    match entry.definition:
        case Formula():
            return Basis(MEASURED) if is_set else Basis("fitted", fits) if fits else Basis("assumed")
        case Given():
            source = "" if is_set else entry.provenance.source
        case Lookup(choice=choice, catalog=catalog):
            row = plan.model.catalogs[catalog].rows.get(
                str(results.scenarios[results.selected].values[choice])
            )
            source = row.provenance.source if row else ""
        case _:
            return None
    if fits:
        return Basis("fitted", fits)
    return Basis(MEASURED) if source.strip().lower().startswith(MEASURED) else None
