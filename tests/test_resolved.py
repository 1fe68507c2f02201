"""The resolved plan: one file that compiles alone and says the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from compiling import Run, run_path, run_text

from capgraph.emit.resolved import emit
from capgraph.resources import models_root

HOSTILE = (Path(__file__).parent / "hostile.yaml").read_text("utf-8")


def resolved(run: Run, folder: Path) -> Run:
    """Compile the resolved plan of a model alone in a folder."""
    assert run.plan is not None, run.found
    artifact = emit(run.plan)
    (folder / artifact.name).write_bytes(artifact.data)
    return run_path(folder / artifact.name)


@pytest.mark.parametrize("name", ["llm-serving", "published-answers"])
def test_a_shipped_model_says_the_same_alone(name: str, tmp_path: Path) -> None:
    run = run_path(models_root() / name / "model.yaml")
    again = resolved(run, tmp_path)
    assert again.codes == []
    assert again.results == run.results
    assert again.plan is not None
    assert run.plan is not None
    assert emit(again.plan).data == emit(run.plan).data
    assert again.plan.model.id == name


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
