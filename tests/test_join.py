"""Files to one set of declarations: what is included, what is laid over, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from compiling import Run, inside, run_path, run_text

from capgraph.join import MAX_FILES, join, locate
from capgraph.model import Choose, Formula, Given, Limits, Quantity

BASE = """
model: base-model
title: A base
as_of: 2026-01-02
quantities:
  users:
    {label: People, unit: user, value: 10, range: [5, 20], min: 1, max: 100, source: old, as_of: 2025-01-01,
     because: why}
  size: {label: Size, unit: GiB/user, value: 2, source: old}
  total: {label: Total, unit: GiB, formula: users * size, because: all of them, source: sum}
  gpu: {choose: gpus, default: small, source: old}
  fits: {unit: yes/no, formula: total / one_gpu < gpu.memory}
  one_gpu: {unit: GPU, value: 1, source: definition}
catalogs:
  gpus:
    label: Cards
    fields: {memory: {unit: GiB/GPU, label: HBM}, power: {unit: W/GPU}, vendor: {type: text}}
    rows:
      small: {name: Small, memory: 80, power: 300, vendor: A, source: s, as_of: 2025-01-01}
      large: {name: Large, memory: 141, power: 700, vendor: B, source: s}
scenarios:
  first: {set: {users: 20}}
  second: {extends: first, set: {gpu: large}}
checks:
  it_fits: {condition: fits, message: "{total:0} on {gpu}"}
levers:
  less: {set: {size: 1}, shows: [total]}
charts:
  parts: {parts: [total]}
key_figures: [total]
decision:
  question: Which?
  options: {a: {}, b: {}}
  rules: [{when: fits, option: a, headline: fits}, {option: b, headline: not}]
  alerts: [look]
"""


def planned(plan: str, **more: str) -> Run:
    """Compile a plan that extends BASE."""
    return run_text(plan, base=BASE, **more)


def quantity(run: Run, name: str) -> Quantity:
    """Return one quantity of a plan that is right."""
    assert run.plan is not None, run.found
    return run.plan.model.quantities[name]


def test_a_plan_that_says_nothing_is_the_model() -> None:
    run = planned("extends: base.yaml\n")
    assert run.plan is not None
    model = run.plan.model
    assert (model.id, model.plan, model.title, model.as_of) == ("base-model", "case", "A base", "2026-01-02")
    assert [name for name, _ in model.files] == ["case/base.yaml", "case/model.yaml"]
    alone = run_text(BASE)
    assert alone.results == run.results


def test_a_new_value_drops_what_was_said_of_the_old_one() -> None:
    users = quantity(planned("extends: base.yaml\nquantities: {users: {value: 50, source: new}}\n"), "users")
    assert users.definition == Given(50.0)
    assert users.limits == Limits(None, None, 1.0, 100.0)
    assert (users.label, users.unit_text) == ("People", "user")
    assert (users.provenance.source, users.provenance.as_of, users.provenance.because) == ("new", "", "why")
    assert users.provenance.origin.place == "case/model.yaml:2"


def test_a_plan_may_change_what_is_said_and_leave_the_value() -> None:
    users = quantity(
        planned("extends: base.yaml\nquantities: {users: {label: Staff, range: [8, 9]}}\n"), "users"
    )
    assert (users.definition, users.label) == (Given(10.0), "Staff")
    assert (users.limits, users.provenance.source) == (Limits(8.0, 9.0, 1.0, 100.0), "old")


@pytest.mark.parametrize(
    ("entry", "definition"),
    [
        ("total: {value: 7, source: measured}", Given(7.0)),
        ("gpu: {choose: [x, y], source: new}", Choose(None, ("x", "y"), "x")),
        ("gpu: {choose: gpus, default: large, source: new}", Choose("gpus", ("small", "large"), "large")),
    ],
)
def test_a_definition_of_another_kind_takes_the_place(entry: str, definition: Given | Choose) -> None:
    fits = "fits: {formula: total > users * size}"
    run = planned(f"extends: base.yaml\nquantities:\n  {entry}\n  {fits}\nscenarios: {{second: null}}\n")
    made = quantity(run, entry.partition(":")[0])
    assert made.definition == definition
    assert made.provenance.because == ""


def test_an_input_may_become_computed() -> None:
    plan = """
extends: base.yaml
quantities:
  users: {formula: 2 * one_user}
  one_user: {unit: user, value: 1, source: definition}
scenarios:
  first: {set: {size: 2}}
"""
    run = planned(plan)
    users = quantity(run, "users")
    assert isinstance(users.definition, Formula)
    assert (users.provenance.because, users.provenance.source, users.limits.low) == ("", "", None)
    assert run.values["total"] == 4.0


def test_entries_keep_their_place_and_new_ones_follow() -> None:
    plan = """
extends: base.yaml
quantities:
  extra: {unit: count, value: 1, source: x}
  users: {value: 3, source: x}
"""
    run = planned(plan)
    assert run.plan is not None
    names = [name for name in run.plan.model.quantities if "." not in name]
    assert names == ["users", "size", "total", "gpu", "fits", "one_gpu", "extra"]
    assert run.plan.model.sections == ("Quantities", "Plan")
    assert run.plan.model.quantities["users"].section == "Quantities"


def test_a_row_is_laid_over_cell_by_cell() -> None:
    plan = """
extends: base.yaml
catalogs:
  gpus:
    small: {memory: 96, as_of: 2026-05-05}
    huge: {name: Huge, memory: 268.6 GiB, power: 1 kW, vendor: C, source: quote}
    large: {power: null}
scenarios:
  third: {set: {gpu: huge}}
"""
    run = planned(plan)
    assert run.plan is not None, run.found
    rows = run.plan.model.catalogs["gpus"].rows
    assert dict(rows["small"].values) == {"memory": 96.0, "power": 300.0, "vendor": "A"}
    assert (rows["small"].provenance.source, rows["small"].provenance.as_of) == ("s", "2026-05-05")
    assert dict(rows["huge"].values) == {"memory": 268.6, "power": 1000.0, "vendor": "C"}
    assert dict(rows["large"].values) == {"memory": 141.0, "vendor": "B"}
    assert list(rows) == ["small", "large", "huge"]


def test_a_catalog_may_gain_a_field() -> None:
    plan = "extends: base.yaml\ncatalogs: {gpus: {fields: {price: {unit: USD}}, rows: {small: {price: 5}}}}\n"
    run = planned(plan)
    assert run.plan is not None, run.found
    assert run.plan.model.catalogs["gpus"].rows["small"].values["price"] == 5.0
    assert run.plan.model.catalogs["gpus"].label == "Cards"


@pytest.mark.parametrize(
    ("removed", "entry"),
    [
        ("scenarios", "second"),
        ("checks", "it_fits"),
        ("levers", "less"),
        ("charts", "parts"),
    ],
)
@pytest.mark.parametrize("included", [True, False])
@pytest.mark.parametrize("nothing", ["null", "~", ""])
def test_null_removes(removed: str, entry: str, included: bool, nothing: str) -> None:
    text = f"{removed}:\n  {entry}: {nothing}\n"
    run = (
        planned("extends: base.yaml\ninclude: [more.yaml]\n", more=text)
        if included
        else planned(f"extends: base.yaml\n{text}")
    )
    assert run.plan is not None, run.found
    assert entry not in getattr(run.plan.model, removed)


def test_null_removes_a_quantity_and_a_row() -> None:
    plan = """
extends: base.yaml
quantities: {size: null, total: {formula: users * 1}}
catalogs: {gpus: {large: null}}
scenarios: {second: null}
levers: {less: null}
"""
    found = planned(plan).only
    assert (found.code, found.message) == ("CG503", "`total` is declared in GiB, its formula gives user")
    plan = "extends: base.yaml\nscenarios: {second: null}\ncatalogs: {gpus: {large: null}}\n"
    run = planned(plan)
    assert run.plan is not None, run.found
    assert list(run.plan.model.catalogs["gpus"].rows) == ["small"]


def test_removing_what_is_used_is_told_where_it_is_used() -> None:
    found = planned("extends: base.yaml\nscenarios: {first: null}\n").only
    assert (found.code, found.help) == ("CG305", "scenarios: `second`")


def test_nothing_to_remove_is_an_error() -> None:
    found = planned("extends: base.yaml\nscenarios:\n  secnod: null\n").only
    assert (found.code, found.help) == ("CG210", "did you mean `second`?")


def test_the_decision_is_laid_over_key_by_key() -> None:
    plan = "extends: base.yaml\ndecision:\n  question: And now?\n  rules: [{option: a, headline: always}]\n"
    run = planned(plan)
    assert run.plan is not None, run.found
    decision = run.plan.model.decision
    assert decision is not None
    assert (decision.question, decision.alerts, len(decision.rules)) == ("And now?", (("look",),), 1)


def test_scenarios_and_checks_are_laid_over_key_by_key() -> None:
    plan = """
extends: base.yaml
scenarios: {second: {label: Two}}
checks: {it_fits: {condition: fits, message: m, severity: warning}}
"""
    run = planned(plan)
    assert run.plan is not None, run.found
    second = run.plan.model.scenarios["second"]
    assert (second.label, second.own, second.settings["users"].value) == ("Two", ("gpu",), 20.0)
    assert run.plan.model.checks["it_fits"].severity == "warning"


def test_extends_goes_over_two_levels() -> None:
    middle = """
extends: base.yaml
title: The middle
quantities: {users: {value: 30, source: middle}, size: {value: 3, source: middle}}
"""
    top = "plan: top\nextends: middle.yaml\nquantities: {users: {value: 40, source: top}}\n"
    run = planned(top, middle=middle)
    assert run.plan is not None, run.found
    model = run.plan.model
    assert (model.id, model.plan, model.title) == ("base-model", "top", "The middle")
    assert [name for name, _ in model.files] == ["case/base.yaml", "case/middle.yaml", "case/model.yaml"]
    assert run.plan.model.quantities["users"].definition == Given(40.0)
    assert run.plan.model.quantities["size"].definition == Given(3.0)


def test_extends_takes_a_path_a_folder_or_a_shipped_model(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "plans" / "deep").mkdir(parents=True)
    (tmp_path / "model" / "model.yaml").write_text(BASE)
    for name, parent in (
        ("a", "../model"),
        ("b", "../model/model.yaml"),
        ("c", "./deep/../../model"),
        ("d", "llm-serving"),
    ):
        (tmp_path / "plans" / f"{name}.yaml").write_text(f"extends: {parent}\n")
        plan = run_path(tmp_path / "plans" / f"{name}.yaml").plan
        assert plan is not None
        assert (plan.model.plan, plan.model.id) == (name, "llm-serving" if name == "d" else "base-model")


@pytest.mark.parametrize(
    ("files", "code", "says"),
    [
        ({"model": "extends: model.yaml\n"}, "CG114", "case/model.yaml → case/model.yaml"),
        (
            {"model": "extends: b.yaml\n", "b": "extends: c.yaml\n", "c": "extends: b.yaml\n"},
            "CG114",
            "case/b.yaml → case/c.yaml → case/b.yaml",
        ),
        ({"model": "extends: nowhere\n"}, "CG115", "nowhere"),
        ({"model": "extends: llm-servin\n"}, "CG115", "llm-servin"),
        ({"model": "extends: /etc/model.yaml\n"}, "CG113", "absolute"),
        ({"model": "extends: " + "x" * 300 + "\n"}, "CG115", "xxx"),
        ({"model": 'extends: "a\\0b"\n'}, "CG101", "control character"),
        ({"model": "include: [nowhere.yaml]\n"}, "CG109", "nowhere.yaml"),
        ({"model": "include: [" + "x" * 300 + "]\n"}, "CG109", "does not exist"),
        ({"model": 'include: ["a\\0b"]\n'}, "CG101", "control character"),
        ({"model": "include: [../other.yaml]\n"}, "CG113", "outside"),
        ({"model": "include: [/etc/passwd]\n"}, "CG113", "outside"),
        ({"model": "include: [a.yaml, a.yaml]\n", "a": "section: A\n"}, "CG114", "twice"),
        (
            {"model": "include: [a.yaml, b.yaml]\n", "a": "include: [b.yaml]\n", "b": "section: B\n"},
            "CG114",
            "twice",
        ),
        ({"model": "include: [a.yaml]\n", "a": "include: [model.yaml]\n"}, "CG114", "includes this one"),
        ({"model": "include: [model.yaml]\n"}, "CG114", "includes this one"),
        ({"model": "include: [a.yaml]\n", "a": "extends: llm-serving\n"}, "CG201", "`extends` has no effect"),
        ({"model": "include: [a.yaml]\n", "a": "as_of: 2026-01-01\n"}, "CG201", "`as_of` has no effect"),
        ({"model": "rows: {a: {x: 1}}\n"}, "CG202", "names no catalog"),
        ({"model": "fields: {a: {unit: GB}}\n"}, "CG202", "names no catalog"),
        ({"model": "model: ../../out\n"}, "CG205", "cannot be the name"),
        ({"model": "extends: base.yaml\nplan: a/b\n", "base": BASE}, "CG205", "cannot be the name"),
    ],
)
def test_files_that_do_not_fit_are_one_mistake(files: dict[str, str], code: str, says: str) -> None:
    run = run_text(files.pop("model"), **files)
    assert run.codes == [code], run.found
    assert says in run.only.message
    assert run.only.help
    assert run.only.span is not None


def test_an_include_may_not_leave_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text("section: S\n")
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (tmp_path / "m" / "way").symlink_to(tmp_path)
    for name in ("link.yaml", "way/secret.yaml"):
        (tmp_path / "m" / "model.yaml").write_text(f"include: [{name}]\n")
        assert run_path(tmp_path / "m" / "model.yaml").codes == ["CG113"]


def test_a_link_inside_the_folder_is_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("section: S\n")
    (tmp_path / "b.yaml").symlink_to(tmp_path / "a.yaml")
    (tmp_path / "model.yaml").write_text("include: [a.yaml, b.yaml]\n")
    assert run_path(tmp_path / "model.yaml").codes == ["CG114"]


def test_only_yaml_is_read(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("section: S\n")
    (tmp_path / "model.yaml").write_text("include: [notes.txt]\n")
    found = run_path(tmp_path / "model.yaml").only
    assert (found.code, found.help) == ("CG109", "include files whose names end in .yaml")


@pytest.mark.parametrize(
    ("kind", "entry"),
    [
        ("quantities", "x: {unit: count, value: 1, source: s}"),
        ("scenarios", "x: {set: {q: 2}}"),
        ("checks", "x: {condition: q > 0, message: m}"),
        ("levers", "x: {set: {q: 2}}"),
        ("charts", "x: {parts: [q]}"),
        ("catalogs", "c: {fields: {f: {unit: count}}, rows: {x: {f: 1}}}"),
    ],
)
def test_two_files_of_a_model_may_not_define_one_entry(kind: str, entry: str) -> None:
    text = f"{kind}:\n  {entry}\n"
    head = "model: m\ninclude: [a.yaml, b.yaml]\nquantities: {q: {unit: count, value: 1, source: s}}\n"
    run = run_text(head, a=text, b=text)
    assert set(run.codes) == {"CG209"}
    found = run.found[-1]
    assert "`x` is defined twice" in found.message
    assert [item.span.source.name for item in found.related] == ["case/a.yaml"]


def test_a_fields_second_definition_is_told() -> None:
    text = "catalogs: {c: {fields: {f: {unit: count}}, rows: {}}}\n"
    head = "model: m\ninclude: [a.yaml, b.yaml]\nquantities: {q: {unit: count, value: 1, source: s}}\n"
    found = run_text(head, a=text, b=text).only
    assert (found.code, "field of c `f` is defined twice" in found.message) == ("CG209", True)


def test_included_files_are_read_relative_to_themselves(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "model.yaml").write_text("model: m\ninclude: [parts/a.yaml]\n")
    (tmp_path / "parts" / "a.yaml").write_text("section: A\ninclude: [b.yaml]\n")
    (tmp_path / "parts" / "b.yaml").write_text(
        "section: B\nquantities: {q: {unit: count, value: 1, source: s}}\n"
    )
    run = run_path(tmp_path / "model.yaml")
    assert run.plan is not None, run.found
    assert [name.partition("/")[2] for name, _ in run.plan.model.files] == [
        "model.yaml",
        "parts/a.yaml",
        "parts/b.yaml",
    ]
    assert run.plan.model.sections == ("B",)


def test_a_model_has_a_largest_number_of_files(tmp_path: Path) -> None:
    names = [f"f{number}.yaml" for number in range(MAX_FILES)]
    for name in names:
        (tmp_path / name).write_text("section: A\n")
    (tmp_path / "model.yaml").write_text(f"include: [{', '.join(names)}]\n")
    assert set(run_path(tmp_path / "model.yaml").codes) == {"CG117"}


def test_a_model_without_a_name_is_called_by_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "my model"
    folder.mkdir()
    text = "quantities: {q: {unit: count, value: 1, source: s}}\n"
    (folder / "model.yaml").write_text(text)
    (folder / "other.yaml").write_text(text)
    with inside(folder):
        ids = [made.model for name in ("model.yaml", "other.yaml") if (made := join(Path(name))[0])]
    assert ids == ["my-model", "other"]


def test_locate_finds_files_folders_and_shipped_models(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "llm-serving").mkdir()
    (tmp_path / "sub" / "plan.yaml").write_text("extends: llm-serving\n")
    with inside(tmp_path):
        assert locate("sub") == Path("sub/plan.yaml")
        (tmp_path / "sub" / "model.yaml").write_text("model: m\n")
        assert locate("sub") == Path("sub/model.yaml")
        assert locate("sub/plan.yaml") == Path("sub/plan.yaml")
        for name in ("llm-serving", "published-answers"):
            found = locate(name)
            assert isinstance(found, Path)
            assert found.parent.name == name


@pytest.mark.parametrize(
    ("argument", "code", "way_out"),
    [
        ("empty", "CG116", "name the YAML file"),
        ("plna.yaml", "CG115", "did you mean `plan.yaml`?"),
        ("llm-servng", "CG115", "did you mean `llm-serving`?"),
        ("zzz", "CG115", "models that ship: `llm-serving`"),
        ("../llm-serving", "CG115", ""),
        ("x" * 5000, "CG115", ""),
        ("a\0b", "CG115", ""),
    ],
)
def test_locate_says_what_it_looked_for(tmp_path: Path, argument: str, code: str, way_out: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "plan.yaml").write_text("")
    with inside(tmp_path):
        found = locate(argument)
    assert not isinstance(found, Path)
    assert (found.code, way_out in found.help) == (code, True)


def test_an_empty_list_takes_away_what_the_extended_model_lists(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("x\n1\n")
    text = "model: m\nevidence: [data.csv]\nkey_figures: [y]\n"
    text += "quantities:\n  x: {unit: count, value: 1, source: s}\n  y: {unit: count, formula: x}\n"
    (tmp_path / "model.yaml").write_text(text)
    (tmp_path / "kept.yaml").write_text("extends: model.yaml\nplan: kept\n")
    (tmp_path / "plan.yaml").write_text("extends: model.yaml\nplan: p\nevidence: []\nkey_figures: []\n")
    kept, plan = run_path(tmp_path / "kept.yaml").plan, run_path(tmp_path / "plan.yaml").plan
    assert kept is not None
    assert plan is not None
    assert (len(kept.model.evidence), kept.model.key_figures) == (1, ("y",))
    assert (plan.model.evidence, plan.model.key_figures) == ((), ())
