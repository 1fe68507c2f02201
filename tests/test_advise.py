"""Warnings: what is legal but unwise is said once, at its place, and stops nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from capgraph.compiler import compile_model

MODEL = """
model: fleet
as_of: 2026-11-30
quantities:
  users: {unit: user, value: 2000, range: [1000, 3000], source: plan, as_of: 2026-10-01}
  need: {unit: GPU/user, value: 0.001, source: measured}
  kind: {choose: kinds, default: small, source: quote}
  gpus: {unit: GPU, formula: ceil(users * need)}
  cost: {unit: USD/month, formula: gpus * kind.price}
catalogs:
  kinds:
    fields: {price: {unit: USD/GPU/month}}
    rows:
      small: {price: 1000, source: quote, as_of: 2026-10-01}
      old: {price: 900, source: quote, as_of: 2020-01-01}
sweeps:
  demand: {over: users, from: 100, to: 2000}
"""


def _warnings(folder: Path, before: str, after: str) -> list[str]:
    assert before in MODEL
    (folder / "model.yaml").write_text(MODEL.replace(before, after), "utf-8")
    compilation = compile_model(folder / "model.yaml")
    assert compilation.plan is not None, compilation.diagnostics
    assert {item.severity for item in compilation.diagnostics} <= {"warning"}
    assert all(item.help and item.span for item in compilation.diagnostics)
    return [item.code for item in compilation.diagnostics]


def test_a_careful_model_has_none(tmp_path: Path) -> None:
    assert _warnings(tmp_path, "model: fleet", "model: fleet") == []


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        (", source: measured", "", "CG212"),
        ("  kind: {", "  idle: {unit: GPU, value: 1, source: s}\n  kind: {", "CG221"),
        ("[1000, 3000]", "[2500, 3000]", "CG222"),
        ("2026-10-01}\n  need", "2024-10-01}\n  need", "CG223"),
        ("default: small", "default: old", "CG223"),
        ("ceil(users * need)", "ceil(users * need * 1.15)", "CG224"),
        ("gpus * kind.price", " + ".join(["gpus * kind.price"] * 10), "CG225"),
        ("gpus * kind.price", "max(kind.price * gpus over demand)", ""),
        ("gpus * kind.price", "gpus * max(kind.price over demand)", "CG226"),
    ],
)
def test_each_warning(before: str, after: str, code: str, tmp_path: Path) -> None:
    assert _warnings(tmp_path, before, after) == ([code] if code else [])


def test_shape_and_exponents_are_no_hard_coded_numbers(tmp_path: Path) -> None:
    formula = "if(users > 0, (1 - 0.5) * 2 * ceil(users * need), 0) * (users / users)^3"
    assert _warnings(tmp_path, "ceil(users * need)", f'"{formula}"') == []
