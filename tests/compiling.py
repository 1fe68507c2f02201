"""Texts and files → what the compiler makes of them, for the tests of every stage."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from capgraph.compiler import compile_model
from capgraph.diagnostics import Diagnostic, Source
from capgraph.evaluate import evaluate
from capgraph.formula.parser import parse_formula
from capgraph.formula.tree import Expr
from capgraph.model import Message, Value
from capgraph.plan import Plan
from capgraph.results import Results
from capgraph.yamltree import Scalar


@dataclass(frozen=True, slots=True)
class Run:
    """A compiled and evaluated model, or what is wrong with it."""

    plan: Plan | None
    results: Results | None
    found: tuple[Diagnostic, ...]

    @property
    def values(self) -> Mapping[str, Value | None]:
        """The values of the first scenario."""
        assert self.results is not None, self.found
        return self.results.scenarios[self.results.selected].values

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """What stops it."""
        return tuple(item for item in self.found if item.severity == "error")

    @property
    def codes(self) -> list[str]:
        """The codes of the errors, in order."""
        return [item.code for item in self.errors]

    @property
    def only(self) -> Diagnostic:
        """The one error."""
        assert len(self.errors) == 1, self.found
        return self.errors[0]


def run_path(path: Path) -> Run:
    """Compile and evaluate a model as `capgraph check` does."""
    compilation = compile_model(path)
    if compilation.plan is None:
        return Run(None, None, compilation.diagnostics)
    results, found = evaluate(compilation.plan)
    return Run(compilation.plan, results, (*compilation.diagnostics, *found))


def run_text(text: str | bytes, **more: str) -> Run:
    """Compile and evaluate a model that is `text`; `more` are files beside it, by name without `.yaml`."""
    files = {"model": text, **more}
    root = _folder()
    for name, content in files.items():
        (root / f"{name}.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        return run_path(root / "model.yaml")
    finally:
        for name in files:
            (root / f"{name}.yaml").unlink()


@cache
def _folder() -> Path:
    # One a process: to make and remove a folder takes as long as to compile a small model.
    _KEPT.append(tempfile.TemporaryDirectory())
    root = Path(_KEPT[0].name) / "case"
    root.mkdir()
    return root


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


def plan_of(text: str) -> Plan:
    """Compile a model that is right."""
    made = run_text(text)
    assert made.plan is not None, made.found
    return made.plan


def texts_of(*messages: Message) -> tuple[str, ...]:
    """Return what stands between the figures of messages."""
    return tuple(part for message in messages for part in message if isinstance(part, str))


def parsed(text: str) -> Expr | Diagnostic:
    """Parse a formula."""
    return parse_formula(Scalar.at(Source("formula", text)))


def tree_of(text: str) -> Expr:
    """Parse a formula that is right."""
    tree = parsed(text)
    assert not isinstance(tree, Diagnostic), tree
    return tree


def value_of(formula: str, unit: str = "count", **inputs: str) -> float:
    """Calculate a formula of quantities that are given as `number unit`."""
    run = run_text(model_of(formula, unit, **inputs))
    value = run.values["result"]
    assert isinstance(value, float)
    return value


def model_of(formula: str, unit: str = "count", **inputs: str) -> str:
    """Write a model of some inputs, given as `number unit`, and the quantity `result`."""
    lines = ["model: m", "quantities:"]
    for name, given in inputs.items():
        value, _, own_unit = given.partition(" ")
        lines.append(f"  {name}: {{value: {value}, unit: '{own_unit or 'count'}', source: test}}")
    quoted = formula.replace("'", "''")
    lines.append(f"  result: {{unit: '{unit}', formula: '{quoted}'}}")
    return "\n".join(lines) + "\n"


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Stand in a folder for a while."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
