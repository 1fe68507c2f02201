"""What numbers rest on, in words, and the fits behind them.

In: a plan and the findings → Out: a `Rest` of each number, and a view of each fit that holds.
Invariant: a fit is cited by one mark, M and its number, wherever a number rests on it.
"""

from __future__ import annotations

from collections.abc import Mapping

from capgraph.emit.memo.case import Case
from capgraph.emit.memo.measured import FitView
from capgraph.emit.memo.pieces import Place, Rest
from capgraph.findings import Findings
from capgraph.model import Fit, Quantity
from capgraph.notation import show_value
from capgraph.plan import Plan


def rests_of(plan: Plan, findings: Findings) -> Mapping[str, Rest]:
    """Return what each number rests on."""
    marks = _marks(findings)
    return {
        name: Rest(
            basis.kind,
            tuple(marks[fit] for fit in basis.fits),
            _told([plan.model.fits[fit] for fit in basis.fits]) if basis.fits else basis.kind,
        )
        for name, basis in findings.bases.items()
    }


def _marks(findings: Findings) -> Mapping[str, Place]:
    return {name: Place(f"fit-{name}", f"M{number}") for number, name in enumerate(findings.fits, 1)}


def _told(fits: list[Fit]) -> str:
    return f"fitted: {'; '.join(f'n = {fit.rows:,}, error {error_of(fit)}, {fit.date}' for fit in fits)}"


def error_of(fit: Fit) -> str:
    """Write a fit's mean error."""
    return show_value(fit.error, "fraction")


def fit_views(case: Case) -> tuple[FitView, ...]:
    """Return the fits that hold in the selected scenario; parameters that several share are written once."""
    marks, views = _marks(case.findings), []
    first: dict[str, Place] = {}
    for fit in (case.plan.model.fits[name] for name in case.findings.fits):
        parameters = (_row(case, fit), *_parameters(case, fit))
        known = first.setdefault("; ".join(parameters), marks[fit.id])
        row, told = (
            (parameters[0], parameters[1:]) if known == marks[fit.id] else ("", (f"as of {known.mark}",))
        )
        views.append(
            FitView(
                marks[fit.id], case.citations.figure(fit.of), row, told,
                f"{fit.rows:,}", error_of(fit), fit.date, fit.data,
            )
        )  # fmt: skip
    return tuple(views)


def _row(case: Case, fit: Fit) -> str:
    if fit.catalog is None or fit.row is None:
        return ""
    return case.plan.model.catalogs[fit.catalog].rows[fit.row].name


def _parameters(case: Case, fit: Fit) -> list[str]:
    fields = case.plan.model.catalogs[fit.catalog].fields if fit.catalog else {}
    made = []
    for name, (low, high) in fit.parameters.items():
        entry = fields.get(name) or case.plan.model.quantities[name]
        unit = entry.unit.text if entry.unit else ""
        made.append(f"{entry.label}: {span(low, high, unit)}")
    return made


def range_of(case: Case, entry: Quantity, parameter: str) -> str:
    """Return the range that fits give a parameter, where there is one."""
    basis = case.findings.bases.get(entry.id)
    for name in basis.fits if basis else ():
        ends = case.plan.model.fits[name].parameters.get(parameter)
        if ends is not None:
            return span(*ends, entry.unit_text if entry.unit_text in ("%", "fraction") else "")
    return ""


def span(low: float, high: float, unit: str) -> str:
    """Write a range."""
    return f"{show_value(low, unit)} – {show_value(high, unit)}"
