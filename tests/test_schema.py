"""The schema for editors, held against an outside validator: right files pass, files of a wrong shape do not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from test_decode import decoded
from typer.testing import CliRunner

from capgraph.cli.main import app
from capgraph.schema import schema, schema_text

ROOT = Path(__file__).parent.parent
MODELS = ROOT / "models"
CASES = ROOT / "tests" / "cases"
# The wrong models that one file alone gives away: a stranger's validator sees them too.
CAUGHT = (
    "CG112-empty",
    "CG112-list",
    "CG201-comma-in-text",
    "CG201-default-without-choice",
    "CG201-range-of-a-choice",
    "CG201-unknown-key",
    "CG202-check-without-message",
    "CG202-rows-without-catalog",
    "CG203-include-is-no-list",
    "CG203-plain-number",
    "CG203-range-of-three",
    "CG203-unit-of-a-choice",
    "CG203-unit-of-a-text",
    "CG204-severity",
    "CG205-field-is-a-key-of-rows",
    "CG205-name-of-a-function",
    "CG205-name-of-the-model",
    "CG205-name-with-hyphen",
    "CG206-value-and-formula",
    "CG207-no-number",
    "CG207-no-yes-no",
    "CG208-date",
    "CG304-scenario-sets-a-field",
)
SHIPPED = sorted(MODELS.rglob("*.yaml"))


class _EditorLoader(yaml.SafeLoader):
    """Reads YAML as editors hand it to a schema: keys are texts as written, and there are no dates."""

    yaml_implicit_resolvers = {  # noqa: RUF012  # the loader's own way of being configured
        first: [(tag, pattern) for tag, pattern in kinds if not tag.endswith(":timestamp")]
        for first, kinds in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        return {key.value: self.construct_object(value, deep=True) for key, value in node.value}


def loaded(text: str) -> Any:
    """Return a YAML text as an editor's validator sees it."""
    return json.loads(json.dumps(yaml.load(text, _EditorLoader)))


VALIDATOR = jsonschema.Draft202012Validator(schema())


def refusals(text: str) -> list[str]:
    """Return what the schema says against a text, each with its place."""
    return [
        f"{'/'.join(map(str, error.path))}: {error.message}" for error in VALIDATOR.iter_errors(loaded(text))
    ]


def printed(*arguments: str) -> str:
    """Return what a command prints to standard output."""
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_it_is_a_schema_that_explains_every_key() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    entries = {"file": schema(), **schema()["$defs"]}
    untold = [f"{name}.{key}" for name, entry in entries.items() for key, told in entry["properties"].items()
              if not told.get("description")]  # fmt: skip
    assert untold == []


def test_the_committed_schema_is_what_the_command_prints(tmp_path: Path) -> None:
    text = printed("schema")
    assert text == schema_text()
    assert (MODELS / "schema.json").read_text("utf-8") == text, "run `capgraph schema -o models/schema.json`"
    assert printed("schema", "-o", str(tmp_path / "s.json")).startswith("# yaml-language-server: $schema=")
    assert (tmp_path / "s.json").read_text("utf-8") == schema_text()


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.relative_to(MODELS).as_posix())
def test_a_shipped_file_is_valid_and_leads_an_editor_to_the_schema(file: Path) -> None:
    text = file.read_text("utf-8")
    first = text.partition("\n")[0]
    assert first == f"# yaml-language-server: $schema={os.path.relpath(MODELS / 'schema.json', file.parent)}"
    assert refusals(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "quantities: {x: {choose: [a, b], unit: yes/no}, y: {value: No}, z: {value: -.5e3 GiB, range: [+1, '2 MB']}}",
        "quantities: {grösse: {value: 1, unit: count}, a100: null}",
        "quantities: {x: {value: , formula: y, unit: count}}",
        "model: fleet-4x.b_2",
        "scenarios: {fleet-4xh100/fp8-kv: {extends: base, set: {users: 5_000, on: yes, llm: 70e9}}}",
        "catalogs: {gpus: {h100-sxm-80: {memory: 80, source: datasheet, as_of: 2026-11-30}, b200: null}}",
        "catalogs: {gpus: {fields: {memory: {unit: GiB}}, rows: {a: {memory: }}}}",
        "charts: {c: null}\ndecision: {rules: [{option: a, headline: 12}]}",
    ],
)
def test_what_is_legal_passes(text: str) -> None:
    assert decoded(text)[1] == ()
    assert refusals(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "quantities: {a-b: {value: 1, unit: count}}",
        "quantities: {2x: {value: 1, unit: count}}",
        "quantities: {x: {value: 1, formula: y, unit: count}}",
        "quantities: {x: {choose: [a, b], value: 1}}",
        "checks: {a.b: {condition: x, message: m}}",
        "catalogs: {my gpus: {a: {f: 1}}}",
        "levers: {l: {set: {gpu.memory: 5}}}",
        "quantities: {x: {choose: c, max: 5}}",
        "quantities: {x: {value: 1, unit: count, range: [few, many]}}",
        "quantities: {ceil: {value: 1, unit: count}}",
        "catalog: c\nfields: {f: {label: F}}",
        "catalog: c\nfields: {source: {type: text}}",
        "model: a/b",
        "as_of: soon",
    ],
)
def test_what_only_a_later_stage_refuses_is_refused_if_one_file_shows_it(text: str) -> None:
    assert decoded(text)[1] == ()
    assert refusals(text)


@pytest.mark.parametrize("name", CAUGHT)
def test_a_wrong_model_is_refused(name: str) -> None:
    assert refusals((CASES / f"{name}.yaml").read_text("utf-8"))


@pytest.mark.parametrize("file", sorted(CASES.glob("CG[3-6]*.yaml")), ids=lambda file: file.stem)
def test_a_mistake_of_another_kind_is_left_to_the_compiler(file: Path) -> None:
    assert (refusals(file.read_text("utf-8")) == []) == (file.stem not in CAUGHT)


def _shape_alone(part: Any) -> Any:
    """Return a schema without what it says of the spelling of ids and of keys that exclude each other."""
    if isinstance(part, list):
        return [_shape_alone(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        key: _shape_alone(value)
        for key, value in part.items()
        if key not in ("pattern", "propertyNames", "allOf")
    }


SHAPE = jsonschema.Draft202012Validator(_shape_alone(schema()))
RIGHT = """
{model: m, title: t, as_of: 2026-11-30, include: [a.yaml], section: s, key_figures: [x], description: , label: l,
 quantities: {x: {value: 1, unit: GiB, range: [1, 2], min: 0}, y: {choose: [a, b], default: a}, w: null},
 catalog: c, fields: {f: {unit: GiB, range: [1, 2]}, g: {type: text}}, rows: {a: {f: 1, g: }, b: null},
 catalogs: {d: {a: {f: 1}}, e: {label: e, fields: {f: {unit: s}}, rows: {a: {f: true}}}},
 scenarios: {base: {set: {x: 2}}, more: {extends: base, because: b}},
 sweeps: {v: {over: x, values: [1, 2], scale: log}},
 checks: {k: {condition: x > 0, message: m, severity: warning}}, levers: {l: {set: {x: 3}, shows: [x]}},
 charts: {h: {parts: [x], whole: y}},
 decision: {question: q, options: {o: {cost: x, risk: r}, p: }, rules: [{when: a, option: o, headline: h}],
  alerts: [a]}}
"""
KEYS = sorted({key for entry in (schema(), *schema()["$defs"].values()) for key in entry["properties"]})
PIECES = st.recursive(
    st.sampled_from([None, True, 5, "text", "error"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*KEYS, "x"]), inner, max_size=3)
    ),
    max_leaves=4,
)


def _spoil(tree: Any, data: st.DataObject) -> Any:
    """Return a tree in which one piece is another, lacks or has another key."""
    if not isinstance(tree, dict | list) or not tree or data.draw(st.integers(0, 5)) == 0:
        return data.draw(PIECES)
    places = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
    place = data.draw(st.sampled_from(places))
    spoiled = _spoil(tree[place], data)
    if isinstance(tree, list):
        return [spoiled if number == place else item for number, item in enumerate(tree)]
    key = data.draw(st.sampled_from([place, place, place, "", *KEYS]))
    return {**{name: item for name, item in tree.items() if name != place}, **({key: spoiled} if key else {})}


@given(st.data())
def test_the_schema_and_the_compiler_refuse_the_same_shapes(data: st.DataObject) -> None:
    assert SHAPE.is_valid(loaded(RIGHT))
    tree = _spoil(loaded(RIGHT), data)
    declared, _ = decoded(json.dumps(tree))
    assert (declared is not None) == SHAPE.is_valid(tree)
