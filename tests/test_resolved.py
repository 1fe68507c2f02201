"""The resolved plan: one file that compiles alone and says the same."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from compiling import Run, run_path, run_text
from measuring import MODEL, run_measured

from capgraph.analysis.findings import find
from capgraph.emit.resolved import emit
from capgraph.resources import models_root

HOSTILE = (Path(__file__).parent / "hostile.yaml").read_text("utf-8")


def resolved(run: Run, folder: Path) -> Run:
    """Compile the resolved plan of a model alone in a folder."""
    assert run.plan is not None, run.found
    artifact = emit(run.plan)
    (folder / artifact.name).write_bytes(artifact.data)
    return run_path(folder / artifact.name)


def without_comments(data: bytes) -> list[str]:
    """Return the lines of a plan; which files it was held against is only said beside it."""
    return [line for line in data.decode().splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("name", ["llm-serving", "published-answers"])
def test_a_shipped_model_says_the_same_alone(name: str, tmp_path: Path) -> None:
    run = run_path(models_root() / name / "model.yaml")
    again = resolved(run, tmp_path)
    assert again.codes == []
    assert again.results == run.results
    assert again.plan is not None
    assert run.plan is not None
    assert without_comments(emit(again.plan).data) == without_comments(emit(run.plan).data)
    assert again.plan.model.id == name


def test_measurements_and_fits_stay(tmp_path: Path) -> None:
    run = run_measured()
    again = resolved(run, tmp_path)
    assert again.codes == []
    assert again.results == run.results
    assert again.plan is not None
    assert run.plan is not None
    assert run.results is not None
    before, model = run.plan.model, again.plan.model
    columns = {
        name: replace(item, origin=before.columns[name].origin) for name, item in model.columns.items()
    }
    fits = {name: replace(item, origin=before.fits[name].origin) for name, item in model.fits.items()}
    assert columns == before.columns
    assert fits == before.fits
    assert find(again.plan, run.results).bases == find(run.plan, run.results).bases
    assert emit(run.plan).data.decode().startswith("# Held against speed.csv; ")


def test_a_fit_of_a_row_that_is_not_used_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(
        f"extends: {os.path.relpath(MODEL, tmp_path)}\n"
        "quantities: {engine: {choose: engines, default: calm}}\nscenarios: {timed: null, calm: null}\n"
    )
    again = resolved(run_path(tmp_path / "plan.yaml"), tmp_path)
    assert again.plan is not None, again.found
    assert list(again.plan.model.fits) == ["batch-step"]


def test_texts_that_yaml_or_spreadsheets_would_bend_stay_what_they_are(tmp_path: Path) -> None:
    run = run_text(HOSTILE)
    again = resolved(run, tmp_path)
    assert again.codes == []
    assert again.results == run.results
    assert again.plan is not None
    assert run.plan is not None
    model, before = again.plan.model, run.plan.model
    assert (model.title, model.description, model.as_of) == (before.title, before.description, before.as_of)
    for name, quantity in model.quantities.items():
        assert quantity.provenance.because == before.quantities[name].provenance.because
        assert quantity.provenance.source == before.quantities[name].provenance.source
        assert (quantity.label, quantity.unit, quantity.limits) == (
            before.quantities[name].label,
            before.quantities[name].unit,
            before.quantities[name].limits,
        )
    assert model.decision is not None
    assert before.decision is not None
    assert (model.decision.exceptions, model.decision.policy) == (
        before.decision.exceptions,
        before.decision.policy,
    )


def test_it_is_one_file_with_the_rows_that_are_used(tmp_path: Path) -> None:
    run = run_text(HOSTILE)
    assert run.plan is not None
    artifact = emit(run.plan)
    assert artifact.name == "hostile.resolved.yaml"
    document = yaml.safe_load(artifact.data)
    assert not {"include", "extends", "plan"} & set(document)
    assert list(document["catalogs"]["cards"]["rows"]) == ["010", "null", "compared"]
    assert document["scenarios"]["measured"]["set"] == {
        "card": "null",
        "on": True,
        "mode": "~",
        "q": 7 / 1024,
    }


def test_a_model_with_nothing_but_a_quantity(tmp_path: Path) -> None:
    run = run_text("quantities: {x: {value: 1, unit: count}}\n")
    assert resolved(run, tmp_path).results == run.results
