"""Models as tests use them: a file in → its plan, its results, and the workbook on disk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from capgraph.analysis.findings import find
from capgraph.compiler import compile_model
from capgraph.emit.artifact import Making
from capgraph.emit.xlsx import emit
from capgraph.evaluate import evaluate
from capgraph.findings import Findings
from capgraph.measurement.backtest import held_against
from capgraph.plan import Plan
from capgraph.resources import models_root
from capgraph.results import Results

MODELS = Path(__file__).with_name("models")
MADE = Making("0.1.0", "2026-10-01T00:00:00", "capgraph build")
SHIPPED = ("llm-serving", "published-answers")
SMALL = ("small", "hostile", "sweeps", "measured")


@dataclass(frozen=True)
class Built:
    """A model that was built."""

    plan: Plan
    results: Results
    findings: Findings
    data: bytes

    def written(self, folder: Path) -> Path:
        """Write the workbook into a folder."""
        path = folder / "workbook.xlsx"
        path.write_bytes(self.data)
        return path


def model_file(name: str) -> Path:
    """Return the file of a model that ships, or of one that only tests use."""
    if name == "measured":
        return MODELS.parents[1] / name / "model.yaml"
    shipped = models_root() / name / "model.yaml"
    return shipped if shipped.exists() else MODELS / f"{name}.yaml"


@cache
def built(name: str) -> Built:
    """Build the workbook of a model, once."""
    return build(model_file(name))


def build(path: Path) -> Built:
    """Build the workbook of a file."""
    compiled = compile_model(path)
    assert compiled.plan is not None, [f"{item.span}: {item.message}" for item in compiled.diagnostics]
    results, found = evaluate(compiled.plan)
    assert results is not None, found
    plan, scenario = compiled.plan, results.selected
    held = (held_against(plan, scenario, Path(name))[0] for name in plan.model.evidence)
    findings = find(plan, results, tuple(item for item in held if item is not None))
    return Built(plan, results, findings, emit(plan, results, findings, MADE).data)
