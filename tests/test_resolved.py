"""The resolved plan: one file that compiles alone and says the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from compiling import Run, run_path, run_text

from capgraph.emit.resolved import emit
from capgraph.resources import models_root

HOSTILE = r"""
model: hostile
title: "A title: with # signs, 'quotes' and \u00e9"
description: "@not an alias, *nor this"
as_of: 2026-01-02
quantities:
  on: {value: no, source: "yes"}
  mode: {choose: ["yes", "no", "null", "~", "010", "1e3", "a b", "=x"], default: "no", source: s}
  card: {choose: cards, default: "010", source: s, because: "[brackets] {braces}"}
  x: {value: 1e22, unit: B, range: [0.1 GB, 1e23], min: 0, max: 1e300, source: "a: b", as_of: 2026-01-01}
  share: {value: 12.3%, unit: fraction, source: s}
  tiny: {value: 1e-300, unit: s, source: s}
  q:
    unit: GiB
    formula: |
      if(card.vendor = "null" or mode <> "010",
         x * share,
         card.memory * one)
  one: {value: 1, unit: GPU, source: definition}
  r: {unit: '%', formula: "share * -2^2 / 3%", because: "first line\nsecond line"}
  fits: {unit: yes/no, formula: not (q > 2 * x) and not on}
catalogs:
  cards:
    fields: {memory: {unit: GiB/GPU}, vendor: {type: text}, linked: {type: yes/no}}
    rows:
      "010": {name: "01.0", memory: 80, vendor: "=1+1", linked: yes, source: "#1", note: "- dash"}
      "null": {memory: 141 GB/GPU, vendor: "", unverified: "memory, vendor"}
      unused: {memory: 1, vendor: never}
      compared: {memory: 1, vendor: "null"}
charts: {c: {parts: [x, q], whole: x}}
scenarios:
  base: {}
  a/b-c: {label: "A & B", extends: base, set: {card: "null", on: true, mode: "~"}, because: why}
  measured: {extends: a/b-c, set: {q: 7 MiB}, source: log, as_of: 2026-02-02}
checks:
  k:
    condition: q <= x and fits
    message: "{q:1} {q:2 GB} {q:0 -} {share:1 %} {card} {mode} {on} {card.vendor}"
    severity: warning
levers: {l: {set: {share: 50%, mode: "=x"}, shows: [q, r], because: b}}
key_figures: [q, r]
decision:
  question: "Which?"
  target: q
  options: {a: {cost: q, shows: [r], because: b, risk: k}, b: {}}
  rules:
    - {when: "q > 2 * x and fits", option: a, headline: "{q:1 MiB}: yes"}
    - {option: b, headline: "no: {r:0}"}
  exceptions: ["one: two"]
  policy: ["- p"]
  alerts: ["a"]
"""


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
    assert again.found == ()
    assert again.results == run.results
    assert again.plan is not None
    assert run.plan is not None
    assert emit(again.plan).data == emit(run.plan).data
    assert again.plan.model.id == name


def test_texts_that_yaml_or_spreadsheets_would_bend_stay_what_they_are(tmp_path: Path) -> None:
    run = run_text(HOSTILE)
    again = resolved(run, tmp_path)
    assert again.found == ()
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
