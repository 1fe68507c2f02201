"""Declarations to the model: numbers in their units, names bound, each mistake told once."""

from __future__ import annotations

import pytest
from compiling import Run, model_of, plan_of, run_text

from capgraph.model import Choose, Given, Limits, Model, Slot
from capgraph.resolve import resolve_setting

GPUS = """
catalogs:
  gpus:
    fields: {memory: {unit: GiB/GPU, label: HBM, range: [1, 2000]}, vendor: {type: text}, linked: {type: yes/no}}
    rows:
      small: {name: Small, memory: 80, vendor: A, linked: no, source: s, as_of: 2025-01-01, note: n,
        unverified: "memory, vendor"}
      large: {memory: 141, vendor: B}
"""


def given(value: str, unit: str) -> float:
    """Return the number that an input written as `value` has in `unit`."""
    definition = (
        plan_of(f"quantities: {{x: {{value: '{value}', unit: '{unit}', source: s}}}}\n")
        .model.quantities["x"]
        .definition
    )
    assert isinstance(definition, Given)
    assert isinstance(definition.value, float)
    return definition.value


def with_entry(entry: str, more: str = "") -> Run:
    """Compile a model of three quantities and a catalog with one more quantity."""
    text = f"""
quantities:
  x: {{value: 2, unit: GiB, source: s}}
  y: {{value: 3, unit: s, source: s}}
  gpu: {{choose: gpus, source: s}}
  {entry}
{GPUS}{more}"""
    return run_text(text)


@pytest.mark.parametrize(
    ("value", "unit", "number"),
    [
        ("70e9", "count", 70e9),
        ("1_000_000", "count", 1e6),
        ("1e+9", "count", 1e9),
        ("010", "count", 10.0),
        (" -2.5 ", "count", -2.5),
        ("+3", "count", 3.0),
        (".5", "count", 0.5),
        ("5.", "count", 5.0),
        ("30%", "count", 0.3),
        ("30 %", "fraction", 0.3),
        ("12.3%", "fraction", 0.123),
        ("7%", "fraction", 0.07),
        ("30", "%", 30.0),
        ("30%", "%", 30.0),
        ("0.3 ratio", "%", 30.0),
        ("80 GB", "GiB", 80e9 / 2**30),
        ("80GB", "GB", 80.0),
        ("1 GiB", "KiB", 2.0**20),
        ("268.6 GiB", "GiB/GPU", 268.6),
        ("0.2686 TiB", "GiB/GPU", 0.2686 * 1024),
        ("3.35 TB/s", "TB/s/GPU", 3.35),
        ("1 GB/s", "MB/s/GPU", 1000.0),
        ("80 GB/GPU", "GB/GPU", 80.0),
        ("2 USD/GPU-hour", "USD/GPU/hour", 2.0),
        ("100 ms", "s", 0.1),
        ("1 year", "month", 12.0),
        ("1 token/s", "Mtoken/day", 0.0864),
        ("0." + "3" * 300, "count", 1 / 3),
        ("0." + "3" * 300 + " GB", "GB", 1 / 3),
        ("0.1 GB", "GB", 0.1),
    ],
)
def test_a_number_is_converted_to_its_quantitys_unit(value: str, unit: str, number: float) -> None:
    assert given(value, unit) == number


@pytest.mark.parametrize(
    ("value", "unit", "code"),
    [
        ("many", "count", "CG207"),
        ("", "count", "CG207"),
        ("nan", "count", "CG207"),
        (".inf", "count", "CG207"),
        ("1e999", "count", "CG207"),
        ("1e9999", "count", "CG207"),
        ("0x10", "count", "CG501"),
        ("1,5", "count", "CG207"),
        ("12:30", "count", "CG501"),
        ("٣", "count", "CG207"),
        ("1.7e308 TB", "B", "CG207"),
        ("80 GBB", "GB", "CG501"),
        ("80 s", "GB", "CG502"),
        ("80 GB/replica", "GB/GPU", "CG502"),
        ("80 GB/GPU", "GB", "CG502"),
        ("true", "count", "CG207"),
        ("1" * 5000, "count", "CG207"),
    ],
)
def test_what_is_no_such_number_is_told(value: str, unit: str, code: str) -> None:
    found = run_text(f"quantities: {{x: {{value: '{value}', unit: '{unit}', source: s}}}}\n").only
    assert found.code == code
    assert found.help
    assert len(found.message) < 120


@pytest.mark.parametrize(("text", "value"), [("true", True), ("no", False), ("Yes", True), ("FALSE", False)])
@pytest.mark.parametrize("unit", ["", "unit: yes/no, "])
def test_a_yes_no_input(text: str, value: bool, unit: str) -> None:
    plan = plan_of(f"quantities: {{x: {{{unit}value: {text}, source: s}}}}\n")
    assert plan.model.quantities["x"].definition == Given(value)
    assert plan.model.quantities["x"].unit is None


def test_a_row_holds_what_the_file_says() -> None:
    catalog = with_entry("z: {value: 1, unit: count, source: s}").plan
    assert catalog is not None
    gpus = catalog.model.catalogs["gpus"]
    small, large = gpus.rows["small"], gpus.rows["large"]
    assert dict(small.values) == {"memory": 80.0, "vendor": "A", "linked": False}
    assert (small.name, small.note, small.unverified) == ("Small", "n", ("memory", "vendor"))
    assert (small.provenance.source, small.provenance.as_of) == ("s", "2025-01-01")
    assert (large.name, dict(large.values)) == ("large", {"memory": 141.0, "vendor": "B"})
    assert gpus.fields["memory"].limits == Limits(1.0, 2000.0)


def test_a_field_may_say_yes_no_as_its_unit() -> None:
    text = """
quantities: {c: {choose: t, source: s}, q: {unit: yes/no, formula: not c.f}}
catalogs: {t: {fields: {f: {unit: yes/no}}, rows: {r: {f: no}}}}
"""
    assert run_text(text).values["q"] is True


def test_a_row_has_the_fields_default_unless_it_says_otherwise() -> None:
    text = """
quantities: {c: {choose: t, source: s}, q: {unit: MB, formula: c.f}}
catalogs: {t: {fields: {f: {unit: MB, default: 2 GB}, g: {type: text, default: x}}, rows: {r: {}, s: {f: 5}}}}
scenarios: {base: {}, other: {set: {c: s}}}
"""
    run = run_text(text)
    assert run.plan is not None
    rows = run.plan.model.catalogs["t"].rows
    assert dict(rows["r"].values) == {"f": 2000.0, "g": "x"}
    assert dict(rows["s"].values) == {"f": 5.0, "g": "x"}
    assert run.values["q"] == 2000.0


def test_a_choice_takes_its_default_or_the_first() -> None:
    run = with_entry("pick: {choose: [a, b], default: b, source: s}")
    assert run.plan is not None
    assert run.plan.model.quantities["pick"].definition == Choose(None, ("a", "b"), "b")
    assert run.plan.model.quantities["gpu"].definition == Choose("gpus", ("small", "large"), "small")
    assert run.values["pick"] == "b"


def test_a_lookup_becomes_a_quantity_beside_its_choice() -> None:
    run = with_entry("z: {unit: GiB, formula: gpu.memory * one}\n  one: {value: 1, unit: GPU, source: d}")
    assert run.plan is not None, run.found
    model = run.plan.model
    assert list(model.quantities)[2:4] == ["gpu", "gpu.memory"]
    assert (model.quantities["gpu.memory"].label, model.quantities["gpu.memory"].unit_text) == (
        "HBM",
        "GiB/GPU",
    )
    assert run.values["z"] == 80.0


MISTAKES = [
    ("z: {unit: GiB, formula: xx}", "CG401", "xx"),
    ("z: {unit: GiB, formula: gpu.memry}", "CG402", "gpu.memry"),
    ("z: {unit: GiB, formula: x.memory}", "CG401", "x.memory"),
    ("z: {unit: GiB, formula: gpuu.memory}", "CG401", "gpuu.memory"),
    ("z: {unit: GiB, formula: min + x}", "CG401", "min"),
    ("z: {unit: GiB}", "CG206", "z"),
    ("z: {unit: GiB, value: 1, formula: x}", "CG206", "z"),
    ("z: {value: 1}", "CG202", "z"),
    ("z: {formula: x}", "CG202", "z"),
    ("z: {unit: GiBB, formula: x}", "CG501", "GiBB"),
    ("z: {unit: GiB, value: 1 GiBB}", "CG501", "GiBB"),
    ("z: {unit: GiB, value: 1, min: 2}", "CG307", "1"),
    ("z: {unit: GiB, value: 3, max: 2 GiB}", "CG307", "3"),
    ("z: {unit: GiB, value: 3, min: 4, max: 2}", "CG211", "4"),
    ("z: {unit: GiB, value: 3, range: [4, 2]}", "CG211", "4"),
    ("z: {unit: GiB, value: 3, range: [1, 9], max: 5}", "CG211", "1"),
    ("z: {unit: GiB, value: 3, range: [1, many]}", "CG207", "many"),
    ("z: {value: true, range: [0, 1]}", "CG201", "0"),
    ("z: {choose: gpus, max: 1}", "CG201", "1"),
    ("z: {choose: gpuss}", "CG301", "gpuss"),
    ("z: {choose: gpus, default: tiny}", "CG302", "tiny"),
    ("z: {choose: [a, b], default: c}", "CG302", "c"),
    ("z: {choose: [a, A]}", "CG302", "z"),
    ("z: {choose: []}", "CG302", "z"),
    ("z: {choose: gpus, unit: GiB}", "CG203", "GiB"),
    ("z: {unit: GiB, value: 1, default: 2}", "CG201", "2"),
    ("z-z: {unit: GiB, value: 1}", "CG205", "z-z"),
    ("1z: {unit: GiB, value: 1}", "CG205", "1z"),
    ("min: {unit: GiB, value: 1}", "CG205", "min"),
    ("z: {value: maybe, unit: yes/no}", "CG207", "maybe"),
]


@pytest.mark.parametrize(("entry", "code", "place"), MISTAKES)
def test_a_wrong_quantity_is_one_mistake_at_its_place(entry: str, code: str, place: str) -> None:
    entry = entry.replace("}", ", source: s}") if "source" not in entry else entry
    uses = """
scenarios:
  base: {}
  other: {set: {%s: 1}}
checks:
  c: {condition: x > 0, message: "{%s}"}
key_figures: [%s]
levers: {l: {set: {x: 1}, shows: [%s]}}
charts: {h: {parts: [%s]}}
"""
    name = entry.partition(":")[0]
    uses = uses % ((name,) * 5) if name.isidentifier() and code != "CG307" else ""
    run = with_entry(entry, uses)
    assert run.codes == [code], run.found
    span = run.only.span
    assert span is not None
    assert span.source.line(span.line)[span.column - 1 : span.end_column - 1] == place
    assert run.only.help


def test_a_broken_quantity_is_not_told_again_where_it_is_used() -> None:
    run = with_entry(
        "z: {unit: GiBB, value: 1, source: s}\n  u: {unit: GiB, formula: z * 2 + y}\n  v: {unit: GiB, formula: u}",
        "checks: {c: {condition: z > x, message: '{z:1 GiB}'}}\nscenarios: {base: {set: {z: 5}}}\nkey_figures: [z]\n",
    )
    assert run.codes == ["CG501"]


@pytest.mark.parametrize(
    ("catalog", "code"),
    [
        ("t: {fields: {f: {unit: GiBB}}, rows: {r: {f: 1}}}", "CG501"),
        ("t: {fields: {f: {}}, rows: {r: {f: 1}}}", "CG202"),
        ("t: {fields: {f: {type: text, unit: GiB}}, rows: {r: {f: 1}}}", "CG203"),
        ("t: {fields: {f: {unit: GiB}}, rows: {r: {f: many}}}", "CG207"),
        ("t: {fields: {f: {unit: GiB, range: [5, 9]}}, rows: {r: {f: 1}}}", "CG307"),
        ("t: {fields: {f: {unit: GiB, range: [5, 9], default: 1}}, rows: {r: {f: 6}}}", "CG307"),
        ("t: {fields: {f: {unit: GiB}}, rows: {r: {f: 1, g: 2}}}", "CG303"),
        ("t: {fields: {f: {unit: GiB}, source: {type: text}}, rows: {r: {f: 1}}}", "CG205"),
        ("t: {fields: {f: {unit: GiB}, a-b: {unit: GiB}}, rows: {r: {f: 1}}}", "CG205"),
        ("t: {rows: {r: {f: 1}, s: {f: 2}}}", "CG301"),
        ("t: {fields: {f: {unit: GiB}}, rows: {r: {f: 1}, s: null}}", "CG202"),
    ],
)
def test_a_broken_catalog_is_one_mistake(catalog: str, code: str) -> None:
    text = f"""
quantities:
  c: {{choose: t, default: r, source: s}}
  q: {{unit: GiB, formula: c.f * 2}}
catalogs:
  {catalog}
scenarios:
  base: {{set: {{c: r}}}}
"""
    run = run_text(text)
    assert run.codes == [code], run.found
    assert run.only.help


def test_a_row_that_is_empty_may_be_named_without_a_second_message() -> None:
    text = """
quantities: {c: {choose: t, default: s, source: s}}
catalogs: {t: {fields: {f: {unit: GiB}}, rows: {r: {f: 1}, s: null}}}
"""
    assert run_text(text).codes == ["CG202"]


def test_a_catalog_with_a_wrong_name_is_one_mistake() -> None:
    text = """
quantities: {c: {choose: my-cat, source: s}, q: {unit: GiB, formula: c.f}}
catalogs: {my-cat: {fields: {f: {unit: GiB}}, rows: {r: {f: 1}}}}
"""
    assert run_text(text).codes == ["CG205"]


@pytest.mark.parametrize(
    ("more", "code", "help_text"),
    [
        ("scenarios: {a: {set: {xx: 1}}}", "CG304", "did you mean `x`?"),
        ("scenarios: {a: {set: {gpu.memory: 1}}}", "CG304", "set `gpu` to a row with another `memory`"),
        ("scenarios: {a: {set: {gpu: smal}}}", "CG302", "did you mean `small`?"),
        ("scenarios: {a: {set: {x: 1 s}}}", "CG502", "GiB"),
        ("scenarios: {a: {extends: b}, bb: {}}", "CG305", "did you mean `bb`?"),
        ("scenarios: {a: {extends: b}, b: {extends: a}}", "CG306", "stand alone"),
        ("scenarios: {a: {extends: a}}", "CG306", "stand alone"),
        (
            "scenarios: {a: {extends: b}, b: {extends: c}, c: {extends: b}, d: {extends: c}}",
            "CG306",
            "stand alone",
        ),
        ("scenarios: {a: {extends: zz}, b: {extends: a}, c: {extends: b}}", "CG305", "scenarios: "),
        ("checks: {c: {condition: x > xx, message: m}}", "CG401", "did you mean `x`?"),
        ("checks: {c-c: {condition: y > 0, message: m}}", "CG205", "c_c"),
        ("checks: {c: {condition: y > 0, message: '{xx}'}}", "CG401", "did you mean `x`?"),
        ("checks: {c: {condition: y > 0, message: '{x:1 s}'}}", "CG502", "a multiple of GiB"),
        ("checks: {c: {condition: y > 0, message: '{x:1 GiBB}'}}", "CG501", "did you mean `GiB`?"),
        ("checks: {c: {condition: y > 0, message: '{x:12}'}}", "CG410", "at most 9"),
        ("checks: {c: {condition: y > 0, message: '{x y}'}}", "CG410", "`{name}`"),
        ("checks: {c: {condition: y > 0, message: 'open {x'}}", "CG410", "`{name}`"),
        ("levers: {l: {set: {gpu.memory: 1}}}", "CG304", "set `gpu`"),
        ("levers: {l: {set: {x: 1}, shows: [xx]}}", "CG304", "did you mean `x`?"),
        ("charts: {c: {parts: [x, y]}}", "CG502", "one unit"),
        ("charts: {c: {parts: [x], whole: xx}}", "CG304", "did you mean `x`?"),
        ("key_figures: [xx]", "CG304", "did you mean `x`?"),
        ("decision: {options: {a: {cost: xx}}}", "CG304", "did you mean `x`?"),
        ("decision: {target: xx}", "CG304", "did you mean `x`?"),
        ("decision: {options: {aa: {}}, rules: [{option: a, headline: h}]}", "CG309", "did you mean `aa`?"),
        (
            "decision: {options: {a: {}}, rules: [{when: xx > 0, option: a, headline: h}]}",
            "CG401",
            "did you mean `x`?",
        ),
        ("as_of: yesterday", "CG208", "2026-11-30"),
        ("as_of: 2026-13-01", "CG208", "2026-11-30"),
    ],
)
def test_a_wrong_entry_is_one_mistake_with_a_way_out(more: str, code: str, help_text: str) -> None:
    run = with_entry("z: {unit: count, value: 1, source: s}", more + "\n")
    assert run.codes == [code], run.found
    assert help_text in run.only.help
    assert run.only.span is not None


def test_a_lever_changes_inputs_only() -> None:
    run = with_entry("z: {unit: GiB, formula: x}", "levers: {l: {set: {z: 1}}}\n")
    assert (run.codes, run.only.help) == (["CG304"], "name one of its inputs")


def test_a_model_without_quantities_is_told() -> None:
    assert run_text("model: m\n").codes == ["CG118"]


def test_scenarios_inherit_in_order() -> None:
    run = with_entry(
        "z: {unit: GiB, formula: x}",
        "scenarios:\n  a: {set: {x: 5, y: 1 s}}\n  b: {extends: a, set: {x: 6}}\n  c: {extends: b, set: {z: 9}}\n",
    )
    assert run.plan is not None, run.found
    c = run.plan.model.scenarios["c"]
    assert {name: item.value for name, item in c.settings.items()} == {"x": 6.0, "y": 1.0, "z": 9.0}
    assert c.own == ("z",)
    assert run.results is not None
    assert [run.results.scenarios[name].values["z"] for name in "abc"] == [5.0, 6.0, 9.0]


def test_without_scenarios_there_is_base() -> None:
    plan = plan_of(model_of("1"))
    assert [(item.id, item.label, dict(item.settings)) for item in plan.model.scenarios.values()] == [
        ("base", "Base", {})
    ]


def test_a_message_is_split_into_texts_and_slots() -> None:
    run = with_entry(
        "z: {unit: fraction, value: 0.5, source: s}",
        "checks: {c: {condition: x > 0, message: 'a {x:1} b {z:0 %} {gpu}, {x:2 -}'}}\n",
    )
    assert run.plan is not None, run.found
    message = run.plan.model.checks["c"].message
    slots = [
        (part.quantity, part.decimals, part.unit.text if part.unit else None)
        for part in message
        if isinstance(part, Slot)
    ]
    assert slots == [("x", 1, "GiB"), ("z", 0, "%"), ("gpu", 0, None), ("x", 2, "")]
    assert run.results is not None
    assert run.results.scenarios["base"].checks["c"].message == "a 2.0 GiB b 50% Small, 2.00"


@pytest.fixture(scope="module")
def model() -> Model:
    more = "on: {value: true, source: s}\n  p: {value: 5, unit: count, max: 9, source: s}"
    plan = with_entry("z: {unit: GiB, formula: x * 2, min: 0}\n  " + more).plan
    assert plan is not None
    return plan.model


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("x=3", "x", 3.0),
        ("x=3 MiB", "x", 3 / 1024),
        ("x = 3 MiB ", "x", 3 / 1024),
        ("z=1_000", "z", 1000.0),
        ("gpu=large", "gpu", "large"),
        ("on=no", "on", False),
    ],
)
def test_a_setting_from_outside(model: Model, text: str, name: str, value: object) -> None:
    assert resolve_setting(model, text) == (name, value, ())


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("x", "CG801", "x"),
        ("", "CG801", ""),
        ("xx=1", "CG304", "xx"),
        ("gpu.memory=1", "CG304", "gpu.memory"),
        ("x=", "CG207", ""),
        ("x=many", "CG207", "many"),
        ("x=3 GiBB", "CG501", "GiBB"),
        ("x = 3 GiBB ", "CG501", "GiBB"),
        ("x=3 s", "CG502", "3 s"),
        ("gpu=smal", "CG302", "smal"),
        ("p=10", "CG307", "10"),
        ("on=maybe", "CG207", "maybe"),
    ],
)
def test_a_wrong_setting_is_told_at_its_place(model: Model, text: str, code: str, place: str) -> None:
    _, value, (found,) = resolve_setting(model, text)
    assert (value, found.code) == (None, code)
    assert found.span is not None
    assert text[found.span.column - 1 : found.span.end_column - 1] == place
    assert found.help


def test_an_input_without_a_source_is_a_warning() -> None:
    text = """
quantities:
  x: {value: 1, unit: count}
  on: {value: true}
  pick: {choose: [a, b]}
  told: {value: 1, unit: count, source: s}
  q: {unit: count, formula: x + told}
"""
    run = run_text(text)
    assert run.results is not None
    assert [(item.code, item.severity, item.message) for item in run.found if item.code == "CG212"] == [
        ("CG212", "warning", "the input `x` has no source"),
        ("CG212", "warning", "the input `on` has no source"),
        ("CG212", "warning", "the input `pick` has no source"),
    ]


def test_warnings_wait_for_the_errors() -> None:
    text = "quantities: {x: {value: 1, unit: count}, q: {unit: count, formula: y}}\n"
    assert run_text(text).codes == ["CG401"]


def test_names_may_be_of_any_language() -> None:
    text = """
model: größe
quantities:
  Anzahl: {value: 3, unit: count, source: s}
  größe: {choose: karten, default: übergroß, source: s}
  容量: {unit: GiB, formula: Anzahl * größe.speicher}
catalogs:
  karten:
    fields: {speicher: {unit: GiB}}
    rows: {übergroß: {speicher: 80}, klein: {speicher: 8}}
scenarios: {Grundfall: {}, Fälle/klein: {set: {größe: klein}}}
checks: {reicht: {condition: 容量 > größe.speicher, message: "{容量:1} auf {größe}"}}
"""
    run = run_text(text)
    assert run.results is not None, run.found
    assert [item.values["容量"] for item in run.results.scenarios.values()] == [240.0, 24.0]
    assert run.results.scenarios["Grundfall"].checks["reicht"].message == "240.0 GiB auf übergroß"


def test_half_a_range_judges_no_cell() -> None:
    text = """
quantities:
  x: {choose: t, source: s}
  y: {unit: GB, formula: x.size}
catalogs:
  t: {fields: {size: {unit: GB, range: [oops, 10]}}, rows: {a: {size: 50}}}
"""
    assert run_text(text).codes == ["CG207"]


MEASURED = """
model: m
catalogs:
  cards:
    fields: {speed: {unit: GB/s}, hub: {type: text}}
    rows: {a: {speed: 5, hub: x}, b: {speed: 7, hub: y}}
quantities:
  card: {choose: cards, source: s}
  bytes: {unit: GB, value: 3, source: s}
  time: {unit: s, formula: bytes / card.speed}
"""
FIT = "of: time, rows: 9, error: 5%, date: 2026-11-30, data: d.csv"


def test_what_columns_mean_is_bound() -> None:
    text = MEASURED + "measurements: {hub: {sets: card, by: hub}, t: {measures: time, unit: ms}}\n"
    plan = plan_of(text)
    assert plan.model.columns["hub"].by == "hub"
    assert not plan.model.columns["hub"].measures
    assert plan.model.columns["t"].measures
    assert str(plan.model.columns["t"].unit) == "ms"


@pytest.mark.parametrize(
    ("column", "code"),
    [
        ("{}", "CG206"),
        ("{sets: card, measures: time}", "CG206"),
        ("{sets: crd}", "CG304"),
        ("{sets: card.speed}", "CG304"),
        ("{measures: card}", "CG203"),
        ("{measures: time, unit: GB}", "CG502"),
        ("{measures: time, unit: parsec}", "CG501"),
        ("{sets: bytes, by: hub}", "CG203"),
        ("{sets: card, by: hubb}", "CG402"),
        ("{sets: card, by: speed}", "CG402"),
    ],
)
def test_a_column_that_means_nothing_is_told(column: str, code: str) -> None:
    assert run_text(MEASURED + f"measurements:\n  c: {column}\n").codes == [code]


def test_a_fit_is_bound_with_ranges_in_the_parameters_units() -> None:
    text = (
        MEASURED
        + f"fits:\n  f: {{{FIT}, catalog: cards, row: a, parameters: {{speed: [4 GB/s, 6000 MB/s]}}}}\n"
    )
    fit = plan_of(text).model.fits["f"]
    assert (fit.of, fit.catalog, fit.row, fit.rows, fit.error) == ("time", "cards", "a", 9, 0.05)
    assert fit.parameters == {"speed": (4.0, 6.0)}


@pytest.mark.parametrize(
    ("fit", "code"),
    [
        ("catalog: cards, row: a, parameters: {sped: [4, 6]}", "CG304"),
        ("catalog: cards, row: a, parameters: {hub: [4, 6]}", "CG304"),
        ("catalog: cards, row: c, parameters: {speed: [4, 6]}", "CG302"),
        ("catalog: card, row: a, parameters: {speed: [4, 6]}", "CG301"),
        ("catalog: cards, parameters: {speed: [4, 6]}", "CG202"),
        ("parameters: {card: [4, 6]}", "CG304"),
        ("parameters: {bytes: [6, 4]}", "CG211"),
        ("parameters: {bytes: [4, 6 s]}", "CG502"),
    ],
)
def test_a_wrong_fit_is_told(fit: str, code: str) -> None:
    assert code in run_text(MEASURED + f"fits:\n  f: {{{FIT}, {fit}}}\n").codes


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("rows: 9", "rows: 0", "CG307"),
        ("rows: 9", "rows: nine", "CG207"),
        ("error: 5%", "error: -5%", "CG307"),
        ("2026-11-30", "yesterday", "CG208"),
        ("of: time", "of: tme", "CG304"),
    ],
)
def test_what_is_told_of_a_fit_has_its_form(old: str, new: str, code: str) -> None:
    fit = FIT.replace(old, new)
    assert run_text(MEASURED + f"fits:\n  f: {{{fit}, parameters: {{bytes: [2, 4]}}}}\n").codes == [code]
